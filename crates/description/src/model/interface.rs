//! The interface types, and the attributes of those that an FMU offers.

use serde::{Deserialize, Serialize};

/// The interface types of FMI: what an importer does with an instance. FMI 1.0 and 2.0 have the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Interface {
    /// The importer integrates the equations that the FMU evaluates.
    ModelExchange,
    /// The FMU computes from one communication point to the next.
    CoSimulation,
    /// The importer activates model partitions.
    ScheduledExecution,
}

impl Interface {
    /// The standard's name.
    pub fn name(self) -> &'static str {
        match self {
            Interface::ModelExchange => "Model Exchange",
            Interface::CoSimulation => "Co-Simulation",
            Interface::ScheduledExecution => "Scheduled Execution",
        }
    }

    /// The name of its element in a model description.
    pub fn element(self) -> &'static str {
        match self {
            Interface::ModelExchange => "ModelExchange",
            Interface::CoSimulation => "CoSimulation",
            Interface::ScheduledExecution => "ScheduledExecution",
        }
    }
}

/// An interface type that an FMU offers.
#[derive(Clone, Debug, PartialEq)]
pub enum InterfaceOffer {
    /// `<ModelExchange>`.
    ModelExchange(ModelExchange),
    /// `<CoSimulation>`.
    CoSimulation(CoSimulation),
    /// `<ScheduledExecution>`.
    ScheduledExecution(InterfaceType),
}

impl InterfaceOffer {
    /// Which interface type it is.
    pub fn interface(&self) -> Interface {
        match self {
            InterfaceOffer::ModelExchange(_) => Interface::ModelExchange,
            InterfaceOffer::CoSimulation(_) => Interface::CoSimulation,
            InterfaceOffer::ScheduledExecution(_) => Interface::ScheduledExecution,
        }
    }

    /// The attributes that every interface type has.
    pub fn common(&self) -> &InterfaceType {
        match self {
            InterfaceOffer::ModelExchange(own) => &own.common,
            InterfaceOffer::CoSimulation(own) => &own.common,
            InterfaceOffer::ScheduledExecution(common) => common,
        }
    }
}

/// The attributes that every interface type has.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct InterfaceType {
    /// Name of the shared library and prefix of static builds.
    pub model_identifier: String,
    /// Whether the FMU only talks to a tool that must be installed.
    pub needs_execution_tool: bool,
    /// Whether a process may have one instance at most.
    pub can_be_instantiated_only_once_per_process: bool,
    /// `fmi3GetFMUState` and friends work.
    pub can_get_and_set_fmu_state: bool,
    /// FMU states can be serialised (implies the flag above).
    pub can_serialize_fmu_state: bool,
    /// `fmi3GetDirectionalDerivative` works.
    pub provides_directional_derivatives: bool,
    /// `fmi3GetAdjointDerivative` works.
    pub provides_adjoint_derivatives: bool,
    /// `fmi3GetVariableDependencies` works.
    pub provides_per_element_dependencies: bool,
    /// FMI 1.0 and 2.0: the FMU does not use the memory functions that it is given.
    pub can_not_use_memory_management_functions: bool,
    /// FMI 2.0: `<SourceFiles>`.
    pub source_files: Vec<SourceFile>,
}

/// `<File>` of `<SourceFiles>`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SourceFile {
    /// Path of the file, relative to `sources/`.
    pub name: String,
    /// Line and column of the element in `modelDescription.xml`.
    pub at: (u32, u32),
}

/// `<ModelExchange>`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ModelExchange {
    /// The common flags.
    pub common: InterfaceType,
    /// Whether `fmi3CompletedIntegratorStep` is to be called after every completed step.
    pub needs_completed_integrator_step: bool,
    /// `fmi3EvaluateDiscreteStates` works.
    pub provides_evaluate_discrete_states: bool,
}

/// `<CoSimulation>`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CoSimulation {
    /// The common flags.
    pub common: InterfaceType,
    /// Highest order for `fmi3GetOutputDerivatives`.
    pub max_output_derivative_order: u32,
    /// The FMU calls `intermediateUpdate`.
    pub provides_intermediate_update: bool,
    /// The FMU may be stopped between steps of its own.
    pub might_return_early_from_do_step: bool,
    /// Honours `earlyReturnRequested`.
    pub can_return_early_after_intermediate_update: bool,
    /// Step sizes may vary.
    pub can_handle_variable_communication_step_size: bool,
    /// Internal step in s.
    pub fixed_internal_step_size: Option<f64>,
    /// Continuity of inputs that the FMU likes.
    pub recommended_intermediate_input_smoothness: i32,
    /// Event Mode is supported.
    pub has_event_mode: bool,
    /// `fmi3EvaluateDiscreteStates` works.
    pub provides_evaluate_discrete_states: bool,
    /// FMI 1.0 and 2.0: derivatives of inputs may be set.
    pub can_interpolate_inputs: bool,
    /// FMI 1.0 and 2.0: `canRunAsynchronuously`, a step may go on after the call has returned.
    pub can_run_asynchronously: bool,
    /// FMI 1.0: events inside of steps are handled.
    pub can_handle_events: bool,
    /// FMI 1.0: a step may be done once more.
    pub can_reject_steps: bool,
    /// FMI 1.0: a step may end early for an event.
    pub can_signal_events: bool,
    /// FMI 1.0: `<Model>` of `<CoSimulation_Tool>`, what the tool is to open; `None`: the FMU stands alone.
    pub tool: Option<Implementation>,
}

/// The kind of tool that simulates for an FMU of FMI 1.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    /// URI of the model.
    pub entry_point: String,
    /// The user starts the tool.
    pub manual_start: bool,
    /// MIME type of the model.
    pub mime_type: String,
    /// URIs of further files.
    pub files: Vec<String>,
}
