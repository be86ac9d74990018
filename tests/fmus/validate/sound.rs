//! FMUs that are sound: of each version and of each interface type, as folders and packed.

use super::{Fmu, json};
use serde_json::json;

#[test]
fn examples_are_sound() {
    for (name, interface) in [
        ("engine_ecu", "Scheduled Execution"),
        ("three_input_clocks", "Scheduled Execution"),
        ("clock_kinds", "Scheduled Execution"),
        ("own_state", "Scheduled Execution"),
        ("stepper", "Co-Simulation"),
        ("step_clocks", "Co-Simulation"),
        ("events", "Co-Simulation"),
        ("transmission", "Co-Simulation"),
        ("suspension", "Model Exchange"),
        ("suspension_control", "Scheduled Execution"),
    ] {
        let said = Fmu::like(name).validate(&[]).exits(0);
        for check in ["archive", "description", "binary", interface] {
            assert_eq!(said.outcome(check), "ok", "{name}: {check}\n{}", said.stdout);
        }
        assert_ne!(said.outcome(&format!("{interface}, two instances")), "finding", "{name}\n{}", said.stdout);
        said.sums_up("no findings");
        assert_eq!(said.stderr, "", "{name}");
    }
}

#[test]
fn an_archive_is_as_good_as_a_folder() {
    let fmu = Fmu::like("stepper");
    let file = fmu.packed("");
    let (code, said) = json(&file);
    assert_eq!((code, &said["verdict"], &said["fmi_version"]), (0, &json!("sound"), &json!("3.0")));
    let checks = said["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    let all = [
        "archive",
        "description",
        "binary",
        "Co-Simulation",
        "Co-Simulation, FMU state",
        "Co-Simulation, two instances",
        "Co-Simulation, threads",
        "reference results",
    ];
    assert_eq!(names, all);
    assert!(checks.iter().all(|check| check["remarks"] == json!([])), "{said:#}");
    assert_eq!(checks[7]["outcome"], "not tried");
}

/// Triggered clocks tick, too: every partition that can be activated is.
#[test]
fn partitions_of_triggered_clocks_are_activated() {
    let said = Fmu::like("three_input_clocks").validate(&[]).exits(0);
    said.says(&["Scheduled Execution  ", "3 of 3 clocks"]);
}

/// Where an FMU can serialise its state, a life goes on with it in another process and computes the same.
#[test]
fn a_life_goes_on_with_its_state() {
    Fmu::like("stepper").validate(&[]).exits(0).says(&["FMU state", "the same at 51 times"]);
}

#[test]
fn what_it_cannot_do_is_not_tried() {
    let once = "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"";
    let fmu = Fmu::like("stepper").with("modelDescription.xml", once, "canBeInstantiatedOnlyOncePerProcess=\"true\"");
    let said = fmu.validate(&[]).exits(0);
    assert_eq!(said.outcome("Co-Simulation, two instances"), "not tried");
    assert_eq!(said.outcome("Co-Simulation, FMU state"), "not tried");
    said.says(&["not tried", "canGetAndSetFMUState"]);
}

#[test]
fn a_life_of_model_exchange() {
    for name in ["spring", "spring_fmi2", "ball_fmi1", "pendulum"] {
        let said = Fmu::like(name).validate(&[]).exits(0);
        assert_eq!(said.outcome("Model Exchange"), "ok", "{name}");
        assert_eq!(said.outcome("Model Exchange, two instances"), "ok", "{name}");
        said.says(&["Model Exchange, threads", "ok", "one instance on another thread, two at once"]);
        said.sums_up("no findings (");
    }
}
