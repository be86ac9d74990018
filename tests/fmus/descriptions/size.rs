//! A description with 100,000 variables loads in well under a second; look-ups do not scan.

#[path = "../../../bench/large.rs"]
mod large;

use std::time::Duration;
use vecud::fmu::description::{self, ValueReference};

const VARIABLES: u32 = 100_000;

/// Processor time of this thread: what others do on the machine is not in it.
pub fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn a_hundred_thousand_variables() {
    let xml = large::xml(VARIABLES);
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

/// As generators write annotations, each with the namespace that it needs.
#[test]
fn a_namespace_for_each_of_twenty_thousand_variables() {
    let annotation = "<Annotations><Annotation type=\"org.example.note\"><n:note xmlns:n=\"urn:note\">n</n:note>\
                      </Annotation></Annotations>";
    let plain = large::xml(20_000);
    let xml = plain.replace(" description=\"some signal\"/>", &format!(">{annotation}</>"));
    let mut annotated = String::with_capacity(xml.len());
    for line in xml.lines() {
        let element = line.trim_start().strip_prefix('<').and_then(|rest| rest.split(' ').next()).unwrap_or("");
        annotated += &line.replace("</>", &format!("</{element}>"));
        annotated.push('\n');
    }
    assert!(annotated.matches("xmlns:n").count() > 19_000);
    let start = processor_time();
    let found = description::parse(&annotated).unwrap();
    let parsing = processor_time() - start;
    assert_eq!((found.variables.len(), found.warnings.len()), (20_000, 0));
    assert!(parsing < Duration::from_secs(10), "{parsing:?}");
}

#[test]
fn warnings_of_a_description_in_one_line() {
    // Generators that write no line feeds, and a model structure that forgets every output.
    let mut lines = large::xml(VARIABLES);
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

/// As JSON a description takes no more memory than without: it is written variable by variable. The whole text as values
/// takes 5 kB for each.
#[test]
fn as_json_a_hundred_thousand_variables_fit_into_600_mb_of_address_space() {
    let folder = crate::program::tempdir().unwrap();
    std::fs::write(folder.path().join("modelDescription.xml"), large::xml(VARIABLES)).unwrap();
    let mut vecud = std::process::Command::new("sh");
    vecud.args(["-c", "ulimit -v 600000 && exec \"$0\" inspect --json ."]).arg(env!("CARGO_BIN_EXE_vecud"));
    let output = vecud.env("VECUD_CACHE", folder.path()).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["variables"].as_array().unwrap().len(), VARIABLES as usize);
}

/// One name of a megabyte is written once: other rows are not padded to it, which would make 20 GB of this table.
#[test]
fn a_table_is_as_long_as_what_stands_in_it() {
    let folder = crate::program::tempdir().unwrap();
    let name = "n".repeat(1_000_000);
    let xml = large::xml(20_000).replacen("vehicle.subsystem[7].signal", &name, 1);
    std::fs::write(folder.path().join("modelDescription.xml"), &xml).unwrap();
    let mut vecud = std::process::Command::new("sh");
    vecud.args(["-c", "ulimit -v 600000 && exec \"$0\" inspect ."]).arg(env!("CARGO_BIN_EXE_vecud"));
    let output = vecud.env("VECUD_CACHE", folder.path()).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&name), "nothing is cut off");
    assert!(text.lines().count() > 20_000 && text.len() < 3 * xml.len(), "{} bytes of {}", text.len(), xml.len());
}
