//! Co-Simulation in the schedule, as a user runs it: steps follow one another whatever happens, get what is visible at their
//! begin, and have computed what is valid at their end (semantics S19 to S23).

use crate::program;

mod clocks;
mod crosswise;
mod draft;
mod earlier;
mod equations;
mod events;
mod foreign;
mod holes;
mod internal;
mod oracle;
mod parts;
mod random;
mod references;
mod sampled;
mod sampled_draft;
mod slopes;
mod status;
mod strides;
mod suspension;
mod transmission;

use program::{Outcome, Rig};
use std::path::{Path, PathBuf};

/// `fmus/stepper`.
fn stepper() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/stepper")
}

/// One stepper `s` with these start values and keys, in a rig with these keys, all recorded.
fn alone(rig: &str, start: &str, keys: &str) -> Rig {
    Rig::of_text(&format!(
        "[rig]\n{rig}\n[record]\n[fmu.s]\npath = '{}'\nstart = {{ {start} }}\n{keys}\n",
        stepper().display()
    ))
}

fn run(rig: &Rig, mode: &str) -> Outcome {
    let mut command = rig.command();
    command.args(["--mode", mode]);
    rig.finish(rig.start(command))
}

/// A column of a recording as numbers.
fn numbers(outcome: &Outcome, column: &str) -> Vec<f64> {
    outcome.signals().column(column).iter().map(|cell| cell.parse().unwrap()).collect()
}
