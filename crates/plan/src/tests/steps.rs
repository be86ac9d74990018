//! Co-Simulation: which interface type an FMU runs with, how far its steps go, when what they compute is visible.

use super::*;
use crate::{InterfacePlan, Release, TaskKind, Timing, Work};
use vecud_base::time::Fraction;
use vecud_description::{CoSimulation, InterfaceOffer, InterfaceType};

/// A motor; `flags` are attributes of its `<CoSimulation>`, `experiment` those of its `<DefaultExperiment>`.
fn motor(flags: &str, experiment: &str) -> ModelDescription {
    let xml = format!(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"motor\" instantiationToken=\"t\">\
         <CoSimulation modelIdentifier=\"motor\" {flags}/><DefaultExperiment {experiment}/><ModelVariables>\
         <Float64 name=\"u\" valueReference=\"1\" causality=\"input\" start=\"0\"/>\
         <Float64 name=\"y\" valueReference=\"2\" causality=\"output\"/>\
         <Float64 name=\"table\" valueReference=\"3\" causality=\"parameter\" variability=\"fixed\" start=\"1\"/>\
         </ModelVariables><ModelStructure><Output valueReference=\"2\"/></ModelStructure></fmiModelDescription>"
    );
    parse(&xml).unwrap()
}

fn built(text: &str, flags: &str, experiment: &str) -> Result<Plan, String> {
    try_build(text, &[motor(flags, experiment)], &host())
}

const MOTOR: &str = "[fmu.m]\npath = \"m\"\n";

#[track_caller]
fn step(text: &str, flags: &str, experiment: &str) -> Fraction {
    let plan = built(text, flags, experiment).unwrap();
    match plan.units[0].release {
        Release::Periodic { shift, interval } if shift.is_zero() => interval,
        ref other => panic!("{other:?}"),
    }
}

fn fraction(counter: u64, resolution: u64) -> Fraction {
    Fraction::new(counter, resolution).unwrap()
}

#[test]
fn a_co_simulation_fmu_is_one_periodic_task() {
    let plan = built(
        "[fmu.m]\npath = \"m\"\nmax_latency_us = 100\noverrun = \"queue\"\nexecution_us = 20\n",
        "",
        "stepSize=\"0.01\"",
    );
    let plan = plan.unwrap();
    let ([unit], [task]) = (plan.units.as_slice(), plan.tasks.as_slice()) else { panic!("{:?}", plan.units) };
    assert_eq!((unit.name.as_str(), task.thread.as_str(), unit.kind()), ("step", "m.step", TaskKind::Step));
    assert!(matches!(unit.work, Work::Step(own) if !own.is_variable) && unit.urgency.is_none() && unit.is_contiguous());
    assert_eq!(task.overrun, crate::rig::Overrun::Queue);
    assert_eq!(task.limits.max_latency.map(|limit| limit.0), Some(100_000));
    assert_eq!(task.figures.execution.map(|time| time.0), Some(20_000));
    assert!(matches!(plan.fmus[0].interface, InterfacePlan::CoSimulation(_)));
    assert_eq!(plan.fmus[0].interface_type(), "CoSimulation");
}

/// `1/60` by a tool that writes doubles.
#[test]
fn a_step_to_which_a_fraction_was_divided_out_is_that_fraction() {
    let of_description = |size: &str| step(MOTOR, "", &format!("stepSize=\"{size}\""));
    assert_eq!(of_description("0.016666666666666666"), fraction(1, 60));
    assert_eq!(of_description("0.0333333333333333"), fraction(1, 30));
    let of_rig = |size: &str| step(&format!("[fmu.m]\npath = \"m\"\nstep = {size}\n"), "", "");
    assert_eq!(of_rig("0.16666666666666666"), fraction(1, 6));
    assert_eq!(of_rig("0.0999999999"), fraction(999_999_999, 10_000_000_000));
    // The FMU's own step, to which the rig's is as near as a double.
    let internal = "fixedInternalStepSize=\"0.016666666666666666\"";
    assert_eq!(step("[fmu.m]\npath = \"m\"\nstep = \"1/60\"\n", internal, ""), fraction(1, 60));
}

/// A step is a multiple of the internal step, and a run one of the step, where less than a billionth of a step is left over or missing
/// (semantics S19).
#[test]
fn what_is_equal_but_for_rounding_is_equal() {
    for internal in ["0.01666666666666", "0.01666666666667"] {
        let internal = format!("fixedInternalStepSize=\"{internal}\"");
        for (text, expected) in [("\"1/60\"", fraction(1, 60)), ("0.05", fraction(1, 20))] {
            assert_eq!(step(&format!("{MOTOR}step = {text}\n"), &internal, ""), expected, "{internal}");
        }
        // As the description wants it, and not raised to two of the internal ones.
        assert_eq!(step(MOTOR, &internal, "stepSize=\"0.016666666666666666\""), fraction(1, 60), "{internal}");
    }
    let refused = built(&format!("{MOTOR}step = \"1/60\"\n"), "fixedInternalStepSize=\"0.0166666666\"", "");
    assert!(refused.unwrap_err().contains("is no multiple of its internal step"));
    for (size, until) in [("0.09999999999999", 0.9999999999999), ("0.10000000000001", 1.0), ("0.1", 1.0)] {
        let text = format!("[rig]\nmode = \"virtual\"\nstop_time = 1\n{MOTOR}step = {size}\n");
        let plan = built(&text, "", "").unwrap();
        assert_eq!(plan.released_until(&plan.units[0]).map(|until| until.seconds()), Some(until), "{size}");
    }
}

/// A step of the FMU that is none is no measure for the times that its steps reach.
#[test]
fn an_internal_step_is_above_0() {
    for (internal, is_step) in [("-1", false), ("0", false), ("0.01", true)] {
        let plan =
            built(&format!("{MOTOR}step = 0.01\n"), &format!("fixedInternalStepSize=\"{internal}\""), "").unwrap();
        let Work::Step(own) = plan.units[0].work else { panic!("{:?}", plan.units) };
        assert_eq!(own.internal_step.is_some(), is_step, "{internal}");
    }
}

#[test]
fn the_step_is_the_rigs_else_the_fmus() {
    assert_eq!(step("[fmu.m]\npath = \"m\"\nstep = \"1/3000\"\n", "", "stepSize=\"0.01\""), fraction(1, 3000));
    assert_eq!(step(MOTOR, "", "stepSize=\"0.01\""), fraction(1, 100));
    assert_eq!(step(MOTOR, "fixedInternalStepSize=\"0.004\"", "stepSize=\"0.01\""), fraction(12, 1000), "raised");
    assert_eq!(step(MOTOR, "fixedInternalStepSize=\"0.0004\"", ""), fraction(12, 10_000), "at least 1 ms");
    assert_eq!(
        built(MOTOR, "", "").unwrap_err(),
        "rig.toml:2:8: how far m (m) is to go in one step is said nowhere: its description has neither a stepSize nor a \
         fixedInternalStepSize; give it as step in [fmu.m], such as step = \"1/1000\", or give step in [rig], or `vecud run --step`, for all \
         such FMUs"
    );
}

/// `step` of `[rig]`, for which `--step` stands as well: for FMUs of which neither their table, their description nor their group says
/// a step.
#[test]
fn the_step_of_all_fmus_is_for_those_that_have_none() {
    let of_rig = |fmus: &str| format!("[rig]\nstep = \"1/50\"\n{fmus}");
    let unused = |text: &str, flags: &str, experiment: &str| {
        let notes = built(&of_rig(text), flags, experiment).unwrap().notes;
        notes.iter().any(|note| note.starts_with("no FMU takes step in [rig], 0.02 s"))
    };
    assert_eq!(step(&of_rig(MOTOR), "", ""), fraction(1, 50));
    assert!(!unused(MOTOR, "", ""));
    assert_eq!(step(&of_rig(MOTOR), "", "stepSize=\"0.01\""), fraction(1, 100));
    assert!(unused(MOTOR, "", "stepSize=\"0.01\""));
    assert_eq!(step(&of_rig(&format!("{MOTOR}step = 0.03\n")), "", ""), fraction(3, 100));
    let group = "[master.g]\nfmus = [\"m\"]\nalgorithm = \"jacobi\"\n";
    assert_eq!(step(&of_rig(&format!("{MOTOR}{group}")), "", ""), fraction(1, 50));
    assert_eq!(step(&of_rig(&format!("{MOTOR}{group}step = 0.04\n")), "", ""), fraction(1, 25));
    // One that its own step keeps from going so far goes further, and that is told.
    let internal = "fixedInternalStepSize=\"0.015\"";
    assert_eq!(step(&of_rig(MOTOR), internal, ""), fraction(3, 100));
    let notes = built(&of_rig(MOTOR), internal, "").unwrap().notes;
    assert!(notes.iter().any(|note| note.starts_with("m makes steps of 0.03 s instead of 0.02 s: ")), "{notes:?}");
}

/// An FMU that runs without a rig file makes steps whether its description says how long they are or not.
#[test]
fn an_fmu_alone_without_a_step_makes_those_of_a_millisecond() {
    let rig = rig::Rig::for_fmu(Path::new("motor.fmu"));
    let plan = |rig: &rig::Rig, experiment: &str| build(rig, &inputs(rig, &[motor("", experiment)]), &[], &host());
    let own = plan(&rig, "").unwrap();
    assert!(matches!(own.units[0].release, Release::Periodic { interval: Fraction::MILLISECOND, .. }));
    assert!(own.notes.iter().any(|note| note.starts_with("how far motor is to go in one step is said nowhere")));
    let own = plan(&rig, "stepSize=\"0.01\"").unwrap();
    assert!(!own.notes.iter().any(|note| note.contains("said nowhere")), "{:?}", own.notes);
}

#[test]
fn a_step_that_is_no_multiple_is_a_note_where_steps_may_vary() {
    let (text, internal) = ("[fmu.m]\npath = \"m\"\nstep = 0.003\n", "fixedInternalStepSize=\"0.002\"");
    let message = "the step of m, 0.003 s, is no multiple of its internal step of 0.002 s (fixedInternalStepSize)";
    let refused = built(text, internal, "").unwrap_err();
    assert_eq!(refused, format!("rig.toml:3:8: {message}, and its steps may not vary: use a multiple"));
    let varies = format!("{internal} canHandleVariableCommunicationStepSize=\"true\"");
    assert!(built(text, &varies, "").unwrap().notes.contains(&message.to_owned()));
}

#[test]
fn a_last_step_that_would_be_shorter_is_refused_where_steps_may_not_vary() {
    let text = "[rig]\nstop_time = 0.025\n[fmu.m]\npath = \"m\"\n";
    assert_eq!(
        built(text, "", "stepSize=\"0.01\"").unwrap_err(),
        "rig.toml:2:13: the run of 0.025 s is no whole number of steps of m, 0.01 s each, and its last step may not be \
         shorter (canHandleVariableCommunicationStepSize): use another stop time, or another step"
    );
    assert!(built(text, "canHandleVariableCommunicationStepSize=\"true\"", "stepSize=\"0.01\"").is_ok());
}

#[test]
fn real_time_keeps_no_step_of_less_than_a_microsecond() {
    let text = "[rig]\nstop_time = 1\n[fmu.m]\npath = \"m\"\nstep = 1e-9\n";
    let refused = built(text, "", "").unwrap_err();
    assert!(refused.starts_with("rig.toml:5:8: the step of m is shorter than a microsecond"), "{refused}");
    assert!(built(&text.replace("[rig]", "[rig]\nmode = \"virtual\""), "", "").is_ok());
}

/// Semantics S20.
#[test]
fn connections_from_and_to_steps_are_delayed_unless_the_rig_says_otherwise() {
    let text = |timing: &str| {
        format!(
            "[fmu.m]\npath = \"m\"\n[fmu.plant]\npath = \"p\"\n[[connect]]\nfrom = \"m.y\"\nto = \"plant.throttle\"\n{timing}\n\
             [[connect]]\nfrom = \"plant.speed\"\nto = \"m.u\"\n[[connect]]\nfrom = \"plant.speed\"\nto = \"other.throttle\"\n\
             [fmu.other]\npath = \"p\"\n"
        )
    };
    let timings = |timing: &str| {
        let descriptions = [motor("", "stepSize=\"0.001\""), description(PLANT), description(PLANT)];
        let plan = try_build(&text(timing), &descriptions, &host()).unwrap();
        plan.connections.iter().map(|connection| connection.timing).collect::<Vec<_>>()
    };
    use Timing::{Delayed, Immediate};
    assert_eq!(timings(""), [Delayed, Delayed, Immediate]);
    assert_eq!(timings("timing = \"immediate\""), [Immediate, Delayed, Immediate]);
}

#[test]
fn the_rig_chooses_among_the_interface_types() {
    let mut both = description("");
    let own = CoSimulation {
        common: InterfaceType { model_identifier: "m".into(), ..Default::default() },
        ..Default::default()
    };
    both.interfaces.push(InterfaceOffer::CoSimulation(own));
    both.default_experiment.step_size = Fraction::duration(0.01).ok();
    let tasks = |interface: &str, description: &ModelDescription| {
        let text = format!("[fmu.a]\npath = \"x\"\n{interface}\n");
        let plan = try_build(&text, std::slice::from_ref(description), &host())?;
        Ok::<_, String>(plan.fmus[0].interface_type())
    };
    assert_eq!(tasks("", &both).as_deref(), Ok("ScheduledExecution"));
    assert_eq!(tasks("interface = \"co-simulation\"", &both).as_deref(), Ok("CoSimulation"));
    assert_eq!(
        tasks("interface = \"co-simulation\"", &description("")).unwrap_err(),
        "rig.toml:3:13: x (FMI 3.0) has no Co-Simulation: it offers Scheduled Execution"
    );
    assert_eq!(
        tasks("interface = \"model-exchange\"", &both).unwrap_err(),
        "rig.toml:3:13: x (FMI 3.0) has no Model Exchange: it offers Scheduled Execution and Co-Simulation"
    );
}

#[test]
fn what_is_not_for_this_interface_type_is_refused() {
    let refused = |text: &str| try_build(text, &[description(PLANT)], &host()).unwrap_err();
    assert!(
        refused("[fmu.p]\npath = \"p\"\nstep = 0.1\n")
            .starts_with("rig.toml:3:8: step in [fmu.p] is for FMUs that make steps")
    );
    assert!(
        refused("[fmu.p]\npath = \"p\"\nmax_overruns = 1\n")
            .starts_with("rig.toml:3:16: a limit, overrun policy or figure")
    );
    assert!(
        refused("[fmu.p]\npath = \"p\"\ntolerance = 1e-3\n")
            .starts_with("rig.toml:3:13: tolerance in [fmu.p] is for FMUs that make steps")
    );
    let clock = "[fmu.m]\npath = \"m\"\n[fmu.m.clock.c]\nmax_overruns = 1\n";
    let refused = built(clock, "", "stepSize=\"0.01\"").unwrap_err();
    assert!(refused.starts_with("rig.toml:3:"), "{refused}");
}

/// FMI 1.0 for Co-Simulation has slaves whose library only hands on to a tool.
#[test]
fn an_fmu_that_needs_its_tool_to_compute_is_refused_by_name() {
    let mut coupled = motor("", "stepSize=\"0.01\"");
    let InterfaceOffer::CoSimulation(own) = &mut coupled.interfaces[0] else { panic!() };
    own.tool = Some(vecud_description::Implementation {
        entry_point: "file://model.mdl".into(),
        manual_start: false,
        mime_type: "application/x-simulink".into(),
        files: Vec::new(),
    });
    let refused = try_build(MOTOR, &[coupled], &host()).unwrap_err();
    assert!(refused.contains("hands what it is told on to a tool (application/x-simulink)"), "{refused}");
}
