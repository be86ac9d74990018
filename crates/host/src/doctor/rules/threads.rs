//! Other real-time threads on the cores in use, and traces that killed runs have left there.

use super::lists::{few, list, named};
use crate::doctor::facts::{RealTimePolicy, Thread};
use crate::doctor::finding::{Action, Needs};
use crate::doctor::{Case, Finding, Fix};

pub(super) fn findings(case: &Case) -> Vec<Finding> {
    [in_the_band(case), above(case)].into_iter().chain(left_traces(case)).collect()
}

/// Traces of the kernel that killed runs have left: what they traced, the kernel still looks at.
fn left_traces(case: &Case) -> Option<Finding> {
    let left = &case.facts.left_traces;
    if left.is_empty() {
        return None;
    }
    let found = format!("runs that were killed have left traces of the kernel: {}", few(left, 3));
    let why = "each switch of threads and each interrupt of every core is still looked at for them, a fraction of a microsecond; the \
               next run in real time that may do so removes them";
    let remove = |folder: &String| Action::Run(format!("rmdir {folder}"));
    Some(Finding::advice("left_traces", found, why).fixed_by(Fix::now(left.iter().map(remove).collect())))
}

fn here(case: &Case, which: impl Fn(&Thread) -> bool) -> Vec<&Thread> {
    let near = |thread: &&Thread| case.target.cpus.iter().any(|cpu| thread.may_use(*cpu));
    case.facts.threads.iter().filter(near).filter(|thread| which(thread)).collect()
}

fn describe(thread: &&Thread) -> String {
    let policy = match thread.policy {
        RealTimePolicy::Fifo => format!("FIFO {}", thread.priority),
        RealTimePolicy::RoundRobin => format!("RR {}", thread.priority),
        RealTimePolicy::Deadline => "DEADLINE".to_owned(),
    };
    let whose = if thread.kernel { "the kernel's " } else { "" };
    format!("{whose}{} ({policy}, {})", thread.name, thread.tid)
}

fn in_the_band(case: &Case) -> Finding {
    let (low, high) = case.target.band;
    let inside =
        here(case, |thread| thread.policy != RealTimePolicy::Deadline && (low..=high).contains(&thread.priority));
    if inside.is_empty() {
        return Finding::ok("band", format!("no other thread has a priority of {low} to {high}"));
    }
    let shown: Vec<String> = inside.iter().map(describe).collect();
    let users = inside.iter().any(|thread| !thread.kernel);
    let found = format!("in the band {low} to {high} on {}: {}", named(&case.target.cpus), few(&shown, 5));
    let why = "they run before partitions of a lower priority, and partitions of the same one wait for them: for as long as \
               they like";
    let below = low.saturating_sub(1).max(1);
    let lower = |thread: &&Thread| match thread.policy {
        RealTimePolicy::RoundRobin => Action::Run(format!("chrt -r -p {below} {}", thread.tid)),
        _ => Action::Run(format!("chrt -f -p {below} {}", thread.tid)),
    };
    let words = "or take them off these cores (taskset -pc), or choose another band (fifo_priorities in [host])";
    let fix = Fix::now(inside.iter().map(lower).collect()).and(words);
    match users {
        true => Finding::problem("band", found, why).fixed_by(fix),
        false => Finding::advice("band", found, why).fixed_by(fix),
    }
}

/// Threads above the band: the kernel's own (migration/N at 99) belong there; those of others do not.
fn above(case: &Case) -> Finding {
    let high = case.target.band.1;
    let inside =
        here(case, |thread| !thread.kernel && (thread.policy == RealTimePolicy::Deadline || thread.priority > high));
    if inside.is_empty() {
        return Finding::ok("above_band", format!("no other program's thread is above {high}"));
    }
    let shown: Vec<String> = inside.iter().map(describe).collect();
    let others = case.facts.cores.others();
    let fix = match others.is_empty() {
        true => Fix::words("end them, or lower their priority (chrt -f -p 50)", Needs::Nothing),
        false => {
            let away = |thread: &&Thread| Action::Run(format!("taskset -pc {} {}", list(&others), thread.tid));
            Fix::now(inside.iter().map(away).collect())
        }
    };
    Finding::problem(
        "above_band",
        format!("above {high} on {}: {}", named(&case.target.cpus), few(&shown, 5)),
        "they run before all partitions, for as long as they like",
    )
    .fixed_by(fix)
}
