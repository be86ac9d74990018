//! The kernel's trace of one run: its begin and stop, and its part of the report.

use super::instance::TraceInstance;
use super::text::{Done, NAME, TraceText};
use super::work::tell;
use crate::tracer::FirstOver;
use std::io;
use std::path::Path;
use std::thread::{self, JoinHandle};
use vecud_base::plain::plain;
use vecud_linux::wake::monotonic_now;
use vecud_plan::{Plan, TaskPlan};
use vecud_record::board::Phase;
use vecud_report::{KernelTrace, Kind, Run};

/// Greatest ring of a core, KiB: some seconds of a core with a clock of 1 ms.
const RING_KIB: u64 = 4096;
/// Least ring of a core, KiB.
const LEAST_KIB: u64 = 64;
/// Upper bound for the size of an event's text relative to its size in the ring.
const AS_TEXT: u64 = 6;
/// The kernel's trace of one run.
pub(crate) struct KernelTracer {
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

impl KernelTracer {
    /// Begins to trace, if the rig requests it: before the run begins, since tracing modifies the kernel's code.
    pub(crate) fn new(plan: &Plan) -> KernelTracer {
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
    pub(crate) fn warning(&self) -> Option<String> {
        match &self.state {
            State::Refused(why) => Some(format!("the kernel is not traced ([trace] kernel = true): {}", plain(why))),
            _ => None,
        }
    }

    /// Stops tracing when a limit was exceeded, or the run is over. `first` returns the exceeded limit.
    pub(crate) fn look(&mut self, plan: &Plan, out: &Path, phase: Phase, first: impl FnOnce() -> Option<FirstOver>) {
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
        let task = TraceText {
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
        let take = |place: &std::sync::Mutex<Option<TraceText>>| place.lock().ok().and_then(|mut task| task.take());
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
    pub(crate) fn finish(mut self, plan: &Plan, out: &Path, report: &mut Run) -> (Vec<String>, Vec<String>) {
        if matches!(self.state, State::On(_))
            && (!plan.tasks.iter().any(TaskPlan::has_limit) || is_over_a_limit(report))
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
                    None if plan.tasks.iter().any(TaskPlan::has_limit) => {
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
