//! Parses the text of the kernel's tracing (tracefs), and determines the work of a core in an interval.
//!
//! Guarantees: no line of any content is an error; one that is no event is passed over. At each instant a core belongs to one of:
//! the innermost interrupt or softirq that has begun and not ended, else the thread that was switched to last. So the times of a
//! stretch never add up to more than its length. What was before the first event of a core is not known, and counts for nothing.
//!
//! Lines are those of Linux 5.10 to 6.18, with or without a column for the thread group, with any number of flags.

use std::collections::{BTreeMap, HashMap};

/// An event of the kernel's trace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Event<'t> {
    /// The core on which it happened.
    cpu: usize,
    /// When, by the trace's clock, ns; to the microsecond.
    at: i64,
    /// The name of the thread that had the core then, and its number.
    thread: &'t str,
    tid: u32,
    what: What<'t>,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What<'t> {
    /// The core goes to this thread.
    Switched { name: &'t str, tid: u32 },
    /// An interrupt or a softirq begins.
    Begins(String),
    /// The innermost one is over.
    Ends,
    /// Something else.
    Other,
}

/// The instant of a line's event, ns; `None`: the line is no event.
pub fn instant(line: &str) -> Option<i64> {
    Some(event(line)?.at)
}

/// The number of missing events that a line tells of: `CPU:1 [LOST 12 EVENTS]`.
pub fn lost(line: &str) -> Option<u64> {
    line.strip_prefix("CPU:")?.split_once("[LOST ")?.1.strip_suffix(" EVENTS]")?.parse().ok()
}

/// `          <idle>-0       [001] d.h1.   123.456789: irq_handler_entry: irq=38 name=eth0`. The name of a thread may hold
/// anything, brackets and spaces as well.
fn event(line: &str) -> Option<Event<'_>> {
    if line.starts_with('#') {
        return None;
    }
    line.match_indices(" [").find_map(|(at, _)| {
        let (cpu, rest) = line.get(at + 2..)?.split_once("] ")?;
        let cpu = cpu.parse().ok()?;
        let rest = rest.trim_start();
        // Some kernels are told to leave the flags out.
        let timed = |text: &str| {
            let (instant, rest) = text.trim_start().split_once(": ").map(|(at, rest)| (at.to_owned(), rest.len()))?;
            Some((nanos(&instant)?, text.len() - rest))
        };
        let flags = rest.find(' ').unwrap_or(0);
        let (begin, (instant, head)) =
            timed(rest).map(|found| (0, found)).or_else(|| Some((flags, timed(rest.get(flags..)?)?)))?;
        let (thread, tid) = thread(line.get(..at)?)?;
        Some(Event { cpu, at: instant, thread, tid, what: what(rest.get(begin + head..)?) })
    })
}

/// `123.456789` as ns.
fn nanos(text: &str) -> Option<i64> {
    let (seconds, micros) = text.split_once('.')?;
    if micros.len() != 6 || !micros.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    seconds.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(micros.parse::<i64>().ok()? * 1000)
}

/// `  kworker/1:0-22  (     22)` as name and number.
fn thread(text: &str) -> Option<(&str, u32)> {
    let text = text.trim();
    // The thread group, where the trace was told to have it.
    let text = match text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        Some((thread, _)) => thread.trim_end(),
        None => text,
    };
    let (name, tid) = text.rsplit_once('-')?;
    Some((name, tid.parse().ok()?))
}

fn what(text: &str) -> What<'_> {
    let (name, fields) = text.split_once(": ").unwrap_or((text.trim_end_matches(':'), ""));
    match name {
        "sched_switch" => switched(fields).unwrap_or(What::Other),
        "irq_handler_entry" => {
            let device = fields.split_once("name=").map_or(fields, |(_, device)| device).trim_end();
            What::Begins(format!("interrupt {device}"))
        }
        "softirq_entry" => {
            let kind = fields.split_once("action=").map_or(fields, |(_, kind)| kind);
            What::Begins(format!("softirq {}", kind.trim_end().trim_end_matches(']')))
        }
        "irq_handler_exit" | "softirq_exit" => What::Ends,
        _ => match (name.strip_suffix("_entry"), name.strip_suffix("_exit")) {
            (Some(own), _) if fields.starts_with("vector=") => {
                What::Begins(format!("interrupt {}", own.replace('_', " ")))
            }
            (_, Some(_)) if fields.starts_with("vector=") => What::Ends,
            _ => What::Other,
        },
    }
}

/// `prev_comm=a prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=b c next_pid=2 next_prio=98`
fn switched(fields: &str) -> Option<What<'_>> {
    let (_, next) = fields.rsplit_once(" ==> next_comm=")?;
    let (name, rest) = next.rsplit_once(" next_pid=")?;
    let tid = rest.split(' ').next()?.parse().ok()?;
    Some(What::Switched { name, tid })
}

/// A stretch of time on a core, by the trace's clock, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreSpan {
    /// The core.
    pub cpu: usize,
    /// The begin of the span.
    pub from: i64,
    /// The end of the span.
    pub to: i64,
}

/// Work in an interval by name, ns each: `softirq NET_RX`, `interrupt eth0`, `thread kworker/1:0`, `idle`.
pub type Ran = BTreeMap<String, u64>;

/// Present work of a core.
#[derive(Debug)]
struct Core {
    since: i64,
    thread: String,
    tid: u32,
    /// Interrupts and softirqs that have begun, the innermost last.
    inside: Vec<String>,
    /// Softirqs of threads that were switched away from: with PREEMPT_RT they are work of threads, which may be preempted.
    left: HashMap<u32, Vec<String>>,
}

impl Core {
    fn owner(&self) -> String {
        match (self.inside.last(), self.tid) {
            (Some(inside), _) => inside.clone(),
            (None, 0) => "idle".to_owned(),
            (None, _) => format!("thread {}", self.thread),
        }
    }
}

/// Tells the executions in some spans of a core, from the lines of a trace in their order.
#[derive(Debug)]
pub struct WhatRan {
    /// Spans with their executions and their indices in the order of the request: by core and begin.
    stretches: Vec<(CoreSpan, Ran, usize)>,
    /// The longest of all stretches, ns.
    longest: i64,
    cores: BTreeMap<usize, Core>,
}

impl WhatRan {
    /// Asks for these stretches.
    pub fn new(stretches: &[CoreSpan]) -> WhatRan {
        let longest = stretches.iter().map(|stretch| stretch.to.saturating_sub(stretch.from)).max().unwrap_or(0);
        let mut stretches: Vec<_> =
            stretches.iter().enumerate().map(|(place, stretch)| (*stretch, Ran::new(), place)).collect();
        stretches.sort_by_key(|(stretch, ..)| (stretch.cpu, stretch.from));
        WhatRan { stretches, longest, cores: BTreeMap::new() }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &str) {
        let Some(event) = event(line) else { return };
        let core = self.cores.entry(event.cpu).or_insert_with(|| Core {
            since: event.at,
            thread: event.thread.to_owned(),
            tid: event.tid,
            inside: Vec::new(),
            left: HashMap::new(),
        });
        let (from, owner) = (core.since, core.owner());
        core.since = event.at;
        match event.what {
            What::Switched { name, tid } => {
                let inside = std::mem::take(&mut core.inside);
                if !inside.is_empty() {
                    core.left.insert(core.tid, inside);
                }
                core.inside = core.left.remove(&tid).unwrap_or_default();
                (core.thread, core.tid) = (name.to_owned(), tid);
            }
            // More than that is a trace with lines missing.
            What::Begins(what) if core.inside.len() < 8 => core.inside.push(what),
            What::Ends => drop(core.inside.pop()),
            What::Begins(_) | What::Other => (),
        }
        self.had(event.cpu, from, event.at, &owner);
    }

    /// Counts that somebody had a core for a while in all stretches that it falls into.
    fn had(&mut self, cpu: usize, from: i64, to: i64, owner: &str) {
        let earliest = from.saturating_sub(self.longest);
        let first = self.stretches.partition_point(|(own, ..)| (own.cpu, own.from) < (cpu, earliest));
        for (stretch, ran, _) in &mut self.stretches[first..] {
            if (stretch.cpu, stretch.from) >= (cpu, to) {
                return;
            }
            let overlap = to.min(stretch.to).saturating_sub(from.max(stretch.from));
            if overlap > 0 {
                *ran.entry(owner.to_owned()).or_default() += overlap as u64;
            }
        }
    }

    /// The executions in each span, in the order of the request.
    pub fn finish(mut self) -> Vec<Ran> {
        self.stretches.sort_by_key(|(.., place)| *place);
        self.stretches.into_iter().map(|(_, ran, _)| ran).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 writes it, here with a thread whose name has a space.
    const LINUX_6_18: &str = "\
# tracer: nop
#
# entries-in-buffer/entries-written: 13/13   #P:2
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
           rustc-12244   [001] d..2.   536.000000: sched_switch: prev_comm=rustc prev_pid=12244 prev_prio=130 prev_state=R ==> next_comm=opt cgu.06 next_pid=12271 next_prio=130
      opt cgu.06-12271   [001] d.h..   536.000100: irq_handler_entry: irq=36 name=virtio1-req.0
      opt cgu.06-12271   [001] d.h..   536.000104: irq_handler_exit: irq=36 ret=handled
      opt cgu.06-12271   [001] ..s..   536.000105: softirq_entry: vec=4 [action=BLOCK]
      opt cgu.06-12271   [001] d.h..   536.000110: local_timer_entry: vector=236
      opt cgu.06-12271   [001] dNh4.   536.000112: sched_wakeup: comm=ecu.task pid=12 prio=10 target_cpu=001
      opt cgu.06-12271   [001] dNh..   536.000113: local_timer_exit: vector=236
      opt cgu.06-12271   [001] .Ns..   536.000137: softirq_exit: vec=4 [action=BLOCK]
      opt cgu.06-12271   [001] d..2.   536.000139: sched_switch: prev_comm=opt cgu.06 prev_pid=12271 prev_prio=130 prev_state=R ==> next_comm=ecu.task next_pid=12 next_prio=10
CPU:0 [LOST 12 EVENTS]
            bash-12277   [000] ...1.   536.000150: tracing_mark_write: vecud: the run is over
        ecu.task-12      [001] d..2.   536.000200: sched_switch: prev_comm=ecu.task prev_pid=12 prev_prio=10 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
          <idle>-0       [001] d.h1.   536.000300: reschedule_entry: vector=253
";

    fn ran(text: &str, stretches: &[CoreSpan]) -> Vec<Vec<(String, u64)>> {
        let mut what = WhatRan::new(stretches);
        text.lines().for_each(|line| what.line(line));
        what.finish().into_iter().map(|ran| ran.into_iter().collect()).collect()
    }

    fn stretch(cpu: usize, from_us: i64, to_us: i64) -> CoreSpan {
        let at = |us| 536_000_000_000 + us * 1000;
        CoreSpan { cpu, from: at(from_us), to: at(to_us) }
    }

    fn us(all: &[(&str, u64)]) -> Vec<(String, u64)> {
        all.iter().map(|(what, us)| ((*what).to_owned(), us * 1000)).collect()
    }

    #[test]
    fn what_ran_before_a_thread_woke_is_told_without_what_interrupted_it() {
        let expected = [
            us(&[
                ("interrupt local timer", 3),
                ("interrupt virtio1-req.0", 4),
                ("softirq BLOCK", 29),
                ("thread opt cgu.06", 3),
            ]),
            us(&[("idle", 50), ("thread ecu.task", 61)]),
            us(&[]),
            us(&[("softirq BLOCK", 5)]),
        ];
        let asked = [stretch(1, 100, 139), stretch(1, 139, 250), stretch(0, 100, 139), stretch(1, 105, 110)];
        assert_eq!(ran(LINUX_6_18, &asked), expected);
    }

    #[test]
    fn instants_and_gaps_are_read() {
        let instants: Vec<i64> = LINUX_6_18.lines().filter_map(instant).collect();
        assert_eq!((instants.len(), instants[0], instants[11]), (12, 536_000_000_000, 536_000_300_000));
        assert_eq!(LINUX_6_18.lines().filter_map(lost).collect::<Vec<_>>(), [12]);
    }

    /// Linux 6.12 with PREEMPT_RT: one flag more for lazy preemption, softirqs in threads that may be preempted, and devices
    /// served by threads.
    #[test]
    fn a_softirq_of_a_thread_goes_on_when_that_is_switched_to_again() {
        let text = "\
     ksoftirqd/1-22      [001] .....13   536.000000: softirq_entry: vec=3 [action=NET_RX]
     ksoftirqd/1-22      [001] dN.h.13   536.000010: irq_handler_entry: irq=130 name=eth0-rx-0
     ksoftirqd/1-22      [001] dN.h.13   536.000012: irq_handler_exit: irq=130 ret=handled
     ksoftirqd/1-22      [001] d..2.13   536.000015: sched_switch: prev_comm=ksoftirqd/1 prev_pid=22 prev_prio=120 prev_state=R+ ==> next_comm=irq/130-eth0 next_pid=300 next_prio=49
    irq/130-eth0-300     [001] d..2...   536.000040: sched_switch: prev_comm=irq/130-eth0 prev_pid=300 prev_prio=49 prev_state=S ==> next_comm=ksoftirqd/1 next_pid=22 next_prio=120
     ksoftirqd/1-22      [001] .....13   536.000100: softirq_exit: vec=3 [action=NET_RX]
     ksoftirqd/1-22      [001] d..2...   536.000110: sched_switch: prev_comm=ksoftirqd/1 prev_pid=22 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
";
        let expected = us(&[
            ("interrupt eth0-rx-0", 2),
            ("softirq NET_RX", 73),
            ("thread irq/130-eth0", 25),
            ("thread ksoftirqd/1", 10),
        ]);
        assert_eq!(ran(text, &[stretch(1, 0, 110)]), [expected]);
    }

    /// Linux 6.1, told to show the thread group; and without flags.
    #[test]
    fn other_columns_are_read_too() {
        let text = "\
           <...>-1188    (   1187) [003] d..2. 536.000000: sched_switch: prev_comm=a [0] b prev_pid=1188 prev_prio=120 prev_state=D ==> next_comm=x ==> next_comm=y next_pid=7 next_prio=9
           <...>-7       (-------) [003] d.h1. 536.000020: local_timer_entry: vector=236
       a [0] b-1188 [003]   536.000030: local_timer_exit: vector=236
       a [0] b-1188 [003]   536.000031: local_timer_exit: vector=236
";
        assert_eq!(
            ran(text, &[stretch(3, 0, 100)]),
            [us(&[("interrupt local timer", 10), ("thread y", 21)])],
            "the end that nothing has begun is none"
        );
    }

    #[test]
    fn what_is_no_event_is_passed_over() {
        for line in [
            "",
            "#",
            "[001] ",
            " [001] d..2. 1.000001: x",
            "a-1 [x] d..2. 1.000001: x",
            "a-1 [1] d..2. 1.0001: x",
            "a-1 [1] d..2. 99999999999999.000001: x: y",
            "a-b [1] d..2. 1.000001: x: y",
            "ä-1 [ß] 1.000001: ",
            "CPU:1 [LOST many EVENTS]",
        ] {
            assert_eq!((instant(line), lost(line)), (None, None), "{line}");
        }
        assert_eq!(instant("a-1 [1] d..2. 1.000001: x: y"), Some(1_000_001_000));
        for odd in ["sched_switch: x", "irq_handler_entry:", "softirq_entry: vec=3", "x_entry: y", ": "] {
            let mut what = WhatRan::new(&[stretch(1, 0, 1)]);
            what.line(&format!("a-1 [1] d..2. 1.000001: {odd}"));
        }
    }
}
