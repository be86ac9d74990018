//! Log categories that FMUs are asked for.

use crate::rig::{Logging, Place, suggestion};
use vecud_description::ModelDescription;

/// Categories that an FMU `name` is asked for and does not have: the place of each, and a message.
pub(super) fn unknown(name: &str, log: Option<&Logging>, description: &ModelDescription) -> Vec<(Place, String)> {
    let Some(Logging::Categories(wanted)) = log else { return Vec::new() };
    let names = || description.log_categories.iter().map(|category| category.name.as_str());
    let unknown = wanted.iter().filter(|wanted| !names().any(|name| name == wanted.value));
    let told = unknown.map(|category| {
        let all = names().collect::<Vec<_>>().join(", ");
        let hint = match all.is_empty() {
            true => "it names none (LogCategories); log = true asks for all that it can log".to_owned(),
            false => format!("it has {all}{}", suggestion(&category.value, names())),
        };
        (category.place, format!("{name} has no log category \"{}\": {hint}", category.value))
    });
    told.collect()
}

/// The categories that an FMU is asked to log; `None`: it is not asked for debug logging.
pub(super) fn categories(log: Option<&Logging>, description: &ModelDescription) -> Option<Vec<String>> {
    match log? {
        Logging::Off => None,
        Logging::All => Some(description.log_categories.iter().map(|category| category.name.clone()).collect()),
        Logging::Categories(wanted) => Some(wanted.iter().map(|category| category.value.clone()).collect()),
    }
}
