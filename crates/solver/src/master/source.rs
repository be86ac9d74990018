//! The largest step of a slave: getMaxStepSize, and its sources.

use serde::{Deserialize, Serialize};
use std::fmt;
use vecud_base::time::{Fraction, Instant};

/// Source of the largest step of a predictable slave. A slave may have several; the earliest end counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// `nextEventTime` of the last `fmi3UpdateDiscreteStates`. Known only while it runs.
    NextEventTime,
    /// The next tick of a clock whose ticks are known in advance. Known only while it runs.
    ClockTick,
    /// `fixedInternalStepSize`, or a multiple of it.
    InternalStep(Fraction),
    /// `canHandleVariableCommunicationStepSize = false`: this step and no other.
    ConstantStep(Fraction),
    /// No states and no events: every step is accepted.
    Unlimited,
    /// `fmi2GetMaxStepSize`, which some FMUs export beside the standard's functions. Known only while it runs.
    GetMaxStepSize,
    /// `max_step` of the rig.
    Rig(Fraction),
}

/// The latest instant to which a slave accepts a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The source of that limit.
    pub source: Source,
    /// `None`: there is no latest one.
    pub until: Option<Instant>,
}

impl Source {
    /// Whether the slave must be asked at each step.
    pub fn is_asked(self) -> bool {
        matches!(self, Source::NextEventTime | Source::ClockTick | Source::GetMaxStepSize)
    }

    /// The limit of a step from that instant. `told`: the answer of a slave that [is asked](Source::is_asked), for others `None`; an
    /// answer in the past limits the step to nothing.
    pub fn limit(self, from: Instant, told: Option<Instant>) -> Limit {
        let until = match self {
            Source::NextEventTime | Source::ClockTick | Source::GetMaxStepSize => told.map(|told| told.max(from)),
            Source::InternalStep(step) | Source::ConstantStep(step) | Source::Rig(step) => Some(from.after(step)),
            Source::Unlimited => None,
        };
        Limit { source: self, until }
    }

    /// Whether a step of this length may be too long for it.
    pub(super) fn can_shorten(self, step: Fraction) -> bool {
        match self {
            Source::NextEventTime | Source::ClockTick | Source::GetMaxStepSize => true,
            Source::InternalStep(own) | Source::Rig(own) => own < step,
            Source::ConstantStep(_) | Source::Unlimited => false,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::NextEventTime => f.write_str("nextEventTime"),
            Source::ClockTick => f.write_str("the next tick of its clocks"),
            Source::InternalStep(step) => write!(f, "fixedInternalStepSize = {} s", step.seconds()),
            Source::ConstantStep(step) => write!(f, "its constant step of {} s", step.seconds()),
            Source::Unlimited => f.write_str("that it has no events"),
            Source::GetMaxStepSize => f.write_str("fmi2GetMaxStepSize"),
            Source::Rig(step) => write!(f, "max_step = {} s in the rig", step.seconds()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Instant {
        Instant::from_f64(seconds).unwrap()
    }

    fn fraction(text: &str) -> Fraction {
        Fraction::parse(text).unwrap()
    }

    #[test]
    fn each_source_says_how_far() {
        let (from, told) = (at(1.0), Some(at(1.25)));
        let third = Some(Instant::ZERO.after(fraction("4/3")));
        for (source, until) in [
            (Source::NextEventTime, told),
            (Source::ClockTick, told),
            (Source::GetMaxStepSize, told),
            (Source::InternalStep(fraction("1/3")), third),
            (Source::ConstantStep(fraction("1/3")), third),
            (Source::Rig(fraction("1/3")), third),
            (Source::Unlimited, None),
        ] {
            let told = told.filter(|_| source.is_asked());
            assert_eq!(source.limit(from, told), Limit { source, until });
        }
    }

    #[test]
    fn nothing_told_is_no_limit_and_what_has_passed_stops_at_once() {
        assert_eq!(Source::NextEventTime.limit(at(1.0), None).until, None);
        assert_eq!(Source::NextEventTime.limit(at(1.0), Some(at(0.5))).until, Some(at(1.0)));
    }
}
