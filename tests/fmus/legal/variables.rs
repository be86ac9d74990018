//! Variables: which of them may be set and read when (2.2.7.2, 2.2.8.3, 2.3.2 to 2.3.8, 5.2.1). The base refuses the rest.

use crate::legal::case::Legal;
use crate::legal::clocks::{BASE, EVERY_20_MS};

const ALL: &str = "[record]\nsignals = ['*']\n";

fn legal(variables: &str, hook: &str) -> Legal {
    Legal::new(&(BASE.to_owned() + variables), hook).tables(ALL).at(1, &EVERY_20_MS)
}

/// Every type that is a number or a Boolean as a scalar and as an array, clocked and not: outputs of one instance are
/// read, inputs of the other are set, each with all of its elements.
#[test]
fn variables_of_all_types() {
    const TYPES: [&str; 11] =
        ["Float32", "Float64", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Boolean"];
    let (mut variables, mut connections, mut hook) = (String::new(), String::new(), String::from("ON(1) {"));
    let shapes = [("", ""), ("", "clocks='1'"), ("<Dimension start='2'/><Dimension start='3'/>", "clocks='1'")];
    for (place, name) in TYPES.into_iter().enumerate() {
        for (shape, (dimensions, clocks)) in shapes.into_iter().enumerate() {
            let vr = 100 + place * 20 + shape * 3;
            let (input, output, parameter) = (vr, vr + 1, vr + 2);
            let start = if name == "Boolean" { "true" } else { "1" };
            variables += &format!(
                "<{name} name='u{input}' valueReference='{input}' causality='input' variability='discrete' {clocks} \
                 start='{start}'>{dimensions}</{name}>\
                 <{name} name='y{output}' valueReference='{output}' causality='output' variability='discrete' {clocks}>\
                 {dimensions}</{name}>\
                 <{name} name='p{parameter}' valueReference='{parameter}' causality='parameter' variability='tunable' \
                 start='{start}'>{dimensions}</{name}>"
            );
            connections += &format!("[[connect]]\nfrom = 'a.y{output}'\nto = 'b.u{input}'\n");
            hook += &format!("put(m, {output}, elements(m, {output}) - 1, 1);");
        }
    }
    legal(&variables, &(hook + "}")).instances(&["a", "b"]).tables(&(ALL.to_owned() + &connections)).runs();
}

/// 2.2.7.2: what an FMU lends is worth nothing after its next call, for which the base sees; what arrives is whole, of one
/// activation, of every length, with bytes of 0, and arrays of them.
#[test]
fn strings_and_binaries_in_transit() {
    let dimension = "<Dimension start='2'/>";
    let (mut variables, mut tables) = (String::new(), ALL.to_owned());
    for (kind, vr, limit) in [("String", 10, ""), ("Binary", 20, "maxSize='256'")] {
        let both = "<Start value=''/><Start value=''/>";
        variables += &format!(
            "<{kind} name='y{vr}' valueReference='{vr}' causality='output' variability='discrete' clocks='1' {limit}/>\
             <{kind} name='ys{vr}' valueReference='{}' causality='output' variability='discrete' {limit}>{dimension}</{kind}>\
             <{kind} name='u{vr}' valueReference='{}' causality='input' variability='discrete' {limit}><Start value=''/></{kind}>\
             <{kind} name='us{vr}' valueReference='{}' causality='input' variability='discrete' clocks='1' {limit}>\
             {dimension}{both}</{kind}>",
            vr + 1,
            vr + 2,
            vr + 3
        );
        tables += &format!(
            "[[connect]]\nfrom = 'a.y{vr}'\nto = 'b.u{vr}'\n[[connect]]\nfrom = 'a.ys{vr}'\nto = 'b.us{vr}'\n"
        );
    }
    // Of activation k: 40 k letters, and as many bytes of which some are 0. Nothing, then the last or the one before.
    let hook = "ON(1) { uint8_t all[256]; char text[256]; size_t some = 0; \
        for (size_t place = 0; place < 3; place++) { \
            const char *word = place < 2 ? string(m, 13, place) : string(m, 12, 0); \
            size_t size = strlen(word), k = size / 40; \
            EXPECT(size % 40 == 0 && (k == 0 || k == n || k == n - 1) && strspn(word, (char[]){(char)('a' + k), 0}) == size); \
            const uint8_t *got = place < 2 ? bytes(m, 23, place) : bytes(m, 22, 0); \
            size = (size_t)(place < 2 ? value(m, 23, place) : value(m, 22, 0)), k = size / 40; \
            EXPECT(size % 40 == 0 && (k == 0 || k == n || k == n - 1)); \
            for (size_t i = 0; i < size; i++) EXPECT(got[i] == i % k); \
            some += k; } \
        if (n == 5 && some >= 12) remark(m, \"all have come\"); \
        for (size_t i = 0; i < 40 * n; i++) all[i] = (uint8_t)(i % n), text[i] = (char)('a' + n); \
        text[40 * n] = 0; \
        put_string(m, 10, 0, text), put_string(m, 11, 0, text), put_string(m, 11, 1, text); \
        put_bytes(m, 20, 0, all, 40 * n), put_bytes(m, 21, 0, all, 40 * n), put_bytes(m, 21, 1, all, 40 * n); }";
    legal(&variables, hook).instances(&["a", "b"]).tables(&tables).remarks("all have come").runs();
}

/// 2.3.2: what is set before Initialization Mode: inputs, parameters and whatever has `initial` exact or approx, of no
/// clock.
#[test]
fn start_values_of_the_rig() {
    let variables = "<Float64 name='p' valueReference='10' causality='parameter' variability='fixed' start='1'/>\
        <Int32 name='q' valueReference='11' causality='parameter' variability='tunable' start='1'/>\
        <Float64 name='u' valueReference='12' causality='input' variability='discrete' start='1'/>\
        <Float64 name='y' valueReference='13' causality='output' variability='discrete' initial='calculated'/>\
        <Boolean name='on' valueReference='14' causality='parameter' variability='fixed' start='false'/>\
        <String name='word' valueReference='15' causality='parameter' variability='fixed'><Start value='none'/></String>\
        <Float64 name='c' valueReference='16' causality='local' variability='constant' start='3'/>";
    let hook = "AT(INITIALIZATION_ENDS) EXPECT(VALUE(10) == 2 && VALUE(11) == 3 && VALUE(12) == 4 && VALUE(14) == 1 && \
                strcmp(string(m, 15, 0), \"ä word\") == 0);";
    legal(variables, hook).keys("start = { p = 2.0, q = 3, u = 4, on = true, word = 'ä word' }").runs();
}

/// 2.2.8.3: a variable of two clocks may be read after the activation of either.
#[test]
fn a_variable_of_two_clocks() {
    let variables = "<Clock name='other' valueReference='2' causality='input' priority='6' \
        intervalVariability='constant' intervalDecimal='0.05'/>\
        <UInt64 name='count' valueReference='10' causality='output' variability='discrete' clocks='1 2'/>\
        <UInt64 name='mine' valueReference='11' causality='output' variability='discrete' clocks='2'/>";
    legal(variables, "AT(ACTIVATED) PUT(10, VALUE(10) + 1);").at(2, &[0.0, 0.05]).runs();
}

/// 2.2.8.3: a variable of an output clock may be read only while that clock is active: after each second activation.
#[test]
fn a_variable_of_an_output_clock() {
    let variables = "<Clock name='out' valueReference='3' causality='output' intervalVariability='triggered' clocks='1'/>\
        <Float64 name='y' valueReference='10' causality='output' variability='discrete' clocks='3'/>";
    legal(variables, "ON(1) if (n % 2 == 0) { PUT(10, n); TICK(3); UPDATE(); }").runs();
}

/// 2.2.7.2: a clocked variable may be set in Initialization Mode, whoever ticks, and not before.
#[test]
fn start_values_of_clocked_inputs() {
    let variables = "<Float64 name='u' valueReference='10' causality='input' variability='discrete' clocks='1' start='1'/>\
        <Int32 name='v' valueReference='11' causality='input' variability='discrete' clocks='1' start='1'/>";
    legal(variables, "AT(INITIALIZATION_ENDS) EXPECT(VALUE(10) == 2 && VALUE(11) == 3);")
        .keys("start = { u = 2.0, v = 3 }")
        .runs();
}

/// 2.2.8.3: one that nobody initialises has its first value at its clock's first tick; a run may end before that.
#[test]
fn a_clocked_output_whose_clock_never_ticks() {
    let variables = "<Clock name='never' valueReference='2' causality='input' priority='6' \
        intervalVariability='countdown'/>\
        <Float64 name='y' valueReference='10' causality='output' variability='discrete' clocks='2'/>";
    legal(variables, "").at(2, &[]).runs();
}

/// Set, activate, get, of two FMUs of which one feeds the other: clocked inputs and others (5.2.1).
#[test]
fn inputs_are_set_before_the_activation_of_their_own_clock() {
    let variables = "<Clock name='slow' valueReference='2' causality='input' priority='6' \
        intervalVariability='constant' intervalDecimal='0.04'/>\
        <Float64 name='y' valueReference='10' causality='output' variability='discrete' clocks='1'/>\
        <Float64 name='u' valueReference='11' causality='input' variability='discrete' clocks='1' start='0'/>\
        <Float64 name='v' valueReference='12' causality='input' variability='discrete' clocks='2' start='0'/>\
        <Float64 name='w' valueReference='13' causality='input' variability='discrete' start='0'/>";
    let hook = "ON(1) { EXPECT(VALUE(11) == 0 || VALUE(11) == n || VALUE(11) == n - 1); PUT(10, n); }";
    let connect = |to: &str| format!("[[connect]]\nfrom = 'a.y'\nto = 'b.{to}'\n");
    legal(variables, hook)
        .instances(&["a", "b"])
        .tables(&(connect("u") + &connect("v") + &connect("w")))
        .at(2, &[0.0, 0.04, 0.08])
        .runs();
}

/// 2.3.6: Configuration Mode is for structural parameters, and arrays of no elements are arrays.
#[test]
fn arrays_that_a_structural_parameter_empties() {
    let variables = "<UInt64 name='n' valueReference='9' causality='structuralParameter' variability='fixed' start='3'/>\
        <Float64 name='y' valueReference='10' causality='output' variability='discrete' clocks='1'>\
        <Dimension valueReference='9'/></Float64>\
        <Float64 name='p' valueReference='11' causality='parameter' variability='fixed' start='1 2 3'>\
        <Dimension valueReference='9'/></Float64>";
    legal(variables, "ON(1) EXPECT(elements(m, 10) == 0 && elements(m, 11) == 0);").keys("start = { n = 0 }").runs();
}

/// Without a change of them nobody enters Configuration Mode (the base would take it; the sizes are the XML's).
#[test]
fn arrays_sized_by_a_structural_parameter_as_it_starts() {
    let variables = "<UInt64 name='n' valueReference='9' causality='structuralParameter' variability='tunable' start='3'/>\
        <Float64 name='y' valueReference='10' causality='output' variability='discrete' clocks='1'>\
        <Dimension valueReference='9'/><Dimension start='2'/></Float64>";
    legal(variables, "ON(1) EXPECT(elements(m, 10) == 6);").runs();
}

/// 2.3.5 and 5.2.1 list what may be set: constants, locals and calculated parameters are only ever read.
#[test]
fn what_is_not_for_the_importer_is_only_read() {
    let variables = "<Float64 name='c' valueReference='10' causality='output' variability='constant' start='3'/>\
        <Float64 name='l' valueReference='11' causality='local' variability='discrete' initial='exact' start='4'/>\
        <Float64 name='k' valueReference='12' causality='calculatedParameter' variability='fixed'/>\
        <Float64 name='t' valueReference='13' causality='calculatedParameter' variability='tunable'/>\
        <Float64 name='a' valueReference='14' causality='local' variability='discrete' initial='approx' start='5'/>";
    legal(variables, "").runs();
}

#[test]
fn partitions_that_share_an_output_of_no_clock() {
    let variables = "<Clock name='other' valueReference='2' causality='input' priority='6' \
        intervalVariability='constant' intervalDecimal='0.03'/>\
        <UInt64 name='count' valueReference='10' causality='output' variability='discrete' initial='calculated'/>";
    legal(variables, "AT(ACTIVATED) { LOCK(); PUT(10, VALUE(10) + 1); UNLOCK(); }")
        .at(2, &[0.0, 0.03, 0.06, 0.09])
        .runs();
}

/// 2.4.7: the independent variable has a name and a type of its own choice.
#[test]
fn an_independent_variable_of_another_name_and_type() {
    let time = "<Float32 name='x y z' valueReference='77' causality='independent' variability='continuous'/>";
    legal(time, "").own_time().runs();
}

/// Its unit may be the second, by whatever name.
#[test]
fn an_independent_variable_in_seconds() {
    let time = "<Float64 name='t' valueReference='0' causality='independent' variability='continuous' unit='sec'/>";
    legal(time, "")
        .own_time()
        .elements(
            "<UnitDefinitions><Unit name='sec'><BaseUnit s='1'/></Unit></UnitDefinitions>\
                   <LogCategories><Category name='logStatusError'/></LogCategories>",
        )
        .runs();
}
