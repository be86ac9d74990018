//! The workspace: which crate builds on which, and what a part of it builds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// All crates, each of which builds on those before it only.
const CRATES: [&str; 12] =
    ["base", "linux", "description", "fmu", "fmi", "solver", "plan", "record", "runner", "report", "host", "daemon"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The crates of the program that a manifest names as its dependencies.
fn ours(manifest: &str) -> Vec<String> {
    let dependencies = manifest.split_once("\n[dependencies]\n").map_or("", |(_, rest)| rest);
    let table = dependencies.split("\n[").next().unwrap_or_default();
    table.lines().filter_map(|line| Some(line.strip_prefix("vecud-")?.split(['.', ' ']).next()?.to_owned())).collect()
}

#[test]
fn crates_build_on_those_above_them() {
    let there: BTreeMap<String, String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|folder| {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            (folder.file_name().unwrap().to_str().unwrap().to_owned(), manifest)
        })
        .collect();
    let mut names = CRATES;
    names.sort_unstable();
    assert!(there.keys().map(String::as_str).eq(names), "{:?}", there.keys());
    let place = |name: &str| CRATES.iter().position(|own| *own == name).unwrap_or_else(|| panic!("vecud-{name}"));
    for (name, manifest) in &there {
        let wrong: Vec<String> = ours(manifest).into_iter().filter(|other| place(other) >= place(name)).collect();
        assert!(wrong.is_empty(), "vecud-{name} may not build on {wrong:?}");
        // All have the version that recordings, reports and saved states name.
        assert!(manifest.contains("\nversion.workspace = true\n"), "vecud-{name}");
    }
    assert_eq!(ours(&there["plan"]), ["base", "description", "solver"], "what is read here is what is written there");
}

/// README's first command is up in two minutes because of what it leaves out.
#[test]
fn the_first_command_builds_no_server() {
    let built = |arguments: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["tree", "--locked", "--offline", "-p", "vecud", "-e", "normal,build", "--prefix", "none"]);
        let output = cargo.args(["--format", "{p}"]).args(arguments).current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let server = |tree: &str| ["tokio ", "vecud-daemon "].map(|name| tree.lines().any(|line| line.starts_with(name)));
    assert_eq!(server(&built(&["--no-default-features"])), [false; 2]);
    assert_eq!(server(&built(&[])), [true; 2]);
}
