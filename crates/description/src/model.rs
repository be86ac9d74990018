//! The types of a model description. Names are the standard's (FMI 3.0, 2.4).

mod index;
mod variable;

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use vecud_base::plain::Plain;
use vecud_base::time::{Fraction, TimeUnit};

pub use index::Index;
pub use variable::*;

/// A value reference: the handle by which the C interface knows a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ValueReference(pub u32);

impl ValueReference {
    /// The bit that marks references of negated aliases of FMI 1.0; no FMU knows it.
    const NEGATED: u32 = 1 << 31;

    /// The reference of an alias of this variable whose values have the opposite sign; `None`: this reference has the mark already.
    pub fn negated(self) -> Option<ValueReference> {
        (self.0 & Self::NEGATED == 0).then_some(ValueReference(self.0 | Self::NEGATED))
    }

    /// Whether this reference, of FMI 1.0, stands for values with the opposite sign of those that the FMU gives and takes.
    pub fn is_negated(self) -> bool {
        self.0 & Self::NEGATED != 0
    }

    /// The reference by which an FMU of FMI 1.0 knows the variable.
    pub fn of_fmu(self) -> ValueReference {
        ValueReference(self.0 & !Self::NEGATED)
    }
}

/// What finds a variable: FMI 1.0 and 2.0 give the same value reference to one variable of each base type, so that the
/// type belongs to it; in FMI 3.0 references are unique over all types, and the type may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VariableKey {
    /// A type of the variable's base type, by whose functions it is got and set.
    pub variable_type: Option<VariableType>,
    /// The value reference of the variable.
    pub reference: ValueReference,
}

impl From<ValueReference> for VariableKey {
    fn from(reference: ValueReference) -> VariableKey {
        VariableKey { variable_type: None, reference }
    }
}

impl From<(VariableType, ValueReference)> for VariableKey {
    fn from((variable_type, reference): (VariableType, ValueReference)) -> VariableKey {
        VariableKey { variable_type: Some(variable_type), reference }
    }
}

/// The C interfaces of FMI: which functions an FMU exports, under which names, with which arguments. Between patch releases
/// they do not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Abi {
    /// FMI 1.0: two interfaces, each of which prefixes its functions with the model identifier.
    Fmi1,
    /// FMI 2.0 with its patch releases.
    Fmi2,
    /// FMI 3.0, 3.0.1, 3.0.2.
    #[default]
    Fmi3,
    /// The text between FMI 3.0-alpha.5 and 3.0-alpha.6 (January 2021).
    Draft,
}

impl Abi {
    /// Whether it is FMI 1.0 or 2.0, which have words and names of their own.
    pub fn is_earlier(self) -> bool {
        matches!(self, Abi::Fmi1 | Abi::Fmi2)
    }

    /// The dialect of FMI 3.0 that it is, as a rig names it.
    pub fn dialect(self) -> Option<&'static str> {
        match self {
            Abi::Fmi3 => Some("released"),
            Abi::Draft => Some("draft"),
            Abi::Fmi1 | Abi::Fmi2 => None,
        }
    }

    /// Whether FMUs of it may be for Scheduled Execution, which came with FMI 3.0.
    pub fn has_scheduled_execution(self) -> bool {
        matches!(self, Abi::Fmi3 | Abi::Draft)
    }

    /// Whether a variable of each base type may have the same value reference, so that the type belongs to it.
    pub fn has_typed_references(self) -> bool {
        matches!(self, Abi::Fmi1 | Abi::Fmi2)
    }

    /// Whether an instance is told by a URI where its resources are, and not by a path.
    pub fn has_resource_uri(self) -> bool {
        self != Abi::Fmi3
    }

    /// Whether enumerations are got and set as `Integer`.
    pub fn has_integer_enumerations(self) -> bool {
        matches!(self, Abi::Fmi1 | Abi::Fmi2)
    }

    /// Whether the state of an instance can be saved and set. FMI 1.0 has no function for that.
    pub fn has_states(self) -> bool {
        self != Abi::Fmi1
    }

    /// Whether Event Mode of Model Exchange is entered with the reasons for it.
    pub fn has_event_reasons(self) -> bool {
        self == Abi::Draft
    }

    /// What an iteration of an event says when none is to follow.
    pub fn end_of_iteration(self) -> &'static str {
        match self {
            Abi::Fmi1 => "iterationConverged is true",
            Abi::Fmi2 => "newDiscreteStatesNeeded is false",
            Abi::Fmi3 | Abi::Draft => "discreteStatesNeedUpdate is false",
        }
    }

    /// Spelling of a flag of FMI 3.0 about states, such as `canGetAndSetFMUState`, in this version.
    pub fn spelled(self, flag: &str) -> String {
        if self == Abi::Fmi2 { flag.replace("FMUState", "FMUstate") } else { flag.to_owned() }
    }

    /// Whether variables can be set and read while an instance is being initialised. In FMI 1.0 inputs go in before, and outputs
    /// come after.
    pub fn has_initialization_mode(self) -> bool {
        self != Abi::Fmi1
    }

    /// Whether only outputs and initial unknowns can be read in Initialization Mode (FMI 2.0.5, notes on the tables of calls in 3.2.3 and
    /// 4.2.4).
    pub fn gives_unknowns_alone_in_initialization_mode(self) -> bool {
        self == Abi::Fmi2
    }

    /// Whether inputs are set while an instance is being initialised and not before: in FMI 2.0, where they have no `initial` (2.2.7).
    pub fn sets_inputs_in_initialization_mode_alone(self) -> bool {
        self == Abi::Fmi2
    }

    /// The reference by which the FMU knows a variable: negated aliases, of FMI 1.0, have [another one](ValueReference::negated) here.
    pub fn reference_of_fmu(self, reference: ValueReference) -> ValueReference {
        if self == Abi::Fmi1 { reference.of_fmu() } else { reference }
    }

    /// Whether a step that is discarded leaves the instance as it was, so that a shorter one may follow (FMI 3.0.2, 4.2.1:
    /// `fmi3DoStep`). Before, the instance is in the midst of it.
    pub fn may_step_again(self) -> bool {
        self == Abi::Fmi3
    }

    /// Whether an instance that has discarded a step is taken back by its state, if it has one, before another step (FMI 2.0.5, 4.2.2).
    pub fn goes_back_from_discard(self) -> bool {
        self == Abi::Fmi2
    }

    /// Whether Event Mode of Co-Simulation is used: the draft's steps tell of clocks otherwise than those of released FMI 3.0, and earlier
    /// versions have none.
    pub fn uses_event_mode_of_steps(self) -> bool {
        self == Abi::Fmi3
    }

    /// Whether descriptions say if a step may end earlier than asked for (`mightReturnEarlyFromDoStep`). Before, any may be discarded.
    pub fn tells_of_early_returns(self) -> bool {
        matches!(self, Abi::Fmi3 | Abi::Draft)
    }

    /// Whether the model structure lists continuous states; FMI 1.0 says only how many there are.
    pub fn has_structure_of_states(self) -> bool {
        self != Abi::Fmi1
    }

    /// Whether importers hand over derivatives of inputs (`fmi2SetRealInputDerivatives`). FMI 3.0 asks for inputs in the midst of a
    /// step instead (intermediate update).
    pub fn has_input_derivatives(self) -> bool {
        matches!(self, Abi::Fmi1 | Abi::Fmi2)
    }

    /// How messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Abi::Fmi1 => "FMI 1.0",
            Abi::Fmi2 => "FMI 2.0",
            Abi::Fmi3 => "the released FMI 3.0",
            Abi::Draft => "the draft of FMI 3.0",
        }
    }
}

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

/// A whole `modelDescription.xml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelDescription {
    /// Which text of the standard it follows, and so does its library.
    pub abi: Abi,
    /// `fmiVersion` as written.
    pub fmi_version: String,
    /// `modelName`.
    pub model_name: String,
    /// `instantiationToken`, handed unchanged to the FMU.
    pub instantiation_token: String,
    /// `description`.
    pub description: Option<String>,
    /// `author`.
    pub author: Option<String>,
    /// `version` of the model.
    pub version: Option<String>,
    /// `copyright`.
    pub copyright: Option<String>,
    /// `license`.
    pub license: Option<String>,
    /// `generationTool`.
    pub generation_tool: Option<String>,
    /// `generationDateAndTime`.
    pub generation_date_and_time: Option<String>,
    /// `variableNamingConvention`.
    pub naming: NamingConvention,
    /// The interface types that it offers, at most one of each kind, never none.
    pub interfaces: Vec<InterfaceOffer>,
    /// `<UnitDefinitions>`.
    pub units: Vec<UnitDefinition>,
    /// `<TypeDefinitions>`.
    pub types: Vec<TypeDefinition>,
    /// `<LogCategories>`.
    pub log_categories: Vec<LogCategory>,
    /// `<DefaultExperiment>`.
    pub default_experiment: DefaultExperiment,
    /// In what the FMU counts time.
    pub time: Time,
    /// `<ModelVariables>` in document order.
    pub variables: Vec<Variable>,
    /// `<ModelStructure>`.
    pub structure: ModelStructure,
    /// FMI 1.0: `numberOfContinuousStates`.
    pub number_of_continuous_states: Option<u32>,
    /// FMI 1.0 and 2.0: `numberOfEventIndicators`.
    pub number_of_event_indicators: Option<u32>,
    /// FMI 1.0 and 2.0: the tools for which `<VendorAnnotations>` has data.
    pub vendor_annotations: Vec<String>,
    /// Tolerated deviations from the standard, with line and column.
    pub warnings: Vec<String>,
    /// The tolerated deviations behind [`ModelDescription::warnings`]; of very many, only the first ones.
    pub tolerated: Vec<DescriptionError>,
    /// For [`ModelDescription::variable`] and [`ModelDescription::by_reference`]; `Index::default()` where a description
    /// is put together by hand.
    pub index: Index,
}

/// How variable names are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NamingConvention {
    /// A list of strings.
    #[default]
    Flat,
    /// Hierarchical names with dots and indices.
    Structured,
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

    /// What every interface type says of itself.
    pub fn common(&self) -> &InterfaceType {
        match self {
            InterfaceOffer::ModelExchange(own) => &own.common,
            InterfaceOffer::CoSimulation(own) => &own.common,
            InterfaceOffer::ScheduledExecution(common) => common,
        }
    }
}

/// What every interface type says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct InterfaceType {
    /// Name of the shared library and prefix of static builds.
    pub model_identifier: String,
    /// The FMU only talks to a tool that must be installed.
    pub needs_execution_tool: bool,
    /// One instance per process at most.
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
    /// Its path, relative to `sources/`.
    pub name: String,
    /// Line and column of the element in `modelDescription.xml`.
    pub at: (u32, u32),
}

/// `<ModelExchange>`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ModelExchange {
    /// The common flags.
    pub common: InterfaceType,
    /// `fmi3CompletedIntegratorStep` must be called after every completed step.
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

/// What a tool simulates for an FMU of FMI 1.0.
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

/// A unit: `base = factor · value + offset`, with the exponents of the SI units.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitDefinition {
    /// Unique name.
    pub name: String,
    /// The relation of the unit to SI, if declared.
    pub base: Option<BaseUnit>,
    /// Units to show values in.
    pub display_units: Vec<DisplayUnit>,
}

/// Exponents of kg, m, s, A, K, mol, cd, rad with factor and offset.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseUnit {
    /// In the order kg, m, s, A, K, mol, cd, rad.
    pub exponents: [i32; 8],
    /// Default 1.
    pub factor: f64,
    /// Default 0.
    pub offset: f64,
}

/// `display = factor · value + offset`, or `factor / value` when `inverse`.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayUnit {
    /// Unique within the unit.
    pub name: String,
    /// Default 1.
    pub factor: f64,
    /// Default 0.
    pub offset: f64,
    /// Default false.
    pub inverse: bool,
}

/// A log category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogCategory {
    /// As given to `fmi3SetDebugLogging`.
    pub name: String,
    /// For people.
    pub description: Option<String>,
}

/// In what an FMU counts time: the unit of its independent variable (FMI 3.0.2, 2.2.8.4). All times and intervals of a
/// [`ModelDescription`] are converted to seconds already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time {
    /// Name of the unit; `None`: there is none, so it is the second.
    pub name: Option<String>,
    /// The unit; `Err`: why the one of this name is no unit of time. Seconds are meant as far as anybody knows.
    pub unit: Result<TimeUnit, &'static str>,
}

impl Default for Time {
    fn default() -> Time {
        Time { name: None, unit: Ok(TimeUnit::SECOND) }
    }
}

impl Time {
    /// The unit, or seconds where there is none.
    pub fn unit(&self) -> TimeUnit {
        self.unit.unwrap_or(TimeUnit::SECOND)
    }

    /// The duration that an attribute of the description says in this unit; `None`: there is none, or it is 0.
    pub fn duration(&self, amount: f64) -> Option<Fraction> {
        let amount = Fraction::duration(amount).ok()?;
        self.unit().duration(amount).ok().filter(|duration| !duration.is_zero())
    }
}

/// `<DefaultExperiment>`, seconds.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DefaultExperiment {
    /// Suggested start.
    pub start_time: Option<f64>,
    /// Suggested stop.
    pub stop_time: Option<f64>,
    /// Suggested relative tolerance.
    pub tolerance: Option<f64>,
    /// Suggested step; above 0.
    pub step_size: Option<Fraction>,
}

/// A `<TypeDefinitions>` entry.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDefinition {
    /// Unique.
    pub name: Arc<str>,
    /// For people.
    pub description: Option<String>,
    /// What kind of values.
    pub variable_type: VariableType,
    /// `quantity`.
    pub quantity: Option<Arc<str>>,
    /// `unit`.
    pub unit: Option<Arc<str>>,
    /// `displayUnit`.
    pub display_unit: Option<Arc<str>>,
    /// `relativeQuantity`.
    pub relative_quantity: bool,
    /// `unbounded`.
    pub unbounded: bool,
    /// `min`.
    pub min: Option<Arc<Values>>,
    /// `max`.
    pub max: Option<Arc<Values>>,
    /// `nominal`.
    pub nominal: Option<f64>,
    /// `mimeType`.
    pub mime_type: Option<Arc<str>>,
    /// `maxSize`.
    pub max_size: Option<u64>,
    /// Items of an enumeration.
    pub items: Vec<EnumerationItem>,
    /// Attributes of a `<ClockType>`.
    pub clock: Option<Clock>,
}

/// One item of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumerationItem {
    /// Unique within the type.
    pub name: String,
    /// Unique within the type.
    pub value: i64,
    /// For people.
    pub description: Option<String>,
}

/// `<ModelStructure>`: ordered lists.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ModelStructure {
    /// `<Output>`
    pub outputs: Vec<Unknown>,
    /// `<ContinuousStateDerivative>`
    pub continuous_state_derivatives: Vec<Unknown>,
    /// `<ClockedState>`
    pub clocked_states: Vec<Unknown>,
    /// `<InitialUnknown>`
    pub initial_unknowns: Vec<Unknown>,
    /// `<EventIndicator>`
    pub event_indicators: Vec<Unknown>,
}

/// An entry of the model structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// The variable.
    pub variable: VariableKey,
    /// Dependencies of the variable: `None` is "everything", an empty list "nothing".
    pub dependencies: Option<Vec<Dependency>>,
}

/// A dependency with its kind (`dependent` where not written).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The variable that it depends on.
    pub on: VariableKey,
    /// Kind of the dependency.
    pub kind: DependencyKind,
}

/// `dependenciesKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the standard's words
pub enum DependencyKind {
    Dependent,
    Constant,
    Fixed,
    Tunable,
    Discrete,
}

/// A description that cannot be used, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptionError {
    /// 1-based line in `modelDescription.xml`.
    pub line: u32,
    /// 1-based column.
    pub column: u32,
    /// The error and, where there is one, its remedy.
    pub message: String,
}

impl std::fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "modelDescription.xml:{}:{}: {}", self.line, self.column, Plain(&self.message))
    }
}

impl std::error::Error for DescriptionError {}

impl ModelDescription {
    /// Model Exchange, if it is offered.
    pub fn model_exchange(&self) -> Option<&ModelExchange> {
        self.interfaces.iter().find_map(|interface| match interface {
            InterfaceOffer::ModelExchange(own) => Some(own),
            _ => None,
        })
    }

    /// Co-Simulation, if it is offered.
    pub fn co_simulation(&self) -> Option<&CoSimulation> {
        self.interfaces.iter().find_map(|interface| match interface {
            InterfaceOffer::CoSimulation(own) => Some(own),
            _ => None,
        })
    }

    /// Scheduled Execution, if it is offered.
    pub fn scheduled_execution(&self) -> Option<&InterfaceType> {
        self.interfaces.iter().find_map(|interface| match interface {
            InterfaceOffer::ScheduledExecution(common) => Some(common),
            _ => None,
        })
    }

    /// The variable with this name or alias.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.get(self.index.by_name(&self.variables, name)?)
    }

    /// The items of the enumeration that a variable is of; none for other types.
    pub fn items_of(&self, variable: &Variable) -> &[EnumerationItem] {
        let own = self.types.iter().find(|own| Some(&own.name) == variable.declared_type.as_ref());
        own.map_or(&[], |own| &own.items)
    }

    /// The variable that the C interface knows by a value reference: by the reference alone where no other base type has
    /// it too, as in FMI 3.0 none can. Of aliases the first.
    pub fn by_reference(&self, key: impl Into<VariableKey>) -> Option<&Variable> {
        self.variables.get(self.place(key)?)
    }

    /// Where [`ModelDescription::variables`] has the variable that [`ModelDescription::by_reference`] finds.
    pub fn place(&self, key: impl Into<VariableKey>) -> Option<usize> {
        self.index.by_reference(&self.variables, key)
    }

    /// Number of elements of a variable while its structural parameters have their start values; 1 for a scalar.
    pub fn elements(&self, variable: &Variable) -> u64 {
        variable
            .dimensions
            .iter()
            .map(|dimension| match dimension {
                Dimension::Fixed(n) => *n,
                Dimension::Structural(reference) => {
                    match self.by_reference(*reference).and_then(|v| v.start.as_ref()) {
                        Some(Values::UInt64(v)) => v.first().copied().unwrap_or(0),
                        _ => 0,
                    }
                }
            })
            .fold(1, u64::saturating_mul)
    }
}
