//! The variables that can be set in an instance while it runs, and the tasks that set them.
//!
//! A variable belongs to exactly one *lane*: the tasks that may set it, which are those of its clocks, or all of the
//! instance. So all commands for one variable are carried out in the order in which they were sent.

use crate::described::{DescribedFmu, ELEMENTS};
use crate::priorities::PriorityOrder;
use crate::resolved::Resolved;
use crate::sizes::{is_resizable, lengths, sizes};
use crate::{ControlKind, ControlPlan, ControlVariable, LanePlan, SignalId, UnitId};
use std::borrow::Cow;
use vecud_description::{Causality, Variability, Variable, VariableType};

pub use crate::model::length::{element_place, elements};

/// The longest string, and the longest binary without `maxSize`, bytes.
const DEFAULT_LONGEST: usize = 1024;
/// The longest binary, even if its `maxSize` is larger, bytes.
const LONGEST_BINARY: usize = 1 << 20;

/// The variables of one instance that can be set while it runs, and its lanes.
pub(crate) fn plan(resolved: &Resolved, fmu: usize, order: &PriorityOrder) -> ControlPlan {
    let mut plan = ControlPlan::default();
    let (described, links) = (&resolved.fmus[fmu], &resolved.links);
    if !described.controlled {
        return plan;
    }
    for (index, v) in described.variables().iter().enumerate() {
        let id = (fmu, index);
        let connected = !links.feeding(id).is_empty() || !links.fed_by(id).is_empty();
        let fed = resolved.stimuli.feeds(id);
        let units = order.units(&resolved.setting(id));
        let number = settable(described, v, (connected, fed), units.is_empty()).map(|structural| {
            let kind = match structural {
                true => ControlKind::Structural {
                    size: sizes(described).iter().position(|s| s.reference == v.value_reference),
                },
                false => ControlKind::Value {
                    lane: plan.lane(&units),
                    tunable: v.causality == Causality::Parameter,
                    in_event_mode: described.changes_in_event_mode(v) || described.takes_jumps_in_event_mode(),
                },
            };
            plan.variables.push(variable(described, v, kind, resolved.columns.of_variable(id)));
            plan.variables.len() - 1
        });
        for name in v.names() {
            plan.names.insert(name.to_owned(), number.clone());
        }
        if connected && is_resizable(described, v) {
            plan.connected.push((v.name.clone(), lengths(described, v)));
        }
    }
    plan
}

impl ControlPlan {
    fn lane(&mut self, units: &[UnitId]) -> usize {
        self.lanes.iter().position(|lane| lane.units == units).unwrap_or_else(|| {
            self.lanes.push(LanePlan { units: units.to_vec() });
            self.lanes.len() - 1
        })
    }
}

/// Whether the variable is a structural parameter; or why it cannot be set while the instance runs.
fn settable(
    described: &DescribedFmu,
    v: &Variable,
    (connected, fed): (bool, bool),
    no_task: bool,
) -> Result<bool, Cow<'static, str>> {
    let why = |reason: &'static str| Err(reason.into());
    match (v.causality, v.variability) {
        _ if v.clock.is_some() => why("it is a clock"),
        (_, Variability::Constant) => why("it is a constant"),
        (Causality::Input, _) if connected => why("it is connected: its source sets it"),
        (Causality::Input, _) if fed => why("a stimulus sets it"),
        (Causality::Parameter | Causality::StructuralParameter, Variability::Fixed) => {
            why("it is fixed once the FMU is initialised; give it in the rig (start = { ... })")
        }
        _ if described.elements(v) > ELEMENTS => Err(format!("it has more than {ELEMENTS} elements").into()),
        (Causality::StructuralParameter, _) => Ok(true),
        (Causality::Input | Causality::Parameter, _) if no_task && v.clocks.is_empty() => {
            why("its FMU has no input clock, so it is never set")
        }
        (Causality::Input | Causality::Parameter, _) if no_task => {
            why("it belongs to no input clock, so no partition may set it")
        }
        (Causality::Input | Causality::Parameter, _) => Ok(false),
        (Causality::Independent, _) => why("it is the independent variable"),
        (causality, _) => Err(format!("it is {}", causality.with_article()).into()),
    }
}

fn variable(described: &DescribedFmu, v: &Variable, kind: ControlKind, signals: Vec<SignalId>) -> ControlVariable {
    let bytes = match v.variable_type {
        VariableType::String => Some(DEFAULT_LONGEST),
        VariableType::Binary => Some(
            v.max_size.map_or(DEFAULT_LONGEST, |max| usize::try_from(max).unwrap_or(usize::MAX).min(LONGEST_BINARY)),
        ),
        _ => None,
    };
    ControlVariable {
        reference: v.value_reference,
        name: v.name.clone(),
        variable_type: v.variable_type,
        lengths: lengths(described, v),
        bytes,
        kind,
        min: v.min.as_deref().cloned(),
        max: v.max.as_deref().cloned(),
        items: described.items(v).iter().map(|item| item.value).collect(),
        signals,
    }
}
