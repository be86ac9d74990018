//! Scheduled Execution: which partition is activated when, with which values, in real time and in virtual time.

#[path = "../program/mod.rs"]
mod program;

mod activations;
mod clock_rules;
mod control;
mod datagrams;
mod exchange;
mod preemption_model;
mod preemption_real;
mod promise;
mod requirements;
mod scheduling;
mod state;
mod stimulus;
mod stress;
mod three_input_clocks;

use std::path::Path;

/// Waits until the newest row of what a run records has this much in a column, `time` or a count: it has come that far then, whatever
/// the machine does. Rows are there 20 ms later or so.
fn wait_until_recorded(out: &Path, column: &str, least: f64) {
    program::wait_until(&format!("{column} is {least}"), || newest(out, column).is_some_and(|value| value >= least));
}

/// A number in the last row that is written so far.
fn newest(out: &Path, column: &str) -> Option<f64> {
    let text = std::fs::read_to_string(out.join("signals.csv")).ok()?;
    let (names, rows) = text.rsplit_once('\n')?.0.split_once('\n')?;
    // Names of elements of matrices are quoted, for their comma.
    let mut quoted = false;
    let comma = |c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    };
    let column = names.split(comma).position(|name| name == column)?;
    rows.lines().last()?.split(',').nth(column)?.parse().ok()
}
