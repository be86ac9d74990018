//! The names of columns in messages.

use std::collections::{BTreeMap, BTreeSet};

/// The metadata that names the columns, and its entries: their names, what they show before the first message, and their units.
pub const SIGNALS: &str = "signals";
/// JSON, a list of texts.
pub const NAMES: &str = "names";
/// JSON, a list of texts.
pub const START: &str = "start";
/// JSON, a list of texts: the types of the columns, as FMI 3.0 calls them.
pub const TYPES: &str = "types";
/// JSON, a list of texts, each empty where there is no unit. Channels have an entry of this name, too: an object with the units of
/// the columns that have one, by their names in messages.
pub const UNITS: &str = "units";

/// For each column the name that its values have in messages of its FMU: without the FMU's, as long as it is the first one
/// with this name and not `time`.
pub fn keys(names: &[String]) -> Vec<String> {
    let mut taken: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    names
        .iter()
        .map(|name| {
            let (fmu, variable) = split(name);
            let taken = taken.entry(fmu).or_insert_with(|| BTreeSet::from(["time".to_owned()]));
            let mut key = variable.to_owned();
            while !taken.insert(key.clone()) {
                key = format!("{fmu}.{key}");
            }
            key
        })
        .collect()
}

/// FMU and variable of a column.
pub fn split(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or(("", name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_an_fmu_have_different_names_in_messages() {
        let names = ["a.x", "b.x", "a.time", "a.a.time", "a.engine.x"].map(str::to_owned);
        assert_eq!(keys(&names), ["x", "x", "a.time", "a.a.time", "engine.x"]);
    }
}
