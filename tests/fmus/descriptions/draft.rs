//! Descriptions of the draft of FMI 3.0: what loads, and as what; what does not, and why.
//! In texts with a `§` that is where the error must be.

use proptest::prelude::*;
use vecud::fmu::description::{self, Abi, ClockType, IntervalVariability, ModelDescription, ValueReference, Values};
use vecud::priority::FmiPriority;
use vecud::time::Fraction;

/// The description of the founding text's example, as printed there.
const THREE_INPUT_CLOCKS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="ThreeInputClocks">
<ScheduledExecution modelIdentifier="ThreeInputClocks" canBeInstantiatedOnlyOncePerProcess="true"/>
<LogCategories>
<Category name="logStatusError" description="Log error messages"/>
</LogCategories>
<DefaultExperiment startTime="0" stopTime="6" stepSize="0.001"/>
<ModelVariables>
<!-- Variables related to input clock 10msClock -->
<Float64 name="AIn1" valueReference="0" causality="input" clockReference="5" start="0"/>
<Float64 name="AIn2" valueReference="1" causality="input" clockReference="5" start="0"/>
<Float64 name="AOut" valueReference="2" causality="output" clockReference="5"/>
<!-- Variables related to input clock AperiodicClock -->
<Float64 name="BIn" valueReference="3" causality="input" clockReference="6" start="0"/>
<Float64 name="BOut" valueReference="4" causality="output" clockReference="6"/>
<!-- Clock variables -->
<!-- Periodic input clock -->
<Clock name="10msClock" valueReference="5" causality="input" clockType="communicationPoint"
priority="1" periodic="true" strict="true" intervalCounter="10" resolution="1000"/>
<!-- Input clock that must be triggered by OutClock -->
<Clock name="AperiodicClock" valueReference="6" causality="input" clockType="communicationPoint"
priority="2" triggeredBy="7" />
<!-- Output clock activated in model partition associated to 10msClock -->
<Clock name="OutClock" valueReference="7" causality="output" clockType="communicationPoint"
priority="2" clockReference="5" />
<!-- Periodic input clock -->
<Clock name="50msClock" valueReference="8" causality="input" clockType="communicationPoint"
priority="3" periodic="true" strict="true" intervalCounter="50" resolution="1000"/>
</ModelVariables>
<ModelStructure>
<Output valueReference="2"/>
<Output valueReference="4"/>
</ModelStructure>
</fmiModelDescription>"#;

const HEAD: &str = "<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken=''>\n";
const SE: &str = "<ScheduledExecution modelIdentifier='m'/>\n";

fn in_root(content: &str) -> String {
    format!("{HEAD}{content}</fmiModelDescription>\n")
}

fn in_variables(content: &str) -> String {
    in_root(&format!("{SE}<ModelVariables>\n{content}\n</ModelVariables>\n<ModelStructure/>\n"))
}

/// Parses the text without its mark; the error must be at the mark and say `message`.
#[track_caller]
fn refused_as(marked: &str, dialect: Option<Abi>, message: &str) {
    let (before, _) = marked.split_once('§').expect("the text has a mark");
    let (line, column) = (before.split('\n').count(), 1 + before.split('\n').next_back().unwrap().chars().count());
    match description::parse_as(&marked.replace('§', ""), dialect) {
        Ok(_) => panic!("accepted:\n{marked}"),
        Err(error) => {
            assert!(error.message.contains(message), "wanted {message:?}, got: {error}\n{marked}");
            assert_eq!((error.line as usize, error.column as usize), (line, column), "{error}\n{marked}");
        }
    }
}

#[track_caller]
fn refused(marked: &str, message: &str) {
    refused_as(marked, None, message);
}

#[track_caller]
fn loaded(text: &str) -> ModelDescription {
    description::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[track_caller]
fn clock<'a>(description: &'a ModelDescription, name: &str) -> &'a description::Clock {
    description.variable(name).and_then(|v| v.clock.as_ref()).expect("a clock")
}

fn warns(description: &ModelDescription, words: &str) -> bool {
    description.warnings.iter().any(|warning| warning.contains(words))
}

#[test]
fn the_founding_example_loads_as_printed_with_warnings_only() {
    let found = loaded(THREE_INPUT_CLOCKS);
    assert_eq!(found.abi, Abi::Draft);
    assert_eq!(found.instantiation_token, "");
    let interface = found.scheduled_execution().unwrap();
    assert!(interface.can_be_instantiated_only_once_per_process && interface.model_identifier == "ThreeInputClocks");
    let of = |name: &str| {
        let clock = clock(&found, name);
        let interval = clock.interval.map(|interval| interval.to_string());
        (clock.interval_variability, interval, clock.priority, clock.triggered_by)
    };
    use IntervalVariability::{Constant, Triggered};
    assert_eq!(of("10msClock"), (Constant, Some("1/100".to_owned()), Some(FmiPriority(1)), None));
    assert_eq!(of("50msClock"), (Constant, Some("1/20".to_owned()), Some(FmiPriority(3)), None));
    assert_eq!(of("AperiodicClock"), (Triggered, None, Some(FmiPriority(2)), Some(ValueReference(7))));
    assert_eq!(of("OutClock"), (Triggered, None, Some(FmiPriority(2)), None));
    for name in ["10msClock", "50msClock", "AperiodicClock", "OutClock"] {
        let clock = clock(&found, name);
        assert_eq!(clock.clock_type, Some(ClockType::CommunicationPoint));
        assert!(clock.supports_fraction && clock.shift.is_zero(), "{name}");
    }
    for (name, clocks) in [("AIn1", 5), ("AIn2", 5), ("AOut", 5), ("BIn", 6), ("BOut", 6), ("OutClock", 5)] {
        let variable = found.variable(name).unwrap();
        assert_eq!((variable.clocks.as_slice(), variable.clock_element), (&[ValueReference(clocks)][..], 0), "{name}");
    }
    assert_eq!(found.structure.outputs.len(), 2);
    for words in [
        "has no attribute `instantiationToken`",
        "<Clock> \"10msClock\": variability=\"clock\" is missing",
        "<Clock> \"AperiodicClock\": a start value is missing",
        "output \"OutClock\" (line 24) is not listed",
    ] {
        assert!(warns(&found, words), "{words}: {:#?}", found.warnings);
    }
    assert_eq!(found.warnings.len(), 10, "nothing else: {:#?}", found.warnings);
}

#[test]
fn a_description_by_the_drafts_book_loads_without_a_warning() {
    let found = loaded(
        "<?xml version='1.0'?><fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken='t'>\
         <ModelExchange modelIdentifier='m' completedIntegratorStepNotNeeded='true'/>\
         <TypeDefinitions><ClockType name='T' clockType='synchronousTime' priority='4' periodic='true' \
         intervalCounter='3' shiftCounter='1' resolution='7'/></TypeDefinitions><ModelVariables>\
         <Float64 name='time' valueReference='0' causality='independent'/>\
         <Clock name='c' valueReference='1' causality='input' variability='clock' start='false' declaredType='T' \
         clockType='synchronousTime' priority='2' initial='exact'/>\
         <Clock name='o' valueReference='2' causality='output' variability='clock' start='false true' priority='1' \
         clockType='synchronousTime' clockReference='1' initial='calculated'><Dimension start='2'/></Clock>\
         <Clock name='l' valueReference='3' variability='clock' clockType='synchronousTime' priority='1'/>\
         <Clock name='a' valueReference='4' causality='input' variability='clock' start='0' declaredType='T' \
         clockType='synchronousTime' priority='9' periodic='false' triggeredBy='2'/>\
         <Binary name='b' valueReference='5' causality='input' start='00ff 1a'><Dimension start='2'/></Binary>\
         <Float64 name='x' valueReference='6' clockReference='2' clockElementIndex='2' initial='exact' start='1'/>\
         <Float64 name='der(x)' valueReference='7' derivative='6'/>\
         </ModelVariables><ModelStructure><Output valueReference='2' dependencies='1'/><Derivative valueReference='7'/>\
         <InitialUnknown valueReference='7'/><EventIndicator valueReference='6'/></ModelStructure>\
         </fmiModelDescription>",
    );
    assert_eq!(found.abi, Abi::Draft);
    // An interval of a type that is not used is not wanted either.
    let ignored = "is ignored: the clock is not periodic";
    assert!(found.warnings.iter().all(|warning| warning.contains(ignored)), "{:#?}", found.warnings);
    assert!(!found.model_exchange().unwrap().needs_completed_integrator_step);
    let c = clock(&found, "c");
    assert_eq!(c.interval_variability, IntervalVariability::Fixed);
    assert_eq!((c.interval, c.shift), (Fraction::new(3, 7).ok(), Fraction::new(1, 7).unwrap()));
    assert_eq!(c.priority, Some(FmiPriority(2)), "the variable's own wins over its type's");
    assert_eq!(c.clock_type, Some(ClockType::SynchronousTime));
    assert_eq!(clock(&found, "a").interval_variability, IntervalVariability::Triggered);
    let o = found.variable("o").unwrap();
    assert_eq!((found.elements(o), &o.start), (2, &Some(Values::Clock(vec![false, true]))));
    assert_eq!(found.variable("b").unwrap().start, Some(Values::Binary(vec![vec![0, 255], vec![26]])));
    let x = found.variable("x").unwrap();
    assert_eq!((x.clocks.as_slice(), x.clock_element), (&[ValueReference(2)][..], 2));
    assert_eq!(found.structure.continuous_state_derivatives[0].variable.reference, ValueReference(7));
    assert_eq!(found.structure.event_indicators.len(), 1);
}

#[test]
fn periodic_strict_and_aperiodic_clocks_have_their_released_counterparts() {
    use IntervalVariability::{Constant, Fixed, Triggered};
    for (attributes, kind, interval, shift) in [
        ("periodic='true' strict='true' intervalCounter='10' resolution='1000'", Constant, Some((1, 100)), (0, 1)),
        (
            "periodic='1' strict='0' intervalCounter='10' shiftCounter='5' resolution='1000'",
            Fixed,
            Some((1, 100)),
            (1, 200),
        ),
        ("periodic='true'", Fixed, None, (0, 1)),
        ("periodic='true' shiftCounter='0'", Fixed, None, (0, 1)),
        ("", Triggered, None, (0, 1)),
        ("periodic='false' strict='false'", Triggered, None, (0, 1)),
        ("intervalCounter='1' resolution='2' shiftCounter='1'", Triggered, None, (0, 1)),
    ] {
        let text = format!(
            "<Clock name='c' valueReference='1' causality='input' clockType='communicationPoint' {attributes}/>"
        );
        let found = loaded(&in_variables(&text));
        let c = clock(&found, "c");
        assert_eq!(c.interval_variability, kind, "{attributes}");
        assert_eq!(c.interval, interval.map(|(n, d)| Fraction::new(n, d).unwrap()), "{attributes}");
        assert_eq!(c.shift, Fraction::new(shift.0, shift.1).unwrap(), "{attributes}");
        assert_eq!(warns(&found, "intervalCounter=\"1\" is ignored"), attributes.starts_with("intervalCounter"));
    }
}

#[test]
fn clocks_that_contradict_themselves() {
    for (attributes, message) in [
        ("§strict='true'", "needs periodic=\"true\""),
        ("§strict='1' periodic='0' intervalCounter='1' resolution='1'", "needs periodic=\"true\""),
        ("periodic='true' strict='true' §intervalCounter='1'", "needs the attribute `resolution`"),
        ("periodic='true' §shiftCounter='1'", "needs the attribute `resolution`"),
        ("periodic='true' intervalCounter='1' §resolution='0'", "must be greater than 0"),
        ("§resolution='0'", "must be greater than 0"),
        ("periodic='true' §intervalCounter='0' resolution='1'", "must be greater than 0"),
        ("periodic='true' §triggeredBy='2'", "belongs to aperiodic clocks"),
        ("§periodic='maybe'", "is not true, false, 1 or 0"),
        ("§intervalCounter='-1'", "is not an integer from 0"),
        ("§triggeredBy='9'", "names a value reference that no variable has"),
        ("§triggeredBy='1'", "names \"c\" (line 4), which is no output clock"),
        ("§triggeredBy='3'", "names \"x\" (line 6), which is no clock"),
        ("§variability='continuous'", "a clock is discrete"),
        ("§initial='approx'", "is none of exact"),
    ] {
        let text = format!(
            "<Clock name='c' valueReference='1' causality='input' clockType='communicationPoint' {attributes}/>\n\
             <Clock name='o' valueReference='2' causality='output' clockType='communicationPoint'/>\n\
             <Int8 name='x' valueReference='3'/>"
        );
        refused(&in_variables(&text), message);
    }
    let own = "valueReference='1' clockType='communicationPoint'";
    refused(
        &in_variables(&format!("§<Clock name='c' causality='input' {own} periodic='true' strict='true'/>")),
        "<Clock> \"c\": a strictly periodic clock needs the attributes `intervalCounter` and `resolution`",
    );
    for causality in ["output", "local"] {
        let text = format!("<Clock name='c' causality='{causality}' {own} §triggeredBy='1'/>");
        refused(&in_variables(&text), "belongs to input clocks");
    }
    refused(
        &in_variables("§<Clock name='c' valueReference='1' causality='input' periodic='true'/>"),
        "`clockType` is missing",
    );
    refused(
        &in_variables("<Clock name='c' valueReference='1' causality='input' §clockType='x'/>"),
        "synchronousTime, comm",
    );
    refused(&in_variables("<Int8 name='x' valueReference='1' §variability='clock'/>"), "is for clocks only");
}

#[test]
fn a_type_passes_its_errors_to_the_variables_of_it() {
    let with_type = |attributes: &str, variable: &str| {
        in_root(&format!(
            "{SE}<TypeDefinitions><ClockType name='T' clockType='communicationPoint' {attributes}/></TypeDefinitions>\n\
             <ModelVariables>{variable}</ModelVariables>\n<ModelStructure/>\n"
        ))
    };
    let variable = "<Clock name='c' valueReference='1' causality='input' declaredType='T'/>";
    assert_eq!(loaded(&with_type("", variable)).abi, Abi::Draft);
    refused(&with_type("§strict='true'", variable), "needs periodic");
    refused(&with_type("triggeredBy='9'", &format!("§{variable}")), "triggeredBy names a value reference");
    let strict = "periodic='true' strict='true'";
    refused(&with_type(strict, &format!("§{variable}")), "a strictly periodic clock needs");
    let own =
        "<Clock name='c' valueReference='1' causality='input' declaredType='T' intervalCounter='1' resolution='4'/>";
    assert_eq!(clock(&loaded(&with_type(strict, own)), "c").interval, Fraction::new(1, 4).ok());
}

#[test]
fn clock_references_and_element_indices() {
    let text = |variable: &str| {
        in_variables(&format!(
            "<Clock name='c' valueReference='1' causality='input' clockType='communicationPoint'/>\n\
             <Clock name='a' valueReference='2' causality='input' clockType='communicationPoint'>\
             <Dimension start='2'/><Dimension valueReference='3'/></Clock>\n\
             <UInt64 name='n' valueReference='3' causality='structuralParameter' start='3'/>\n\
             <Int8 name='x' valueReference='4' {variable}/>"
        ))
    };
    for (variable, message) in [
        ("§clockReference='9'", "names 9, which no variable has"),
        ("§clockReference='3'", "names \"n\" (line 6), which is no clock"),
        ("clockReference='2' §clockElementIndex='7'", "is beyond the end of the clock \"a\", which has 6 elements"),
        ("clockReference='1' §clockElementIndex='2'", "names an element of the clock \"c\", which is a scalar"),
        ("clockReference='2' §clockElementIndex='-1'", "is not an integer from 0"),
        ("clockReference='2' §clockElementIndex='18446744073709551615'", "is beyond the end"),
    ] {
        refused(&text(variable), message);
    }
    for (variable, element, warning) in [
        ("clockReference='2' clockElementIndex='6'", 6, None),
        ("clockReference='2' clockElementIndex='0'", 0, None),
        ("clockReference='2'", 0, None),
        ("clockReference='1' clockElementIndex='0'", 0, None),
        ("clockReference='1' clockElementIndex='1'", 0, Some("should be 0: the clock \"c\" is a scalar")),
        ("clockElementIndex='4'", 0, Some("means nothing without `clockReference`")),
    ] {
        let found = loaded(&text(variable));
        assert_eq!(found.variable("x").unwrap().clock_element, element, "{variable}");
        assert!(warning.is_none_or(|words| warns(&found, words)), "{variable}: {:#?}", found.warnings);
        assert_eq!(found.elements(found.variable("a").unwrap()), 6);
    }
    let zero = "<UInt64 name='n' valueReference='1' causality='structuralParameter' start='0'/>\n<Clock name='a' \
                valueReference='2' causality='input' clockType='communicationPoint'>§<Dimension valueReference='1'/></Clock>";
    refused(&in_variables(zero), "its dimension \"n\" has the start value 0");
}

#[test]
fn scheduled_execution_has_only_clocks_of_communication_points_and_no_fmu_has_both_types() {
    let synchronous = "<Clock name='s' valueReference='1' causality='input' §clockType='synchronousTime'/>";
    refused(&in_variables(synchronous), "<Clock> \"s\": a synchronous clock, which Scheduled Execution does not have");
    let mixed = "<CoSimulation modelIdentifier='m'/><ModelVariables>\n\
                 <Clock name='s' valueReference='1' causality='input' clockType='synchronousTime'/>\n\
                 <Clock name='p' valueReference='2' causality='input' §clockType='communicationPoint'/>\n\
                 </ModelVariables><ModelStructure/>";
    refused(&in_root(mixed), "<Clock> \"p\": clockType differs from that of \"s\" (line 3)");
    let alone = mixed.replace("§clockType='communicationPoint'", "clockType='synchronousTime'");
    assert!(description::parse(&in_root(&alone)).is_ok());
}

#[test]
fn a_local_clock_belongs_to_no_released_fmu_for_scheduled_execution_alone() {
    let local = "<Clock name='l' valueReference='1' §causality='local' intervalVariability='triggered'/>";
    refused(&in_variables(local), "<Clock> \"l\": a local clock, which Scheduled Execution does not have");
    refused(
        &in_variables("§<Clock name='l' valueReference='1' intervalVariability='triggered'/>"),
        "a local clock, which Scheduled Execution does not have (causality is input or output; the default is local)",
    );
    let local = local.replace('§', "");
    let more = in_variables(&local).replace(SE, &format!("{SE}<CoSimulation modelIdentifier='m'/>\n"));
    assert!(warns(&loaded(&more), "a local clock"), "the other interface type may have it");
    assert!(description::parse(&in_variables(&local).replace("ScheduledExecution", "CoSimulation")).is_ok());
    // The draft lets fmi3GetClock read local clocks in Scheduled Execution too.
    let draft = "<Clock name='l' valueReference='1' clockType='communicationPoint' priority='1'/>";
    assert_eq!(loaded(&in_variables(draft)).abi, Abi::Draft);
}

#[test]
fn the_dialect_is_known_by_what_only_one_has() {
    use Abi::{Draft, Fmi3};
    let clock = |attributes: &str| format!("<Clock name='c' valueReference='1' causality='input' {attributes}/>");
    for (variables, dialect) in [
        (clock("intervalVariability='triggered'"), Fmi3),
        (clock("clockType='communicationPoint'"), Draft),
        ("<Int8 name='x' valueReference='1'/>".to_owned(), Fmi3),
        ("<Float64 name='x' valueReference='1' periodic='true'/>".to_owned(), Fmi3),
        (clock("intervalVariability='triggered'") + "<Int8 name='x' valueReference='2' clocks='1'/>", Fmi3),
        (clock("clockType='communicationPoint'") + "<Int8 name='x' valueReference='2' clockReference='1'/>", Draft),
    ] {
        assert_eq!(loaded(&in_variables(&variables)).abi, dialect, "{variables}");
    }
    let variables = "<ModelVariables><Float64 name='x' valueReference='1' initial='exact' start='0'/>\
                     <Float64 name='d' valueReference='2' derivative='1'/></ModelVariables>";
    for (interface, structure, dialect) in [
        ("<ModelExchange modelIdentifier='m'/>", "<Derivative valueReference='2'/>", Draft),
        ("<ModelExchange modelIdentifier='m'/>", "<ContinuousStateDerivative valueReference='2'/>", Fmi3),
        ("<ModelExchange modelIdentifier='m' completedIntegratorStepNotNeeded='true'/>", "", Draft),
        ("<ModelExchange modelIdentifier='m' needsCompletedIntegratorStep='true'/>", "", Fmi3),
        ("<CoSimulation modelIdentifier='m' mightReturnEarlyFromDoStep='true'/>", "", Fmi3),
        ("<CoSimulation modelIdentifier='m' hasEventMode='true'/>", "", Fmi3),
    ] {
        let text = in_root(&format!("{interface}{variables}<ModelStructure>{structure}</ModelStructure>"));
        let found = loaded(&text);
        assert_eq!(found.abi, dialect, "{text}");
        let derivatives = usize::from(!structure.is_empty());
        assert_eq!(found.structure.continuous_state_derivatives.len(), derivatives, "{text}");
    }
    for (version, dialect) in
        [("3.0", Fmi3), ("3.0.1", Fmi3), ("3.0-alpha.5", Draft), ("3.0-beta.2", Fmi3), ("3.0-rc.1", Fmi3)]
    {
        let text = in_variables("<Int8 name='x' valueReference='1'/>").replace("'3.0'", &format!("'{version}'"));
        assert_eq!(loaded(&text).abi, dialect, "{version}");
    }
}

#[test]
fn a_mixture_of_dialects_is_refused_unless_the_caller_says_which_it_is() {
    let text = in_variables(
        "<Clock name='c' valueReference='1' causality='input' intervalVariability='triggered' priority='1' \
         §clockType='communicationPoint' periodic='true' intervalCounter='1' resolution='2'/>\n\
         <Int8 name='x' valueReference='2' clockReference='1'/>",
    );
    refused(
        &text,
        "mixes two dialects of FMI 3.0: `clockType` (line 4), `periodic` (line 4), `clockReference` (line 5) belongs to \
         the draft of January 2021, `intervalVariability` (line 4) to the released standard; export the FMU again, or \
         say which of them it is with dialect = \"draft\" or dialect = \"released\" in [fmu.NAME] of a rig",
    );
    let plain = text.replace('§', "");
    let draft = description::parse_as(&plain, Some(Abi::Draft)).unwrap();
    assert_eq!(draft.abi, Abi::Draft);
    assert_eq!(clock(&draft, "c").interval_variability, IntervalVariability::Fixed);
    assert_eq!(draft.variable("x").unwrap().clocks, [ValueReference(1)]);
    assert!(warns(&draft, "intervalVariability=\"triggered\" belongs to the released FMI 3.0 and is ignored"));
    let released = description::parse_as(&plain, Some(Abi::Fmi3)).unwrap();
    assert_eq!(released.abi, Abi::Fmi3);
    let c = clock(&released, "c");
    assert_eq!((c.interval_variability, c.clock_type), (IntervalVariability::Triggered, None));
    assert!(released.variable("x").unwrap().clocks.is_empty());
    assert!(warns(&released, "clockType=\"communicationPoint\" belongs to the draft of FMI 3.0 and is ignored"));

    // What belongs to the other dialect has no effect, whatever it says.
    let decimals = in_variables(
        "<Clock name='c' valueReference='1' causality='input' clockType='communicationPoint' periodic='true' \
         intervalDecimal='1' shiftDecimal='-1' supportsFraction='maybe'/>\
         <Int8 name='x' valueReference='2' clocks='1' previous='9'/>",
    );
    let draft = description::parse_as(&decimals, Some(Abi::Draft)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((clock(&draft, "c").interval, clock(&draft, "c").shift), (None, Fraction::ZERO));
    let x = draft.variable("x").unwrap();
    assert!(x.clocks.is_empty() && x.previous.is_none());

    for (version, attribute) in [("3.0.1", "clockReference='1'"), ("3.0-alpha.5", "clocks='1'")] {
        let text = in_variables(&format!("<Int8 name='x' valueReference='2' §{attribute}/>"));
        refused(&text.replace("'3.0'", &format!("'{version}'")), "mixes two dialects");
    }
    let plain = in_variables("<Clock name='c' valueReference='1' causality='input' intervalVariability='triggered'/>");
    let marked = plain.replace("<Clock", "§<Clock");
    refused_as(&marked, Some(Abi::Draft), "attribute `clockType` is missing");
    let structure = in_root(&format!(
        "{SE}<ModelVariables><Int8 name='x' valueReference='1'/></ModelVariables><ModelStructure>\
         <Derivative valueReference='1'/></ModelStructure>"
    ));
    let found = description::parse_as(&structure, Some(Abi::Fmi3)).unwrap();
    assert!(warns(&found, "<Derivative> belongs to the draft of FMI 3.0 and is ignored"), "{:#?}", found.warnings);
}

#[test]
fn pre_releases_are_read_with_a_warning() {
    let text = THREE_INPUT_CLOCKS.replace("fmiVersion=\"3.0\"", "fmiVersion=\"3.0-alpha.5\"");
    assert!(warns(&loaded(&text), "read as the draft of January 2021"));
    let token = THREE_INPUT_CLOCKS.replace(" modelName", " guid=\"x\" modelName");
    assert!(description::parse(&token).unwrap_err().message.contains("is of FMI 2.0"), "still the wrong attribute");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn damaged_drafts_never_panic(
        cuts in prop::collection::vec((0..THREE_INPUT_CLOCKS.len(), 0..20usize, "[ -~ü<>'=0-9]{0,6}"), 1..4),
        dialect in prop::option::of(prop::bool::ANY.prop_map(|draft| if draft { Abi::Draft } else { Abi::Fmi3 })),
    ) {
        let mut text: Vec<char> = THREE_INPUT_CLOCKS.chars().collect();
        for (at, length, replacement) in cuts {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, replacement.chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(error) = description::parse_as(&text, dialect) {
            prop_assert!(error.line as usize <= text.lines().count().max(1), "{error}");
            prop_assert!(error.column >= 1);
        }
    }

    #[test]
    fn attributes_of_a_draft_clock_in_any_combination_never_panic(
        attributes in prop::sample::subsequence(vec![
            "clockType='communicationPoint'", "clockType='synchronousTime'", "triggeredBy='2'", "priority='0'",
            "periodic='true'", "strict='true'", "intervalCounter='18446744073709551615'", "shiftCounter='3'",
            "resolution='18446744073709551615'", "clockReference='2'", "clockElementIndex='3'", "start='true false'",
            "intervalVariability='countdown'", "clocks='1 2'", "initial='approx'", "variability='clock'",
        ], 0..16),
        lengths in prop::collection::vec(0..4u64, 0..3),
    ) {
        // Two attributes of one name are malformed XML, which is an error too.
        let dimensions: String = lengths.iter().map(|n| format!("<Dimension start='{n}'/>")).collect();
        let clock = format!(
            "<Clock name='c' valueReference='1' causality='input' {}>{dimensions}</Clock>\
             <Clock name='o' valueReference='2' causality='output' clockType='communicationPoint'>{dimensions}</Clock>",
            attributes.join(" ")
        );
        for dialect in [None, Some(Abi::Draft), Some(Abi::Fmi3)] {
            let _ = description::parse_as(&in_variables(&clock), dialect);
        }
    }
}
