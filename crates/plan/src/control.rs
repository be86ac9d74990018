//! The variables that can be set in an instance while it runs, and the tasks that set them.
//!
//! A variable belongs to exactly one *lane*: the tasks that may set it, which are those of its clocks, or all of the
//! instance. So all commands for one variable are carried out in the order in which they were sent.

use crate::described::{DescribedFmu, ELEMENTS};
use crate::priorities::PriorityOrder;
use crate::resolved::Resolved;
use crate::sizes::{is_resizable, lengths, sizes};
use crate::{ControlKind, ControlPlan, ControlVariable, LanePlan, Length, SignalId, UnitId};
use std::borrow::Cow;
use vecud_description::{Causality, Values, Variability, Variable, VariableType};

pub use crate::model::length::elements;

/// Bytes that a string may have, and a binary without `maxSize`.
const TEXT: usize = 1024;
/// Bytes that a binary may have whatever its `maxSize`.
const LONGEST_TEXT: usize = 1 << 20;

/// Everything that can be set in one instance.
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
        let tasks = order.units(&resolved.setting(id));
        let number = settable(described, v, (connected, fed), tasks.is_empty()).map(|structural| {
            let kind = match structural {
                true => ControlKind::Structural {
                    size: sizes(described).iter().position(|s| s.reference == v.value_reference),
                },
                false => ControlKind::Value {
                    lane: plan.lane(&tasks),
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
        self.lanes.iter().position(|lane| lane.tasks == units).unwrap_or_else(|| {
            self.lanes.push(LanePlan { tasks: units.to_vec() });
            self.lanes.len() - 1
        })
    }
}

/// Whether it is structural; or why the variable cannot be set while the instance runs.
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
        VariableType::String => Some(TEXT),
        VariableType::Binary => {
            Some(v.max_size.map_or(TEXT, |max| usize::try_from(max).unwrap_or(usize::MAX).min(LONGEST_TEXT)))
        }
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

/// The first value that is outside of the variable's limits, in a message.
pub fn outside_of_limits(variable: &ControlVariable, values: &Values) -> Option<String> {
    fn check<T: PartialOrd + std::fmt::Display + Copy>(
        values: &[T],
        min: Option<&T>,
        max: Option<&T>,
    ) -> Option<String> {
        let no_number = |value: &&T| value.partial_cmp(value).is_none();
        if let Some(value) = values.iter().find(no_number).filter(|_| min.or(max).is_some()) {
            return Some(format!("is {value}, which is within no limits, and it has some"));
        }
        let below = |value: &&T| min.is_some_and(|min| **value < *min);
        let above = |value: &&T| max.is_some_and(|max| **value > *max);
        if let (Some(value), Some(min)) = (values.iter().find(below), min) {
            return Some(format!("is {value}, below its min {min}"));
        }
        let (value, max) = (values.iter().find(above)?, max?);
        Some(format!("is {value}, above its max {max}"))
    }
    macro_rules! in_limits {
        ($($variant:ident)*) => {
            match values {
                $(Values::$variant(values) => {
                    let bound = |bound: &Option<Values>| match bound {
                        Some(Values::$variant(bound)) => bound.first().copied(),
                        _ => None,
                    };
                    check(values, bound(&variable.min).as_ref(), bound(&variable.max).as_ref())
                })*
                Values::Boolean(_) | Values::Clock(_) | Values::String(_) | Values::Binary(_) => None,
            }
        };
    }
    let outside = in_limits!(Float32 Float64 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64);
    outside.or_else(|| match values {
        Values::Int64(values) if !variable.items.is_empty() => {
            let value = values.iter().find(|value| !variable.items.contains(value))?;
            Some(format!("is {value}, which is no item of its enumeration"))
        }
        _ => None,
    })
}

/// Where an element of an array of the planned size lies in an array of the size that it has now, both in row-major order;
/// `None` when it is not there.
pub fn place(
    lengths: &[Length],
    element: usize,
    planned: impl Fn(usize) -> u64,
    now: impl Fn(usize) -> u64,
) -> Option<usize> {
    let (mut rest, mut place, mut factor) = (element, 0, 1);
    // The last index runs fastest.
    for length in lengths.iter().rev() {
        let (planned, now) = match length {
            Length::Fixed(length) => (*length, *length),
            Length::By(size) => (planned(*size) as usize, now(*size) as usize),
        };
        let index = rest % planned;
        if index >= now {
            return None;
        }
        rest /= planned;
        place += index * factor;
        factor *= now;
    }
    Some(place)
}
