//! Variables: their types, attributes and values (FMI 3.0, 2.4.7).

use super::abi::Abi;
use super::value_reference::ValueReference;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use vecud_base::priority::FmiPriority;
use vecud_base::time::Fraction;

/// The type of a variable's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum VariableType {
    /// `fmi3Float32`
    Float32,
    /// `fmi3Float64`
    Float64,
    /// `fmi3Int8`
    Int8,
    /// `fmi3UInt8`
    UInt8,
    /// `fmi3Int16`
    Int16,
    /// `fmi3UInt16`
    UInt16,
    /// `fmi3Int32`
    Int32,
    /// `fmi3UInt32`
    UInt32,
    /// `fmi3Int64`; also the values of enumerations
    Int64,
    /// `fmi3UInt64`
    UInt64,
    /// `fmi3Boolean`
    Boolean,
    /// `fmi3String`
    String,
    /// `fmi3Binary`
    Binary,
    /// An enumeration: gets and sets as `fmi3Int64`
    Enumeration,
    /// `fmi3Clock`
    Clock,
}

impl VariableType {
    /// All types, in the order of the standard's schema.
    pub const ALL: [VariableType; 15] = [
        VariableType::Float32,
        VariableType::Float64,
        VariableType::Int8,
        VariableType::UInt8,
        VariableType::Int16,
        VariableType::UInt16,
        VariableType::Int32,
        VariableType::UInt32,
        VariableType::Int64,
        VariableType::UInt64,
        VariableType::Boolean,
        VariableType::String,
        VariableType::Binary,
        VariableType::Enumeration,
        VariableType::Clock,
    ];

    /// The name of the element of FMI 3.0.
    pub fn name(self) -> &'static str {
        match self {
            VariableType::Float32 => "Float32",
            VariableType::Float64 => "Float64",
            VariableType::Int8 => "Int8",
            VariableType::UInt8 => "UInt8",
            VariableType::Int16 => "Int16",
            VariableType::UInt16 => "UInt16",
            VariableType::Int32 => "Int32",
            VariableType::UInt32 => "UInt32",
            VariableType::Int64 => "Int64",
            VariableType::UInt64 => "UInt64",
            VariableType::Boolean => "Boolean",
            VariableType::String => "String",
            VariableType::Binary => "Binary",
            VariableType::Enumeration => "Enumeration",
            VariableType::Clock => "Clock",
        }
    }
}

/// `causality`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the standard's words
pub enum Causality {
    StructuralParameter,
    Parameter,
    CalculatedParameter,
    Input,
    Output,
    Local,
    Independent,
}

impl Causality {
    /// The value of the attribute, as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Causality::StructuralParameter => "structuralParameter",
            Causality::Parameter => "parameter",
            Causality::CalculatedParameter => "calculatedParameter",
            Causality::Input => "input",
            Causality::Output => "output",
            Causality::Local => "local",
            Causality::Independent => "independent",
        }
    }

    /// `an input`, `a parameter`.
    pub fn with_article(self) -> String {
        let name = self.name();
        let article = if name.starts_with(['i', 'o']) { "an" } else { "a" };
        format!("{article} {name}")
    }
}

/// `variability`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the standard's words
pub enum Variability {
    Constant,
    Fixed,
    Tunable,
    Discrete,
    Continuous,
}

impl Variability {
    /// The value of the attribute, as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Variability::Constant => "constant",
            Variability::Fixed => "fixed",
            Variability::Tunable => "tunable",
            Variability::Discrete => "discrete",
            Variability::Continuous => "continuous",
        }
    }
}

/// `initial`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the standard's words
pub enum Initial {
    Exact,
    Approx,
    Calculated,
}

/// One `<Dimension>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// `start`: always this long.
    Fixed(u64),
    /// `valueReference`: as long as that UInt64 structural parameter or constant says.
    Structural(ValueReference),
}

/// The values of a variable: one for a scalar, all elements in row-major order for an array, or a single one that fills
/// the whole array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // one per variable type
pub enum Values {
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Int8(Vec<i8>),
    UInt8(Vec<u8>),
    Int16(Vec<i16>),
    UInt16(Vec<u16>),
    Int32(Vec<i32>),
    UInt32(Vec<u32>),
    /// Values of `Int64` variables, and of enumerations.
    Int64(Vec<i64>),
    UInt64(Vec<u64>),
    Boolean(Vec<bool>),
    String(Vec<String>),
    Binary(Vec<Vec<u8>>),
    Clock(Vec<bool>),
}

impl Values {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Values::Float32(v) => v.len(),
            Values::Float64(v) => v.len(),
            Values::Int8(v) => v.len(),
            Values::UInt8(v) => v.len(),
            Values::Int16(v) => v.len(),
            Values::UInt16(v) => v.len(),
            Values::Int32(v) => v.len(),
            Values::UInt32(v) => v.len(),
            Values::Int64(v) => v.len(),
            Values::UInt64(v) => v.len(),
            Values::Boolean(v) | Values::Clock(v) => v.len(),
            Values::String(v) => v.len(),
            Values::Binary(v) => v.len(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// `intervalVariability`: how a clock comes to tick (FMI 3.0, 2.2.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntervalVariability {
    /// Periodic, interval fixed in the XML.
    Constant,
    /// Periodic, interval fixed at initialisation.
    Fixed,
    /// Periodic, interval may change.
    Tunable,
    /// Aperiodic, next interval known at each tick.
    Changing,
    /// Aperiodic, armed by the FMU.
    Countdown,
    /// Aperiodic, ticks when something else does.
    Triggered,
}

impl IntervalVariability {
    /// The value of the attribute in released FMI 3.0, as it is written.
    pub fn name(self) -> &'static str {
        match self {
            IntervalVariability::Constant => "constant",
            IntervalVariability::Fixed => "fixed",
            IntervalVariability::Tunable => "tunable",
            IntervalVariability::Changing => "changing",
            IntervalVariability::Countdown => "countdown",
            IntervalVariability::Triggered => "triggered",
        }
    }

    /// The kind of a clock in the words of its dialect.
    pub fn name_in(self, abi: Abi) -> &'static str {
        match (abi, self) {
            (Abi::Draft, IntervalVariability::Constant) => "strictly periodic",
            (Abi::Draft, IntervalVariability::Fixed) => "periodic",
            (Abi::Draft, IntervalVariability::Triggered) => "aperiodic",
            _ => self.name(),
        }
    }
}

/// The attributes of a clock beyond those of every variable.
///
/// The draft's words come out in the released ones: strictly periodic is constant, other periodic is fixed (perhaps
/// without an interval), aperiodic is triggered.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// Kind of the clock: periodic or not, and the source of its intervals or ticks.
    pub interval_variability: IntervalVariability,
    /// `priority`, smaller is more urgent.
    pub priority: Option<FmiPriority>,
    /// `intervalCounter/resolution` where given, else `intervalDecimal`; never zero for periodic clocks.
    pub interval: Option<Fraction>,
    /// `intervalDecimal` is written: the importer sets the interval of fixed and tunable clocks, else it asks for it.
    pub interval_decimal: bool,
    /// `shiftCounter/resolution` where given, else `shiftDecimal`; default 0.
    pub shift: Fraction,
    /// `resolution` as written.
    pub resolution: Option<u64>,
    /// `fmi3GetIntervalFraction` and friends work; the draft offers them for every clock.
    pub supports_fraction: bool,
    /// The importer may leave the clock inactive.
    pub can_be_deactivated: bool,
    /// Draft: `triggeredBy`, the output clock of the same FMU whose ticks activate this input clock.
    pub triggered_by: Option<ValueReference>,
    /// Draft: `clockType`.
    pub clock_type: Option<ClockType>,
}

/// `clockType` of the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockType {
    /// A clock of the synchronous theory: Model Exchange and Co-Simulation only.
    SynchronousTime,
    /// A point in time at which values are exchanged: Scheduled Execution has no others.
    CommunicationPoint,
}

/// A variable. It shares the attributes of its declared type with all variables of that type.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Unique name.
    pub name: String,
    /// The value reference by which the variable is got and set.
    pub value_reference: ValueReference,
    /// Type of its values.
    pub variable_type: VariableType,
    /// For people.
    pub description: Option<String>,
    /// Default: local.
    pub causality: Causality,
    /// Default: continuous for floats, else discrete; fixed for parameters.
    pub variability: Variability,
    /// The initial of the standard's table if not written (inputs: exact); `None` for clocks and the independent variable.
    pub initial: Option<Initial>,
    /// `canHandleMultipleSetPerTimeInstant`.
    pub can_handle_multiple_set_per_time_instant: bool,
    /// `intermediateUpdate`.
    pub intermediate_update: bool,
    /// `previous`.
    pub previous: Option<ValueReference>,
    /// `clocks` (draft: the one of `clockReference`): those that this variable belongs to; empty: to none.
    pub clocks: Vec<ValueReference>,
    /// Draft: `clockElementIndex`, the element of an array clock that it belongs to, counted from 1; 0: all elements, or
    /// the clock is a scalar. Always 0 in the released dialect.
    pub clock_element: usize,
    /// Empty for scalars.
    pub dimensions: Vec<Dimension>,
    /// `declaredType`.
    pub declared_type: Option<Arc<str>>,
    /// `start`.
    pub start: Option<Values>,
    /// FMI 3.0: other names for the same variable.
    pub aliases: Vec<Alias>,
    /// FMI 1.0 and 2.0: the variable of which this is another name.
    pub alias_of: Option<AliasOf>,
    /// `quantity`.
    pub quantity: Option<Arc<str>>,
    /// `unit`, from the variable or its declared type.
    pub unit: Option<Arc<str>>,
    /// `displayUnit`.
    pub display_unit: Option<Arc<str>>,
    /// `relativeQuantity`.
    pub relative_quantity: bool,
    /// `unbounded`.
    pub unbounded: bool,
    /// `min`, from the variable or its declared type; a single value of the variable's type.
    pub min: Option<Arc<Values>>,
    /// `max`.
    pub max: Option<Arc<Values>>,
    /// `nominal`.
    pub nominal: Option<f64>,
    /// `derivative`: the state that this is the derivative of.
    pub derivative: Option<ValueReference>,
    /// `reinit`.
    pub reinit: bool,
    /// `mimeType` of binaries, with its default `application/octet-stream`.
    pub mime_type: Option<Arc<str>>,
    /// `maxSize` of binaries, bytes.
    pub max_size: Option<u64>,
    /// Present exactly for clocks; in a box, so that other variables, of which there are many more, are smaller.
    pub clock: Option<Box<Clock>>,
    /// Line of the element in the document.
    pub line: u32,
    /// Column in that line.
    pub column: u32,
}

impl Variable {
    /// The name of the variable, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(|alias| alias.name.as_str()))
    }
}

/// The variable whose value reference an alias uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliasOf {
    /// Index of that variable in the list of variables.
    pub position: u32,
    /// FMI 1.0: the values have opposite signs.
    pub negated: bool,
}

/// Another name of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Unique among all names.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// Floats only.
    pub display_unit: Option<String>,
}
