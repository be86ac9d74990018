//! Types that a description declares by name.

use super::variable::{Clock, Values, VariableType};
use std::sync::Arc;

/// A `<TypeDefinitions>` entry.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDefinition {
    /// Unique.
    pub name: Arc<str>,
    /// For people.
    pub description: Option<String>,
    /// The type of the values.
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
