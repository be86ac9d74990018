//! `--only KEY=VALUE,…`: which variables are shown. Conditions with different keys have to be met together; of the values of one key,
//! wherever they stand, one is enough.

use super::names::{type_in, variability_name};
use std::fmt;
use std::str::FromStr;
use vecud_description::{Causality, ModelDescription, Variability, Variable, VariableType};
use vecud_host::Error;
use vecud_plan::rig::suggestion;
use vecud_plan::{OwnStarts, glob};

/// A condition as it was written: any of these values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeFilter {
    key: Key,
    values: Vec<String>,
}

/// What a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Name,
    Type,
    Causality,
    Variability,
    Start,
}

const KEYS: [(&str, Key); 5] = [
    ("name", Key::Name),
    ("type", Key::Type),
    ("causality", Key::Causality),
    ("variability", Key::Variability),
    ("start", Key::Start),
];

const CAUSALITIES: [Causality; 7] = [
    Causality::StructuralParameter,
    Causality::Parameter,
    Causality::CalculatedParameter,
    Causality::Input,
    Causality::Output,
    Causality::Local,
    Causality::Independent,
];

const VARIABILITIES: [Variability; 5] =
    [Variability::Constant, Variability::Fixed, Variability::Tunable, Variability::Discrete, Variability::Continuous];

/// Condition on start values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// The variable has a start value.
    Any,
    /// The start value differs from the description's.
    Changed,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KEYS[*self as usize].0)
    }
}

impl FromStr for AttributeFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<AttributeFilter, String> {
        let keys = KEYS.map(|(word, _)| word);
        let Some((word, values)) = text.split_once('=').map(|(word, values)| (word.trim(), values.trim())) else {
            return Err(format!("must be KEY=VALUE or KEY=VALUE,VALUE, with one of the keys {}", keys.join(", ")));
        };
        let Some((_, key)) = KEYS.into_iter().find(|(known, _)| *known == word) else {
            let hint = suggestion(word, keys);
            return Err(format!("there is no key \"{word}\"{hint} (there are {})", keys.join(", ")));
        };
        let values: Vec<String> = apart(values).into_iter().map(str::to_owned).collect();
        match values.iter().any(String::is_empty) {
            true => Err(format!("{key} has no value, or an empty one")),
            false => Ok(AttributeFilter { key, values }),
        }
    }
}

/// The parts between commas. Names of variables have commas in brackets, parentheses and quotes: `m[1,2]`, `der(x,2)`.
fn apart(text: &str) -> Vec<&str> {
    let (mut depth, mut is_quoted) = (0usize, false);
    let separates = |c: char| {
        match c {
            '\'' => is_quoted = !is_quoted,
            '[' | '(' if !is_quoted => depth += 1,
            ']' | ')' if !is_quoted => depth = depth.saturating_sub(1),
            ',' => return !is_quoted && depth == 0,
            _ => {}
        }
        false
    };
    text.split(separates).map(str::trim).collect()
}

/// All conditions, understood for one FMU. Of a key without values everything is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    names: Vec<String>,
    types: Vec<VariableType>,
    causalities: Vec<Causality>,
    variabilities: Vec<Variability>,
    starts: Vec<Start>,
}

impl Filters {
    /// Understands them. An error names a value that there is not, and those that there are.
    pub fn of(conditions: &[AttributeFilter], description: &ModelDescription) -> Result<Filters, Error> {
        let mut only = Filters::default();
        for AttributeFilter { key, values } in conditions {
            for value in values {
                only.add(*key, value, description)
                    .map_err(|why| Error::Command(format!("--only {key}={value}: {why}")))?;
            }
        }
        Ok(only)
    }

    fn add(&mut self, key: Key, value: &str, description: &ModelDescription) -> Result<(), String> {
        match key {
            Key::Name => {
                let names = || description.variables.iter().flat_map(Variable::names);
                if !names().any(|name| glob::matches(value, name)) {
                    let hint = suggestion(value, names());
                    return Err(format!("no variable has such a name{hint}"));
                }
                self.names.push(value.to_owned());
            }
            Key::Type => self.types.push(word(value, "type", types(description))?),
            Key::Causality => {
                self.causalities.push(word(value, "causality", CAUSALITIES.map(|own| (own.name(), own)))?)
            }
            Key::Variability => {
                let known = VARIABILITIES.map(|own| (variability_name(own), own));
                self.variabilities.push(word(value, "variability", known)?);
            }
            Key::Start => {
                self.starts.push(word(
                    value,
                    "kind of start value",
                    [("any", Start::Any), ("changed", Start::Changed)],
                )?);
            }
        }
        Ok(())
    }

    /// Whether every variable is shown.
    pub fn is_everything(&self) -> bool {
        *self == Filters::default()
    }

    /// Whether the variable at this place is shown.
    pub fn takes(&self, index: usize, variable: &Variable, starts: &OwnStarts) -> bool {
        let is_meant = |pattern: &String| variable.names().any(|name| glob::matches(pattern, name));
        let has_start = |start: &Start| match start {
            Start::Any => starts.value(index).is_some(),
            Start::Changed => starts.changed(index).is_some(),
        };
        (self.names.is_empty() || self.names.iter().any(is_meant))
            && (self.types.is_empty() || self.types.contains(&variable.variable_type))
            && (self.causalities.is_empty() || self.causalities.contains(&variable.causality))
            && (self.variabilities.is_empty() || self.variabilities.contains(&variable.variability))
            && (self.starts.is_empty() || self.starts.iter().any(has_start))
    }
}

/// The types that the FMU's version of FMI has, by their names there.
fn types(description: &ModelDescription) -> Vec<(&'static str, VariableType)> {
    const EARLIER: [VariableType; 5] = [
        VariableType::Float64,
        VariableType::Int32,
        VariableType::Boolean,
        VariableType::String,
        VariableType::Enumeration,
    ];
    let known = if description.abi.is_earlier() { &EARLIER[..] } else { &VariableType::ALL };
    known.iter().map(|own| (type_in(description, *own), *own)).collect()
}

/// What a word of a fixed vocabulary means.
fn word<T>(written: &str, what: &str, known: impl IntoIterator<Item = (&'static str, T)>) -> Result<T, String> {
    let mut words = Vec::new();
    for (word, meaning) in known {
        if word == written {
            return Ok(meaning);
        }
        words.push(word);
    }
    let hint = suggestion(written, words.iter().copied());
    Err(format!("there is no such {what}{hint} (there are {})", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_values_but_not_those_of_a_name() {
        assert_eq!(apart("input,output"), ["input", "output"]);
        assert_eq!(apart("m[1,2], der(x,2),'a,b'.c"), ["m[1,2]", "der(x,2)", "'a,b'.c"]);
        assert_eq!(apart(""), [""]);
    }

    #[test]
    fn what_is_no_condition_names_the_keys() {
        for (text, why) in [
            (
                "ecu.*",
                "must be KEY=VALUE or KEY=VALUE,VALUE, with one of the keys name, type, causality, variability, start",
            ),
            ("nam=x", "there is no key \"nam\"; did you mean \"name\"? (there are name, type, causality"),
            ("colour=red", "there is no key \"colour\" (there are name,"),
            ("type=", "type has no value, or an empty one"),
            ("type=Int8,", "type has no value, or an empty one"),
        ] {
            let error = text.parse::<AttributeFilter>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let keys = KEYS.iter().enumerate();
        assert!(keys.into_iter().all(|(place, (word, key))| *key as usize == place && key.to_string() == *word));
    }
}
