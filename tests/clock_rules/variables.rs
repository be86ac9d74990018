//! Clocked variables are accessed while a clock of theirs is active, and in Initialization Mode (FMI 3.0.2, 2.2.7.2).

use super::{INDEPENDENT, fmu, in_both_modes};

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
    let folder = tempfile::tempdir().unwrap();
    let a = fmu(folder.path(), "started", "", &format!("{INDEPENDENT}{xml}"), model);
    let tables = format!("[fmu.a]\npath = '{}'\nstart = {{ u = 40.0, p = 2.0 }}", a.display());
    in_both_modes("stop_time = 0.05", &tables, |run| {
        assert_eq!(run.count("a", "base", "activations"), 5);
        assert_eq!(run.signals().column("a.sum").last().copied().map(str::parse), Some(Ok(42.0)));
    });
}
