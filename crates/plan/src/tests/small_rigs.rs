//! Small rigs, and plans of them.

use crate::rig;
use crate::{FmuInput, HostFacts, InputClockPlan, Plan, UnitPlan, build};
use std::path::{Path, PathBuf};
use vecud_description::{ModelDescription, parse};

/// A controller: two periodic clocks, one that an output clock or a list triggers, one output clock.
pub const ECU: &str = r#"
<Clock name="fast" valueReference="1" causality="input" intervalVariability="constant" intervalDecimal="0.001" priority="1"/>
<Clock name="slow" valueReference="2" causality="input" intervalVariability="constant" intervalDecimal="0.01" priority="2"/>
<Clock name="isr" valueReference="3" causality="input" intervalVariability="triggered" priority="0"/>
<Clock name="tick" valueReference="4" causality="output" intervalVariability="triggered" clocks="2"/>
<Float64 name="speed" valueReference="10" causality="input" start="0" variability="discrete" clocks="1"/>
<Float64 name="throttle" valueReference="11" causality="output" variability="discrete" clocks="2"/>
<Int32 name="teeth" valueReference="12" causality="output" variability="discrete" clocks="3"/>
<Int32 name="ticks" valueReference="13" causality="output" variability="discrete" clocks="4"/>
<Float64 name="idle_speed" valueReference="14" causality="parameter" variability="fixed" start="800" min="500" max="1500"/>
<Boolean name="alive" valueReference="15" causality="output" variability="discrete"/>
"#;

/// A plant with one partition of 1 ms.
pub const PLANT: &str = r#"
<Clock name="step" valueReference="1" causality="input" intervalVariability="constant" intervalCounter="1" resolution="1000" priority="7"/>
<Float64 name="throttle" valueReference="10" causality="input" start="0.05" variability="discrete"/>
<Float64 name="speed" valueReference="11" causality="output" variability="discrete" clocks="1"/>
<Float64 name="field" valueReference="12" causality="output" variability="discrete" clocks="1"><Dimension start="2"/><Dimension start="3"/></Float64>
<Int64 name="count" valueReference="13" causality="output" variability="discrete" initial="calculated"/>
"#;

/// A description with these variables; the first line of `variables` is line 2 of the document.
pub fn description(variables: &str) -> ModelDescription {
    let xml = format!(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">\
         <ScheduledExecution modelIdentifier=\"m\"/><TypeDefinitions><EnumerationType name=\"Gear\">\
         <Item name=\"neutral\" value=\"0\"/><Item name=\"first\" value=\"1\"/></EnumerationType></TypeDefinitions>\
         <ModelVariables>{variables}</ModelVariables><ModelStructure/></fmiModelDescription>"
    );
    let mut description = parse(&xml).unwrap();
    // That these small texts list no outputs is not what is tested here.
    description.warnings.clear();
    description
}

/// Four allowed cores, none isolated.
pub fn host() -> HostFacts {
    HostFacts { allowed_cpus: vec![0, 1, 2, 3], isolated_cpus: Vec::new(), ..HostFacts::default() }
}

/// Builds a rig text with one description for each of its FMUs; problems as text.
pub fn try_build(text: &str, descriptions: &[ModelDescription], host: &HostFacts) -> Result<Plan, String> {
    let rig = rig::parse(text, Path::new("rig.toml")).map_err(|error| error.to_string())?;
    build(&rig, &inputs(&rig, descriptions), &[], host).map_err(|error| error.to_string())
}

/// Inputs as opening the FMUs would give them.
pub fn inputs<'a>(rig: &rig::Rig, descriptions: &'a [ModelDescription]) -> Vec<FmuInput<'a>> {
    let input = |(fmu, description): (&rig::RigFmu, &'a ModelDescription)| FmuInput {
        description,
        library: PathBuf::from(format!("/cache/{}.so", fmu.path.value.display())),
        folder: String::new(),
        resources: None,
        path: fmu.path.value.clone(),
        tells_max_step: false,
    };
    rig.fmus.iter().zip(descriptions).map(input).collect()
}

/// A plan that must exist: an ECU, a plant, and what else the rig says.
pub fn ecu_and_plant(more: &str) -> Plan {
    let text = format!("[fmu.ecu]\npath = \"ecu\"\n[fmu.plant]\npath = \"plant\"\n{more}");
    try_build(&text, &[description(ECU), description(PLANT)], &host()).unwrap()
}

/// The problems of such a rig; `more` starts in line 5.
pub fn problems(more: &str) -> String {
    let text = format!("[fmu.ecu]\npath = \"ecu\"\n[fmu.plant]\npath = \"plant\"\n{more}");
    try_build(&text, &[description(ECU), description(PLANT)], &host()).unwrap_err()
}

/// The model partition of a task that has one.
pub fn partition(unit: &UnitPlan) -> &InputClockPlan {
    unit.partition().unwrap()
}
