//! `FMU.NAME=VALUE`, or `NAME=VALUE` where there is one FMU: start values from the command line. They replace those of the rig
//! file, and are as strictly checked.

use super::start::convert;
use super::{At, Diagnostic, Place, Rig, RigError, RigValue, suggestion};
use toml_edit::Value;

/// Adds them to the rig's start values. `option` is the option of the command line, for messages.
pub fn set(rig: &mut Rig, option: &str, settings: &[String]) -> Result<(), RigError> {
    let mut problems = Vec::new();
    for text in settings {
        let place = rig.add_option(format!("{option} {text}"));
        if let Err(message) = add(rig, text, place) {
            problems.push(Diagnostic::new(rig.origin(place), place, message));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(RigError { problems }) }
}

/// [`set`], for a rig of one FMU and settings of the form `NAME=VALUE`. A value that a rig file does not allow is a list of
/// numbers with blanks between them, or a text without quotes, as other programs take it.
pub fn set_of_only_fmu(rig: &mut Rig, option: &str, settings: &[String]) -> Result<(), RigError> {
    let mut problems = Vec::new();
    for text in settings {
        let place = rig.add_option(format!("{option} {text}"));
        match text.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
            Some((name, value)) if !name.is_empty() => {
                let value = parsed(value, place).unwrap_or_else(|| plainly_written(value, place));
                rig.fmus[0].start.push((At { value: name.to_owned(), place }, At { value, place }));
            }
            _ => problems.push(Diagnostic::new(rig.origin(place), place, "must be written NAME=VALUE")),
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(RigError { problems }) }
}

/// A value as a rig file has it; `None`: this is none.
pub fn value(text: &str) -> Option<RigValue> {
    parsed(text, Place { line: 0, column: 0 })
}

/// A value from the command line: one that a rig file does not allow is a list with blanks between, or a text without quotes.
pub fn value_by_hand(text: &str) -> RigValue {
    let place = Place { line: 0, column: 0 };
    parsed(text, place).unwrap_or_else(|| plainly_written(text, place))
}

/// Why this is no value of a variable, and how one is written on a command line.
pub fn no_value(name: &str, value: &str) -> String {
    format!(
        "\"{value}\" is no value: write a number, true or false, a list of these as [1.0, 2.0], or a text in double quotes, \
         which a shell leaves alone within single ones: '{name}=\"{value}\"'"
    )
}

/// A value as a rig file has it. Without quotes, too, an integer that TOML has none for, of a UInt64 above 2^63 - 1.
fn parsed(value: &str, place: Place) -> Option<RigValue> {
    let is_large =
        value.bytes().all(|c| c.is_ascii_digit()) && value.parse::<u64>().is_ok_and(|own| own > i64::MAX as u64);
    if is_large {
        return Some(RigValue::String(value.to_owned()));
    }
    value.parse::<Value>().ok().and_then(|value| convert(&value, &|_| place))
}

fn plainly_written(value: &str, place: Place) -> RigValue {
    let words = value.split_ascii_whitespace().map(|word| Some(At { value: parsed(word, place)?, place }));
    match words.collect::<Option<Vec<_>>>() {
        Some(list) if list.len() > 1 => RigValue::Array(list),
        _ => RigValue::String(value.to_owned()),
    }
}

fn add(rig: &mut Rig, text: &str, place: Place) -> Result<(), String> {
    let known = || rig.fmus.iter().map(|fmu| fmu.name.value.as_str());
    let list = || known().collect::<Vec<_>>().join(", ");
    let malformed = || format!("must be written FMU.NAME=VALUE; the rig has the FMUs {}", list());
    let (written, value) = text.split_once('=').ok_or_else(malformed)?;
    let (written, value) = (written.trim(), value.trim());
    let parts = written.split_once('.').filter(|(fmu, name)| !fmu.is_empty() && !name.is_empty());
    let (fmu, name) = match (rig.fmus.as_slice(), parts) {
        ([only], parts) if parts.is_none_or(|(fmu, _)| fmu != only.name.value) && !written.is_empty() => {
            (only.name.value.as_str(), written)
        }
        (_, Some(parts)) => parts,
        _ => return Err(malformed()),
    };
    let Some(index) = known().position(|known| known == fmu) else {
        let hint = match suggestion(fmu, known()) {
            none if none.is_empty() => format!("; it has {}", list()),
            hint => hint,
        };
        return Err(format!("the rig has no FMU \"{fmu}\"{hint}"));
    };
    let value = parsed(value, place).ok_or_else(|| no_value(&format!("{fmu}.{name}"), value))?;
    let name = At { value: name.to_owned(), place };
    rig.fmus[index].start.push((name, At { value, place }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::{RigValue, parse};
    use std::path::Path;

    fn with(settings: &[&str]) -> Result<Rig, String> {
        let text = "[fmu.ecu]\npath = \"a\"\nstart = { gain = 1 }\n[fmu.plant]\npath = \"b\"\n";
        let mut rig = parse(text, Path::new("rig.toml")).unwrap();
        let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
        set(&mut rig, "--set", &settings).map(|()| rig).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_those_of_a_rig_file() {
        let rig =
            with(&["ecu.gain=2", "plant.map[1,2] = -0.5", "ecu.a.b=[[1, 2], [3, 4]]", "ecu.mode=\"a=b\""]).unwrap();
        let shown = |fmu: usize| -> Vec<(String, RigValue)> {
            rig.fmus[fmu].start.iter().map(|(name, value)| (name.value.clone(), value.value.clone())).collect()
        };
        assert_eq!(shown(1), [("map[1,2]".to_owned(), RigValue::Float(-0.5))]);
        let ecu = shown(0);
        assert_eq!(ecu[0..2], [("gain".to_owned(), RigValue::Integer(1)), ("gain".to_owned(), RigValue::Integer(2))]);
        assert!(matches!(&ecu[2], (name, RigValue::Array(list)) if name == "a.b" && list.len() == 4));
        assert_eq!(ecu[3], ("mode".to_owned(), RigValue::String("a=b".to_owned())));
        let place = rig.fmus[1].start[0].0.place;
        assert_eq!((place.line, rig.origin(place)), (0, Path::new("--set plant.map[1,2] = -0.5")));
    }

    #[test]
    fn the_only_fmu_of_a_rig_need_not_be_named() {
        let mut rig = parse("[fmu.ecu]\npath = \"a\"\n", Path::new("rig.toml")).unwrap();
        let settings = ["gain=2", "ecu.mode=3", "pump.speed=4", "ecu.a.b=5"].map(str::to_owned);
        set(&mut rig, "--set", &settings).unwrap();
        let names: Vec<&str> = rig.fmus[0].start.iter().map(|(name, _)| name.value.as_str()).collect();
        assert_eq!(names, ["gain", "mode", "pump.speed", "a.b"]);
        let error = set(&mut rig, "--set", &["=2".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "--set =2: must be written FMU.NAME=VALUE; the rig has the FMUs ecu");
    }

    #[test]
    fn what_is_no_setting_says_so_with_its_option() {
        for (setting, message) in [
            ("gain=2", "--set gain=2: must be written FMU.NAME=VALUE; the rig has the FMUs ecu, plant"),
            ("ecu.gain", "--set ecu.gain: must be written FMU.NAME=VALUE; the rig has the FMUs ecu, plant"),
            ("ecu.=1", "--set ecu.=1: must be written FMU.NAME=VALUE; the rig has the FMUs ecu, plant"),
            ("ecx.gain=2", "--set ecx.gain=2: the rig has no FMU \"ecx\"; did you mean \"ecu\"?"),
            ("engine.gain=2", "--set engine.gain=2: the rig has no FMU \"engine\"; it has ecu, plant"),
            ("ecu.mode=on", "--set ecu.mode=on: \"on\" is no value: write a number, true or false"),
            ("ecu.gain=", "--set ecu.gain=: \"\" is no value"),
            ("ecu.gain={a = 1}", "--set ecu.gain={a = 1}: \"{a = 1}\" is no value"),
            ("ecu.day=2026-11-23", "is no value"),
        ] {
            let error = with(&[setting]).unwrap_err();
            assert!(error.contains(message), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
        assert_eq!(with(&["a", "b", "ecu.gain=3"]).unwrap_err().lines().count(), 2, "all of them are told");
    }
}
