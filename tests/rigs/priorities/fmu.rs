//! An FMU of any number of clocks, each with a priority of its own, that looks at who begins when.
//!
//! Clocks are named from `c0`, the most urgent one, on. The last one sleeps inside of its activation, so that others become due
//! meanwhile; a clock of 40 ms is armed before the more urgent one of 20 ms that is released at the same instant, so that the
//! kernel wakes it first.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Release of a clock, in ms: how often, and first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    pub interval: u64,
    pub shift: u64,
}

/// The releases of an FMU with so many clocks, the most urgent one first.
pub fn releases(clocks: usize) -> Vec<Release> {
    let of = |clock: usize| match clocks - 1 - clock {
        0 => Release { interval: 20, shift: 0 },
        1 => Release { interval: 20, shift: 4 },
        n if n % 2 == 0 => Release { interval: 40, shift: 0 },
        _ => Release { interval: 20, shift: 0 },
    };
    (0..clocks).map(of).collect()
}

/// How often a clock is released before `stop` (ms).
pub fn count(release: Release, stop: u64) -> u64 {
    stop.saturating_sub(release.shift).div_ceil(release.interval)
}

/// Any unsigned number is a priority (FMI 3.0.2, 2.4.4).
fn priority(clock: usize) -> usize {
    if clock == 0 { 0 } else { 4_000_000_000 + clock * 1000 }
}

/// Writes the FMU into a folder, with sources.
pub fn write(folder: &Path, clocks: usize) {
    let sources = folder.join("sources");
    fs::create_dir_all(&sources).unwrap();
    let own_state = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/own_state/sources");
    for name in ["fmi3_base.c", "fmi3_base.h", "fmi3_model.c", "fmi3_model.h"] {
        fs::copy(own_state.join(name), sources.join(name)).unwrap();
    }
    let build = fs::read_to_string(own_state.join("buildDescription.xml")).unwrap();
    fs::write(sources.join("buildDescription.xml"), build.replace("own_state", "levels")).unwrap();
    fs::write(folder.join("modelDescription.xml"), description(clocks)).unwrap();
    let (mut intervals, mut shifts) = (String::new(), String::new());
    let variables: String = (0..clocks).map(|clock| format!("OF({clock}),")).collect();
    for Release { interval, shift } in releases(clocks) {
        write!(intervals, "{interval},").unwrap();
        write!(shifts, "{shift},").unwrap();
    }
    let source = include_str!("levels.c")
        .replace("@CLOCKS@", &clocks.to_string())
        .replace("@INTERVALS@", &intervals)
        .replace("@SHIFTS@", &shifts)
        .replace("@VARIABLES@", &variables);
    fs::write(sources.join("levels.c"), source).unwrap();
}

fn description(clocks: usize) -> String {
    let (mut variables, mut outputs) = (String::new(), String::new());
    for (clock, Release { interval, shift }) in releases(clocks).into_iter().enumerate() {
        let reference = clock + 1;
        writeln!(
            variables,
            "<Clock name=\"c{clock}\" valueReference=\"{reference}\" causality=\"input\" priority=\"{}\" \
             intervalVariability=\"constant\" intervalDecimal=\"{}\" shiftDecimal=\"{}\"/>",
            priority(clock),
            interval as f64 / 1e3,
            shift as f64 / 1e3
        )
        .unwrap();
        for (what, base) in [("n", 1000), ("early", 2000), ("over_next", 3000), ("over", 4000)] {
            let output = base + clock;
            writeln!(
                variables,
                "<UInt64 name=\"{what}_{clock}\" valueReference=\"{output}\" causality=\"output\" variability=\"discrete\" \
                 clocks=\"{reference}\"/>"
            )
            .unwrap();
            writeln!(outputs, "<Output valueReference=\"{output}\"/>").unwrap();
        }
    }
    format!(
        "<?xml version=\"1.0\"?>\n<fmiModelDescription fmiVersion=\"3.0\" modelName=\"levels\" instantiationToken=\"{{levels}}\">\n\
         <ScheduledExecution modelIdentifier=\"levels\"/>\n<ModelVariables>\n\
         <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>\n\
         {variables}</ModelVariables>\n<ModelStructure>{outputs}</ModelStructure>\n</fmiModelDescription>\n"
    )
}
