//! Rules that no run depends on and that only who validates an FMU hears of: each is broken by a description with that one fault, told in
//! its line, and by none without it.

use vecud::fmu::description::{self, ModelDescription};

const FMI_3: &str = r#"<fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="t" generationDateAndTime="2025-06-12T19:14:14Z">
<ModelExchange modelIdentifier="m"/>
<CoSimulation modelIdentifier="m" hasEventMode="true"/>
<UnitDefinitions><Unit name="m"><BaseUnit m="1"/><DisplayUnit name="km" factor="0.001"/></Unit></UnitDefinitions>
<TypeDefinitions><EnumerationType name="E"><Item name="a" value="1"/></EnumerationType></TypeDefinitions>
<LogCategories><Category name="all"/></LogCategories>
<DefaultExperiment startTime="0"/>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
<Float64 name="u" valueReference="1" causality="input" start="0"/>
<Float64 name="x" valueReference="2" causality="output" initial="exact" start="1" nominal="2"><Alias name="y"/></Float64>
<Float64 name="der(x)" valueReference="3" derivative="2"/>
<Int32 name="n" valueReference="4" causality="output"/>
<Float64 name="a" valueReference="5" causality="parameter" variability="fixed" start="1"><Dimension start="2"/><Alias name="b"/></Float64>
<Clock name="c" valueReference="6" causality="input" intervalVariability="triggered"/>
</ModelVariables>
<ModelStructure>
<Output valueReference="2" dependencies="" dependenciesKind=""/>
<Output valueReference="4" dependencies="1" dependenciesKind="dependent"/>
<ContinuousStateDerivative valueReference="3" dependencies="1" dependenciesKind="fixed"/>
<InitialUnknown valueReference="3"/>
<InitialUnknown valueReference="4"/>
</ModelStructure>
<Annotations><Annotation type="t">text of a tool</Annotation></Annotations>
</fmiModelDescription>"#;

const FMI_2: &str = r#"<fmiModelDescription fmiVersion="2.0" modelName="m" guid="g" generationDateAndTime="2025-06-12T19:14:14Z">
<CoSimulation modelIdentifier="m"/>
<ModelExchange modelIdentifier="m"/>
<UnitDefinitions><Unit name="m"><BaseUnit m="1"/><DisplayUnit name="km" factor="0.001"/></Unit></UnitDefinitions>
<TypeDefinitions><SimpleType name="B"><Boolean>anything</Boolean></SimpleType></TypeDefinitions>
<LogCategories><Category name="all"/></LogCategories>
<DefaultExperiment startTime="0"/>
<VendorAnnotations><Tool name="t">text of a tool</Tool></VendorAnnotations>
<ModelVariables>
<ScalarVariable name="u" valueReference="1" causality="input"><Real start="0"/></ScalarVariable>
<ScalarVariable name="x" valueReference="2" causality="output" initial="exact"><Real start="1" nominal="2"/></ScalarVariable>
<ScalarVariable name="der(x)" valueReference="3" initial="calculated"><Real derivative="2"/><Annotations/></ScalarVariable>
<ScalarVariable name="n" valueReference="4" causality="output" variability="discrete"><Integer/></ScalarVariable>
</ModelVariables>
<ModelStructure>
<Outputs><Unknown index="2"/><Unknown index="4" dependencies="1" dependenciesKind="dependent"/></Outputs>
<Derivatives><Unknown index="3" dependencies="1" dependenciesKind="fixed"/></Derivatives>
<InitialUnknowns><Unknown index="3" dependencies="1" dependenciesKind="constant"/><Unknown index="4"/></InitialUnknowns>
</ModelStructure>
</fmiModelDescription>"#;

const FMI_1: &str = r#"<fmiModelDescription fmiVersion="1.0" modelName="m" modelIdentifier="m" guid="g" numberOfContinuousStates="0" numberOfEventIndicators="0" generationDateAndTime="2025-06-12T19:14:14Z">
<UnitDefinitions><BaseUnit unit="m"><DisplayUnitDefinition displayUnit="km" gain="0.001"/></BaseUnit></UnitDefinitions>
<TypeDefinitions><Type name="T"><RealType/></Type></TypeDefinitions>
<DefaultExperiment startTime="0"/>
<ModelVariables>
<ScalarVariable name="u" valueReference="1" causality="input"><Real start="0" nominal="2"/></ScalarVariable>
<ScalarVariable name="y" valueReference="2" causality="output" variability="continuous"><Real/><DirectDependency><Name>u</Name></DirectDependency></ScalarVariable>
<ScalarVariable name="n" valueReference="3" variability="discrete"><Integer/></ScalarVariable>
</ModelVariables>
<Implementation><CoSimulation_StandAlone><Capabilities/></CoSimulation_StandAlone></Implementation>
</fmiModelDescription>"#;

/// All that is against some rule, as validation tells it.
fn told(text: &str) -> Vec<(u32, String)> {
    let read: ModelDescription = description::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let breaches = read.breaches().into_iter().chain(description::breaches_of_schema(text, &read));
    let all = read.tolerated.iter().cloned().chain(breaches);
    all.map(|found| (found.line, found.message)).collect()
}

#[test]
fn descriptions_without_a_fault_have_no_findings() {
    for sound in [FMI_3, FMI_2, FMI_1] {
        assert_eq!(told(sound), []);
    }
}

/// Each fault by itself: where it is put in place of what, the line in which it is told, and words.
#[test]
fn each_fault_is_told_once_in_its_line() {
    let date = ("2025-06-12T19:14:14Z", "12.06.2025 19:14");
    let unit = "<BaseUnit m=\"1\"/><DisplayUnit name=\"km\" factor=\"0.001\"/>";
    let turned = "<DisplayUnit name=\"km\" factor=\"0.001\"/><BaseUnit m=\"1\"/>";
    let experiment = "<DefaultExperiment startTime=\"0\"/>\n";
    for (sound, before, after, line, words) in [
        (FMI_3, date.0, date.1, 1, "is no date with a time"),
        (FMI_2, date.0, date.1, 1, "is no date with a time"),
        (FMI_1, date.0, date.1, 1, "is no date with a time"),
        (FMI_2, date.0, "", 1, "is no date with a time"),
        // Order.
        (FMI_3, unit, turned, 4, "<BaseUnit> stands behind <DisplayUnit>"),
        (FMI_2, unit, turned, 4, "<BaseUnit> stands behind <DisplayUnit>"),
        (
            FMI_3,
            "<LogCategories><Category name=\"all\"/></LogCategories>\n<DefaultExperiment startTime=\"0\"/>",
            "<DefaultExperiment startTime=\"0\"/>\n<LogCategories><Category name=\"all\"/></LogCategories>",
            7,
            "<LogCategories> stands behind <DefaultExperiment>",
        ),
        (
            FMI_2,
            "<LogCategories><Category name=\"all\"/></LogCategories>\n<DefaultExperiment startTime=\"0\"/>",
            "<DefaultExperiment startTime=\"0\"/>\n<LogCategories><Category name=\"all\"/></LogCategories>",
            7,
            "<LogCategories> stands behind <DefaultExperiment>",
        ),
        (
            FMI_1,
            "<TypeDefinitions><Type name=\"T\"><RealType/></Type></TypeDefinitions>\n<DefaultExperiment startTime=\"0\"/>",
            "<DefaultExperiment startTime=\"0\"/>\n<TypeDefinitions><Type name=\"T\"><RealType/></Type></TypeDefinitions>",
            4,
            "<TypeDefinitions> stands behind <DefaultExperiment>",
        ),
        (
            FMI_3,
            "<Dimension start=\"2\"/><Alias name=\"b\"/>",
            "<Alias name=\"b\"/><Dimension start=\"2\"/>",
            14,
            "<Dimension> stands behind <Alias>",
        ),
        (
            FMI_2,
            "<Real derivative=\"2\"/><Annotations/>",
            "<Annotations/><Real derivative=\"2\"/>",
            12,
            "stands behind <Annotations>",
        ),
        (
            FMI_2,
            "<Derivatives><Unknown index=\"3\" dependencies=\"1\" dependenciesKind=\"fixed\"/></Derivatives>\n<InitialUnknowns><Unknown index=\"3\" dependencies=\"1\" dependenciesKind=\"constant\"/><Unknown index=\"4\"/></InitialUnknowns>",
            "<InitialUnknowns><Unknown index=\"3\"/><Unknown index=\"4\"/></InitialUnknowns>\n<Derivatives><Unknown index=\"3\"/></Derivatives>",
            18,
            "<Derivatives> stands behind <InitialUnknowns>",
        ),
        // Text.
        (
            FMI_3,
            experiment,
            "<DefaultExperiment startTime=\"0\"/>\nnow\n",
            8,
            "<fmiModelDescription> holds text, \"now\"",
        ),
        (
            FMI_2,
            experiment,
            "<DefaultExperiment startTime=\"0\">now</DefaultExperiment>\n",
            7,
            "<DefaultExperiment> holds text",
        ),
        (
            FMI_1,
            experiment,
            "<DefaultExperiment startTime=\"0\">now</DefaultExperiment>\n",
            4,
            "<DefaultExperiment> holds text",
        ),
        // Capabilities.
        (FMI_3, " hasEventMode=\"true\"", "", 3, "there are clocks (\"c\", line 15): hasEventMode must be true"),
        (FMI_3, "hasEventMode=\"true\"", "hasEventMode=\"false\"", 3, "hasEventMode must be true"),
        // Structure.
        (
            FMI_3,
            "<InitialUnknown valueReference=\"3\"/>",
            "<InitialUnknown valueReference=\"2\"/>\n<InitialUnknown valueReference=\"3\"/>",
            21,
            "\"x\" (line 11) is no initial unknown",
        ),
        (
            FMI_2,
            "<InitialUnknowns>",
            "<InitialUnknowns><Unknown index=\"2\"/>",
            18,
            "\"x\" (line 11) is no initial unknown",
        ),
        (FMI_3, "dependenciesKind=\"dependent\"", "dependenciesKind=\"fixed\"", 19, "\"n\" (line 13) is Int32"),
        (FMI_2, "dependenciesKind=\"dependent\"", "dependenciesKind=\"fixed\"", 16, "\"n\" (line 13) is Int32"),
        (
            FMI_2,
            "dependenciesKind=\"constant\"",
            "dependenciesKind=\"tunable\"",
            18,
            "\"tunable\" is not for initial unknowns",
        ),
        (
            FMI_2,
            "<Real derivative=\"2\"/>",
            "<Real derivative=\"1\"/>",
            17,
            "is the derivative of \"u\" (line 10), which is an input",
        ),
        (FMI_3, "derivative=\"2\"", "derivative=\"1\"", 20, "is the derivative of \"u\" (line 10), which is an input"),
        (
            FMI_2,
            "<Derivatives><Unknown index=\"3\" dependencies=\"1\" dependenciesKind=\"fixed\"/></Derivatives>\n",
            "",
            15,
            "<Derivatives> is missing",
        ),
        (
            FMI_2,
            "<Derivatives><Unknown index=\"3\" dependencies=\"1\" dependenciesKind=\"fixed\"/></Derivatives>",
            "<Derivatives/>",
            15,
            "\"der(x)\" (line 12) is a derivative",
        ),
        (FMI_2, "<Unknown index=\"2\"/>", "<Unknown index=\"2\"/><Unknown index=\"2\"/>", 16, "lists \"x\" twice"),
        (
            FMI_2,
            "<Unknown index=\"4\"/></InitialUnknowns>",
            "<Unknown index=\"4\"/>\n<Unknown index=\"4\"/></InitialUnknowns>",
            19,
            "<InitialUnknowns> lists \"n\" twice",
        ),
        (
            FMI_2,
            "<Unknown index=\"3\" dependencies=\"1\" dependenciesKind=\"constant\"/><Unknown index=\"4\"/>",
            "<Unknown index=\"4\"/><Unknown index=\"3\"/>",
            18,
            "variable 3 stands behind 4",
        ),
        (FMI_2, "<Real derivative=\"2\"/>", "<Real derivative=\"3\"/>", 12, "names the variable itself"),
        (FMI_3, "derivative=\"2\"", "derivative=\"3\"", 12, "names the variable itself"),
        (FMI_2, "<Real start=\"0\"/>", "<Real start=\"0\" reinit=\"true\"/>", 10, "`reinit` belongs only to states"),
        // Variables.
        (FMI_2, "causality=\"input\"", "causality=\"input\" initial=\"exact\"", 10, "an input has no `initial`"),
        (FMI_1, "variability=\"discrete\"", "variability=\"continuous\"", 8, "is for <Real> alone"),
        (FMI_3, "nominal=\"2\"", "nominal=\"-2\"", 11, "must be above 0"),
        (FMI_2, "nominal=\"2\"", "nominal=\"0\"", 11, "must be above 0"),
        (FMI_1, "nominal=\"2\"", "nominal=\"NaN\"", 6, "must be above 0"),
    ] {
        assert!(sound.contains(before), "{before}");
        let found = told(&sound.replacen(before, after, 1));
        let [(own, message)] = &found[..] else { panic!("{after}: {found:?}") };
        assert!(*own == line && message.contains(words), "{after}: line {own}: {message}");
    }
}

/// A derivative may be that of an input, where it is no state, and of an FMU for Co-Simulation nobody lists states.
#[test]
fn what_only_looks_like_a_fault_is_none() {
    let derivatives =
        "<Derivatives><Unknown index=\"3\" dependencies=\"1\" dependenciesKind=\"fixed\"/></Derivatives>\n";
    let initial = "<Unknown index=\"3\" dependencies=\"1\" dependenciesKind=\"constant\"/>";
    let of_input = FMI_2.replace("derivative=\"2\"", "derivative=\"1\"").replace(derivatives, "").replace(initial, "");
    assert_eq!(told(&of_input), []);
    let slave =
        FMI_2.replace("<ModelExchange modelIdentifier=\"m\"/>", "").replace(derivatives, "").replace(initial, "");
    assert_eq!(told(&slave), []);
    let reinitialised = FMI_2.replace("nominal=\"2\"", "nominal=\"2\" reinit=\"true\"");
    assert_eq!(told(&reinitialised), []);
    let clockless = FMI_3.replace(" hasEventMode=\"true\"", "");
    let (clock, rest) =
        clockless.split_once("<Clock").map(|(before, after)| (before, after.split_once("/>\n").unwrap().1)).unwrap();
    assert_eq!(told(&format!("{clock}{rest}")), []);
}

/// FMI 3.0.2, 2.4.9: terminals name variables, or aliases, of the description.
#[test]
fn terminals_name_variables_that_there_are() {
    let read = description::parse(FMI_3).unwrap();
    let terminals = |more: &str| {
        format!(
            "<fmiTerminalsAndIcons fmiVersion=\"3.0\"><Terminals><Terminal name=\"t\" matchingRule=\"bus\">\n\
             <TerminalMemberVariable variableName=\"u\" variableKind=\"signal\"/>\n\
             <TerminalMemberVariable variableName=\"y\" variableKind=\"signal\"/>\n{more}</Terminal></Terminals>\
             </fmiTerminalsAndIcons>"
        )
    };
    assert_eq!(description::unknown_in_terminals(&terminals(""), &read), []);
    for (more, name) in [
        ("<TerminalMemberVariable variableName=\"z\" variableKind=\"signal\"/>", "variableName=\"z\""),
        (
            "<TerminalStreamMemberVariable inStreamVariableName=\"u\" outStreamVariableName=\"w\"/>",
            "outStreamVariableName=\"w\"",
        ),
        (
            "<Terminal name=\"i\" matchingRule=\"bus\"><TerminalMemberVariable variableName=\"v\"/></Terminal>",
            "variableName=\"v\"",
        ),
    ] {
        let found = description::unknown_in_terminals(&terminals(more), &read);
        let [one] = &found[..] else { panic!("{found:?}") };
        assert!(one.line == 4 && one.message.contains(name), "{one}");
    }
    assert_eq!(description::unknown_in_terminals("<fmiTerminalsAndIcons>", &read).len(), 1, "it is no XML");
}
