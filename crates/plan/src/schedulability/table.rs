//! The analysis as text: the table of `vecud check`, and why a rig is refused.

use super::known::{MAX_BURST, Origin, ReleasePattern};
use super::verdict::{Basis, ClockVerdict, ResponseTime, Worst, interval};
use super::{Analysis, known};
use crate::interval::interval_text;
use crate::{Plan, UnitId, UnitPlan};
use std::fmt::Write;
use vecud_base::columns::indented;
use vecud_base::plain::plain;
use vecud_base::time::Nanos;

/// `fmu.clock`, for messages.
pub fn name(plan: &Plan, unit: UnitId) -> String {
    plain(&plan.full_name(&plan.units[unit.0]))
}

/// All clocks of each core, and the missing figures. `run`: the source of measured figures, as the user named it.
pub fn render(plan: &Plan, analysis: &Analysis, run: Option<&str>) -> String {
    let known = analysis.clocks.iter().any(|clock| clock.worst().is_some()) || !analysis.is_schedulable();
    let mut out = "\nSchedulability\n".to_owned();
    if known {
        for core in &analysis.cores {
            let _ = writeln!(
                out,
                "  core {}, loaded with {} %{}",
                core.cpu,
                percent(core.load.share),
                not_in_load(plan, analysis, core.cpu)
            );
            out += &rows(plan, analysis, core.cpu);
        }
        out += &assumptions(plan, analysis, run);
    }
    out + &missing(plan, analysis, run) + &turns_over_cores(plan) + &shared_priorities(plan, analysis)
}

/// FMUs on several cores that take turns: their worst responses are unknown.
fn turns_over_cores(plan: &Plan) -> String {
    let serials = (0..plan.serials.len()).filter(|serial| plan.is_over_cores(*serial));
    let line = |serial: usize| {
        let names = plan.names(&plan.serials[serial].fmus);
        format!("  unknown where it depends on {names}, which take turns over cores: run them on one core (cpu)\n")
    };
    serials.map(line).collect()
}

/// A warning for each instance whose levels share a FIFO priority.
fn shared_priorities(plan: &Plan, analysis: &Analysis) -> String {
    let warnings = plan.shared_priorities(analysis).into_iter();
    warnings.map(|(_, warning)| format!("\nWARNING: {}\n", warning.replace('\n', "\n  "))).collect()
}

/// Why the rig cannot be scheduled; `None`: it can, as far as the figures tell. One paragraph for each core and clock.
pub fn refusal(plan: &Plan, analysis: &Analysis) -> Option<String> {
    let mut paragraphs = Vec::new();
    for core in analysis.cores.iter().filter(|core| core.load.against_one.is_gt()) {
        let mut text = format!(
            "core {} is loaded with {} %, more than it has: its clocks cannot all be scheduled",
            core.cpu,
            percent(core.load.share)
        );
        let mut shares = core.shares.clone();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (task, share) in shares {
            let _ = write!(text, "\n    {:>6} %  {}", percent(share), name(plan, task));
        }
        paragraphs.push(
            text + "\n  the way out: shorter executions, longer intervals, or another core for one of the FMUs (cpu)",
        );
    }
    let full = |task: usize| {
        analysis.cores.iter().any(|core| core.cpu == plan.task_of(UnitId(task)).cpu && core.load.against_one.is_gt())
    };
    for (task, clock) in analysis.clocks.iter().enumerate() {
        match &clock.result {
            ResponseTime::Bounded(worst) if clock.late().is_some() => paragraphs.push(deadline_miss(plan, UnitId(task), clock, worst)),
            ResponseTime::NotFound if !full(task) => paragraphs.push(format!(
                "clock {} has no worst response that can be found: core {} is so full that its work hardly ever ends, or what \
                 its clocks trigger delays them more and more\n  the way out: shorter executions, longer intervals, \
                 min_interval_us for triggered clocks, or another core for one of the FMUs (cpu)",
                name(plan, UnitId(task)),
                plan.task_of(UnitId(task)).cpu
            )),
            _ => {}
        }
    }
    (!paragraphs.is_empty()).then(|| paragraphs.join("\n"))
}

/// A missed deadline: the parts of the worst response, and the way out.
fn deadline_miss(plan: &Plan, unit: UnitId, clock: &ClockVerdict, worst: &Worst) -> String {
    let planned = &plan.units[unit.0];
    let deadline = clock.deadline.unwrap_or(Nanos::MAX);
    let mut text = format!(
        "clock {} misses its deadline of {} by {}: on core {} its worst response is {}",
        name(plan, unit),
        duration(deadline),
        duration(clock.late().unwrap_or_default()),
        plan.task_of(unit).cpu,
        duration(worst.response)
    );
    let mut part = |time: Nanos, what: String| {
        if time != Nanos(0) {
            let _ = write!(text, "\n    {:>11}  {what}", duration(time));
        }
    };
    let (count, own) = worst.own;
    let several = if count > 1 { format!("; {count} activations, of which this is the last") } else { String::new() };
    part(own, format!("its own execution{several}"));
    for (other, count, time) in &worst.interference {
        let activations = if *count == 1 { "activation" } else { "activations" };
        part(*time, format!("{}, which goes before it: {count} {activations}", name(plan, *other)));
    }
    for (other, time) in &worst.blocking {
        let shares = plan.share(unit, *other);
        let what = match plan.units[other.0].makes_steps() {
            _ if shares => "which shares its FIFO priority and has begun",
            true => "which takes turns and has begun",
            false => "in its longest locked section",
        };
        part(*time, format!("{}, less urgent, {what}", name(plan, *other)));
    }
    part(worst.wakeup, "waking up".to_owned());
    part(Nanos(-worst.before.0), "since all that had begun before its release".to_owned());
    let fmu = &plan.fmus[planned.fmu.0].name;
    let _ = write!(
        text,
        "\n  the way out: make one of these shorter, an interval longer, run FMU {fmu} or another one on another core (cpu), or \
         allow more with deadline_us in [fmu.{fmu}{}]",
        planned.clock().map_or_else(String::new, |_| format!(".clock.{}", plain(&planned.name)))
    );
    text
}

/// The rows of a core's clocks.
fn rows(plan: &Plan, analysis: &Analysis, cpu: usize) -> String {
    let head = ["  clock", "period", "deadline", "execution", "blocking", "interference", "worst response", "slack"];
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).to_vec()];
    for (task, clock) in analysis.clocks.iter().enumerate().filter(|(task, _)| plan.task_of(UnitId(*task)).cpu == cpu) {
        let input = &analysis.known.tasks[task];
        let sum = |times: &mut dyn Iterator<Item = Nanos>| duration(times.fold(Nanos(0), Nanos::plus));
        let dash = || "–".to_owned();
        let (blocking, interference, response, slack) = match &clock.result {
            ResponseTime::Bounded(worst) => (
                sum(&mut worst.blocking.iter().map(|(_, time)| *time)),
                sum(&mut worst.interference.iter().map(|(_, _, time)| *time)),
                duration(worst.response),
                clock.deadline.map_or_else(dash, |deadline| match clock.late() {
                    Some(late) => format!("-{}", duration(late)),
                    None => duration(deadline.minus(worst.response)),
                }),
            ),
            ResponseTime::Idle => (dash(), dash(), "never activated".to_owned(), dash()),
            ResponseTime::Unknown => (dash(), dash(), "unknown".to_owned(), dash()),
            ResponseTime::Overloaded | ResponseTime::NotFound => (dash(), dash(), "none".to_owned(), dash()),
        };
        rows.push(vec![
            format!("  {}", name(plan, UnitId(task))),
            period(plan, analysis, task),
            clock.deadline.map_or_else(dash, duration),
            input.execution.map_or_else(dash, |(execution, _)| duration(execution)),
            blocking,
            interference,
            response,
            slack,
        ]);
    }
    indented(rows.iter(), &[2, 3, 4, 5, 6, 7])
}

fn period(plan: &Plan, analysis: &Analysis, task: usize) -> String {
    let tasks = &analysis.known.tasks;
    let every = || interval(tasks, task, false).map_or("–".to_owned(), interval_text);
    match tasks[task].pattern.as_ref().map(|(pattern, _)| pattern) {
        _ if !tasks[task].active => "–".to_owned(),
        None => "–".to_owned(),
        Some(ReleasePattern::Every(_)) => every(),
        Some(ReleasePattern::Bursts(_)) => format!("{}, {MAX_BURST} at once", every()),
        Some(ReleasePattern::Times(times)) if times.len() == 1 => "once".to_owned(),
        Some(ReleasePattern::Times(times)) => format!("{} times", times.len()),
        Some(ReleasePattern::TickedBy(causes)) => match causes.as_slice() {
            [one] => format!("as {}", name(plan, *one)),
            all => format!("as {} clocks", all.len()),
        },
    }
}

/// The number of a core's tasks that its load does not include.
fn not_in_load(plan: &Plan, analysis: &Analysis, cpu: usize) -> String {
    match analysis.incomplete().filter(|unit| plan.task_of(*unit).cpu == cpu).count() {
        0 => String::new(),
        1 => ", without a clock whose figures are missing".to_owned(),
        n => format!(", without {n} clocks whose figures are missing"),
    }
}

fn assumptions(plan: &Plan, analysis: &Analysis, run: Option<&str>) -> String {
    let known = &analysis.known;
    let mut out = String::new();
    let said = |source: Origin| match source {
        Origin::Rig => " (the rig's)",
        Origin::Run => " (measured)",
        Origin::Default => " (assumed)",
    };
    let (overhead, by) = known.overhead;
    let _ = write!(out, "  included: {} per activation for the host{}", duration(overhead), said(by));
    if plan.host.spin > Nanos(0) {
        let _ = write!(out, ", {} of polling before each release that is known", duration(plan.host.spin));
    }
    for core in &analysis.cores {
        let first = plan.tasks.iter().find(|task| task.cpu == core.cpu).map_or(0, |task| task.first().0);
        let (wakeup, by) = known.wakeup[first];
        let of = if analysis.cores.len() > 1 { format!(" on core {}", core.cpu) } else { String::new() };
        let _ = write!(out, ", {} to wake up{of}{}", duration(wakeup), said(by));
    }
    out.push('\n');
    let basis = |basis: Basis| analysis.clocks.iter().filter_map(ClockVerdict::worst).any(|worst| worst.basis == basis);
    if let Some(run) = run.filter(|_| basis(Basis::Run) || basis(Basis::Both)) {
        let _ = writeln!(
            out,
            "  measured figures are the worst that the run in {run} has seen, which may not be the worst there are"
        );
    }
    let unknown_lock: Vec<String> = without_lock_time(plan, analysis).map(|task| name(plan, task)).collect();
    if !unknown_lock.is_empty() {
        let _ = writeln!(out, "  assumed never to lock, as there is no lock_us: {}", unknown_lock.join(", "));
    }
    out
}

/// Tasks whose locked sections would block others, and whose `lock_us` is unknown.
fn without_lock_time<'a>(plan: &'a Plan, analysis: &'a Analysis) -> impl Iterator<Item = UnitId> + 'a {
    let above = |task: usize| {
        let (own, fifo) = (&plan.units[task], |unit: &UnitPlan| plan.tasks[unit.task.0].fifo.get());
        plan.units.iter().any(|other| other.fmu == own.fmu && fifo(other) > fifo(own))
    };
    let tasks = analysis.known.tasks.iter().enumerate();
    tasks
        .filter(move |(task, input)| {
            input.active && input.execution.is_some() && input.section.1 == Origin::Default && above(*task)
        })
        .map(|(task, _)| UnitId(task))
}

fn missing(plan: &Plan, analysis: &Analysis, run: Option<&str>) -> String {
    let of = |is_missing: fn(&known::KnownTask) -> bool| -> String {
        let tasks = analysis.incomplete().filter(|task| is_missing(&analysis.known.tasks[task.0]));
        tasks.map(|task| name(plan, task)).collect::<Vec<_>>().join(", ")
    };
    let (executions, intervals) = (of(|input| input.execution.is_none()), of(|input| input.pattern.is_none()));
    if executions.is_empty() && intervals.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    for (what, key, clocks) in
        [("execution times", "execution_us", executions), ("shortest intervals", "min_interval_us", intervals)]
    {
        if !clocks.is_empty() {
            let _ = writeln!(out, "  unknown {what} ({key}): {clocks}");
        }
    }
    let _ = match run {
        None => writeln!(
            out,
            "  to know: run the rig once, then vecud check --measured with its output folder; or give these keys in the rig"
        ),
        Some(run) => writeln!(
            out,
            "  the run in {run} did not measure them: it has no such clock, or did not activate it, or only once; give these keys in the rig"
        ),
    };
    out
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// A duration in µs or ms, to the nanosecond.
pub fn duration(nanos: Nanos) -> String {
    match nanos.0 {
        ns if ns.abs() >= 1_000_000 => format!("{} ms", ns as f64 / 1e6),
        ns => format!("{} µs", ns as f64 / 1e3),
    }
}
