//! Stimuli (`[[stimulus]]`): what activations get of a file, in virtual and in real time, and every file that is none.

mod bad_input;
mod between_steps;
mod large;
mod life;
use crate::program;
mod replay;
mod semantics;
mod texts;

use program::{Outcome, Rig};
use std::fmt::Write as _;
use std::path::PathBuf;

/// A tracer that a file feeds. Its outputs repeat its inputs.
fn fed(stop: &str, stimulus: &str, file: &str) -> Rig {
    let rig = Rig::new(&format!("mode = 'virtual'\nstop_time = {stop}\noverrun = 'queue'"))
        .tracer("a", "")
        .more(&format!("[[stimulus]]\nfile = 'drive.csv'\n{stimulus}"))
        .more("[record]\nsignals = ['a.in_*', 'a.out_*', 'a.count_*']");
    std::fs::write(drive(&rig), file).unwrap();
    rig
}

fn drive(rig: &Rig) -> PathBuf {
    rig.folder().join("drive.csv")
}

fn run(rig: &Rig, arguments: &[&str]) -> Outcome {
    let mut command = rig.command();
    command.args(arguments);
    rig.finish(rig.start(command))
}

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A file and what is in it, by column.
struct Drawn {
    text: String,
    /// µs
    times: Vec<i64>,
    cells: Vec<Vec<Option<String>>>,
}

/// Rows at any times from before the start on, many of them on the grid of activations; cells are left empty now and then.
fn draw(seed: u64, header: &str, kinds: &[fn(&mut Numbers) -> String]) -> Drawn {
    let mut numbers = Numbers(seed);
    let mut drawn = Drawn { text: format!("time,{header}\n"), times: Vec::new(), cells: Vec::new() };
    let mut micros: i64 = -20_000;
    while micros < 520_000 {
        micros += match numbers.below(4) {
            0 => 1,
            1 => 1000 - micros.rem_euclid(1000),
            _ => 1 + numbers.below(3000) as i64,
        };
        let row: Vec<Option<String>> =
            kinds.iter().map(|kind| (numbers.below(3) > 0).then(|| kind(&mut numbers))).collect();
        write!(drawn.text, "{}", micros as f64 / 1e6).unwrap();
        row.iter().for_each(|cell| write!(drawn.text, ",{}", cell.as_deref().unwrap_or("")).unwrap());
        drawn.text.push('\n');
        drawn.times.push(micros);
        drawn.cells.push(row);
    }
    drawn
}

impl Drawn {
    /// The newest value of a column at a time.
    fn newest(&self, column: usize, micros: i64) -> Option<&str> {
        let rows = self.times.iter().zip(&self.cells).rev().filter(|(time, _)| **time <= micros);
        rows.map(|(_, row)| &row[column]).find_map(|cell| cell.as_deref())
    }
}
