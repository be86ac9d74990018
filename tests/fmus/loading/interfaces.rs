//! What an FMU says of its interfaces decides whether and how it is run.

use crate::loading::{copy, edit, ours};
use crate::program::Rig;
use std::path::Path;

const SE: &str =
    "<ScheduledExecution modelIdentifier=\"own_state\" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"/>";

/// A copy of `own_state` with another interface element.
fn changed(folder: &Path, interface: &str) {
    copy(&ours("own_state"), folder);
    edit(&folder.join("modelDescription.xml"), SE, interface);
}

fn rig(fmus: &[&str]) -> Rig {
    let fmus: String = fmus.iter().map(|name| format!("[fmu.{name}]\npath = 'own'\n")).collect();
    Rig::of_text(&format!("[rig]\nmode = \"virtual\"\nstop_time = 0.1\n{fmus}[record]\n"))
}

#[test]
fn an_fmu_with_several_interfaces_runs_with_scheduled_execution_and_that_is_said() {
    let rig = rig(&["x"]);
    let more = "<ModelExchange modelIdentifier=\"me\"/><CoSimulation modelIdentifier=\"cs\"/>";
    changed(&rig.folder().join("own"), &format!("{more}{SE}"));
    let outcome = rig.run().exits(0);
    let note = "x offers Co-Simulation and Model Exchange as well: it runs with Scheduled Execution";
    assert!(outcome.stderr.contains(&format!("note: {note}")), "{}", outcome.stderr);
    let notes = outcome.report()["notes"].as_array().unwrap().clone();
    assert!(notes.iter().any(|found| found == note), "{notes:?}");
    assert!(outcome.file("report.html").contains(note));
    assert_eq!(outcome.signals().last("x.n_a"), 10);
}

/// What `vecud run` refuses with.
#[track_caller]
fn refused(rig: &Rig) -> String {
    let outcome = rig.run().exits(2);
    assert!(!outcome.out.exists(), "nothing ran");
    outcome.stderr
}

#[test]
fn an_fmu_for_one_instance_per_process_is_refused_twice_and_runs_once() {
    let once = SE.replace("/>", " canBeInstantiatedOnlyOncePerProcess=\"true\"/>");
    let alone = rig(&["x"]);
    changed(&alone.folder().join("own"), &once);
    alone.run().exits(0);
    let twice = rig(&["x", "y"]);
    changed(&twice.folder().join("own"), &once);
    let words = refused(&twice);
    assert!(
        words.ends_with(
            "test.toml:7:8: x and y are the same FMU, which can be instantiated only once per process \
             (canBeInstantiatedOnlyOncePerProcess), and vecud runs all of a rig in one: keep one of them\n"
        ),
        "{words}"
    );
}

/// FMI 3.0.2, 2.4.2: the importer "should inform the user that a tool has to be available".
#[test]
fn an_fmu_that_needs_a_tool_runs_and_the_tool_is_named() {
    let rig = rig(&["x"]);
    let description = rig.folder().join("own/modelDescription.xml");
    changed(&rig.folder().join("own"), &SE.replace("/>", " needsExecutionTool=\"true\"/>"));
    edit(&description, "generationTool=\"written by hand\"", "generationTool=\"ToolBox 7.1\"");
    let outcome = rig.run().exits(0);
    let words = &outcome.stderr;
    assert!(words.contains("note: x needs a tool on this machine") && words.contains("ToolBox 7.1"), "{words}");
    assert!(words.contains("(needsExecutionTool)"), "{words}");
    assert_eq!(outcome.signals().last("x.n_a"), 10);
}

#[test]
fn what_else_is_in_an_fmu_is_ignored() {
    let rig = rig(&["x"]);
    let own = rig.folder().join("own");
    changed(&own, SE);
    for file in [
        "terminalsAndIcons/terminalsAndIcons.xml",
        "icons/terminalsAndIcons.xml",
        "documentation/index.html",
        "documentation/licenses/license.txt",
        "extra/com.example.calibration/model.a2l",
        "extra/org.fmi-standard.fmi-ls-xcp/fmi-ls-manifest.xml",
    ] {
        crate::loading::write(&own.join(file), "<not even well-formed & not read");
    }
    let description = own.join("modelDescription.xml");
    let annotations = "<Annotations><Annotation type=\"com.example.x\"><any xmlns=\"urn:x\"><b c=\"1\"/>text</any></Annotation></Annotations>";
    edit(&description, "</fmiModelDescription>", &format!("{annotations}</fmiModelDescription>"));
    edit(
        &description,
        "<Float64 name=\"x_a\" valueReference=\"12\" causality=\"output\" variability=\"discrete\" clocks=\"2\"/>",
        &format!(
            "<Float64 name=\"x_a\" valueReference=\"12\" causality=\"output\" variability=\"discrete\" \
             clocks=\"2\">{annotations}</Float64>"
        ),
    );
    let outcome = rig.run().exits(0);
    assert_eq!(outcome.signals().last("x.n_a"), 10);
    assert!(!outcome.stderr.contains("Annotation"), "{}", outcome.stderr);
}
