//! The base of these FMUs refuses what it is said to refuse: without that, runs that pass would prove nothing. Each row is
//! a call that no importer may make in that state, behind calls that it may make.

use crate::legal::case::Legal;
use std::fmt::Write as _;

/// A variable of each sort. Clocks: 1 constant, 2 fixed with interval, 3 fixed without, 4 tunable with, 5 changing,
/// 6 countdown, 7 output, 8 triggered, 9 tunable without; 10 is as 1 and less urgent.
const VARIABLES: &str = "
    <Clock name='constant' valueReference='1' causality='input' priority='1' intervalVariability='constant' intervalDecimal='1'/>
    <Clock name='fixed' valueReference='2' causality='input' priority='2' intervalVariability='fixed' intervalDecimal='1'/>
    <Clock name='asked' valueReference='3' causality='input' priority='3' intervalVariability='fixed'/>
    <Clock name='tunable' valueReference='4' causality='input' priority='4' intervalVariability='tunable' intervalDecimal='1'/>
    <Clock name='changing' valueReference='5' causality='input' priority='5' intervalVariability='changing'/>
    <Clock name='countdown' valueReference='6' causality='input' priority='6' intervalVariability='countdown'/>
    <Clock name='out' valueReference='7' causality='output' intervalVariability='triggered' clocks='1'/>
    <Clock name='triggered' valueReference='8' causality='input' priority='8' intervalVariability='triggered'/>
    <Clock name='tuned' valueReference='9' causality='input' priority='9' intervalVariability='tunable'/>
    <Clock name='late' valueReference='10' causality='input' priority='10' intervalVariability='constant' intervalDecimal='1'/>
    <Float64 name='u' valueReference='20' causality='input' variability='discrete' start='0'/>
    <Float64 name='clocked_u' valueReference='21' causality='input' variability='discrete' clocks='1' start='0'/>
    <Float64 name='y' valueReference='22' causality='output' variability='discrete'/>
    <Float64 name='clocked_y' valueReference='23' causality='output' variability='discrete' clocks='1'/>
    <Float64 name='out_y' valueReference='24' causality='output' variability='discrete' clocks='7'/>
    <Float64 name='fixed_p' valueReference='25' causality='parameter' variability='fixed' start='0'/>
    <Float64 name='tunable_p' valueReference='26' causality='parameter' variability='tunable' start='0'/>
    <Float64 name='c' valueReference='27' causality='local' variability='constant' start='0'/>
    <UInt64 name='n' valueReference='28' causality='structuralParameter' variability='fixed' start='2'/>
    <UInt64 name='tunable_n' valueReference='29' causality='structuralParameter' variability='tunable' start='2'/>
    <Float64 name='array' valueReference='30' causality='input' variability='discrete' start='1 2'><Dimension valueReference='28'/></Float64>
    <Float64 name='guess' valueReference='31' causality='local' variability='discrete' initial='approx' start='0'/>";

/// What the rows say, and the way to the state in which they begin.
const DRIVER: &str = r#"
#define VR(...) ((const fmi3ValueReference[]){__VA_ARGS__}), sizeof((fmi3ValueReference[]){__VA_ARGS__}) / sizeof(fmi3ValueReference)
#define SET(vr) fmi3SetFloat64(i, VR(vr), (const double[]){1}, 1)
#define GET(vr) fmi3GetFloat64(i, VR(vr), (double[1]){0}, 1)
#define SET_N(vr) fmi3SetUInt64(i, VR(vr), (const uint64_t[]){1}, 1)
#define GET_INTERVAL(vr) fmi3GetIntervalDecimal(i, VR(vr), (double[1]){0}, (fmi3IntervalQualifier[1]){0})
#define GET_FRACTION(vr) fmi3GetIntervalFraction(i, VR(vr), (uint64_t[1]){0}, (uint64_t[1]){0}, (fmi3IntervalQualifier[1]){0})
#define SET_INTERVAL(vr) fmi3SetIntervalDecimal(i, VR(vr), (const double[]){1})
#define GET_SHIFT(vr) fmi3GetShiftDecimal(i, VR(vr), (double[1]){0})
#define SET_SHIFT(vr) fmi3SetShiftDecimal(i, VR(vr), (const double[]){0})
#define GET_CLOCK(vr) fmi3GetClock(i, VR(vr), (bool[1]){0})
#define ACTIVATE(vr, time) fmi3ActivateModelPartition(i, vr, time)
#define BEGIN() fmi3EnterInitializationMode(i, false, 0, 0, true, 10)
#define TELL() (SET_INTERVAL(2) | SET_INTERVAL(4) | GET_INTERVAL(3) | GET_SHIFT(3) | GET_INTERVAL(5) | GET_INTERVAL(6) | GET_INTERVAL(9) | GET_SHIFT(9))
#define DISCARDED() (ACTIVATE(1, 7) == fmi3Discard ? fmi3OK : fmi3Error)
#define ENDED() (ACTIVATE(1, 8) == fmi3Error ? fmi3OK : fmi3Error)
#define DEAD() (ACTIVATE(1, 9) == fmi3Fatal ? fmi3OK : fmi3Error)
#define READY() (BEGIN() | TELL() | fmi3ExitInitializationMode(i))

static fmi3Instance i;
static fmi3Status (*in_update)(void);
static fmi3Status of_update;
static char said[600];
static void log_message(fmi3InstanceEnvironment e, fmi3Status s, fmi3String c, fmi3String m) { snprintf(said, sizeof said, "%s", m); }
static void clock_update(fmi3InstanceEnvironment e) { if (in_update) of_update = in_update(); }
static void plain(void) {}
static fmi3Instance make(const char *name, const char *word, const char *path)
{
    return fmi3InstantiateScheduledExecution(name, word, path, false, true, NULL, log_message, clock_update, plain, plain);
}
/* An activation whose callback makes these calls. */
static fmi3Status inside(fmi3Status (*calls)(void))
{
    in_update = calls;
    fmi3Status status = ACTIVATE(1, 1);
    in_update = NULL;
    return status | of_update;
}
"#;

/// What an importer may do first, what it may not do then, and why the base says so.
const ROWS: &[(&str, &str, &str)] = &[
    // 2.3.1
    ("", "fmi3SetDebugLogging(i, true, 0, (const fmi3String[]){\"x\"})", "no categories, but a pointer to some"),
    (
        "",
        "fmi3SetDebugLogging(i, true, 1, (const fmi3String[]){\"unknown\"})",
        "a category that the description does not have",
    ),
    ("fmi3SetDebugLogging(i, true, 0, NULL)", "fmi3SetDebugLogging(i, true, 1, NULL)", "NULL"),
    // 2.3.2: Instantiated
    ("SET(20) | SET(25) | SET(26) | SET(31)", "SET(21)", "a clocked variable before Initialization Mode"),
    ("", "SET(22)", "initial is neither exact nor approx"),
    ("", "SET(27)", "a constant"),
    ("", "SET_N(28)", "a structural parameter outside of Configuration Mode"),
    ("GET(20) | GET(22)", "GET(23)", "a clocked variable before Initialization Mode"),
    ("", "GET_INTERVAL(3)", "not in this state"),
    ("", "fmi3ExitInitializationMode(i)", "from another state than Initialization Mode"),
    ("", "fmi3Terminate(i)", "only what is initialized can be terminated"),
    ("", "ACTIVATE(1, 0)", "only in Clock Activation Mode"),
    ("", "fmi3EnterInitializationMode(i, false, 0, 1, true, 0)", "a stop time before the start time"),
    // 2.2.7.2
    ("", "fmi3SetFloat64(i, VR(30), (const double[]){1, 2, 3}, 3)", "nValues is not the number of elements"),
    ("", "fmi3SetFloat64(i, VR(28), (const double[]){1}, 1)", "a reference of another type, or of nothing"),
    ("", "fmi3SetFloat64(i, VR(999), (const double[]){1}, 1)", "a reference of another type, or of nothing"),
    ("", "fmi3SetFloat64(i, VR(20), NULL, 1)", "NULL"),
    // 2.3.6: Configuration Mode
    (
        "fmi3EnterConfigurationMode(i) | SET_N(28) | SET_N(29) | fmi3ExitConfigurationMode(i)",
        "fmi3ExitConfigurationMode(i)",
        "without having entered it",
    ),
    ("fmi3EnterConfigurationMode(i)", "SET(25)", "no structural parameter"),
    ("fmi3EnterConfigurationMode(i)", "GET(20)", "no variable is read in Configuration Mode"),
    ("fmi3EnterConfigurationMode(i)", "BEGIN()", "from another state than Instantiated"),
    // 2.3.3: Initialization Mode
    ("BEGIN() | SET(20) | SET(21) | SET(25) | GET(22) | GET(23) | GET(24)", "SET(31)", "initial is not exact"),
    ("BEGIN()", "BEGIN()", "from another state than Instantiated"),
    ("BEGIN()", "SET_N(29)", "a structural parameter outside of Configuration Mode"),
    (
        "BEGIN() | GET_INTERVAL(1) | GET_SHIFT(1) | SET_SHIFT(2)",
        "GET_INTERVAL(2)",
        "set where intervalDecimal is defined",
    ),
    ("BEGIN()", "GET_SHIFT(4)", "the description has interval and shift"),
    ("BEGIN()", "SET_INTERVAL(3)", "the FMU is asked where intervalDecimal is not defined"),
    ("BEGIN()", "SET_INTERVAL(1)", "only of fixed and tunable clocks"),
    ("BEGIN()", "SET_SHIFT(9)", "the FMU is asked where intervalDecimal is not defined"),
    ("BEGIN()", "SET_INTERVAL(5)", "only of fixed and tunable clocks"),
    ("BEGIN()", "GET_SHIFT(6)", "aperiodic and triggered clocks have no shift"),
    ("BEGIN()", "GET_INTERVAL(7)", "a triggered clock has no interval"),
    ("BEGIN()", "GET_INTERVAL(8)", "a triggered clock has no interval"),
    ("BEGIN()", "GET_FRACTION(5)", "supportsFraction is false"),
    ("BEGIN()", "GET_CLOCK(7)", "outside of Clock Update Mode"),
    ("BEGIN()", "ACTIVATE(1, 0)", "only in Clock Activation Mode"),
    ("BEGIN()", "fmi3ExitInitializationMode(i)", "fmi3SetInterval* of a fixed or tunable clock is missing"),
    ("BEGIN() | TELL()", "fmi3Terminate(i)", "only what is initialized can be terminated"),
    // 5.2.1: Clock Activation Mode
    ("READY() | ACTIVATE(1, 0) | ACTIVATE(1, 2)", "ACTIVATE(1, 2)", "times of a clock's activations must increase"),
    ("READY() | ACTIVATE(1, 2) | ACTIVATE(2, 0.5)", "ACTIVATE(1, 0.5)", "times of a clock's activations must increase"),
    ("READY() | ACTIVATE(1, 10)", "ACTIVATE(1, 10.5)", "past the stop time"),
    ("READY()", "ACTIVATE(7, 0)", "of what is no input clock"),
    ("READY()", "ACTIVATE(20, 0)", "of what is no input clock"),
    (
        "READY() | SET(20) | SET(26) | SET(21) | ACTIVATE(1, 0) | GET(22) | GET(23)",
        "SET(25)",
        "neither an input nor a tunable parameter",
    ),
    ("READY() | SET(21)", "ACTIVATE(10, 0)", "after a value was set that belongs to another clock's partition"),
    ("READY() | ACTIVATE(1, 0) | SET(20)", "GET(22)", "read after a set without an activation between"),
    ("READY()", "GET(22)", "read before a partition was computed"),
    ("READY() | ACTIVATE(10, 0)", "GET(23)", "a clocked variable of which no clock is active"),
    (
        "READY() | ACTIVATE(1, 0) | GET(24) | ACTIVATE(1, 2)",
        "GET(24)",
        "a clocked variable of which no clock is active",
    ),
    ("READY()", "GET_CLOCK(7)", "outside of Clock Update Mode"),
    ("READY()", "fmi3SetClock(i, VR(1), (const bool[]){true})", "never in Scheduled Execution"),
    ("READY() | ACTIVATE(5, 0) | GET_INTERVAL(5)", "GET_INTERVAL(5)", "if and only if this clock ticked"),
    (
        "READY() | ACTIVATE(5, 0)",
        "ACTIVATE(5, 1)",
        "of a changing clock whose interval nobody has asked for after its tick",
    ),
    ("READY()", "GET_INTERVAL(6)", "a countdown outside of Clock Update Mode"),
    ("READY() | SET_INTERVAL(4) | SET(26) | GET_INTERVAL(9)", "GET_INTERVAL(3)", "only in Initialization Mode"),
    ("READY()", "GET_INTERVAL(9)", "no tunable parameter was changed"),
    ("READY()", "SET_INTERVAL(2)", "not in this state"),
    ("READY()", "SET_SHIFT(4)", "not in this state"),
    ("READY() | fmi3EnterConfigurationMode(i) | SET_N(29)", "SET_N(28)", "no tunable structural parameter"),
    (
        "READY()",
        "fmi3UpdateDiscreteStates(i, NULL, NULL, NULL, NULL, NULL, NULL)",
        "not allowed in Scheduled Execution, or not offered",
    ),
    ("READY()", "fmi3EnterEventMode(i)", "not allowed in Scheduled Execution, or not offered"),
    ("READY()", "fmi3GetFMUState(i, &(fmi3FMUState){NULL})", "the flag is not true"),
    // 5.2.2: Clock Update Mode; the rows' calls are those of the callback
    ("READY() | inside(all_is_read)", "ACTIVATE(1, 1)", "times of a clock's activations must increase"),
    ("READY()", "inside(nothing_is_read)", "returned without fmi3GetClock of a clock that had ticked"),
    ("READY()", "inside(a_value_is_set)", "not allowed in Clock Update Mode"),
    ("READY()", "inside(a_partition_is_activated)", "not allowed in Clock Update Mode"),
    ("READY()", "inside(a_changing_clock_is_asked)", "only countdown clocks in Clock Update Mode"),
    ("READY()", "inside(an_input_clock_is_read)", "of what is no output clock"),
    ("READY()", "inside(it_is_terminated)", "not allowed in Clock Update Mode"),
    // 2.3.8: Terminated
    ("READY() | fmi3Terminate(i) | GET(22)", "SET(20)", "nothing is set in Terminated"),
    ("READY() | fmi3Terminate(i)", "ACTIVATE(1, 0)", "only in Clock Activation Mode"),
    ("READY() | fmi3Terminate(i)", "fmi3Terminate(i)", "only what is initialized can be terminated"),
    // 2.3.1: fmi3Reset leads back to Instantiated from everywhere, where nothing is as it was
    ("READY() | ACTIVATE(1, 0) | fmi3Reset(i)", "GET(23)", "a clocked variable before Initialization Mode"),
    ("BEGIN() | fmi3Reset(i) | READY() | fmi3Reset(i)", "ACTIVATE(1, 0)", "only in Clock Activation Mode"),
    (
        "READY() | ACTIVATE(1, 2) | fmi3Terminate(i) | fmi3Reset(i) | READY() | ACTIVATE(1, 0) | fmi3Reset(i) | READY()",
        "GET(22)",
        "read before a partition was computed",
    ),
    ("READY()", "inside(it_is_reset)", "while a partition is active or preempted"),
    // 2.2.4, 2.3.1, 5.2: after Discard and Error it is Terminated, after Fatal it is nothing
    ("READY() | DISCARDED() | GET(22)", "ACTIVATE(10, 7)", "only in Clock Activation Mode"),
    ("READY() | ENDED()", "ACTIVATE(10, 8)", "only in Clock Activation Mode"),
    ("READY() | ENDED() | GET(22) | GET(23)", "SET(20)", "nothing is set in Terminated"),
    ("READY() | ENDED()", "fmi3Terminate(i)", "only what is initialized can be terminated"),
    ("READY() | ENDED()", "SET_INTERVAL(4)", "not in this state"),
    ("READY() | ENDED() | fmi3Reset(i) | READY() | ACTIVATE(1, 0)", "BEGIN()", "from another state than Instantiated"),
    ("READY() | DEAD()", "GET(22)", "a call after fmi3Fatal"),
    ("READY() | DEAD()", "fmi3Reset(i)", "a call after fmi3Fatal"),
    ("READY() | DEAD()", "fmi3Terminate(i)", "a call after fmi3Fatal"),
    ("READY() | DEAD()", "(fmi3FreeInstance(i), fmi3Error)", "a call after fmi3Fatal"),
    // 2.2.4: after an error of the importer's
    ("READY()", "(fmi3SetClock(i, VR(1), (const bool[]){true}), ACTIVATE(1, 0))", "a call after an error"),
];

const CALLBACKS: &str = "
static fmi3Status all_is_read(void) { return GET_CLOCK(7) | GET_INTERVAL(6); }
static fmi3Status nothing_is_read(void) { return fmi3OK; }
static fmi3Status a_value_is_set(void) { return SET(20); }
static fmi3Status a_partition_is_activated(void) { return ACTIVATE(1, 5); }
static fmi3Status a_changing_clock_is_asked(void) { return GET_INTERVAL(5); }
static fmi3Status an_input_clock_is_read(void) { return GET_CLOCK(8); }
static fmi3Status it_is_terminated(void) { return fmi3Terminate(i); }
static fmi3Status it_is_reset(void) { return fmi3Reset(i); }
";

#[test]
fn the_base_refuses_each_call_that_is_not_allowed_and_no_other() {
    let mut main = String::from("int main(void)\n{\n    int wrong = 0;\n");
    for (may, may_not, why) in ROWS {
        let may = if may.is_empty() { "fmi3OK" } else { may };
        writeln!(
            main,
            "    i = make(\"x\", token, NULL), of_update = fmi3OK, said[0] = 0;\n    if (({may}) != fmi3OK) wrong++, puts({may:?});\n\
             \u{20}   of_update = fmi3OK;\n    if (({may_not}) != fmi3Error) wrong++, puts({may_not:?});\n\
             \u{20}   if (!strstr(said, {why:?})) wrong++, printf(\"%s: not %s\\n\", said, {why:?});"
        )
        .unwrap();
    }
    for arguments in ["\"  \", token, NULL", "\"x\", \"other\", NULL", "\"x\", token, \"/tmp/\"", "\"x\", NULL, NULL"] {
        writeln!(main, "    if (make({arguments})) wrong++, puts({arguments:?});").unwrap();
    }
    main += "    return wrong;\n}\n";
    let hook = "AT(INITIALIZATION_BEGINS) { NEXT(3, 1); NEXT(5, 1); NEXT(9, 1); } \
                ON(1) { if (t == 7) return fmi3Discard; if (t == 8) return fmi3Error; if (t == 9) return fmi3Fatal; \
                if (n % 2 == 1) TICK(7); if (t == 1) UPDATE(); }";
    let legal = Legal::new(VARIABLES, hook);
    let printed = legal.driven_by(&[DRIVER, CALLBACKS, &main].concat());
    assert_eq!(printed, "", "not as the standard says");
}
