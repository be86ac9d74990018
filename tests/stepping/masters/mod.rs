//! Groups of FMUs under a master, as a user runs them (semantics S24): who steps how far, that the order in the rig means nothing, that
//! FMUs which are integrated are one system, and what is refused.

use crate::program;

mod algorithms;
mod drive;
mod earlier;
mod foretold;
mod joint;
mod loops;
mod refused;
mod thrown;
mod values;

use program::{Outcome, Rig};
use std::path::{Path, PathBuf};

fn fmu(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// A rig whose text has `@NAME` for the path of an FMU of this project.
fn rig(text: &str) -> Rig {
    let mut full = String::new();
    for part in text.split('@').enumerate() {
        match part {
            (0, first) => full += first,
            (_, rest) => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                full += &format!("{}{}", fmu(&rest[..end]).display(), &rest[end..]);
            }
        }
    }
    Rig::of_text(&full)
}

fn run(rig: &Rig, mode: &str) -> Outcome {
    let mut command = rig.command();
    command.args(["--mode", mode]);
    rig.finish(rig.start(command))
}

/// A run in virtual time that succeeds.
fn succeeds(text: &str) -> Outcome {
    let outcome = run(&rig(text), "virtual");
    assert_eq!(outcome.code, 0, "{}\n{text}", outcome.stderr);
    outcome
}

/// A column of a recording as numbers.
fn numbers(outcome: &Outcome, column: &str) -> Vec<f64> {
    outcome.signals().column(column).iter().map(|cell| cell.parse().unwrap()).collect()
}

/// The last value of a column.
fn last(outcome: &Outcome, column: &str) -> f64 {
    *numbers(outcome, column).last().unwrap()
}
