//! What travels on a connection: types that widen, units, parts of arrays, sizes of strings and binaries (semantics
//! S11).

use super::initialisation::steps;
use super::*;
use crate::conversion::{UnitConversion, Widening};
use crate::table::render as table;

/// A producer `p` and a consumer `c` with these variables, and units for both; `connect` starts in line 5.
fn joined(outputs: &str, inputs: &str, connect: &str) -> Result<Plan, String> {
    let description = |variables: &str| {
        let clock = "<Clock name=\"clock\" valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\" \
                     intervalDecimal=\"0.01\" priority=\"1\"/>";
        let mut description = parse(&format!(
            "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">\
             <ScheduledExecution modelIdentifier=\"m\"/><UnitDefinitions>{UNITS}</UnitDefinitions><TypeDefinitions>\
             <EnumerationType name=\"Gear\"><Item name=\"neutral\" value=\"0\"/></EnumerationType></TypeDefinitions>\
             <ModelVariables>{clock}{variables}</ModelVariables><ModelStructure/></fmiModelDescription>"
        ))
        .unwrap();
        description.warnings.clear();
        description
    };
    let text = format!("[fmu.p]\npath = \"p\"\n[fmu.c]\npath = \"c\"\n{connect}");
    try_build(&text, &[description(outputs), description(inputs)], &host())
}

const UNITS: &str = "<Unit name=\"bar\"><BaseUnit kg=\"1\" m=\"-1\" s=\"-2\" factor=\"1e5\"/></Unit>\
    <Unit name=\"Pa\"><BaseUnit kg=\"1\" m=\"-1\" s=\"-2\"/></Unit>\
    <Unit name=\"K\"><BaseUnit K=\"1\"/></Unit>\
    <Unit name=\"degF\"><BaseUnit K=\"1\" factor=\"0.5555555555555556\" offset=\"255.3722222222222\"/></Unit>\
    <Unit name=\"rad/s\"><BaseUnit s=\"-1\" rad=\"1\"/></Unit>\
    <Unit name=\"rpm\"><BaseUnit s=\"-1\" rad=\"1\" factor=\"0.1047197551196598\"/></Unit>\
    <Unit name=\"Hz\"><BaseUnit s=\"-1\" rad=\"1\" factor=\"6.283185307179586\"/></Unit>\
    <Unit name=\"1/s\"><BaseUnit s=\"-1\"/></Unit>\
    <Unit name=\"euro\"/>";

const CONNECT: &str = "[[connect]]\nfrom = \"p.y\"\nto = \"c.u\"\n";

/// An output `y`, an input `u`, each with further attributes.
fn pair(a: (&str, &str), b: (&str, &str)) -> Result<Plan, String> {
    let declared = |kind: &str| if kind == "Enumeration" { "declaredType=\"Gear\"" } else { "" };
    let start = if b.0 == "Boolean" { "false" } else { "0" };
    let output = format!(
        "<{0} name=\"y\" valueReference=\"2\" causality=\"output\" variability=\"discrete\" {1} {2}/>",
        a.0,
        declared(a.0),
        a.1
    );
    let input = format!(
        "<{0} name=\"u\" valueReference=\"2\" causality=\"input\" variability=\"discrete\" start=\"{start}\" {1} {2}/>",
        b.0,
        declared(b.0),
        b.1
    );
    joined(&output, &input, CONNECT)
}

#[test]
fn types_widen_and_the_consumers_type_travels() {
    for (from, to, widening) in [
        ("Int8", "Int16", Widening::None),
        ("UInt8", "Int16", Widening::None),
        ("UInt16", "Float32", Widening::IntegerToFloat32),
        ("Int32", "Float64", Widening::IntegerToFloat64),
        ("Float32", "Float64", Widening::Float32ToFloat64),
        ("Enumeration", "Int64", Widening::None),
    ] {
        let plan = pair((from, ""), (to, "")).unwrap();
        let connection = &plan.connections[0];
        assert_eq!(connection.conversion.widening, widening, "{from} to {to}");
        assert_eq!(format!("{:?} {:?}", connection.from_type, connection.variable_type), format!("{from} {to}"));
        assert!(table(&plan).contains(&format!("p.y  →  c.u  {from} → {to}")), "{}", table(&plan));
    }
}

#[test]
fn what_would_lose_values_is_refused_with_the_direction_that_would_work() {
    let refused = |from, to| pair((from, ""), (to, "")).unwrap_err();
    assert_eq!(
        refused("Float64", "Float32"),
        "rig.toml:7:6: p.y is Float64, but c.u is Float32; not every Float64 is a Float32 (only from Float32 to Float64 \
         nothing gets lost)"
    );
    assert_eq!(
        refused("Int8", "UInt8"),
        "rig.toml:7:6: p.y is Int8, but c.u is UInt8; neither holds all values of the other"
    );
    assert!(refused("Int64", "Enumeration").contains("only from Enumeration to Int64"));
    assert!(refused("Int32", "Float32").contains("neither holds"));
    assert!(refused("Boolean", "Int32").contains("neither holds"));
}

#[test]
fn units_of_one_dimension_convert() {
    let conversion = |a: &str, b: &str| {
        let plan = pair(("Float64", &format!("unit=\"{a}\"")), ("Float64", &format!("unit=\"{b}\""))).unwrap();
        (plan.connections[0].conversion.unit, table(&plan))
    };
    let (bar_to_pa, text) = conversion("bar", "Pa");
    assert_eq!(bar_to_pa, Some(UnitConversion { factor: 1e5, offset: 0.0, divisor: 1.0, float32: false }));
    assert!(text.contains("bar → Pa: v · 100000"), "{text}");
    let (f_to_k, text) = conversion("degF", "K");
    assert!(text.contains("degF → K: v · 0.5555555555555556 + 255.3722222222222"), "{text}");
    let apply = |unit: Option<UnitConversion>, value: f64| {
        f64::from_bits(crate::conversion::Conversion { widening: Widening::None, unit }.apply(value.to_bits()))
    };
    assert!((apply(f_to_k, 32.0) - 273.15).abs() < 1e-9);
    assert!((apply(conversion("K", "degF").0, 273.15) - 32.0).abs() < 1e-9);
    // 60 rpm are 2 pi rad/s.
    assert!((apply(conversion("rpm", "rad/s").0, 60.0) - std::f64::consts::TAU).abs() < 1e-12);
    assert_eq!(conversion("bar", "bar").0, None);
}

#[test]
fn differences_are_not_shifted() {
    let relative = |unit| format!("unit=\"{unit}\" relativeQuantity=\"true\"");
    let plan = pair(("Float64", &relative("degF")), ("Float64", &relative("K"))).unwrap();
    assert_eq!(plan.connections[0].conversion.unit.unwrap().offset, 0.0);
    assert_eq!(
        pair(("Float64", &relative("degF")), ("Float64", "unit=\"K\"")).unwrap_err(),
        "rig.toml:7:6: p.y is a difference of values (relativeQuantity), but c.u is not"
    );
}

/// FMI 2.0.5, 2.1.7 and 2.2.7: `fmi2GetInteger` and `fmi2SetInteger` are for both, and so their values are those of either. In FMI 3.0 an
/// enumeration is an `Int64`, and only its items are its values.
#[test]
fn enumerations_and_integers_of_fmi_2_connect() {
    let variable = |name: &str, causality: &str, kind: &str| {
        let start = if causality == "input" { "start=\"0\"" } else { "" };
        let kind = if kind == "Enumeration" { "Enumeration declaredType=\"Gear\"" } else { kind };
        format!(
            "<ScalarVariable name=\"{name}\" valueReference=\"1\" causality=\"{causality}\" variability=\"discrete\"><{kind} {start}/></ScalarVariable>"
        )
    };
    let fmu = |variable: &str| {
        parse(&format!(
            "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"g\"><CoSimulation modelIdentifier=\"m\"/><TypeDefinitions>\
             <SimpleType name=\"Gear\"><Enumeration><Item name=\"neutral\" value=\"0\"/></Enumeration></SimpleType></TypeDefinitions>\
             <ModelVariables>{variable}</ModelVariables><ModelStructure/></fmiModelDescription>"
        ))
        .unwrap()
    };
    let text = format!("[rig]\nstep = 0.1\n[fmu.p]\npath = \"p\"\n[fmu.c]\npath = \"c\"\n{CONNECT}");
    let plan = |from: &str, to: &str| {
        let fmus = [fmu(&variable("y", "output", from)), fmu(&variable("u", "input", to))];
        try_build(&text, &fmus, &host())
    };
    for (from, to, is_told) in [("Enumeration", "Integer", false), ("Integer", "Enumeration", true)] {
        let plan = plan(from, to).unwrap();
        assert_eq!(plan.connections[0].conversion.widening, Widening::None);
        let note = "c.u is an enumeration and p.y an integer, one type in the functions";
        assert_eq!(plan.notes.iter().any(|own| own.starts_with(note)), is_told, "{from}: {:?}", plan.notes);
    }
    assert_eq!(plan("Enumeration", "Real").unwrap().connections[0].conversion.widening, Widening::IntegerToFloat64);
    for (from, to) in [("Real", "Enumeration"), ("Boolean", "Enumeration"), ("Enumeration", "Boolean")] {
        assert!(plan(from, to).is_err(), "{from} to {to}");
    }
    let refused = pair(("Int64", ""), ("Enumeration", "")).unwrap_err();
    assert!(refused.contains("not every Int64 is an Enumeration"), "{refused}");
}

/// FMI 3.0.2, 2.4.3: all exponents must be equal, that of `rad` too.
#[test]
fn units_of_different_dimensions_do_not_connect() {
    let refused = |a: &str, b: &str| {
        pair(("Float64", &format!("unit=\"{a}\"")), ("Float64", &format!("unit=\"{b}\""))).unwrap_err()
    };
    let way_out = "connect variables of one unit, or with units = \"as_is\" in this [[connect]] the number passes as it is, \
                   unconverted";
    assert_eq!(
        refused("bar", "K"),
        format!(
            "rig.toml:7:6: p.y is in \"bar\", but c.u is in \"K\": these units measure different things; {way_out}"
        )
    );
    for (a, b) in [("Hz", "1/s"), ("1/s", "rad/s")] {
        assert_eq!(
            refused(a, b),
            format!(
                "rig.toml:7:6: p.y is in \"{a}\", but c.u is in \"{b}\": one is of angles and the other is not (the exponents of \
                 rad differ); {way_out}"
            )
        );
    }
}

/// Who means it gets the number unchanged, with a note where something would have happened to it.
#[test]
fn units_as_is_pass_numbers_unchanged() {
    let plan = |a: &str, b: &str, units: &str| {
        let variable = |what: &str, unit: &str| {
            format!("<Float64 name=\"{what}\" valueReference=\"2\" unit=\"{unit}\" variability=\"discrete\" ")
        };
        let outputs = variable("y", a) + "causality=\"output\"/>";
        let inputs = variable("u", b) + "causality=\"input\" start=\"0\"/>";
        joined(&outputs, &inputs, &format!("{CONNECT}units = \"{units}\"\n"))
    };
    let note = |a: &str, b: &str| {
        let plan = plan(a, b, "as_is").unwrap();
        assert_eq!(plan.connections[0].conversion.unit, None);
        plan.notes.concat()
    };
    assert_eq!(note("Hz", "1/s"), "p.y is in \"Hz\" and c.u in \"1/s\": values pass as they are (units = \"as_is\")");
    assert_eq!(note("bar", "Pa"), "p.y is in \"bar\" and c.u in \"Pa\": values pass as they are (units = \"as_is\")");
    assert_eq!(note("bar", "bar"), "");
    assert!(plan("bar", "Pa", "convert").unwrap().connections[0].conversion.unit.is_some());
    assert!(plan("Hz", "1/s", "convert").is_err());
    assert!(plan("Hz", "Hz", "ignore").unwrap_err().contains("units"));
}

#[test]
fn units_that_nobody_defines_pass_as_they_are() {
    let note = |a: &str, b: &str| {
        let plan = pair(("Float64", a), ("Float64", b)).unwrap();
        assert_eq!(plan.connections[0].conversion.unit, None);
        plan.notes.concat()
    };
    assert_eq!(note("", ""), "");
    assert_eq!(note("unit=\"euro\"", "unit=\"euro\""), "");
    assert!(note("unit=\"bar\"", "").starts_with("p.y is in \"bar\", but c.u does not say its unit"));
    assert!(note("", "unit=\"bar\"").starts_with("c.u is in \"bar\", but p.y does not say its unit"));
    assert!(note("unit=\"euro\"", "unit=\"bar\"").contains("not both are defined"));
}

const MATRIX: &str = "<Float64 name=\"y\" valueReference=\"2\" causality=\"output\" variability=\"discrete\">\
    <Dimension start=\"2\"/><Dimension start=\"3\"/></Float64>";
const VECTOR: &str = "<Float64 name=\"u\" valueReference=\"2\" causality=\"input\" variability=\"discrete\" start=\"7 8 9\">\
    <Dimension start=\"3\"/></Float64>\
    <Float64 name=\"u[1]\" valueReference=\"3\" causality=\"input\" variability=\"discrete\" start=\"0\"/>";

fn parts(ends: &[(&str, &str)]) -> Result<Plan, String> {
    let connect: String =
        ends.iter().map(|(from, to)| format!("[[connect]]\nfrom = \"{from}\"\nto = \"{to}\"\n")).collect();
    joined(MATRIX, VECTOR, &connect)
}

#[test]
fn rows_columns_and_elements_connect() {
    let plan = parts(&[("p.y[2,:]", "c.u")]).unwrap();
    let numbers = |runs: &[std::ops::Range<usize>]| runs.iter().cloned().flatten().collect::<Vec<usize>>();
    assert_eq!(numbers(&plan.connections[0].from_elements), [3, 4, 5]);
    assert_eq!(plan.connections[0].elements, 3);
    assert_eq!(plan.connections[0].from, "p.y[2,:]");
    let plan = parts(&[("p.y[:,2]", "c.u[1:2]"), ("p.y[1,1]", "c.u[3]")]).unwrap();
    assert_eq!(plan.connections[0].from_elements, [1..2, 4..5]);
    assert_eq!(numbers(&plan.connections[1].from_elements), [0]);
    assert_eq!(numbers(&plan.connections[1].to_elements), [2]);
    let item = &plan.units.iter().find(|unit| !unit.set.is_empty()).unwrap().set[0].items[0];
    assert_eq!(item.connections.len(), 2, "both feed one variable, which is set once");
    assert_eq!(steps(&plan).matches("set c.u").count(), 1, "in Initialization Mode too: {}", steps(&plan));
}

#[test]
fn elements_that_nobody_feeds_keep_their_start_values() {
    let plan = parts(&[("p.y[1,1]", "c.u[2]")]).unwrap();
    let item = &plan.units.iter().find(|unit| !unit.set.is_empty()).unwrap().set[0].items[0];
    assert_eq!(item.start, Some(vecud_description::Values::Float64(vec![7.0, 8.0, 9.0])));
    let whole = parts(&[("p.y[1,:]", "c.u")]).unwrap();
    let item = &whole.units.iter().find(|unit| !unit.set.is_empty()).unwrap().set[0].items[0];
    assert_eq!(item.start, None);
}

#[test]
fn without_a_start_value_an_array_is_connected_as_a_whole_only() {
    let mut consumer = description(&format!(
        "<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\" intervalDecimal=\"1\" \
         priority=\"1\"/>{VECTOR}"
    ));
    consumer.variables[1].start = None;
    let rig =
        |to| format!("[fmu.p]\npath = \"p\"\n[fmu.c]\npath = \"c\"\n[[connect]]\nfrom = \"p.y[1,:]\"\nto = \"{to}\"\n");
    let all = [description(MATRIX), consumer];
    assert!(try_build(&rig("c.u"), &all, &host()).is_ok());
    let error = try_build(&rig("c.u[1:3]"), &all, &host());
    assert!(error.is_ok(), "all of it is the whole: {error:?}");
    let one = rig("c.u[2]").replace("y[1,:]", "y[1,1]");
    assert_eq!(
        try_build(&one, &all, &host()).unwrap_err(),
        "rig.toml:7:6: c.u[2] has no start value for the elements that this connection does not feed: connect it as a whole"
    );
}

#[test]
fn a_variable_that_is_called_like_an_element_comes_first() {
    let plan = parts(&[("p.y[1,2]", "c.u[1]")]).unwrap();
    let item = &plan.units.iter().find(|unit| !unit.set.is_empty()).unwrap().set[0].items[0];
    assert_eq!((item.name.as_str(), &item.start), ("u[1]", &None));
}

#[test]
fn no_element_has_two_sources() {
    assert_eq!(
        parts(&[("p.y[1,1:2]", "c.u[1:2]"), ("p.y[2,1:2]", "c.u[2:3]")]).unwrap_err(),
        "rig.toml:10:6: c.u[2:3] already has the source p.y[1,1:2] (line 5): an input has one"
            .replace("line 5", "line 7")
    );
    assert!(parts(&[("p.y[1,1:2]", "c.u[1:2]"), ("p.y[2,1]", "c.u[3]")]).is_ok());
}

#[test]
fn parts_that_do_not_exist_or_do_not_fit_are_refused_with_their_place() {
    let refused = |from, to, message: &str| assert_eq!(parts(&[(from, to)]).unwrap_err(), message);
    refused(
        "p.y[3,1]",
        "c.u[2]",
        "rig.toml:6:8: p.y[3,1]: \"3\" is out of range: there are 2 elements in this dimension (its size is [2,3])",
    );
    refused(
        "p.y[1,1]",
        "c.u[3:2]",
        "rig.toml:7:6: c.u[3:2]: \"3:2\" is empty: it ends before it starts (its size is [3])",
    );
    refused("p.y[1]", "c.u[2]", "rig.toml:6:8: p.y[1]: the variable has 2 dimensions, not 1");
    refused("p.y[1,1:2]", "c.u", "rig.toml:7:6: p.y[1,1:2] is Float64[2], but c.u is Float64[3]");
    refused(
        "p.y[1,1]",
        "c.u",
        "rig.toml:7:6: p.y[1,1] is Float64, but c.u is Float64[3]; one of its elements is written c.u[1]",
    );
    refused("p.y[1,1]", "c.u[1:2]", "rig.toml:7:6: p.y[1,1] is Float64, but c.u[1:2] is Float64[2]");
    refused("p.z[1]", "c.u", "rig.toml:6:8: p has no variable \"z[1]\"; vecud inspect lists them");
}

/// The data of a bus, as FMI-LS-BUS has them: an array of one.
#[test]
fn of_an_array_of_one_its_element_is_named() {
    let consumer = description(&format!(
        "<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\" intervalDecimal=\"1\" \
         priority=\"1\"/>{}",
        VECTOR.replace("7 8 9", "7").replace("start=\"3\"", "start=\"1\"")
    ));
    let rig = "[fmu.p]\npath = \"p\"\n[fmu.c]\npath = \"c\"\n[[connect]]\nfrom = \"p.y[1,1]\"\nto = \"c.u\"\n";
    assert_eq!(
        try_build(rig, &[description(MATRIX), consumer], &host()).unwrap_err(),
        "rig.toml:7:6: p.y[1,1] is Float64, but c.u is Float64[1]; its element is written c.u[1]"
    );
}

fn texts(kind: &str, out_size: &str, in_size: &str, connect: &str) -> Result<Plan, String> {
    let (start, dimension) = ("<Start value=\"\"/>", "<Dimension start=\"2\"/>");
    joined(
        &format!("<{kind} name=\"y\" valueReference=\"2\" causality=\"output\" {out_size}>{dimension}</{kind}>"),
        &format!("<{kind} name=\"u\" valueReference=\"2\" causality=\"input\" {in_size}>{dimension}{start}</{kind}>"),
        &format!("{CONNECT}{connect}"),
    )
}

#[test]
fn strings_have_256_bytes_or_what_the_rig_says() {
    let capacity = |connect| texts("String", "", "", connect).unwrap().connections[0].capacity;
    assert_eq!((capacity(""), capacity("max_size = 10")), (256, 10));
    let plan = texts("String", "", "", "max_size = 10").unwrap();
    assert_eq!(plan.units.iter().flat_map(|t| t.set.iter().chain(&t.get)).map(|b| b.items[0].capacity).max(), Some(10));
    assert!(table(&plan).contains("String[2], up to 10 bytes"), "{}", table(&plan));
    assert_eq!(
        texts("String", "", "", "max_size = 0").unwrap_err(),
        "rig.toml:8:12: max_size must be a whole number of bytes above 0, not 0"
    );
    let error = texts("String", "", "", "max_size = 5000000").unwrap_err();
    assert_eq!(
        error,
        "rig.toml:8:12: p.y may have 2 times 5000000 bytes, but a connection can carry 8388608: choose a smaller max_size"
    );
}

#[test]
fn a_binary_has_room_for_what_its_producer_may_send() {
    let capacity =
        |a, b, connect| texts("Binary", a, b, connect).map(|plan| (plan.connections[0].capacity, plan.notes));
    let (small, large) = ("maxSize=\"64\"", "maxSize=\"100\"");
    assert_eq!(capacity(small, large, ""), Ok((64, vec![])));
    assert_eq!(capacity(small, "", ""), Ok((64, vec![])));
    assert_eq!(capacity(small, large, "max_size = 80"), Ok((64, vec![])));
    assert_eq!(capacity(large, small, "max_size = 64"), Ok((64, vec![])));
    assert_eq!(
        capacity(large, small, "").unwrap_err(),
        "rig.toml:7:6: p.y has up to 100 bytes, but c.u takes at most 64 (maxSize); with max_size = 64 in this [[connect]], \
         longer values are not passed on"
    );
    assert_eq!(
        capacity(large, small, "max_size = 65").unwrap_err(),
        "rig.toml:8:12: max_size is 65, but c.u takes at most 64 bytes (maxSize)"
    );
    let (size, notes) = capacity("", "", "").unwrap();
    assert_eq!(size, 4096);
    assert!(notes[0].starts_with("p.y does not say how long it gets (maxSize): values of more than 4096 bytes"));
    assert_eq!(capacity("", small, "").unwrap().0, 64);
    assert_eq!(capacity("", "", "max_size = 9"), Ok((9, vec![])));
}

#[test]
fn max_size_is_refused_where_it_means_nothing() {
    let error = joined(MATRIX, VECTOR, "[[connect]]\nfrom = \"p.y[1,:]\"\nto = \"c.u\"\nmax_size = 8\n").unwrap_err();
    assert_eq!(error, "rig.toml:8:12: max_size is for String and Binary variables; p.y[1,:] is Float64");
}

/// Whoever computes runs before whoever needs it at the same time (semantics S5); a delayed connection asks for no order.
#[test]
fn only_immediate_connections_decide_who_of_equal_periods_comes_first() {
    let fmu = description(
        "<Clock name=\"step\" valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\" \
         intervalDecimal=\"0.01\" priority=\"1\"/>\
         <Float64 name=\"in\" valueReference=\"2\" causality=\"input\" start=\"0\" variability=\"discrete\" clocks=\"1\"/>\
         <Float64 name=\"out\" valueReference=\"3\" causality=\"output\" variability=\"discrete\" clocks=\"1\"/>",
    );
    let order = |a_to_b: &str, b_to_a: &str| {
        let connect = |from: &str, to: &str, timing: &str| {
            format!("[[connect]]\nfrom = \"{from}.out\"\nto = \"{to}.in\"\ntiming = \"{timing}\"\n")
        };
        let text = "[fmu.a]\npath = \"a\"\n[fmu.b]\npath = \"b\"\n".to_owned()
            + &connect("a", "b", a_to_b)
            + &connect("b", "a", b_to_a);
        let plan = try_build(&text, &[fmu.clone(), fmu.clone()], &host()).unwrap();
        plan.units.iter().map(|unit| unit.fmu.0).collect::<Vec<_>>()
    };
    assert_eq!(order("immediate", "delayed"), [0, 1]);
    assert_eq!(order("delayed", "immediate"), [1, 0]);
    assert_eq!(order("delayed", "delayed"), [0, 1]);
}
