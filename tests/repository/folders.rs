//! A folder's own file (`x.rs` or `mod.rs` of a folder `x`, `lib.rs`, `main.rs`) holds declarations, re-exports and documentation only.
//! Code in it that imports its children and is imported by them would be a circle that `circles.rs` does not see.

use crate::source::{Source, program};
use std::collections::BTreeSet;

/// Those that hold code: the list of its children to which a new endpoint adds itself.
const LEFT: &[&str] = &["crates/runner/src/endpoints/mod.rs"];

/// The files that others are below.
fn of_folders(sources: &[Source]) -> impl Iterator<Item = &Source> {
    let parents = |path: &str| {
        let folders = path.match_indices('/').map(|(end, _)| path[..end].to_owned());
        folders.collect::<Vec<_>>()
    };
    let folders: BTreeSet<String> = sources.iter().flat_map(|source| parents(&source.path)).collect();
    sources.iter().filter(move |source| {
        let path = source.path.trim_end_matches(".rs");
        folders.contains(path) || ["/mod", "/lib", "/main"].iter().any(|own| path.ends_with(own))
    })
}

/// Of `lib.rs` and `main.rs` excepted are attributes, `fn main` and the pages whose examples are tested.
#[test]
fn a_folders_own_file_declares_and_nothing_else() {
    let sources = program();
    let own: Vec<&Source> = of_folders(&sources).collect();
    assert!(own.len() > 80, "{}", own.len());
    let with_code: BTreeSet<&str> =
        own.iter().filter(|source| source.first_code().is_some()).map(|source| source.path.as_str()).collect();
    let left = BTreeSet::from_iter(LEFT.iter().copied());
    let more: Vec<_> = with_code.difference(&left).map(|path| format!("    \"{path}\",")).collect();
    assert!(more.is_empty(), "files of folders that hold code:\n{}", more.join("\n"));
    let done: Vec<_> = left.difference(&with_code).collect();
    assert!(done.is_empty(), "files of folders that hold no code any more, to be taken off the list: {done:?}");
}
