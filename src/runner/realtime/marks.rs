//! The histograms that every activation leaves its mark in (design S18).

use super::own::Own;
use crate::record::board::{Metric, TaskWord};
use crate::record::trace::TraceRing;
use crate::runner::near::Near;
use crate::schedule::Timeline;
use crate::sys::prefetch::prefetch;
use crate::time::{Fraction, Nanos};
use std::sync::atomic::Ordering::Relaxed;

/// Those of one task.
pub struct Marks {
    wakeup: Near,
    start: Near,
    execution: Near,
    response: Near,
    jitter: Near,
    /// Its period, as far as the thread knows.
    pub period: Period,
    /// Release and start of the activation before.
    previous: Option<(i64, i64)>,
}

/// An activation, ns of the wall clock but for the last one, which is a duration.
pub struct Noted {
    pub release: i64,
    pub woken: i64,
    pub start: i64,
    pub end: i64,
    pub execution: i64,
}

impl Marks {
    /// Those of a task.
    pub fn new(own: &Own, timeline: &Timeline) -> Marks {
        let near = |metric| Near::new(own.cells.histogram(metric));
        Marks {
            wakeup: near(Metric::Wakeup),
            start: near(Metric::Start),
            execution: near(Metric::Execution),
            response: near(Metric::Response),
            jitter: near(Metric::Jitter),
            period: Period::of(timeline),
            previous: None,
        }
    }

    /// Asks for the memory that [`Marks::note`] will probably change.
    #[inline]
    pub fn prefetch(&self, own: &Own) {
        [&self.wakeup, &self.start, &self.execution, &self.response, &self.jitter].into_iter().for_each(Near::prefetch);
        own.site.trace.iter().flat_map(TraceRing::next).for_each(prefetch);
    }

    /// An activation has ended.
    #[inline]
    pub fn note(&mut self, own: &Own, noted: &Noted) {
        let Noted { release, woken, start, end, execution } = *noted;
        self.wakeup.record(woken - release);
        self.start.record(start - release);
        self.execution.record(execution);
        self.response.record(end - release);
        if let Some((release_before, start_before)) = self.previous.replace((release, start)) {
            let between = release - release_before;
            self.jitter.record((start - start_before - between).abs());
            if self.period.nanos == Nanos::MAX {
                keep_shortest(own, between);
            }
        }
    }
}

/// Of a clock without a period: how near to one another two releases were.
fn keep_shortest(own: &Own, between: i64) {
    let (word, seen) = (own.cells.word(TaskWord::ShortestInterval), between.max(0) as u64 + 1);
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

    /// Looks whether it has.
    #[inline]
    pub fn follow(&mut self, timeline: &Timeline) {
        if timeline.interval() != self.interval {
            *self = Period::of(timeline);
        }
    }
}
