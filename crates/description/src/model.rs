//! The types of a model description. Names are the standard's (FMI 3.0, 2.4).

mod abi;
mod declared_type;
mod description;
mod error;
mod index;
mod interface;
mod structure;
mod unit;
mod value_reference;
mod variable;
mod variable_key;

pub use self::abi::Abi;
pub use self::declared_type::{EnumerationItem, TypeDefinition};
pub use self::description::{DefaultExperiment, LogCategory, ModelDescription, NamingConvention};
pub use self::error::DescriptionError;
pub use self::index::Index;
pub use self::interface::{
    CoSimulation, Implementation, Interface, InterfaceOffer, InterfaceType, ModelExchange, SourceFile,
};
pub use self::structure::{Dependency, DependencyKind, ModelStructure, Unknown};
pub use self::unit::{BaseUnit, DisplayUnit, Time, UnitDefinition};
pub use self::value_reference::ValueReference;
pub use self::variable::*;
pub use self::variable_key::VariableKey;
