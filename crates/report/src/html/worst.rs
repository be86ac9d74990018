//! The worst activations of each clock: the parts of their time, and the other work at that time.

use super::names::name;
use super::page::fold;
use super::table::{Cell, Table, cells, html};
use crate::format::{count, duration, micros, plural};
use crate::markup::escape;
use crate::{ActivationResult, ClockResult, KernelCounters, Run};

/// With more clocks than this, the tables are folded up on the screen.
const UNFOLDED: usize = 3;
/// Clocks that have tables; those of the others are in `report.json`.
const CLOCKS: usize = 24;

/// The tables of both lists of each clock that has them.
pub fn tables(run: &Run, clocks: &[&ClockResult]) -> String {
    let clocks: Vec<&ClockResult> =
        clocks.iter().copied().filter(|clock| !clock.causes.worst_responses.is_empty()).collect();
    if clocks.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<h3>The worst activations</h3>\n<p>Microseconds; “at” is the instant of the release, counted from the start of the \
         run. “Also at work” are the other clocks of that core between the release and the end (of a wake-up: the wake-up), \
         and for how long; in parentheses those that had not ended, so were themselves interrupted.</p>\n",
    );
    let open = clocks.len() <= UNFOLDED;
    // The page of a large rig has those of the clocks that took longest.
    let mut longest: Vec<&ClockResult> = run.clocks.iter().collect();
    longest.sort_by_key(|clock| std::cmp::Reverse(clock.response.max()));
    longest.truncate(CLOCKS);
    let is_shown = |clock: &&ClockResult| longest.iter().any(|one| std::ptr::eq(*one, *clock));
    let (shown, others): (Vec<&ClockResult>, Vec<&ClockResult>) = clocks.into_iter().partition(is_shown);
    for clock in shown {
        let worst = &clock.causes.worst_responses;
        let longest = worst.first().map_or(0, |moment| moment.response);
        let summary =
            format!("{}<small>longest response {}</small>", name(&clock.fmu, &clock.clock), duration(longest));
        let tables = [("Longest responses", worst), ("Latest wake-ups", &clock.causes.worst_wakeups)]
            .map(|(title, moments)| table(title, moments, run.start_monotonic_ns));
        out += &fold(&summary, &(thread(clock) + &tables.concat()), open);
    }
    if !others.is_empty() {
        let others = plural(others.len() as u64, "clock");
        out += &format!("<p class=\"note\">Those of {others} that took less long are in report.json.</p>\n");
    }
    out
}

/// Kernel counts of the thread.
fn thread(clock: &ClockResult) -> String {
    let Some(thread) = &clock.causes.thread else { return String::new() };
    let faults = |counts: &KernelCounters| plural(counts.minor_faults + counts.major_faults, "page fault");
    let pages = match &thread.first {
        Some(first) => format!("{} in the first activation, {} after it", faults(first), faults(&thread.later)),
        None => faults(&thread.later),
    };
    format!(
        "<p class=\"note\">The kernel counted for its thread: {}; the core was taken away {} and given away {}.</p>\n",
        pages,
        plural(thread.later.involuntary_switches, "time"),
        plural(thread.later.voluntary_switches, "time")
    )
}

fn table(title: &str, moments: &[ActivationResult], start: i64) -> String {
    if moments.is_empty() {
        return String::new();
    }
    let parts = ActivationResult::default().parts().map(|(part, _)| format!("|#{part}")).concat();
    let rows = moments.iter().map(|moment| {
        let at = (moment.release_monotonic_ns - start) as f64 / 1e9;
        let time = Cell::from(format!("{} s", moment.time_s)).titled(format!("{} s", moment.time));
        let parts = moment.parts().map(|(_, part)| match part {
            0 => Cell::from("0").class("zero"),
            part => Cell::from(micros(part)).class(if part > moment.response / 2 { "max" } else { "" }),
        });
        let response = Cell::from(micros(moment.response)).class("max");
        cells![time, format!("{at:.6} s"), response].into_iter().chain(parts).chain([html(company(moment))])
    });
    format!(
        "<h4>{title}</h4>\n{}",
        Table::new(&format!("Activation time|#at|>response{parts}|~Also at work")).rows(rows)
    )
}

/// Names other work during the activation, and its peculiarities.
fn company(moment: &ActivationResult) -> String {
    let mut words = Vec::new();
    if moment.first {
        words.push("first activation".to_owned());
    }
    if moment.follows {
        words.push("the activation before it ran until then".to_owned());
    }
    if let Some(clock) = &moment.blocked_by {
        words.push(format!("lock held by {}", full_name(clock)));
    }
    words.extend(moment.others.iter().map(|other| match other.under_way {
        true => format!("({})", full_name(&other.clock)),
        false => format!("{} {}", full_name(&other.clock), micros(other.overlap)),
    }));
    if moment.more_others > 0 {
        words.push(format!("{} more", count(moment.more_others.into())));
    }
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}

/// The name of a clock that is given as `fmu.clock`.
fn full_name(clock: &str) -> String {
    clock.split_once('.').map_or_else(|| escape(clock), |(fmu, clock)| name(fmu, clock))
}
