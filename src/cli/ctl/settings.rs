//! Values of variables, from the command line to the daemon.

use serde_json::{Map, Value};
use vecud_host::Error;
use vecud_plan::rig::{self, RigValue};

/// Converts `FMU.NAME=VALUE` arguments into the body of the request.
pub fn settings(values: &[String]) -> Result<Value, Error> {
    let mut settings = Map::new();
    for text in values {
        let (name, value) = match text.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
            Some((name, value)) if name.contains('.') => (name, value),
            _ => return Err(Error::Command(format!("{text}: must be written FMU.NAME=VALUE"))),
        };
        // A rig file has no integer of more than 2^63 - 1, JSON has.
        let json = match value.parse::<u64>() {
            Ok(value) => value.into(),
            Err(_) => as_json(&rig::value(value).ok_or_else(|| Error::Command(rig::no_value(name, value)))?),
        };
        if settings.insert(name.to_owned(), json).is_some() {
            return Err(Error::Command(format!("{name} is to be set twice")));
        }
    }
    Ok(settings.into())
}

/// A value as the daemon takes it.
fn as_json(value: &RigValue) -> Value {
    match value {
        RigValue::Integer(value) => (*value).into(),
        RigValue::Float(value) if value.is_finite() => (*value).into(),
        RigValue::Float(value) if value.is_nan() => "NaN".into(),
        RigValue::Float(value) => if *value > 0.0 { "inf" } else { "-inf" }.into(),
        RigValue::Boolean(value) => (*value).into(),
        RigValue::String(value) => value.as_str().into(),
        RigValue::Array(list) => list.iter().map(|element| as_json(&element.value)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_sent_as_json() {
        let texts =
            ["ecu.gain=2", "ecu.x = -0.5", "ecu.m=[[1, 2], [3, inf]]", "ecu.s=\"a=b\"", "ecu.b=true", "ecu.n=nan"];
        let texts = texts.map(str::to_owned);
        assert_eq!(
            settings(&texts).unwrap(),
            json!({"ecu.gain": 2, "ecu.x": -0.5, "ecu.m": [1, 2, 3, "inf"], "ecu.s": "a=b", "ecu.b": true, "ecu.n": "NaN"})
        );
        for (wrong, words) in
            [("gain=2", "FMU.NAME=VALUE"), ("ecu.gain", "FMU.NAME"), ("ecu.mode=idle", "double quotes")]
        {
            let error = settings(&[wrong.to_owned()]).unwrap_err().to_string();
            assert!(error.contains(words), "{wrong}: {error}");
        }
        assert_eq!(settings(&["ecu.x=18446744073709551615".to_owned()]).unwrap(), json!({"ecu.x": u64::MAX}));
        assert!(settings(&["ecu.x=1".to_owned(), "ecu.x=2".to_owned()]).unwrap_err().to_string().contains("twice"));
    }
}
