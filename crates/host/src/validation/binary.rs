//! Checks the library for this machine: it exists, and exports the functions of the offered interface types. None of
//! its code runs.

use super::subject::ExaminedFmu;
use crate::Error;
use std::path::Path;
use vecud_description::InterfaceOffer;
use vecud_fmi::{symbols, symbols_of_all};
use vecud_fmu::archive::BuildChoices;
use vecud_fmu::binary::Exports;
use vecud_fmu::linking;
use vecud_report::{Check, Remark};

/// Result for the libraries of an FMU.
pub struct Libraries {
    /// The check of all libraries.
    pub check: Check,
    /// For each offered interface type, the reason why its library cannot run.
    pub obstacles: Vec<Option<String>>,
}

/// Result for one library.
struct Found {
    /// Name of the library, and its functions in words.
    seen: Option<(String, String)>,
    remarks: Vec<Remark>,
    obstacle: Option<String>,
}

/// Examines the libraries of all offered interface types.
pub fn look(subject: &ExaminedFmu) -> Result<Libraries, Error> {
    let (mut seen, mut remarks, mut obstacles) =
        (Vec::<(String, Vec<String>)>::new(), Vec::<Remark>::new(), Vec::new());
    for offer in &subject.description.interfaces {
        let found = of_interface(subject, offer)?;
        if let Some((library, functions)) = found.seen {
            match seen.iter_mut().find(|(known, _)| *known == library) {
                Some((_, known)) => known.push(functions),
                None => seen.push((library, vec![functions])),
            }
        }
        // Interface types mostly share one library, and its defects.
        found.remarks.into_iter().for_each(|remark| {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        });
        obstacles.push(found.obstacle);
    }
    let seen = seen.iter().map(|(library, functions)| format!("{library}: {}", functions.join(", ")));
    let check = Check::done("binary", seen.collect::<Vec<_>>().join("; "), remarks);
    Ok(Libraries { check, obstacles })
}

fn of_interface(subject: &ExaminedFmu, offer: &InterfaceOffer) -> Result<Found, Error> {
    let description = &subject.description;
    let choices = BuildChoices::default();
    let library = match subject.unpacked.library_of(description.abi, offer, &choices, &subject.cache) {
        Ok(library) => library,
        Err(error) if error.is_of_the_fmu() => {
            let obstacle = Some("there is no library for this machine (binary)".to_owned());
            return Ok(Found { seen: None, remarks: vec![Remark::finding(error.to_string())], obstacle });
        }
        Err(error) => return Err(Error::Archive(error)),
    };
    let place = library.strip_prefix(&subject.unpacked.root).ok();
    let shown = place.map_or("built from sources".to_owned(), |path| path.display().to_string());
    let exports = match Exports::of(&library) {
        Ok(exports) => exports,
        Err(error) if error.is_about_looking() => {
            let remark = Remark::warning(format!("{error}: whether functions are missing shows when it is loaded"));
            return Ok(Found {
                seen: Some((shown, "not looked into".to_owned())),
                remarks: vec![in_file(remark, place)],
                obstacle: None,
            });
        }
        Err(error) => {
            let obstacle = Some("the library cannot be loaded (binary)".to_owned());
            return Ok(Found {
                seen: None,
                remarks: vec![in_file(Remark::finding(error.to_string()), place)],
                obstacle,
            });
        }
    };
    let (interface, identifier) = (offer.interface(), &offer.common().model_identifier);
    let needed = symbols(description.abi, interface, identifier);
    let missing: Vec<&str> =
        needed.iter().filter(|symbol| !exports.has(&symbol.name)).map(|symbol| symbol.name.as_str()).collect();
    let mut remarks = Vec::new();
    if !missing.is_empty() {
        let s = if missing.len() == 1 { "" } else { "s" };
        let version = &description.fmi_version;
        let (count, name) = (missing.len(), interface.name());
        let mut message = match count == needed.len() {
            true => format!(
                "exports none of the {count} functions that {name} (FMI {version}) has: it is for something else"
            ),
            false => format!("lacks {count} function{s} that {name} (FMI {version}) has: {}", missing.join(", ")),
        };
        if missing.iter().any(|name| exports.has(&format!("{identifier}_{name}"))) {
            message += "; they have the model identifier before them, as is for static libraries only";
        }
        remarks.push(in_file(Remark::finding(message), place));
    }
    // An FMU with a single interface type has the functions of the others as well (FMI 3.0.1, 2.5).
    let of_all = symbols_of_all(description.abi);
    let others: Vec<&str> = of_all
        .iter()
        .map(String::as_str)
        .filter(|name| !exports.has(name) && !missing.contains(name))
        .filter(|name| !is_of_another_offer(subject, name))
        .collect();
    if !others.is_empty() {
        let message = format!(
            "lacks functions of interface types that it does not offer; from FMI 3.0.1 on these are to be there too: {}",
            others.join(", ")
        );
        remarks.push(in_file(Remark::warning(message), place));
    }
    if exports.has_executable_stack() {
        let message = "asks for an executable stack (an object without a section .note.GNU-stack, or -z execstack): glibc from 2.41 on, and \
                       hardened systems, do not load it; link it with -Wl,-z,noexecstack, or use `patchelf --clear-execstack`";
        remarks.push(in_file(Remark::warning(message), place));
    }
    let unique = linking::unique_variables(&library);
    if let Some(first) = unique.first() {
        let more = linking::and_others(unique.len() - 1);
        let message = format!(
            "has the variable {first}{more} unique in a process (STB_GNU_UNIQUE): FMUs that each define it, such as other versions of \
             this one, share it where one process loads them; -fno-gnu-unique or hidden visibility keep it to itself"
        );
        remarks.push(in_file(Remark::warning(message), place));
    }
    let is_lost = needed.iter().any(|symbol| symbol.is_indispensable && missing.contains(&symbol.name.as_str()));
    let (all, count) = (needed.len(), needed.len() - missing.len());
    let which = if count == all { format!("all {all}") } else { format!("{count} of {all}") };
    Ok(Found {
        seen: Some((shown, format!("{which} functions of {}", interface.name()))),
        remarks,
        obstacle: is_lost.then(|| "functions are missing (binary)".to_owned()),
    })
}

/// Whether that function belongs to another offered interface type, whose library is examined separately.
fn is_of_another_offer(subject: &ExaminedFmu, name: &str) -> bool {
    let description = &subject.description;
    description.interfaces.iter().any(|offer| {
        let own = symbols(description.abi, offer.interface(), &offer.common().model_identifier);
        own.iter().any(|symbol| symbol.name == name)
    })
}

fn in_file(remark: Remark, place: Option<&Path>) -> Remark {
    match place {
        Some(path) => remark.in_file(path.display().to_string()),
        None => remark.in_file("the library that was built from its sources"),
    }
}
