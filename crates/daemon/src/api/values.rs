//! Values of variables as JSON. Pure.
//!
//! Numbers are numbers, also those that a float of 64 bits has no room for; floats that are no finite number are the texts `NaN`,
//! `inf` and `-inf`. Binaries are base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use serde_json::value::RawValue;
use vecud_description::{Values, VariableType};
use vecud_host::AcceptedValue;

/// The elements of values as JSON.
pub fn to_json(values: &Values) -> Vec<Value> {
    fn all<T: Copy>(values: &[T], json: impl Fn(T) -> Value) -> Vec<Value> {
        values.iter().copied().map(json).collect()
    }
    match values {
        Values::Float32(v) => all(v, |v| float(v.into(), || v.to_string().parse().unwrap_or(f64::from(v)))),
        Values::Float64(v) => all(v, |v| float(v, || v)),
        Values::Int8(v) => all(v, Value::from),
        Values::UInt8(v) => all(v, Value::from),
        Values::Int16(v) => all(v, Value::from),
        Values::UInt16(v) => all(v, Value::from),
        Values::Int32(v) => all(v, Value::from),
        Values::UInt32(v) => all(v, Value::from),
        Values::Int64(v) => all(v, Value::from),
        Values::UInt64(v) => all(v, Value::from),
        Values::Boolean(v) | Values::Clock(v) => all(v, Value::from),
        Values::String(v) => v.iter().map(|text| Value::from(text.as_str())).collect(),
        Values::Binary(v) => v.iter().map(|bytes| Value::from(STANDARD.encode(bytes))).collect(),
    }
}

/// A float; `shortest`: as the number with the fewest digits that stands for it.
fn float(value: f64, shortest: impl FnOnce() -> f64) -> Value {
    match value {
        v if v.is_nan() => "NaN".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        _ => shortest().into(),
    }
}

/// JSON as values of a variable: one value, or a list of them. `Err`: the form that they must have.
pub fn from_json(json: &RawValue, settable: &AcceptedValue) -> Result<Values, String> {
    use VariableType as T;
    let elements: Vec<&RawValue> = match json.get().starts_with('[') {
        true => serde_json::from_str(json.get()).map_err(|error| error.to_string())?,
        false => vec![json],
    };
    let elements = elements.as_slice();
    match settable.variable_type {
        T::Float32 => all(elements, "numbers of 32 bits", |v| {
            let wide = float_of(v)?;
            Some(wide as f32).filter(|narrow| narrow.is_finite() || !wide.is_finite())
        })
        .map(Values::Float32),
        T::Float64 => all(elements, "numbers", float_of).map(Values::Float64),
        T::Int8 => all(elements, "whole numbers from -128 to 127", integer).map(Values::Int8),
        T::UInt8 => all(elements, "whole numbers from 0 to 255", integer).map(Values::UInt8),
        T::Int16 => all(elements, "whole numbers from -32768 to 32767", integer).map(Values::Int16),
        T::UInt16 => all(elements, "whole numbers from 0 to 65535", integer).map(Values::UInt16),
        T::Int32 => all(elements, "whole numbers of 32 bits", integer).map(Values::Int32),
        T::UInt32 => all(elements, "whole numbers of 32 bits, none below 0", integer).map(Values::UInt32),
        T::Int64 => all(elements, "whole numbers of 64 bits", integer).map(Values::Int64),
        T::UInt64 => all(elements, "whole numbers of 64 bits, none below 0", integer).map(Values::UInt64),
        T::Enumeration => {
            let names: Vec<String> = settable.items.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            let item = |name: &str| settable.items.iter().find(|(own, _)| own == name).map(|(_, value)| *value);
            let value = |v: &Value| integer(v).or_else(|| item(v.as_str()?));
            all(elements, &format!("items, by number or as {}", names.join(", ")), value).map(Values::Int64)
        }
        T::Boolean => all(elements, "true or false", Value::as_bool).map(Values::Boolean),
        T::String => all(elements, "texts", |v| v.as_str().map(str::to_owned)).map(Values::String),
        T::Binary => all(elements, "texts in base64", |v| STANDARD.decode(v.as_str()?).ok()).map(Values::Binary),
        T::Clock => Err("it is a clock, which ticks".to_owned()),
    }
}

fn all<T>(elements: &[&RawValue], what: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, String> {
    let mut values = Vec::new();
    for element in elements {
        let element = element.get();
        // An object or a list is no value, and as one it would take many times its length of memory.
        let value = if element.starts_with(['{', '[']) { None } else { serde_json::from_str(element).ok() };
        match value.as_ref().and_then(&read) {
            Some(value) => values.push(value),
            None => return Err(format!("its values are {what}, and {element:.100} is none of them")),
        }
    }
    Ok(values)
}

fn float_of(json: &Value) -> Option<f64> {
    match json.as_str() {
        None => json.as_f64(),
        Some("NaN") => Some(f64::NAN),
        Some("inf") => Some(f64::INFINITY),
        Some("-inf") => Some(f64::NEG_INFINITY),
        Some(_) => None,
    }
}

/// A whole number, also one that is written as a float that has one.
fn integer<T: TryFrom<i128>>(json: &Value) -> Option<T> {
    /// From here on floats leave numbers out.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = json.as_f64().filter(|v| v.fract() == 0.0 && v.abs() < EXACT).map(|v| v as i128);
    let number = json.as_i64().map(i128::from).or_else(|| json.as_u64().map(i128::from)).or(whole)?;
    T::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_json_of_its_own() {
        for (values, json) in [
            (Values::Float64(vec![0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]), r#"[0.1,"NaN","inf","-inf"]"#),
            (Values::Float32(vec![0.1, f32::INFINITY]), r#"[0.1,"inf"]"#),
            (Values::UInt64(vec![u64::MAX]), "[18446744073709551615]"),
            (Values::Int64(vec![i64::MIN]), "[-9223372036854775808]"),
            (Values::Boolean(vec![true, false]), "[true,false]"),
            (Values::String(vec!["a\"b".into()]), r#"["a\"b"]"#),
            (Values::Binary(vec![vec![1, 2, 255]]), r#"["AQL/"]"#),
        ] {
            assert_eq!(serde_json::to_string(&to_json(&values)).unwrap(), json);
        }
    }

    #[test]
    fn what_is_of_the_type_of_the_variable_is_a_value_of_it() {
        let items = vec![("OFF".to_owned(), 1), ("ON".to_owned(), 2)];
        let read = |json: &str, variable_type| {
            let settable = AcceptedValue { variable_type, items: items.clone() };
            from_json(serde_json::from_str(json).unwrap(), &settable)
        };
        use VariableType as T;
        for (json, variable_type, values) in [
            ("2", T::Float64, Values::Float64(vec![2.0])),
            ("[1, 2.5, \"-inf\"]", T::Float64, Values::Float64(vec![1.0, 2.5, f64::NEG_INFINITY])),
            ("0.1", T::Float32, Values::Float32(vec![0.1])),
            ("-128", T::Int8, Values::Int8(vec![-128])),
            ("2.0", T::UInt8, Values::UInt8(vec![2])),
            ("18446744073709551615", T::UInt64, Values::UInt64(vec![u64::MAX])),
            ("-9223372036854775808", T::Int64, Values::Int64(vec![i64::MIN])),
            ("[1, \"ON\"]", T::Enumeration, Values::Int64(vec![1, 2])),
            ("true", T::Boolean, Values::Boolean(vec![true])),
            ("\"grün\"", T::String, Values::String(vec!["grün".into()])),
            ("\"AQL/\"", T::Binary, Values::Binary(vec![vec![1, 2, 255]])),
            ("[]", T::Float64, Values::Float64(Vec::new())),
        ] {
            assert_eq!(read(json, variable_type), Ok(values), "{json}");
        }
        for (json, variable_type) in [
            ("\"2\"", T::Float64),
            ("null", T::Float64),
            ("1e39", T::Float32),
            ("128", T::Int8),
            ("2.5", T::Int8),
            ("-1", T::UInt64),
            ("1e300", T::Int64),
            ("\"STANDBY\"", T::Enumeration),
            ("1", T::Boolean),
            ("1", T::String),
            ("\"?\"", T::Binary),
            ("[[1]]", T::Float64),
            ("true", T::Clock),
        ] {
            assert!(read(json, variable_type).is_err(), "{json}");
        }
        assert_eq!(
            read("\"STANDBY\"", T::Enumeration).unwrap_err(),
            "its values are items, by number or as \"OFF\", \"ON\", and \"STANDBY\" is none of them"
        );
    }
}
