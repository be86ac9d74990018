//! Descriptions of FMUs: values, attributes, elements.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::mutations::chance::Chance;
use crate::mutations::trial::words;
use crate::mutations::{Kind, campaign, nothing_more, text};

/// The descriptions of this repository's FMUs, with the names of their folders.
pub fn all() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.join("modelDescription.xml").is_file()).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path.join("modelDescription.xml")).unwrap())).collect()
}

/// The places of ` name="value"`, without what is in comments.
fn attributes(text: &str) -> Vec<Range<usize>> {
    let value = |value: Range<usize>| {
        let start = text[..value.start].rfind(char::is_whitespace)?;
        text[start..value.start].contains('=').then_some(start..value.end + 1)
    };
    text::quoted(text, '"').into_iter().filter_map(value).collect()
}

/// The places of elements with all that is in them.
fn elements(text: &str) -> Vec<Range<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut all = Vec::new();
    for (at, _) in text.match_indices('<') {
        let Some(end) = text[at..].find('>').map(|end| at + end + 1) else { break };
        match text.as_bytes().get(at + 1) {
            Some(b'?' | b'!') => {}
            Some(b'/') => all.extend(open.pop().map(|start| start..end)),
            _ if text[..end].ends_with("/>") => all.push(at..end),
            _ => open.push(at),
        }
    }
    all
}

fn nest(text: &mut String, chance: &mut Chance) {
    let all = elements(text);
    if all.is_empty() {
        return;
    }
    let place = chance.pick(&all).clone();
    let (levels, name) = (chance.below(3000), *chance.pick(&["Annotations", "a", "ModelVariables", "Float64"]));
    let wrapped = format!(
        "{}{}{}",
        format!("<{name} xmlns:n{levels}=\"u\">").repeat(levels),
        &text[place.clone()],
        format!("</{name}>").repeat(levels)
    );
    text.replace_range(place, &wrapped);
}

pub fn mutate(text: &mut String, chance: &mut Chance) {
    for _ in 0..=chance.below(4) {
        match chance.below(12) {
            0..=5 => text::replace(text, &text::quoted(text, '"'), chance),
            6 => text::rearrange(text, &attributes(text), chance),
            7 | 8 => text::rearrange(text, &elements(text), chance),
            9 => text::replace(text, &text::words(text), chance),
            10 if chance.below(4) == 0 => nest(text, chance),
            10 => text::rearrange(text, &text::lines(text), chance),
            _ => text::damage(text, chance),
        }
    }
}

/// An FMU that can be planned and not be run: with a description, and a file in the place of its library.
pub fn lay(text: &str, fmu: &Path) {
    let library = text.split_once("modelIdentifier=\"").and_then(|(_, rest)| rest.split('"').next()).unwrap();
    let binaries = fmu.join(format!("binaries/{}-linux", std::env::consts::ARCH));
    fs::create_dir_all(&binaries).unwrap();
    fs::write(binaries.join(format!("{library}.so")), b"\x7fELF").unwrap();
    fs::write(fmu.join("modelDescription.xml"), text).unwrap();
}

/// Descriptions of FMI 1.0 and 2.0, with nearly all that they may have.
const EARLIER: [(&str, &str); 2] = [
    ("fmi1", include_str!("../descriptions/earlier/fmi1.xml")),
    ("fmi2", include_str!("../descriptions/earlier/fmi2.xml")),
];

#[test]
fn descriptions_are_planned_or_refused() {
    let mut all = all();
    all.extend(EARLIER.map(|(name, text)| (name.to_owned(), text.to_owned())));
    campaign(&Kind {
        test: "descriptions_are_planned_or_refused",
        usually: 600,
        culprit: "suspect",
        lay: &|chance, folder| {
            let good = &chance.pick(&all).1;
            let fmu = folder.join("suspect");
            lay(good, &fmu);
            let mut text = good.clone();
            mutate(&mut text, chance);
            fs::write(fmu.join("modelDescription.xml"), text).unwrap();
            let rig = "[rig]\nmode = 'virtual'\nstop_time = 1\n[fmu.a]\npath = 'suspect'\n";
            fs::write(folder.join("rig.toml"), rig).unwrap();
            words(chance.word(&["inspect suspect", "inspect --json suspect", "check suspect", "check rig.toml"]))
        },
        look: &nothing_more,
    });
}
