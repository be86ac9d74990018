//! Descriptions of FMI 1.0 and 2.0: what is read, what is an error, what is a warning, and how users see it.

use std::process::{Command, Output};
use vecud::fmu::description::{
    self, Abi, Causality, DependencyKind, Initial, ModelDescription, ValueReference, Values, Variability, VariableType,
};
use vecud::time::Fraction;

const FMI1: &str = include_str!("earlier/fmi1.xml");
const FMI2: &str = include_str!("earlier/fmi2.xml");

fn parse(xml: &str) -> ModelDescription {
    description::parse(xml).unwrap_or_else(|error| panic!("{error}"))
}

/// The text after one replacement, which must be possible.
#[track_caller]
fn changed(xml: &str, old: &str, new: &str) -> String {
    assert!(xml.contains(old), "{old}");
    xml.replacen(old, new, 1)
}

/// A change makes the description unusable: the message, and the line that it names holds what was changed.
#[track_caller]
fn refused(xml: &str, old: &str, new: &str, message: &str) {
    let xml = changed(xml, old, new);
    let error = description::parse(&xml).unwrap_err();
    assert!(error.message.contains(message), "{error}");
    let line = xml.lines().nth(error.line as usize - 1).unwrap();
    assert!(error.column as usize <= line.chars().count() + 1, "{error}");
}

/// A change is tolerated with one warning more.
#[track_caller]
fn warned(xml: &str, old: &str, new: &str, message: &str) {
    let before = parse(xml).warnings;
    let after = parse(&changed(xml, old, new)).warnings;
    let more: Vec<_> = after.iter().filter(|warning| !before.contains(warning)).collect();
    assert!(more.iter().any(|warning| warning.contains(message)), "{message}: {more:?}");
}

#[test]
fn fmi_2_root_interfaces_units_types_and_lists() {
    let found = parse(FMI2);
    assert_eq!(found.warnings, Vec::<String>::new());
    assert_eq!((found.abi, found.instantiation_token.as_str()), (Abi::Fmi2, "{g}"));
    assert_eq!((found.number_of_event_indicators, found.number_of_continuous_states), (Some(2), None));
    assert_eq!(found.vendor_annotations, ["T1", "T2"]);
    assert!(found.scheduled_execution().is_none());
    let me = found.model_exchange().unwrap();
    assert_eq!(me.common.model_identifier, "tank_me");
    assert!(!me.needs_completed_integrator_step && me.common.provides_directional_derivatives);
    assert!(me.common.can_get_and_set_fmu_state && me.common.can_serialize_fmu_state);
    assert!(me.common.can_not_use_memory_management_functions);
    let cs = found.co_simulation().unwrap();
    assert!(cs.common.needs_execution_tool && cs.common.can_be_instantiated_only_once_per_process);
    assert!(cs.can_interpolate_inputs && cs.can_run_asynchronously && cs.can_handle_variable_communication_step_size);
    assert_eq!((cs.max_output_derivative_order, cs.tool.as_ref()), (1, None));
    let files = cs.common.source_files.iter().map(|file| (file.name.as_str(), file.at));
    assert_eq!(files.collect::<Vec<_>>(), [("tank.c", (10, 14)), ("lib/pump.c", (10, 35))]);
    assert_eq!(found.units[1].display_units[0].offset, -273.15);
    assert_eq!(found.types[1].items.iter().map(|item| item.value).collect::<Vec<_>>(), [-1, 7]);
    assert_eq!(found.log_categories[0].name, "logAll");
    // Written in the unit of the independent variable, which is the millisecond.
    let experiment = &found.default_experiment;
    assert_eq!((experiment.stop_time, experiment.step_size), (Some(2.0), Fraction::new(1, 100).ok()));
}

#[test]
fn fmi_2_variables_are_found_by_type_and_reference() {
    let found = parse(FMI2);
    let one = ValueReference(1);
    let name = |variable_type| found.by_reference((variable_type, one)).map(|v| v.name.as_str());
    assert_eq!(name(VariableType::Float64), Some("T"));
    assert_eq!(name(VariableType::Int32), Some("count"));
    assert_eq!(name(VariableType::Boolean), Some("is_on"));
    assert_eq!(name(VariableType::String), Some("label"));
    assert!(found.by_reference(one).is_none(), "four variables have it");
    // Enumerations are got and set as integers (FMI 2.0.5, 2.1.7).
    for variable_type in [VariableType::Int32, VariableType::Enumeration] {
        assert_eq!(found.by_reference((variable_type, ValueReference(2))).unwrap().name, "mode");
    }
    let variable = |name| found.variable(name).unwrap();
    assert_eq!(variable("T.alias").alias_of.map(|other| (other.position, other.negated)), Some((1, false)));
    assert!(["T", "count", "is_on", "label"].iter().all(|name| variable(name).alias_of.is_none()));
    assert_eq!(variable("T.alias").display_unit.as_deref(), Some("degF"));
    let t = variable("T");
    assert_eq!((t.unit.as_deref(), t.nominal, t.reinit), (Some("K"), Some(300.0), true));
    assert_eq!(variable("der(T)").derivative, Some(one));
    let count = variable("count");
    assert_eq!((&count.start, count.can_handle_multiple_set_per_time_instant), (&Some(Values::Int32(vec![-3])), false));
    assert_eq!((count.causality, count.variability), (Causality::Input, Variability::Discrete));
    assert_eq!(variable("label").start, Some(Values::String(vec![" two words".to_owned()])));
    assert_eq!(variable("mode").start, Some(Values::Int64(vec![7])));
}

#[test]
fn fmi_2_positions_of_the_structure_are_keys() {
    let found = parse(FMI2);
    let output = &found.structure.outputs[0];
    assert_eq!(found.by_reference(output.variable).unwrap().name, "T");
    let on =
        output.dependencies.as_ref().unwrap().iter().map(|d| (found.by_reference(d.on).unwrap().name.as_str(), d.kind));
    assert_eq!(on.collect::<Vec<_>>(), [("der(T)", DependencyKind::Dependent), ("count", DependencyKind::Fixed)]);
    assert_eq!(found.structure.continuous_state_derivatives[0].dependencies.as_deref(), Some(&[][..]));
    assert_eq!(found.structure.initial_unknowns[0].dependencies, None);
}

#[test]
fn fmi_2_what_is_ambiguous_or_useless_is_an_error() {
    for (old, new, message) in [
        (" guid=\"{g}\"", "", "attribute `guid` is missing"),
        ("modelIdentifier=\"tank\"", "modelIdentifier=\"../tank\"", "cannot be the name of a library's file"),
        ("name=\"is_on\"", "name=\"count\"", "is the name of line 28 already"),
        ("derivative=\"2\"", "derivative=\"9\"", "names variable 9 of 8"),
        ("derivative=\"2\"", "derivative=\"0\"", "names variable 0 of 8"),
        ("derivative=\"2\"", "derivative=\"5\"", "which is no <Real>"),
        ("index=\"2\"", "index=\"0\"", "names variable 0 of 8"),
        ("dependencies=\"3 5\"", "dependencies=\"3 50\"", "names variable 50 of 8"),
        ("declaredType=\"Mode\"", "declaredType=\"None\"", "is no type of <TypeDefinitions>"),
        ("declaredType=\"Mode\"", "declaredType=\"Temperature\"", "is a type of Real"),
        ("<Boolean start=\"true\"/>", "", "has none of <Real>"),
        ("<Boolean start=\"true\"/>", "<Boolean/><Real/>", "has a type already"),
        ("start=\"-3\"", "start=\"2147483648\"", "is not an integer"),
        ("causality=\"input\"", "causality=\"structuralParameter\"", "is none of parameter"),
        ("variability=\"tunable\"", "variability=\"discrete\"", "a parameter does not depend on time"),
        (
            "name=\"der(T)\" valueReference=\"2\"",
            "name=\"x\" valueReference=\"2\" causality=\"independent\"",
            "already",
        ),
        ("value=\"7\"", "value=\"-1\"", "is given twice"),
        ("<ModelVariables>", "<ModelVariables/><ModelVariables>", "is given twice"),
    ] {
        refused(FMI2, old, new, message);
    }
}

#[test]
fn fmi_2_what_harms_nobody_is_a_warning() {
    for (old, new, message) in [
        (" start=\"-3\"", "", "a start value is missing"),
        (" variability=\"tunable\"", "", "taken as fixed"),
        ("causality=\"input\"", "causality=\"input\" variability=\"continuous\"", "is for <Real> alone"),
        ("initial=\"exact\"", "initial=\"approx\" mood=\"good\"", "is unknown and ignored"),
        ("causality=\"input\"", "causality=\"input\" initial=\"approx\"", "does not go with causality input"),
        ("reinit=\"true\"", "reinit=\"\"", "is empty and ignored"),
        ("needsExecutionTool=\"true\"", "needsExecutionTool=\"\"", "is empty and ignored"),
        ("\"dependent fixed\"", "\"fixed\"", "taken as dependent"),
        ("<Outputs><Unknown index=\"2\"", "<Outputs><Unknown index=\"3\"", "is not listed"),
        ("start=\"7\"", "start=\"8\"", "is no item of"),
        ("displayUnit=\"degF\"", "displayUnit=\"F\"", "is not defined for unit"),
        ("canGetAndSetFMUstate=\"true\"", "canGetAndSetFMUstate=\"false\"", "taken as true"),
    ] {
        warned(FMI2, old, new, message);
    }
}

#[test]
fn fmi_1_root_implementation_units_and_types() {
    let found = parse(FMI1);
    assert_eq!(found.warnings, Vec::<String>::new());
    assert_eq!((found.abi, found.instantiation_token.as_str()), (Abi::Fmi1, "{g}"));
    assert_eq!((found.number_of_continuous_states, found.number_of_event_indicators), (Some(3), Some(2)));
    let cs = found.co_simulation().unwrap();
    assert!(found.model_exchange().is_none());
    assert_eq!((cs.common.model_identifier.as_str(), cs.common.needs_execution_tool), ("lever", true));
    assert!(cs.can_handle_events && cs.can_reject_steps && cs.can_signal_events && cs.can_run_asynchronously);
    assert_eq!(cs.max_output_derivative_order, 2);
    let tool = cs.tool.as_ref().unwrap();
    assert_eq!((tool.entry_point.as_str(), tool.manual_start), ("fmu://resources/lever.m", true));
    assert_eq!(
        (tool.mime_type.as_str(), tool.files.as_slice()),
        ("application/x-tool", &["fmu://resources/a.m".to_owned()][..])
    );
    let degree = &found.units[0].display_units[0];
    assert_eq!((degree.name.as_str(), degree.factor, degree.offset), ("deg", 57.5, 1.0));
    assert_eq!(found.types[1].items.iter().map(|item| item.value).collect::<Vec<_>>(), [1, 2]);
    // Without <Implementation> it is for Model Exchange.
    let end = FMI1.find("<Implementation>").unwrap();
    let exchange = parse(&format!("{}</fmiModelDescription>", &FMI1[..end]));
    let me = exchange.model_exchange().unwrap();
    assert_eq!((me.common.model_identifier.as_str(), me.needs_completed_integrator_step), ("lever", true));
}

/// The table of the reader's documentation, row by row.
#[test]
fn fmi_1_words_are_those_of_later_versions() {
    use Causality as C;
    use Variability as V;
    let found = parse(FMI1);
    for (name, expected) in [
        ("u", (C::Input, V::Continuous, Some(Initial::Exact))),
        ("y", (C::Output, V::Continuous, Some(Initial::Approx))),
        ("same", (C::Local, V::Continuous, Some(Initial::Calculated))),
        ("z", (C::Output, V::Discrete, Some(Initial::Calculated))),
        ("k", (C::Parameter, V::Fixed, Some(Initial::Exact))),
        ("guess", (C::CalculatedParameter, V::Fixed, Some(Initial::Approx))),
        ("derived", (C::CalculatedParameter, V::Fixed, Some(Initial::Calculated))),
        ("c", (C::Local, V::Constant, Some(Initial::Exact))),
    ] {
        let v = found.variable(name).unwrap();
        assert_eq!((v.causality, v.variability, v.initial), expected, "{name}");
    }
}

#[test]
fn fmi_1_aliases_have_a_sign_and_outputs_their_dependencies() {
    let found = parse(FMI1);
    let alias = |name| found.variable(name).unwrap().alias_of.map(|other| (other.position, other.negated));
    // Position 2 is `y`, which says that it is no alias, though another one stands before it.
    assert_eq!((alias("minus"), alias("y"), alias("same")), (Some((2, true)), None, Some((2, false))));
    assert_eq!((alias("u"), alias("k")), (None, None), "of different types");
    let [y, z] = &found.structure.outputs[..] else { panic!("two outputs") };
    let on = y.dependencies.as_ref().unwrap();
    assert_eq!(found.by_reference(on[0].on).unwrap().name, "u");
    assert_eq!(z.dependencies, None, "on all inputs");
    refused(FMI1, "<Name>u</Name>", "<Name>v</Name>", "which no variable is called");
    refused(FMI1, "alias=\"alias\"", "alias=\"other\"", "is none of noAlias, alias, negatedAlias");
    refused(FMI1, "</CoSimulation_Tool>", "</CoSimulation_Tool><CoSimulation_StandAlone/>", "beside another one");
    refused(FMI1, "modelIdentifier=\"lever\"", "modelIdentifier=\"\"", "cannot be the name of a library's file");
    warned(
        FMI1,
        "valueReference=\"2\" alias=\"alias\"",
        "valueReference=\"20\" alias=\"alias\"",
        "an alias of no other variable",
    );
    warned(FMI1, "<Integer/>", "<Integer fixed=\"true\"/>", "`fixed` without a start value");
}

/// Dialects are those of FMI 3.0.
#[test]
fn no_dialect_is_asked_of_fmi_1_and_2() {
    for (xml, version) in [(FMI1, "1.0"), (FMI2, "2.0")] {
        for dialect in [Abi::Draft, Abi::Fmi3] {
            let error = description::parse_as(xml, Some(dialect)).unwrap_err();
            let message =
                format!("fmiVersion=\"{version}\" is not FMI 3.0, so that it cannot be read as {}", dialect.name());
            assert!(error.message.contains(&message), "{error}");
        }
    }
}

fn vecud(folder: &std::path::Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.args(arguments).env("VECUD_CACHE", folder.join("cache")).current_dir(folder).output().unwrap()
}

/// `inspect` shows them whole; `check` and `run` say version and interface, and what to do.
#[test]
fn users_see_them_and_are_told_what_is_missing_to_run_them() {
    for (xml, version) in [(FMI1, "1.0"), (FMI2, "2.0")] {
        let folder = crate::program::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("x")).unwrap();
        std::fs::write(folder.path().join("x/modelDescription.xml"), xml).unwrap();
        let text = vecud(folder.path(), &["inspect", "x"]);
        let text = String::from_utf8(text.stdout).unwrap();
        assert!(text.contains(&format!("(FMI {version})")) && text.contains("Co-Simulation  "), "{text}");
        assert!(text.contains("alias of") && text.contains("Real") && text.contains("guid"), "{text}");
        let json = vecud(folder.path(), &["inspect", "--json", "x"]);
        let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!(json["variables"].as_array().unwrap().len(), parse(xml).variables.len());
        assert_eq!(json["interfaces"]["CoSimulation"]["canInterpolateInputs"], true);
        assert_eq!((json["dialect"].is_null(), &json["numberOfEventIndicators"]), (true, &2.into()));
        let message = "the FMU has neither binaries nor sources; ask for one that has";
        let rig = "[fmu.x]\npath = \"x\"\n";
        std::fs::write(folder.path().join("rig.toml"), rig).unwrap();
        for command in ["check", "run"] {
            let output = vecud(folder.path(), &[command, "rig.toml"]);
            let told = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{told}");
            assert!(told.contains(message), "{told}");
        }
        std::fs::write(folder.path().join("rig.toml"), format!("{rig}dialect = \"draft\"\n")).unwrap();
        let output = vecud(folder.path(), &["check", "rig.toml"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(&format!("its own words are those of FMI {version}: leave dialect out")), "{told}");
    }
}
