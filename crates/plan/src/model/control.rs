//! Changes from outside while a rig runs.

use super::{Length, SignalId, UnitId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use vecud_description::{ValueReference, Values, VariableType};

/// The variables of an instance that can be set while it runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ControlPlan {
    /// Each by its place here.
    pub variables: Vec<ControlVariable>,
    /// The tasks that may set the variables, in groups.
    pub lanes: Vec<LanePlan>,
    /// Connected arrays whose size depends on [`FmuPlan::sizes`](super::FmuPlan::sizes): a command must not change that size.
    pub connected: Vec<(String, Vec<Length>)>,
    /// For each name and alias, the index among the variables, or the reason why it cannot be set. For the supervisor only.
    #[serde(skip)]
    pub names: BTreeMap<String, Result<usize, Cow<'static, str>>>,
}

/// Units that may set the same variables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LanePlan {
    /// Never empty, most urgent first.
    pub units: Vec<UnitId>,
}

/// A variable that can be set while the instance runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlVariable {
    /// The variable's value reference.
    pub reference: ValueReference,
    /// The variable's name.
    pub name: String,
    /// The variable's type.
    pub variable_type: VariableType,
    /// The length of each dimension; empty for a scalar.
    pub lengths: Vec<Length>,
    /// Bytes that each string or binary may have; `None` for other types.
    pub bytes: Option<usize>,
    /// The way in which it is set.
    pub kind: ControlKind,
    /// `min`; a single value.
    pub min: Option<Values>,
    /// `max`; a single value.
    pub max: Option<Values>,
    /// The legal values of an enumeration; empty: undeclared.
    pub items: Vec<i64>,
    /// Recorded as these columns (one per element, planned size).
    pub signals: Vec<SignalId>,
}

/// The way to set a variable while the instance runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ControlKind {
    /// Before an activation of a task of this lane.
    Value {
        /// Index into [`ControlPlan::lanes`].
        lane: usize,
        /// A tunable parameter, on which intervals of tunable clocks may depend.
        tunable: bool,
        /// Whether the FMU handles events between steps and takes the variable in Event Mode alone; other variables are set in
        /// Step Mode.
        in_event_mode: bool,
    },
    /// The variable is set in Reconfiguration Mode.
    Structural {
        /// The place of the parameter among [`FmuPlan::sizes`](super::FmuPlan::sizes), if it is a size.
        size: Option<usize>,
    },
}
