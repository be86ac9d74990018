//! A folder's own file (`x.rs` or `mod.rs` of a folder `x`, `lib.rs`, `main.rs`) holds declarations, re-exports and documentation only: with
//! code in it, that imports its children and is imported by them, it would be a circle that nobody sees.

use crate::source::{Source, program};
use std::collections::BTreeSet;

/// Those that hold code as yet.
const LEFT: &[&str] = &[
    "crates/daemon/src/api/mod.rs",
    "crates/daemon/src/lib.rs",
    "crates/daemon/src/listen/mod.rs",
    "crates/daemon/src/service/mod.rs",
    "crates/host/src/by_hand/mod.rs",
    "crates/host/src/control/mod.rs",
    "crates/host/src/doctor/facts/mod.rs",
    "crates/host/src/doctor/mod.rs",
    "crates/host/src/doctor/rules/mod.rs",
    "crates/host/src/doctor/show/mod.rs",
    "crates/host/src/kernel.rs",
    "crates/host/src/tracer.rs",
    "crates/host/src/validation.rs",
    "crates/plan/src/schedule/agenda.rs",
    "crates/plan/src/schedule/timeline.rs",
    "crates/plan/src/tests/mod.rs",
    "crates/record/src/stimulus/feed.rs",
    "crates/report/src/chart.rs",
    "crates/report/src/compare/mod.rs",
    "crates/report/src/hints.rs",
    "crates/report/src/html/mod.rs",
    "crates/report/src/lib.rs",
    "crates/report/src/read.rs",
    "crates/runner/src/stimuli.rs",
    "src/cli/call.rs",
    "src/cli/ctl/mod.rs",
    "src/cli/daemon/mod.rs",
    "src/cli/inspect.rs",
    "src/cli/mod.rs",
    "src/cli/new/mod.rs",
    "src/cli/report/mod.rs",
    "src/cli/simulate.rs",
];

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
