//! Model descriptions that are right: what comes out of them (FMI 3.0, 2.4).

use vecud::fmu::description::*;
use vecud::priority::FmiPriority;
use vecud::time::Fraction;

/// A whole description around `<ModelVariables>` and what may follow.
fn with_variables(variables: &str, structure: &str) -> ModelDescription {
    parse(&format!(
        "<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken=''><ScheduledExecution \
         modelIdentifier='m'/><ModelVariables>{TIME}{variables}</ModelVariables><ModelStructure>{structure}\
         </ModelStructure></fmiModelDescription>"
    ))
    .unwrap()
}

const TIME: &str = "<Float64 name='time' valueReference='0' causality='independent'/>";

/// A virtual ECU with three tasks and a tick, in the manner of the Reference FMU "Clocks".
const TASKS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0.2" modelName="Body controller" instantiationToken="{7f0c}" description="d"
    author="a" version="1.4" copyright="c" license="MIT" generationTool="by hand"
    generationDateAndTime="2024-02-29T12:00:00Z" variableNamingConvention="structured">
  <CoSimulation modelIdentifier="body_cs" canHandleVariableCommunicationStepSize="1" hasEventMode="true"
      maxOutputDerivativeOrder="2" recommendedIntermediateInputSmoothness="-1" fixedInternalStepSize="1e-3"/>
  <ScheduledExecution modelIdentifier="body_1" canSerializeFMUState="true"><Annotations><Annotation type="x">
    <anything/></Annotation></Annotations></ScheduledExecution>
  <UnitDefinitions>
    <Unit name="bar"><BaseUnit kg="1" m="-1" s="-2" factor="1e5"/><DisplayUnit name="psi" factor="14.5"/></Unit>
    <Unit name="L/km"><DisplayUnit name="mpg" factor="2.35" inverse="true"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions>
    <Float64Type name="Pressure" unit="bar" displayUnit="psi" quantity="Pressure" min="0" max="INF" nominal="3"/>
    <EnumerationType name="Gear"><Item name="park" value="-1"/><Item name="drive" value="1" description="forward"/>
    </EnumerationType>
    <ClockType name="Fast" intervalVariability="constant" resolution="1000" intervalCounter="5" shiftCounter="1"
        supportsFraction="true" priority="3"/>
    <BinaryType name="Frame" mimeType="application/can" maxSize="64"/>
  </TypeDefinitions>
  <LogCategories><Category name="logEvents" description="e"/><Category name="logStatusError"/></LogCategories>
  <DefaultExperiment startTime="-1" stopTime="10" stepSize="0.1" tolerance="1e-4"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    <Clock name="every_second" valueReference="1001" causality="input" intervalVariability="constant"
        intervalDecimal="1.0" shiftDecimal="0.25" priority="0"/>
    <Clock name="on_door" valueReference="1002" causality="input" intervalVariability="triggered" priority="1"/>
    <Clock name="later" valueReference="1003" causality="input" intervalVariability="countdown" priority="2"
        clocks="1001"/>
    <Clock name="fast" valueReference="1004" causality="input" intervalVariability="constant" declaredType="Fast"
        priority="7" canBeDeactivated="true"/>
    <Clock name="tick" valueReference="1005" causality="output" intervalVariability="triggered"
        clocks="1001 1002 1003"/>
    <Int32 name="seconds" valueReference="2001" causality="output" clocks="1001"/>
    <Int32 name="doors" valueReference="2002" causality="output" clocks="1002"/>
    <Int32 name="sum" valueReference="2004" causality="output" clocks="1001 1002 1003"/>
    <Int32 name="demand" valueReference="2006" causality="input" start="0"/>
    <Float64 name="brake.pressure" valueReference="2007" causality="input" declaredType="Pressure" max="200" start="1">
      <Alias name="brake.psi" displayUnit="psi" description="the same"/><Alias name="p"/></Float64>
    <Enumeration name="gear" valueReference="2008" declaredType="Gear" causality="input" start="-1"/>
    <Binary name="frame" valueReference="2009" declaredType="Frame" causality="input"><Start value="0aFF"/></Binary>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="1005" dependencies="1001 1002 1003"/>
    <Output valueReference="2001" dependencies="1001" dependenciesKind="dependent"/>
    <Output valueReference="2002" dependencies=""/>
    <Output valueReference="2004"/>
    <InitialUnknown valueReference="2004" dependencies="2006" dependenciesKind="constant"/>
  </ModelStructure>
  <Annotations><Annotation type="org.example"><x:y xmlns:x="urn:z" x:name="1"/></Annotation></Annotations>
</fmiModelDescription>
"#;

#[test]
fn a_virtual_ecu_with_three_tasks() {
    let found = parse(TASKS).unwrap();
    assert_eq!(found.warnings, Vec::<String>::new());
    assert_eq!((found.fmi_version.as_str(), found.model_name.as_str()), ("3.0.2", "Body controller"));
    assert_eq!(found.instantiation_token, "{7f0c}");
    assert_eq!(found.generation_date_and_time.as_deref(), Some("2024-02-29T12:00:00Z"));
    assert_eq!(found.naming, NamingConvention::Structured);
    assert!(found.model_exchange().is_none());

    let se = found.scheduled_execution().unwrap();
    assert_eq!(se.model_identifier, "body_1");
    assert!(se.can_serialize_fmu_state && se.can_get_and_set_fmu_state, "one implies the other");
    let cs = found.co_simulation().unwrap();
    assert!(cs.can_handle_variable_communication_step_size && cs.has_event_mode && !cs.common.needs_execution_tool);
    assert_eq!((cs.max_output_derivative_order, cs.recommended_intermediate_input_smoothness), (2, -1));
    assert_eq!(cs.fixed_internal_step_size, Some(0.001));

    assert_eq!(found.units[0].base.as_ref().unwrap().exponents, [1, -1, -2, 0, 0, 0, 0, 0]);
    assert_eq!(found.units[0].base.as_ref().unwrap().factor, 1e5);
    assert!(found.units[1].base.is_none() && found.units[1].display_units[0].inverse);
    assert_eq!(found.types[1].items[1].value, 1);
    assert_eq!(found.log_categories[0].description.as_deref(), Some("e"));
    assert_eq!(found.default_experiment.start_time, Some(-1.0));
    assert_eq!(found.default_experiment.tolerance, Some(1e-4));

    let depends = |list: &[u32]| {
        Some(
            list.iter()
                .map(|&on| Dependency { on: ValueReference(on).into(), kind: DependencyKind::Dependent })
                .collect(),
        )
    };
    let outputs: Vec<_> = found.structure.outputs.iter().map(|output| output.dependencies.clone()).collect();
    assert_eq!(outputs, [depends(&[1001, 1002, 1003]), depends(&[1001]), depends(&[]), None]);
    let unknown = found.structure.initial_unknowns[0].dependencies.as_ref().unwrap()[0];
    assert_eq!((unknown.on, unknown.kind), (ValueReference(2006).into(), DependencyKind::Constant));
}

#[test]
fn clocks_with_every_attribute() {
    let found = parse(TASKS).unwrap();
    let clock = |name: &str| found.variable(name).unwrap().clock.clone().unwrap();
    assert_eq!(clock("every_second").interval, Some(Fraction::new(1, 1).unwrap()));
    assert_eq!(clock("every_second").shift, Fraction::new(1, 4).unwrap());
    assert_eq!(clock("every_second").priority, Some(FmiPriority(0)));
    assert_eq!(clock("on_door").interval_variability, IntervalVariability::Triggered);
    assert_eq!(clock("later").interval_variability, IntervalVariability::Countdown);
    assert_eq!(clock("tick").priority, None);
    let fast = clock("fast");
    assert_eq!(fast.interval, Some(Fraction::new(5, 1000).unwrap()), "from its type");
    assert_eq!((fast.shift, fast.resolution), (Fraction::new(1, 1000).unwrap(), Some(1000)));
    assert!(fast.supports_fraction && fast.can_be_deactivated);
    assert_eq!(fast.priority, Some(FmiPriority(7)), "its own wins");

    let tick = found.variable("tick").unwrap();
    assert_eq!((tick.variability, tick.initial, tick.causality), (Variability::Discrete, None, Causality::Output));
    assert_eq!(tick.clocks, [1001, 1002, 1003].map(ValueReference));
    let seconds = found.variable("seconds").unwrap();
    assert_eq!((seconds.variability, seconds.initial), (Variability::Discrete, Some(Initial::Calculated)));
    assert_eq!((seconds.line, seconds.start.is_none()), (34, true));
}

#[test]
fn intervals_are_exact_and_fractions_win() {
    for (attributes, interval, shift) in [
        ("constant' intervalDecimal='0.01", Some((1, 100)), (0, 1)),
        ("constant' intervalDecimal='1e-3' shiftDecimal='0.0005", Some((1, 1000)), (1, 2000)),
        ("fixed", None, (0, 1)),
        ("tunable' intervalDecimal='2", Some((2, 1)), (0, 1)),
        ("fixed' intervalDecimal='0.333333333333' intervalCounter='1' resolution='3", Some((1, 3)), (0, 1)),
        (
            "tunable' intervalCounter='10' shiftCounter='5' resolution='1000' supportsFraction='1",
            Some((1, 100)),
            (1, 200),
        ),
        ("constant' intervalDecimal='0.00033333333333333333333", Some((1, 3000)), (0, 1)),
        (
            "constant' intervalDecimal='0.0001234567890123456789",
            Some((123_456_789_012_346, 1_000_000_000_000_000_000)),
            (0, 1),
        ),
        ("changing", None, (0, 1)),
        ("triggered' resolution='5", None, (0, 1)),
    ] {
        let xml = format!("<Clock name='c' valueReference='1' causality='input' intervalVariability='{attributes}'/>");
        let found = with_variables(&xml, "");
        let clock = found.variable("c").unwrap().clock.clone().unwrap();
        let fraction = |(counter, resolution)| Fraction::new(counter, resolution).unwrap();
        assert_eq!(clock.interval, interval.map(fraction), "{attributes}");
        assert_eq!(clock.shift, fraction(shift), "{attributes}");
        assert_eq!(found.warnings, Vec::<String>::new(), "{attributes}");
    }
}

#[test]
fn a_clock_s_own_interval_is_not_beaten_by_its_type_s_fraction() {
    let xml = "<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken=''><ModelExchange \
               modelIdentifier='m' needsCompletedIntegratorStep='true'/><TypeDefinitions><ClockType name='T' \
               intervalVariability='constant' intervalCounter='1' resolution='10'/></TypeDefinitions><ModelVariables>\
               <Float64 name='time' valueReference='0' causality='independent'/><Clock name='c' valueReference='1' \
               declaredType='T' intervalVariability='constant' intervalDecimal='3'/></ModelVariables>\
               <ModelStructure/></fmiModelDescription>";
    let found = parse(xml).unwrap();
    let clock = found.variable("c").unwrap().clock.as_ref().unwrap();
    assert_eq!(clock.interval, Some(Fraction::new(3, 1).unwrap()));
    assert!(found.model_exchange().unwrap().needs_completed_integrator_step);
}

#[test]
fn attributes_of_the_declared_type_are_inherited() {
    let found = parse(TASKS).unwrap();
    let pressure = found.variable("brake.pressure").unwrap();
    assert_eq!(pressure.unit.as_deref(), Some("bar"));
    assert_eq!((pressure.display_unit.as_deref(), pressure.quantity.as_deref()), (Some("psi"), Some("Pressure")));
    assert_eq!(pressure.min, Some(Values::Float64(vec![0.0]).into()));
    assert_eq!(pressure.max, Some(Values::Float64(vec![200.0]).into()), "its own wins");
    assert_eq!(pressure.nominal, Some(3.0));
    assert_eq!((pressure.variability, pressure.initial), (Variability::Continuous, Some(Initial::Exact)));
    let frame = found.variable("frame").unwrap();
    assert_eq!((frame.mime_type.as_deref(), frame.max_size), (Some("application/can"), Some(64)));
    assert_eq!(frame.start, Some(Values::Binary(vec![vec![0x0a, 0xff]])));
    assert_eq!(found.variable("gear").unwrap().start, Some(Values::Int64(vec![-1])));
}

#[test]
fn aliases_name_the_same_variable() {
    let found = parse(TASKS).unwrap();
    for name in ["brake.pressure", "brake.psi", "p"] {
        assert_eq!(found.variable(name).unwrap().value_reference, ValueReference(2007));
    }
    assert!(found.variable("brake").is_none());
    assert_eq!(found.by_reference(ValueReference(2007)).unwrap().aliases[0].display_unit.as_deref(), Some("psi"));
    assert!(found.by_reference(ValueReference(1)).is_none());
}

#[test]
fn a_description_put_together_by_hand_can_be_searched() {
    let parsed = parse(TASKS).unwrap();
    let by_hand = ModelDescription { variables: parsed.variables.clone(), ..ModelDescription::default() };
    assert_eq!(by_hand.variable("p").unwrap().name, "brake.pressure");
    assert_eq!(by_hand.by_reference(ValueReference(1005)).unwrap().name, "tick");
    assert!(by_hand.variable("q").is_none());
}

#[test]
fn start_values_of_all_types() {
    let list = |element: &str, start: &str, length: usize| {
        let xml = format!(
            "<{element} name='x' valueReference='1' initial='exact' variability='discrete' start='{start}'>\
             <Dimension start='{length}'/></{element}>"
        );
        with_variables(&xml, "").variable("x").unwrap().start.clone().unwrap()
    };
    let floats = "-INF -1.79769e+308 1e-3 INF 7";
    assert_eq!(
        list("Float64", floats, 5),
        Values::Float64(vec![f64::NEG_INFINITY, -1.79769e308, 1e-3, f64::INFINITY, 7.0])
    );
    assert_eq!(list("Float32", " 0.1\t3.402823e+38\n", 2), Values::Float32(vec![0.1, 3.402823e38]));
    let Values::Float32(nan) = list("Float32", "NaN", 1) else { panic!("no Float32") };
    assert!(nan[0].is_nan());
    assert_eq!(list("Int8", "-128 127", 2), Values::Int8(vec![i8::MIN, i8::MAX]));
    assert_eq!(list("UInt8", "0 255", 2), Values::UInt8(vec![0, u8::MAX]));
    assert_eq!(list("Int16", "-32768 32767", 2), Values::Int16(vec![i16::MIN, i16::MAX]));
    assert_eq!(list("UInt16", "0 65535", 2), Values::UInt16(vec![0, u16::MAX]));
    assert_eq!(list("Int32", "-2147483648 2147483647", 2), Values::Int32(vec![i32::MIN, i32::MAX]));
    assert_eq!(list("UInt32", "0 4294967295", 2), Values::UInt32(vec![0, u32::MAX]));
    assert_eq!(list("Int64", "-9223372036854775808 9223372036854775807", 2), Values::Int64(vec![i64::MIN, i64::MAX]));
    assert_eq!(list("UInt64", "0 18446744073709551615", 2), Values::UInt64(vec![0, u64::MAX]));
    assert_eq!(list("Boolean", "true false 1 0", 4), Values::Boolean(vec![true, false, true, false]));
    assert_eq!(list("Boolean", "1", 4), Values::Boolean(vec![true]), "one value fills the array");

    let found = with_variables(
        "<String name='s' valueReference='1' causality='parameter'><Dimension start='3'/><Start value='a b'/>\
         <Start value=''/><Start value='&lt;ü'/></String>\
         <Binary name='b' valueReference='2' causality='parameter'><Start value=''/></Binary>",
        "",
    );
    let strings = ["a b", "", "<ü"].map(str::to_owned).to_vec();
    assert_eq!(found.variable("s").unwrap().start, Some(Values::String(strings)));
    assert_eq!(found.variable("b").unwrap().start, Some(Values::Binary(vec![vec![]])));
    assert_eq!(found.variable("b").unwrap().mime_type.as_deref(), Some("application/octet-stream"));
}

#[test]
fn arrays_with_fixed_and_structural_dimensions() {
    let found = with_variables(
        "<UInt64 name='n' valueReference='1' causality='structuralParameter' variability='tunable' start='3' min='0'/>\
         <UInt64 name='k' valueReference='2' variability='constant' start='4'/>\
         <Float64 name='table' valueReference='3' causality='parameter' start='1 2 3 4 5 6'>\
         <Dimension valueReference='1'/><Dimension start='2'/></Float64>\
         <Int8 name='cube' valueReference='4'><Dimension start='2'/><Dimension valueReference='2'/>\
         <Dimension valueReference='1'/></Int8>",
        "",
    );
    let elements = |name: &str| found.elements(found.variable(name).unwrap());
    assert_eq!((elements("table"), elements("cube"), elements("n")), (6, 24, 1));
    let table = found.variable("table").unwrap();
    assert_eq!(table.dimensions, [Dimension::Structural(ValueReference(1)), Dimension::Fixed(2)]);
    assert_eq!((table.variability, table.initial), (Variability::Fixed, Some(Initial::Exact)));
}

#[test]
fn states_previous_values_and_event_indicators() {
    let found = with_variables(
        "<Clock name='c' valueReference='1' causality='input' intervalVariability='triggered' priority='0'/>\
         <Float64 name='x' valueReference='2' initial='exact' start='0' reinit='true' intermediateUpdate='true'/>\
         <Float64 name='der(x)' valueReference='3' derivative='2'/>\
         <Int32 name='s' valueReference='4' initial='exact' start='0' clocks='1' previous='5'/>\
         <Int32 name='pre(s)' valueReference='5' clocks='1'/>\
         <Float64 name='u' valueReference='6' causality='input' canHandleMultipleSetPerTimeInstant='false' start='0'/>",
        "<ContinuousStateDerivative valueReference='3' dependencies='6 2' dependenciesKind='fixed discrete'/>\
         <ClockedState valueReference='4'/><EventIndicator valueReference='2'/>",
    );
    assert_eq!(found.warnings, Vec::<String>::new());
    let variable = |name: &str| found.variable(name).unwrap();
    assert!(variable("x").reinit && variable("x").intermediate_update);
    assert_eq!(variable("der(x)").derivative, Some(ValueReference(2)));
    assert_eq!(variable("s").previous, Some(ValueReference(5)));
    assert!(!variable("u").can_handle_multiple_set_per_time_instant);
    assert!(variable("x").can_handle_multiple_set_per_time_instant);
    let kinds: Vec<_> = found.structure.continuous_state_derivatives[0].dependencies.iter().flatten().collect();
    assert_eq!((kinds[0].kind, kinds[1].kind), (DependencyKind::Fixed, DependencyKind::Discrete));
    assert_eq!(found.structure.clocked_states[0].variable.reference, ValueReference(4));
    assert_eq!(found.structure.event_indicators[0].variable.reference, ValueReference(2));
}

/// The four cases of the standard (2.4.8): absent dependencies are on everything, empty ones on nothing, and each has its
/// kind.
#[test]
fn dependencies_may_be_absent_empty_or_listed_with_their_kinds() {
    use DependencyKind::{Constant, Dependent, Discrete, Fixed, Tunable};
    let variables = "<Float64 name='p' valueReference='1' causality='parameter' variability='fixed' start='1'/>\
         <Float64 name='u1' valueReference='2' causality='input' start='0'/>\
         <Float64 name='u2' valueReference='3' causality='input' start='0'/>\
         <Float64 name='x' valueReference='4' initial='approx' start='0'/>\
         <Float64 name='der(x)' valueReference='5' derivative='4'/>\
         <Float64 name='y' valueReference='6' causality='output' initial='calculated'/>";
    let with = |structure: &str| with_variables(variables, structure).structure;
    let of = |unknown: &vecud::fmu::description::Unknown| {
        let listed = unknown.dependencies.as_ref();
        listed.map(|all| all.iter().map(|dependency| (dependency.on.reference.0, dependency.kind)).collect::<Vec<_>>())
    };
    // der(x) = 3·p²·u1 + 2·u2 + f(x); y = g(x): linear in u1 with a factor that is fixed, in u2 with a constant one. Its
    // steady state makes x an initial unknown of everything.
    let found = with(
        "<Output valueReference='6' dependencies='4'/>\
         <ContinuousStateDerivative valueReference='5' dependencies='4 2 3' dependenciesKind='dependent fixed constant'/>\
         <InitialUnknown valueReference='4'/><InitialUnknown valueReference='5' dependencies=''/>\
         <InitialUnknown valueReference='6' dependencies='1 2' dependenciesKind='dependent constant'/>",
    );
    assert_eq!(of(&found.outputs[0]), Some(vec![(4, Dependent)]));
    assert_eq!(of(&found.continuous_state_derivatives[0]), Some(vec![(4, Dependent), (2, Fixed), (3, Constant)]));
    let initial: Vec<_> = found.initial_unknowns.iter().map(of).collect();
    assert_eq!(initial, [None, Some(vec![]), Some(vec![(1, Dependent), (2, Constant)])]);
    // y = if u1 > 0 then 2·u1 else 3·u1: the factor changes at events. y = if u1 > 0 then 1 else 2: no factor at all.
    for (kind, expected) in [("discrete", Discrete), ("dependent", Dependent), ("tunable", Tunable)] {
        let found = with(&format!("<Output valueReference='6' dependencies='2' dependenciesKind='{kind}'/>"));
        assert_eq!(of(&found.outputs[0]), Some(vec![(2, expected)]));
    }
    // An integrator: der(x) = u1, y = x.
    let found = with(
        "<Output valueReference='6' dependencies='4' dependenciesKind='constant'/>\
         <ContinuousStateDerivative valueReference='5' dependencies='2' dependenciesKind='constant'/>",
    );
    assert_eq!(of(&found.outputs[0]), Some(vec![(4, Constant)]));
    assert_eq!(of(&found.continuous_state_derivatives[0]), Some(vec![(2, Constant)]));
}

/// FMI 3.0.2, 2.6: a minor version only adds what may be ignored.
#[test]
fn a_later_minor_version_is_read_as_3_0_and_what_it_adds_is_ignored_with_a_note() {
    let text = "<fmiModelDescription fmiVersion='3.1' modelName='m' instantiationToken='t' mood='good'>\
         <ScheduledExecution modelIdentifier='m' canFly='true'/><Weather/><ModelVariables>\
         <Float64 name='time' valueReference='0' causality='independent'/>\
         <Clock name='c' valueReference='1' causality='input' intervalVariability='triggered' priority='1' hue='red'/>\
         </ModelVariables><ModelStructure/></fmiModelDescription>";
    let found = parse(text).unwrap();
    assert_eq!((found.fmi_version.as_str(), found.abi), ("3.1", Abi::Fmi3));
    assert_eq!(found.warnings.len(), 5, "{:#?}", found.warnings);
    assert!(found.warnings[0].contains("fmiVersion=\"3.1\" is later than the FMI 3.0"), "{:#?}", found.warnings);
    for ignored in ["mood=", "canFly=", "<Weather>", "hue="] {
        assert!(found.warnings.iter().any(|warning| warning.contains(ignored)), "{:#?}", found.warnings);
    }
}

/// XML Schema allows a sign before zero.
#[test]
fn zero_may_have_a_sign() {
    let found = with_variables(
        "<UInt8 name='x' valueReference='1' initial='exact' start='-0 +0 -000'><Dimension start='3'/></UInt8>\
         <UInt64 name='y' valueReference='2' initial='exact' start='-0'/>",
        "",
    );
    assert_eq!(found.variable("x").unwrap().start, Some(Values::UInt8(vec![0; 3])));
    assert_eq!(found.variable("y").unwrap().start, Some(Values::UInt64(vec![0])));
}

#[test]
fn a_mime_type_may_be_long() {
    let long = format!("application/x; note={}", "x".repeat(100_000));
    let variable = format!("<Binary name='x' valueReference='1' mimeType='{long}' quantity='{long}'/>");
    assert_eq!(with_variables(&variable, "").variable("x").unwrap().mime_type.as_deref(), Some(long.as_str()));
}

/// Allowed by this parser though not by the standard, or not known to it: one warning each, with its place.
#[test]
fn what_harms_no_run_is_a_warning() {
    for (variables, structure, warning) in [
        ("<Float64 name='x' valueReference='1' colour='red'/>", "", "colour=\"red\" is unknown"),
        ("<Int8 name='x' valueReference='1' derivative='9'/>", "", "derivative=\"9\" is unknown"),
        (
            "<Clock name='x' valueReference='1' causality='input' intervalVariability='fixed' previous='9'/>",
            "",
            "previous=\"9\" is unknown",
        ),
        ("<Quaternion/>", "", "<Quaternion> is unknown"),
        ("<Int8 name='x' valueReference='1'><Smell/></Int8>", "", "<Smell> is unknown"),
        ("<Float64 name='x' valueReference='1' unit='m'/>", "", "unit \"m\" is not defined"),
        ("<Float64 name='x' valueReference='1' displayUnit='m'/>", "", "displayUnit \"m\" without a unit"),
        ("<Float64 name='x' valueReference='1' start='1'/>", "", "although `initial` is calculated"),
        ("<Float64 name='x' valueReference='1' min='1' max='0'/>", "", "min is greater than max"),
        ("<Binary name='x' valueReference='1' causality='input'/>", "", "a start value is missing"),
        ("<Int8 name='x' valueReference='1' causality='output'/>", "", "output \"x\" (line 1) is not listed"),
        ("<Int8 name='x' valueReference='1'/>", "<Output valueReference='1'/>", "which is no output"),
        (
            "<Clock name='x' valueReference='1' causality='input' intervalVariability='countdown' intervalDecimal='1'/>",
            "",
            "is ignored",
        ),
        ("", "<Input/>", "<Input> is unknown"),
    ] {
        let warnings = with_variables(variables, structure).warnings;
        assert_eq!(warnings.len(), 1, "{variables}: {warnings:?}");
        assert!(warnings[0].contains(warning) && warnings[0].starts_with("modelDescription.xml:1:"), "{warnings:?}");
    }
    for (variables, structure, warning) in [
        (
            "<Int8 name='x' valueReference='1' canHandleMultipleSetPerTimeInstant='false'/>",
            "",
            "canHandleMultipleSetPerTimeInstant=\"false\" belongs only to inputs",
        ),
        ("<Float64 name='x' valueReference='1' reinit='true'/>", "", "reinit=\"true\" belongs only to states"),
        (
            "<Float64 name='p' valueReference='1' causality='parameter' start='0' intermediateUpdate='true'/>",
            "",
            "intermediateUpdate=\"true\" belongs only to continuous variables",
        ),
        (
            "<Int8 name='x' valueReference='1' causality='output'/><Int8 name='y' valueReference='2' causality='output'/>",
            "<InitialUnknown valueReference='1'/><Output valueReference='1'/><Output valueReference='2'/>",
            "<Output> stands behind <InitialUnknown>",
        ),
    ] {
        let warnings = with_variables(variables, structure).warnings;
        assert_eq!(warnings.len(), 1, "{variables}: {warnings:?}");
        assert!(warnings[0].contains(warning) && warnings[0].starts_with("modelDescription.xml:1:"), "{warnings:?}");
    }
    // What says no more than the default harms nobody.
    let defaults = "<Int8 name='x' valueReference='1' canHandleMultipleSetPerTimeInstant='true' intermediateUpdate='0'/>\
                    <Float64 name='y' valueReference='2' reinit='false'/>";
    assert_eq!(with_variables(defaults, "").warnings, Vec::<String>::new());
    let many: String = (1..=150).map(|i| format!("<Int8 name='x{i}' valueReference='{i}' colour='red'/>")).collect();
    let warnings = with_variables(&many, "").warnings;
    assert_eq!((warnings.len(), warnings[100].as_str()), (101, "modelDescription.xml: 50 more warnings"));
}
