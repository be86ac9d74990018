//! Where the time of each activation goes, in real time (semantics S18): the parts of its response, the worst ones, overruns.
//!
//! An ordinary activation costs two time stamps and two comparisons; it leaves notes, of which the supervisor makes histograms
//! (`record::figures`). Only an activation that enters a list of the worst ones looks at other partitions of its core, at
//! [`LOOKED_AT`] of them at most. No activation makes a system call (semantics S17), so the kernel's counts are of the whole
//! thread and of its first activation, not of each one.

use super::calls::Meter;
use super::run_state::RunState;
use super::thread_host::PartitionHost;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use vecud_base::time::{Instant, Nanos};
use vecud_linux::cycles::ticks;
use vecud_linux::thread::usage;
use vecud_plan::UnitId;
use vecud_record::board::TaskWord;
use vecud_record::board::causes::{
    CauseCells, Counted, CounterReading, OverrunActivation, ResponsePart, WORST, WorstBy,
};
use vecud_record::moment::{NotableActivation, OTHERS, Other, ResponseBreakdown};

/// Most partitions of a core that are looked at, the most urgent first.
pub const LOOKED_AT: usize = 128;

/// Stops the time in an activation, from its first FMI call on.
pub struct Stopwatch<'a> {
    host: &'a PartitionHost,
    /// Time that partitions have executed on this core, ns.
    executed: &'a AtomicI64,
    began: Reading,
    computing: Computing,
}

/// The time in which the unit of the task computes, in as many pieces as there are.
#[derive(Default)]
struct Computing {
    /// The begin of the present piece in ticks, and the others' time by then.
    since: (u64, Reading),
    /// How long all pieces took, in ticks.
    ticks: u64,
    /// The others' part of these ticks.
    others: Reading,
}

impl Computing {
    #[inline]
    fn enter(&mut self, at: u64, now: Reading) {
        self.since = (at, now);
    }

    #[inline]
    fn leave(&mut self, at: u64, now: Reading) {
        let (since, before) = self.since;
        self.ticks += at.wrapping_sub(since);
        self.others.executed += now.executed - before.executed;
        self.others.blocked += now.blocked - before.blocked;
    }
}

/// Time that other partitions have used, ns.
#[derive(Clone, Copy, Default)]
struct Reading {
    executed: i64,
    blocked: i64,
}

/// From the first FMI call to the last get.
#[derive(Clone, Copy)]
pub struct Within {
    /// In FMU code and in handing values on: the execution time.
    pub execution: i64,
    preempted: i64,
    blocked: i64,
    set_get: i64,
    /// The end in ticks, and the time that others had executed on this core by then, ns.
    ended: u64,
    executed: i64,
}

impl Within {
    /// The parts of preemption, of waiting for the lock, and of setting and getting, ns.
    #[inline]
    pub fn parts(&self) -> (i64, i64, i64) {
        (self.preempted, self.blocked, self.set_get)
    }
}

impl<'a> Stopwatch<'a> {
    /// Just before the first FMI call.
    #[inline]
    pub fn new(host: &'a PartitionHost, executed: &'a AtomicI64) -> Stopwatch<'a> {
        let mut watch = Stopwatch { host, executed, began: Reading::default(), computing: Computing::default() };
        watch.began = watch.read();
        watch
    }

    #[inline]
    fn read(&self) -> Reading {
        Reading { executed: self.executed.load(Relaxed) - self.host.executed_in_waits(), blocked: self.host.blocked() }
    }

    /// The times of an activation after its last get, `total` after the first FMI call. No part is negative, and their sum is
    /// `total`.
    #[inline]
    pub fn within(&self, run: &RunState, total: i64) -> Within {
        let (ended, now) = (ticks(), self.read());
        let preempted = (now.executed - self.began.executed).clamp(0, total.max(0));
        let blocked = (now.blocked - self.began.blocked).clamp(0, total.max(0) - preempted);
        let execution = total.max(0) - preempted - blocked;
        let Computing { ticks: computed, others, .. } = self.computing;
        let inside = run.scale.nanos(computed) as i64 - others.executed - others.blocked;
        let set_get = execution - inside.clamp(0, execution);
        Within { execution, preempted, blocked, set_get, ended, executed: self.executed.load(Relaxed) + execution }
    }
}

impl Meter for Stopwatch<'_> {
    #[inline]
    fn enter(&mut self) {
        let now = self.read();
        self.computing.enter(ticks(), now);
    }

    #[inline]
    fn leave(&mut self) {
        let at = ticks();
        let now = self.read();
        self.computing.leave(at, now);
    }
}

/// An activation that has ended.
pub struct EndedActivation {
    /// The activation time.
    pub time: Instant,
    /// The release on CLOCK_MONOTONIC, ns.
    pub release: i64,
    /// The thread's first instruction after its sleep, on the same clock, ns.
    pub woken: i64,
    /// The part of the time from `release` to `woken` in which partitions of at least the same urgency ran, ns.
    pub rig: i64,
    /// The first FMI call, on the same clock, ns.
    pub start: i64,
    /// The end of the last get, on the same clock, ns.
    pub end: i64,
    /// Where the time from the first FMI call to the last get went.
    pub within: Within,
    /// How often the thread waited at the gate.
    pub gate_waits: u32,
}

impl EndedActivation {
    fn wakeup(&self) -> i64 {
        (self.woken - self.release).max(0)
    }

    /// The machine's part of the wake-up latency: all but the rig's part, ns.
    pub fn machine(&self) -> i64 {
        self.wakeup() - self.rig
    }

    fn gate(&self) -> i64 {
        (self.start - self.woken.max(self.release)).max(0)
    }

    /// From the release to the last get, ns: the sum of the [`parts`](EndedActivation::parts).
    fn response(&self) -> i64 {
        let Within { execution, preempted, blocked, .. } = self.within;
        self.wakeup() + self.gate() + execution + preempted + blocked
    }

    fn parts(&self) -> ResponseBreakdown {
        let Within { execution, preempted, blocked, set_get, .. } = self.within;
        let (wakeup, gate, executing) = (self.wakeup(), self.gate(), execution - set_get);
        ResponseBreakdown { wakeup, gate, executing, preempted, blocked, set_get }
    }
}

/// The keys of a list of the worst; the activations themselves are in the shared memory.
struct Worst {
    keys: [i64; WORST],
    /// Where the least of them is.
    place: usize,
}

impl Worst {
    fn new() -> Worst {
        Worst { keys: [-1; WORST], place: 0 }
    }

    #[inline]
    fn takes(&self, key: i64) -> bool {
        key > self.keys[self.place]
    }

    /// Moves the new entry to its rank.
    fn put(&mut self, key: i64) -> usize {
        let place = std::mem::replace(&mut self.place, 0);
        self.keys[place] = key;
        self.place = (0..WORST).min_by_key(|place| self.keys[*place]).expect("there are some");
        place
    }
}

/// The measurements that a partition thread keeps of its activations.
pub struct Measure {
    unit: UnitId,
    cells: CauseCells<'static>,
    worst: [Worst; WorstBy::Count as usize],
    last: Option<Last>,
    host: Option<Host>,
    /// The host's own time in the last activation before a sleep, which the next activation reports: that of the last one is lost
    /// in a crash.
    host_before: Option<i64>,
    /// No activation has ended yet.
    fresh: bool,
}

/// The host's own time in an activation that waited for no other thread, while its thread does not sleep yet.
struct Host {
    /// Up to the end of the activation, ns.
    before: i64,
    /// When that was.
    ended: u64,
    /// Execution time of partitions on this core, this activation included.
    executed: i64,
}

/// The activation before.
struct Last {
    ended: EndedActivation,
    blocker: u32,
    follows: bool,
    first: bool,
}

impl Measure {
    /// Begins to measure a task; to be called by its thread. `None`: nothing is measured.
    pub fn of(run: &RunState, unit: UnitId) -> Option<Measure> {
        let cells = run.board.causes(unit)?;
        cells.set_counted(CounterReading::Begin, counted());
        let worst = [Worst::new(), Worst::new()];
        Some(Measure { unit, cells, worst, last: None, host: None, host_before: None, fresh: true })
    }

    /// An activation has ended. Gives the host's own time of the one before it, if its thread has slept in between, ns.
    #[inline]
    pub fn note(&mut self, run: &RunState, host: &PartitionHost, ended: EndedActivation) -> Option<i64> {
        let Within { blocked, set_get, ended: over, executed, .. } = ended.within;
        let before = ended.gate() + set_get;
        self.host = (ended.gate_waits == 0).then_some(Host { before, ended: over, executed });
        let follows = self.last.as_ref().is_some_and(|last| last.ended.end > ended.release);
        let blocker = if blocked > 0 { host.member().blocker() } else { 0 };
        let (machine, response, at_start) = (ended.machine(), ended.response(), ended.release <= run.start().0);
        self.last = Some(Last { ended, blocker, follows, first: self.fresh });
        if self.worst[WorstBy::Response as usize].takes(response) {
            self.remember(run, WorstBy::Response, response);
        }
        if self.worst[WorstBy::Wakeup as usize].takes(machine) {
            self.remember(run, WorstBy::Wakeup, machine);
        }
        // Whose first activation is not that of the start has slept by now, and makes no other call from then on.
        if std::mem::take(&mut self.fresh) && at_start {
            self.count_first();
        }
        self.host_before.take()
    }

    #[cold]
    fn count_first(&self) {
        self.cells.set_counted(CounterReading::First, counted());
    }

    /// The last activation belongs to a list of the worst.
    #[cold]
    fn remember(&mut self, run: &RunState, by: WorstBy, key: i64) {
        if let Some(last) = &self.last {
            let moment = last.moment(run, self.unit, by);
            self.cells.worst(by, self.worst[by as usize].put(key)).write(&moment);
        }
    }

    /// The thread goes to sleep.
    #[inline]
    pub fn sleeps(&mut self, run: &RunState) {
        if let Some(host) = self.host.take() {
            let executed = &run.cores[run.tasks[self.unit.0].core].executed;
            let since = run.scale.nanos(ticks().wrapping_sub(host.ended)) as i64;
            let others = executed.load(Relaxed) - host.executed;
            self.host_before = Some(host.before + since - others);
        }
    }

    /// A release was left out when it was so late; that much of the time belonged to partitions that are at least as urgent, ns.
    #[cold]
    pub fn skipped(&self, late: i64, rig: i64) {
        self.cells.histogram(ResponsePart::WakeupMachine).count(late - rig);
    }

    /// Counts `releases` releases, from this one on, that found the activation before them still running; the first was seen
    /// `late` after its time.
    #[cold]
    pub fn overran(&self, run: &RunState, release: Instant, period: Nanos, releases: u64, late: i64) {
        if let Some(last) = &self.last {
            let predecessor = last.moment(run, self.unit, WorstBy::Response);
            self.cells.overran(&OverrunActivation { predecessor, period, release, releases, late });
        }
    }

    /// The thread has left its loop.
    pub fn end(&self) {
        // No further activation reports it.
        self.host_before.into_iter().for_each(|host| self.cells.histogram(ResponsePart::Host).count(host));
        self.cells.set_counted(CounterReading::End, counted());
    }
}

fn counted() -> Counted {
    let usage = usage();
    Counted {
        minor_faults: usage.minor_page_faults() as u64,
        major_faults: usage.major_page_faults() as u64,
        voluntary: usage.voluntary_context_switches() as u64,
        involuntary: usage.involuntary_context_switches() as u64,
    }
}

impl Last {
    /// The activation with the other partitions that ran: until its end, or only until its wake-up.
    #[cold]
    fn moment(&self, run: &RunState, unit: UnitId, by: WorstBy) -> NotableActivation {
        let until = if by == WorstBy::Wakeup { self.ended.woken } else { self.ended.end };
        let (others, more_others) = self.others(run, unit, until);
        NotableActivation {
            time: self.ended.time,
            release: self.ended.release,
            parts: self.ended.parts(),
            rig: self.ended.rig,
            gate_waits: self.ended.gate_waits,
            follows: self.follows,
            first: self.first,
            blocker: self.blocker,
            others,
            more_others,
        }
    }

    /// The other clocks of the core that were at work between the release and `until`. Of each its last activation counts.
    fn others(&self, run: &RunState, unit: UnitId, until: i64) -> ([Option<Other>; OTHERS], u32) {
        let EndedActivation { release, woken, start, gate_waits, .. } = self.ended;
        // From then on this one had the core.
        let gone_on = if gate_waits > 0 { start } else { woken };
        let (mut others, mut more) = ([None; OTHERS], 0);
        let core = &run.cores[run.tasks[unit.0].core];
        for other in core.units.iter().filter(|other| **other != unit).take(LOOKED_AT) {
            let cells = run.board.task(*other);
            let at = |word| cells.get(word) as i64;
            let (started, finished) = (at(TaskWord::StartedAt), at(TaskWord::FinishedAt));
            let under_way = cells.get(TaskWord::Active) == 1;
            let to = if under_way { gone_on } else { finished }.min(until);
            let overlap = to - started.max(release);
            if started == 0 || overlap <= 0 {
                continue;
            }
            sink(&mut others, Other { unit: *other, overlap, under_way }, &mut more);
        }
        (others, more)
    }
}

/// Moves an entry to its rank, the longest first; an entry that does not fit is counted.
fn sink(others: &mut [Option<Other>; OTHERS], mut pushed: Other, more: &mut u32) {
    for place in others.iter_mut() {
        match place {
            Some(own) if own.overlap >= pushed.overlap => {}
            Some(own) => std::mem::swap(own, &mut pushed),
            None => {
                *place = Some(pushed);
                return;
            }
        }
    }
    *more += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A release with events computes in pieces, between which is set and read.
    #[test]
    fn all_pieces_of_computing_count() {
        let mut computing = Computing::default();
        for (from, to) in [(100, 130), (200, 205)] {
            let others = |at: u64| Reading { executed: at as i64 / 10, blocked: at as i64 / 5 };
            computing.enter(from, others(from));
            computing.leave(to, others(to));
        }
        assert_eq!((computing.ticks, computing.others.executed, computing.others.blocked), (35, 3, 7));
    }
}
