//! A POSIX shell script that makes the possible changes to the running machine, and names the others.
//!
//! Texts from the machine's files stand only in comments or in quotes.

use crate::doctor::{Action, Case, Finding, Fix, Level, Needs};
use std::fmt::Write;
use vecud_base::plain::{plain, shell_word};
use vecud_report::format::plural;

const HEAD: &str = r#"#!/bin/sh
# What `vecud doctor --fix` found to change on this machine. doctor has changed nothing: read this, then run it as root.
# All of it holds until the next boot. What makes it last is named beside it: `vecud doctor --files DIR` writes these files.
# shellcheck disable=SC2016 # names of files and words are meant as they stand
set -eu

failed=0
# put VALUE FILE: one switch of the kernel. What is refused is told, and the others are tried.
put() {
    if [ -e "$2" ] && (printf '%s\n' "$1" >"$2") 2>/dev/null; then
        printf '%s: %s\n' "$2" "$1"
    else
        printf 'refused: %s to %s\n' "$1" "$2" >&2
        failed=1
    fi
}
# try COMMAND
try() {
    if sh -c "$1"; then printf '%s\n' "$1"; else printf 'failed: %s\n' "$1" >&2; failed=1; fi
}
later() { printf 'to do: %s\n' "$*"; }

if [ "$(id -u)" -ne 0 ]; then
    echo 'run this as root: it writes to /proc and /sys' >&2
    exit 1
fi
"#;

/// Greatest width of comments.
const WIDTH: usize = 116;

/// The whole script.
pub fn script(case: &Case, findings: &[Finding]) -> String {
    let mut out = HEAD.to_owned();
    let bad: Vec<&Finding> = findings.iter().filter(|finding| finding.level != Level::Ok).collect();
    for finding in &bad {
        let cpu = finding.cpu.map_or(String::new(), |cpu| format!(" of core {cpu}"));
        out.push('\n');
        comment(&mut out, &format!("{}: {}{cpu}: {}", finding.level.word(), finding.check, finding.found));
        comment(&mut out, &format!("why: {}", finding.why));
        if let Some(fix) = &finding.fix {
            actions(&mut out, fix);
        }
    }
    let target = case.target.rig.as_deref().map_or("vecud's defaults".to_owned(), plain);
    out.push('\n');
    comment(&mut out, &format!("{}, for {target}", plural(bad.len() as u64, "finding")));
    out += "exit \"$failed\"\n";
    out
}

fn actions(out: &mut String, fix: &Fix) {
    if let Some(file) = fix.file {
        comment(out, &format!("lasting: {file}"));
    }
    for action in &fix.now {
        let _ = match action {
            Action::Write { value, path } => writeln!(out, "put {} {}", word(value), word(path)),
            Action::Run(command) => writeln!(out, "try {}", word(command)),
        };
    }
    let needs = match fix.needs {
        Needs::Nothing if fix.now.is_empty() => "",
        Needs::Nothing => {
            if !fix.words.is_empty() {
                comment(out, &fix.words);
            }
            return;
        }
        Needs::Login => "(a new login) ",
        Needs::Reboot => "(a reboot) ",
        Needs::Host => "(outside of this system) ",
    };
    let _ = writeln!(out, "later {}", word(&format!("{needs}{}", fix.words)));
}

/// Quotes a text wherever a shell could see more than a word in it.
fn word(text: &str) -> String {
    shell_word(&plain(text))
}

/// Lines of a comment.
fn comment(out: &mut String, text: &str) {
    for line in super::text::wrapped(&plain(text), WIDTH) {
        let _ = writeln!(out, "# {line}");
    }
}
