//! The layout of the words, as both processes derive it from the plan.

use super::words::{FmuWord, Global, Metric, TaskWord};
use super::{call_counts, causes, promise, stimuli};
use crate::commands::{self, ControlLayout};
use crate::control::CommandPlace;
use crate::log::overflow;
use crate::ring::{LINE, RingPlace};
use crate::samples::SampleRing;
use crate::stimulus::Shape;
use crate::trace::notes;
use crate::{findings, histogram};
use std::ops::Range;
use vecud_plan::{Mode, Plan, Release, SignalPlan, UnitPlan};

pub(super) const LOG_WORDS: usize = crate::log::WORDS;
const FMU_HISTOGRAMS: usize = 2;
pub(super) const FMU_FINDINGS: usize = FmuWord::Count as usize + FMU_HISTOGRAMS * histogram::WORDS;
pub(super) const FMU_OVERFLOW: usize = FMU_FINDINGS + findings::WORDS;
pub(super) const FMU_WORDS: usize = FMU_OVERFLOW + overflow::WORDS;
/// Words of a task, in whole cache lines.
pub(super) const TASK_WORDS: usize = (TaskWord::Count as usize).next_multiple_of(LINE);
pub(super) const TASK_HISTOGRAMS: usize = Metric::Count as usize * histogram::WORDS;

/// The layout of the shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(super) fmus: usize,
    /// The begin of samples and notes, up to the promise.
    pub(super) rings: usize,
    /// Per task: the ring of its samples, and words of each; `None`: it records nothing.
    pub(super) samples: Vec<Option<(RingPlace, usize)>>,
    /// Per task: the ring of its notes; `None`: it makes none.
    pub(super) notes: Vec<Option<RingPlace>>,
    /// The begin of commands, to the end.
    pub(super) commands: usize,
    /// Per instance: the rings of its lanes, two each (at once, timed), and that of its structural parameters.
    pub(super) control: Vec<ControlLayout>,
    /// The ring of requests for ticks.
    pub(super) requests: Option<CommandPlace>,
    /// The first word of each stimulus, and its shape.
    pub(super) stimuli: Vec<(usize, Shape)>,
    /// Per task: where its time went.
    pub(super) causes: Option<usize>,
    /// Per instance: how long calls of its functions took; empty where nobody wants to know.
    pub(super) call_times: Vec<Range<usize>>,
    /// The words of all tasks are side by side, their histograms apart: every activation writes the words of its task, and
    /// with many tasks these would each be on a page of their own otherwise.
    pub(super) tasks: usize,
    pub(super) histograms: usize,
    /// The begin of the call counts: by each task, then outside of them, for each instance.
    pub(super) calls: usize,
    pub(super) log: usize,
    pub(super) promise: promise::Region,
    /// The begin of the values of `starts`.
    pub(super) initial: usize,
    /// Per signal: a word that says whether a value was set or read during initialisation, and those of that value.
    pub(super) starts: Vec<Range<usize>>,
    pub(super) total: usize,
}

impl Layout {
    /// The layout for a plan.
    pub fn of(plan: &Plan) -> Layout {
        let fmus = Global::Count as usize;
        let tasks = (fmus + plan.fmus.len() * FMU_WORDS).next_multiple_of(LINE);
        let histograms = tasks + plan.units.len() * TASK_WORDS;
        let calls = (histograms + plan.units.len() * TASK_HISTOGRAMS).next_multiple_of(LINE);
        let log = calls + (plan.units.len() + plan.fmus.len()) * call_counts::WORDS;
        let initial = log + LOG_WORDS;
        let mut next = initial;
        let start = |signal: &SignalPlan| {
            let begin = next;
            next += 1 + signal.words();
            begin..next
        };
        let starts = plan.columns().map(start).collect();
        // Of inputs alone that nobody sets nothing is ever read, and their recording has its rows.
        let has_values = plan.units.iter().any(|unit| plan.sample_words(unit) > 0);
        let has_rows_of_time = plan.rows_of_time || !plan.signals.is_empty() && !has_values;
        let rings = next;
        let samples = |unit: &UnitPlan| {
            let values = plan.sample_words(unit);
            let length = SampleRing::length(values);
            let place = || RingPlace::after(&mut next, sample_words(plan, &unit.release, 1 + length), length);
            (values > 0 || has_rows_of_time).then(place).map(|place| (place, length))
        };
        let samples = plan.units.iter().map(samples).collect();
        let notes = plan.units.iter().map(|unit| notes::place(plan, unit, &mut next)).collect();
        let promise = promise::Region::of(plan, &mut next);
        let causes = causes::region(plan, &mut next);
        let call_times = call_counts::times(plan, &mut next);
        let begin_of_commands = next;
        let control = plan.fmus.iter().map(|fmu| ControlLayout::of(fmu, &mut next)).collect();
        let requests = commands::requests(plan, &mut next);
        let stimuli = stimuli::places(plan, &mut next);
        Layout {
            fmus,
            tasks,
            histograms,
            calls,
            log,
            promise,
            initial,
            starts,
            rings,
            samples,
            notes,
            causes,
            call_times,
            commands: begin_of_commands,
            control,
            requests,
            stimuli,
            total: next,
        }
    }

    /// Size of the shared memory.
    pub fn words(&self) -> usize {
        self.total
    }

    /// The first word of the counts of this number: those of tasks come first, then those of FMUs.
    pub(super) fn counts(&self, number: usize) -> Range<usize> {
        let begin = self.calls + number * call_counts::WORDS;
        begin..begin + call_counts::FUNCTIONS
    }
}

/// Words of a ring for two seconds of records, for at least 64 of them, and at most half a mebibyte. In virtual time, where
/// intervals do not tell the rate, for 4096 records, as long as all tasks together have no more than 64 MiB.
fn sample_words(plan: &Plan, release: &Release, record: usize) -> usize {
    const AT_MOST: usize = (1 << 19) / 8;
    const ALL: usize = (64 << 20) / 8;
    const MANY: usize = 4096;
    let wanted = match release {
        Release::Periodic { interval, .. } => {
            let seconds = (2.0 / interval.seconds()).ceil() as usize;
            let share = if plan.mode == Mode::Virtual { ALL / plan.units.len() / record } else { 0 };
            seconds.max(share.min(MANY))
        }
        _ => MANY,
    };
    wanted.saturating_mul(record).clamp(64 * record, AT_MOST.max(64 * record))
}
