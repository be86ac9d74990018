//! What the documents show is what the program takes.

use crate::source::folder;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

pub fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

pub fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let opening = format!("```{language}\n");
    text.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn rigs_in_the_documents_are_rigs() {
    for name in ["README.md", "docs/rig.md", "docs/first-fmu.md"] {
        let text = read(name);
        let rigs = blocks(&text, "toml");
        assert!(!rigs.is_empty(), "{name} shows no rig");
        for rig in rigs {
            vecud::rig::parse(rig, Path::new(name)).unwrap_or_else(|error| panic!("{name}: {error}\n{rig}"));
        }
    }
}

#[test]
fn files_that_the_documents_link_to_exist() {
    for name in [
        "README.md",
        "docs/commands.md",
        "docs/runs.md",
        "docs/privileges.md",
        "docs/rig.md",
        "docs/state.md",
        "docs/report.md",
        "docs/doctor.md",
        "docs/schedulability.md",
        "docs/README.md",
        "docs/first-fmu.md",
        "docs/shell-and-editor.md",
        "docs/validate.md",
        "docs/call.md",
        "docs/library.md",
        "examples/README.md",
        "systemd/README.md",
        "rt-config/README.md",
        "python/README.md",
        "docs/daemon.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
    ] {
        let folder = Path::new(name).parent().unwrap();
        for link in read(name).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains("://") {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(file);
                assert!(path.exists(), "{name} links to {link}");
            }
        }
    }
}

#[test]
fn the_index_has_every_page_and_every_example_is_explained() {
    for (folder, ending, index) in [("docs", "md", "docs/README.md"), ("examples", "toml", "examples/README.md")] {
        let text = read(index);
        for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.extension().is_some_and(|own| own == ending) && name != "README.md" {
                assert!(text.contains(&format!("]({name})")), "{index} has no link to {name}");
            }
        }
    }
}

/// The way through the code that a newcomer is told is there: files, folders and test programs.
#[test]
fn what_contributors_are_told_of_exists() {
    let text = read("CONTRIBUTING.md");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| ["src/", "crates/", "tests/"].iter().any(|top| code.starts_with(top)));
    let named: Vec<&str> = named.filter(|code| !code.contains('{')).collect();
    assert!(named.len() > 20, "{named:?}");
    for path in named {
        assert!(root.join(path).exists(), "there is no {path}");
    }
    for program in text.split("--test ").skip(1).filter_map(|rest| rest.split([' ', '`', '\n']).next()) {
        let is_there = [format!("tests/{program}.rs"), format!("tests/{program}/main.rs")];
        assert!(is_there.iter().any(|path| root.join(path).exists()), "there is no test program {program}");
    }
}

/// What comments call semantics S1 and so on has an entry in docs/semantics.md.
#[test]
fn decisions_that_comments_refer_to_are_written_down() {
    let explained = read("docs/semantics.md");
    let mut found = 0;
    for path in ["src", "crates", "tests"]
        .into_iter()
        .flat_map(folder)
        .filter(|path| path.extension().is_some_and(|own| own == "rs"))
    {
        let text = fs::read_to_string(&path).unwrap();
        for number in text.split("semantics S").skip(1) {
            let number: String = number.chars().take_while(char::is_ascii_digit).collect();
            assert!(
                number.is_empty() || explained.contains(&format!("**S{number}. ")),
                "{}: semantics S{number}",
                path.display()
            );
            found += 1;
        }
    }
    assert!(found > 50, "only {found} references");
}

/// The keys that the code takes are those that docs/rig.md explains.
#[test]
fn every_key_of_a_rig_is_explained() {
    let page = read("docs/rig.md");
    let mut keys = 0;
    for file in ["parse", "tables", "task", "triggers", "endpoints", "record", "stimuli", "report", "trace", "figures"]
    {
        let code = read(&format!("crates/plan/src/rig/{file}.rs"));
        for list in code.split("\nconst ").chain(code.split("\npub(super) const ")).skip(1) {
            let list = list.split(';').find(|part| part.contains("= [") || part.contains("= &[")).unwrap_or_default();
            let Some((head, words)) = list.split_once('=') else { continue };
            if !head.contains("&str") && !head.trim_end().ends_with(']') {
                continue;
            }
            for key in words.split('"').skip(1).step_by(2) {
                keys += 1;
                let ways = [format!("`{key}`"), format!("{key} ="), format!("[{key}"), format!(".{key}]")];
                assert!(ways.iter().any(|way| page.contains(way)), "docs/rig.md has no word on {key} ({file}.rs)");
            }
        }
    }
    assert!(keys > 50, "{keys} keys");
}

#[test]
fn commands_that_pages_show_exist() {
    let help = Command::new(env!("CARGO_BIN_EXE_vecud")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let pages = ["README.md", "docs/commands.md"].map(read);
    let lines = pages.iter().flat_map(|page| blocks(page, "sh")).flat_map(str::lines);
    let commands = lines.filter_map(|line| line.strip_prefix("vecud ")?.split_whitespace().next());
    let commands: BTreeSet<&str> = commands.collect();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        assert!(help.contains(&format!("\n  {command} ")), "vecud has no {command}");
    }
}

/// Whether this text has a function of that name under `#[test]`, with nothing but attributes and comments in between.
fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins = |line: &&str| line.strip_prefix("fn ").is_some_and(|rest| rest.starts_with(&format!("{name}(")));
    lines.iter().enumerate().filter(|(_, line)| begins(line)).any(|(at, _)| {
        let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        above.into_iter().any(|line| *line == "#[test]")
    })
}

#[test]
fn tests_that_the_conformance_table_names_exist() {
    assert!(has_test("#[test]\n#[cfg(unix)]\nfn there() {", "there"));
    assert!(!has_test("#[test]\nfn other() {}\nfn there() {", "there"));
    let table = read("docs/conformance.md");
    let in_code = table.split('`').skip(1).step_by(2);
    let named: Vec<(&str, &str)> = in_code.filter_map(|code| code.split_once(".rs::")).collect();
    assert!(named.len() > 100, "{}", named.len());
    for (file, test) in named {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{file}.rs"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}.rs: {error}"));
        assert!(has_test(&text, test), "{file}.rs has no test {test}");
    }
}

#[test]
fn every_requirement_has_its_row_with_a_test_or_a_reason() {
    let table = read("docs/conformance.md");
    let rows: Vec<(u32, &str)> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | "))
        .filter_map(|(number, rest)| Some((number.parse().ok()?, rest)))
        .collect();
    for (number, rest) in &rows {
        assert!(rest.contains('✓') || rest.contains("*Later*") || rest.contains("later"), "row {number} says neither");
        assert!(!rest.contains('✓') || rest.contains(".rs::"), "row {number} has no test");
    }
    let numbers: Vec<u32> = rows.iter().map(|(number, _)| *number).collect();
    // A process for each FMU is no part of the table yet.
    let wanted: Vec<u32> = (1..=100).filter(|number| *number != 33).collect();
    assert_eq!(numbers, wanted);
}
