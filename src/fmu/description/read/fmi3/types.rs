//! `<TypeDefinitions>` (FMI 3.0, 2.4.4), and the attributes that a variable takes from its declared type.
//!
//! Names are unique; an enumeration has items with unique names and values.

use super::clocks;
use crate::fmu::description::model::{Abi, DescriptionError, EnumerationItem, TypeDefinition, Values, VariableType};
use crate::fmu::description::rules::is_float;
use crate::fmu::description::units::Units;
use crate::fmu::description::values;
use crate::fmu::description::xml::{Element, bits};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

const FLOAT: [&str; 8] = ["quantity", "unit", "displayUnit", "relativeQuantity", "unbounded", "min", "max", "nominal"];
const INTEGER: [&str; 3] = ["quantity", "min", "max"];
const BINARY: [&str; 2] = ["mimeType", "maxSize"];

/// The bits of all of them: most variables have none.
const BITS: u64 = bits(&FLOAT) | bits(&INTEGER) | bits(&BINARY);

/// The names of variable elements; those of type elements have `Type` behind.
const NAMES: [(&str, VariableType); 15] = [
    ("Float64", VariableType::Float64),
    ("Float32", VariableType::Float32),
    ("Int8", VariableType::Int8),
    ("UInt8", VariableType::UInt8),
    ("Int16", VariableType::Int16),
    ("UInt16", VariableType::UInt16),
    ("Int32", VariableType::Int32),
    ("UInt32", VariableType::UInt32),
    ("Int64", VariableType::Int64),
    ("UInt64", VariableType::UInt64),
    ("Boolean", VariableType::Boolean),
    ("String", VariableType::String),
    ("Binary", VariableType::Binary),
    ("Enumeration", VariableType::Enumeration),
    ("Clock", VariableType::Clock),
];

/// The type that a variable element's name says.
pub(super) fn variable_type(element_name: &str) -> Option<VariableType> {
    NAMES.iter().find(|(name, _)| *name == element_name).map(|(_, variable_type)| *variable_type)
}

/// The name of a type's variable element.
pub(super) fn type_name(variable_type: VariableType) -> &'static str {
    NAMES.iter().find(|(_, other)| *other == variable_type).map_or("?", |(name, _)| name)
}

/// The attributes that both a type definition and a variable of that type may have.
pub(super) fn attribute_names(variable_type: VariableType, dialect: Abi) -> &'static [&'static str] {
    match variable_type {
        VariableType::Float32 | VariableType::Float64 => &FLOAT,
        VariableType::Boolean | VariableType::String => &[],
        VariableType::Binary => &BINARY,
        VariableType::Clock => clocks::attributes(dialect),
        _ => &INTEGER,
    }
}

/// Those attributes, as written.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) quantity: Option<Arc<str>>,
    pub(super) unit: Option<Arc<str>>,
    pub(super) display_unit: Option<Arc<str>>,
    pub(super) relative_quantity: Option<bool>,
    pub(super) unbounded: Option<bool>,
    pub(super) min: Option<Arc<Values>>,
    pub(super) max: Option<Arc<Values>>,
    pub(super) nominal: Option<f64>,
    pub(super) mime_type: Option<Arc<str>>,
    pub(super) max_size: Option<u64>,
}

/// A unit, which every variable of a type repeats wherever variables are listed, so that it must not be long: a large text
/// in one type and many variables of it would fill memory and disk.
fn unit_name(element: Element<'_>, name: &str) -> Result<Option<Arc<str>>, DescriptionError> {
    const LIMIT: usize = 1000;
    match element.attribute(name) {
        Some(attribute) if attribute.value.len() > LIMIT => {
            Err(attribute.error(format!("is longer than {LIMIT} characters")))
        }
        attribute => Ok(attribute.map(|attribute| attribute.value.into())),
    }
}

impl Shared {
    pub(super) fn read(element: Element<'_>, variable_type: VariableType) -> Result<Shared, DescriptionError> {
        let mut shared = Shared::default();
        if !element.may_have(BITS) {
            return Ok(shared);
        }
        match variable_type {
            VariableType::Boolean | VariableType::String | VariableType::Clock => return Ok(shared),
            VariableType::Binary => {
                shared.mime_type = element.attribute("mimeType").map(|attribute| attribute.value.into());
                shared.max_size = element.scalar("maxSize")?;
                return Ok(shared);
            }
            _ => {}
        }
        shared.quantity = element.attribute("quantity").map(|attribute| attribute.value.into());
        if let Some(min) = element.attribute("min") {
            shared.min = values::single(min, variable_type)?.map(Arc::new);
        }
        if let Some(max) = element.attribute("max") {
            shared.max = values::single(max, variable_type)?.map(Arc::new);
        }
        if is_float(variable_type) {
            shared.unit = unit_name(element, "unit")?;
            shared.display_unit = unit_name(element, "displayUnit")?;
            shared.relative_quantity = element.scalar("relativeQuantity")?;
            shared.unbounded = element.scalar("unbounded")?;
            shared.nominal = match variable_type {
                VariableType::Float32 => element.scalar::<f32>("nominal")?.map(f64::from),
                _ => element.scalar("nominal")?,
            };
        }
        Ok(shared)
    }

    /// With the declared type's attributes where the variable has none.
    pub(super) fn or(self, declared: &TypeDefinition) -> Shared {
        // A display unit belongs to its unit: a variable with a unit of its own does not take the type's.
        let same_unit = self.unit.is_none() || self.unit == declared.unit;
        Shared {
            quantity: self.quantity.or_else(|| declared.quantity.clone()),
            display_unit: self.display_unit.or_else(|| declared.display_unit.clone().filter(|_| same_unit)),
            unit: self.unit.or_else(|| declared.unit.clone()),
            relative_quantity: self.relative_quantity.or(Some(declared.relative_quantity)),
            unbounded: self.unbounded.or(Some(declared.unbounded)),
            min: self.min.or_else(|| declared.min.clone()),
            max: self.max.or_else(|| declared.max.clone()),
            nominal: self.nominal.or(declared.nominal),
            mime_type: self.mime_type.or_else(|| declared.mime_type.clone()),
            max_size: self.max_size.or(declared.max_size),
        }
    }

    /// Warns of what contradicts itself but harms no run.
    pub(super) fn check(&self, element: Element<'_>, units: &Units) {
        if self.unit.is_some() || self.display_unit.is_some() {
            units.check(element, self.unit.as_deref(), self.display_unit.as_deref());
        }
        if let (Some(min), Some(max)) = (&self.min, &self.max)
            && values::is_above(min, max)
        {
            element.warn(format!("{}: min is greater than max", element.label()));
        }
    }
}

/// The types with an index by name.
#[derive(Default)]
pub(super) struct Types<'a> {
    pub(super) list: Vec<TypeDefinition>,
    by_name: HashMap<&'a str, usize>,
    clocks: HashMap<&'a str, clocks::Written<'a>>,
    items: HashMap<&'a str, HashSet<i64>>,
}

impl<'a> Types<'a> {
    pub(super) fn read(definitions: Element<'a>, units: &Units) -> Result<Types<'a>, DescriptionError> {
        let mut types = Types::default();
        for element in definitions.children() {
            let Some(variable_type) = element.name().strip_suffix("Type").and_then(variable_type) else {
                if element.name() != "Annotations" {
                    element.warn_unknown(definitions);
                }
                continue;
            };
            let name = element.unique_name()?;
            if types.by_name.insert(name, types.list.len()).is_some() {
                return Err(element.error(format!("{}: a type with this name exists already", element.label())));
            }
            let mut definition = definition(element, name, variable_type, units)?;
            if variable_type == VariableType::Clock {
                let written = clocks::Written::read(element)?;
                definition.clock = Some(written.clock(None)?);
                types.clocks.insert(name, written);
            }
            if variable_type == VariableType::Enumeration {
                types.items.insert(name, definition.items.iter().map(|item| item.value).collect());
            }
            types.list.push(definition);
        }
        Ok(types)
    }

    /// The type that an element declares, which must exist and be of the element's own kind.
    pub(super) fn declared(
        &self,
        element: Element<'_>,
        variable_type: VariableType,
    ) -> Result<Option<&TypeDefinition>, DescriptionError> {
        let Some(attribute) = element.attribute("declaredType") else { return Ok(None) };
        match self.get(attribute.value) {
            None => Err(attribute.error("is no type of <TypeDefinitions>")),
            Some(definition) if definition.variable_type != variable_type => {
                let actual = type_name(definition.variable_type);
                Err(attribute.error(format!("is a <{actual}Type>, not a <{}Type>", type_name(variable_type))))
            }
            definition => Ok(definition),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&TypeDefinition> {
        self.by_name.get(name).map(|&index| &self.list[index])
    }

    /// The values that an `<EnumerationType>` has.
    pub(super) fn items(&self, name: &str) -> Option<&HashSet<i64>> {
        self.items.get(name)
    }

    /// The clock attributes of a `<ClockType>` as written.
    pub(super) fn clock(&self, name: &str) -> Option<&clocks::Written<'a>> {
        self.clocks.get(name)
    }
}

fn definition(
    element: Element<'_>,
    name: &str,
    variable_type: VariableType,
    units: &Units,
) -> Result<TypeDefinition, DescriptionError> {
    let own = attribute_names(variable_type, element.vocabulary().abi);
    element.warn_of_unknown_attributes(&[&["name", "description"], own]);
    let shared = Shared::read(element, variable_type)?;
    shared.check(element, units);
    let mut items: Vec<EnumerationItem> = Vec::new();
    let (mut names, mut numbers) = (HashSet::new(), HashSet::new());
    for child in element.children() {
        match child.name() {
            "Item" if variable_type == VariableType::Enumeration => {
                child.warn_of_unknown_attributes(&[&["name", "value", "description"]]);
                let value = child.required("value")?;
                let item = EnumerationItem {
                    name: child.unique_name()?.to_owned(),
                    value: value.scalar()?,
                    description: child.text("description"),
                };
                if !names.insert(item.name.clone()) {
                    return Err(child.error(format!("{}: given twice in type {name:?}", child.label())));
                }
                if !numbers.insert(item.value) {
                    return Err(value.error(format!("is given twice in type {name:?}")));
                }
                items.push(item);
            }
            "Annotations" => {}
            _ => child.warn_unknown(element),
        }
    }
    if variable_type == VariableType::Enumeration && items.is_empty() {
        return Err(element.error(format!("{}: an enumeration needs at least one <Item>", element.label())));
    }
    Ok(TypeDefinition {
        name: name.into(),
        description: element.text("description"),
        variable_type,
        quantity: shared.quantity,
        unit: shared.unit,
        display_unit: shared.display_unit,
        relative_quantity: shared.relative_quantity.unwrap_or(false),
        unbounded: shared.unbounded.unwrap_or(false),
        min: shared.min,
        max: shared.max,
        nominal: shared.nominal,
        mime_type: shared.mime_type,
        max_size: shared.max_size,
        items,
        clock: None,
    })
}
