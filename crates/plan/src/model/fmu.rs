//! The plan of an FMU: its description's facts, and how it is run.

use super::length::elements;
use super::{BatchPlan, ControlPlan, Length, OnTick, OutputClock, SizePlan, UnitId};
use crate::rig::{GetIntervals, OnWarning};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use vecud_base::time::{Fraction, TimeUnit};
use vecud_description::{Abi, Interface, ValueReference, Values, VariableType};

/// One instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FmuPlan {
    /// Name in the rig, and instance name.
    pub name: String,
    /// The path that the user named.
    pub path: PathBuf,
    /// The shared library.
    pub library: PathBuf,
    /// Libraries that are loaded before the FMU's, for all code of the process.
    pub preload: Vec<PathBuf>,
    /// The C interface of the library.
    pub abi: Abi,
    /// `resourcePath`, absolute, ending in `/`; in the draft `resourceLocation`, a URI. `None` when the FMU has none.
    pub resources: Option<String>,
    /// `instantiationToken`.
    pub token: String,
    /// The FMU's unit of time; everything in a plan is in seconds.
    pub time_unit: TimeUnit,
    /// The core of all its partitions (semantics S6).
    pub cpu: usize,
    /// The consequence of a warning.
    pub on_warning: OnWarning,
    /// Structural parameters to set in Configuration Mode before anything else, in document order: the rig's.
    pub structural_values: Vec<StartValue>,
    /// Tunable structural parameters that sizes of arrays depend on; empty unless the run can be controlled.
    pub sizes: Vec<SizePlan>,
    /// The variables that can be set while it runs; none unless the run can be controlled.
    pub control: ControlPlan,
    /// The categories that it is asked to log, of FMI 1.0 none; `None`: it is not asked for debug logging.
    pub log: Option<Vec<String>>,
    /// Values to set before Initialization Mode, or in it where [`StartValue::in_initialization_mode`], in document order: the rig's.
    pub start_values: Vec<StartValue>,
    /// All output clocks; of array clocks all elements, one after the other in row-major order. Where events are handled between
    /// steps, the FMU's input clocks follow: they tick others too.
    pub output_clocks: Vec<OutputClock>,
    /// The clock functions of the draft; `None`: it is not of the draft.
    pub draft_clocks: Option<DraftClocksPlan>,
    /// Number of different priorities among its tasks.
    pub levels: usize,
    /// The interface type that it runs with, and its data.
    pub interface: InterfacePlan,
    /// The relative tolerance for its own solver.
    pub tolerance: Option<f64>,
    /// `canGetAndSetFMUState`.
    pub can_get_and_set_state: bool,
    /// `canSerializeFMUState`.
    pub can_serialize_state: bool,
    /// The measurements of each call of its functions.
    pub watch: CallWatch,
    /// A serialised state of the FMU alone, which it is given after its initialisation; `None`: it stays as that has left it.
    pub initial_state: Option<Vec<u8>>,
    /// Whether the FMU's state at the end of the run is returned, serialised.
    pub keeps_final_state: bool,
    /// Whether the FMU's state is taken and given back at the end of the run, serialised if possible, as a test of these
    /// functions.
    pub tries_state: bool,
    /// Whether the FMU's libraries call functions that change state of the whole process, such as `setlocale`.
    pub changes_process: bool,
}

/// Records of the calls of an FMU's functions beside their number. None by default, at no cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWatch {
    /// Whether the duration of calls is measured, for each function.
    pub times: bool,
    /// A line of the log for each.
    pub logs: bool,
}

/// The interface type that an instance runs with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum InterfacePlan {
    /// `<ScheduledExecution>`.
    ScheduledExecution(ScheduledExecutionPlan),
    /// `<CoSimulation>`.
    CoSimulation(CoSimulationPlan),
    /// `<ModelExchange>`.
    ModelExchange(ModelExchangePlan),
}

/// The data of an instance with Model Exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelExchangePlan {
    /// Continuous states at the start, by the description.
    pub states: usize,
    /// Number of event indicators.
    pub indicators: usize,
    /// The lengths that determine these numbers while the run goes on; `None`: they are constant.
    pub resizable: Option<ResizableEquations>,
    /// Each complete step of the solver is reported to it (`needsCompletedIntegratorStep`).
    pub needs_completed_step: bool,
    /// The dependencies of its derivatives on its states; `None`: any may depend on any.
    pub jacobian: Option<JacobianPlan>,
}

/// The lengths of variables whose elements are states and event indicators, by [`FmuPlan::sizes`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResizableEquations {
    /// The lengths of the dimensions of each state.
    pub states: Vec<Vec<Length>>,
    /// The lengths of the dimensions of each event indicator.
    pub indicators: Vec<Vec<Length>>,
}

impl ModelExchangePlan {
    /// The numbers of states and event indicators with these [`FmuPlan::sizes`].
    pub fn numbers(&self, size: impl Fn(usize) -> u64) -> (usize, usize) {
        let count = |all: &[Vec<Length>]| all.iter().map(|lengths| elements(lengths, &size)).sum();
        match &self.resizable {
            Some(resizable) => (count(&resizable.states), count(&resizable.indicators)),
            None => (self.states, self.indicators),
        }
    }
}

/// The dependencies of the derivatives of an FMU's states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JacobianPlan {
    /// The FMU computes products with it (`providesDirectionalDerivatives`).
    pub is_provided: bool,
    /// The derivatives, in the order of the states, each with its number of elements.
    pub derivatives: Vec<(ValueReference, usize)>,
    /// The states, in the same form.
    pub states: Vec<(ValueReference, usize)>,
    /// Elements of derivatives and states, by their numbers, where one depends on the other: the places that may be other than 0.
    pub places: Vec<(usize, usize)>,
}

/// The data of an instance with Scheduled Execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScheduledExecutionPlan {
    /// Tasks of this instance whose clocks count down: their intervals are fetched at every clock update.
    pub countdowns: Vec<UnitId>,
    /// Draft: the variables that are read in the callback in which output clocks have ticked.
    pub on_ticks: Vec<OnTick>,
}

/// The clock functions of an instance of the draft, in Scheduled Execution and in Model Exchange.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DraftClocksPlan {
    /// Intervals to set in Instantiated.
    pub intervals: Vec<DraftIntervals>,
    /// Whether the intervals of output clocks that have ticked are asked for.
    pub get_intervals: GetIntervals,
}

/// The data of an instance with Co-Simulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoSimulationPlan {
    /// `eventModeUsed`.
    pub event_mode_used: bool,
    /// `earlyReturnAllowed`.
    pub early_return_allowed: bool,
    /// The work in the midst of its steps; `None`: there is none.
    pub intermediate: Option<IntermediatePlan>,
}

/// The work in the midst of the steps of an instance (intermediate update).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IntermediatePlan {
    /// Inputs on lines, which are set where the FMU asks for them: `Float64`, with their numbers of elements.
    pub inputs: Vec<(ValueReference, usize)>,
    /// The variables that are read and recorded at the end of each internal step; no connection begins here.
    pub recorded: Vec<BatchPlan>,
}

impl IntermediatePlan {
    /// `requiredIntermediateVariables`.
    pub fn variables(&self) -> Vec<ValueReference> {
        let read = self.recorded.iter().flat_map(|batch| &batch.items).map(|item| item.reference);
        self.inputs.iter().map(|(reference, _)| *reference).chain(read).collect()
    }
}

impl FmuPlan {
    /// The interface type that it runs with, as its model description names it.
    pub fn interface_type(&self) -> &'static str {
        self.runs_as().element()
    }

    /// The interface type that it runs with.
    pub fn runs_as(&self) -> Interface {
        match &self.interface {
            InterfacePlan::ScheduledExecution(_) => Interface::ScheduledExecution,
            InterfacePlan::CoSimulation(_) => Interface::CoSimulation,
            InterfacePlan::ModelExchange(_) => Interface::ModelExchange,
        }
    }

    /// The data of Scheduled Execution; `None`: it runs with another interface type.
    pub fn scheduled_execution(&self) -> Option<&ScheduledExecutionPlan> {
        match &self.interface {
            InterfacePlan::ScheduledExecution(plan) => Some(plan),
            InterfacePlan::CoSimulation(_) | InterfacePlan::ModelExchange(_) => None,
        }
    }

    /// The data of Model Exchange; `None`: it runs with another interface type.
    pub fn model_exchange(&self) -> Option<&ModelExchangePlan> {
        match &self.interface {
            InterfacePlan::ModelExchange(plan) => Some(plan),
            InterfacePlan::ScheduledExecution(_) | InterfacePlan::CoSimulation(_) => None,
        }
    }

    /// The work in the midst of its steps.
    pub fn intermediate(&self) -> Option<&IntermediatePlan> {
        match &self.interface {
            InterfacePlan::ScheduledExecution(_) | InterfacePlan::ModelExchange(_) => None,
            InterfacePlan::CoSimulation(plan) => plan.intermediate.as_ref(),
        }
    }

    /// Whether recordings have rows at its internal steps.
    pub fn records_internal_steps(&self) -> bool {
        self.intermediate().is_some_and(|own| !own.recorded.is_empty())
    }

    /// The tasks of this instance whose clocks count down; see [`ScheduledExecutionPlan::countdowns`].
    pub fn countdowns(&self) -> &[UnitId] {
        self.scheduled_execution().map_or(&[], |plan| &plan.countdowns)
    }

    /// The variables that are read when output clocks tick; see [`ScheduledExecutionPlan::on_ticks`].
    pub fn on_ticks(&self) -> &[OnTick] {
        self.scheduled_execution().map_or(&[], |plan| &plan.on_ticks)
    }
}

/// A value to set before initialisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartValue {
    /// The variable's value reference.
    pub reference: ValueReference,
    /// The variable's name, for messages.
    pub name: String,
    /// The variable's type (enumerations are not integers).
    pub variable_type: VariableType,
    /// Values of all elements.
    pub values: Values,
    /// The variable may be set in Initialization Mode and not before: it belongs to a clock (FMI 3.0.2, 2.2.7.2 and 2.3.2), or is an
    /// input of FMI 2.0, which has no `initial` (2.2.7).
    pub in_initialization_mode: bool,
}

/// The intervals of a periodic clock of the draft that is not strict, where the rig changes or adds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DraftIntervals {
    /// The clock's value reference.
    pub reference: ValueReference,
    /// Set as fractions, since its description gives a resolution; else as decimals.
    pub fraction: bool,
    /// The interval of each element.
    pub intervals: Vec<Fraction>,
}
