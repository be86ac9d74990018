//! The outcome of an FMU's steps, in one line.

use super::format::plural;
use super::step_counts::{ROUNDING, StepCounts};
use super::{ClockResult, Run};

/// A line for each task whose steps were not simply one for each activation.
pub(super) fn lines(run: &Run) -> impl Iterator<Item = String> {
    run.clocks.iter().filter_map(|clock| {
        let own = clock.steps.filter(|own| {
            let StepCounts { max_deviation_s, integration, .. } = *own;
            let usual = StepCounts { steps: clock.activations, max_deviation_s, integration, ..StepCounts::default() };
            *own != usual || own.max_deviation_s > ROUNDING || own.integration.is_some()
        })?;
        Some(format!("{}.{}: {}", clock.fmu, clock.clock, own.words()))
    })
}

/// `3 clocks`; `3 tasks` if one of them makes steps, and belongs to no clock.
pub(super) fn tasks<'a>(clocks: impl IntoIterator<Item = &'a ClockResult>) -> String {
    let (mut number, mut word) = (0, "clock");
    for clock in clocks {
        number += 1;
        if clock.kind.makes_steps() {
            word = "task";
        }
    }
    plural(number, word)
}

/// The figures of a task's steps, if it makes any.
pub(super) fn figures(clock: &ClockResult) -> Option<String> {
    clock.steps.map(|own| own.words())
}

#[cfg(test)]
mod tests {
    use super::super::{IntegrationCounts, sample};
    use super::*;

    #[test]
    fn steps_are_told_of_where_they_are_not_one_for_each_activation() {
        let mut run = sample(1);
        assert_eq!(lines(&run).count(), 0);
        let activations = run.clocks[0].activations;
        let usual = StepCounts { steps: activations, max_deviation_s: 1e-12, ..StepCounts::default() };
        run.clocks[0].steps = Some(usual);
        assert_eq!(lines(&run).count(), 0);
        assert_eq!(figures(&run.clocks[0]), Some(plural(activations, "step")));
        run.clocks[0].steps = Some(StepCounts {
            steps: 1001,
            early_returns: 1,
            rejected_steps: 2000,
            taken_back: 6,
            events: 3,
            deferred: 2,
            refused_ticks: 4,
            discarded_ticks: 1,
            max_deviation_s: 0.0005,
            integration: Some(IntegrationCounts {
                solver_steps: 4000,
                rejected_solver_steps: 3,
                right_hand_sides: 16_004,
                most_right_hand_sides: 9,
                jacobians: 1,
                state_events: 2,
            }),
        });
        let text: Vec<String> = lines(&run).collect();
        let words = "1,001 steps, 1 early return, 2,000 rejected, 6 taken back, 3 events, 2 ticks deferred, 4 ticks lost since 16 waited already, \
                     1 tick discarded, up to 500 µs off the communication point, integrated in 4,000 steps (3 rejected) with 16,004 \
                     right-hand sides, 9 in a release at most, 2 state events, 1 Jacobian";
        assert_eq!(text, [format!("{}.{}: {words}", run.clocks[0].fmu, run.clocks[0].clock)]);
    }
}
