//! Start values of the rig.

use super::*;
use vecud_description::{Values, VariableType};

const FMU: &str = r#"
<Float64 name="f64" valueReference="1" causality="parameter" variability="fixed" start="1" min="0" max="10"/>
<Float32 name="f32" valueReference="2" causality="parameter" variability="fixed" start="1"/>
<UInt8 name="u8" valueReference="3" causality="parameter" variability="tunable" start="1"/>
<Boolean name="on" valueReference="4" causality="input" start="false"/>
<String name="text" valueReference="5" causality="parameter" variability="fixed"><Start value=""/></String>
<Enumeration name="gear" valueReference="6" causality="parameter" variability="fixed" declaredType="Gear" start="0"/>
<Float64 name="engine.map" valueReference="7" causality="parameter" variability="fixed" start="0"><Dimension start="2"/><Dimension start="2"/></Float64>
<Float64 name="result" valueReference="8" causality="output" initial="calculated"/>
<UInt64 name="n" valueReference="9" causality="structuralParameter" variability="fixed" start="3"/>
<Float64 name="pi" valueReference="10" causality="output" variability="constant" start="3.14"/>
<Float64 name="state" valueReference="11" causality="output" initial="exact" start="2"/>
<UInt64 name="u64" valueReference="12" causality="parameter" variability="fixed" start="3"/>
"#;

fn with(start: &str) -> Result<Vec<(String, VariableType, Values)>, String> {
    let text = format!("[fmu.x]\npath = \"x\"\n[fmu.x.start]\n{start}\n");
    let plan = try_build(&text, &[description(FMU)], &host())?;
    Ok(plan.fmus[0].start_values.iter().map(|s| (s.name.clone(), s.variable_type, s.values.clone())).collect())
}

#[track_caller]
fn gives(start: &str, values: Values) {
    let all = with(start).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].2, values);
}

#[track_caller]
fn refused(start: &str, message: &str) {
    assert_eq!(with(start).unwrap_err(), message);
}

#[test]
fn numbers_take_the_type_of_the_variable() {
    gives("f64 = 3", Values::Float64(vec![3.0]));
    gives("f32 = 0.1", Values::Float32(vec![0.1]));
    gives("u8 = 255", Values::UInt8(vec![255]));
    gives("u8 = 2.0", Values::UInt8(vec![2]));
    gives("on = true", Values::Boolean(vec![true]));
    gives("text = 'grün'", Values::String(vec!["grün".to_owned()]));
    gives("state = 4", Values::Float64(vec![4.0]));
}

/// Above what TOML has integers for.
#[test]
fn a_uint64_takes_a_string_of_digits() {
    gives("u64 = '18446744073709551615'", Values::UInt64(vec![u64::MAX]));
    gives("u64 = '7'", Values::UInt64(vec![7]));
    let refuses = |value: &str, why: &str| {
        refused(&format!("u64 = '{value}'"), &format!("rig.toml:4:7: the start value of x.u64 {why}"));
    };
    refuses("18446744073709551616", "is 18446744073709551616, but UInt64 holds 0 to 18446744073709551615");
    refuses("-1", "must be a whole number, not the string \"-1\"");
    refuses("", "must be a whole number, not the string \"\"");
    refused("f64 = '7'", "rig.toml:4:7: the start value of x.f64 must be a number, not the string \"7\"");
}

#[test]
fn an_enumeration_takes_the_name_or_the_number_of_an_item() {
    gives("gear = 'first'", Values::Int64(vec![1]));
    gives("gear = 1", Values::Int64(vec![1]));
    refused(
        "gear = 'frist'",
        "rig.toml:4:8: the start value of x.gear is \"frist\", which is no item of its enumeration; did you mean \"first\"?",
    );
    refused(
        "gear = 7",
        "rig.toml:4:8: the start value of x.gear is 7, which is no item of its enumeration; it has neutral (0), first (1)",
    );
}

#[test]
fn an_array_takes_a_list_nested_or_not_or_one_value_for_all() {
    gives("'engine.map' = [1, 2, 3, 4]", Values::Float64(vec![1.0, 2.0, 3.0, 4.0]));
    gives("engine.map = [[1, 2], [3, 4]]", Values::Float64(vec![1.0, 2.0, 3.0, 4.0]));
    gives("engine.map = 5", Values::Float64(vec![5.0; 4]));
    refused("engine.map = [1, 2]", "rig.toml:4:14: x.engine.map has 4 elements, but its start value has 2");
    refused("f64 = [1]", "rig.toml:4:7: x.f64 is a scalar, but its start value is a list of 1");
    refused(
        "engine.map = [1, 2, 3, 'x']",
        "rig.toml:4:24: the start value of x.engine.map must be a number, not the string \"x\"",
    );
}

#[test]
fn values_that_do_not_fit_are_refused() {
    refused("u8 = 256", "rig.toml:4:6: the start value of x.u8 is 256, but UInt8 holds 0 to 255");
    refused("u8 = 1.5", "rig.toml:4:6: the start value of x.u8 must be a whole number, not 1.5");
    refused("f32 = 1e39", "rig.toml:4:7: the start value of x.f32 is 1e39, which a Float32 cannot hold");
    refused("u8 = 1e300", "rig.toml:4:6: the start value of x.u8 must be a whole number, not 1e300");
    refused("f64 = 1e300", "rig.toml:4:7: the start value of x.f64 is 1e300, above its max 10");
    refused("f64 = 11", "rig.toml:4:7: the start value of x.f64 is 11, above its max 10");
    refused("f64 = -0.5", "rig.toml:4:7: the start value of x.f64 is -0.5, below its min 0");
    refused("on = 1", "rig.toml:4:6: the start value of x.on must be true or false, not 1");
    refused("f64 = 'x'", "rig.toml:4:7: the start value of x.f64 must be a number, not the string \"x\"");
}

/// Set before Initialization Mode it would be a clocked variable (FMI 3.0.2, 2.2.7.2), and in it one without `exact` (2.3.3).
/// An input, and a local variable with `exact`, of the same clock can be given one; without a clock `approx` can, too.
#[test]
fn an_approximate_start_value_of_a_clocked_variable_is_refused() {
    const CLOCKED: &str = r#"
<Clock name="base" valueReference="1" causality="input" intervalVariability="constant" intervalDecimal="0.01" priority="1"/>
<Float64 name="guess" valueReference="2" causality="local" variability="discrete" initial="approx" start="1" clocks="1"/>
<Float64 name="out" valueReference="3" causality="output" variability="discrete" initial="approx" start="1" clocks="1"/>
<Float64 name="free" valueReference="4" causality="local" variability="discrete" initial="approx" start="1"/>
<Float64 name="exact" valueReference="5" causality="local" variability="discrete" initial="exact" start="1" clocks="1"/>
<Float64 name="u" valueReference="6" causality="input" variability="discrete" start="1" clocks="1"/>"#;
    let with = |start: &str| {
        let text = format!("[fmu.x]\npath = \"x\"\n[fmu.x.start]\n{start}\n");
        try_build(&text, &[description(CLOCKED)], &host()).map(|plan| plan.fmus[0].start_values.len())
    };
    for name in ["guess", "out"] {
        let error = with(&format!("{name} = 2")).unwrap_err();
        let words = format!(
            "rig.toml:4:1: x.{name} cannot be given a start value: it belongs to a clock, and initial = \"approx\" can be set \
             only before Initialization Mode, where such variables are not set"
        );
        assert_eq!(error, words);
    }
    assert_eq!(with("free = 2\nexact = 2\nu = 2"), Ok(3));
}

#[test]
fn variables_that_cannot_be_set_are_refused() {
    refused("f46 = 1", "rig.toml:4:1: x has no variable \"f46\"; did you mean \"f64\"?");
    refused("pi = 3", "rig.toml:4:1: x.pi cannot be given a start value: it is a constant");
    refused(
        "result = 3",
        "rig.toml:4:1: x.result cannot be given a start value: it is an output whose initial value the FMU computes",
    );
}

#[test]
fn structural_parameters_are_set_by_themselves_before_the_others() {
    let text = "[fmu.x]\npath = \"x\"\nstart = { u8 = 1, n = 5 }\n";
    let plan = try_build(text, &[description(FMU)], &host()).unwrap();
    let names = |starts: &[crate::StartValue]| starts.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&plan.fmus[0].structural_values), ["n"]);
    assert_eq!(names(&plan.fmus[0].start_values), ["u8"]);
    assert_eq!(plan.fmus[0].structural_values[0].values, Values::UInt64(vec![5]));
}

#[test]
fn an_array_of_absurd_size_is_refused_before_memory_is_taken() {
    let fmu = "<Float64 name=\"x\" valueReference=\"1\" causality=\"input\" start=\"0\"><Dimension start=\"4000000000\"/>\
        <Dimension start=\"4000000000\"/></Float64>";
    let text = "[fmu.a]\npath = \"a\"\nstart = { x = 1 }\n[record]\nsignals = [\"*\"]\n";
    let error = try_build(text, &[description(fmu)], &host()).unwrap_err();
    assert!(error.starts_with("rig.toml:3:15: a.x has more than 1048576 elements"), "{error}");
}

#[test]
fn start_values_stand_in_document_order() {
    let names: Vec<String> = with("u8 = 1\nf64 = 2").unwrap().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["f64", "u8"]);
}
