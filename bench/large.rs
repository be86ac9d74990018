//! A model description as large as is wanted, for what is measured and tested of loading one.

use std::fmt::Write as _;

/// Inputs, outputs, parameters and local variables, with types, units, start values and dependencies.
pub fn xml(variables: u32) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"3.0\" modelName=\"large\" \
         instantiationToken=\"{0}\">\n <ScheduledExecution modelIdentifier=\"large\"/>\n <UnitDefinitions>\
         <Unit name=\"m/s\"><BaseUnit m=\"1\" s=\"-1\"/></Unit></UnitDefinitions>\n <TypeDefinitions>\
         <Float64Type name=\"Speed\" unit=\"m/s\" min=\"0\" max=\"400\"/></TypeDefinitions>\n <ModelVariables>\n  \
         <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\"/>\n  <Clock name=\"task\" \
         valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\" intervalDecimal=\"0.01\" \
         priority=\"1\"/>\n",
    );
    for reference in 2..variables {
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
    for reference in (2..variables).filter(|reference| reference % 4 == 1) {
        let _ = writeln!(xml, "  <Output valueReference=\"{reference}\" dependencies=\"1\"/>");
    }
    xml + " </ModelStructure>\n</fmiModelDescription>\n"
}
