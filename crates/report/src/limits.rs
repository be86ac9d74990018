//! Judges tasks by the limits of their rig, in this place only: single activations during the run, and all of them at
//! its end.

use super::{Kind, Problem, Severity, Subject};
use vecud_plan::Limits;

/// An activation that had not returned when the run was over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreturned {
    /// The activation's own running time, as far as it was observed, ns.
    pub ran: u64,
    /// Time since its first FMI call, ns.
    pub running: u64,
}

/// Figures that limits apply to, of one activation or the greatest of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Release → first FMI call, ns.
    pub start_latency: u64,
    /// First FMI call → last get done, less preemption, ns.
    pub execution: u64,
    /// Releases or ticks that found the task busy.
    pub overruns: u64,
    /// The watchdog took its priority, so it exceeded its limit at least once, whatever it did later.
    pub demoted: bool,
    /// The activation that had not returned, which the other figures do not include.
    pub unreturned: Option<Unreturned>,
}

/// The exceeded limits.
pub fn exceeded(limits: &Limits, measured: &Measured) -> impl Iterator<Item = Kind> {
    let &Measured { start_latency, execution, overruns, demoted, unreturned } = measured;
    let latency = limits.max_latency.map(|limit| limit.0 as u64).filter(|limit| start_latency > *limit);
    let count = limits.max_overruns.filter(|limit| overruns > *limit);
    let beyond = |limit: u64| unreturned.filter(|own| own.ran > limit || (demoted && own.running > limit));
    let longest = limits.max_execution.map(|limit| limit.0 as u64);
    let longest = longest.filter(|limit| demoted || execution > *limit || beyond(*limit).is_some());
    let latency = latency.map(|limit| Kind::LatencyLimit { reached: start_latency, limit });
    let count = count.map(|limit| Kind::OverrunLimit { count: overruns, limit });
    let longest = longest.map(|limit| {
        let running = beyond(limit).map(|own| own.running);
        Kind::ExecutionLimit { longest: execution, limit, demoted, running }
    });
    latency.into_iter().chain(count).chain(longest)
}

/// The exceeded limits of a task as problems: too long an execution fails the run, the others are exceeded limits.
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
        let at = Measured { start_latency: 10, execution: 20, overruns: 3, ..Measured::default() };
        assert_eq!(exceeded(&limits, &at).count(), 0);
        let beyond = Measured { start_latency: 11, execution: 21, overruns: 4, ..Measured::default() };
        let all: Vec<Kind> = exceeded(&limits, &beyond).collect();
        assert_eq!(
            all,
            [
                Kind::LatencyLimit { reached: 11, limit: 10 },
                Kind::OverrunLimit { count: 4, limit: 3 },
                Kind::ExecutionLimit { longest: 21, limit: 20, demoted: false, running: None },
            ]
        );
        assert_eq!(exceeded(&Limits::default(), &beyond).count(), 0);
        assert_eq!(exceeded(&limits, &Measured { demoted: true, ..at }).count(), 1, "it was over it, unseen");
    }

    /// Only its own running time counts: an activation that could not run is not over its limit, however long ago it began.
    #[test]
    fn an_activation_that_has_not_returned_is_over_the_limit_as_soon_as_it_has_run_for_longer() {
        let limits: Limits = serde_json::from_str(r#"{"max_execution": 20}"#).unwrap();
        let still = |ran, demoted| {
            let unreturned = Some(Unreturned { ran, running: 500 });
            exceeded(&limits, &Measured { execution: 3, demoted, unreturned, ..Measured::default() }).next()
        };
        assert_eq!(still(20, false), None);
        let kind = |demoted| Kind::ExecutionLimit { longest: 3, limit: 20, demoted, running: Some(500) };
        assert_eq!((still(21, false), still(0, true)), (Some(kind(false)), Some(kind(true))));
    }
}
