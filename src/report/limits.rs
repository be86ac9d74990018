//! Whether a task has kept to the limits of its rig: the one place that judges them, for single activations while a run goes
//! on, and for all of them at its end.

use super::{Kind, Problem, Severity, Subject};
use crate::plan::Limits;

/// What limits are about, of one activation or the most of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Release → first FMI call, ns.
    pub start_latency: u64,
    /// First FMI call → last get done, less preemption, ns.
    pub execution: u64,
    /// Releases or ticks that found the task busy.
    pub overruns: u64,
    /// The watchdog took its priority, so that it was over its limit at least once, whatever it did later.
    pub demoted: bool,
}

/// What is beyond its limit.
pub fn exceeded(limits: &Limits, measured: &Measured) -> impl Iterator<Item = Kind> {
    let &Measured { start_latency, execution, overruns, demoted } = measured;
    let latency = limits.max_latency.map(|limit| limit.0 as u64).filter(|limit| start_latency > *limit);
    let count = limits.max_overruns.filter(|limit| overruns > *limit);
    let longest = limits.max_execution.map(|limit| limit.0 as u64).filter(|limit| demoted || execution > *limit);
    let latency = latency.map(|limit| Kind::LatencyLimit { reached: start_latency, limit });
    let count = count.map(|limit| Kind::OverrunLimit { count: overruns, limit });
    let longest = longest.map(|limit| Kind::ExecutionLimit { longest: execution, limit, demoted });
    latency.into_iter().chain(count).chain(longest)
}

/// The exceeded limits of a task as problems: one that runs for too long fails the run, the others are exceeded limits.
pub fn judge(limits: &Limits, measured: &Measured, subject: &Subject) -> impl Iterator<Item = Problem> {
    exceeded(limits, measured).map(|kind| Problem {
        severity: if matches!(kind, Kind::ExecutionLimit { .. }) { Severity::Failure } else { Severity::Limit },
        subject: subject.clone(),
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_exceeded_above_it_and_not_at_it() {
        let limits = r#"{"max_latency": 10, "max_execution": 20, "max_overruns": 3}"#;
        let limits: Limits = serde_json::from_str(limits).unwrap();
        let at = Measured { start_latency: 10, execution: 20, overruns: 3, demoted: false };
        assert_eq!(exceeded(&limits, &at).count(), 0);
        let beyond = Measured { start_latency: 11, execution: 21, overruns: 4, demoted: false };
        let all: Vec<Kind> = exceeded(&limits, &beyond).collect();
        assert_eq!(
            all,
            [
                Kind::LatencyLimit { reached: 11, limit: 10 },
                Kind::OverrunLimit { count: 4, limit: 3 },
                Kind::ExecutionLimit { longest: 21, limit: 20, demoted: false },
            ]
        );
        assert_eq!(exceeded(&Limits::default(), &beyond).count(), 0);
        assert_eq!(exceeded(&limits, &Measured { demoted: true, ..at }).count(), 1, "it was over it, unseen");
    }
}
