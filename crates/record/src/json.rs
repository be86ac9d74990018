//! Messages in JSON, with a schema that is valid for each of them, and readable for Foxglove's tools.
//!
//! A message has `time` (s) and the values that the activation has set and read, by the names of their variables, without the FMU's. A
//! binary is `"0x"` and its hexadecimal digits. Numbers read back exactly; `"NaN"`, `"Infinity"` and `"-Infinity"` stand for numbers that
//! JSON cannot write, null for an element that the array does not have at that time.
//!
//! Foxglove's tools accept a property only if its type is a single word. But numbers that JSON cannot write are texts,
//! and an element that an array lacks is null. So such a property has its word, and beside it a reference to its real
//! type: up to draft 7, which the schema names, keywords beside a reference are ignored (JSON Schema draft 7, 8.3).

use super::encoding::{Encoding, MessageChannel};
use super::sample_sink::Sample;
use super::texts::Texts;
use crate::recording::text;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use vecud_base::time::Instant;
use vecud_description::VariableType;
use vecud_description::word;
use vecud_plan::{Plan, SignalId};

/// The form of the columns' values.
pub(super) struct Json {
    names: Vec<String>,
    types: Vec<VariableType>,
    /// The names of columns in messages, and the text before their values.
    keys: Vec<String>,
    labels: Vec<String>,
    texts: Texts,
    text: RefCell<String>,
}

impl Json {
    /// For the columns of a plan, which have these names in messages.
    pub(super) fn new(plan: &Plan, keys: Vec<String>, texts: &Texts) -> Json {
        Json {
            names: plan.signals.iter().map(|signal| signal.name.clone()).collect(),
            types: plan.signals.iter().map(|signal| signal.variable_type).collect(),
            labels: keys.iter().map(|key| format!(",{}:", json!(key))).collect(),
            keys,
            texts: texts.clone(),
            text: RefCell::new(String::new()),
        }
    }
}

impl Encoding for Json {
    fn names(&self) -> [&'static str; 2] {
        ["jsonschema", "json"]
    }

    /// Readers of text can read this file.
    fn is_compressed(&self) -> bool {
        false
    }

    fn schema(&self, topic: &MessageChannel) -> (String, Vec<u8>) {
        let properties = topic.columns.iter().map(|&SignalId(column)| {
            let property = property(self.types[column], topic.partial, &self.names[column]);
            (self.keys[column].clone(), property)
        });
        (topic.topic[1..].replace('/', "."), message(properties).to_string().into_bytes())
    }

    fn message(&self, out: &mut Vec<u8>, _: usize, time: Instant, values: Sample) {
        const WRITES: &str = "strings take everything";
        let mut text = self.text.borrow_mut();
        text.clear();
        text.push_str("{\"time\":");
        word::write(&mut *text, time.seconds().to_bits(), VariableType::Float64).expect(WRITES);
        for (SignalId(column), value) in values.changes() {
            text.push_str(&self.labels[column]);
            match (value, self.types[column]) {
                (Some(value), VariableType::String) => {
                    text.push_str(&json!(String::from_utf8_lossy(&self.texts.value(value))).to_string());
                }
                (Some(value), VariableType::Binary) => {
                    text.push('"');
                    text::write_binary(&mut text, &self.texts.value(value));
                    text.push('"');
                }
                (Some(value), other) => number(&mut text, value, other),
                (None, _) => text.push_str("null"),
            }
        }
        text.push('}');
        out.extend_from_slice(text.as_bytes());
    }
}

/// A value as JSON.
fn number(text: &mut String, value: u64, variable_type: VariableType) {
    let float = match variable_type {
        VariableType::Float32 => f64::from(f32::from_bits(value as u32)),
        VariableType::Float64 => f64::from_bits(value),
        VariableType::Boolean | VariableType::Clock => return text.push_str(if value != 0 { "true" } else { "false" }),
        _ => 0.0,
    };
    match float {
        f64::INFINITY => text.push_str("\"Infinity\""),
        f64::NEG_INFINITY => text.push_str("\"-Infinity\""),
        float if float.is_nan() => text.push_str("\"NaN\""),
        _ => word::write(text, value, variable_type).expect("strings take everything"),
    }
}

/// The schema of a message with these properties and the time.
fn message(properties: impl Iterator<Item = (String, Value)>) -> Value {
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
            "string": { "type": ["string", "null"] },
            "number": { "anyOf": [{ "type": ["number", "null"] }, { "enum": ["NaN", "Infinity", "-Infinity"] }] },
        },
    })
}

/// The schema of a value. `partial`: it may be an element that the array has not.
fn property(variable_type: VariableType, partial: bool, name: &str) -> Value {
    let (word, what) = match variable_type {
        VariableType::Boolean => ("boolean", ""),
        VariableType::Clock => ("boolean", "; whether it has ticked"),
        VariableType::String => ("string", ""),
        VariableType::Binary => ("string", "; 0x and two hexadecimal digits for each byte"),
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

    #[test]
    fn every_value_is_json_and_reads_back_exactly() {
        use VariableType::{Boolean, Float32, Float64, Int8, UInt64};
        for (value, variable_type, expected) in [
            (0.1f64.to_bits(), Float64, "0.1"),
            ((-0.0f64).to_bits(), Float64, "-0.0"),
            (1e300f64.to_bits(), Float64, "1e300"),
            (5e-324f64.to_bits(), Float64, "5e-324"),
            (f64::NAN.to_bits(), Float64, "\"NaN\""),
            (f64::INFINITY.to_bits(), Float64, "\"Infinity\""),
            (u64::from(f32::NEG_INFINITY.to_bits()), Float32, "\"-Infinity\""),
            (u64::from(0.1f32.to_bits()), Float32, "0.1"),
            (u64::MAX, UInt64, "18446744073709551615"),
            (-128i64 as u64, Int8, "-128"),
            (1, Boolean, "true"),
            (0, Boolean, "false"),
        ] {
            let mut text = String::new();
            number(&mut text, value, variable_type);
            assert_eq!(text, expected);
            serde_json::from_str::<Value>(&text).unwrap();
        }
    }

    /// tests/reports/recording/foxglove.rs shows to somebody else's validator what messages have.
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
            (VariableType::String, false, "string", false),
            (VariableType::Binary, true, "string", true),
        ] {
            let (own, name) = reference(variable_type, partial);
            assert_eq!((own.as_str(), name.is_some()), (word, refers), "{variable_type:?}");
            assert!(name.is_none_or(|name| schema.pointer(name.trim_start_matches('#')).is_some()));
        }
        assert!(schema["definitions"].as_object().unwrap().values().all(|one| one.to_string().contains("\"null\"")));
    }
}
