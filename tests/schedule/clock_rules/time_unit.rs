//! Times and intervals of an FMU are in the unit of its independent variable (FMI 3.0.2, 2.2.8.4); ours are in seconds.

use super::program::{Outcome, Rig};
use super::{INDEPENDENT, changes, fmu, in_both_modes};

/// A `<BaseUnit>` of these attributes, as the unit `t`.
fn unit(base: &str) -> String {
    format!("<UnitDefinitions><Unit name=\"t\"><BaseUnit {base}/></Unit></UnitDefinitions>")
}

fn independent() -> String {
    INDEPENDENT.replace("causality=\"independent\"", "causality=\"independent\" unit=\"t\"")
}

/// In milliseconds: each kind of clock, and for each an output with the activation time that it was given.
const KINDS: &str = r#"
<Clock name="base" valueReference="3" causality="input" priority="1" intervalVariability="constant" intervalDecimal="10" shiftDecimal="5"/>
<Clock name="parts" valueReference="4" causality="input" priority="2" intervalVariability="constant" supportsFraction="true" resolution="3" intervalCounter="100" intervalDecimal="33.333333333"/>
<Clock name="given" valueReference="5" causality="input" priority="3" intervalVariability="fixed" intervalDecimal="20"/>
<Clock name="asked" valueReference="6" causality="input" priority="4" intervalVariability="tunable"/>
<Clock name="changing" valueReference="7" causality="input" priority="5" intervalVariability="changing"/>
<Clock name="fractions" valueReference="8" causality="input" priority="6" intervalVariability="changing" supportsFraction="true"/>
<Clock name="countdown" valueReference="9" causality="input" priority="7" intervalVariability="countdown" clocks="3"/>
<Float64 name="begin" valueReference="1" causality="output" variability="discrete" clocks="3"/>
<Float64 name="end" valueReference="2" causality="output" variability="discrete" clocks="3"/>
<Float64 name="told" valueReference="31" causality="output" variability="discrete" clocks="5"/>
<Float64 name="of_base" valueReference="23" causality="output" variability="discrete" clocks="3"/>
<Float64 name="of_parts" valueReference="24" causality="output" variability="discrete" clocks="4"/>
<Float64 name="of_given" valueReference="25" causality="output" variability="discrete" clocks="5"/>
<Float64 name="of_asked" valueReference="26" causality="output" variability="discrete" clocks="6"/>
<Float64 name="of_changing" valueReference="27" causality="output" variability="discrete" clocks="7"/>
<Float64 name="of_fractions" valueReference="28" causality="output" variability="discrete" clocks="8"/>
<Float64 name="of_countdown" valueReference="29" causality="output" variability="discrete" clocks="9"/>"#;

const KINDS_MODEL: &str = "
static const unsigned clock_of[VARIABLES] = {[1] = 3, [2] = 3, [31] = 5, [23] = 3, [24] = 4, [25] = 5, [26] = 6, [27] = 7,
                                             [28] = 8, [29] = 9};
static const enum kind kind_of[VARIABLES] = {[3] = CONSTANT, [4] = CONSTANT, [5] = GIVEN, [6] = ASKED, [7] = CHANGING,
                                             [8] = CHANGING, [9] = COUNTDOWN};
static const unsigned ticker_of[VARIABLES] = {0};
static void start(struct edge *edge)
{
    edge->intervals[6] = 30.0;
    edge->shifts[6] = 15.0;
    edge->intervals[7] = 17.5;
    edge->intervals[8] = 70.0; /* thirds: 23 1/3 ms */
    edge->resolutions[8] = 3;
}
static void activate(struct edge *edge, unsigned clock, double time)
{
    edge->values[20 + clock] = time;
    edge->values[31] = edge->intervals[5];
    if (clock == 3) {
        edge->intervals[9] = 2.5;
        edge->armed[9] = true;
        update(edge);
    }
}
";

/// Activation times in s, by hand, of a run from 1 s to 1.1 s; the FMU got the same in ms.
#[test]
fn an_fmu_that_counts_milliseconds_is_activated_at_its_times() {
    let folder = crate::program::tempdir().unwrap();
    let xml = format!("{}{KINDS}", independent());
    let path = fmu(folder.path(), "milliseconds", &unit("s=\"1\" factor=\"0.001\""), &xml, KINDS_MODEL);
    let rig = |clock: &str| format!("[fmu.a]\npath = '{}'\n{clock}", path.display());
    let times = |run: &Outcome, column: &str, expected: &[f64]| {
        let all: Vec<_> = changes(run, column).into_iter().filter(|(_, value)| *value > 0.0).collect();
        let milliseconds: Vec<f64> = expected.iter().map(|ms| 1000.0 + ms).collect();
        assert_eq!(all.iter().map(|(_, value)| *value).collect::<Vec<_>>(), milliseconds, "{column}");
        for (time, value) in all {
            assert!((time * 1000.0 - value).abs() < 1e-6, "{column}: {value} ms in the row of {time} s");
        }
    };
    in_both_modes("start_time = 1\nstop_time = 1.1", &rig(""), |run| {
        let last = |column: &str| changes(run, column).last().map(|(_, value)| *value);
        assert_eq!((last("a.begin"), last("a.end"), last("a.told")), (Some(1000.0), Some(1100.0), Some(20.0)));
        times(run, "a.of_base", &[5.0, 15.0, 25.0, 35.0, 45.0, 55.0, 65.0, 75.0, 85.0, 95.0]);
        times(run, "a.of_parts", &[0.0, 100.0 / 3.0, 200.0 / 3.0]);
        times(run, "a.of_given", &[0.0, 20.0, 40.0, 60.0, 80.0]);
        times(run, "a.of_asked", &[15.0, 45.0, 75.0]);
        times(run, "a.of_changing", &[17.5, 35.0, 52.5, 70.0, 87.5]);
        times(run, "a.of_fractions", &[70.0 / 3.0, 140.0 / 3.0, 70.0, 280.0 / 3.0]);
        times(run, "a.of_countdown", &[7.5, 17.5, 27.5, 37.5, 47.5, 57.5, 67.5, 77.5, 87.5, 97.5]);
    });
    // What the rig says is in seconds.
    in_both_modes(
        "start_time = 1\nstop_time = 1.1",
        &rig("clock.given = { interval = 0.04, shift = '1/100' }"),
        |run| {
            times(run, "a.of_given", &[10.0, 50.0, 90.0]);
            assert_eq!(changes(run, "a.told").last().map(|(_, told)| *told), Some(40.0));
        },
    );
}

const BASE: &str = r#"
<Clock name="base" valueReference="3" causality="input" priority="1" intervalVariability="constant" intervalDecimal="0.01"/>
<Float64 name="of_base" valueReference="23" causality="output" variability="discrete" clocks="3"/>"#;

const BASE_MODEL: &str = "
static const unsigned clock_of[VARIABLES] = {[23] = 3};
static const enum kind kind_of[VARIABLES] = {[3] = CONSTANT};
static const unsigned ticker_of[VARIABLES] = {0};
static void start(struct edge *edge) { (void)edge; }
static void activate(struct edge *edge, unsigned clock, double time)
{
    edge->values[20 + clock] = time;
}
";

/// How long a radian takes nobody knows: real time refuses, virtual time takes one as 1 s and says so.
#[test]
fn a_unit_that_is_no_time_is_an_error_in_real_time_and_a_note_in_virtual_time() {
    let folder = crate::program::tempdir().unwrap();
    let path = fmu(folder.path(), "radians", &unit("rad=\"1\""), &format!("{}{BASE}", independent()), BASE_MODEL);
    let rig = |key: &str| {
        let text = format!("[rig]\nstop_time = 0.05\n[fmu.a]\npath = '{}'\n{key}\n[record]\n", path.display());
        Rig::of_text(&text)
    };
    let refused = rig("").run().exits(2);
    for words in ["a counts time in \"t\", which is no unit of time", "--mode virtual", "lenient = true in [fmu.a]"] {
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    let run = rig("").run_virtual().exits(0);
    assert!(run.stderr.contains("a counts time in \"t\", which is no unit of time"), "{}", run.stderr);
    assert_eq!(run.count("a", "base", "activations"), 5);
    assert_eq!(rig("lenient = true").run_virtual().exits(0).count("a", "base", "activations"), 5);
}

#[test]
fn a_unit_of_time_with_an_offset_or_a_factor_that_is_none_is_refused() {
    let folder = crate::program::tempdir().unwrap();
    for (base, words) in [
        ("s=\"1\" offset=\"3\"", "has the offset 3: a unit of time has none"),
        ("s=\"1\" factor=\"-1\"", "has the factor -1, by which no time can be reckoned"),
    ] {
        let path = fmu(folder.path(), "offset", &unit(base), &format!("{}{BASE}", independent()), BASE_MODEL);
        let text = format!("[rig]\nstop_time = 0.05\n[fmu.a]\npath = '{}'\n", path.display());
        let run = Rig::of_text(&text).run_virtual().exits(2);
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
}
