//! The shared memory, seen through its layout.

use super::call_counts::{CallTimes, FUNCTIONS, FunctionCalls};
use super::causes::{self, CauseCells};
use super::cells::{FmuCells, TaskCells};
use super::layout::{FMU_WORDS, LOG_WORDS, Layout, TASK_HISTOGRAMS, TASK_WORDS};
use super::phase::Phase;
use super::promise::{BREAK, Break, READING, ReadingCells, time};
use super::words::Global;
use crate::control::CommandRing;
use crate::log::LogRing;
use crate::ring::Ring;
use crate::samples::SampleRing;
use crate::stimulus::Feed;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use vecud_base::time::Instant;
use vecud_plan::{ConnectionId, FmuId, Plan, SignalId, UnitId};

/// The shared memory, seen through its layout.
#[derive(Clone, Copy)]
pub struct Board<'a> {
    pub(super) words: &'a [AtomicU64],
    pub(super) layout: &'a Layout,
}

impl<'a> Board<'a> {
    /// The board in `words`.
    ///
    /// # Panics
    /// If there are fewer words than the layout needs.
    pub fn new(words: &'a [AtomicU64], layout: &'a Layout) -> Board<'a> {
        assert!(words.len() >= layout.total, "the shared memory is too small for the plan");
        Board { words, layout }
    }

    /// A word of the run.
    pub fn global(&self, word: Global) -> &'a AtomicU64 {
        &self.words[word as usize]
    }

    /// The phase of the runner.
    pub fn phase(&self) -> Phase {
        Phase::from_word(self.global(Global::Phase).load(SeqCst))
    }

    /// The runner enters a phase.
    pub fn set_phase(&self, phase: Phase) {
        self.global(Global::Phase).store(phase as u64, SeqCst);
    }

    /// The words of an instance.
    pub fn fmu(&self, fmu: FmuId) -> FmuCells<'a> {
        let start = self.layout.fmus + fmu.0 * FMU_WORDS;
        FmuCells { words: &self.words[start..start + FMU_WORDS] }
    }

    /// The words of a task.
    pub fn task(&self, unit: UnitId) -> TaskCells<'a> {
        let words = self.layout.tasks + unit.0 * TASK_WORDS;
        let histograms = self.layout.histograms + unit.0 * TASK_HISTOGRAMS;
        TaskCells {
            words: self.words[words..words + TASK_WORDS].try_into().expect("as many words"),
            histograms: &self.words[histograms..histograms + TASK_HISTOGRAMS],
        }
    }

    /// The log.
    pub fn log(&self) -> LogRing<'a> {
        LogRing::new(&self.words[self.layout.log..self.layout.log + LOG_WORDS])
    }

    /// Notes the words of a value that was set or read during initialisation, or that a column had when the run was left that
    /// this one goes on with.
    pub fn set_initial(&self, signal: SignalId, value: impl IntoIterator<Item = u64>) {
        let own = &self.words[self.layout.starts[signal.0].clone()];
        own[1..].iter().zip(value).for_each(|(place, word)| place.store(word, Relaxed));
        own[0].store(1, SeqCst);
    }

    /// The words of [that value](Board::set_initial), if there is one, and the room behind it.
    pub fn initial(&self, signal: SignalId) -> Option<impl Iterator<Item = u64> + use<'a>> {
        let words: &'a [AtomicU64] = &self.words[self.layout.starts[signal.0].clone()];
        (words[0].load(SeqCst) == 1).then(|| words[1..].iter().map(|word| word.load(Relaxed)))
    }

    /// The commands of a lane: those for at once, and those with a time.
    pub fn lane(&self, fmu: FmuId, lane: usize) -> [CommandRing<'a>; 2] {
        self.layout.control[fmu.0].lanes[lane].map(|place| place.ring(self.words))
    }

    /// The commands for structural parameters; `None` when there are none that can be set.
    pub fn structure(&self, fmu: FmuId) -> Option<CommandRing<'a>> {
        self.layout.control[fmu.0].structure.map(|place| place.ring(self.words))
    }

    /// The requests for ticks; `None`: nothing ticks on request.
    pub fn requests(&self) -> Option<CommandRing<'a>> {
        self.layout.requests.map(|place| place.ring(self.words))
    }

    /// The samples of a task; `None`: it records nothing.
    pub fn samples(&self, unit: UnitId) -> Option<SampleRing<'a>> {
        self.layout.samples[unit.0].map(|(place, length)| SampleRing { ring: place.ring(self.words), length })
    }

    /// The notes of a task; `None` in virtual time when nothing is traced.
    pub fn notes(&self, unit: UnitId) -> Option<Ring<'a>> {
        self.layout.notes[unit.0].map(|place| place.ring(self.words))
    }

    /// In virtual time: the number of the next noted event. Precondition: one thread at a time calls it.
    pub fn next_in_order(&self) -> u64 {
        let order = self.global(Global::TraceOrder);
        let number = order.load(Relaxed).wrapping_add(1);
        order.store(number, Relaxed);
        number
    }

    /// Notes the reason why a clock's activations differ from `time` on, if it is the first one. Any thread may call it.
    pub fn note_break(&self, unit: UnitId, what: Break, time: Instant) {
        let words = &self.words[self.layout.promise.breaks + unit.0 * BREAK..][..BREAK];
        if words[0].compare_exchange(0, what as u64, SeqCst, SeqCst).is_ok() {
            words[1..4].iter().zip(time.to_words()).for_each(|(place, word)| place.store(word, Relaxed));
            words[4].store(1, SeqCst);
        }
    }

    /// The first such thing.
    pub fn first_break(&self, unit: UnitId) -> Option<(Break, Instant)> {
        let words = &self.words[self.layout.promise.breaks + unit.0 * BREAK..][..BREAK];
        let what = match words[0].load(SeqCst) {
            1 => Break::Overrun,
            2 => Break::Retimed,
            _ => return None,
        };
        (words[4].load(SeqCst) == 1).then(|| (what, time(&words[1..4])))
    }

    /// A consumer of a delayed connection, by its place among them.
    pub fn reading(&self, connection: ConnectionId, consumer: usize) -> ReadingCells<'a> {
        let start = self.layout.promise.readings[connection.0] + consumer * READING;
        ReadingCells { words: &self.words[start..start + READING] }
    }

    /// The parts of a task's response times; `None` in virtual time.
    pub fn causes(&self, unit: UnitId) -> Option<CauseCells<'a>> {
        let start = self.layout.causes? + unit.0 * causes::WORDS;
        Some(CauseCells { words: &self.words[start..start + causes::WORDS] })
    }

    /// The number of calls of each function by a task; its thread alone writes them.
    pub fn calls(&self, unit: UnitId) -> &'a [AtomicU64; FUNCTIONS] {
        self.counts(unit.0)
    }

    /// The number of calls of an FMU outside of its tasks.
    pub fn outside_calls(&self, plan: &Plan, fmu: FmuId) -> &'a [AtomicU64; FUNCTIONS] {
        self.counts(plan.units.len() + fmu.0)
    }

    fn counts(&self, number: usize) -> &'a [AtomicU64; FUNCTIONS] {
        self.words[self.layout.counts(number)].try_into().expect("as many words")
    }

    /// The times of an FMU's calls; without room, if nobody wants them.
    pub fn call_times(&self, fmu: FmuId) -> CallTimes<'a> {
        CallTimes(&self.words[self.layout.call_times[fmu.0].clone()])
    }

    /// The called functions of an FMU, by their numbers, with the calls of all tasks and those outside of them.
    pub fn calls_of(&self, plan: &Plan, fmu: FmuId) -> impl Iterator<Item = FunctionCalls> + use<'a> {
        let own = (0..plan.units.len()).filter(|unit| plan.units[*unit].fmu == fmu);
        let mut all: Vec<_> = own.map(|unit| self.calls(UnitId(unit))).collect();
        all.push(self.outside_calls(plan, fmu));
        let times = self.call_times(fmu);
        (0..FUNCTIONS).filter_map(move |function| {
            let calls = all.iter().fold(0_u64, |sum, counts| sum.saturating_add(counts[function].load(Relaxed)));
            let nanos = times.0.get(function).map(|time| time.load(Relaxed)).filter(|nanos| *nanos > 0);
            (calls > 0).then_some(FunctionCalls { function: function as u32, calls, nanos })
        })
    }

    /// The rows of a stimulus, by its place in [`Plan::stimuli`].
    pub fn stimulus(&self, stimulus: usize) -> Feed<'a> {
        let (start, shape) = self.layout.stimuli[stimulus];
        Feed::new(&self.words[start..start + shape.words()], shape)
    }
}

#[cfg(test)]
mod tests {
    use super::super::promise::Region;
    use super::*;

    impl Layout {
        /// Nothing but this.
        fn only(promise: Region, total: usize) -> Layout {
            let (samples, notes, control, stimuli) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            Layout {
                fmus: 0,
                tasks: 0,
                histograms: 0,
                calls: 0,
                log: 0,
                promise,
                initial: 0,
                starts: Vec::new(),
                rings: 0,
                samples,
                notes,
                causes: None,
                call_times: Vec::new(),
                commands: 0,
                control,
                requests: None,
                stimuli,
                total,
            }
        }
    }

    #[test]
    fn the_first_of_everything_is_kept_and_everything_counted() {
        let mut next = 0;
        let region = Region { breaks: 0, readings: vec![BREAK, BREAK] };
        next += BREAK + READING;
        let layout = Layout::only(region, next);
        let words: Vec<AtomicU64> = (0..next).map(|_| AtomicU64::new(0)).collect();
        let board = Board::new(&words, &layout);
        let at = |seconds| Instant::from_f64(seconds).unwrap();
        assert_eq!(board.first_break(UnitId(0)), None);
        board.note_break(UnitId(0), Break::Retimed, at(0.5));
        board.note_break(UnitId(0), Break::Overrun, at(0.7));
        assert_eq!(board.first_break(UnitId(0)), Some((Break::Retimed, at(0.5))));
        let reading = board.reading(ConnectionId(1), 0);
        reading.missed(at(3.0), 1);
        reading.missed(at(2.0), 2);
        reading.missed(at(4.0), 1);
        reading.lost(at(1.0));
        assert_eq!((reading.all_missed(), reading.all_lost()), ((3, at(2.0), 2), (1, at(1.0))));
    }
}
