//! The jitter state of a partition thread: figures of its last activation, for the next one (semantics S18).

use super::task_context::TaskContext;
use std::sync::atomic::Ordering::Relaxed;
use vecud_base::time::{Fraction, Nanos};
use vecud_plan::schedule::Timeline;
use vecud_record::board::TaskWord;

/// The values of earlier activations that jitter and overruns are computed from.
pub struct JitterState {
    /// The period of the task, as far as the thread has seen.
    pub period: Period,
    /// Release and start of the activation before.
    previous: Option<(i64, i64)>,
}

impl JitterState {
    /// The state of a task that was not activated yet.
    pub fn new(timeline: &Timeline) -> JitterState {
        JitterState { period: Period::of(timeline), previous: None }
    }

    /// An activation was released and has started then, ns. Gives the change of the interval between starts against that
    /// between releases, ns; `None`: it was the first.
    #[inline]
    pub fn jitter(&mut self, context: &TaskContext, release: i64, start: i64) -> Option<i64> {
        let (release_before, start_before) = self.previous.replace((release, start))?;
        let between = release - release_before;
        if self.period.nanos == Nanos::MAX {
            keep_shortest(context, between);
        }
        Some((start - start_before - between).abs())
    }
}

/// Keeps how near to one another two releases of a clock without a period were at the least.
fn keep_shortest(context: &TaskContext, between: i64) {
    let (word, seen) = (context.cells.word(TaskWord::ShortestInterval), between.max(0) as u64 + 1);
    let shortest = word.load(Relaxed);
    if shortest == 0 || seen < shortest {
        word.store(seen, Relaxed);
    }
}

/// The period of a clock, worked out again only when its interval has changed.
pub struct Period {
    interval: Option<Fraction>,
    /// `Nanos::MAX`: it has none.
    pub nanos: Nanos,
}

impl Period {
    fn of(timeline: &Timeline) -> Period {
        let interval = timeline.interval();
        Period { interval, nanos: interval.map_or(Nanos::MAX, Fraction::nanos) }
    }

    /// Works the period out anew if the timeline has another interval.
    #[inline]
    pub fn follow(&mut self, timeline: &Timeline) {
        if timeline.interval() != self.interval {
            *self = Period::of(timeline);
        }
    }
}
