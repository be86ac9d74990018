//! Finds values that cannot be true of a run, so that the host did not write them: FMU code can write anywhere, also over the
//! board.
//!
//! [`Board::examine`] looks at a private copy of the board, and sets impossible values to zero, as if they had never been
//! written. Readers of the copy then need no care: counts are no larger than time allows, so sums of them stay in bounds;
//! instants and durations are some centuries at most; an index of a task is one of an existing task. A possible wrong value
//! cannot be told from a right one.

use self::Range::{Any, Count, Fmu, Nanos, Task, Time, UpTo};
use super::causes::{CauseCells, ResponsePart};
use super::layout::{FMU_FINDINGS, Layout};
use super::phase::Phase;
use super::telemetry_segment::Board;
use super::threads::ThreadsState;
use super::words::{FmuWord, Global, Metric, Scheduling, TaskWord};
use crate::histogram::HistogramWriter;
use crate::unusable::Unusable;
use crate::{findings, log};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use vecud_plan::{ConnectionId, FmuId, Mode, Plan, UnitId};

/// Facts of a run from outside of the board.
#[derive(Clone, Copy, Debug)]
pub struct SupervisorView {
    /// Duration of the run, ns: nothing can have happened more often.
    pub elapsed: u64,
    /// Phase of the runner at the end.
    pub phase: Phase,
    /// The end was requested.
    pub stop_requested: bool,
}

/// No duration and no instant of any clock is longer, ns: 146 years.
const LONGEST: u64 = 1 << 62;
/// Linux has no larger numbers of processes.
const PIDS: u64 = 1 << 22;
/// There are fewer functions.
const FUNCTIONS: u64 = 1 << 10;

/// The possible values of a word.
#[derive(Clone, Copy)]
enum Range {
    /// Up to this, inclusive.
    UpTo(u64),
    /// A number of events.
    Count,
    /// A time or a duration, ns.
    Nanos,
    /// 1 + the index of a task, or 0.
    Task,
    /// 1 + the index of an FMU, or 0.
    Fmu,
    /// The first of three words of a time.
    Time,
    /// The other two words of such a value, and words that their reader checks.
    Any,
}

/// The possible values of the run's words, in their order.
const GLOBALS: [(Global, Range); Global::Count as usize] = [
    (Global::Phase, UpTo(Phase::Between as u64)),
    (Global::StopRequest, UpTo(1)),
    (Global::PauseRequest, UpTo(1)),
    (Global::Pause, UpTo(2)),
    (Global::HeldAt, Nanos),
    (Global::Shifted, Nanos),
    (Global::OutsideCall, Any),
    (Global::Start, Nanos),
    (Global::StartMonotonic, Nanos),
    (Global::Complete, Any),
    (Global::Reached, Nanos),
    (Global::Scheduling, UpTo(3)),
    (Global::MemoryLocked, UpTo(1)),
    (Global::MemoryLockedBytes, UpTo(1 << 48)),
    (Global::MemoryWantedBytes, UpTo(1 << 48)),
    (Global::DmaLatency, UpTo(1)),
    (Global::CrashSignal, UpTo(64)),
    (Global::CrashTask, Task),
    (Global::CrashForeign, UpTo(1)),
    (Global::CrashSender, UpTo(PIDS)),
    (Global::CrashCode, Fmu),
    (Global::CrashStack, UpTo(1 << 30)),
    (Global::ExitCalled, UpTo(1)),
    (Global::HungTask, Task),
    (Global::StarvedTask, Task),
    (Global::HungFmu, Fmu),
    (Global::OverrunTask, Task),
    (Global::OverrunTime, Time),
    (Global::OverrunTime1, Any),
    (Global::OverrunTime2, Any),
    (Global::OverrunLate, Nanos),
    (Global::OverdueTask, Task),
    (Global::ForeignCalls, Count),
    (Global::Panicked, UpTo(1)),
    (Global::Ended, Nanos),
    (Global::OutOfMemory, UpTo(1)),
    (Global::LogCut, UpTo(1)),
    (Global::LogNumber, Count),
    (Global::LogFollowed, Count),
    (Global::Threads, UpTo(ThreadsState::Seen as u64)),
    (Global::ReceiverTid, UpTo(PIDS)),
    (Global::WatchdogTid, UpTo(PIDS)),
    (Global::TraceOrder, Count),
];

/// The possible values of an instance's words, in their order.
const FMU_WORDS: [(FmuWord, Range); FmuWord::Count as usize] = [
    (FmuWord::End, UpTo(3)),
    (FmuWord::FailureStatus, UpTo(4)),
    (FmuWord::FailureAnswer, UpTo(1 << 32)),
    (FmuWord::FailureFunction, UpTo(FUNCTIONS)),
    (FmuWord::FailureTask, Task),
    (FmuWord::FailureTime, Time),
    (FmuWord::FailureTime1, Any),
    (FmuWord::FailureTime2, Any),
    (FmuWord::FailureReading, UpTo(Unusable::KINDS)),
    (FmuWord::FailureValue, Any),
    (FmuWord::FailureValue1, Any),
    (FmuWord::Warnings, Count),
    (FmuWord::LockNested, Count),
    (FmuWord::LockLeaked, Count),
    (FmuWord::LockUnbalanced, Count),
    (FmuWord::Commands, Count),
    (FmuWord::GivenUp, Task),
];

/// The possible values of a task's words, in their order.
const TASK_WORDS: [(TaskWord, Range); TaskWord::Count as usize] = [
    (TaskWord::Activations, Count),
    (TaskWord::Function, UpTo(FUNCTIONS)),
    (TaskWord::Time, Time),
    (TaskWord::Time1, Any),
    (TaskWord::Time2, Any),
    (TaskWord::Active, UpTo(1)),
    (TaskWord::StartedAt, Nanos),
    (TaskWord::FinishedAt, Nanos),
    (TaskWord::Overruns, Count),
    (TaskWord::Skipped, Count),
    (TaskWord::Coalesced, Count),
    (TaskWord::Retimed, Count),
    (TaskWord::Deferred, Count),
    (TaskWord::Discarded, Count),
    (TaskWord::RefusedTicks, Count),
    (TaskWord::DiscardedTicks, Count),
    (TaskWord::Tid, UpTo(PIDS)),
    (TaskWord::WrongCore, Count),
    (TaskWord::RaiseRefused, Any),
    (TaskWord::Demoted, UpTo(1)),
    (TaskWord::SamplesDropped, Count),
    (TaskWord::LockNested, Count),
    (TaskWord::LockLeaked, Count),
    (TaskWord::LockUnbalanced, Count),
    (TaskWord::LongestOwnLock, Nanos),
    (TaskWord::ShortestInterval, Nanos),
    (TaskWord::Warnings, Count),
    (TaskWord::AskedCounter, Any),
    (TaskWord::AskedResolution, Any),
    (TaskWord::IntervalCounter, Any),
    (TaskWord::IntervalResolution, Any),
    (TaskWord::Origin, Time),
    (TaskWord::Origin1, Any),
    (TaskWord::Origin2, Any),
    (TaskWord::Left, UpTo(1)),
    (TaskWord::Received, Count),
    (TaskWord::RateLimited, Count),
    (TaskWord::LateEvents, Count),
    (TaskWord::Steps, Count),
    (TaskWord::EarlyReturns, Count),
    (TaskWord::RejectedSteps, Count),
    (TaskWord::TakenBack, Count),
    (TaskWord::Events, Count),
    (TaskWord::Deviation, Any),
    (TaskWord::SolverSteps, Count),
    (TaskWord::SolverRejected, Count),
    (TaskWord::RightHandSides, Count),
    (TaskWord::MostRightHandSides, Count),
    (TaskWord::Jacobians, Count),
    (TaskWord::StateEvents, Count),
    (TaskWord::DroppedAtEnd, UpTo(1 << 33)),
];

impl Board<'_> {
    /// Copies everything but rings, which are read while a run goes on, into a board of the same layout that is all zero.
    pub fn copy_to(&self, other: Board) {
        let Layout { log: lines, initial, rings, ref promise, total, .. } = *self.layout;
        for index in (0..lines + log::HEADER).chain(initial..rings).chain(promise.begin()..total) {
            let word = self.words[index].load(Relaxed);
            if word != 0 {
                other.words[index].store(word, Relaxed);
            }
        }
    }

    /// Makes the histograms of a copy consistent that was made while the run went on: its words are of different instants.
    pub fn settle(&self, plan: &Plan) {
        for fmu in (0..plan.fmus.len()).map(FmuId) {
            let cells = self.fmu(fmu);
            [cells.hold(), cells.wait()].iter().for_each(HistogramWriter::settle);
        }
        for unit in (0..plan.units.len()).map(UnitId) {
            METRICS.iter().for_each(|(metric, _)| self.task(unit).histogram(*metric).settle());
            let causes = self.causes(unit);
            causes.iter().for_each(|causes| PARTS.iter().for_each(|(part, _)| causes.histogram(*part).settle()));
        }
    }

    /// Sets impossible values to zero, and returns their names. Precondition: the board is a private copy.
    pub fn examine(&self, plan: &Plan, known: SupervisorView) -> Vec<String> {
        let mut look = Inspection { board: self, plan, known, damage: Vec::new() };
        look.globals();
        (0..plan.fmus.len()).for_each(|fmu| look.fmu(FmuId(fmu)));
        (0..plan.units.len()).for_each(|unit| look.task(UnitId(unit)));
        look.connections();
        look.initial();
        for (index, stimulus) in plan.stimuli.iter().enumerate() {
            if !self.stimulus(index).mend(plan.units.len(), known.elapsed) {
                look.damage.push(format!("how far {} was read", stimulus.file));
            }
        }
        look.damage
    }
}

struct Inspection<'b, 'a> {
    board: &'b Board<'a>,
    plan: &'b Plan,
    known: SupervisorView,
    damage: Vec<String>,
}

impl Inspection<'_, '_> {
    /// Whether these words are possible, the first of which is in question. Impossible ones are set to zero.
    fn fits(&self, words: &[AtomicU64], range: &Range) -> bool {
        let word = words[0].load(Relaxed);
        let count = match range {
            Any => return true,
            Time => {
                let [seconds, counter, resolution] = [0, 1, 2].map(|i| words[i].load(Relaxed));
                let never = [seconds, counter, resolution] == [0; 3];
                let fits = never || (seconds as i64).unsigned_abs() < 1 << 40 && counter < resolution;
                if !fits {
                    words[..3].iter().for_each(|word| word.store(0, Relaxed));
                }
                return fits;
            }
            UpTo(most) => *most,
            Count => self.known.elapsed,
            Nanos => LONGEST,
            Task => self.plan.units.len() as u64,
            Fmu => self.plan.fmus.len() as u64,
        };
        if word > count {
            words[0].store(0, Relaxed);
        }
        word <= count
    }

    fn each(&mut self, what: &str, words: &[AtomicU64], ranges: impl Iterator<Item = (String, Range)>) {
        for (index, (name, range)) in ranges.enumerate() {
            if !self.fits(&words[index..], &range) {
                self.damage.push(format!("{what}{name}"));
            }
        }
    }

    fn globals(&mut self) {
        let words = self.board.words;
        if self.board.log().dropped() > self.known.elapsed {
            self.board.log().forget_dropped();
            self.damage.push("the number of lost log lines".to_owned());
        }
        self.each("", words, GLOBALS.iter().map(|(word, range)| (format!("{word:?}"), *range)));
        let stop = self.board.global(Global::StopRequest);
        if (stop.load(Relaxed) == 1) != self.known.stop_requested {
            stop.store(u64::from(self.known.stop_requested), Relaxed);
            self.damage.push("StopRequest".to_owned());
        }
        // Who has come to activations has said it, and whoever empties the memory has not.
        let possible = match self.plan.mode {
            Mode::RealTime => [Scheduling::Fifo, Scheduling::Cooperative],
            Mode::Virtual => [Scheduling::Virtual; 2],
        };
        let scheduling = self.board.global(Global::Scheduling);
        let began = (Phase::Running..=Phase::Done).contains(&self.known.phase);
        if began && !possible.map(|one| one as u64 + 1).contains(&scheduling.load(Relaxed)) {
            scheduling.store(possible[1] as u64 + 1, Relaxed);
            self.damage.push("Scheduling".to_owned());
        }
        if self.board.phase() != self.known.phase {
            self.board.global(Global::Phase).store(self.known.phase as u64, SeqCst);
            self.damage.push("Phase".to_owned());
        }
    }

    fn histogram(&mut self, what: &str, name: &str, histogram: HistogramWriter) {
        if !histogram.is_possible(self.known.elapsed) {
            histogram.clear();
            self.damage.push(format!("{what}{name}"));
        }
    }

    fn fmu(&mut self, fmu: FmuId) {
        let cells = self.board.fmu(fmu);
        let name = format!("fmu {}: ", self.plan.fmus[fmu.0].name);
        self.each(&name, cells.words, FMU_WORDS.iter().map(|(word, range)| (format!("{word:?}"), *range)));
        self.calls(&name, self.board.outside_calls(self.plan, fmu));
        self.histogram(&name, "lock hold times", cells.hold());
        self.histogram(&name, "lock wait times", cells.wait());
        let words = &cells.words[FMU_FINDINGS..FMU_FINDINGS + findings::WORDS];
        for kind in words.chunks(findings::WIDTH) {
            let ranges = [Count, UpTo(1), Any, UpTo(1 << 32), UpTo(1), Time];
            self.each(&name, kind, ranges.into_iter().map(|range| ("findings".to_owned(), range)));
        }
    }

    fn task(&mut self, unit: UnitId) {
        let cells = self.board.task(unit);
        let planned = &self.plan.units[unit.0];
        let name = format!("{}: ", self.plan.told_name(planned));
        self.each(&name, cells.words, TASK_WORDS.iter().map(|(word, range)| (format!("{word:?}"), *range)));
        self.calls(&name, self.board.calls(unit));
        for (metric, what) in METRICS {
            self.histogram(&name, what, cells.histogram(metric));
        }
        let Some(causes) = self.board.causes(unit) else { return };
        for (part, what) in PARTS {
            self.histogram(&name, what, causes.histogram(part));
        }
        self.causes(&name, causes);
    }

    fn calls(&mut self, name: &str, counts: &[AtomicU64]) {
        self.each(name, counts, counts.iter().map(|_| ("calls".to_owned(), Count)));
    }

    fn causes(&mut self, name: &str, causes: CauseCells) {
        if !causes.mend(self.known.elapsed, LONGEST) {
            self.damage.push(format!("{name}its worst activations"));
        }
    }

    fn connections(&mut self) {
        for (index, connection) in self.plan.connections.iter().enumerate() {
            for place in 0..connection.delay.iter().map(|delay| delay.consumers.len()).sum() {
                let words = self.board.reading(ConnectionId(index), place).words;
                let half = || [Count, Time, Any, Any, Any];
                let ranges = half().into_iter().chain(half()).map(|range| ("what came too late".to_owned(), range));
                self.each(&format!("connection {}: ", connection.arrow()), words, ranges);
            }
        }
    }

    fn initial(&mut self) {
        for (index, signal) in self.plan.columns().enumerate() {
            let words = &self.board.words[self.board.layout.starts[index].clone()];
            self.each("", words, [(format!("start value of {}", signal.name), UpTo(1))].into_iter());
        }
    }
}

const METRICS: [(Metric, &str); Metric::Count as usize] = [
    (Metric::Wakeup, "wake-up latency"),
    (Metric::Start, "start latency"),
    (Metric::Jitter, "start jitter"),
    (Metric::Execution, "execution"),
    (Metric::Response, "response"),
    (Metric::LockHold, "lock hold times"),
    (Metric::LockWait, "lock wait times"),
];

const PARTS: [(ResponsePart, &str); ResponsePart::Count as usize] = [
    (ResponsePart::Preempted, "time preempted"),
    (ResponsePart::Blocked, "time blocked"),
    (ResponsePart::SetGet, "time in set and get"),
    (ResponsePart::Host, "the host's own time"),
    (ResponsePart::WakeupMachine, "the machine's part of wake-up latencies"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables are looked up by place.
    #[test]
    fn the_tables_have_all_words_in_their_order() {
        assert!(GLOBALS.iter().enumerate().all(|(place, (word, _))| *word as usize == place));
        assert!(FMU_WORDS.iter().enumerate().all(|(place, (word, _))| *word as usize == place));
        assert!(TASK_WORDS.iter().enumerate().all(|(place, (word, _))| *word as usize == place));
        assert!(METRICS.iter().enumerate().all(|(place, (metric, _))| *metric as usize == place));
        assert!(PARTS.iter().enumerate().all(|(place, (part, _))| *part as usize == place));
    }
}
