//! The run in a few numbers.

use super::names::breakable;
use crate::format::{count, duration};
use crate::steps::tasks;
use crate::{ClockResult, Run};
use vecud_plan::Mode;
use vecud_record::histogram::Histogram;

/// The numbers.
pub fn tiles(run: &Run) -> String {
    let activations: u64 = run.clocks.iter().map(|clock| clock.activations).sum();
    let overruns: u64 = run.clocks.iter().map(|clock| clock.overruns).sum();
    let of = format!("in {}", tasks(&run.clocks));
    let busy = match overruns {
        0 => "each activation was done before the next".to_owned(),
        _ => {
            let worst = run.clocks.iter().max_by_key(|clock| clock.overruns);
            worst.map(|clock| format!("most: {}.{}", clock.fmu, clock.clock)).unwrap_or_default()
        }
    };
    let mut tiles = vec![tile("Activations", &count(activations), &of), tile("Overruns", &count(overruns), &busy)];
    match run.mode {
        Mode::RealTime => {
            tiles.extend(worst(run, "Longest wake-up by the machine", |clock| clock.wakeup_machine()));
            tiles.extend(worst(run, "Longest start latency", |clock| &clock.start_latency));
        }
        Mode::Virtual => {
            let simulated = run.end_time - run.start_time;
            if run.wall_seconds > 0.0 && simulated.is_finite() {
                let speed = simulated / run.wall_seconds;
                let digits = if speed < 10.0 { 1 } else { 0 };
                tiles.push(tile("Speed", &format!("{speed:.digits$} ×"), "simulated over elapsed time"));
            }
        }
    }
    format!("<div class=\"tiles\">\n{}</div>\n", tiles.concat())
}

fn worst<'a>(run: &'a Run, title: &str, histogram: impl Fn(&'a ClockResult) -> &'a Histogram) -> Option<String> {
    let clock = run.clocks.iter().filter(|clock| histogram(clock).count() > 0).max_by_key(|c| histogram(c).max())?;
    let name = format!("{}.{}", clock.fmu, clock.clock);
    Some(tile(title, &duration(histogram(clock).max()), &name))
}

/// A number with its title and the text below it.
pub fn tile(title: &str, value: &str, below: &str) -> String {
    format!("<div><p>{title}</p><strong>{value}</strong><small>{}</small></div>\n", breakable(below))
}
