//! A folder's own file (`x.rs` or `mod.rs` of a folder `x`, `lib.rs`, `main.rs`) holds declarations, re-exports and documentation only.
//! Code in it that imports its children and is imported by them would be a circle that `circles.rs` does not see.

use crate::source::{Source, program};
use std::collections::BTreeSet;

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
    let with_code: Vec<_> =
        own.iter().filter_map(|source| Some(format!("{}:{}", source.path, source.first_code()?))).collect();
    assert!(with_code.is_empty(), "files of folders that hold code:\n{}", with_code.join("\n"));
}
