//! The interface types of FMI, with the arguments that only one of them has at instantiation.

use super::types::RawReference;
use vecud_description::{Interface, ValueReference};

/// The interface type that an instance is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadeFor {
    /// The importer activates model partitions, each in a thread of its own.
    ScheduledExecution,
    /// The FMU computes from one communication point to the next.
    CoSimulation(StepOptions),
    /// The importer integrates the equations that the FMU evaluates.
    ModelExchange,
}

impl MadeFor {
    /// The interface type alone.
    pub fn interface(&self) -> Interface {
        match self {
            MadeFor::ScheduledExecution => Interface::ScheduledExecution,
            MadeFor::CoSimulation(_) => Interface::CoSimulation,
            MadeFor::ModelExchange => Interface::ModelExchange,
        }
    }
}

/// The facts about its steps that an FMU is told at instantiation (FMI 3.0.2, 4.3.1: `fmi3InstantiateCoSimulation`). FMI 2.0
/// and 1.0 have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepOptions {
    /// `eventModeUsed`: the importer handles events in Event Mode.
    pub event_mode_used: bool,
    /// `earlyReturnAllowed`: a step may end before its communication point.
    pub early_return_allowed: bool,
    /// The importer has an `intermediateUpdate`.
    pub intermediate_update: bool,
    /// `requiredIntermediateVariables`, by value reference.
    intermediate_variables: Vec<RawReference>,
}

impl StepOptions {
    /// Steps without intermediate updates.
    pub fn new(event_mode_used: bool, early_return_allowed: bool) -> StepOptions {
        StepOptions { event_mode_used, early_return_allowed, ..StepOptions::default() }
    }

    /// Adds intermediate updates, during which these variables may be set or read.
    pub fn with_intermediate_update(self, variables: &[ValueReference]) -> StepOptions {
        let intermediate_variables = variables.iter().map(|variable| variable.0).collect();
        StepOptions { intermediate_update: true, intermediate_variables, ..self }
    }

    pub(super) fn intermediate_variables(&self) -> &[RawReference] {
        &self.intermediate_variables
    }
}
