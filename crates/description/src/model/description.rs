//! A whole model description.

use super::abi::Abi;
use super::declared_type::{EnumerationItem, TypeDefinition};
use super::error::DescriptionError;
use super::index::Index;
use super::interface::{CoSimulation, InterfaceOffer, InterfaceType, ModelExchange};
use super::structure::ModelStructure;
use super::unit::{Time, UnitDefinition};
use super::variable::{Dimension, Values, Variable};
use super::variable_key::VariableKey;
use vecud_base::time::Fraction;

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
    /// The FMU's unit of time.
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

/// The structure of variable names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NamingConvention {
    /// A list of strings.
    #[default]
    Flat,
    /// Hierarchical names with dots and indices.
    Structured,
}

/// A log category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogCategory {
    /// The name for `fmi3SetDebugLogging`.
    pub name: String,
    /// For people.
    pub description: Option<String>,
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
        self.variables.get(self.place_of(name)?)
    }

    /// Where [`ModelDescription::variables`] has the variable with this name or alias.
    pub fn place_of(&self, name: &str) -> Option<usize> {
        self.index.by_name(&self.variables, name)
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

    /// The index in [`ModelDescription::variables`] of the variable that [`ModelDescription::by_reference`] finds.
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
