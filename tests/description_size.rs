//! A description with 100,000 variables loads in well under a second; look-ups do not scan.

use std::fmt::Write;
use std::time::Duration;
use vecud::fmu::description::{self, ValueReference};

const VARIABLES: u32 = 100_000;

fn description() -> String {
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
        let line = match reference % 4 {
            0 => {
                "<Float64 causality=\"input\" variability=\"discrete\" clocks=\"1\" start=\"1.25\" declaredType=\"Speed\""
            }
            1 => "<Int32 causality=\"output\" clocks=\"1\"",
            2 => "<Boolean causality=\"parameter\" variability=\"tunable\" start=\"true\"",
            _ => "<Float64 variability=\"discrete\" initial=\"exact\" start=\"0\"",
        };
        writeln!(
            xml,
            "  {line} name=\"vehicle.subsystem[{reference}].signal\" valueReference=\"{reference}\" \
             description=\"some signal\"/>"
        )
        .unwrap();
    }
    xml.push_str(" </ModelVariables>\n <ModelStructure>\n");
    for reference in (2..VARIABLES).filter(|reference| reference % 4 == 1) {
        writeln!(xml, "  <Output valueReference=\"{reference}\" dependencies=\"1\"/>").unwrap();
    }
    xml.push_str(" </ModelStructure>\n</fmiModelDescription>\n");
    xml
}

/// Processor time of this thread: what others do on the machine is not in it.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn a_hundred_thousand_variables() {
    let xml = description();
    let start = processor_time();
    let found = description::parse(&xml).unwrap();
    let parsing = processor_time() - start;
    assert_eq!(found.variables.len(), VARIABLES as usize);
    assert_eq!(found.warnings, Vec::<String>::new());

    let start = processor_time();
    for variable in &found.variables {
        assert_eq!(found.variable(&variable.name).unwrap().line, variable.line);
        assert_eq!(found.by_reference(variable.value_reference).unwrap().line, variable.line);
    }
    let look_ups = processor_time() - start;
    assert!(found.by_reference(ValueReference(VARIABLES)).is_none());
    eprintln!("{} bytes parsed in {parsing:?}, 200,000 look-ups in {look_ups:?}", xml.len());
    // Generous: this is a debug build on a shared machine. A quadratic step would need minutes.
    assert!(parsing < Duration::from_secs(10), "{parsing:?}");
    assert!(look_ups < Duration::from_secs(5), "{look_ups:?}");
}

#[test]
fn warnings_of_a_description_in_one_line() {
    // Generators that write no line feeds, and a model structure that forgets every output.
    let mut lines = description();
    lines.replace_range(lines.find("<ModelStructure>").unwrap().., "<ModelStructure/></fmiModelDescription>");
    let start = processor_time();
    description::parse(&lines).unwrap();
    let of_many_lines = processor_time() - start;
    let xml = lines.replace('\n', " ");
    let start = processor_time();
    let found = description::parse(&xml).unwrap();
    let parsing = processor_time() - start;
    assert_eq!(found.warnings.len(), 101);
    let column = xml.find("<ModelStructure/>").unwrap() + 1;
    assert!(found.warnings[0].starts_with(&format!("modelDescription.xml:1:{column}: ")), "{}", found.warnings[0]);
    let element = xml[..xml.rfind("name=\"vehicle").unwrap()].rfind('<').unwrap();
    let last = found.variables.last().unwrap();
    assert_eq!((last.line, last.column as usize), (1, element + 1));
    // Some ten times as long when every place was counted from the beginning of its line.
    assert!(parsing < 4 * of_many_lines, "{parsing:?}, with line feeds {of_many_lines:?}");
}
