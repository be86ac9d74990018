//! Clocked variables are accessed while a clock of theirs is active, and in Initialization Mode (FMI 3.0.2, 2.2.7.2).

use super::{INDEPENDENT, changes, fmu, in_both_modes};

/// Every 10 ms `n` counts, and each third time `out` ticks and `y`, which belongs to it alone, becomes `n`.
const TICKER: &str = r#"
<Clock name="base" valueReference="3" causality="input" priority="1" intervalVariability="constant" intervalDecimal="0.01"/>
<Clock name="out" valueReference="4" causality="output" clocks="3" intervalVariability="triggered"/>
<Float64 name="n" valueReference="10" causality="output" variability="discrete" clocks="3"/>
<Float64 name="y" valueReference="11" causality="output" variability="discrete" clocks="4"/>"#;

const TICKER_MODEL: &str = "
static const unsigned clock_of[VARIABLES] = {[10] = 3, [11] = 4};
static const enum kind kind_of[VARIABLES] = {[3] = CONSTANT, [4] = OUTPUT};
static const unsigned ticker_of[VARIABLES] = {[4] = 3};
static void start(struct edge *edge) { (void)edge; }
static void activate(struct edge *edge, unsigned clock, double time)
{
    (void)clock, (void)time;
    edge->values[10] += 1;
    if ((int)edge->values[10] % 3 == 0) {
        edge->values[11] = edge->values[10];
        edge->active[4] = edge->ticked[4] = true;
    }
    update(edge);
}
";

/// `seen` is what `u` was when it was triggered.
const CONSUMER: &str = r#"
<Clock name="go" valueReference="3" causality="input" priority="5" intervalVariability="triggered"/>
<Float64 name="u" valueReference="10" causality="input" variability="discrete" clocks="3" start="-1"/>
<Float64 name="seen" valueReference="11" causality="output" variability="discrete" clocks="3"/>
<Clock name="slow" valueReference="5" causality="input" priority="9" intervalVariability="constant" intervalDecimal="0.015"/>
<Float64 name="v" valueReference="12" causality="input" variability="discrete" clocks="5" start="-1"/>
<Float64 name="late" valueReference="13" causality="output" variability="discrete" clocks="5"/>"#;

const CONSUMER_MODEL: &str = "
static const unsigned clock_of[VARIABLES] = {[10] = 3, [11] = 3, [12] = 5, [13] = 5};
static const enum kind kind_of[VARIABLES] = {[3] = TRIGGERED, [5] = CONSTANT};
static const unsigned ticker_of[VARIABLES] = {0};
static void start(struct edge *edge) { edge->values[10] = edge->values[12] = -1.0; }
static void activate(struct edge *edge, unsigned clock, double time)
{
    (void)time;
    edge->values[clock == 3 ? 11 : 13] = edge->values[clock == 3 ? 10 : 12];
}
";

/// `out` ticks with n = 3, 6, 9: at 20 ms, 50 ms and 80 ms. The recording has `y` from then on. The triggered partition sees
/// it at that instant; the delayed consumer at 15 ms · k has it from the next release of `base` on: 30 ms, 60 ms and 90 ms.
#[test]
fn variables_of_an_output_clock_are_read_when_it_has_ticked_and_keep_their_values_else() {
    let folder = crate::program::tempdir().unwrap();
    let a = fmu(folder.path(), "ticker", "", &format!("{INDEPENDENT}{TICKER}"), TICKER_MODEL);
    let b = fmu(folder.path(), "consumer", "", &format!("{INDEPENDENT}{CONSUMER}"), CONSUMER_MODEL);
    let tables = format!(
        "[fmu.a]\npath = '{}'\n[fmu.b]\npath = '{}'\n[[trigger]]\nclock = 'b.go'\nfrom = 'a.out'\n\
         [[connect]]\nfrom = 'a.y'\nto = 'b.u'\n[[connect]]\nfrom = 'a.y'\nto = 'b.v'\ntiming = 'delayed'",
        a.display(),
        b.display()
    );
    in_both_modes("stop_time = 0.1", &tables, |run| {
        assert_eq!(run.count("a", "base", "activations"), 10);
        assert_eq!(run.count("b", "go", "activations"), 3);
        let ticks = [(0.02, 3.0), (0.05, 6.0), (0.08, 9.0)];
        let of = |column: &str| {
            let all = changes(run, column);
            all.into_iter().filter(|(_, value)| *value > 0.0).collect::<Vec<_>>()
        };
        assert_eq!(of("a.y"), ticks);
        // Without privileges only partitions of one FMU take turns, and two FMUs have no order.
        if run.report()["host"]["scheduling"] != "cooperative" {
            assert_eq!(of("b.seen"), ticks);
        }
        assert_eq!(of("b.late"), [(0.03, 3.0), (0.06, 6.0), (0.09, 9.0)]);
    });
}

/// `slow` ticks `out` and takes 12 ms before it says so; `fast` interrupts it, and its clock update reads the tick. `out` is
/// active until the activation that has ticked it ends: `slow` reads `y` after that.
#[test]
fn a_tick_that_surfaces_in_another_partition_lets_its_own_one_read() {
    let xml = r#"
<Clock name="fast" valueReference="3" causality="input" priority="1" intervalVariability="constant" intervalDecimal="0.005"/>
<Clock name="slow" valueReference="5" causality="input" priority="2" intervalVariability="constant" intervalDecimal="0.05"/>
<Clock name="out" valueReference="4" causality="output" clocks="5" intervalVariability="triggered"/>
<Float64 name="y" valueReference="11" causality="output" variability="discrete" clocks="4"/>
<Float64 name="surfaced" valueReference="12" causality="output" variability="discrete" clocks="3"/>"#;
    let model = "
#include <time.h>
static const unsigned clock_of[VARIABLES] = {[11] = 4, [12] = 3};
static const enum kind kind_of[VARIABLES] = {[3] = CONSTANT, [5] = CONSTANT, [4] = OUTPUT};
static const unsigned ticker_of[VARIABLES] = {[4] = 5};
static void start(struct edge *edge) { (void)edge; }
static void activate(struct edge *edge, unsigned clock, double time)
{
    (void)time;
    if (clock == 3) {
        if (edge->ticked[4]) edge->values[12] += 1;
    } else {
        edge->values[11] += 1;
        edge->active[4] = edge->ticked[4] = true;
        struct timespec now, end;
        clock_gettime(CLOCK_MONOTONIC, &end);
        do clock_gettime(CLOCK_MONOTONIC, &now);
        while ((now.tv_sec - end.tv_sec) * 1000000000l + now.tv_nsec - end.tv_nsec < 12000000l);
    }
    update(edge);
}
";
    let folder = crate::program::tempdir().unwrap();
    let a = fmu(folder.path(), "surfacing", "", &format!("{INDEPENDENT}{xml}"), model);
    let tables = format!("[fmu.a]\npath = '{}'", a.display());
    // Cooperatively nothing interrupts `slow`.
    in_both_modes("stop_time = 0.2", &tables, |run| {
        let of_y: Vec<_> = changes(run, "a.y").into_iter().filter(|(_, value)| *value > 0.0).collect();
        assert_eq!(of_y, [(0.0, 1.0), (0.05, 2.0), (0.1, 3.0), (0.15, 4.0)]);
        if run.report()["host"]["scheduling"] == "fifo" {
            assert!(run.signals().column("a.surfaced").last().unwrap().parse::<f64>().unwrap() >= 1.0);
        }
    });
}

/// The clocked input is set in Initialization Mode, since before it clocked variables are not accessible; the parameter, which
/// belongs to no clock, before it. Both are there at the first activation.
#[test]
fn start_values_of_clocked_variables_are_set_in_initialization_mode() {
    let xml = r#"
<Clock name="base" valueReference="3" causality="input" priority="1" intervalVariability="constant" intervalDecimal="0.01"/>
<Float64 name="u" valueReference="10" causality="input" variability="discrete" clocks="3" start="1"/>
<Float64 name="p" valueReference="12" causality="parameter" variability="fixed" start="1"/>
<Float64 name="sum" valueReference="11" causality="output" variability="discrete" clocks="3"/>"#;
    let model = "
static const unsigned clock_of[VARIABLES] = {[10] = 3, [11] = 3};
static const enum kind kind_of[VARIABLES] = {[3] = CONSTANT};
static const unsigned ticker_of[VARIABLES] = {0};
static void start(struct edge *edge) { edge->values[10] = edge->values[12] = 1.0; }
static void activate(struct edge *edge, unsigned clock, double time)
{
    (void)clock, (void)time;
    edge->values[11] = edge->values[10] + edge->values[12];
}
";
    let folder = crate::program::tempdir().unwrap();
    let a = fmu(folder.path(), "started", "", &format!("{INDEPENDENT}{xml}"), model);
    let tables = format!("[fmu.a]\npath = '{}'\nstart = {{ u = 40.0, p = 2.0 }}", a.display());
    in_both_modes("stop_time = 0.05", &tables, |run| {
        assert_eq!(run.count("a", "base", "activations"), 5);
        assert_eq!(run.signals().column("a.sum").last().copied().map(str::parse), Some(Ok(42.0)));
    });
}
