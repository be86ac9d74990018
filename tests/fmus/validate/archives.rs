//! What is wrong with the files of an FMU.

use super::{Fmu, json, validate};
use serde_json::json;
use std::fs;

/// What is no FMU at all is none of its findings: exit code 2, as of every command.
#[test]
fn what_is_no_fmu_is_refused() {
    let folder = crate::program::tempdir().unwrap();
    fs::write(folder.path().join("text.fmu"), "no archive").unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for (name, words) in
        [("nowhere.fmu", "No such file"), ("text.fmu", "no ZIP archive"), ("empty", "no modelDescription.xml")]
    {
        let path = folder.path().join(name);
        let said = validate(&path, &[]).exits(2);
        assert!(said.stderr.contains(words) && said.stdout.is_empty(), "{name}: {}{}", said.stdout, said.stderr);
        let (code, said) = json(&path);
        assert_eq!((code, &said["verdict"], &said["checks"]), (2, &json!("no FMU"), &json!([])), "{name}");
        assert!(said["unreadable"].as_str().unwrap().contains(words), "{name}: {said}");
    }
}

#[test]
fn a_damaged_archive_is_a_finding() {
    let fmu = Fmu::like("stepper");
    let file = fmu.packed("");
    let bytes = fs::read(&file).unwrap();
    let mut wrong = bytes.clone();
    let at = bytes.windows(13).position(|part| part == b"fmiModelDescr").unwrap();
    wrong[at] = b'F';
    for (bytes, words) in [(&bytes[..bytes.len() / 2], "cut off"), (&wrong[..], "checksum")] {
        fs::write(&file, bytes).unwrap();
        let said = validate(&file, &[]).exits(3);
        assert_eq!((said.outcome("archive"), said.outcome("description")), ("finding", "not tried"));
        said.says(&["archive: ", words]);
    }
}

#[test]
fn a_folder_around_everything_is_a_finding() {
    let said = validate(&Fmu::like("stepper").packed("stepper/"), &[]).exits(3);
    said.says(&["archive: ", "the folder above was packed"]);
}

#[test]
fn an_entry_that_leaves_the_archive_is_a_finding() {
    let said = validate(&Fmu::like("stepper").packed("../"), &[]).exits(3);
    said.says(&["archive: ", "points outside of the archive"]);
}

/// What is odd is told, and harms no verdict.
#[test]
fn what_is_odd_about_the_layout_is_a_warning() {
    let fmu = Fmu::like("stepper")
        .and("notes.txt", "x")
        .and("__MACOSX/x", "x")
        .and("extra/mine/x", "x")
        .and("documentation/x.html", "x")
        .and("sources/größe.h", "");
    let said = validate(&fmu.packed(""), &[]).exits(0);
    for words in [
        ["notes.txt: ", "none of the names"],
        ["__MACOSX: ", "file manager"],
        ["extra/mine: ", "com.example"],
        ["documentation: ", "index.html"],
        ["sources/größe.h: ", "ASCII"],
    ] {
        said.says(&["  archive: ", words[0], words[1]]);
    }
    said.sums_up("no findings, 5 warnings");
}

#[test]
fn what_the_standard_forbids_of_the_layout_is_a_finding() {
    let fmu = Fmu::like("stepper")
        .and("Resources/x", "x")
        .and("documentation/licenses/mit.txt", "x")
        .and("documentation/index.html", "x")
        .and("documentation/diagram.svg", "x");
    let said = fmu.validate(&[]).exits(3);
    said.says(&["archive: Resources: ", "is not resources"]);
    said.says(&["archive: documentation/licenses: ", "license.txt"]);
    said.says(&["archive: documentation/diagram.svg: ", "diagram.png"]);
    said.sums_up("3 findings");
}

/// Whoever has no binary for this machine and no sources has nothing to run; all else is looked at.
#[test]
fn a_binary_for_another_machine_alone_is_a_finding() {
    let fmu = Fmu::like("stepper").without("sources").and("binaries/x86_64-windows/stepper.dll", "MZ");
    let said = fmu.validate(&[]).exits(3);
    assert_eq!((said.outcome("archive"), said.outcome("description")), ("ok", "ok"));
    assert_eq!((said.outcome("binary"), said.outcome("Co-Simulation")), ("finding", "not tried"));
    said.says(&["binary: ", "no stepper.so for this machine", "x86_64-windows"]);
    let said = Fmu::like("stepper").without("sources").validate(&[]).exits(3);
    said.says(&["archive: ", "neither binaries nor sources"]);
}

#[test]
fn a_binary_that_is_none_is_a_finding() {
    let place = format!("binaries/{}-linux/stepper.so", std::env::consts::ARCH);
    for (content, words) in [("", "an empty file"), ("MZ....", "DLL")] {
        let said = Fmu::like("stepper").and(&place, content).validate(&[]).exits(3);
        assert_eq!((said.outcome("binary"), said.outcome("Co-Simulation")), ("finding", "not tried"));
        said.says(&["binary: ", &place, words]);
    }
}

#[test]
fn sources_that_do_not_build_are_a_finding() {
    let said = Fmu::like("stepper").with("sources/stepper.c", "#include", "#error broken\n#include").validate(&[]);
    let said = said.exits(3);
    assert_eq!((said.outcome("binary"), said.outcome("Co-Simulation")), ("finding", "not tried"));
    said.says(&["sources/stepper.c does not build"]);
}

/// Functions that are not there are named: those of the FMU's interface type, and in FMI 3.0 those of all others as a warning.
#[test]
fn functions_that_are_missing_are_named() {
    let fmu = Fmu::like("stepper").with("sources/fmi3_steps.c", "fmi3Status fmi3DoStep(", "fmi3Status step_of_nobody(");
    let said = fmu.with("sources/fmi3_base.c", "REFUSE(fmi3DoStep,", "REFUSE(step_of_no_one,").validate(&[]).exits(3);
    assert_eq!((said.outcome("binary"), said.outcome("Co-Simulation")), ("finding", "not tried"), "{}", said.stdout);
    said.says(&["binary: ", "lacks 1 function that Co-Simulation (FMI 3.0) has: fmi3DoStep"]);
    let others = "REFUSE_PLAIN(fmi3EnterContinuousTimeMode)";
    let said = Fmu::like("stepper").with("sources/fmi3_base.c", others, "").validate(&[]).exits(0);
    said.says(&["binary: ", "interface types that it does not offer", "fmi3EnterContinuousTimeMode"]);
}

/// Before FMI 3.0 an FMU lives without functions that it need not call, and it is a finding all the same.
#[test]
fn an_fmu_of_fmi_2_lives_without_some_functions() {
    let said = Fmu::like("follower").validate(&[]).exits(3);
    assert_eq!((said.outcome("binary"), said.outcome("Co-Simulation")), ("finding", "ok"));
    said.says(&["binary: ", "lacks 16 functions that Co-Simulation (FMI 2.0) has: fmi2CancelStep", "fmi2SetString"]);
}
