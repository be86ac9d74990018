//! Checks JSON against the schemas of docs/: as much of JSON Schema (draft 7) as these use, and an error for a keyword beyond it.

use serde_json::Value;
use std::path::Path;

/// A schema of docs/.
pub struct Schema(pub Value);

impl Schema {
    /// The schema in this file of docs/.
    pub fn of(name: &str) -> Schema {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
        Schema(serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap())
    }

    /// Where and why a value is not what the schema says; empty: it is.
    pub fn errors(&self, value: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        self.check(&self.0, value, "", &mut errors);
        errors
    }

    /// Panics if the value is not what the schema says.
    #[track_caller]
    pub fn holds(&self, value: &Value) {
        let errors = self.errors(value);
        assert!(errors.is_empty(), "against the schema:\n{}", errors.join("\n"));
    }

    fn check(&self, schema: &Value, value: &Value, place: &str, errors: &mut Vec<String>) {
        let mut wrong = |what: String| errors.push(format!("{place}: {what}"));
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut below: Vec<(&Value, &Value, String)> = Vec::new();
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            match keyword.as_str() {
                "$schema" | "title" | "description" | "definitions" => {}
                "$ref" => {
                    let target = rule.as_str().and_then(|path| self.0.pointer(path.strip_prefix('#')?));
                    let target = target.unwrap_or_else(|| panic!("the schema has no {rule}"));
                    below.push((target, value, place.to_owned()));
                }
                "const" if value != rule => wrong(format!("{value} is not {rule}")),
                "enum" if !rule.as_array().unwrap().contains(value) => wrong(format!("{value} is none of {rule}")),
                "type" => {
                    let allowed = rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice);
                    if !allowed.iter().any(|name| is_a(value, name.as_str().unwrap())) {
                        wrong(format!("{value} is no {rule}"));
                    }
                }
                "minimum" if value.as_f64().is_some_and(|number| number < rule.as_f64().unwrap()) => {
                    wrong(format!("{value} is less than {rule}"));
                }
                "maximum" if value.as_f64().is_some_and(|number| number > rule.as_f64().unwrap()) => {
                    wrong(format!("{value} is more than {rule}"));
                }
                "minItems" if value.as_array().is_some_and(|list| (list.len() as u64) < rule.as_u64().unwrap()) => {
                    wrong(format!("fewer than {rule}"));
                }
                "maxItems" if value.as_array().is_some_and(|list| list.len() as u64 > rule.as_u64().unwrap()) => {
                    wrong(format!("more than {rule}"));
                }
                "const" | "enum" | "minimum" | "maximum" | "minItems" | "maxItems" => {}
                "required" => {
                    let Some(object) = value.as_object() else { continue };
                    let missing = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                    missing.filter(|name| !object.contains_key(*name)).for_each(|name| wrong(format!("no {name}")));
                }
                "properties" => {
                    let Some(object) = value.as_object() else { continue };
                    let known = object.iter().filter_map(|(name, value)| Some((rule.get(name)?, value, name)));
                    below.extend(known.map(|(rule, value, name)| (rule, value, format!("{place}/{name}"))));
                }
                "additionalProperties" => {
                    assert_eq!(rule, false, "only false is understood");
                    let unknown = value.as_object().into_iter().flatten().map(|(name, _)| name);
                    let unknown = unknown.filter(|name| properties.is_none_or(|known| !known.contains_key(*name)));
                    unknown.for_each(|name| wrong(format!("{name} is unknown")));
                }
                "items" => {
                    let list = value.as_array().into_iter().flatten().enumerate();
                    below.extend(list.map(|(at, value)| (rule, value, format!("{place}/{at}"))));
                }
                "anyOf" => {
                    let tried = rule.as_array().unwrap().iter().map(|alternative| {
                        let mut errors = Vec::new();
                        self.check(alternative, value, place, &mut errors);
                        errors
                    });
                    let tried: Vec<Vec<String>> = tried.collect();
                    if tried.iter().all(|errors| !errors.is_empty()) {
                        wrong(format!("none of its alternatives: {}", tried.concat().join("; ")));
                    }
                }
                other => panic!("keyword {other}"),
            }
        }
        for (schema, value, place) in below {
            self.check(schema, value, &place, errors);
        }
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("type {other}"),
    }
}
