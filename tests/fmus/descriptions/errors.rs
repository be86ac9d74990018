//! Model descriptions that are wrong: the message, and the exact place. In each text `§` marks where the error must be;
//! it is taken out before parsing.

use super::size::processor_time;
use proptest::prelude::*;
use vecud::fmu::description::{self, DescriptionError};

const MARK: char = '§';

/// Parses the text without its mark and checks that the error is there and says `message`.
#[track_caller]
fn refused(marked: &str, message: &str) {
    let (before, _) = marked.split_once(MARK).expect("the text has a mark");
    let (line, column) =
        (before.lines().count().max(1) as u32, 1 + before.lines().last().map_or(0, |l| l.chars().count()));
    let (line, column) = if before.ends_with('\n') { (line + 1, 1) } else { (line, column as u32) };
    let text = marked.replace(MARK, "");
    match description::parse(&text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => {
            assert!(error.message.contains(message), "wanted {message:?}, got: {error}\n{text}");
            assert_eq!((error.line, error.column), (line, column), "{error}\n{text}");
        }
    }
}

const HEAD: &str = "<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken=''>\n";
const SE: &str = "<ScheduledExecution modelIdentifier='m'/>\n";
const TAIL: &str = "</fmiModelDescription>\n";

fn in_root(marked: &str) -> String {
    format!("{HEAD}{marked}{TAIL}")
}

fn in_variables(marked: &str) -> String {
    in_root(&format!("{SE}<ModelVariables>\n  {marked}\n</ModelVariables>\n<ModelStructure/>"))
}

#[test]
fn texts_that_are_no_model_description() {
    for (marked, message) in [
        ("§", "is empty"),
        ("<a>\n  <b>§", "malformed XML"),
        ("<a>\n  ü§</b></a>", "malformed XML: expected 'a' tag, not 'b'"),
        ("<fmiModelDescription fmiVersion='3.0' §fmiVersion='3.0'/>", "attribute 'fmiVersion' is already defined"),
        (
            "<?xml version='1.0'?>\n<!-- <!DOCTYPE -->\n §<!DOCTYPE a [<!ENTITY b 'c'>]>\n<a>&b;</a>",
            "contains a DTD, which is refused",
        ),
        ("§\u{feff}<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "contains a DTD, which is refused"),
        ("<!-- -->\n§<html/>", "the root element is <html>, not <fmiModelDescription>"),
        ("\n §<fmiModelDescription/>", "attribute `fmiVersion` is missing"),
        ("<?a?>§<ü:fmiModelDescription xmlns:ü='u'/>", "attribute `fmiVersion` is missing"),
        ("§<:html/>", "the root element is <html>"),
        ("<fmiModelDescription\n\t§fmiVersion='4.0'/>", "is no version of FMI that this build"),
        ("<fmiModelDescription §:fmiVersion='4.0'/>", "is no version of FMI that this build"),
    ] {
        refused(marked, message);
    }
}

#[test]
fn only_known_versions() {
    let text = |version: &str| {
        format!(
            "<fmiModelDescription modelName='m' §fmiVersion='{version}' instantiationToken=''>{SE}<ModelVariables/></fmiModelDescription>"
        )
    };
    for version in [
        "2.0-rc.1", "2.1", "1.1", "2.0.x", "2.0.", "", "3", "4.0", "4.1", "3.0.x", "3.x", "3.1.", "3.1.2.3", "3.",
        "30.1", "3.0-", "3.1-", "v3.0", "2",
    ] {
        refused(&text(version), "is no version of FMI that this build");
    }
    for version in ["3.0", "3.0.1", "3.0.2", "3.0-rc.2", "3.0.1-beta", "3.1", "3.1.2", "3.12", "3.1-beta.1"] {
        assert!(description::parse(&text(version).replace(MARK, "")).is_ok(), "{version}");
    }
}

#[test]
fn the_root_and_its_sections() {
    for (marked, message) in [
        ("§<fmiModelDescription fmiVersion='3.0' instantiationToken=''/>", "`modelName` is missing"),
        ("§<fmiModelDescription fmiVersion='3.0' modelName=''/>", "`instantiationToken` is missing"),
        ("<fmiModelDescription fmiVersion='3.0' modelName='' §guid=''/>", "guid=\"\" is of FMI 2.0"),
        (
            "<fmiModelDescription fmiVersion='3.0' modelName='' instantiationToken='' §variableNamingConvention='x'/>",
            "is none of flat, structured",
        ),
        ("§<fmiModelDescription fmiVersion='3.0' modelName='' instantiationToken=''/>", "has none of <ModelExchange>"),
        (&format!("§{HEAD}{SE}{TAIL}"), "has no <ModelVariables>"),
        (&in_root(&format!("{SE}\n §{SE}")), "<ScheduledExecution> is given twice (first in line 2)"),
        (&in_root("§<CoSimulation/>"), "`modelIdentifier` is missing"),
        (&in_root("<CoSimulation §modelIdentifier='../m'/>"), "cannot be the name of a library's file"),
        (&in_root("<CoSimulation §modelIdentifier=''/>"), "cannot be the name of a library's file"),
        (&in_root("<CoSimulation modelIdentifier='m' §hasEventMode='yes'/>"), "is not true, false, 1 or 0"),
        (&in_root(&format!("{SE}<DefaultExperiment §stopTime='1s'/>")), "is not a number"),
        (&in_root(&format!("{SE}<LogCategories>§<Category/></LogCategories>")), "`name` is missing"),
    ] {
        refused(marked, message);
    }
}

#[test]
fn units_and_types() {
    for (marked, message) in [
        ("<UnitDefinitions><Unit name='m'/>§<Unit name='m'/></UnitDefinitions>", "exists already"),
        (
            "<UnitDefinitions><Unit name='m'><DisplayUnit name='d'/>§<DisplayUnit name='d'/></Unit></UnitDefinitions>",
            "given twice",
        ),
        ("<UnitDefinitions><Unit name='m'><BaseUnit §m='1.5'/></Unit></UnitDefinitions>", "is not an integer"),
        ("<UnitDefinitions><Unit name='m'><BaseUnit/>§<BaseUnit/></Unit></UnitDefinitions>", "given twice"),
        ("<UnitDefinitions><Unit name='m'>§<DisplayUnit name='d' factor='0'/></Unit></UnitDefinitions>", "not 0"),
        ("<TypeDefinitions><Int8Type name='T'/>§<Int8Type name='T'/></TypeDefinitions>", "exists already"),
        ("<TypeDefinitions><Int8Type name='T' §min='200'/></TypeDefinitions>", "an integer from -128 to 127"),
        ("<TypeDefinitions>§<EnumerationType name='E'/></TypeDefinitions>", "at least one <Item>"),
        (
            "<TypeDefinitions><EnumerationType name='E'><Item name='a' value='1'/>§<Item name='a' value='2'/></EnumerationType></TypeDefinitions>",
            "given twice",
        ),
        (
            "<TypeDefinitions><EnumerationType name='E'><Item name='a' value='1'/><Item name='b' §value='1'/></EnumerationType></TypeDefinitions>",
            "is given twice in type \"E\"",
        ),
        ("<TypeDefinitions>§<ClockType name='C'/></TypeDefinitions>", "`intervalVariability` is missing"),
    ] {
        refused(&in_root(&format!("{SE}{marked}")), message);
    }
}

#[test]
fn attributes_and_start_values_of_variables() {
    for (marked, message) in [
        ("§<Int8 valueReference='1'/>", "`name` is missing"),
        ("<Int8 §name='' valueReference='1'/>", "is empty"),
        ("§<Int8 name='x'/>", "<Int8> \"x\": attribute `valueReference` is missing"),
        ("<Int8 name='x' §valueReference='-1'/>", "is not a value reference"),
        ("<Int8 name='x' §valueReference='4294967296'/>", "is not a value reference"),
        ("<Int8 name='x' valueReference='1' §causality='Input'/>", "is none of structuralParameter, parameter"),
        ("<Int8 name='x' valueReference='1' initial='exact' §start='128'/>", "an integer from -128 to 127"),
        ("<UInt8 name='x' valueReference='1' initial='exact' §start='-1'/>", "an integer from 0 to 255"),
        ("<Int32 name='x' valueReference='1' initial='exact' §start='1.0'/>", "an integer from -2147483648"),
        ("<Float64 name='x' valueReference='1' initial='exact' §start='inf'/>", "is not a number"),
        ("<Float64 name='x' valueReference='1' initial='exact' §start='1,5'/>", "has an item \"1,5\""),
        ("<Float64 name='x' valueReference='1' initial='exact' §start=' '/>", "has no value"),
        ("<UInt8 name='x' valueReference='1' initial='exact' §start='-00 -'/>", "has an item \"-\""),
        ("<Float64 name='x' valueReference='1' §min='1 2'/>", "is not a single value"),
        ("<Float64 name='x' valueReference='1' initial='exact' §start='1 2'/>", "2 start values for one value"),
        ("<Boolean name='x' valueReference='1' initial='exact' §start='TRUE'/>", "true, false, 1 or 0"),
        ("§<Float64 name='x' valueReference='1' causality='input'/>", "<Float64> \"x\": a start value is missing"),
        ("§<Float64 name='x' valueReference='1' causality='parameter'/>", "a start value is missing"),
        ("§<Float64 name='x' valueReference='1' variability='constant'/>", "a start value is missing"),
        ("§<Float64 name='x' valueReference='1' initial='approx'/>", "a start value is missing"),
        ("§<Float64 name='x' valueReference='1' causality='independent' start='0'/>", "has no start value"),
        ("<Binary name='x' valueReference='1'><Start §value='abc'/></Binary>", "odd number of hexadecimal digits"),
        ("<Binary name='x' valueReference='1'><Start §value='0g'/></Binary>", "is not hexadecimal"),
        ("§<Enumeration name='x' valueReference='1'/>", "`declaredType` is missing"),
        ("<Int8 name='x' valueReference='1' §declaredType='T'/>", "is no type of <TypeDefinitions>"),
        ("<Int8 name='x' valueReference='1'>§<Alias/></Int8>", "`name` is missing"),
    ] {
        refused(&in_variables(marked), message);
    }
    let types = "<TypeDefinitions><Int8Type name='T'/></TypeDefinitions>";
    let variables = "<ModelVariables><Int16 name='x' valueReference='1' §declaredType='T'/></ModelVariables>";
    refused(&in_root(&format!("{SE}{types}\n{variables}")), "is a <Int8Type>, not a <Int16Type>");
}

/// FMI 3.0, 2.4.7.4: for each combination the allowed values of `initial`, the default first; `-`: not allowed at all.
const TABLE: [(&str, [(&str, &str); 7]); 5] = {
    const OPEN: &str = "calculated exact approx";
    const FIXED: &str = "calculated approx";
    const fn row(cells: [&'static str; 7]) -> [(&'static str, &'static str); 7] {
        [
            ("structuralParameter", cells[0]),
            ("parameter", cells[1]),
            ("calculatedParameter", cells[2]),
            ("input", cells[3]),
            ("output", cells[4]),
            ("local", cells[5]),
            ("independent", cells[6]),
        ]
    }
    [
        ("constant", row(["-", "-", "-", "-", "exact", "exact", "-"])),
        ("fixed", row(["exact", "exact", FIXED, "-", "-", FIXED, "-"])),
        ("tunable", row(["exact", "exact", FIXED, "-", "-", FIXED, "-"])),
        ("discrete", row(["-", "-", "-", "exact", OPEN, OPEN, "-"])),
        ("continuous", row(["-", "-", "-", "exact", OPEN, OPEN, ""])),
    ]
};

#[test]
fn causality_variability_and_initial_by_the_standard_s_table() {
    for (variability, row) in TABLE {
        for (causality, allowed) in row {
            let variable = |mark: &str, initial: &str, start: &str| {
                in_variables(&format!(
                    "<Float64 name='x' valueReference='1' causality='{causality}' {mark}variability='{variability}'{initial}{start}/>"
                ))
            };
            if allowed == "-" {
                refused(&variable("§", "", ""), &format!("causality {causality} with variability {variability}"));
                continue;
            }
            let start = |initial: &str| if matches!(initial, "exact" | "approx") { " start='1'" } else { "" };
            let default = allowed.split(' ').next().unwrap();
            let found = description::parse(&variable("", "", start(default))).unwrap();
            let initial = found.variables[0].initial.map(|initial| format!("{initial:?}").to_lowercase());
            assert_eq!(initial.unwrap_or_default(), default, "{causality} {variability}");
            for initial in ["exact", "approx", "calculated"] {
                let text = variable("", &format!(" §initial='{initial}'"), start(initial));
                if allowed.split(' ').any(|other| other == initial) {
                    assert!(description::parse(&text.replace(MARK, "")).is_ok(), "{text}");
                } else {
                    refused(&text, &format!("does not go with causality {causality} and variability {variability}"));
                }
            }
        }
    }
}

#[test]
fn combinations_that_depend_on_the_type() {
    for (marked, message) in [
        ("<Int8 name='x' valueReference='1' §variability='continuous'/>", "only Float64 and Float32 are continuous"),
        ("<Int8 name='x' valueReference='1' §causality='independent'/>", "is a Float64 or Float32"),
        (
            "<Clock name='x' valueReference='1' §causality='parameter' intervalVariability='triggered'/>",
            "input, output or local",
        ),
        (
            "<Clock name='x' valueReference='1' §variability='tunable' intervalVariability='triggered'/>",
            "a clock is discrete",
        ),
        (
            "<Clock name='x' valueReference='1' intervalVariability='triggered'>§<Dimension start='2'/></Clock>",
            "not an array",
        ),
        (
            "§<UInt64 name='x' valueReference='1' causality='structuralParameter' start='1'><Dimension start='2'/></UInt64>",
            "a structuralParameter has no <Dimension>",
        ),
    ] {
        refused(&in_variables(marked), message);
    }
}

#[test]
fn clocks() {
    for (marked, message) in [
        ("§<Clock name='c' valueReference='1'/>", "`intervalVariability` is missing"),
        ("§<Clock name='c' valueReference='1' interval='constant'/>", "pre-release of FMI 3.0 called it `interval`"),
        ("<Clock name='c' valueReference='1' §intervalVariability='periodic'/>", "is none of constant, fixed, tunable"),
        ("§<Clock name='c' valueReference='1' intervalVariability='constant'/>", "a constant clock needs an interval"),
    ] {
        refused(&in_variables(marked), message);
    }
    for (attributes, message) in [
        ("§intervalDecimal='0'", "must be greater than 0"),
        ("§intervalDecimal='0.0e5'", "must be greater than 0"),
        ("§intervalDecimal='-0.01'", "is negative"),
        ("§intervalDecimal='NaN'", "is not finite"),
        ("§intervalDecimal='INF'", "is not finite"),
        ("§intervalDecimal='1/100'", "is not a number"),
        ("§intervalDecimal='1e-300'", "is too small"),
        ("§intervalDecimal='1e300'", "more digits"),
        ("intervalDecimal='1' §shiftDecimal='-1'", "is negative"),
        ("intervalDecimal='1' §shiftCounter='1'", "needs the attribute `resolution`"),
        ("intervalDecimal='1' §resolution='0'", "must be greater than 0"),
        ("§intervalCounter='0' resolution='10'", "must be greater than 0"),
        (
            "§intervalCounter='2' resolution='18446744073709551615'",
            "<Clock> \"c\": intervalCounter=\"2\" with resolution=18446744073709551615 cannot be represented by vecud",
        ),
        ("§intervalCounter='1'", "needs the attribute `resolution`"),
        ("§intervalCounter='-1' resolution='10'", "is not an integer from 0"),
        ("intervalDecimal='1' §priority='-1'", "is not an integer from 0"),
        ("intervalDecimal='1' §canBeDeactivated='maybe'", "is not true"),
    ] {
        for variability in ["constant", "fixed", "tunable"] {
            let clock =
                format!("<Clock name='c' valueReference='1' intervalVariability='{variability}' {attributes}/>");
            refused(&in_variables(&clock), message);
        }
    }
}

#[test]
fn variables_that_refer_to_others() {
    let n = "<UInt64 name='n' valueReference='2' causality='structuralParameter' start='3'/>";
    for (marked, message) in [
        ("<Int8 name='x' valueReference='1'/><Int8 §name='x' valueReference='2'/>", "is the name of line 4 already"),
        (
            "<Int8 name='x' valueReference='1'/><Int8 name='y' valueReference='2'><Alias name='z'/><Alias §name='x'/></Int8>",
            "<Alias> \"x\": name=\"x\" is the name of line 4 already",
        ),
        (
            "<Int8 name='x' valueReference='1'/>\n<Int8 name='y' §valueReference='1'/>",
            "<Int8> \"y\": valueReference=\"1\" is the value reference of \"x\" (line 4) already",
        ),
        (
            "<Float64 name='s' valueReference='1' causality='independent'/>\n§<Float64 name='t' valueReference='2' causality='independent'/>",
            "the independent variable is \"s\" (line 4) already",
        ),
        ("<Int8 name='x' valueReference='1' §clocks='7'/>", "names 7, which no variable has"),
        ("<Int8 name='x' valueReference='1' §clocks='two'/>", "has an item \"two\""),
        (
            "<Int8 name='y' valueReference='2'/>\n<Int8 name='x' valueReference='1' §clocks='2'/>",
            "<Int8> \"x\": clocks=\"2\" names \"y\" (line 4), which is no clock",
        ),
        ("<Int8 name='x' valueReference='1'><Dimension §valueReference='7'/></Int8>", "names 7, which no variable has"),
        ("<Int8 name='x' valueReference='1'><Dimension §start='0'/></Int8>", "must be greater than 0"),
        ("<Int8 name='x' valueReference='1'>§<Dimension/></Int8>", "either `start` or `valueReference`"),
        ("<Int8 name='x' valueReference='1'>§<Dimension start='1' valueReference='2'/></Int8>", "not both"),
        (
            "<UInt64 name='n' valueReference='2'/><Int8 name='x' valueReference='1'>§<Dimension valueReference='2'/></Int8>",
            "its dimension \"n\" is neither a structuralParameter nor constant",
        ),
        (
            "<UInt32 name='n' valueReference='2' variability='constant' start='1'/><Int8 name='x' valueReference='1'>§<Dimension valueReference='2'/></Int8>",
            "its dimension \"n\" is no UInt64",
        ),
        (
            "<UInt64 name='n' valueReference='2' variability='constant' start='0'/><Int8 name='x' valueReference='1'>§<Dimension valueReference='2'/></Int8>",
            "its dimension \"n\" has the start value 0",
        ),
        (
            &format!(
                "{n}<Int8 name='x' valueReference='1' initial='exact' §start='1 2'><Dimension valueReference='2'/></Int8>"
            ),
            "2 start values for 3 elements",
        ),
        (
            "§<String name='x' valueReference='1' initial='exact'><Dimension start='3'/><Start/><Start/></String>",
            "2 start values for 3 elements",
        ),
        (
            "§<Int8 name='x' valueReference='1'><Dimension start='4294967296'/><Dimension start='4294967296'/></Int8>",
            "more elements than memory has addresses",
        ),
        ("<Float64 name='x' valueReference='1' §derivative='7'/>", "names 7, which no variable has"),
        (
            "<Int8 name='y' valueReference='2'/><Float64 name='x' valueReference='1' §derivative='2'/>",
            "names \"y\", which is no Float64",
        ),
        ("<Int8 name='x' valueReference='1' §previous='7'/>", "names 7, which no variable has"),
        ("<Int8 name='x' valueReference='1' §previous='1'/>", "names the variable itself"),
        (
            "<Int16 name='y' valueReference='2'/><Int8 name='x' valueReference='1' §previous='2'/>",
            "names \"y\", which is of another type",
        ),
    ] {
        refused(&in_variables(marked), message);
    }
}

#[test]
fn the_model_structure() {
    for (marked, message) in [
        ("§<Output/>", "`valueReference` is missing"),
        ("<Output §valueReference='9'/>", "is no variable's"),
        ("<Output valueReference='1' §dependencies='2 9'/>", "names 9, which no variable has"),
        (
            "<Output valueReference='1' dependencies='2' §dependenciesKind='fixed fixed'/>",
            "has 2 items, but `dependencies` has 1",
        ),
        ("<Output valueReference='1' dependencies='2' §dependenciesKind='linear'/>", "none of dependent, constant"),
        ("<Output valueReference='1' §dependenciesKind='fixed'/>", "needs the attribute `dependencies`"),
        ("§<ContinuousStateDerivative valueReference='1'/>", "\"y\" (line 3), which has no attribute `derivative`"),
    ] {
        let variables =
            "<Float64 name='y' valueReference='1' causality='output'/><Float64 name='x' valueReference='2'/>";
        let text =
            format!("{SE}<ModelVariables>{variables}</ModelVariables>\n<ModelStructure>{marked}</ModelStructure>");
        refused(&in_root(&text), message);
    }
}

#[test]
fn an_error_reads_like_a_compiler_s() {
    let error = DescriptionError { line: 3, column: 7, message: "is wrong".to_owned() };
    assert_eq!(error.to_string(), "modelDescription.xml:3:7: is wrong");
    let long = in_variables(&format!("<Float64 name='x' valueReference='1' start='{}'/>", "1.5 x ".repeat(10_000)));
    assert!(description::parse(&long).unwrap_err().message.len() < 200, "long values are cut");
}

#[test]
fn texts_that_are_dear_to_parse_are_refused() {
    let deep = format!("{HEAD}{}{}{TAIL}", "<a>".repeat(200_000), "</a>".repeat(200_000));
    assert!(description::parse(&deep).is_err());
    let attributes: String = (0..200_000).map(|i| format!(" a{i}=''")).collect();
    let error = description::parse(&in_variables(&format!("<Int8{attributes}/>"))).unwrap_err();
    assert!(error.message.contains("more than 1000 attributes"), "{error}");
    let types = format!("<TypeDefinitions><Float64Type name='T' §unit='{}'/></TypeDefinitions>", "u".repeat(1001));
    refused(&in_root(&format!("{SE}{types}")), "is longer than 1000 characters");
}

/// Each declaration is handed down to every element inside.
#[test]
fn namespaces_inside_of_each_other_are_refused_before_they_cost_anything() {
    let nested = |n: usize| (0..n).map(|i| format!("<a{i} xmlns:p{i}='u{i}'>")).collect::<String>();
    let start = processor_time();
    for text in [nested(4_000), nested(9_900), "<a xmlns:b='c'>".repeat(100_000)] {
        let error = description::parse(&text).unwrap_err();
        assert!(error.message.contains("namespace declarations inside of each other"), "{error}");
    }
    // Each element looks through all that apply to it, too.
    let all: String = (0..999).map(|i| format!(" xmlns:p{i}='u'")).collect();
    let wide = format!("<a{all}>{}</a>", "<b/>".repeat(1_000_000));
    assert!(description::parse(&wide).unwrap_err().message.contains("namespace declarations"));
    let long: String = (0..900).map(|i| format!(" xmlns:{}{i}='u'", "p".repeat(10_000))).collect();
    let dear = format!("<a{long}>{}</a>", "<b/>".repeat(10_000));
    assert!(description::parse(&dear).unwrap_err().message.contains("namespace declarations"));
    let took = processor_time() - start;
    assert!(took.as_secs() < 20, "{took:?}");
}

/// A small description with every kind of element, to be damaged.
const WHOLE: &str = "<?xml version='1.0'?><fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken='ü'>\
    <ModelExchange modelIdentifier='m'/><UnitDefinitions><Unit name='m'><BaseUnit m='1' offset='1'/><DisplayUnit name='k'/>\
    </Unit></UnitDefinitions><TypeDefinitions><EnumerationType name='E'><Item name='a' value='1'/></EnumerationType>\
    <ClockType name='C' intervalVariability='fixed' intervalDecimal='0.1'/></TypeDefinitions><ModelVariables>\
    <UInt64 name='n' valueReference='1' causality='structuralParameter' start='2'/>\
    <Float64 name='x' valueReference='2' unit='m' initial='exact' start='1 INF'><Dimension valueReference='1'/></Float64>\
    <Clock name='c' valueReference='3' declaredType='C' intervalVariability='fixed' shiftCounter='1' resolution='9'/>\
    <Binary name='b' valueReference='4' causality='input' clocks='3'><Start value='00ff'/><Alias name='é'/></Binary>\
    <Enumeration name='e' valueReference='5' declaredType='E' clocks='3'/></ModelVariables>\
    <ModelStructure><Output valueReference='2' dependencies='1 4' dependenciesKind='fixed dependent'/></ModelStructure>\
    </fmiModelDescription>";

#[test]
fn the_text_to_be_damaged_is_right() {
    assert!(description::parse(WHOLE).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn damaged_texts_never_panic(cuts in prop::collection::vec((0..WHOLE.len(), 0..20usize, "[ -~ü<>'=0-9]{0,6}"), 1..4)) {
        let mut text: Vec<char> = WHOLE.chars().collect();
        for (at, length, replacement) in cuts {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, replacement.chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(error) = description::parse(&text) {
            prop_assert!(error.line as usize <= text.lines().count().max(1), "{error}");
            prop_assert!(error.column >= 1);
        }
    }

    #[test]
    fn attribute_values_of_any_kind_never_panic(which in 0..60usize, value in "[-+0-9.eEINFa ]{0,12}|\\PC{0,8}") {
        let value = value.replace(['\'', '<', '&'], "");
        let start = WHOLE.match_indices("='").map(|(at, _)| at + 2).nth(which).unwrap_or(WHOLE.len());
        let end = WHOLE[start..].find('\'').map_or(WHOLE.len(), |length| start + length);
        let _ = description::parse(&format!("{}{value}{}", &WHOLE[..start], &WHOLE[end..]));
    }
}
