//! The place of the rings of commands in the shared memory, and their length. A run that is not controlled has none.

use crate::control::{self, CommandPlace, OUTSTANDING};
use crate::items::HEADER;
use vecud_plan::{ControlKind, FmuPlan, Plan};

/// The place of the rings of commands for an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ControlLayout {
    /// The rings of each lane: for commands that are carried out at once, and for those with a time.
    pub(super) lanes: Vec<[CommandPlace; 2]>,
    /// The ring of structural parameters, if any can be set.
    pub(super) structure: Option<CommandPlace>,
}

impl ControlLayout {
    /// The layout of an instance, from word `next` on.
    pub(super) fn of(plan: &FmuPlan, next: &mut usize) -> ControlLayout {
        let capacity = |own: &dyn Fn(&ControlKind) -> bool| {
            let sizes = plan.control.variables.iter().filter(|variable| own(&variable.kind)).map(|variable| {
                let elements = vecud_plan::control::elements(&variable.lengths, |size| plan.sizes[size].start);
                control::payload_words(elements, variable.bytes)
            });
            // All variables twice, as long as that is little; the longest of them twice in any case.
            let (sum, longest) =
                sizes.fold((0usize, 0), |(sum, longest), size| (sum.saturating_add(size + 8), longest.max(size)));
            let least = 2 * control::record_words(std::iter::once(longest));
            sum.saturating_mul(2).clamp(1024, 8192).max(least)
        };
        let mut ring = |capacity: usize| CommandPlace::after(next, capacity);
        let lanes = (0..plan.control.lanes.len()).map(|number| {
            let words = capacity(&|kind| matches!(kind, ControlKind::Value { lane, .. } if *lane == number));
            [ring(words), ring(words)]
        });
        let lanes = lanes.collect();
        let structural = |kind: &ControlKind| matches!(kind, ControlKind::Structural { .. });
        let any = plan.control.variables.iter().any(|variable| structural(&variable.kind));
        ControlLayout { lanes, structure: any.then(|| ring(capacity(&structural))) }
    }
}

/// The ring of requests for ticks, from word `next` on; `None`: nothing ticks on request.
pub(super) fn requests(plan: &Plan, next: &mut usize) -> Option<CommandPlace> {
    (!plan.requests.is_empty()).then(|| CommandPlace::after(next, (1 + HEADER) * OUTSTANDING))
}
