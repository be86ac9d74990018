//! The kernel's trace of the cores of partitions during a run (`[trace] kernel = true`): thread switches, wake-ups,
//! interrupts and softirqs, in ring buffers in memory where the newest events replace the oldest.
//!
//! As `cyclictest --breaktrace` does, the supervisor stops the trace as soon as it finds that a limit of the rig was
//! exceeded; the events before that become `kernel-trace.txt`, and the rest of the run is not traced. In a rig without
//! limits nothing stops the trace, and it covers the end of the run. Only the kernel's own notes are on the path of an
//! activation; a separate thread reads them.
//!
//! Missing prerequisites are a warning of the report, and the run continues.

mod instance;

pub(super) use self::instance::remove_stale;

use self::instance::TraceInstance;
use super::tracer::FirstOver;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use vecud_base::plain::plain;
use vecud_linux::files;
use vecud_linux::wake::monotonic_now;
use vecud_plan::{Plan, UnitPlan};
use vecud_record::board::Phase;
use vecud_record::trace::kernel::{CoreSpan, WhatRan, instant, lost};
use vecud_record::written::Written;
use vecud_report::format::plural;
use vecud_report::{ActivationResult, KernelTrace, KernelWork, Kind, Run};

/// Name of the file in the output folder.
pub(super) const NAME: &str = "kernel-trace.txt";
/// Greatest ring of a core, KiB: some seconds of a core with a clock of 1 ms.
const RING_KIB: u64 = 4096;
/// Least ring of a core, KiB.
const LEAST_KIB: u64 = 64;
/// Upper bound for the size of an event's text relative to its size in the ring.
const AS_TEXT: u64 = 6;
/// Greatest length of a thread's name in the kernel, bytes.
const COMM: usize = 15;
/// Number of threads and interrupts that the report names for one interval.
const TOLD: usize = 6;

/// The kernel's trace of one run.
pub(super) struct KernelTracer {
    state: State,
    /// Time at which tracing was stopped, CLOCK_MONOTONIC in ns.
    stopped: Option<i64>,
    first: Option<FirstOver>,
}

enum State {
    /// The rig does not request the trace.
    Off,
    /// The trace is not available, for this reason.
    Refused(String),
    /// The kernel traces, or did until it was stopped.
    On(TraceInstance),
    /// The trace is being written.
    Writing(JoinHandle<Done>),
    /// The trace was written before the end of the run.
    Written(Done),
}

/// Result of writing the trace.
type Done = io::Result<Kept>;

/// The written file.
struct Kept {
    written: Written,
    /// Instants of the first and the last event in it.
    from: Option<i64>,
    to: Option<i64>,
    /// Number of lost events.
    lost: u64,
    /// Explanation of a truncation for lack of space.
    cut: Option<String>,
}

impl KernelTracer {
    /// Begins to trace, if the rig requests it: before the run begins, since tracing modifies the kernel's code.
    pub(super) fn new(plan: &Plan) -> KernelTracer {
        let cores = plan.cores();
        let kib = (plan.trace.limit / 1024 / AS_TEXT / cores.len().max(1) as u64).clamp(LEAST_KIB, RING_KIB);
        let state = match plan.trace.kernel {
            false => State::Off,
            true => TraceInstance::new(&cores, kib).map_or_else(State::Refused, State::On),
        };
        let mut kernel = KernelTracer { state, stopped: None, first: None };
        kernel.mark(&format!("the run of {} is about to begin", plain(&plan.rig)));
        kernel
    }

    fn mark(&mut self, words: &str) {
        if let State::On(instance) = &mut self.state {
            instance.mark(words);
        }
    }

    /// Warning at the start of a run without the requested trace.
    pub(super) fn warning(&self) -> Option<String> {
        match &self.state {
            State::Refused(why) => Some(format!("the kernel is not traced ([trace] kernel = true): {}", plain(why))),
            _ => None,
        }
    }

    /// Stops tracing when a limit was exceeded, or the run is over. `first` returns the exceeded limit.
    pub(super) fn look(&mut self, plan: &Plan, out: &Path, phase: Phase, first: impl FnOnce() -> Option<FirstOver>) {
        let State::On(instance) = &mut self.state else { return };
        if self.first.is_some() || phase < Phase::Running {
            return;
        }
        self.first = first();
        let over = phase > Phase::Running;
        if self.stopped.is_none() && (over || self.first.is_some()) {
            match &self.first {
                Some(first) => instance.mark(&format!("{} ({} of this clock)", plain(&first.why), seconds(first.at))),
                None => instance.mark("the run is over"),
            }
            if let Err(error) = instance.stop() {
                self.state = State::Refused(format!("tracing cannot be stopped: {error}"));
                return;
            }
            self.stopped = Some(monotonic_now());
        }
        if self.first.is_some() {
            self.write(plan, out, true);
        }
    }

    /// Writes the trace. `aside`: in a thread of its own, if one can be started.
    fn write(&mut self, plan: &Plan, out: &Path, aside: bool) {
        let State::On(instance) = std::mem::replace(&mut self.state, State::Off) else { return };
        let until = self.first.as_ref().map(|first| first.at).or(self.stopped).unwrap_or(i64::MAX);
        let task = Task {
            path: out.join(NAME),
            since: until.saturating_sub(plan.trace.seconds.0),
            limit: plan.trace.limit,
            head: format!(
                "# vecud: rig {}; instants are those of CLOCK_MONOTONIC\n# vecud: {}\n",
                plain(&plan.rig),
                match &self.first {
                    Some(first) => format!("{}, at {}", plain(&first.why), seconds(first.at)),
                    None => "the end of the run".to_owned(),
                }
            ),
            instance,
        };
        if !aside {
            self.state = State::Written(task.write());
            return;
        }
        // Whichever side takes the task first does it, so that it is done even without a thread.
        let place = std::sync::Arc::new(std::sync::Mutex::new(Some(task)));
        let take = |place: &std::sync::Mutex<Option<Task>>| place.lock().ok().and_then(|mut task| task.take());
        let theirs = place.clone();
        let thread = thread::Builder::new().name("vecud.kernel".to_owned()).spawn(move || match take(&theirs) {
            Some(task) => task.write(),
            None => Err(io::Error::other("nothing was traced")),
        });
        self.state = match thread {
            Ok(thread) => State::Writing(thread),
            Err(_) => take(&place).map_or(State::Off, |task| State::Written(task.write())),
        };
    }

    /// Completes the trace at the end of the run: adds to the report the file and the kernel's work while the worst
    /// activations waited. Returns warnings, and notes of losses to other users.
    pub(super) fn finish(mut self, plan: &Plan, out: &Path, report: &mut Run) -> (Vec<String>, Vec<String>) {
        if matches!(self.state, State::On(_))
            && (!plan.units.iter().any(UnitPlan::has_limit) || is_over_a_limit(report))
        {
            self.write(plan, out, false);
        }
        let mut trace = KernelTrace {
            incident_monotonic_ns: self.first.as_ref().map(|first| first.at),
            stopped_monotonic_ns: self.stopped,
            ..KernelTrace::default()
        };
        let (mut warnings, mut lost) = (Vec::new(), Vec::new());
        let done = match std::mem::replace(&mut self.state, State::Off) {
            State::Off => return (warnings, lost),
            State::Refused(why) => {
                trace.why = format!("not traced: {}", plain(&why));
                None
            }
            State::On(_removed) => {
                trace.why = "no limit was exceeded, so nothing is kept".to_owned();
                None
            }
            State::Writing(thread) => {
                Some(thread.join().unwrap_or_else(|_| Err(io::Error::other("a defect of vecud's"))))
            }
            State::Written(done) => Some(done),
        };
        match done {
            None => (),
            Some(Err(error)) => {
                trace.why = format!("not written: {error}");
                warnings.push(format!("{NAME} is not complete: {error}"));
            }
            Some(Ok(kept)) => {
                trace.why = match &self.first {
                    Some(first) => plain(&first.why),
                    None if plan.units.iter().any(UnitPlan::has_limit) => {
                        "a limit was exceeded, and nobody saw when".to_owned()
                    }
                    None => "the end of the run: no clock has a limit that would stop it".to_owned(),
                };
                trace.file = Some(NAME.to_owned());
                (trace.from_monotonic_ns, trace.to_monotonic_ns, trace.lost) = (kept.from, kept.to, kept.lost);
                lost.extend(kept.written.gone_from(&out.join(NAME)));
                warnings.extend(kept.cut);
                if let (Some(from), Some(to)) = (kept.from, kept.to)
                    && let Err(error) = tell(report, &out.join(NAME), kept.written.length, from, to)
                {
                    warnings.push(format!("{NAME} cannot be read: {error}"));
                }
            }
        }
        report.trace.kernel = Some(trace);
        (warnings, lost)
    }
}

impl Drop for KernelTracer {
    fn drop(&mut self) {
        // Reached on an error: the instance is gone when the thread has ended.
        if let State::Writing(thread) = std::mem::replace(&mut self.state, State::Off) {
            let _nobody_wants_it = thread.join();
        }
    }
}

/// Whether a limit was exceeded without an observation: events that come too fast are only counted.
fn is_over_a_limit(run: &Run) -> bool {
    run.problems.iter().any(|problem| {
        matches!(
            problem.kind,
            Kind::LatencyLimit { .. }
                | Kind::OverrunLimit { .. }
                | Kind::ExecutionLimit { .. }
                | Kind::StoppedByOverrun { .. }
        )
    })
}

fn seconds(nanos: i64) -> String {
    format!("{}.{:06} s", nanos / 1_000_000_000, nanos % 1_000_000_000 / 1000)
}

/// Writes the text of an instance, which is removed afterwards.
struct Task {
    path: PathBuf,
    /// Events before this instant are left out.
    since: i64,
    /// Greatest size of the file, bytes.
    limit: u64,
    head: String,
    instance: TraceInstance,
}

impl Task {
    fn write(self) -> Done {
        let file = files::create(&self.path)?;
        // The trace is stopped, so each reading gives the same text.
        let mut wanted = 0;
        self.lines(|line, _| {
            wanted += line.len() as u64;
            Ok(())
        })?;
        let mut head = self.head.clone();
        let is_cut = head.len() as u64 + wanted > self.limit;
        if is_cut {
            head += &format!("# vecud: older events are left out: {}\n", may_have(self.limit));
        }
        let mut newest = Newest::of(wanted, self.limit.saturating_sub(head.len() as u64));
        let written = Written { file, length: head.len() as u64 };
        let mut kept = Kept { written, from: None, to: None, lost: 0, cut: None };
        let mut out = BufWriter::new(kept.written.file.try_clone()?);
        out.write_all(head.as_bytes())?;
        let mut left_out = 0;
        self.lines(|line, at| {
            if !newest.has(line.len() as u64) {
                left_out += u64::from(at.is_some());
                return Ok(());
            }
            out.write_all(line)?;
            kept.written.length += line.len() as u64;
            kept.from = kept.from.or(at);
            kept.to = at.or(kept.to);
            kept.lost += lost(String::from_utf8_lossy(line).trim_end()).unwrap_or(0);
            Ok(())
        })?;
        out.flush()?;
        kept.cut = is_cut.then(|| {
            format!("{NAME} lacks {} before those in it: {}", plural(left_out, "event"), may_have(self.limit))
        });
        Ok(kept)
    }

    /// Passes on each line that is not too old, in the order of time, with the time of its event; `None`: the line is
    /// no event.
    fn lines(&self, mut show: impl FnMut(&[u8], Option<i64>) -> io::Result<()>) -> io::Result<()> {
        let mut text = BufReader::with_capacity(1 << 16, self.instance.text()?);
        let mut line = Vec::new();
        while text.by_ref().take(1 << 16).read_until(b'\n', &mut line)? > 0 {
            let at = instant(String::from_utf8_lossy(&line).trim_end());
            if at.is_none_or(|at| at >= self.since) {
                show(&line, at)?;
            }
            line.clear();
        }
        Ok(())
    }
}

/// Describes the greatest size of the file.
fn may_have(limit: u64) -> String {
    format!("it may have {} MiB (rig: limit_mib in [trace])", limit >> 20)
}

/// Selects the newest whole lines of a text that is too long: the end of the text shows the cause.
struct Newest {
    /// Bytes still to skip.
    excess: u64,
}

impl Newest {
    /// Selection from a text of `length` bytes to fit into `room` bytes.
    fn of(length: u64, room: u64) -> Newest {
        Newest { excess: length.saturating_sub(room) }
    }

    /// Whether the next line, of this many bytes, is kept.
    fn has(&mut self, length: u64) -> bool {
        let is_kept = self.excess == 0;
        self.excess = self.excess.saturating_sub(length);
        is_kept
    }
}

/// Adds to each of the worst activations covered by the file the threads and interrupts that ran while it waited or
/// ran.
fn tell(run: &mut Run, file: &Path, length: u64, from: i64, to: i64) -> io::Result<()> {
    let threads: Vec<String> = run.clocks.iter().map(|clock| clock.thread.clone()).collect();
    let of_rig = |what: &str| {
        let name = what.strip_prefix("thread ")?;
        threads.iter().find(|thread| comm(thread) == name)
    };
    let mut moments: Vec<(CoreSpan, &mut ActivationResult)> = Vec::new();
    for clock in &mut run.clocks {
        let cpu = clock.cpu;
        let causes = &mut clock.causes;
        let wakeups = causes.worst_wakeups.iter_mut().map(|moment| (moment.wakeup, moment));
        let responses = causes.worst_responses.iter_mut().map(|moment| (moment.response, moment));
        for (length, moment) in wakeups.chain(responses) {
            let begin = moment.release_monotonic_ns;
            let end = begin.saturating_add(i64::try_from(length).unwrap_or(i64::MAX));
            if from <= begin && end <= to {
                moments.push((CoreSpan { cpu, from: begin, to: end }, moment));
            }
        }
    }
    let stretches: Vec<CoreSpan> = moments.iter().map(|(stretch, _)| *stretch).collect();
    let mut what = WhatRan::new(&stretches);
    let mut text = BufReader::new(File::open(file)?.take(length));
    let mut line = Vec::new();
    while text.by_ref().take(1 << 16).read_until(b'\n', &mut line)? > 0 {
        what.line(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    for ((_, moment), ran) in moments.into_iter().zip(what.finish()) {
        let mut all: Vec<KernelWork> = ran
            .into_iter()
            .map(|(what, ns)| match of_rig(&what) {
                // The full name of the thread.
                Some(thread) => KernelWork { what: format!("thread {thread}"), ns, rig: true },
                None => KernelWork { what: plain(&what), ns, rig: false },
            })
            .collect();
        all.sort_by_key(|work| std::cmp::Reverse(work.ns));
        all.truncate(TOLD);
        moment.kernel = all;
    }
    Ok(())
}

/// Name of a thread as the kernel truncates it.
fn comm(name: &str) -> &str {
    let end = (0..=COMM.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events before an exceeded limit are at the end of the trace.
    #[test]
    fn of_a_text_that_is_too_long_the_last_lines_are_kept_whole() {
        let lengths = [10, 20, 30, 5, 5];
        let kept = |room: u64| {
            let mut newest = Newest::of(lengths.iter().sum(), room);
            lengths.into_iter().filter(|length| newest.has(*length)).collect::<Vec<u64>>()
        };
        assert_eq!(kept(70), lengths);
        assert_eq!(kept(69), [20, 30, 5, 5]);
        assert_eq!(kept(60), [20, 30, 5, 5]);
        assert_eq!(kept(59), [30, 5, 5]);
        assert_eq!(kept(9), [5]);
        assert_eq!(kept(0), [0; 0]);
    }
}
