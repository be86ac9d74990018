//! The commands of docs/first-fmu.md, run as they stand there: what they print is what the page shows, and its changes are made.

use super::{Desk, cache};
use std::path::Path;
use std::process::{Command, Stdio};

/// The blocks of a page: language and lines.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let parts = page.split("\n```").skip(1).step_by(2);
    parts
        .map(|block| block.split_once('\n').map_or((block, vec![]), |(kind, text)| (kind, text.lines().collect())))
        .collect()
}

/// The words of a line, which may be further apart somewhere else.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs the lines as a shell does that has `vecud`; gives what is printed.
fn run(desk: &Desk, lines: &[&str]) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_vecud")).parent().unwrap().display().to_string();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.arg("-ec").arg(lines.join("\n")).current_dir(desk.path(".")).env("PATH", path).env("VECUD_CACHE", cache());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{lines:?}: {out}{err}");
    out
}

/// Makes the changes of a `diff` block: each line stands once in the file (but for `+`), and what follows it with `+` comes after
/// it; with `-` it goes.
fn change(desk: &Desk, lines: &[&str]) {
    let file = lines[0].strip_prefix("--- ").expect("a diff begins with its file");
    let text = desk.read(file);
    let mut out: Vec<&str> = text.lines().collect();
    let mut at = 0;
    for line in &lines[1..] {
        let (sign, own) = line.split_at(1);
        if sign == "+" {
            out.insert(at, own);
            at += 1;
            continue;
        }
        let places: Vec<usize> = (0..out.len()).filter(|&place| out[place] == own).collect();
        assert_eq!(places.len(), 1, "{file} has this line {} times: {own}", places.len());
        at = places[0] + 1;
        if sign == "-" {
            out.remove(places[0]);
            at = places[0];
        }
    }
    desk.write(file, &(out.join("\n") + "\n"));
}

#[test]
fn the_first_fmu_comes_to_be_as_the_page_says() {
    let page = std::fs::read_to_string(super::repository("docs/first-fmu.md")).unwrap();
    let desk = Desk::new();
    let (mut printed, mut commands, mut changes) = (String::new(), 0, 0);
    for (kind, lines) in blocks(&page) {
        match kind {
            "sh" => {
                printed = run(&desk, &lines);
                commands += lines.len();
            }
            // Lines of what the commands before have printed, in this order; the end of a line may be left out.
            "text" => {
                let mut rest = printed.lines();
                for line in lines {
                    let is_there = rest.any(|other| words(other).starts_with(&words(line)));
                    assert!(is_there, "not printed, or not in this order: {line}\n{printed}");
                }
            }
            "diff" => {
                change(&desk, &lines);
                changes += 1;
            }
            // What stands in the rig that was made.
            "toml" => {
                let rig = desk.read("first.toml");
                for line in lines.iter().filter(|line| !line.is_empty()) {
                    assert!(rig.lines().any(|other| other == *line), "first.toml has no {line}");
                }
            }
            other => panic!("a block of {other:?}"),
        }
    }
    assert!(commands >= 8 && changes == 2, "{commands} commands, {changes} changes");
    assert!(desk.path("vecud-out/first/report.html").is_file());
}
