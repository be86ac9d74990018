//! Stimuli in virtual time: no activation happens before everything up to its time was read.

use super::column::TickColumn;
use super::progress::{broken, set_floor, ticks_tasks};
use crate::lines;
use crate::pause;
use crate::run_state::{Ending, RunState};
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use vecud_base::time::Instant;
use vecud_plan::schedule::Agenda;
use vecud_plan::{FedClock, Plan, TaskId, UnitId, UnitPlan};
use vecud_record::board::Global;
use vecud_record::stimulus::{Feed, FeedState, is_known_for};

/// How long the run waits before it looks again.
const PAUSE: Duration = Duration::from_micros(50);

/// All stimuli of a run.
pub struct VirtualStimuli {
    feeds: Vec<Feed<'static>>,
    /// Whether it ticks tasks.
    ticks: Vec<bool>,
    /// Per stimulus: how far beyond an activation it has to be known, s; `None`: no input is on its lines.
    on_lines: Vec<Option<f64>>,
    /// Clocks that tick between steps.
    between_steps: Vec<FedSteps>,
    /// Stimuli whose changes of values end steps, and the length of those steps, s.
    holding: Vec<(Feed<'static>, f64)>,
    /// Tasks that a stimulus ticks, and its column.
    ticking: Vec<(TaskId, TickColumn)>,
    /// Everything up to this time is there, s.
    until: f64,
}

/// A clock that a stimulus ticks between steps.
struct FedSteps {
    feed: Feed<'static>,
    tick: usize,
    /// [`FedClock::ahead`].
    ahead: f64,
}

impl FedSteps {
    fn of(plan: &Plan, feed: Feed<'static>, tick: usize, own: &FedClock) -> Option<FedSteps> {
        Some(FedSteps { feed, tick, ahead: own.ahead(&plan.units)? })
    }

    /// Whether everything is there that a step needs which begins at `time`, or not before.
    fn is_known(&self, time: Instant) -> bool {
        let (state, until) = self.feed.ticks_known(self.tick);
        // A ring that is full has the tick at which the step ends.
        state != FeedState::Reading || until >= time.seconds() + self.ahead || !self.feed.has_room_for_tick(self.tick)
    }
}

impl VirtualStimuli {
    /// The stimuli of the plan.
    pub fn new(run: &'static RunState) -> VirtualStimuli {
        let plan = &run.plan;
        let ticked = |unit: &UnitPlan| Some((unit.task, TickColumn::of(run, &unit.release)?));
        let feeds: Vec<_> = (0..plan.stimuli.len()).map(|stimulus| run.board.stimulus(stimulus)).collect();
        let between_steps = feeds.iter().zip(&plan.stimuli).flat_map(|(feed, stimulus)| {
            let ticks = stimulus.ticks.iter().enumerate();
            ticks.filter_map(|(tick, own)| FedSteps::of(plan, *feed, tick, own))
        });
        let all = feeds.iter().enumerate();
        let holding = all.filter_map(|(stimulus, feed)| Some((*feed, longest(plan, stimulus, lines::holds_for)?)));
        VirtualStimuli {
            between_steps: between_steps.collect(),
            holding: holding.collect(),
            until: if feeds.is_empty() { f64::INFINITY } else { f64::NEG_INFINITY },
            feeds,
            ticks: plan.stimuli.iter().map(ticks_tasks).collect(),
            on_lines: (0..plan.stimuli.len()).map(|stimulus| longest(plan, stimulus, lines::rounding)).collect(),
            ticking: plan.units.iter().filter_map(ticked).collect(),
        }
    }

    /// Whether there are none.
    pub fn are_none(&self) -> bool {
        self.feeds.is_empty()
    }

    /// Waits until everything is there that the next activation needs, including the ticks before it. `false`: the run ends, by a
    /// request or because a file cannot be read.
    #[inline]
    pub fn wait(&mut self, run: &RunState, agenda: &mut Agenda) -> bool {
        self.feeds.is_empty() || self.wait_for_all(run, agenda)
    }

    fn wait_for_all(&mut self, run: &RunState, agenda: &mut Agenda) -> bool {
        loop {
            for (task, column) in &self.ticking {
                agenda.feed(*task, |timeline| column.take(timeline, |_| ()));
            }
            let next = agenda.peek();
            let has_rows = self.until == f64::INFINITY || next.is_some_and(|next| next.seconds() <= self.until);
            let is_known = |next: Instant| {
                let mut holding = self.holding.iter();
                self.between_steps.iter().all(|own| own.is_known(next))
                    && holding.all(|(feed, seconds)| is_known_for(feed, next.seconds(), *seconds))
            };
            if has_rows && next.is_none_or(is_known) {
                next.into_iter().for_each(|next| set_floor(run, next));
                return true;
            }
            if !has_rows {
                // Known before the ticks that it covers are taken, by the next turn.
                let all = self.feeds.iter().zip(&self.ticks).zip(&self.on_lines);
                let until = all.map(|((feed, ticks), on_lines)| known((feed, ticks), *on_lines));
                let until = until.fold(f64::INFINITY, f64::min);
                if until > self.until {
                    self.until = until;
                    continue;
                }
                let ends_here = |(feed, ticks): (&Feed, &bool)| {
                    *ticks && feed.state() == FeedState::Broken && feed.until() == self.until
                };
                if let Some(stimulus) = self.feeds.iter().zip(&self.ticks).position(ends_here) {
                    broken(run, stimulus);
                    return false;
                }
            }
            if run.ending() == Ending::Discard || run.board.global(Global::StopRequest).load(SeqCst) != 0 {
                run.end(Ending::Discard);
                return false;
            }
            if pause::is_wanted(run) {
                // Ticks for the next instant wait until they are known.
                pause::wait(run, || ());
            }
            let known = Instant::from_f64(self.until);
            next.into_iter().chain(known).min().into_iter().for_each(|floor| set_floor(run, floor));
            std::thread::sleep(PAUSE);
        }
    }
}

/// The time up to which a stimulus need not be waited for, s. A stimulus that cannot be read any more concerns the tasks that it
/// feeds, which find out for themselves; its further ticks are unknown for ever.
fn known((feed, ticks): (&Feed, &bool), on_lines: Option<f64>) -> f64 {
    match (feed.state(), on_lines) {
        (FeedState::Broken, _) if !ticks => f64::INFINITY,
        // An activation at that time wants the row after it as well.
        (FeedState::Reading, Some(beyond)) => (feed.until() - beyond).next_down(),
        _ => feed.until(),
    }
}

/// The longest that one of the tasks wants of a stimulus, s; `None`: none wants anything.
fn longest(plan: &Plan, stimulus: usize, wanted: fn(&Plan, UnitId, usize) -> Option<f64>) -> Option<f64> {
    let all = (0..plan.units.len()).filter_map(|task| wanted(plan, UnitId(task), stimulus));
    all.reduce(f64::max)
}
