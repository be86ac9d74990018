//! The Modelica Reference FMUs (<https://github.com/modelica/Reference-FMUs>). They are not part of this repository; `VECUD_REFERENCE_FMUS`
//! names a folder that has them, as a release or a build of them lays them out.

use super::validate;
use std::io::Write;
use std::path::{Path, PathBuf};

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "fmu") {
            found.push(path);
        }
    }
}

/// All FMUs of the folder, or a visible word that there is none.
fn reference_fmus(test: &str) -> Option<Vec<PathBuf>> {
    let Some(folder) = std::env::var_os("VECUD_REFERENCE_FMUS") else {
        let why = "set VECUD_REFERENCE_FMUS to a folder with the Modelica Reference FMUs";
        let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
        return None;
    };
    let mut found = Vec::new();
    collect(Path::new(&folder), &mut found);
    found.sort();
    assert!(!found.is_empty(), "VECUD_REFERENCE_FMUS names a folder without FMUs");
    Some(found)
}

/// Of all versions, and those of FMI 3.0 and 2.0 compute the results that they carry (since v0.0.40). Roberts says that it has Event Mode,
/// and is not to be instantiated with it.
#[test]
fn they_are_sound_but_for_one() {
    let Some(fmus) = reference_fmus("they_are_sound_but_for_one") else { return };
    for file in fmus {
        let said = validate(&file, &[]);
        if file.ends_with("3.0/Roberts.fmu") {
            said.says(&["Co-Simulation: ", "returned NULL"]);
            assert_eq!(said.code, 3);
            continue;
        }
        // As v0.0.39 has it.
        let kinds = "dependenciesKind=\"constant\" has 1 items, but `dependencies` has 2";
        let has_too_few = file.ends_with("2.0/Feedthrough.fmu") && said.stdout.contains(kinds);
        let said = said.exits(if has_too_few { 3 } else { 0 });
        let carried: Vec<&str> = said.stdout.lines().filter(|line| line.starts_with("reference ")).collect();
        for line in carried.iter().filter(|line| line.contains("_out.csv")) {
            assert!(line.contains("  ok  ") && line.contains("the same at "), "{}: {line}", file.display());
        }
    }
}
