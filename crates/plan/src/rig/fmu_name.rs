//! Names of FMUs: their form, and the message for one that the rig does not have.

use super::document::Document;
use super::{Place, suggestion};

/// The form of an FMU's name.
pub(super) const FMU_NAME: &str = "use letters, digits, _ and - (the name becomes part of file names)";

/// Whether an FMU, or a group of them, may have this name.
pub(super) fn is_fmu_name(name: &str) -> bool {
    let legal = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.chars().all(legal)
}

/// Tells that the rig has no FMU of the name that is written, and which names it has.
pub(super) fn unknown_fmu(document: &Document, place: Place, written: &str, names: Vec<&str>) {
    let hint = match suggestion(written, names.iter().copied()) {
        none if none.is_empty() => format!("; it has {}", names.join(", ")),
        hint => hint,
    };
    document.problem(place, format!("the rig has no FMU \"{written}\"{hint}"));
}
