//! What FMUs that are written as equations refuse, and how `failing` fails: in all three versions.

use crate::equations::importer::{DISCARD, ERROR, Fmu, OK, Run, Update, messages};
use vecud::fmu::description::Abi;

/// Where an instance can be. FMI 1.0 has neither of `INIT` and `EVENT`.
const NEW: u8 = 1;
const INIT: u8 = 2;
const EVENT: u8 = 4;
const TIME: u8 = 8;
const END: u8 = 16;

/// Brings a new instance of `failing` there.
fn walk_to(fmu: &mut Fmu, mode: u8) {
    fmu.renew();
    assert_eq!(fmu.set_up(0.0), OK);
    if mode == NEW {
        return;
    }
    assert_eq!(fmu.enter_initialization(0.0), OK);
    if mode == INIT {
        return;
    }
    let mut update = Update::default();
    assert_eq!(fmu.exit_initialization(&mut update), OK);
    // Two iterations each.
    for _ in 0..if fmu.description.abi == Abi::Fmi1 { 0 } else { 2 } {
        assert_eq!(fmu.update(&mut update), OK);
    }
    if mode == EVENT {
        return;
    }
    assert_eq!(fmu.enter_continuous_time(), OK);
    if mode == END {
        assert_eq!(fmu.terminate(), OK);
    }
}

/// A call, its names in FMI 3.0, 2.0 and 1.0, and where each of them allows it. Without a name a version has no such function.
type Call = (fn(&Fmu) -> i32, [&'static str; 3], [u8; 3]);

const RUNS: u8 = EVENT | TIME;
const VALUES: u8 = INIT | EVENT | TIME | END;
const EARLY: u8 = NEW | INIT;

fn x(fmu: &Fmu) -> u32 {
    fmu.reference("x")
}

const CALLS: [Call; 21] = [
    (
        |f| f.enter_initialization(0.0),
        ["fmi3EnterInitializationMode", "fmi2EnterInitializationMode", ""],
        [NEW, NEW, 0],
    ),
    (
        |f| f.exit_initialization(&mut Update::default()),
        ["fmi3ExitInitializationMode", "fmi2ExitInitializationMode", "fmiInitialize"],
        [INIT, INIT, NEW],
    ),
    (|f| f.enter_event_mode(), ["fmi3EnterEventMode", "fmi2EnterEventMode", ""], [TIME, RUNS, 0]),
    (
        |f| f.update(&mut Update::default()),
        ["fmi3UpdateDiscreteStates", "fmi2NewDiscreteStates", "fmiEventUpdate"],
        [EVENT, EVENT, TIME],
    ),
    (
        |f| f.enter_continuous_time(),
        ["fmi3EnterContinuousTimeMode", "fmi2EnterContinuousTimeMode", ""],
        [EVENT, EVENT, 0],
    ),
    (|f| f.terminate(), ["fmi3Terminate", "fmi2Terminate", "fmiTerminate"], [RUNS, RUNS, TIME]),
    (|f| f.set_time(0.0), ["fmi3SetTime", "fmi2SetTime", "fmiSetTime"], [RUNS, RUNS, NEW | TIME]),
    (
        |f| f.set_states(&[0.5]),
        ["fmi3SetContinuousStates", "fmi2SetContinuousStates", "fmiSetContinuousStates"],
        [TIME, TIME, TIME],
    ),
    (
        |f| f.get_states(&mut [0.0]),
        ["fmi3GetContinuousStates", "fmi2GetContinuousStates", "fmiGetContinuousStates"],
        [VALUES, VALUES, TIME],
    ),
    (
        |f| f.get_derivatives(&mut [0.0]),
        ["fmi3GetContinuousStateDerivatives", "fmi2GetDerivatives", "fmiGetDerivatives"],
        [VALUES, RUNS | END, TIME],
    ),
    (
        |f| f.get_indicators(&mut [0.0]),
        ["fmi3GetEventIndicators", "fmi2GetEventIndicators", "fmiGetEventIndicators"],
        [VALUES, VALUES, TIME],
    ),
    (
        |f| f.get_nominals(&mut [0.0]),
        ["fmi3GetNominalsOfContinuousStates", "fmi2GetNominalsOfContinuousStates", "fmiGetNominalContinuousStates"],
        [VALUES, NEW | RUNS | END, TIME],
    ),
    (
        |f| f.completed().0,
        ["fmi3CompletedIntegratorStep", "fmi2CompletedIntegratorStep", "fmiCompletedIntegratorStep"],
        [TIME, TIME, TIME],
    ),
    // A state with a start value, a derivative, a continuous and a discrete input, a tunable and a fixed parameter.
    (|f| f.set_real(x(f), 0.5), ["fmi3SetFloat64", "fmi2SetReal", "fmiSetReal"], [EARLY, EARLY, NEW]),
    (|f| f.set_real(f.reference("der(x)"), 0.5), ["fmi3SetFloat64", "fmi2SetReal", "fmiSetReal"], [0, 0, 0]),
    (
        |f| f.set_real(f.reference("u"), 0.5),
        ["fmi3SetFloat64", "fmi2SetReal", "fmiSetReal"],
        [EARLY | RUNS, EARLY | RUNS, NEW | TIME],
    ),
    (
        |f| f.set_real(f.reference("d"), 0.5),
        ["fmi3SetFloat64", "fmi2SetReal", "fmiSetReal"],
        [EARLY | EVENT, EARLY | EVENT, NEW | TIME],
    ),
    (
        |f| f.set_real(f.reference("gain"), 0.5),
        ["fmi3SetFloat64", "fmi2SetReal", "fmiSetReal"],
        [EARLY | EVENT, EARLY | EVENT, NEW],
    ),
    (
        |f| f.set_integer(f.reference("call"), 2),
        ["fmi3SetInt32", "fmi2SetInteger", "fmiSetInteger"],
        [EARLY, EARLY, NEW],
    ),
    // In Initialization Mode FMI 2.0 has outputs, states and derivatives read, and before it nothing.
    (
        |f| f.get_reals(x(f), &mut [0.0]),
        ["fmi3GetFloat64", "fmi2GetReal", "fmiGetReal"],
        [NEW | VALUES, VALUES, NEW | TIME | END],
    ),
    (
        |f| f.get_integer(f.reference("call"), &mut 0),
        ["fmi3GetInt32", "fmi2GetInteger", "fmiGetInteger"],
        [NEW | VALUES, RUNS | END, NEW | TIME | END],
    ),
];

/// The instances with the place of their version in names and modes.
fn versions() -> [(Fmu, usize, &'static [u8]); 3] {
    [
        (Fmu::new("failing", 1, 1), 0, &[NEW, INIT, EVENT, TIME, END]),
        (Fmu::new("failing_fmi2", 1, 1), 1, &[NEW, INIT, EVENT, TIME, END]),
        (Fmu::new("failing_fmi1", 1, 1), 2, &[NEW, TIME, END]),
    ]
}

#[test]
fn every_call_is_allowed_where_its_version_says_and_refused_by_name_elsewhere() {
    for (mut fmu, version, modes) in versions() {
        for (call, names, allowed) in CALLS {
            let (name, allowed) = (names[version], allowed[version]);
            for mode in modes.iter().filter(|_| !name.is_empty()) {
                walk_to(&mut fmu, *mode);
                let status = call(&fmu);
                let logged = messages();
                if allowed & mode != 0 {
                    assert_eq!((status, logged.len()), (OK, 0), "{name} in {mode}: {logged:?}");
                    continue;
                }
                assert_eq!((status, logged.len()), (ERROR, 1), "{name} in {mode}: {logged:?}");
                assert!(logged[0].starts_with(&format!("{name}: ")), "{name} in {mode}: {logged:?}");
                // From then on nothing goes.
                assert_eq!(fmu.terminate(), ERROR);
                assert!(messages()[0].ends_with("this call is not allowed after an error."));
            }
        }
    }
}

/// The call that comes is answered with Error, and these words are logged.
#[track_caller]
fn refused(status: i32, words: &str) {
    let logged = messages();
    assert_eq!((status, logged.len()), (ERROR, 1), "{logged:?}");
    assert!(logged[0].contains(words), "{words:?} is not in {logged:?}");
}

#[test]
fn time_does_not_go_back_over_a_step_or_an_event_and_not_over_the_next_time_event() {
    for (mut fmu, _, _) in versions() {
        walk_to(&mut fmu, TIME);
        assert_eq!((fmu.set_time(0.2), fmu.set_time(0.1)), (OK, OK), "within a step it may");
        assert_eq!((fmu.completed().0, fmu.set_time(0.1)), (OK, OK));
        refused(fmu.set_time(0.05), "0.050000000000000003 lies before the last completed step or event, 0.1");

        walk_to(&mut fmu, TIME);
        assert_eq!(fmu.set_time(0.3), OK);
        refused(fmu.completed().0, "although a time event is due at 0.25");

        walk_to(&mut fmu, TIME);
        assert_eq!(fmu.set_time(0.3), OK);
        let status = match fmu.description.abi {
            Abi::Fmi1 => fmu.update(&mut Update::default()),
            _ => fmu.enter_event_mode(),
        };
        refused(status, "although a time event was due at 0.25");
    }
}

#[test]
fn event_mode_is_not_left_before_its_iteration_is_over() {
    for (mut fmu, _, _) in versions().into_iter().take(2) {
        walk_to(&mut fmu, TIME);
        assert_eq!(fmu.enter_event_mode(), OK);
        refused(fmu.enter_continuous_time(), "the event iteration is not over");

        walk_to(&mut fmu, TIME);
        assert_eq!((fmu.enter_event_mode(), fmu.update(&mut Update::default())), (OK, OK));
        refused(fmu.enter_continuous_time(), "the event iteration is not over");
    }
}

#[test]
fn after_the_model_has_asked_for_the_end_it_is_terminated_and_nothing_else() {
    let mut fmu = Fmu::new("inc", 0, 0);
    let mut run = Run::begin(&fmu, 0.0, |_, _| ());
    run.to(20.0, 1.0);
    drop(run);
    refused(fmu.enter_continuous_time(), "the model has asked for the end");
    fmu.renew();
    let mut run = Run::begin(&fmu, 0.0, |_, _| ());
    run.to(20.0, 1.0);
    assert_eq!(fmu.terminate(), OK);
}

#[test]
fn wrong_numbers_of_values_and_unknown_variables_are_refused() {
    for (mut fmu, _, _) in versions() {
        walk_to(&mut fmu, TIME);
        refused(fmu.set_states(&[0.0, 0.0]), "of 2 values, and there are 1");
        walk_to(&mut fmu, TIME);
        refused(fmu.get_derivatives(&mut [0.0; 3]), "of 3 values, and there are 1");
        walk_to(&mut fmu, TIME);
        refused(fmu.get_indicators(&mut []), "of 0 values, and there are 1");
        walk_to(&mut fmu, TIME);
        refused(fmu.get_reals(4711, &mut [0.0]), "there is no variable 4711 of this type");
        walk_to(&mut fmu, TIME);
        let real = x(&fmu);
        refused(fmu.set_integer(real, 1), "there is no variable 1 of this type");
    }
}

#[test]
fn in_fmi_2_the_experiment_is_set_up_first() {
    let fmu = Fmu::new("spring_fmi2", 2, 0);
    refused(fmu.enter_initialization(0.0), "fmi2EnterInitializationMode: fmi2SetupExperiment was not called");
}

#[test]
fn a_saved_state_is_what_it_was_also_after_an_error() {
    for name in ["spring", "spring_fmi2"] {
        let fmu = Fmu::new(name, 2, 0);
        let mut run = Run::begin(&fmu, 0.0, |_, _| ());
        run.to(0.5, 1e-2);
        let (state, time, x) = (fmu.save(), run.time, run.x.clone());
        run.to(1.0, 1e-2);
        let right = run.x.clone();
        assert_eq!(fmu.set_time(0.2), ERROR);
        assert_eq!(messages().len(), 1);
        fmu.restore_and_forget(state);
        (run.time, run.x) = (time, x);
        run.to(1.0, 1e-2);
        assert_eq!(run.x, right);
    }
}

/// A call, its name in FMI 3.0, 2.0 and 1.0, and the mode it is made in there.
type Lived = (fn(&Fmu) -> i32, [&'static str; 3], [i32; 3]);

/// What an importer does with `failing`, in order: calls in their modes, by the numbers of `enum mode` of equations.h.
const LIFE: [Lived; 20] = [
    (|f| f.set_debug_logging(), ["fmi3SetDebugLogging", "fmi2SetDebugLogging", "fmiSetDebugLogging"], [1, 1, 1]),
    (|f| f.set_real(f.reference("u"), 0.0), ["fmi3SetFloat64", "fmi2SetReal", "fmiSetReal"], [1, 1, 1]),
    (|f| f.enter_initialization(0.0), ["fmi3EnterInitializationMode", "fmi2EnterInitializationMode", ""], [1, 1, 1]),
    (
        |f| f.exit_initialization(&mut Update::default()),
        ["fmi3ExitInitializationMode", "fmi2ExitInitializationMode", "fmiInitialize"],
        [4, 4, 1],
    ),
    (
        |f| f.update(&mut Update::default()),
        ["fmi3UpdateDiscreteStates", "fmi2NewDiscreteStates", "fmiEventUpdate"],
        [8, 8, 16],
    ),
    (
        |f| f.update(&mut Update::default()),
        ["fmi3UpdateDiscreteStates", "fmi2NewDiscreteStates", "fmiEventUpdate"],
        [8, 8, 16],
    ),
    (|f| f.enter_continuous_time(), ["fmi3EnterContinuousTimeMode", "fmi2EnterContinuousTimeMode", ""], [8, 8, 8]),
    (
        |f| f.get_nominals(&mut [0.0]),
        ["fmi3GetNominalsOfContinuousStates", "fmi2GetNominalsOfContinuousStates", "fmiGetNominalContinuousStates"],
        [16, 16, 16],
    ),
    (
        |f| f.get_states(&mut [0.0]),
        ["fmi3GetContinuousStates", "fmi2GetContinuousStates", "fmiGetContinuousStates"],
        [16, 16, 16],
    ),
    (|f| f.set_time(0.1), ["fmi3SetTime", "fmi2SetTime", "fmiSetTime"], [16, 16, 16]),
    (
        |f| f.set_states(&[0.1]),
        ["fmi3SetContinuousStates", "fmi2SetContinuousStates", "fmiSetContinuousStates"],
        [16, 16, 16],
    ),
    (
        |f| f.get_derivatives(&mut [0.0]),
        ["fmi3GetContinuousStateDerivatives", "fmi2GetDerivatives", "fmiGetDerivatives"],
        [16, 16, 16],
    ),
    (
        |f| f.get_indicators(&mut [0.0]),
        ["fmi3GetEventIndicators", "fmi2GetEventIndicators", "fmiGetEventIndicators"],
        [16, 16, 16],
    ),
    (|f| f.number_of_states().0, ["fmi3GetNumberOfContinuousStates", "", ""], [16, 16, 16]),
    (|f| f.number_of_indicators().0, ["fmi3GetNumberOfEventIndicators", "", ""], [16, 16, 16]),
    (
        |f| f.directional(&[f.reference("der(x)")], &[f.reference("u")], &[1.0], &mut [0.0]),
        ["fmi3GetDirectionalDerivative", "fmi2GetDirectionalDerivative", ""],
        [16, 16, 16],
    ),
    (|f| f.get_reals(x(f), &mut [0.0]), ["fmi3GetFloat64", "fmi2GetReal", "fmiGetReal"], [16, 16, 16]),
    (
        |f| f.completed().0,
        ["fmi3CompletedIntegratorStep", "fmi2CompletedIntegratorStep", "fmiCompletedIntegratorStep"],
        [16, 16, 16],
    ),
    (|f| f.enter_event_mode(), ["fmi3EnterEventMode", "fmi2EnterEventMode", ""], [16, 16, 16]),
    (|f| f.terminate(), ["fmi3Terminate", "fmi2Terminate", "fmiTerminate"], [8, 8, 16]),
];

/// Sets the parameters of a new instance.
fn shall_fail(fmu: &mut Fmu, function: &str, mode: i32, call: i32, status: i32) {
    fmu.renew();
    assert_eq!(fmu.set_up(0.0), OK);
    assert_eq!(fmu.set_integer(fmu.reference("mode"), mode), OK);
    assert_eq!(fmu.set_integer(fmu.reference("call"), call), OK);
    assert_eq!(fmu.set_integer(fmu.reference("status"), status), OK);
    assert_eq!(fmu.set_text(fmu.reference("function"), function), OK);
}

/// Each call of a life, with each status: those before are fine, it fails, and then it is as the status says.
#[test]
fn the_failing_one_answers_any_call_with_any_status() {
    for (mut fmu, version, _) in versions() {
        for (place, (_, names, modes)) in
            LIFE.iter().enumerate().filter(|(_, (_, names, _))| !names[version].is_empty())
        {
            let (function, mode) = (names[version], modes[version]);
            let earlier = LIFE[..place].iter().filter(|(_, names, _)| names[version] == function);
            let number = 1 + earlier.filter(|(_, _, modes)| modes[version] == mode).count() as i32;
            for status in 1..=4 {
                shall_fail(&mut fmu, function, mode, number, status);
                for (call, names, _) in &LIFE[..place] {
                    assert_eq!(call(&fmu), OK, "{} before {function}: {:?}", names[version], messages());
                }
                let what = format!("{function} with {status}");
                assert_eq!(LIFE[place].0(&fmu), status, "{what}");
                let logged = messages();
                assert!(
                    logged.len() == 1 && logged[0].starts_with(&format!("{function}: as the parameters say")),
                    "{logged:?}"
                );
                match status {
                    // Carried out.
                    1 => (),
                    // Not carried out, and once only.
                    DISCARD => assert_eq!(LIFE[place].0(&fmu), OK, "{what}: {:?}", messages()),
                    ERROR => refused(fmu.completed().0, "after an error"),
                    _ => refused(fmu.completed().0, "after a fatal error"),
                }
                if status < ERROR {
                    for (call, names, _) in &LIFE[place + 1..] {
                        assert_eq!(call(&fmu), OK, "{} after {what}: {:?}", names[version], messages());
                    }
                } else if version < 2 && status == ERROR {
                    assert_eq!(fmu.reset(), OK);
                    assert_eq!((fmu.set_up(0.0), fmu.enter_initialization(0.0)), (OK, OK));
                } else if version < 2 {
                    refused(fmu.reset(), "after a fatal error");
                }
            }
        }
    }
}

/// Several calls in a row are discarded: an importer with shorter steps gets by.
#[test]
fn the_failing_one_discards_as_often_as_it_is_told() {
    for (function, mut fmu) in [
        ("fmi3GetContinuousStateDerivatives", Fmu::new("failing", 1, 1)),
        ("fmiGetDerivatives", Fmu::new("failing_fmi1", 1, 1)),
    ] {
        shall_fail(&mut fmu, function, 16, 10, DISCARD);
        assert_eq!(fmu.set_integer(fmu.reference("times"), 3), OK);
        let mut run = Run::begin(&fmu, 0.0, |_, _| ());
        run.to(2.5, 0.1);
        assert_eq!((run.halved, fmu.integer("falls")), (3, 2));
        assert_eq!(messages().len(), 3);
    }
}
