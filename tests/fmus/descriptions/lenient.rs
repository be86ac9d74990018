//! Descriptions that are wrong and mean something all the same: what is tolerated with a warning, what a lenient reading overlooks, and
//! that all errors are told where somebody wants them all.

use crate::program::{cache, tempdir};
use std::path::Path;
use std::process::Command;
use vecud::fmu::description::{self, ModelDescription, Values};

const FMI1: &str = include_str!("earlier/fmi1.xml");
const FMI2: &str = include_str!("earlier/fmi2.xml");

/// A description of FMI 3.0 with these definitions before the variables, and these variables from line 3 on.
fn fmi3(definitions: &str, variables: &str) -> String {
    format!(
        "<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken=''><CoSimulation modelIdentifier='m'/>{definitions}\n\
         <ModelVariables>\n{variables}\n</ModelVariables><ModelStructure/></fmiModelDescription>"
    )
}

#[track_caller]
fn changed(xml: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(xml.to_owned(), |xml, (old, new)| {
        assert!(xml.contains(old), "{old}");
        xml.replacen(old, new, 1)
    })
}

/// Checks that a description is read with this warning.
#[track_caller]
fn tolerated(xml: &str, warning: &str) -> ModelDescription {
    let found = description::parse(xml).unwrap_or_else(|error| panic!("{error}"));
    assert!(found.warnings.iter().any(|own| own.contains(warning)), "{warning}: {:?}", found.warnings);
    found
}

/// Checks that only a lenient reading reads a description, with its error as a warning.
#[track_caller]
fn overlooked(xml: &str, message: &str) -> ModelDescription {
    let error = description::parse(xml).unwrap_err();
    assert!(error.message.contains(message), "{error}");
    let found = description::parse_leniently(xml, None).unwrap_or_else(|error| panic!("{error}"));
    let told = format!("{error}: overlooked (lenient = true)");
    assert!(found.warnings.contains(&told), "{told}: {:?}", found.warnings);
    found
}

/// Nothing is computed with these names, so that one that is empty harms nobody.
#[test]
fn names_of_units_types_items_and_categories_may_be_empty() {
    for (old, new) in [
        ("Unit name=\"ms\"", "Unit name=\"\""),
        ("DisplayUnit name=\"degF\"", "DisplayUnit name=\"\""),
        ("SimpleType name=\"Mode\"", "SimpleType name=\"\""),
        ("Item name=\"off\"", "Item name=\"\""),
        ("Category name=\"logAll\"", "Category name=\"\""),
    ] {
        let xml = changed(FMI2, &[(old, new), ("declaredType=\"Mode\"", "")]);
        tolerated(&xml, "name=\"\" is empty");
    }
    let twice = "<UnitDefinitions><Unit name=''/><Unit name=''><BaseUnit m='1'/></Unit></UnitDefinitions>";
    let x = "<Float64 name='time' valueReference='0' causality='independent' unit=''/><Float64 name='x' valueReference='1' unit=''/>";
    let found = tolerated(&fmi3(twice, x), "<Unit> \"\": name=\"\" is empty");
    assert!(found.units.iter().all(|unit| unit.base.is_none()), "of no unit nothing is known");
    assert!(found.time.unit().is_second() && found.time.unit.is_ok(), "time without a unit is in seconds");
}

/// Names of variables are the host's affair before FMI 3.0, whose functions have value references. One of two internal variables of one
/// name is called otherwise; the name stays with an input, output or parameter, wherever that stands.
#[test]
fn internal_variables_of_fmi_1_and_2_may_have_one_name() {
    let found = tolerated(
        &changed(FMI2, &[("\"T.alias\"", "\"T\"")]),
        "is the name of line 25, too: this variable is called \"T#2\" here",
    );
    assert_eq!((found.variables[1].name.as_str(), found.variables[3].name.as_str()), ("T", "T#2"));
    assert_eq!(found.variable("T#2").map(|own| own.line), Some(27));
    let found = tolerated(
        &changed(FMI2, &[("\"der(T)\"", "\"count\"")]),
        "line 28, too: this variable is called \"count#2\" here",
    );
    assert_eq!((found.variables[2].name.as_str(), found.variables[4].name.as_str()), ("count#2", "count"));
    let three = changed(FMI1, &[("\"same\"", "\"minus\""), ("\"derived\"", "\"minus\""), ("\"c\"", "\"minus#2\"")]);
    let names: Vec<String> = tolerated(&three, "too").variables.into_iter().map(|own| own.name).collect();
    for name in ["minus", "minus#2", "minus#3", "minus#4"] {
        assert_eq!(names.iter().filter(|own| *own == name).count(), 1, "{names:?}");
    }
    // Which of two that are set or connected is meant, nobody can know.
    let both = overlooked(&changed(FMI2, &[("\"is_on\"", "\"count\"")]), "is the name of line 28 already");
    assert_eq!((both.variables[4].name.as_str(), both.variables[5].name.as_str()), ("count", "count#2"));
}

/// FMI 3.0.2, 2.4.7.5: start values of strings and binaries are elements. Generators write them as those of numbers are written.
#[test]
fn start_values_of_strings_and_binaries_may_be_attributes() {
    let taken = "is not where a start value of this type stands";
    let text = "<String name='s' valueReference='1' causality='parameter' variability='fixed' start='two words'";
    let found = tolerated(&fmi3("", &format!("{text}/>")), taken);
    assert_eq!(found.variables[0].start, Some(Values::String(vec!["two words".to_owned()])));
    let found = tolerated(&fmi3("", &format!("{text}><Start value='element'/></String>")), taken);
    assert_eq!(found.variables[0].start, Some(Values::String(vec!["element".to_owned()])), "the element counts");
    let binary = "<Binary name='b' valueReference='1' causality='input' start='0aFF'/>";
    let found = tolerated(&fmi3("", binary), taken);
    assert_eq!(found.variables[0].start, Some(Values::Binary(vec![vec![10, 255]])));
}

/// FMI 2.0.5, 2.2.1 wants a name of C, for sources. For a library it is the name of a file.
#[test]
fn a_model_identifier_may_be_any_name_of_a_file() {
    let found = tolerated(
        &changed(FMI2, &[("modelIdentifier=\"tank\"", "modelIdentifier=\"my-tank 2.0\"")]),
        "is no name of C",
    );
    assert_eq!(found.co_simulation().unwrap().common.model_identifier, "my-tank 2.0");
    for identifier in ["", ".", "..", ".hidden", "a/b", "../m", "a\\b", "a&#10;b", "/m"] {
        let xml = changed(FMI2, &[("modelIdentifier=\"tank\"", &format!("modelIdentifier=\"{identifier}\""))]);
        let message = "cannot be the name of a library's file";
        assert!(description::parse(&xml).unwrap_err().message.contains(message), "{identifier}");
        assert!(description::parse_leniently(&xml, None).is_err(), "{identifier}");
    }
}

#[test]
fn a_lenient_reading_overlooks_what_leaves_a_meaning_to_the_rest() {
    let found =
        overlooked(&changed(FMI2, &[("declaredType=\"Temperature\"", "declaredType=\"None\"")]), "is no type of");
    assert_eq!(
        (&found.variables[1].declared_type, &found.variables[1].start),
        (&None, &Some(Values::Float64(vec![290.0])))
    );
    let orders = changed(FMI2, &[("maxOutputDerivativeOrder=\"1\"", "maxOutputDerivativeOrder=\"false\"")]);
    assert_eq!(overlooked(&orders, "is not an integer").co_simulation().unwrap().max_output_derivative_order, 0);
    overlooked(&changed(FMI2, &[("start=\"-3\"", "start=\"none\"")]), "is not an integer");
    overlooked(&changed(FMI2, &[("name=\"K\"", "name=\"ms\"")]), "a unit with this name exists already");
    overlooked(
        &changed(FMI2, &[("name=\"Mode\"", "name=\"Temperature\""), (" declaredType=\"Mode\"", "")]),
        "a type with this name",
    );
    overlooked(&changed(FMI1, &[("<Name>u</Name>", "<Name>v</Name>")]), "which no variable is called");
    let token = fmi3("", "<Float64 name='x' valueReference='1'/>").replace("instantiationToken=''", "guid='g'");
    assert_eq!(overlooked(&token, "is of FMI 2.0").instantiation_token, "g");
    let input = fmi3("", "<Float64 name='x' valueReference='1' causality='input'/>");
    assert_eq!(overlooked(&input, "a start value is missing").variables[0].start, None);
    let initial = fmi3("", "<Float64 name='x' valueReference='1' causality='input' start='0' initial='calculated'/>");
    overlooked(&initial, "does not go with causality input");
    overlooked(&fmi3("", "<Enumeration name='x' valueReference='1'/>"), "`declaredType` is missing");
}

/// A lenient reading refuses mistakes that leave a choice.
#[test]
fn a_lenient_reading_guesses_nothing() {
    for (old, new) in [
        ("derivative=\"2\"", "derivative=\"9\""),
        ("causality=\"input\"", "causality=\"inout\""),
        ("valueReference=\"1\" causality=\"output\"", "valueReference=\"one\" causality=\"output\""),
        ("factor=\"1.8\"", "factor=\"0\""),
        ("<Boolean start=\"true\"/>", ""),
    ] {
        assert!(description::parse_leniently(&changed(FMI2, &[(old, new)]), None).is_err(), "{new}");
    }
}

/// Errors are told in the order of the text, whatever kind they are of, and none that only follows from another one.
#[test]
fn all_errors_of_a_description_are_told() {
    let wrong = [
        ("modelIdentifier=\"tank\"", "modelIdentifier=\"../tank\""),
        ("<BaseUnit K=\"1\"/>", "<BaseUnit K=\"x\"/>"),
        ("<Real quantity=\"ThermodynamicTemperature\"", "<Reel quantity=\"ThermodynamicTemperature\""),
        ("tolerance=\"1e-4\"", "tolerance=\"small\""),
        ("causality=\"output\" initial", "causality=\"out\" initial"),
        ("start=\"-3\"", "start=\"none\""),
        ("<Boolean start=\"true\"/>", ""),
    ];
    let xml = changed(FMI2, &wrong).replace("displayUnit=\"degC\" min=\"0\" nominal=\"300\"/>", "/>");
    let lines: Vec<u32> = description::errors(&xml).iter().map(|error| error.line).collect();
    assert_eq!(lines, [7, 14, 17, 21, 25, 28, 29], "{:#?}", description::errors(&xml));
    let xml = fmi3(
        "",
        "<Int8 name='a' valueReference='1' start='200'/>\n<Int8 name='b' valueReference='2' causality='x'/>\n\
         <Int8 name='c' valueReference='3' causality='input'/>",
    );
    let lines: Vec<u32> = description::errors(&xml).iter().map(|error| error.line).collect();
    assert_eq!(lines, [3, 4, 5], "{:#?}", description::errors(&xml));
    assert!(description::errors(FMI1).is_empty() && description::errors(FMI2).is_empty());
    assert_eq!(description::errors("<a>").len(), 1);
}

/// Neither the root element nor an entry of the structure keeps what stands behind it, or beside it, from being told.
#[test]
fn an_error_at_the_root_or_in_the_structure_hides_no_other() {
    #[track_caller]
    fn tells(xml: &str, expected: &[&str]) {
        let told: Vec<String> = description::errors(xml).into_iter().map(|error| error.message).collect();
        let fits = told.iter().zip(expected).all(|(told, part)| told.contains(part));
        assert!(fits && told.len() == expected.len(), "{expected:#?}\n{told:#?}");
    }
    let missing = [" modelName=\"Tank\"", " guid=\"{g}\"", "variableNamingConvention=\"structured\""];
    let [name, guid, naming] = missing.map(|attribute| (attribute, ""));
    let structure = [
        ("index=\"2\" dependencies=\"3 5\"", "index=\"20\" dependencies=\"3 50\""),
        ("index=\"3\" dependencies=\"\"", "index=\"0\" dependencies=\"\""),
        ("<InitialUnknowns><Unknown index=\"3\"/>", "<InitialUnknowns><Unknown/>"),
    ];
    let of_structure =
        ["index=\"20\" names variable 20", "names variable 50", "index=\"0\" names", "attribute `index` is missing"];
    let xml = changed(FMI2, &[&[name, guid][..], &structure].concat());
    tells(&xml, &[&["attribute `modelName`", "attribute `guid`"][..], &of_structure].concat());
    let naming = (naming.0, "variableNamingConvention=\"x\"");
    let twice = ("<LogCategories>", "<UnitDefinitions/><LogCategories>");
    tells(&changed(FMI2, &[guid, naming, twice]), &["attribute `guid`", "=\"x\" is none", "is given twice"]);
    tells(
        &changed(FMI1, &[(" guid=\"{g}\"", ""), ("causality=\"input\"", "causality=\"x\"")]),
        &["attribute `guid`", "=\"x\" is none"],
    );
    let xml = fmi3("", "<Int8 name='a' valueReference='1' clocks='5' previous='6'/>")
        .replace(" instantiationToken=''", "")
        .replace(
            "<ModelStructure/>",
            "<ModelStructure><Output valueReference='2' dependencies='3' dependenciesKind='x'/>\
             <InitialUnknown valueReference='y'/></ModelStructure>",
        );
    tells(
        &xml,
        &[
            "attribute `instantiationToken`",
            "clocks=\"5\" names 5",
            "previous=\"6\" names 6",
            "valueReference=\"2\" is no variable's",
            "dependencies=\"3\" names 3",
            "dependenciesKind=\"x\" has an item",
            "valueReference=\"y\" is not",
        ],
    );
}

/// An FMU without a rig has no table with a key: what runs it has an option, and says so.
#[test]
fn each_command_that_runs_an_fmu_overlooks_errors_when_it_is_asked_to() {
    let folder = tempdir().unwrap();
    let stepper = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/stepper");
    assert!(Command::new("cp").arg("-rL").arg(stepper).arg(folder.path().join("fmu")).status().unwrap().success());
    let file = folder.path().join("fmu/modelDescription.xml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, changed(&text, &[("instantiationToken=", "guid=")])).unwrap();
    let vecud = |arguments: &[&str]| {
        let mut vecud = Command::new(env!("CARGO_BIN_EXE_vecud"));
        let output = vecud.args(arguments).current_dir(&folder).env("VECUD_CACHE", cache()).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    let wrong = "FMI 3.0 needs the attribute `instantiationToken`";
    for arguments in [
        &["run", "fmu", "--mode=virtual", "--stop-time=0.02"][..],
        &["simulate", "fmu", "--stop-time=0.02"],
        &["call", "fmu", "-c", "Instantiate"],
    ] {
        let (code, said) = vecud(arguments);
        assert!(
            code == Some(2) && said.contains(wrong) && said.contains("--lenient"),
            "{arguments:?} {code:?}: {said}"
        );
        let (code, said) = vecud(&[arguments, &["--lenient"]].concat());
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
    }
    let (code, said) = vecud(&["validate", "fmu"]);
    assert!(code == Some(3) && said.contains(wrong) && said.contains("not tried"), "{code:?}: {said}");
    // It stays a finding, and the FMU is tried all the same.
    let (code, said) = vecud(&["validate", "fmu", "--lenient"]);
    let lives = said.lines().any(|line| line.starts_with("Co-Simulation") && line.contains("ok"));
    assert!(code == Some(3) && said.contains(wrong) && lives, "{code:?}: {said}");
}
