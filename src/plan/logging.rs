//! What FMUs are asked to log.

use super::described::DescribedFmu;
use super::findings::Findings;
use crate::rig::{Logging, suggestion};

/// Refuses categories that an FMU does not have.
pub(super) fn check(fmus: &[DescribedFmu], findings: &mut Findings) {
    for described in fmus {
        let Some(Logging::Categories(wanted)) = &described.rig.log else { continue };
        let names = || described.input.description.log_categories.iter().map(|category| category.name.as_str());
        for category in wanted.iter().filter(|wanted| !names().any(|name| name == wanted.value)) {
            let (name, all) = (described.name(), names().collect::<Vec<_>>().join(", "));
            let hint = match all.is_empty() {
                true => "it names none (LogCategories); log = true asks for all that it can log".to_owned(),
                false => format!("it has {all}{}", suggestion(&category.value, names())),
            };
            findings.rig(category.place, format!("{name} has no log category \"{}\": {hint}", category.value));
        }
    }
}

/// The categories that an FMU is asked to log; `None`: it is not asked for debug logging.
pub(super) fn categories(described: &DescribedFmu) -> Option<Vec<String>> {
    match described.rig.log.as_ref()? {
        Logging::Off => None,
        Logging::All => {
            Some(described.input.description.log_categories.iter().map(|category| category.name.clone()).collect())
        }
        Logging::Categories(wanted) => Some(wanted.iter().map(|category| category.value.clone()).collect()),
    }
}
