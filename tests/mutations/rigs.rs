//! Rigs: values, keys, tables.

use std::fs;
use std::path::Path;

use vecud::fmu::description::{self, ModelDescription};
use vecud::plan::{self, FmuInput, HostFacts};
use vecud::rig;

use crate::campaign;
use crate::chance::Chance;
use crate::{descriptions, text};

/// The examples, and the blocks of docs/rig.md.
fn all() -> Vec<String> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR"));
    let examples = fs::read_dir(base.join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = examples.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    paths.sort();
    let mut all: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let book = fs::read_to_string(base.join("docs/rig.md")).unwrap();
    let blocks = book.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    all.extend(blocks);
    assert!(all.len() >= 7, "{} rigs", all.len());
    all
}

fn mutate(text: &mut String, chance: &mut Chance) {
    for _ in 0..=chance.below(3) {
        match chance.below(10) {
            0..=2 => text::replace(text, &text::quoted(text, '"'), chance),
            3..=5 => text::replace(text, &text::words(text), chance),
            6 | 7 => text::rearrange(text, &text::lines(text), chance),
            8 => {
                let depth = chance.below(3000);
                let deep = format!("deep = {}{}\n", "[".repeat(depth), "]".repeat(depth));
                let line = chance.pick(&text::lines(text)).start;
                text.insert_str(line, &deep);
            }
            _ => text::damage(text, chance),
        }
        if text.is_empty() {
            return;
        }
    }
}

#[test]
fn rigs_are_planned_or_refused() {
    let rigs = all();
    let fmus: Vec<(String, ModelDescription)> =
        descriptions::all().into_iter().map(|(name, text)| (name, description::parse(&text).unwrap())).collect();
    let tracer = &fmus.iter().find(|(name, _)| name == "tracer").unwrap().1;
    campaign("rigs_are_planned_or_refused", 600, |chance| {
        let mut text = chance.pick(&rigs).clone();
        mutate(&mut text, chance);
        let rig = match rig::parse(&text, Path::new("rig.toml")) {
            Ok(rig) => rig,
            Err(error) if error.problems.is_empty() => return Err("refused without a word".to_owned()),
            Err(error) => return said(&error.to_string()),
        };
        let input = |fmu: &rig::RigFmu| {
            let own = |(name, _): &&(String, ModelDescription)| fmu.path.value.ends_with(name.as_str());
            let description = fmus.iter().find(own).map_or(tracer, |(_, description)| description);
            FmuInput { description, library: "a.so".into(), resources: None, path: fmu.path.value.clone() }
        };
        let inputs: Vec<FmuInput> = rig.fmus.iter().map(input).collect();
        let host = HostFacts { allowed_cpus: vec![0, 1], ..HostFacts::default() };
        match plan::build(&rig, &inputs, &host) {
            Ok(plan) => Ok(!plan::table::render(&plan).is_empty()),
            Err(error) => said(&error.to_string()),
        }
    });
}

/// A message names the rig.
fn said(message: &str) -> Result<bool, String> {
    if message.contains("rig.toml") { Ok(false) } else { Err(format!("a message without its culprit: {message:?}")) }
}
