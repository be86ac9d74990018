//! `vecud new fmu`: the FMU of `fmus/new_fmu` under another name.

use crate::cli::made::UnfinishedOutput;
use std::path::Path;
use vecud_host::Error;
use vecud_linux::stop::StopToken;

/// What stands in the files for the name.
const NAME: &str = "new_fmu";

/// The files, each from its one place in the repository.
const FILES: [(&str, &str); 8] = [
    ("sources/README.md", include_str!("../../../fmus/new_fmu/sources/README.md")),
    ("modelDescription.xml", include_str!("../../../fmus/new_fmu/modelDescription.xml")),
    ("sources/buildDescription.xml", include_str!("../../../fmus/new_fmu/sources/buildDescription.xml")),
    ("sources/model.c", include_str!("../../../fmus/new_fmu/sources/model.c")),
    ("sources/fmi3_model.h", include_str!("../../../fmus/common/fmi3_model.h")),
    ("sources/fmi3_model.c", include_str!("../../../fmus/common/fmi3_model.c")),
    ("sources/fmi3_base.h", include_str!("../../../fmus/common/fmi3_base.h")),
    ("sources/fmi3_base.c", include_str!("../../../fmus/common/fmi3_base.c")),
];

/// Makes the folder, and gives what there is to be said of it.
pub fn make(folder: &Path, stop: &StopToken) -> Result<String, Error> {
    let name = identifier(folder)?;
    UnfinishedOutput::folder(folder, FILES.map(|(file, text)| (file, text.replace(NAME, name))))?.keep(stop);
    let shown = folder.display();
    Ok(format!(
        "{shown}: an FMU as C sources, with two periodic tasks and a triggered one; it runs as it is\n\
         the model is {shown}/sources/model.c, what is seen of it from outside {shown}/modelDescription.xml\n\
         next: vecud check {shown}, vecud run {shown}, vecud new rig RIG {shown}\n"
    ))
}

/// The folder's last part, which becomes the FMU's `modelIdentifier`: a C identifier (FMI 3.0.2, 2.4.8).
fn identifier(folder: &Path) -> Result<&str, Error> {
    let last = folder.file_name().unwrap_or(folder.as_os_str());
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first_is_digit = |name: &str| name.starts_with(|c: char| c.is_ascii_digit());
    match last.to_str() {
        Some(name) if !name.is_empty() && name.chars().all(is_legal) && !first_is_digit(name) => Ok(name),
        _ => {
            let shown = last.to_string_lossy();
            let legal: String = shown.chars().map(|c| if is_legal(c) { c } else { '_' }).collect();
            let legal = if first_is_digit(&legal) { format!("_{legal}") } else { legal };
            let hint = if folder.file_name().is_some() { format!(", as {legal}") } else { String::new() };
            Err(Error::Command(format!(
                "\"{shown}\" cannot be the name of an FMU: it must be an identifier of C, of letters (a to z), digits and _, \
                 and not begin with a digit{hint}"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_are_identifiers_of_c() {
        for (folder, name) in [("wheel", "wheel"), ("fmus/wheel_2", "wheel_2"), ("./_a/", "_a")] {
            assert_eq!(identifier(Path::new(folder)).unwrap(), name);
        }
        for (folder, hint) in [
            ("my-fmu", ", as my_fmu"),
            ("a/2nd", ", as _2nd"),
            ("räder", ", as r_der"),
            ("a.fmu", ", as a_fmu"),
            ("", "a digit"),
            ("..", "a digit"),
        ] {
            let error = identifier(Path::new(folder)).unwrap_err().to_string();
            assert!(error.ends_with(hint), "{error}");
        }
    }

    /// The new files have the name in all its places, and no trace of the template.
    #[test]
    fn the_name_stands_wherever_it_belongs() {
        let text = |name: &str| FILES.iter().find(|(file, _)| *file == name).unwrap().1.replace(NAME, "wheel");
        assert!(text("modelDescription.xml").contains("modelIdentifier=\"wheel\""));
        assert!(text("modelDescription.xml").contains("instantiationToken=\"{wheel-1}\""));
        assert!(text("sources/buildDescription.xml").contains("modelIdentifier=\"wheel\""));
        assert!(text("sources/model.c").contains("model_token[] = \"{wheel-1}\""));
        // Every file of the FMU in the repository is among them.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(NAME);
        let there = ["", "sources"].map(|part| fs::read_dir(folder.join(part)).unwrap().flatten().collect::<Vec<_>>());
        for file in there.iter().flatten().filter(|entry| !entry.path().is_dir()) {
            let path = file.path();
            let name = path.strip_prefix(&folder).unwrap().to_str().unwrap();
            let own = FILES.iter().find(|(file, _)| *file == name).unwrap_or_else(|| panic!("{name} is left out"));
            assert_eq!(own.1, fs::read_to_string(&path).unwrap(), "{name}");
        }
    }
}
