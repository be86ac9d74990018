//! `fmu.variable` in a rig: the end of a connection, a clock, or the target of a stimulus.

use super::document::{Document, TableReader};
use super::fmu_name::unknown_fmu;
use super::{At, Rig, VariableName};

/// `fmu.variable`, where the FMU is one of the rig's.
pub(super) fn variable_name(section: &TableReader, key: &str, rig: &Rig) -> Option<At<VariableName>> {
    let Some(text) = section.string(key) else {
        if section.get(key).is_none() {
            section.missing(key);
        }
        return None;
    };
    variable_name_of(section.document, key, text, rig)
}

/// A [`variable_name`] whose text was read elsewhere; `key` names it in messages.
pub(super) fn variable_name_of(document: &Document, key: &str, text: At<&str>, rig: &Rig) -> Option<At<VariableName>> {
    let names = || rig.fmus.iter().map(|fmu| fmu.name.value.as_str());
    match text.value.split_once('.') {
        Some((fmu, variable)) if !fmu.is_empty() && !variable.is_empty() => {
            if names().any(|name| name == fmu) {
                let value = VariableName { fmu: fmu.to_owned(), variable: variable.to_owned() };
                return Some(At { value, place: text.place });
            }
            unknown_fmu(document, text.place, fmu, names().collect());
        }
        _ => {
            let message = format!("{key} = \"{}\" must be written fmu.variable", text.value);
            document.problem(text.place, message);
        }
    }
    None
}
