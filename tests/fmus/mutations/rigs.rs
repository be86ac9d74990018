//! Rigs: values, keys, tables.

use std::fs;
use std::path::Path;

use crate::mutations::chance::Chance;
use crate::mutations::trial::words;
use crate::mutations::{Kind, campaign, descriptions, nothing_more, text};

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

/// The rig with FMUs of this folder: those that it means, or else tracers.
fn with_fmus(rig: &str, fmus: &Path) -> String {
    let mut text = String::new();
    for line in rig.split_inclusive('\n') {
        match line.strip_prefix("path = \"").and_then(|rest| rest.split_once('"')) {
            Some((path, rest)) => {
                let named = fmus.join(Path::new(path).file_stem().unwrap_or_default());
                let fmu = if named.is_dir() { named } else { fmus.join("tracer") };
                text += &format!("path = \"{}\"{rest}", fmu.display());
            }
            None => text += line,
        }
    }
    text
}

#[test]
fn rigs_are_planned_or_refused() {
    let fmus = crate::program::tempdir().unwrap();
    for (name, text) in descriptions::all() {
        descriptions::lay(&text, &fmus.path().join(name));
    }
    let rigs: Vec<String> = all().iter().map(|rig| with_fmus(rig, fmus.path())).collect();
    campaign(&Kind {
        test: "rigs_are_planned_or_refused",
        usually: 600,
        culprit: "rig.toml",
        lay: &|chance, folder| {
            let mut text = chance.pick(&rigs).clone();
            mutate(&mut text, chance);
            fs::write(folder.join("rig.toml"), text).unwrap();
            words("check rig.toml")
        },
        look: &nothing_more,
    });
}
