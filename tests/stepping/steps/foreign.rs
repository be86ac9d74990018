//! FMUs for Co-Simulation that nobody here wrote (docs/foreign-fmus.md), in both modes, and what such FMUs do that the standard does not
//! foresee. They are not part of this repository; `VECUD_FOREIGN_FMUS` names a folder that has them.

use super::earlier::integrator;
use super::program::{Rig, real_time, skipped};
use super::references::find;
use super::{numbers, run};
use std::path::{Path, PathBuf};

/// File, step, a signal, and its value after one second by the functions of FMPy 0.3.32 with the same communication points and step sizes, which
/// are the distances of these points; `None`: FMPy does not run it.
const FMUS: [(&str, &str, &str, Option<f64>); 18] = [
    ("periodic_clock.fmu", "1/100", "out2", None),
    ("sinewave_array.fmu", "1/100", "Output[1,1]", Some(1.841_470_984_807_896_5)),
    ("MassSpringDamper1.fmu", "1/100", "x1", Some(0.659_700_153_402_677_5)),
    ("MassSpringDamper2.fmu", "1/100", "x2", Some(0.0)),
    ("Body_Block.fmu", "1/100", "robot_x", Some(0.138)),
    ("Sensor_Block.fmu", "1/100", "lf_1_sensor_reading", Some(254.000_000_000_000_06)),
    ("LFRController_Standalone.fmu", "1/100", "servoLeftVal", Some(0.0)),
    ("WaterTankController_Standalone.fmu", "1/100", "wt3_valve", Some(0.0)),
    ("pump.fmu", "1/100", "mdot_out", Some(1.0)),
    ("singlewatertank-20sim.fmu", "1/100", "level", None),
    ("threewatertank1.fmu", "1/100", "Tank1WaterLevel", None),
    ("Controller.fmu", "1/100", "y", Some(0.0)),
    ("Drivetrain.fmu", "1/100", "w", Some(3.333_331_928_087_285)),
    ("bouncingBall.fmu", "1/100", "h", Some(0.236_643_686_999_993_75)),
    ("dq.fmu", "1/100", "x", Some(0.367_695_424_770_963_9)),
    ("inc.fmu", "1/100", "counter", Some(2.0)),
    ("values.fmu", "1/100", "int_out", Some(1.0)),
    ("vanDerPol.fmu", "1/100", "x0", Some(1.508_198_358_754_983_9)),
];

fn rig(path: &Path, step: &str, signal: &str) -> Rig {
    // Arrays are recorded as a whole.
    let (path, signal) = (path.display(), signal.split('[').next().unwrap());
    Rig::of_text(&format!(
        "[rig]\nstop_time = 1.0\n[record]\nsignals = [\"m.{signal}\"]\n\
         [fmu.m]\npath = '{path}'\ninterface = 'co-simulation'\nstep = '{step}'\n"
    ))
}

/// Those of the folder, or a visible word that there are none.
fn foreign(test: &str) -> Vec<(PathBuf, &'static str, &'static str, Option<f64>)> {
    let Some(folder) = std::env::var_os("VECUD_FOREIGN_FMUS") else {
        skipped(test, &"set VECUD_FOREIGN_FMUS to a folder with the FMUs that docs/foreign-fmus.md names");
        return Vec::new();
    };
    let mut all = Vec::new();
    for (name, step, signal, value) in FMUS {
        match find(Path::new(&folder), name, "") {
            Some(path) => all.push((path, step, signal, value)),
            None => skipped(test, &format!("{name} is not in VECUD_FOREIGN_FMUS")),
        }
    }
    all
}

#[test]
fn fmus_of_other_tools_compute_what_another_importer_computes() {
    for (path, step, signal, value) in foreign("fmus_of_other_tools_compute_what_another_importer_computes") {
        let outcome = run(&rig(&path, step, signal), "virtual").exits(0);
        let last = *numbers(&outcome, &format!("m.{signal}")).last().unwrap();
        assert!(value.is_none_or(|value| last == value), "{}: {signal} is {last:?}, not {value:?}", path.display());
    }
}

#[test]
fn fmus_of_other_tools_record_the_same_in_real_time() {
    let test = "fmus_of_other_tools_record_the_same_in_real_time";
    for (path, step, signal, _) in foreign(test) {
        real_time(test, || {
            let rig = rig(&path, step, signal);
            let file = |mode| run(&rig, mode).exits(0).file("signals.csv");
            assert!(file("virtual") == file("realtime"), "{}", path.display());
        });
    }
}

/// FMUs of the Overture tool hand (void *)1 to the logger in place of their environment.
#[test]
fn an_fmu_that_logs_with_another_environment_is_heard() {
    let log = "m->functions->logger((void *)1, \"m\", fmi2OK, \"logAll\", \"a step\");";
    let outcome = run(&integrator(2, log, ""), "virtual").exits(0);
    let log = outcome.fmu("m")["log"].to_string();
    assert!(log.contains("a step"), "{log}");
}

/// FMUs of 20-sim compute their first outputs when they leave Initialization Mode.
#[test]
fn outputs_that_come_at_the_end_of_the_initialization_are_in_the_first_row() {
    let outcome = run(&integrator(2, "", "((Model *)c)->x = 5.0;"), "virtual").exits(0);
    assert_eq!(numbers(&outcome, "m.x")[..2], [5.0, 5.0 + 2.0 * 0.01]);
}
