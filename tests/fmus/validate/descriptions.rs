//! What is wrong with a model description: with its place, as the reader of all commands has it.

use super::{Fmu, json};

/// The finding of a description with this change.
#[track_caller]
fn finds(before: &str, after: &str, words: &[&str]) {
    let said = Fmu::like("stepper").with("modelDescription.xml", before, after).validate(&[]).exits(3);
    assert_eq!(said.outcome("description"), "finding", "{}", said.stdout);
    said.says(&[&["  description: modelDescription.xml:"], words].concat());
}

#[test]
fn what_cannot_be_read_is_a_finding_and_nothing_else_is_tried() {
    let xml = "modelDescription.xml";
    for (before, after, words) in [
        ("<ModelVariables>", "<ModelVariables", "modelDescription.xml:"),
        ("valueReference=\"20\" causality", "valueReference=\"21\" causality", "is the value reference of"),
        ("modelIdentifier=\"stepper\"", "modelIdentifier=\".stepper\"", "cannot be the name of a library's file"),
        ("causality=\"input\" start=\"0\"", "causality=\"input\"", "a start value is missing"),
        (
            "causality=\"input\" start=\"0\"",
            "causality=\"input\" variability=\"fixed\" start=\"0\"",
            "would be a parameter",
        ),
    ] {
        let said = Fmu::like("stepper").with(xml, before, after).validate(&[]).exits(3);
        assert_eq!((said.outcome("archive"), said.outcome("description")), ("ok", "finding"));
        assert_eq!(said.outcome("binary"), "not tried");
        said.says(&["description: modelDescription.xml:", words]);
    }
}

/// An author mends all errors before the next export.
#[test]
fn all_errors_of_a_description_are_told_with_their_places() {
    let xml = "modelDescription.xml";
    let fmu = Fmu::like("stepper")
        .with(xml, "modelIdentifier=\"stepper\"", "modelIdentifier=\"\"")
        .with(xml, "causality=\"input\" start=\"0\"", "causality=\"input\"")
        .with(xml, "causality=\"output\"", "causality=\"out\"");
    let said = fmu.validate(&[]).exits(3);
    for words in ["modelIdentifier=\"\" cannot be the name", "a start value is missing", "causality=\"out\" is none of"]
    {
        said.says(&["description: modelDescription.xml:", words]);
    }
    assert_eq!(said.outcome("binary"), "not tried");
}

#[test]
fn what_readers_tolerate_is_a_finding_with_its_place() {
    finds("description=\"steps\"", "unit=\"rpm\"", &["is unknown"]);
    finds(
        "name=\"x\" valueReference",
        "unit=\"rpm\" name=\"x\" valueReference",
        &[":26:", "unit \"rpm\" is not defined"],
    );
    finds("<Output valueReference=\"22\"/>", "", &["output \"longest\"", "is not listed"]);
    finds("stopTime=\"1\"", "stopTime=\"-1\"", &[":19:36:", "stopTime", "before the start of the experiment"]);
    finds("stepSize=\"0.01\"", "stepSize=\"0\"", &["stepSize", "must be above 0"]);
    finds(
        "start=\"0\"/>\n    <Float64 name=\"b\"",
        "min=\"1\" start=\"0\"/>\n    <Float64 name=\"b\"",
        &["0.0 is below its min 1.0"],
    );
    finds("name=\"x\" valueReference", "nominal=\"0\" name=\"x\" valueReference", &["nominal"]);
}

#[test]
fn what_only_validation_looks_for_has_its_place_too() {
    finds("<InitialUnknown valueReference=\"22\"/>", "", &[":28:5: ", "output \"longest\"", "initial unknown"]);
    let time = "<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>";
    let said = Fmu::like("stepper").with("modelDescription.xml", time, "").validate(&[]).exits(3);
    said.says(&["  description: modelDescription.xml: ", "no independent variable"]);
}

#[test]
fn programs_get_the_places_as_numbers() {
    let fmu = Fmu::like("stepper").with("modelDescription.xml", "<InitialUnknown valueReference=\"22\"/>", "");
    let (code, said) = json(&fmu.path());
    let remark = &said["checks"][1]["remarks"][0];
    assert_eq!(
        (code, &remark["severity"], &remark["line"], &remark["column"]),
        (3, &"finding".into(), &28.into(), &5.into())
    );
    assert_eq!(remark["file"], "modelDescription.xml");
    assert!(!remark["message"].as_str().unwrap().contains(".xml:"), "{remark}");
}
