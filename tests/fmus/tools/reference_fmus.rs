//! The Modelica Reference FMUs (<https://github.com/modelica/Reference-FMUs>): FMUs that nobody here wrote. They are not
//! part of this repository; `VECUD_REFERENCE_FMUS` names a folder that has them, as a release or a build of them lays
//! them out.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::tools::foreign::{Folder, Run, skipped};
use vecud::ffi::{ForeignCall, InstanceHost, Library, MadeFor, Status, StepOptions};
use vecud::fmu::description::{Abi, ValueReference, Values, VariableType};
use zip::ZipArchive;

/// One of them.
pub struct ReferenceFmu {
    pub path: PathBuf,
    /// `modelDescription.xml`
    xml: String,
}

impl ReferenceFmu {
    pub fn attribute(&self, name: &str) -> String {
        let document = roxmltree::Document::parse(&self.xml).unwrap();
        document.root_element().attribute(name).unwrap_or_default().to_owned()
    }

    pub fn has(&self, element: &str) -> bool {
        let document = roxmltree::Document::parse(&self.xml).unwrap();
        document.root_element().children().any(|child| child.has_tag_name(element))
    }

    fn is_fmi3(&self) -> bool {
        self.attribute("fmiVersion").starts_with("3.")
    }
}

/// All FMUs of the folder, or a visible word that there is none.
pub fn reference_fmus(test: &str) -> Option<Vec<ReferenceFmu>> {
    let Some(folder) = std::env::var_os("VECUD_REFERENCE_FMUS") else {
        skipped(&format!("{test}: set VECUD_REFERENCE_FMUS to a folder with the Modelica Reference FMUs"));
        return None;
    };
    let mut found = Vec::new();
    collect(Path::new(&folder), &mut found);
    assert!(!found.is_empty(), "VECUD_REFERENCE_FMUS names a folder without FMUs");
    Some(found)
}

fn collect(folder: &Path, found: &mut Vec<ReferenceFmu>) {
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "fmu") {
            let mut archive = ZipArchive::new(File::open(&path).unwrap()).unwrap();
            let mut xml = String::new();
            archive.by_name("modelDescription.xml").unwrap().read_to_string(&mut xml).unwrap();
            found.push(ReferenceFmu { path: path.canonicalize().unwrap(), xml });
        }
    }
}

/// The one with Scheduled Execution.
fn clocks(test: &str) -> Option<PathBuf> {
    let fmus = reference_fmus(test)?;
    let clocks = fmus.iter().find(|fmu| fmu.is_fmi3() && fmu.attribute("modelName") == "Clocks");
    Some(clocks.expect("VECUD_REFERENCE_FMUS has a Clocks.fmu of FMI 3.0").path.clone())
}

/// The scenario of the FMU's own documentation; a second instance gets the ticks of the first one's output clock.
fn rig(path: &Path) -> String {
    format!(
        "[rig]\n\
         stop_time = 10.0\n\
         shutdown_timeout = 10.0\n\
         [fmu.clocks]\n\
         path = {path:?}\n\
         [fmu.listener]\n\
         path = {path:?}\n\
         [[trigger]]\n\
         clock = \"clocks.inClock2\"\n\
         at = [0.0, 1.0, 8.0, 9.0]\n\
         [[trigger]]\n\
         clock = \"listener.inClock2\"\n\
         from = \"clocks.outClock\"\n\
         [record]\n\
         signals = [\"*\"]\n"
    )
}

/// The times at which a counter of ticks went up from 0 or from nothing.
fn ticks(run: &Run, counter: &str) -> Vec<f64> {
    let times = run.column("time");
    let counts: Vec<f64> = run.column(counter).iter().map(|count| count.max(0.0)).collect();
    let before = std::iter::once(&0.0).chain(&counts);
    times.iter().zip(before.zip(&counts)).filter(|(_, (before, now))| now > before).map(|(time, _)| *time).collect()
}

fn check_clocks(run: &Run) {
    let last = |fmu: &str| {
        ["inClock1Ticks", "inClock2Ticks", "inClock3Ticks", "totalInClockTicks", "output3"]
            .map(|name| *run.column(&format!("{fmu}.{name}")).last().unwrap())
    };
    assert_eq!(*run.column("time").last().unwrap(), 9.0);
    assert_eq!(last("clocks"), [10.0, 4.0, 1.0, 15.0, 1000.0]);
    // The total reaches a multiple of five three times.
    assert_eq!(last("listener"), [10.0, 3.0, 1.0, 14.0, 1000.0]);
    for (clock, own, listener) in [("inClock1", 10, 10), ("inClock2", 4, 3), ("inClock3", 1, 1)] {
        assert_eq!(run.count("clocks", clock, "activations"), own, "{clock}");
        assert_eq!(run.count("listener", clock, "activations"), listener, "{clock}");
        for fmu in ["clocks", "listener"] {
            for wrong in ["overruns", "skipped", "coalesced", "retimed"] {
                assert_eq!(run.count(fmu, clock, wrong), 0, "{wrong} of {fmu}.{clock}");
            }
        }
    }
    assert_eq!(ticks(run, "clocks.inClock1Ticks"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    assert_eq!(ticks(run, "clocks.inClock2Ticks"), [0.0, 1.0, 8.0, 9.0]);
    let output = run.column("clocks.output3");
    assert!(output[3].is_nan() && output[4] == 1000.0, "armed at 4 s with an interval of 0: {output:?}");
}

#[test]
fn clocks_in_virtual_time() {
    let Some(clocks) = clocks("clocks_in_virtual_time") else { return };
    let run = Folder::new().run(&rig(&clocks), "virtual");
    check_clocks(&run);
    assert_eq!(ticks(&run, "listener.inClock2Ticks"), [2.0, 6.0, 9.0]);
}

#[test]
fn clocks_in_real_time() {
    let Some(clocks) = clocks("clocks_in_real_time") else { return };
    let run = Folder::new().run(&rig(&clocks), "realtime");
    match run.lost_releases() {
        0 => check_clocks(&run),
        lost => {
            skipped(&format!("values of clocks_in_real_time: this machine was too busy for {lost} of the releases"))
        }
    }
}

/// Without its binaries the FMU is built by its own `buildDescription.xml`.
#[test]
fn clocks_from_its_sources() {
    let Some(clocks) = clocks("clocks_from_its_sources") else { return };
    let folder = Folder::new();
    let unpacked = folder.path("unpacked");
    ZipArchive::new(File::open(&clocks).unwrap()).unwrap().extract(&unpacked).unwrap();
    std::fs::remove_dir_all(unpacked.join("binaries")).unwrap();
    let built = folder.run(&rig(&unpacked), "virtual");
    check_clocks(&built);
    assert_eq!(built.signals, Folder::new().run(&rig(&clocks), "virtual").signals);
}

#[test]
fn what_is_inside_of_each() {
    let Some(fmus) = reference_fmus("what_is_inside_of_each") else { return };
    let folder = Folder::new();
    for fmu in fmus.iter().filter(|fmu| fmu.is_fmi3()) {
        let path = fmu.path.to_str().unwrap();
        let output = folder.vecud(&["inspect", path]);
        let (text, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(0), "{path}: {notes}");
        assert!(text.starts_with(&format!("{} (FMI 3.0)", fmu.attribute("modelName"))), "{path}: {text}");
        assert_eq!(notes, "", "{path}");
        let json = folder.vecud(&["inspect", "--json", path]);
        let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        let document = roxmltree::Document::parse(&fmu.xml).unwrap();
        let variables = document.descendants().filter(|node| node.has_attribute("valueReference"));
        let variables = variables.filter(|node| node.has_attribute("name")).count();
        let shown = ["variables", "clocks"].map(|list| json[list].as_array().map_or(0, Vec::len));
        assert_eq!(shown.iter().sum::<usize>(), variables, "{path}: {shown:?}");
    }
}

#[test]
fn fmus_that_offer_model_exchange_alone_are_integrated() {
    let Some(fmus) = reference_fmus("fmus_that_offer_model_exchange_alone_are_integrated") else {
        return;
    };
    let runs = ["ScheduledExecution", "CoSimulation", "Implementation"];
    let others: Vec<_> = fmus.iter().filter(|fmu| !runs.iter().any(|element| fmu.has(element))).collect();
    assert!(others.len() > 4, "VECUD_REFERENCE_FMUS has all Reference FMUs");
    for fmu in others {
        let folder = Folder::new();
        let path = fmu.path.to_str().unwrap();
        assert_eq!(folder.vecud(&["inspect", path]).status.code(), Some(0), "{path}");
        std::fs::write(folder.path("rig.toml"), format!("[fmu.x]\npath = {path:?}\nstep = 0.01\n")).unwrap();
        let run = ["run", "rig.toml", "--mode", "virtual", "--stop-time", "1"];
        for arguments in [&["check", "rig.toml"][..], &run] {
            let output = folder.vecud(arguments);
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{path}: {message}");
        }
    }
}

/// How many FMUs of that version there are: each is loaded, made, initialised and ended, and what has a start value takes it.
fn lives_of(abi: Abi, version: &str, found: &[ReferenceFmu]) -> usize {
    struct Host;
    impl InstanceHost for Host {
        fn log(&self, status: Status, _: Option<&[u8]>, message: &[u8]) {
            assert!(status <= Status::Warning, "{}", String::from_utf8_lossy(message));
        }
        fn foreign_call(&self, what: ForeignCall) {
            panic!("{what:?}");
        }
    }

    fn live(library: &Path, abi: Abi, made_for: MadeFor, root: roxmltree::Node) {
        let library =
            Arc::new(Library::load(library, abi, made_for.interface()).unwrap_or_else(|error| panic!("{error}")));
        let token = root.attribute("guid").or(root.attribute("instantiationToken")).unwrap();
        let instance = library.instantiate(&made_for, "instance", token, None, false, Arc::new(Host)).unwrap();
        let mut starts = Vec::new();
        for variable in root.children().find(|node| node.has_tag_name("ModelVariables")).unwrap().children() {
            // Before FMI 3.0 the type is an element of its own; since then there are arrays.
            let child = variable.children().find(|child| child.is_element());
            let kind = if variable.has_tag_name("ScalarVariable") { child.unwrap() } else { variable };
            let Some(start) = kind.attribute("start") else { continue };
            if child.is_some_and(|child| child.has_tag_name("Dimension")) {
                continue;
            }
            let (variable_type, values) = match kind.tag_name().name() {
                "Float32" => (VariableType::Float32, Values::Float32(vec![start.parse().unwrap()])),
                "Real" | "Float64" => (VariableType::Float64, Values::Float64(vec![start.parse().unwrap()])),
                "Integer" | "Int32" => (VariableType::Int32, Values::Int32(vec![start.parse().unwrap()])),
                "Enumeration" => (VariableType::Enumeration, Values::Int64(vec![start.parse().unwrap()])),
                "Boolean" => (VariableType::Boolean, Values::Boolean(vec![["true", "1"].contains(&start)])),
                "String" => (VariableType::String, Values::String(vec![start.to_owned()])),
                _ => continue,
            };
            let is_constant = variable.attribute("variability") == Some("constant")
                || variable.attribute("causality") == Some("structuralParameter");
            let reference = ValueReference(variable.attribute("valueReference").unwrap().parse().unwrap());
            if !is_constant {
                instance.set_values(reference, variable_type, &values).unwrap();
            }
            starts.push((reference, variable_type, values));
        }
        // One has arrays alone.
        assert!(!starts.is_empty() || root.attribute("modelName") == Some("StateSpace"));
        let instance = instance.enter_initialization_mode(0.0, Some(1.0), None).unwrap();
        for (reference, variable_type, values) in starts {
            assert_eq!(instance.get_values(reference, variable_type, 1), Ok(values), "{reference:?}");
        }
        instance.exit_initialization_mode().unwrap().end().unwrap();
    }

    let of_version = found.iter().filter(|fmu| fmu.attribute("fmiVersion") == version);
    let mut lived = 0;
    // One of them reads a file of its archive as soon as it is initialised, and one has Scheduled Execution alone.
    for fmu in of_version.filter(|fmu| !["Clocks", "Resource"].contains(&&*fmu.attribute("modelName"))) {
        let dir = crate::program::tempdir().unwrap();
        ZipArchive::new(File::open(&fmu.path).unwrap()).unwrap().extract(dir.path()).unwrap();
        let document = roxmltree::Document::parse(&fmu.xml).unwrap();
        let root = document.root_element();
        let model = root.descendants().find_map(|node| node.attribute("modelIdentifier")).unwrap();
        let platform = if abi == Abi::Fmi3 { "x86_64-linux" } else { "linux64" };
        let library = dir.path().join("binaries").join(platform).join(model).with_extension("so");
        // In FMI 1.0 an FMU has one interface type, and that of Co-Simulation an element of its own.
        let is_slave = fmu.has("CoSimulation") || fmu.has("Implementation");
        if is_slave {
            live(&library, abi, MadeFor::CoSimulation(StepOptions::default()), root);
        }
        if fmu.has("ModelExchange") || (abi == Abi::Fmi1 && !is_slave) {
            live(&library, abi, MadeFor::ModelExchange, root);
        }
        lived += 1;
    }
    lived
}

#[test]
fn those_of_each_version_are_initialised_and_take_their_start_values() {
    let test = "those_of_each_version_are_initialised_and_take_their_start_values";
    let Some(found) = reference_fmus(test) else { return };
    for (abi, version) in [(Abi::Fmi3, "3.0"), (Abi::Fmi2, "2.0"), (Abi::Fmi1, "1.0")] {
        match lives_of(abi, version, &found) {
            0 => skipped(&format!("{test}: VECUD_REFERENCE_FMUS has no FMU of FMI {version}")),
            lived => println!("{lived} FMUs of FMI {version}"),
        }
    }
}
