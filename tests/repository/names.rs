//! A public type name stands for one thing in the whole workspace, so that a reader who has met it knows it.

use crate::source::{Source, program};
use std::collections::BTreeMap;

/// Names that more than one file may define, each with its reason.
const IDIOMS: [(&str, &str); 2] = [
    ("Arguments", "clap's arguments of a subcommand, in the file of each"),
    ("Sealed", "closes a trait to other crates, in a private module that nobody else names"),
];

/// So many other names may have two meanings.
const MOST: usize = 5;

/// The public types that several files define, each with its modules.
fn doubled(sources: &[Source]) -> BTreeMap<String, Vec<&str>> {
    let mut all: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for source in sources {
        for name in source.outside_tests().public_types() {
            all.entry(name.to_owned()).or_default().push(&source.module);
        }
    }
    all.retain(|_, modules| modules.len() > 1);
    all
}

#[test]
fn a_public_type_name_has_one_meaning() {
    let sources = program();
    let types: usize = sources.iter().map(|source| source.outside_tests().public_types().count()).sum();
    assert!(types > 1_000, "{types}");
    let mut doubled = doubled(&sources);
    for (name, reason) in IDIOMS {
        assert!(doubled.remove(name).is_some(), "{name} ({reason}) needs no exception");
    }
    assert!(doubled.len() <= MOST, "names with several meanings: {doubled:#?}");
}

#[test]
fn a_name_is_doubled_where_two_files_make_it_public() {
    let source = |path: &str, text: &str| Source::new(path.to_owned(), text.to_owned());
    let sources = [
        source("crates/a/src/b.rs", "pub struct One; pub(crate) enum Two {} struct Own; // pub struct Three;"),
        source("crates/c/src/d.rs", "pub trait One {} pub struct Own; mod tests { pub struct Two; pub struct Own; }"),
        source("crates/c/src/tests.rs", "pub struct Two;"),
        source("src/e.rs", "pub(super) union Two { of: u8 } pub struct Three;"),
    ];
    let found = doubled(&sources);
    let expected = [("One", ["a::b", "c::d"]), ("Two", ["a::b", "e"])];
    assert!(
        found
            .iter()
            .map(|(name, modules)| (name.as_str(), &modules[..]))
            .eq(expected.each_ref().map(|(n, m)| (*n, &m[..])))
    );
}
