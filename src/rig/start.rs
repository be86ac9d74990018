//! `start = { … }`: names and values to set before initialisation.

use super::document::{Section, describe};
use super::{At, Place, RigValue};
use std::collections::HashSet;
use toml_edit::{TableLike, Value};

/// All of them in the order of the file. A table inside stands for the dots of a structured name:
/// `engine.speed = 1` and `"engine.speed" = 1` mean the same.
pub(super) fn read(table: &Section) -> Vec<(At<String>, At<RigValue>)> {
    let mut values = Vec::new();
    read_level(table, "", &mut values, &mut HashSet::new());
    values
}

fn read_level(
    section: &Section,
    prefix: &str,
    values: &mut Vec<(At<String>, At<RigValue>)>,
    names: &mut HashSet<String>,
) {
    for (key, item) in section.entries() {
        let name = At { value: format!("{prefix}{}", key.value), place: key.place };
        if let Some(table) = item.as_table_like() {
            let table: &dyn TableLike = table;
            let level = Section::new(section.document, "start", table, key.place);
            read_level(&level, &format!("{}.", name.value), values, names);
            continue;
        }
        let place = section.place_of(item);
        let place_in = |value: &Value| section.document.place(value.span());
        match item.as_value().and_then(|value| convert(value, &place_in)) {
            Some(value) if names.insert(name.value.clone()) => values.push((name, At { value, place })),
            Some(_) => section.document.problem(name.place, format!("start value \"{}\" is given twice", name.value)),
            None => {
                let message = format!(
                    "the start value of \"{}\" must be a number, a boolean, a string or a list of these, not {}",
                    name.value,
                    describe(item)
                );
                section.document.problem(place, message);
            }
        }
    }
}

/// The value, whose parts have their places; `None`: it is of a type that no variable has.
pub(super) fn convert(value: &Value, place: &dyn Fn(&Value) -> Place) -> Option<RigValue> {
    Some(match value {
        Value::Integer(i) => RigValue::Integer(*i.value()),
        Value::Float(f) => RigValue::Float(*f.value()),
        Value::Boolean(b) => RigValue::Boolean(*b.value()),
        Value::String(s) => RigValue::String(s.value().clone()),
        Value::Array(array) => {
            let mut flat = Vec::new();
            for element in array {
                match convert(element, place)? {
                    RigValue::Array(inner) => flat.extend(inner),
                    value => flat.push(At { value, place: place(element) }),
                }
            }
            RigValue::Array(flat)
        }
        Value::Datetime(_) | Value::InlineTable(_) => return None,
    })
}
