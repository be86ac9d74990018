//! The JSON schema of a channel's messages: valid for each of them, and readable for Foxglove's tools.
//!
//! Those take no schema whose properties have anything but one word for their type. But numbers that JSON cannot write are
//! texts, and an element that an array has not is null. So such a property has its word, and beside it a reference to what
//! it really is: up to draft 7, which the schema names, nothing beside a reference counts (JSON Schema draft 7, 8.3).

use crate::fmu::description::VariableType;
use serde_json::{Map, Value, json};

/// The schema of a message with these properties and the time.
pub(super) fn message(properties: impl Iterator<Item = (String, Value)>) -> Value {
    let time = ("time".to_owned(), json!({ "type": "number", "description": "simulation time, s" }));
    let properties: Map<String, Value> = std::iter::once(time).chain(properties).collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": properties,
        "required": ["time"],
        "definitions": {
            "boolean": { "type": ["boolean", "null"] },
            "integer": { "type": ["integer", "null"] },
            "number": { "anyOf": [{ "type": ["number", "null"] }, { "enum": ["NaN", "Infinity", "-Infinity"] }] },
        },
    })
}

/// The schema of a value. `partial`: it may be an element that the array has not.
pub(super) fn property(variable_type: VariableType, partial: bool, name: &str) -> Value {
    let (word, what) = match variable_type {
        VariableType::Boolean => ("boolean", ""),
        VariableType::Float32 | VariableType::Float64 => {
            ("number", "; \"NaN\", \"Infinity\", \"-Infinity\" where it is none")
        }
        _ => ("integer", ""),
    };
    let description = format!("{name}{what}");
    match partial || word == "number" {
        true => json!({ "type": word, "description": description, "$ref": format!("#/definitions/{word}") }),
        false => json!({ "type": word, "description": description }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// tests/recording/foxglove.rs shows to somebody else's validator what messages have.
    #[test]
    fn a_property_has_one_word_for_its_type_and_refers_to_what_else_it_may_be() {
        let reference = |variable_type, partial| {
            let property = property(variable_type, partial, "a.x");
            let word = property["type"].as_str().unwrap().to_owned();
            (word, property.get("$ref").map(|name| name.as_str().unwrap().to_owned()))
        };
        let schema = message(std::iter::empty());
        for (variable_type, partial, word, refers) in [
            (VariableType::Float64, false, "number", true),
            (VariableType::Float32, true, "number", true),
            (VariableType::Int8, false, "integer", false),
            (VariableType::UInt64, true, "integer", true),
            (VariableType::Enumeration, false, "integer", false),
            (VariableType::Boolean, false, "boolean", false),
            (VariableType::Boolean, true, "boolean", true),
        ] {
            let (own, name) = reference(variable_type, partial);
            assert_eq!((own.as_str(), name.is_some()), (word, refers), "{variable_type:?}");
            assert!(name.is_none_or(|name| schema.pointer(name.trim_start_matches('#')).is_some()));
        }
        assert!(schema["definitions"].as_object().unwrap().values().all(|one| one.to_string().contains("\"null\"")));
    }
}
