//! What an FMU does wrong while it lives: each is a finding that says where, and validation goes on.

use super::{Fmu, command};
use crate::program::{PATIENCE, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::process::Stdio;
use std::time::Instant;

const SOURCE: &str = "sources/stepper.c";
/// Where the stepper decides whether something goes wrong.
const DECISION: &str = "if (stepper->fail_kind == FAIL_NOT || step->point < stepper->fail_at) return fmi3OK;";

/// A stepper in which this goes wrong from 0.3 s on.
fn failing(kind: &str) -> Fmu {
    let decision = format!("if (step->point < 0.295) return fmi3OK;\n    stepper->fail_kind = {kind};");
    Fmu::like("stepper").with(SOURCE, DECISION, &decision)
}

#[test]
fn what_goes_wrong_in_a_step_is_named_with_its_function_and_time() {
    for (kind, words) in [
        ("FAIL_CRASH", ["crashed (SIGABRT)", "fmi3DoStep at 0.3 s"]),
        ("FAIL_ERROR", ["fmi3DoStep returned fmi3Error", "at 0.3 s"]),
        ("FAIL_FATAL", ["fmi3DoStep returned fmi3Fatal", "at 0.3 s"]),
        ("FAIL_OFF_THE_POINT", ["reached another time", "at 0.31 s"]),
    ] {
        let said = failing(kind).validate(&[]).exits(3);
        assert_eq!(said.outcome("Co-Simulation"), "finding", "{kind}: {}", said.stdout);
        said.says(&["  Co-Simulation: fmu `stepper`", words[0], words[1]]);
        assert_eq!(said.outcome("binary"), "ok");
    }
}

/// FMI 2.0.4, 2.1.2, and FMI 1.0, 2.3 and 3.3: a Boolean is 0 or 1. Another value is taken for true, as in C, and told.
#[test]
fn a_boolean_that_is_neither_0_nor_1_is_a_finding_of_every_version() {
    const EARLIER: [(&str, &str, &str); 2] = [
        (
            "#define FMI2_FUNCTION_PREFIX integrator_\n#include \"fmi2Functions.h\"\n",
            include_str!("../archive/earlier/integrator2.c"),
            "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"integrator\" guid=\"{integrator}\">\
             <CoSimulation modelIdentifier=\"integrator\" canHandleVariableCommunicationStepSize=\"true\">\
             <SourceFiles><File name=\"integrator.c\"/></SourceFiles></CoSimulation><ModelVariables>\
             <ScalarVariable name=\"on\" valueReference=\"3\" causality=\"output\" variability=\"discrete\" \
             initial=\"calculated\"><Boolean/></ScalarVariable></ModelVariables>\
             <ModelStructure><Outputs><Unknown index=\"1\"/></Outputs><InitialUnknowns><Unknown index=\"1\"/>\
             </InitialUnknowns></ModelStructure></fmiModelDescription>",
        ),
        (
            "#define MODEL_IDENTIFIER integrator\n#include \"fmiFunctions.h\"\n",
            include_str!("../archive/earlier/integrator1.c"),
            "<fmiModelDescription fmiVersion=\"1.0\" modelName=\"integrator\" modelIdentifier=\"integrator\" \
             guid=\"{integrator}\" numberOfContinuousStates=\"0\" numberOfEventIndicators=\"0\"><ModelVariables>\
             <ScalarVariable name=\"on\" valueReference=\"3\" causality=\"output\" variability=\"discrete\">\
             <Boolean/></ScalarVariable></ModelVariables><Implementation><CoSimulation_StandAlone><Capabilities \
             canHandleVariableCommunicationStepSize=\"true\"/></CoSimulation_StandAlone></Implementation>\
             </fmiModelDescription>",
        ),
    ];
    for (head, source, description) in EARLIER {
        let with = |value: &str| {
            let fmu = Fmu { folder: crate::program::tempdir().unwrap(), name: "integrator".to_owned() };
            let functions = source.replace("OTHERS(Boolean, 0)", &format!("OTHERS(Boolean, {value})"));
            std::fs::create_dir_all(fmu.path().join("sources")).unwrap();
            std::fs::write(fmu.path().join("modelDescription.xml"), description).unwrap();
            let text = format!("{head}#include <string.h>\n#define GAIN 1.0\n{functions}");
            std::fs::write(fmu.path().join("sources/integrator.c"), text).unwrap();
            fmu.validate(&[])
        };
        let said = with("2").exits(3);
        said.says(&["  Co-Simulation: fmu `integrator`: gave", "Booleans neither 0 nor 1, taken for true: 2 for on"]);
        assert_eq!(with("1").outcome("Co-Simulation"), "ok");
    }
}

/// A nominal value of a continuous state is above 0, whichever version says it (FMI 3.0.2, 3.2; FMI 2.0.5, 3.2.2; FMI 1.0, 2.5).
#[test]
fn a_nominal_value_of_a_state_that_is_not_above_0_is_a_finding() {
    for (name, value, gave) in [
        ("ball", "0.0", "taken for 1: 0 (fmi3GetNominalsOfContinuousStates)"),
        ("spring_fmi2", "-1.0", "taken for 1: -1 (fmi2GetNominalsOfContinuousStates)"),
        ("ball_fmi1", "NAN", "taken for 1: NaN (fmiGetNominalContinuousStates)"),
    ] {
        let own = format!("nominals[i] = {value};");
        let said = Fmu::like(name).with("sources/equations.c", "nominals[i] = 1.0;", &own).validate(&[]).exits(3);
        said.says(&["  Model Exchange: fmu `", "nominal value", "of continuous states that are not above 0", gave]);
    }
}

/// What fails as soon as one instance lives is told once, not for each further life.
#[test]
fn a_life_that_fails_is_told_once() {
    let said = failing("FAIL_CRASH").validate(&[]).exits(3);
    for check in ["Co-Simulation, FMU state", "Co-Simulation, two instances", "Co-Simulation, threads"] {
        assert_eq!(said.outcome(check), "not tried");
    }
    said.sums_up("1 finding (");
}

#[test]
fn a_step_that_does_not_return_is_a_finding_in_bounded_time() {
    let began = Instant::now();
    let said = failing("FAIL_HANG").validate(&["--timeout", "2"]).exits(3);
    said.says(&["Co-Simulation: fmu `stepper` has been in fmi3DoStep", "at 0.3 s for 2 s", "(--timeout)"]);
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
}

/// Whoever does not want to wait for that asks for the end.
#[test]
fn ctrl_c_ends_it_whatever_the_fmu_does() {
    let fmu = failing("FAIL_HANG");
    let hangs = fmu.folder.path().join("hangs");
    let tells = format!("case FAIL_HANG:\n        fclose(fopen(\"{}\", \"w\"));", hangs.display());
    let fmu = fmu.with(SOURCE, "case FAIL_HANG:", &tells).with(
        SOURCE,
        "enum fail_kind {",
        "#include <stdio.h>\nenum fail_kind {",
    );
    // Builds it.
    fmu.validate(&["--timeout", "0.2"]).exits(3);
    for more in [&[][..], &["--json"]] {
        // The validation before may have come to it, or not.
        let _ = std::fs::remove_file(&hangs);
        let mut command = command(&fmu.path(), &[&["--timeout", "600"], more].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("it hangs", || hangs.exists());
        kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
        let asked = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(asked.elapsed() < PATIENCE, "{:?}", asked.elapsed());
        assert_eq!(output.stdout, b"");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("interrupted before everything was looked at"), "{said}");
        assert!(!said.contains("run"), "{said}");
    }
}

/// A slow FMU is no hanging one: it lives as long as it may.
#[test]
fn a_slow_life_ends_early_and_is_no_finding() {
    let slow = "if (stepper->burn_us > 0) burn(stepper->burn_us);";
    let slower = "nanosleep(&(struct timespec){0, 50000000}, 0);";
    let said = Fmu::like("stepper").with(SOURCE, slow, slower).validate(&["--timeout", "2"]).exits(0);
    said.says(&["Co-Simulation  ", "ok", "ended after 2 s (--timeout)"]);
}

#[test]
fn nan_is_a_finding() {
    let said = failing("FAIL_NAN").validate(&[]).exits(3);
    said.says(&["Co-Simulation: ", "gave NaN", "for x", "at 0.31 s"]);
}

#[test]
fn a_token_of_another_description_is_a_finding() {
    let said = Fmu::like("stepper").with("modelDescription.xml", "{vecud-stepper-1}", "{another}").validate(&[]);
    let said = said.exits(3);
    said.says(&["Co-Simulation: ", "fmi3InstantiateCoSimulation returned NULL", "instantiation token"]);
    said.says(&["this binary belongs to another modelDescription.xml"]);
    assert_eq!(said.outcome("Co-Simulation, two instances"), "not tried");
}

#[test]
fn a_library_that_cannot_be_loaded_is_a_finding() {
    let needs = "extern int of_nobody(void);\nfmi3Status model_step(void *model, struct fmu_step *step)\n{\n    if (step->size < 0) return of_nobody();";
    let said = Fmu::like("stepper").with(SOURCE, "fmi3Status model_step(void *model, struct fmu_step *step)\n{", needs);
    let said = said.validate(&[]).exits(3);
    said.says(&["of_nobody"]);
}

/// Static variables show when there are two instances.
#[test]
fn instances_that_share_something_are_a_finding() {
    let shared = "static uint64_t all;\n    all = with(all, step->point);\n    stepper->state = all;\n    stepper->time = step->reached;";
    let fmu = Fmu::like("stepper").with(SOURCE, "stepper->time = step->reached;", shared);
    let said = fmu
        .with("modelDescription.xml", " canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"", "")
        .validate(&[]);
    let said = said.exits(3);
    assert_eq!((said.outcome("Co-Simulation"), said.outcome("Co-Simulation, two instances")), ("ok", "finding"));
    said.says(&["two instances: ", ".x is ", "instances share something", "canBeInstantiatedOnlyOncePerProcess"]);
}

/// A buffer that all instances have together: one after the other they are alright. Between writing and reading it each waits for another
/// one to write, a millisecond at most.
const BUFFER: &str = "static volatile double buffer;
    static int begun;
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    buffer = step->point;
    int own = __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) == own && (now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 1000000);
    stepper->state = with(stepper->state, buffer);
    stepper->time = step->reached;";

/// It is no offence: FMI promises parallel calls only across processes.
#[test]
fn instances_that_are_in_each_others_way_are_a_hint() {
    let said = Fmu::like("stepper").with(SOURCE, "stepper->time = step->reached;", BUFFER).validate(&[]).exits(0);
    let checks = ["Co-Simulation, two instances", "Co-Simulation, threads"];
    assert_eq!(checks.map(|check| said.outcome(check)), ["ok", "ok"], "{}", said.stdout);
    said.says(&["threads: two instances at once give other values: leave parallel = false (", ".x is "]);
    assert!(said.stdout.contains("\nHints\n"), "{}", said.stdout);
    said.sums_up("no findings, 1 hint (");
    let once = "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"";
    let fmu = Fmu::like("stepper").with(SOURCE, "stepper->time = step->reached;", BUFFER);
    let fmu = fmu.with("modelDescription.xml", once, "canBeInstantiatedOnlyOncePerProcess=\"true\"");
    let said = fmu.validate(&[]).exits(0);
    said.says(&["Co-Simulation, threads", "not two at once: it can be instantiated only once per process"]);
    said.sums_up("no findings (");
}

/// In real time the thread that steps is not the one that has instantiated and initialised it.
#[test]
fn what_is_kept_for_one_thread_is_a_hint() {
    let said = Fmu::like("stepper")
        .with(SOURCE, "struct stepper {", "static _Thread_local double kept;\n\nstruct stepper {")
        .with(SOURCE, "stepper->time = start_time;", "stepper->time = start_time;\n    kept = 1.0;")
        .with(
            SOURCE,
            "stepper->time = step->reached;",
            "stepper->time = step->reached;\n    stepper->state = with(stepper->state, kept);",
        )
        .with("modelDescription.xml", " canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"", "")
        .validate(&[]);
    let said = said.exits(0);
    said.says(&[
        "threads: called from another thread than the one that has instantiated it, it gives other values",
        "x is ",
    ]);
    said.says(&["Co-Simulation, threads", "not two at once: one differs already"]);
    said.sums_up("no findings, 1 hint (");
}

/// Whoever never computes the same twice shares nothing for all that is known.
#[test]
fn chance_is_no_finding() {
    let chance = "stepper->time = step->reached;\n    struct timespec now;\n    clock_gettime(CLOCK_MONOTONIC, &now);\n    stepper->state = with(stepper->state, (double)now.tv_nsec);";
    let fmu = Fmu::like("stepper").with(SOURCE, "stepper->time = step->reached;", chance);
    let fmu = fmu.with("modelDescription.xml", " canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"", "");
    let said = fmu.validate(&[]).exits(0);
    said.says(&["two instances: ", "does not compute the same twice either"]);
    said.says(&["threads: ", "does not compute the same twice either)"]);
}

/// A second life in the same process, after all of the first were freed: the model is initialised twice for each instance.
#[test]
fn what_only_a_second_instantiation_meets_is_a_finding() {
    let twice = "static int lives;\n    if (++lives > 4) abort();\n    struct stepper *stepper = model;\n    stepper->time = start_time;";
    let fmu =
        Fmu::like("stepper").with(SOURCE, "struct stepper *stepper = model;\n    stepper->time = start_time;", twice);
    let said = fmu.validate(&[]).exits(3);
    assert_eq!((said.outcome("Co-Simulation"), said.outcome("Co-Simulation, two instances")), ("ok", "finding"));
    said.says(&["two instances: ", "SIGABRT", "when new instances are made"]);
}

/// A state that leaves something out: the life that goes on with it computes something else.
#[test]
fn a_state_that_is_not_whole_is_a_finding() {
    // The numbers that all later ones depend on lie outside of what is copied as the state.
    let outside = "static uint64_t hidden;\n    hidden = with(hidden, step->point);\n    stepper->state = hidden;\n    stepper->time = step->reached;";
    let said = Fmu::like("stepper").with(SOURCE, "stepper->time = step->reached;", outside).validate(&[]).exits(3);
    assert_eq!(said.outcome("Co-Simulation, FMU state"), "finding", "{}", said.stdout);
    said.says(&["FMU state: ", "serialised state of 0.5 s", "x is ", "at 0.51 s"]);
}

#[test]
fn a_crash_at_the_very_end_is_a_finding() {
    let crash = "\n__attribute__((destructor)) static void leave(void) { abort(); }\nfmi3Status model_step(void *model, struct fmu_step *step)\n{";
    let fmu = Fmu::like("stepper").with(SOURCE, "fmi3Status model_step(void *model, struct fmu_step *step)\n{", crash);
    fmu.validate(&[]).exits(3).says(&["Co-Simulation: ", "SIGABRT", "destructors of its library"]);
}

/// What FMU code prints goes with its failure.
#[test]
fn last_words_are_told() {
    let words = "case FAIL_CRASH: fprintf(stderr, \"assertion of nobody failed\\n\"); abort();";
    let fmu = failing("FAIL_CRASH").with(SOURCE, "case FAIL_CRASH: abort();", words);
    let fmu = fmu.with(SOURCE, "enum fail_kind {", "#include <stdio.h>\nenum fail_kind {");
    fmu.validate(&[]).exits(3).says(&["assertion of nobody failed"]);
}

/// An input clock without a priority cannot be run with Scheduled Execution; the place is that of the clock.
#[test]
fn what_keeps_it_from_being_planned_is_a_finding() {
    let fmu = Fmu::like("own_state").with("modelDescription.xml", " priority=\"1\"", "");
    fmu.validate(&[]).exits(3).says(&["Scheduled Execution: modelDescription.xml:24:", "priority"]);
}
