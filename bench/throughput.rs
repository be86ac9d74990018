//! What the host adds to an activation in virtual time, in nanoseconds: `cargo bench --bench throughput`.
//!
//! An FMU that does nothing (`bench/idle`), with ten inputs and ten outputs of each of its clocks; beside it a loop written by
//! hand that makes the same calls of the same library in the same order and copies the same values. The *share* is the
//! difference of the two, per activation; each is the least of several runs that take turns, since other programs only ever
//! add. Once each output is connected to an input of the same clock, so that every activation is set, activate and get; once
//! nothing is, and an activation is one call.
//!
//! Then what recordings add (in columns, too: `cargo bench --features arrow`), beside a bare loop that does only what a recording of
//! messages cannot do without, and whether memory stays as it is over 10^8 activations. Exit code 1 when a share is above its limit or
//! memory grows. An argument of the command line (`-- connected`, `unconnected`, `recorded`, `memory`) picks a part.

#[path = "throughput/bare.rs"]
mod bare;
#[path = "throughput/by_hand.rs"]
mod by_hand;
#[path = "throughput/idle.rs"]
mod idle;
#[path = "library.rs"]
mod library;
#[path = "throughput/memory.rs"]
mod memory;
#[path = "results.rs"]
mod results;

use idle::{Idle, Recorded};
use results::{Results, asked, known};
use std::path::Path;
use std::process::ExitCode;

/// Activations of a run.
const ACTIVATIONS: u64 = 4_000_000;
/// Values that are recorded in a run of which the recording is measured.
const RECORDED: u64 = 20_000_000;
/// Signals that are recorded, whether they all change in each activation, and in which formats.
const SIGNALS: [(usize, bool, Formats); 4] =
    [(20, false, ALL), (100, false, MESSAGES), (500, false, MESSAGES), (20, true, ALL)];
type Formats = &'static [(Recorded, &'static str)];
const MESSAGES: Formats = &[(Recorded::Mcap, "mcap")];
const ALL: Formats = &[
    (Recorded::Csv, "csv"),
    (Recorded::Mcap, "mcap"),
    #[cfg(feature = "arrow")]
    (Recorded::Arrow, "arrow"),
];
/// Activations over which memory must not grow.
const LONG: u64 = 100_000_000;
const REPETITIONS: usize = 15;
/// Clocks, and what the host may add to an activation, ns.
const CLOCKS: [(usize, Option<f64>); 7] =
    [(1, Some(25.0)), (3, None), (10, None), (30, None), (100, None), (300, None), (1000, Some(60.0))];

fn main() -> ExitCode {
    results::run(measure)
}

fn measure() -> Result<bool, String> {
    known(&["connected", "unconnected", "recorded", "memory"])?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let library = library::build(folder.path(), "idle")?;
    let mut results = Results::new("throughput");
    for (part, connected) in [("connected", true), ("unconnected", false)] {
        if !asked(part) {
            continue;
        }
        println!("{part}:");
        println!(
            "{:>6} {:>14} {:>12} {:>12} {:>10}",
            "clocks", "activations/s", "vecud, ns", "by hand, ns", "share, ns"
        );
        let mut least = [(f64::INFINITY, f64::INFINITY); CLOCKS.len()];
        // All numbers of clocks take turns, so that no other program's minute is that of one of them.
        for _ in 0..REPETITIONS {
            for ((clocks, _), (ours, theirs)) in CLOCKS.into_iter().zip(&mut least) {
                let fmu = Idle::new(folder.path(), &library, clocks, connected)?;
                *ours = ours.min(fmu.run(Recorded::Nothing, ACTIVATIONS)?);
                *theirs = theirs.min(by_hand::run(&library, clocks, connected, ACTIVATIONS)?);
            }
        }
        for ((clocks, limit), (ours, theirs)) in CLOCKS.into_iter().zip(least) {
            let share = ours - theirs;
            let said = limit.map_or(String::new(), |limit| format!("    (at most {limit})"));
            println!("{clocks:>6} {:>14.0} {ours:>12.1} {theirs:>12.1} {share:>10.1}{said}", 1e9 / ours);
            results.note(&format!("share of an activation, {clocks} clocks, {part}"), share, "ns", limit);
        }
    }
    let fmu = Idle::new(folder.path(), &library, 1, true)?;
    if asked("recorded") {
        let changing = library::variant(folder.path(), "idle", "CHANGING")?;
        for (signals, changes, formats) in SIGNALS {
            let library = if changes { &changing } else { &library };
            recorded(folder.path(), library, signals, changes, formats, &mut results)?;
        }
    }
    if asked("memory") {
        for (recorded, activations) in [(Recorded::Nothing, LONG), (Recorded::Some(1000), LONG / 10)] {
            if !memory::stays(&fmu, recorded, activations)? {
                results.broken();
            }
        }
    }
    results.write()
}

/// What recordings in these formats add to an activation with so many signals.
fn recorded(
    folder: &Path,
    library: &Path,
    signals: usize,
    changes: bool,
    formats: Formats,
    results: &mut Results,
) -> Result<(), String> {
    let fmu = Idle::with_values(folder, &format!("recorded-{signals}-{changes}"), library, signals / 2)?;
    let activations = RECORDED / signals as u64;
    let (mut nothing, mut unavoidable) = (f64::INFINITY, f64::INFINITY);
    let mut least = vec![f64::INFINITY; formats.len()];
    for _ in 0..REPETITIONS {
        nothing = nothing.min(fmu.run(Recorded::Nothing, activations)?);
        unavoidable = unavoidable.min(bare::run(folder, signals, changes, activations)?);
        for (least, (format, _)) in least.iter_mut().zip(formats) {
            *least = least.min(fmu.run(*format, activations)?);
        }
    }
    let what = if changes { "signals that all change" } else { "signals" };
    for (least, (format, name)) in least.into_iter().zip(formats) {
        let more = least - nothing;
        let beside = match format {
            Recorded::Mcap => format!("; a bare loop takes {unavoidable:.0} ns, a ratio of {:.2}", more / unavoidable),
            _ => String::new(),
        };
        println!("one clock, {signals} {what} recorded as {name}: {more:.0} ns more an activation{beside}");
        results.note(&format!("{signals} {what} recorded as {name}"), more, "ns", None);
        if *format == Recorded::Mcap {
            results.note(
                &format!("{signals} {what} recorded as {name}, beside a bare loop"),
                more / unavoidable,
                "",
                None,
            );
        }
    }
    Ok(())
}
