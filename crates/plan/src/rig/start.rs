//! `start = { … }`: names and values to set before initialisation; and files that have nothing else, read and written.

use super::document::{Document, TableReader, describe, float_text};
use super::{At, Place, Rig, RigError, RigValue};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;
use toml_edit::{TableLike, Value};

/// Gives the only FMU of a rig the start values of a separate file. Its content is that of `start = { … }` in a rig file.
pub fn start_of_only_fmu(rig: &mut Rig, text: &str, file: &Path) -> Result<(), RigError> {
    let document = Document::new(file, text);
    let toml = document.parse(text)?;
    let values = read(&TableReader::new(&document, "start", toml.as_table(), Place { line: 1, column: 1 }));
    let problems = document.into_problems();
    if !problems.is_empty() {
        return Err(RigError { problems });
    }
    rig.fmus[0].start.extend(values);
    rig.start_file = Some(file.to_owned());
    Ok(())
}

/// A line of such a file, without its end: `name = value`. It reads back as the same name and the same value.
pub fn start_line(name: &str, value: &RigValue) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let name = if is_bare { name.to_owned() } else { quoted(name) };
    format!("{name} = {}", value_text(value))
}

fn value_text(value: &RigValue) -> String {
    match value {
        RigValue::Integer(i) => i.to_string(),
        // With a point or an exponent, or it would be an integer.
        RigValue::Float(f) => match float_text(*f) {
            _ if f.is_nan() => "nan".to_owned(),
            whole if whole.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => format!("{whole}.0"),
            text => text,
        },
        RigValue::Boolean(b) => b.to_string(),
        RigValue::String(s) => quoted(s),
        RigValue::Array(list) => {
            let elements: Vec<String> = list.iter().map(|element| value_text(&element.value)).collect();
            format!("[{}]", elements.join(", "))
        }
    }
}

/// A string of TOML, on one line.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            // Writing to a `String` cannot fail.
            _ if c.is_control() => drop(write!(out, "\\u{:04X}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out + "\""
}

/// Reads all start values in the order of the file. A table inside stands for the dots of a structured name:
/// `engine.speed = 1` and `"engine.speed" = 1` mean the same.
pub(super) fn read(table: &TableReader) -> Vec<(At<String>, At<RigValue>)> {
    let mut values = Vec::new();
    read_level(table, "", &mut values, &mut HashSet::new());
    values
}

fn read_level(
    section: &TableReader,
    prefix: &str,
    values: &mut Vec<(At<String>, At<RigValue>)>,
    names: &mut HashSet<String>,
) {
    for (key, item) in section.entries() {
        let name = At { value: format!("{prefix}{}", key.value), place: key.place };
        if let Some(table) = item.as_table_like() {
            let table: &dyn TableLike = table;
            let level = TableReader::new(section.document, "start", table, key.place);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_back(text: &str) -> Vec<(String, RigValue)> {
        let mut rig = Rig::for_fmu(Path::new("a.fmu"));
        start_of_only_fmu(&mut rig, text, Path::new("start.toml")).unwrap();
        let start = std::mem::take(&mut rig.fmus[0].start);
        start.into_iter().map(|(name, value)| (name.value, value.value)).collect()
    }

    fn unplaced(values: Vec<RigValue>) -> RigValue {
        RigValue::Array(values.into_iter().map(At::unplaced).collect())
    }

    /// With the places of list elements, which are not compared.
    fn same(a: &RigValue, b: &RigValue) -> bool {
        match (a, b) {
            (RigValue::Float(a), RigValue::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (RigValue::Array(a), RigValue::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(&a.value, &b.value))
            }
            _ => a == b,
        }
    }

    #[test]
    fn lines_are_as_people_write_them() {
        for (name, value, line) in [
            ("gain", RigValue::Float(2.0), "gain = 2.0"),
            ("controller.gain", RigValue::Float(-0.0), "\"controller.gain\" = -0.0"),
            ("map[1,2]", RigValue::Float(1e300), "\"map[1,2]\" = 1e300"),
            ("n", RigValue::Integer(-3), "n = -3"),
            ("far", RigValue::Float(f64::NEG_INFINITY), "far = -inf"),
            ("none", RigValue::Float(f64::NAN), "none = nan"),
            ("text", RigValue::String("a \"b\"\n\\".to_owned()), "text = \"a \\\"b\\\"\\u000A\\\\\""),
            ("on", unplaced(vec![RigValue::Boolean(true), RigValue::Boolean(false)]), "on = [true, false]"),
        ] {
            assert_eq!(start_line(name, &value), line);
        }
    }

    #[test]
    fn a_table_stands_for_the_dots_of_a_name() {
        let names = read_back("[engine]\nspeed = 1\nvalve.lift = 2\n");
        assert_eq!(names[0].0, "engine.speed");
        assert_eq!(names[1].0, "engine.valve.lift");
    }

    #[test]
    fn what_is_wrong_has_its_place_in_the_file() {
        let mut rig = Rig::for_fmu(Path::new("a.fmu"));
        for (text, message) in [
            ("a = 1\nb =\n", "start.toml:2:4: "),
            ("a = 1\na = 2\n", "start.toml:2:1: duplicate key: \"a\" is given twice"),
            ("a.b = 1\n\"a.b\" = 2\n", "start.toml:2:1: start value \"a.b\" is given twice"),
            ("day = 2026-11-25\n", "start.toml:1:7: the start value of \"day\" must be a number"),
        ] {
            let error = start_of_only_fmu(&mut rig, text, Path::new("start.toml")).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
        assert_eq!((rig.fmus[0].start.len(), rig.start_file), (0, None));
    }

    fn scalar() -> impl Strategy<Value = RigValue> {
        prop_oneof![
            any::<i64>().prop_map(RigValue::Integer),
            any::<u64>().prop_map(|bits| RigValue::Float(f64::from_bits(bits))),
            any::<i32>().prop_map(|whole| RigValue::Float(f64::from(whole))),
            any::<bool>().prop_map(RigValue::Boolean),
            any::<String>().prop_map(RigValue::String),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            name in any::<String>(),
            value in prop_oneof![scalar(), prop::collection::vec(scalar(), 0..4).prop_map(unplaced)],
        ) {
            let back = read_back(&start_line(&name, &value));
            prop_assert_eq!(&back[0].0, &name);
            prop_assert!(same(&back[0].1, &value), "{:?} {:?}", back[0].1, value);
        }
    }
}
