//! What the documents show is what the program takes.

use std::fs;
use std::path::Path;
use std::process::Command;

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let opening = format!("```{language}\n");
    text.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn rigs_in_the_documents_are_rigs() {
    for name in ["README.md", "docs/rig.md"] {
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
    for name in ["README.md", "docs/rig.md", "systemd/README.md", "rt-config/README.md", "CHANGELOG.md"] {
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
fn commands_in_the_readme_exist() {
    let help = Command::new(env!("CARGO_BIN_EXE_vecud")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for line in blocks(&read("README.md"), "sh").iter().flat_map(|block| block.lines()) {
        if let Some(command) = line.strip_prefix("vecud ").and_then(|rest| rest.split_whitespace().next()) {
            assert!(help.contains(&format!("\n  {command} ")), "vecud has no {command}");
        }
    }
}
