//! FMUs that are loaded into one process: none of them becomes another program by what the others bring, or do to the process.

mod cores;
mod libraries;
mod many;
mod process;
mod turns;

use crate::program::{Outcome, Rig};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A rig of no FMU yet, in virtual time.
fn rig(keys: &str) -> Rig {
    let stop = if keys.contains("stop_time") { "" } else { "stop_time = 0.1\n" };
    Rig::of_text(&format!("[rig]\nmode = 'virtual'\n{stop}{keys}\n[record]\n"))
}

/// Adds an FMU for Co-Simulation (FMI 2.0) to the rig's file, from sources in one file: x' = GAIN · u with x = 1 and u = 2.
/// `before` is C before it, `changes` are texts of it and what stands in their place.
fn with(rig: Rig, name: &str, before: &str, changes: &[(&str, &str)]) -> Rig {
    let folder = rig.folder().join(name);
    fs::create_dir_all(folder.join("sources")).unwrap();
    fs::write(folder.join("modelDescription.xml"), description("<File name=\"all.c\"/>")).unwrap();
    fs::write(folder.join("sources/all.c"), integrator(before, changes)).unwrap();
    listed(rig, name)
}

/// Adds an FMU whose folder is there to the rig's file.
fn listed(rig: Rig, name: &str) -> Rig {
    let file = rig.folder().join("test.toml");
    let text = fs::read_to_string(&file).unwrap()
        + &format!("[fmu.{name}]\npath = '{name}'\nstep = '1/100'\nstart = {{ u = 2.0 }}\n");
    fs::write(file, text).unwrap();
    rig
}

fn description(sources: &str) -> String {
    let text = include_str!("../../fmus/mutations/earlier/fmi2.xml");
    text.replace("<File name=\"model.c\"/><File name=\"lib/gain.c\"/>", sources)
}

fn integrator(before: &str, changes: &[(&str, &str)]) -> String {
    let mut source = include_str!("../../fmus/archive/earlier/integrator2.c").to_owned();
    for (old, new) in changes {
        assert!(source.contains(old), "{old}");
        source = source.replace(old, new);
    }
    let gain = if before.contains("#define GAIN") { "" } else { "#define GAIN 1.0\n" };
    format!("#define _GNU_SOURCE\n{before}\n#include \"fmi2Functions.h\"\n#include <string.h>\n{gain}{source}")
}

/// Compiles, in a folder, with the headers of FMI 2.0.
#[track_caller]
fn compile(compiler: &str, folder: &Path, arguments: &[&str]) {
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/fmu/src/headers");
    let mut command = Command::new(compiler);
    command.args(["-shared", "-fPIC", "-w", "-I"]).arg(headers).args(arguments).current_dir(folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The last value of `x` of an FMU, to 9 digits behind the point.
#[track_caller]
fn last(run: &Outcome, fmu: &str) -> f64 {
    let x: f64 = run.signals().column(&format!("{fmu}.x")).last().unwrap().parse().unwrap();
    (x * 1e9).round() / 1e9
}
