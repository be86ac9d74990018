//! (f) How long a model description with 100,000 variables takes to load.

use super::Bench;
use super::results::Results;
use std::fmt::Write as _;
use std::time::Instant;
use vecud::fmu::description;

const VARIABLES: u32 = 100_000;
const RUNS: usize = 7;

pub fn measure(_: &Bench, results: &mut Results) -> Result<(), String> {
    let xml = xml();
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let before = Instant::now();
        let found = description::parse(&xml).map_err(|error| error.to_string())?;
        least = least.min(before.elapsed().as_secs_f64() * 1e3);
        if found.variables.len() != VARIABLES as usize {
            return Err(format!("{} variables were found", found.variables.len()));
        }
    }
    results.limited("description with 100,000 variables", least, "ms", 150.0);
    Ok(())
}

/// Inputs, outputs, parameters and local variables, with types, units, start values and dependencies.
fn xml() -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"3.0\" modelName=\"large\" \
         instantiationToken=\"{0}\">\n <ScheduledExecution modelIdentifier=\"large\"/>\n <UnitDefinitions>\
         <Unit name=\"m/s\"><BaseUnit m=\"1\" s=\"-1\"/></Unit></UnitDefinitions>\n <TypeDefinitions>\
         <Float64Type name=\"Speed\" unit=\"m/s\" min=\"0\" max=\"400\"/></TypeDefinitions>\n <ModelVariables>\n  \
         <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\"/>\n  <Clock name=\"task\" \
         valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\" intervalDecimal=\"0.01\" \
         priority=\"1\"/>\n",
    );
    for reference in 2..VARIABLES {
        let kind = match reference % 4 {
            0 => {
                "<Float64 causality=\"input\" variability=\"discrete\" clocks=\"1\" start=\"1.25\" declaredType=\"Speed\""
            }
            1 => "<Int32 causality=\"output\" clocks=\"1\"",
            2 => "<Boolean causality=\"parameter\" variability=\"tunable\" start=\"true\"",
            _ => "<Float64 variability=\"discrete\" initial=\"exact\" start=\"0\"",
        };
        let _ = writeln!(
            xml,
            "  {kind} name=\"vehicle.subsystem[{reference}].signal\" valueReference=\"{reference}\" \
             description=\"some signal\"/>"
        );
    }
    xml.push_str(" </ModelVariables>\n <ModelStructure>\n");
    for reference in (2..VARIABLES).filter(|reference| reference % 4 == 1) {
        let _ = writeln!(xml, "  <Output valueReference=\"{reference}\" dependencies=\"1\"/>");
    }
    xml + " </ModelStructure>\n</fmiModelDescription>\n"
}
