//! `<TypeDefinitions>` (FMI 3.0, 2.4.4), and the attributes that a variable takes from its declared type.
//!
//! Names are unique; an enumeration has items with unique names and values.

use super::clocks;
use crate::model::{Abi, DescriptionError, EnumerationItem, TypeDefinition, VariableType};
use crate::read::shared::{self, SharedAttributes};
use crate::read::written_clock::WrittenClock;
use crate::units::Units;
use crate::xml::{Element, for_each};
use std::collections::{HashMap, HashSet};

/// The type that a variable element's name says; names of type elements have `Type` behind.
pub(super) fn variable_type(element_name: &str) -> Option<VariableType> {
    VariableType::ALL.into_iter().find(|variable_type| variable_type.name() == element_name)
}

/// The attributes that both a type definition and a variable of that type may have.
pub(super) fn attribute_names(variable_type: VariableType, dialect: Abi) -> &'static [&'static str] {
    match variable_type {
        VariableType::Clock => clocks::attributes(dialect),
        other => shared::attribute_names(other),
    }
}

/// The types with an index by name.
#[derive(Default)]
pub(super) struct TypeDefinitions<'a> {
    pub(super) list: Vec<TypeDefinition>,
    by_name: HashMap<&'a str, usize>,
    clocks: HashMap<&'a str, WrittenClock<'a>>,
    items: HashMap<&'a str, HashSet<i64>>,
    /// Some types could not be read, where every error is wanted: others may name them.
    is_partial: bool,
}

impl<'a> TypeDefinitions<'a> {
    /// No types; `is_partial`: there may be some that could not be read.
    pub(super) fn none(is_partial: bool) -> TypeDefinitions<'a> {
        TypeDefinitions { is_partial, ..TypeDefinitions::default() }
    }

    pub(super) fn read(definitions: Element<'a>, units: &Units) -> Result<TypeDefinitions<'a>, DescriptionError> {
        let mut types = TypeDefinitions::default();
        for_each(definitions.children(), |element| {
            let Some(variable_type) = element.name().strip_suffix("Type").and_then(variable_type) else {
                if element.name() != "Annotations" {
                    element.warn_unknown(definitions);
                }
                return Ok(());
            };
            let name = element.label_name()?;
            if types.by_name.contains_key(name) {
                let twice = format!("{}: a type with this name exists already", element.label());
                return element.overlook(element.error(twice));
            }
            let mut definition = definition(element, name, variable_type, units)?;
            if variable_type == VariableType::Clock {
                let written = WrittenClock::read(element)?;
                definition.clock = Some(written.clock(None)?);
                types.clocks.insert(name, written);
            }
            if variable_type == VariableType::Enumeration {
                types.items.insert(name, definition.items.iter().map(|item| item.value).collect());
            }
            types.by_name.insert(name, types.list.len());
            types.list.push(definition);
            Ok(())
        })?;
        Ok(types)
    }

    /// The type that an element declares. Precondition: it exists and is of the element's own kind, else there is an error.
    pub(super) fn declared(
        &self,
        element: Element<'_>,
        variable_type: VariableType,
    ) -> Result<Option<&TypeDefinition>, DescriptionError> {
        let Some(attribute) = element.attribute("declaredType") else { return Ok(None) };
        match self.get(attribute.value) {
            None if self.is_partial => Ok(None),
            None => element.overlook(attribute.error("is no type of <TypeDefinitions>")).map(|()| None),
            Some(definition) if definition.variable_type != variable_type => {
                let actual = definition.variable_type.name();
                let other = format!("is a <{actual}Type>, not a <{}Type>", variable_type.name());
                element.overlook(attribute.error(other)).map(|()| None)
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
    pub(super) fn clock(&self, name: &str) -> Option<&WrittenClock<'a>> {
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
    let shared = SharedAttributes::read(element, variable_type)?;
    shared.check(element, units);
    let mut items: Vec<EnumerationItem> = Vec::new();
    let (mut names, mut numbers) = (HashSet::new(), HashSet::new());
    for child in element.children() {
        match child.name() {
            "Item" if variable_type == VariableType::Enumeration => {
                child.warn_of_unknown_attributes(&[&["name", "value", "description"]]);
                let value = child.required("value")?;
                let item = EnumerationItem {
                    name: child.label_name()?.to_owned(),
                    value: value.scalar()?,
                    description: child.text("description"),
                };
                if !names.insert(item.name.clone()) {
                    child.overlook(child.error(format!("{}: given twice in type {name:?}", child.label())))?;
                } else if !numbers.insert(item.value) {
                    child.overlook(value.error(format!("is given twice in type {name:?}")))?;
                } else {
                    items.push(item);
                }
            }
            "Annotations" => {}
            _ => child.warn_unknown(element),
        }
    }
    if variable_type == VariableType::Enumeration && items.is_empty() {
        element.overlook(element.error(format!("{}: an enumeration needs at least one <Item>", element.label())))?;
    }
    Ok(shared.definition(name, element.text("description"), variable_type, items))
}
