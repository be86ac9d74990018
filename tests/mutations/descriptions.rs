//! Descriptions of FMUs: values, attributes, elements.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use vecud::fmu::description;
use vecud::plan::{self, FmuInput, HostFacts, Mode};
use vecud::rig::Rig;

use crate::campaign;
use crate::chance::Chance;
use crate::text;

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

/// FMU alone, as `vecud check FILE.fmu` plans it.
#[test]
fn descriptions_are_planned_or_refused() {
    let all = all();
    campaign("descriptions_are_planned_or_refused", 600, |chance| {
        let mut text = chance.pick(&all).1.clone();
        mutate(&mut text, chance);
        let description = match description::parse(&text) {
            Ok(description) => description,
            Err(error) if error.message.is_empty() => return Err("refused without a word".to_owned()),
            Err(_) => return Ok(false),
        };
        let mut rig = Rig::for_fmu(Path::new("a.fmu"));
        rig.mode = *chance.pick(&[Mode::RealTime, Mode::Virtual]);
        let input =
            FmuInput { description: &description, library: "a.so".into(), resources: None, path: "a.fmu".into() };
        let host = HostFacts { allowed_cpus: vec![0, 1], ..HostFacts::default() };
        match plan::build(&rig, &[input], &host) {
            Ok(plan) => Ok(!plan::table::render(&plan).is_empty()),
            Err(error) if error.to_string().is_empty() => Err("refused without a word".to_owned()),
            Err(_) => Ok(false),
        }
    });
}
