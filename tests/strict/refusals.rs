//! What the strict FMUs refuse: each case is a way that is allowed, and one call after it that is not.

use crate::fmu::compile;
use crate::program::tempdir;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// Short words for calls of FMI 3.0, with an instance `i`.
const FMI_3: &str = r#"
#include "fmi3.c"
static void logged(fmi3InstanceEnvironment e, fmi3Status s, fmi3String c, fmi3String m) {}
#define ME fmi3InstantiateModelExchange("i", "{strict}", NULL, false, false, NULL, logged)
#define CS fmi3InstantiateCoSimulation("i", "{strict}", NULL, false, false, true, true, NULL, 0, NULL, logged, NULL)
static int init(void *i) { return fmi3EnterInitializationMode(i, false, 0.0, 0.0, true, 1.0); }
static int event(void *i) { return init(i) | fmi3ExitInitializationMode(i); }
static int update(void *i) { bool b; double t; return fmi3UpdateDiscreteStates(i, &b, &b, &b, &b, &b, &t); }
static int run(void *i) { return event(i) | update(i) | fmi3EnterContinuousTimeMode(i); }
static int stepping(void *i) { return event(i) | update(i) | fmi3EnterStepMode(i); }
static int set(void *i, unsigned vr, double x) { return fmi3SetFloat64(i, &vr, 1, &x, 1); }
static int demand(void *i, int x) { unsigned vr = DEMAND; return fmi3SetInt32(i, &vr, 1, &x, 1) | set(i, WHEN, 0.0); }
static int get(void *i, unsigned vr) { double x; return fmi3GetFloat64(i, &vr, 1, &x, 1); }
static int states(void *i) { double x = 0.0; return fmi3SetContinuousStates(i, &x, 1); }
static int complete(void *i) { bool b; return fmi3CompletedIntegratorStep(i, true, &b, &b); }
static int step(void *i, double t, double h) { bool b; double r; return fmi3DoStep(i, t, h, true, &b, &b, &b, &r); }
"#;

const FMI_2: &str = r#"
#include "fmi2.c"
static void logged(void *e, fmi2String n, fmi2Status s, fmi2String c, fmi2String m, ...) {}
static const fmi2CallbackFunctions functions = {logged, calloc, free, NULL, NULL};
#define ME fmi2Instantiate("i", fmi2ModelExchange, "{strict}", NULL, &functions, 0, 0)
#define CS fmi2Instantiate("i", fmi2CoSimulation, "{strict}", NULL, &functions, 0, 0)
static int init(void *i) { return fmi2SetupExperiment(i, 0, 0.0, 0.0, 1, 1.0) | fmi2EnterInitializationMode(i); }
static int event(void *i) { return init(i) | fmi2ExitInitializationMode(i); }
static int update(void *i) { fmi2EventInfo info; return fmi2NewDiscreteStates(i, &info); }
static int run(void *i) { return event(i) | update(i) | fmi2EnterContinuousTimeMode(i); }
static int set(void *i, unsigned vr, double x) { return fmi2SetReal(i, &vr, 1, &x); }
static int demand(void *i, int x) { unsigned vr = DEMAND; return fmi2SetInteger(i, &vr, 1, &x) | set(i, WHEN, 0.05); }
static int get(void *i, unsigned vr) { double x; return fmi2GetReal(i, &vr, 1, &x); }
static int states(void *i) { double x = 0.0; return fmi2SetContinuousStates(i, &x, 1); }
static int complete(void *i) { int b; return fmi2CompletedIntegratorStep(i, 1, &b, &b); }
static int step(void *i, double t, double h) { return fmi2DoStep(i, t, h, 1); }
"#;

const FMI_1: &str = r#"
#include "fmi1.c"
static void logged(void *e, fmiString n, fmiStatus s, fmiString c, fmiString m, ...) {}
static const fmiCallbackFunctions functions = {logged, calloc, free};
#define ME fmiInstantiateModel("i", "{strict}", functions, 0)
static fmiEventInfo info;
static int run(void *i) { return fmiSetTime(i, 0.0) | fmiInitialize(i, 0, 0.0, &info); }
static int set(void *i, unsigned vr, double x) { return fmiSetReal(i, &vr, 1, &x); }
static int states(void *i) { double x = 0.0; return fmiSetContinuousStates(i, &x, 1); }
static int complete(void *i) { char b; return fmiCompletedIntegratorStep(i, &b); }
"#;

const FMI_1_STEPS: &str = r#"
#define CO_SIMULATION
#include "fmi1.c"
static void logged(void *e, fmiString n, fmiStatus s, fmiString c, fmiString m, ...) {}
static const fmiCallbackFunctions functions = {logged, calloc, free, NULL};
#define CS fmiInstantiateSlave("i", "{strict}", NULL, NULL, 0.0, 0, 0, functions, 0)
static int stepping(void *i) { return fmiInitializeSlave(i, 0.0, 1, 1.0); }
static int set(void *i, unsigned vr, double x) { return fmiSetReal(i, &vr, 1, &x); }
static int demand(void *i, int x) { unsigned vr = DEMAND; return fmiSetInteger(i, &vr, 1, &x) | set(i, WHEN, 0.05); }
static int get(void *i, unsigned vr) { double x; return fmiGetReal(i, &vr, 1, &x); }
static int step(void *i, double t, double h) { return fmiDoStep(i, t, h, 1); }
"#;

/// An instance, an allowed way, what it returns, and the call that is refused after it.
type Case = (&'static str, &'static str, i32, &'static str);

const OF_3: [Case; 26] = [
    ("ME", "0", 0, "set(i, Y, 1.0)"),
    ("ME", "0", 0, "fmi3ExitInitializationMode(i)"),
    ("ME", "init(i)", 0, "set(i, DX, 1.0)"),
    ("ME", "event(i)", 0, "set(i, RISE, 1.0)"),
    ("ME", "event(i)", 0, "set(i, X, 1.0)"),
    ("ME", "event(i)", 0, "states(i)"),
    ("ME", "event(i)", 0, "fmi3EnterContinuousTimeMode(i)"),
    ("ME", "set(i, X, 0.2) | set(i, RISE, 0.1) | event(i) | update(i)", 0, "fmi3EnterContinuousTimeMode(i)"),
    (
        "ME",
        "set(i, X, 0.2) | set(i, RISE, 0.1) | event(i) | update(i) | update(i) | fmi3EnterContinuousTimeMode(i)",
        0,
        "states(i)",
    ),
    ("ME", "demand(i, TERMINATE) | event(i) | update(i)", 0, "fmi3EnterContinuousTimeMode(i)"),
    ("ME", "run(i)", 0, "update(i)"),
    ("ME", "run(i)", 0, "set(i, D, 1.0)"),
    ("ME", "run(i)", 0, "set(i, GAIN, 1.0)"),
    ("ME", "run(i)", 0, "fmi3SetTime(i, 1.1)"),
    ("ME", "run(i) | fmi3SetTime(i, 0.5)", 0, "fmi3EnterEventMode(i)"),
    (
        "ME",
        "run(i) | fmi3SetTime(i, 0.5) | complete(i) | fmi3EnterEventMode(i) | update(i) | fmi3EnterContinuousTimeMode(i)",
        0,
        "fmi3SetTime(i, 0.4)",
    ),
    ("ME", "set(i, EVERY, 0.1) | run(i) | fmi3SetTime(i, 0.2)", 0, "complete(i)"),
    ("ME", "set(i, EVERY, 0.1) | run(i) | fmi3SetTime(i, 0.1) | complete(i)", 0, "fmi3SetTime(i, 0.2)"),
    ("ME", "run(i) | fmi3Terminate(i)", 0, "set(i, U, 1.0)"),
    ("CS", "stepping(i)", 0, "step(i, 0.1, 0.1)"),
    ("CS", "stepping(i)", 0, "step(i, 0.0, 0.0)"),
    ("CS", "stepping(i)", 0, "step(i, 0.0, 1.1)"),
    ("CS", "stepping(i)", 0, "set(i, D, 1.0)"),
    ("CS", "stepping(i) | set(i, U, 1.0)", 0, "get(i, Y)"),
    ("CS", "set(i, EVERY, 0.1) | stepping(i) | step(i, 0.0, 0.1)", 0, "step(i, 0.1, 0.1)"),
    ("CS", "set(i, RISE, 0.1) | set(i, U, 1.0) | stepping(i) | step(i, 0.0, 0.2)", 0, "step(i, 0.1, 0.1)"),
];

const OF_2: [Case; 11] = [
    ("ME", "0", 0, "get(i, Y)"),
    ("ME", "0", 0, "set(i, U, 1.0)"),
    ("ME", "0", 0, "fmi2EnterInitializationMode(i)"),
    ("ME", "init(i) | get(i, Y) | get(i, DX)", 0, "get(i, AUX)"),
    ("ME", "event(i)", 0, "fmi2SetTime(i, 0.0)"),
    ("ME", "event(i)", 0, "fmi2EnterContinuousTimeMode(i)"),
    ("ME", "run(i)", 0, "set(i, D, 1.0)"),
    (
        "ME",
        "run(i) | states(i) | fmi2SetTime(i, 0.5) | complete(i) | fmi2SetTime(i, 0.6) | complete(i)",
        0,
        "fmi2SetTime(i, 0.4)",
    ),
    ("CS", "event(i) | set(i, U, 1.0)", 0, "get(i, Y)"),
    ("CS", "demand(i, EARLY) | event(i) | step(i, 0.0, 0.1)", 2, "step(i, 0.05, 0.05)"),
    ("CS", "demand(i, TERMINATE) | event(i) | step(i, 0.0, 0.1)", 2, "step(i, 0.05, 0.05)"),
];

const OF_1: [Case; 5] = [
    ("ME", "0", 0, "fmiInitialize(i, 0, 0.0, &info)"),
    ("ME", "run(i)", 0, "set(i, RISE, 1.0)"),
    ("ME", "run(i) | states(i) | fmiSetTime(i, 0.5)", 0, "fmiEventUpdate(i, 0, &info)"),
    ("ME", "run(i) | fmiSetTime(i, 0.5) | complete(i) | fmiEventUpdate(i, 0, &info)", 0, "fmiSetTime(i, 0.4)"),
    ("ME", "run(i) | fmiTerminate(i)", 0, "states(i)"),
];

const OF_1_STEPS: [Case; 4] = [
    ("CS", "0", 0, "step(i, 0.0, 0.1)"),
    ("CS", "stepping(i)", 0, "set(i, RISE, 1.0)"),
    ("CS", "stepping(i) | set(i, U, 1.0)", 0, "get(i, Y)"),
    ("CS", "demand(i, EARLY) | stepping(i) | step(i, 0.0, 0.1)", 2, "step(i, 0.05, 0.05)"),
];

#[test]
fn each_call_out_of_place_is_refused_and_the_way_to_it_is_not() {
    let all = [(FMI_3, &OF_3[..]), (FMI_2, &OF_2[..]), (FMI_1, &OF_1[..]), (FMI_1_STEPS, &OF_1_STEPS[..])];
    for (words, cases) in all {
        let folder = tempdir().unwrap();
        let mut program = format!("{words}\nint main(void)\n{{\n");
        for (instance, way, _, last) in cases {
            writeln!(program, "{{ void *i = {instance}; int way = {way}; printf(\"%d %d\\n\", way, {last}); }}")
                .unwrap();
        }
        let source = folder.path().join("driver.c");
        fs::write(&source, program + "return 0;\n}\n").unwrap();
        let driver = folder.path().join("driver");
        compile(&source, &driver, &["-Wno-unused"]);
        let output = Command::new(&driver).env_remove("STRICT_RESULTS").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let wanted: Vec<String> = cases.iter().map(|(_, _, way, _)| format!("{way} 3")).collect();
        for ((case, own), wanted) in cases.iter().zip(text.lines()).zip(&wanted) {
            assert_eq!(own, wanted, "{case:?}");
        }
        assert_eq!(text.lines().count(), cases.len());
    }
}
