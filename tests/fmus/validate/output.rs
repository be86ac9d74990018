//! What is told, and how.

use super::{Fmu, json, validate};
use serde_json::json;
use std::path::Path;

/// A line for each check, then what is wrong, then how many there are of both.
#[test]
fn people_get_a_line_for_each_check_and_a_sum() {
    let fmu = Fmu::like("stepper").and("notes.txt", "x").with(
        "modelDescription.xml",
        "<InitialUnknown valueReference=\"22\"/>",
        "",
    );
    let said = fmu.validate(&[]).exits(3);
    let parts: Vec<&str> = said.stdout.split("\n\n").collect();
    let [checks, findings, warnings, sum] = parts.as_slice() else { panic!("{}", said.stdout) };
    assert_eq!(checks.lines().count(), 8);
    assert!(
        findings.starts_with("Findings\n  description: ") && warnings.starts_with("Warnings\n  archive: notes.txt: ")
    );
    assert!(sum.ends_with("1 finding, 1 warning (6 ok, 1 with findings, 1 not tried)\n"), "{sum}");
}

/// Nothing in an FMU drives the terminal.
#[test]
fn names_of_an_fmu_are_plain() {
    let fmu = Fmu::like("stepper").with("modelDescription.xml", "name=\"longest\"", "name=\"lo&#x9b;31m\u{202e}ng\"");
    let fmu = fmu.with("modelDescription.xml", "<InitialUnknown valueReference=\"22\"/>", "");
    let said = fmu.validate(&[]).exits(3);
    assert!(!said.stdout.contains(['\u{9b}', '\u{202e}', '\u{1b}']), "{:?}", said.stdout);
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let fmu = Fmu::like("stepper");
    for arguments in [["--timeout", "0"], ["--timeout", "soon"], ["--reference-tolerance", "much"]] {
        let said = fmu.validate(&arguments).exits(2);
        assert!(said.stderr.contains(arguments[0]), "{}", said.stderr);
    }
}

/// An FMU is validated as it is: nothing beside it is left behind.
#[test]
fn nothing_is_left_behind() {
    let fmu = Fmu::like("stepper");
    let file = fmu.packed("");
    validate(&file, &[]).exits(0);
    let mut names: Vec<_> =
        fmu.folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["stepper", "stepper.fmu"]);
}

/// The example of the document is what the program says.
#[test]
fn the_document_shows_what_is_said() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/validate.md")).unwrap();
    for word in ["--timeout", "--reference-tolerance", "--json", "not tried", "validate.schema.json"] {
        assert!(text.contains(word), "{word}");
    }
    let (_, said) = json(&Fmu::like("stepper").path());
    assert_eq!(said["format_version"], json!(1));
}
