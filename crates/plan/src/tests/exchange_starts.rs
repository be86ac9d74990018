//! Start values of parts of arrays, of strings and of binaries.

use super::*;
use vecud_description::Values;

const FMU: &str = r#"
<Float64 name="map" valueReference="1" causality="parameter" variability="fixed" start="1 2 3" max="9"><Dimension start="3"/></Float64>
<Float64 name="m" valueReference="2" causality="input" start="5"><Dimension start="2"/><Dimension start="2"/></Float64>
<Float64 name="map[2]" valueReference="3" causality="parameter" variability="fixed" start="0"/>
<String name="text" valueReference="4" causality="parameter" variability="fixed"><Dimension start="2"/><Start value="a"/><Start value="b"/></String>
<Binary name="raw" valueReference="5" causality="parameter" variability="fixed" maxSize="3"><Start value="00"/></Binary>
<Binary name="raws" valueReference="6" causality="input"><Dimension start="2"/><Start value="01"/><Start value="02"/></Binary>
"#;

fn with(start: &str) -> Result<Vec<Values>, String> {
    let text = format!("[fmu.x]\npath = \"x\"\n[fmu.x.start]\n{start}\n");
    Ok(try_build(&text, &[description(FMU)], &host())?.fmus[0].start_values.iter().map(|s| s.values.clone()).collect())
}

#[track_caller]
fn refused(start: &str, message: &str) {
    assert_eq!(with(start).unwrap_err(), message);
}

#[test]
fn a_part_is_completed_from_the_description() {
    assert_eq!(with("'map[3]' = 7"), Ok(vec![Values::Float64(vec![1.0, 2.0, 7.0])]));
    assert_eq!(with("'map[1:2]' = [7, 8]"), Ok(vec![Values::Float64(vec![7.0, 8.0, 3.0])]));
    assert_eq!(
        with("'m[1,:]' = [1, 2]"),
        Ok(vec![Values::Float64(vec![1.0, 2.0, 5.0, 5.0])]),
        "one start fills an array"
    );
    assert_eq!(with("'m[:,2]' = 0"), Ok(vec![Values::Float64(vec![5.0, 0.0, 5.0, 0.0])]));
    assert_eq!(with("'text[2]' = 'z'"), Ok(vec![Values::String(vec!["a".to_owned(), "z".to_owned()])]));
}

#[test]
fn several_parts_make_one_value() {
    assert_eq!(with("'m[1,1]' = 1\n'm[2,2]' = 4"), Ok(vec![Values::Float64(vec![1.0, 5.0, 5.0, 4.0])]));
    refused("'m[1,:]' = 1\n'm[1,2]' = 4", "rig.toml:5:1: the start value of x.m is given twice (\"m[1,2]\")");
    refused("m = 1\n'm[1,2]' = 4", "rig.toml:5:1: the start value of x.m is given twice (\"m[1,2]\")");
}

#[test]
fn a_variable_with_such_a_name_comes_first() {
    assert_eq!(with("'map[2]' = 7"), Ok(vec![Values::Float64(vec![7.0])]));
}

#[test]
fn parts_that_do_not_exist_are_refused_and_limits_hold_for_parts() {
    refused(
        "'m[3,1]' = 1",
        "rig.toml:4:1: x.m[3,1]: \"3\" is out of range: there are 2 elements in this dimension (its size is [2,2])",
    );
    refused(
        "'m[2:1,1]' = 1",
        "rig.toml:4:1: x.m[2:1,1]: \"2:1\" is empty: it ends before it starts (its size is [2,2])",
    );
    refused("'m[1,:]' = [1]", "rig.toml:4:12: x.m[1,:] has 2 elements, but its start value has 1");
    refused("'m[1,1]' = [1]", "rig.toml:4:12: x.m[1,1] is a scalar, but its start value is a list of 1");
    refused("'map[3]' = 10", "rig.toml:4:12: the start value of x.map is 10, above its max 9");
}

#[test]
fn without_a_start_in_the_description_a_part_is_not_enough() {
    let mut fmu = description(FMU);
    fmu.variables[1].start = None;
    let text = "[fmu.x]\npath = \"x\"\n[fmu.x.start]\n'm[1,1]' = 1\n";
    assert_eq!(
        try_build(text, &[fmu], &host()).unwrap_err(),
        "rig.toml:4:1: x.m has no start value in its description for the elements that \"m[1,1]\" leaves out: give it one \
         as a whole"
    );
}

#[test]
fn binaries_are_hexadecimal_digits() {
    assert_eq!(with("raw = '0x0aFf'"), Ok(vec![Values::Binary(vec![vec![10, 255]])]));
    assert_eq!(with("raw = '0x'"), Ok(vec![Values::Binary(vec![vec![]])]));
    assert_eq!(with("raws = ['0x01', '0x']"), Ok(vec![Values::Binary(vec![vec![1], vec![]])]));
    assert_eq!(with("'raws[2]' = '0xff'"), Ok(vec![Values::Binary(vec![vec![1], vec![255]])]));
    for wrong in ["0aff", "0x0", "0x0g", "0x+1", "0xä0"] {
        refused(
            &format!("raw = '{wrong}'"),
            &format!(
                "rig.toml:4:7: the start value of x.raw must be a string of hexadecimal digits as \"0x0aff\", not \"{wrong}\""
            ),
        );
    }
    refused(
        "raw = 1",
        "rig.toml:4:7: the start value of x.raw must be a string of hexadecimal digits as \"0x0aff\", not 1",
    );
}

#[test]
fn a_binary_longer_than_its_max_size_is_refused_with_both_sizes() {
    refused("raw = '0x00112233'", "rig.toml:4:7: the start value of x.raw has 4 bytes, but its maxSize is 3");
    assert!(with("raw = '0x001122'").is_ok());
}

#[test]
fn a_string_with_a_nul_inside_is_refused() {
    refused(
        "text = ['a', \"b\\u0000c\"]",
        "rig.toml:4:14: the start value of x.text is \"b\\0c\", but no string in C can have the character 0 (NUL) in it",
    );
}

#[test]
fn a_variable_with_a_dimension_of_0_is_refused() {
    let error = |dimension: &str| {
        let n = "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" variability=\"fixed\" start=\"0\"/>";
        let xml = format!(
            "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">\
             <ScheduledExecution modelIdentifier=\"m\"/><ModelVariables>{n}\
             <Float64 name=\"v\" valueReference=\"2\" causality=\"input\" start=\"1\"><Dimension {dimension}/></Float64>\
             </ModelVariables><ModelStructure/></fmiModelDescription>"
        );
        parse(&xml).unwrap_err().to_string()
    };
    let fixed = error("start=\"0\"");
    assert!(fixed.contains("start") && fixed.contains("must be greater than 0"), "{fixed}");
    let structural = error("valueReference=\"1\"");
    assert!(
        structural.contains("\"v\"") && structural.contains("its dimension \"n\" has the start value 0"),
        "{structural}"
    );
}
