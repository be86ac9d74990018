//! A rig with ten thousand connections is planned in a time that grows with their number, not with its square.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use vecud::fmu::description::{self, ModelDescription};
use vecud::plan::{self, FmuInput, HostFacts, table};
use vecud::rig;

/// Inputs, and outputs, of each clock.
const WIDTH: usize = 10;

/// An FMU of so many clocks, each with its own inputs and outputs.
fn description(clocks: usize) -> ModelDescription {
    let mut variables = String::new();
    for clock in 0..clocks {
        writeln!(
            variables,
            "<Clock name=\"clock{clock}\" valueReference=\"{clock}\" causality=\"input\" intervalVariability=\"constant\" \
             intervalDecimal=\"0.01\" priority=\"{}\"/>",
            clock % 30
        )
        .unwrap();
    }
    for (reference, (clock, i)) in (0..clocks).flat_map(|clock| (0..WIDTH).map(move |i| (clock, i))).enumerate() {
        for (number, causality) in [(1, "input"), (2, "output")] {
            let start = if causality == "input" { "start=\"0\"" } else { "" };
            writeln!(
                variables,
                "<Float64 name=\"{causality}{clock}_{i}\" valueReference=\"{}\" causality=\"{causality}\" \
                 variability=\"discrete\" clocks=\"{clock}\" {start}/>",
                number * 1_000_000 + reference
            )
            .unwrap();
        }
    }
    let xml = format!(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"large\" instantiationToken=\"t\">\
         <ScheduledExecution modelIdentifier=\"large\"/><ModelVariables>{variables}</ModelVariables><ModelStructure/>\
         </fmiModelDescription>"
    );
    description::parse(&xml).unwrap()
}

/// Each output goes to the next clock's input; every second connection is delayed.
fn rig(clocks: usize) -> String {
    let mut text = "[fmu.m]\npath = \"m\"\n".to_owned();
    for (clock, i) in (0..clocks).flat_map(|clock| (0..WIDTH).map(move |i| (clock, i))) {
        let timing = if i % 2 == 0 { "immediate" } else { "delayed" };
        writeln!(
            text,
            "[[connect]]\nfrom = \"m.output{clock}_{i}\"\nto = \"m.input{}_{i}\"\ntiming = \"{timing}\"",
            (clock + 1) % clocks
        )
        .unwrap();
    }
    text
}

/// Processor time of this thread: what others do on the machine is not in it.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// How long planning takes, and showing the plan.
fn planning(clocks: usize) -> Duration {
    let (description, text) = (description(clocks), rig(clocks));
    let rig = rig::parse(&text, Path::new("rig.toml")).unwrap();
    let input = FmuInput {
        description: &description,
        library: PathBuf::from("/cache/m.so"),
        folder: String::new(),
        resources: None,
        path: PathBuf::from("m"),
        tells_max_step: false,
    };
    let host = HostFacts { allowed_cpus: vec![0], ..HostFacts::default() };
    let start = processor_time();
    let plan = plan::build(&rig, &[input], &[], &host).unwrap();
    let shown = table::render(&plan);
    let time = processor_time() - start;
    assert_eq!((plan.units.len(), plan.connections.len()), (clocks, WIDTH * clocks));
    assert!(plan.units.iter().all(|task| task.set[0].items.len() == WIDTH && task.get[0].items.len() == WIDTH));
    assert!(shown.lines().count() > plan.connections.len());
    time
}

#[test]
fn ten_thousand_connections() {
    let quarter = planning(250);
    let whole = planning(1000);
    eprintln!("2,500 connections are planned in {quarter:?}, 10,000 in {whole:?}");
    // Four times as much to do; a look at every connection for each variable makes it sixteen times.
    assert!(whole < 10 * quarter, "{whole:?} and {quarter:?}");
}

/// How long planning takes for so many FMUs, each of which feeds the next one.
fn planning_fmus(fmus: usize, mode: &str) -> Duration {
    let description = description(1);
    let mut text = format!("[rig]\nmode = \"{mode}\"\nstop_time = 1.0\n");
    (0..fmus).for_each(|i| writeln!(text, "[fmu.m{i}]\npath = \"m\"").unwrap());
    (1..fmus).for_each(|i| {
        writeln!(text, "[[connect]]\nfrom = \"m{i}.output0_0\"\nto = \"m{}.input0_0\"", i - 1).unwrap();
    });
    let rig = rig::parse(&text, Path::new("rig.toml")).unwrap();
    let input = FmuInput {
        description: &description,
        library: PathBuf::from("/cache/m.so"),
        folder: String::new(),
        resources: None,
        path: PathBuf::from("m"),
        tells_max_step: false,
    };
    let host = HostFacts { allowed_cpus: vec![0], ..HostFacts::default() };
    let inputs = vec![input; fmus];
    let start = processor_time();
    let plan = plan::build(&rig, &inputs, &[], &host).unwrap();
    let time = processor_time() - start;
    assert_eq!((plan.units.len(), plan.connections.len()), (fmus, fmus - 1));
    assert_eq!(plan.units[0].fmu.0, fmus - 1, "producers come first");
    time
}

#[test]
fn thousands_of_fmus() {
    for mode in ["virtual", "realtime"] {
        let time = planning_fmus(2000, mode);
        eprintln!("2,000 FMUs are planned in {time:?} ({mode})");
        // Generous: some 0.4 s in a debug build; a table of all pairs, closed over all triples, takes a minute.
        assert!(time < Duration::from_secs(5), "{mode}: {time:?}");
    }
}
