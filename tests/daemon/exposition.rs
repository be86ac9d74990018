//! The text format of Prometheus, as its description has it: read without a line of the program that is tested.

use super::client::Daemon;
use std::collections::{BTreeMap, BTreeSet};

/// The labels of a series.
pub type Labels = BTreeMap<String, String>;

/// A family.
#[derive(Debug, Default)]
pub struct Family {
    pub help: String,
    pub kind: String,
    pub series: Vec<Series>,
}

/// A series with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    pub labels: Labels,
    pub value: f64,
}

/// All families of an answer, by name.
#[derive(Debug, Default)]
pub struct Exposition {
    pub families: BTreeMap<String, Family>,
}

/// What a daemon says.
pub fn scraped(daemon: &Daemon) -> Exposition {
    let answer = daemon.get("/metrics");
    assert_eq!((answer.status, answer.kind.as_str()), (200, "text/plain; version=0.0.4; charset=utf-8"));
    Exposition::parse(&answer.body)
}

impl Exposition {
    pub fn parse(text: &str) -> Exposition {
        let mut exposition = Exposition::default();
        let (mut family, mut seen) = (String::new(), BTreeSet::new());
        assert!(text.ends_with('\n'));
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap();
                family = name.to_owned();
                let own = Family { help: help.to_owned(), ..Family::default() };
                assert!(exposition.families.insert(family.clone(), own).is_none(), "{name} comes twice");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                assert_eq!(name, family, "its type follows the words on it");
                exposition.families.get_mut(name).unwrap().kind = kind.to_owned();
            } else {
                let series = series(line);
                let own = exposition.families.get_mut(&family).unwrap();
                let suffix = series.name.strip_prefix(&family).unwrap_or_else(|| panic!("{line} is not of {family}"));
                let may = if own.kind == "histogram" { &["_bucket", "_sum", "_count"][..] } else { &[""] };
                assert!(may.contains(&suffix), "{line} in the {} {family}", own.kind);
                assert!(seen.insert((series.name.clone(), series.labels.clone())), "{line} comes twice");
                own.series.push(series);
            }
        }
        exposition
    }

    /// The series of a family.
    pub fn series(&self, family: &str) -> &[Series] {
        &self.families.get(family).unwrap_or_else(|| panic!("there is no {family}")).series
    }

    /// The value of the one series of this name that has these labels, among others; `None`: there is none.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let all = self.families.values().flat_map(|family| &family.series).filter(|series| series.name == name);
        let mut found = all.filter(|series| {
            labels.iter().all(|(label, value)| series.labels.get(*label).is_some_and(|own| own == value))
        });
        let value = found.next()?.value;
        assert_eq!(found.next(), None, "{name} {labels:?}");
        Some(value)
    }

    /// All series that only grow as long as a run goes on: counters, and the parts of histograms.
    pub fn growing(&self) -> impl Iterator<Item = &Series> {
        let grows = |family: &&Family| ["counter", "histogram"].contains(&family.kind.as_str());
        self.families.values().filter(grows).flat_map(|family| &family.series)
    }
}

/// A line: a name, labels in braces, a value.
fn series(line: &str) -> Series {
    let end = line.find(['{', ' ']).unwrap();
    let (name, mut rest) = line.split_at(end);
    let mut labels = Labels::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, text) = rest.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            let (value, after) = quoted(text);
            assert!(labels.insert(label.to_owned(), value).is_none(), "{line}");
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None => {
                    rest = after.strip_prefix('}').unwrap_or_else(|| panic!("{line}"));
                    break;
                }
            }
        }
    }
    let value = match rest.strip_prefix(' ').unwrap_or_else(|| panic!("{line}")) {
        "+Inf" => f64::INFINITY,
        number => number.parse().unwrap_or_else(|_| panic!("{line}")),
    };
    Series { name: name.to_owned(), labels, value }
}

/// What is before the next quote, and what is behind it.
fn quoted(text: &str) -> (String, &str) {
    let (mut value, mut escaped) = (String::new(), false);
    for (place, letter) in text.char_indices() {
        match (escaped, letter) {
            (false, '\\') => escaped = true,
            (false, '"') => return (value, &text[place + 1..]),
            (false, letter) => value.push(letter),
            (true, 'n') => {
                value.push('\n');
                escaped = false;
            }
            (true, '\\' | '"') => {
                value.push(letter);
                escaped = false;
            }
            (true, other) => panic!("\\{other}"),
        }
    }
    panic!("a value has no end: {text}")
}
