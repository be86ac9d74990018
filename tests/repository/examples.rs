//! Every rig under `examples/` has a plan.

use std::path::{Path, PathBuf};
use vecud::fmu::description;
use vecud::plan::{self, FmuInput, HostFacts};
use vecud::rig;

#[test]
fn every_example_has_a_plan() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: there is no {}", folder.display());
        return;
    };
    let rigs = entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "toml"));
    for file in rigs {
        let rig = rig::parse(&std::fs::read_to_string(&file).unwrap(), &file).unwrap_or_else(|error| panic!("{error}"));
        let descriptions: Vec<_> = rig
            .fmus
            .iter()
            .map(|fmu| {
                let xml = std::fs::read_to_string(fmu.path.value.join("modelDescription.xml")).unwrap();
                description::parse(&xml).unwrap()
            })
            .collect();
        let inputs: Vec<_> = rig
            .fmus
            .iter()
            .zip(&descriptions)
            .map(|(fmu, description)| FmuInput {
                description,
                library: PathBuf::from("unused"),
                folder: String::new(),
                resources: None,
                path: fmu.path.value.clone(),
                tells_max_step: false,
            })
            .collect();
        let host = HostFacts { allowed_cpus: vec![0, 1], isolated_cpus: vec![], ..HostFacts::default() };
        let plan = plan::build(&rig, &inputs, &[], &host).unwrap_or_else(|error| panic!("{error}"));
        println!("{}", plan::table::render(&plan));
        assert!(!plan.units.is_empty(), "{}", file.display());
    }
}
