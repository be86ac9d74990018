//! `vecud completions`, `vecud man`, `vecud schema`: what an installed program gives to shells and editors.

use super::{Desk, repository};
use std::io::Write;
use std::process::{Command, Stdio};

/// Whether this program takes the text, as an argument-less check of it; `None`: there is no such program, which is told.
fn takes(program: &[&str], text: &str) -> Option<bool> {
    let mut command = Command::new(program[0]);
    let child = command.args(&program[1..]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    match child {
        Ok(mut child) => {
            child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
            Some(child.wait().unwrap().success())
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "SKIPPED: {}: {error}", program[0]);
            None
        }
    }
}

#[test]
fn shells_get_a_script_that_they_take() {
    let desk = Desk::new();
    for (shell, check) in [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])] {
        let script = desk.does(&format!("completions {shell}"));
        for word in ["stop-time", "doctor", "new", "realtime"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(!script.contains("runner"), "what is for vecud itself is completed for nobody");
        assert_ne!(takes(&check, &script), Some(false), "{shell}");
    }
    // As bash does it: the commands that begin with these letters.
    let script = desk.does("completions bash");
    let ask = "COMP_WORDS=(vecud re); COMP_CWORD=1; _vecud vecud re vecud; echo \"${COMPREPLY[@]}\"";
    let answer = Command::new("bash").args(["-c", &format!("{script}\n{ask}")]).output().unwrap();
    assert_eq!(String::from_utf8(answer.stdout).unwrap().trim(), "report");
    desk.refuses("completions csh", "invalid value 'csh'");
}

#[test]
fn each_command_has_a_manual_page() {
    let desk = Desk::new();
    let first = desk.does("man");
    assert!(first.contains(".TH vecud 1") && first.contains("Exit codes:"), "{first}");
    let told = desk.does("man --out pages");
    let help = desk.does("--help");
    let commands = help.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap();
    let mut pages = 1;
    for command in commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()) {
        if command.is_empty() || command == "help" {
            continue;
        }
        let page = desk.read(&format!("pages/vecud-{command}.1"));
        assert!(page.contains(&format!(".TH vecud-{command} 1")), "{page}");
        pages += 1;
    }
    assert!(desk.read("pages/vecud-new-fmu.1").contains("modelDescription") || pages > 8);
    assert!(desk.read("pages/vecud-run.1").contains("stop\\-time"));
    assert!(told.starts_with("pages: "), "{told}");
    desk.refuses("man --out pages", "pages: is there already, and is not overwritten: choose another name\n");
}

#[test]
fn schemas_are_those_of_the_documents() {
    let desk = Desk::new();
    for (command, file) in [
        ("schema", "rig"),
        ("schema rig", "rig"),
        ("schema report", "report"),
        ("schema check", "check"),
        ("schema validate", "validate"),
    ] {
        let document = std::fs::read_to_string(repository(&format!("docs/{file}.schema.json"))).unwrap();
        assert_eq!(desk.does(command), document, "{command}");
    }
}
