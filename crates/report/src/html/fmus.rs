//! A page per FMU: how it ended, its clocks, its latencies, its preemption lock, the calls of its functions, what it did against
//! the standard, its last words.

use super::clocks::{details, numbers, tables};
use super::figure::figure;
use super::histogram::histogram;
use super::names::breakable;
use super::over_time::{Course, over_time};
use super::page::anchor;
use super::percentiles::percentiles;
use super::selection::Selection;
use super::{calls, parts, spread};
use crate::chart::{COLOURS, Frame};
use crate::format::{count, plural};
use crate::markup::{escape, escape_with_code};
use crate::words::Word;
use crate::{ClockResult, FmuResult, FmuStatus, Run};
use vecud_plan::Mode;

/// Lines in the figures of all FMUs together: a page of a hundred FMUs has fewer in each.
const LINES: usize = 300;

/// All FMUs.
pub fn fmus(run: &Run) -> String {
    let lines = (LINES / run.fmus.len().max(1)).clamp(3, COLOURS);
    run.fmus.iter().enumerate().map(|(index, fmu)| page(run, index, fmu, lines)).collect()
}

fn page(run: &Run, index: usize, fmu: &FmuResult, lines: usize) -> String {
    let clocks: Vec<&ClockResult> = run.clocks.iter().filter(|clock| clock.fmu == fmu.name).collect();
    let mut out = format!("<section class=\"fmu-page\" id=\"{}\">\n", anchor(index));
    out += &heading(fmu);
    // What belongs to one FMU, a line each: hints first, then figures, then tables.
    out += &findings(fmu);
    out += &figures(run, &clocks, lines);
    out += &parts::section(run, &clocks, lines * 3);
    out += &tables(run, &clocks);
    out += &lock(fmu);
    out += &calls::table(fmu);
    out += &log(fmu);
    out += &details(run, &clocks);
    out + "<p class=\"back\"><a href=\"#top\">back to the top</a></p>\n</section>\n"
}

fn heading(fmu: &FmuResult) -> String {
    let (class, sentence) = match fmu.status {
        FmuStatus::Terminated => ("good", "Ended in the regular way."),
        FmuStatus::Error => ("bad", "Answered a call with Error or Discard and was freed without being terminated."),
        FmuStatus::Fatal => ("bad", "Answered a call with Fatal; none of its functions was called again."),
        FmuStatus::Aborted => ("idle", "Did nothing wrong, but could not end in the regular way."),
        FmuStatus::Crashed => ("bad", "Its code crashed or exited."),
        FmuStatus::Hung => ("bad", "Its code did not return in time."),
        FmuStatus::Running => ("idle", "Had not ended as far as is known."),
    };
    format!(
        "<h2><span class=\"eyebrow\">FMU</span> {}<em class=\"{class}\">{}</em></h2>\n<p><code>{}</code> · {sentence}</p>\n",
        breakable(&fmu.name),
        fmu.status.word(),
        escape(&fmu.path)
    )
}

fn findings(fmu: &FmuResult) -> String {
    if fmu.findings.is_empty() {
        return String::new();
    }
    let items: String =
        fmu.findings.iter().map(|finding| format!("<li>{}</li>\n", escape_with_code(&finding.message))).collect();
    format!(
        "<div class=\"callout against\"><h3>Findings</h3>\n<p>What this FMU did against the standard, or for longer than its clocks \
         allow.</p>\n<ul>\n{items}</ul></div>\n"
    )
}

/// Four figures, two by two.
fn figures(run: &Run, clocks: &[&ClockResult], lines: usize) -> String {
    let selection = Selection::of(run, clocks, lines);
    let series = selection.series(|clock| &clock.start_latency, |clock| clock.max_latency, false);
    if run.mode == Mode::Virtual || series.is_empty() {
        return String::new();
    }
    let note = || selection.note(|clock| &clock.start_latency);
    let mut steps = histogram(&series, Frame::MEDIUM.with_two_lines());
    steps.notes.extend(note());
    let mut out = figure(
        "Start latency, histogram",
        "How late activations began (to the right) and how often (upwards, ten times more per grid line). The right end of \
         each line is the worst case; red dashes are limits of the rig.",
        &steps,
        &series,
    );
    out += &figure(
        "Start latency, percentiles",
        "How rare a start latency is: above 99.9 %, one activation in 1,000 began later than the line says. A line that stays \
         flat to the right end has no outliers.",
        &percentiles(&series, Frame::MEDIUM.with_two_lines()),
        &series,
    );
    let timed = selection.retain(|clock| clock.over_time.is_some());
    let series = timed.series(|clock| &clock.start_latency, |clock| clock.max_latency, false);
    if !series.is_empty() {
        let own = timed.clocks.iter().filter(|(clock, _)| clock.start_latency.count() > 0);
        let courses: Vec<Course> =
            own.filter_map(|(clock, _)| clock.over_time.as_ref()).map(Course::of_start_latency).collect();
        out += &figure(
            "Start latency, over time",
            "The longest of each interval since the run began; in a long run a needle is the instant at which it came, and the line \
             the longest of the rest. A single peak was one event, a comb is something periodic, a slope does not recover.",
            &over_time(&series, &courses, Frame::MEDIUM),
            &series,
        );
    }
    let clocks: Vec<&ClockResult> = selection.clocks.iter().map(|(clock, _)| *clock).collect();
    out += &spread::spread(&clocks, selection.note(|clock| &clock.response));
    format!("<div class=\"quad\">\n{out}</div>\n")
}

fn log(fmu: &FmuResult) -> String {
    if fmu.log.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = fmu.log.iter().map(|line| escape(line)).collect();
    let (name, lines) = (super::page::file("run.log"), lines.join("\n"));
    format!("<h4>Last log messages</h4>\n<p>All of them are in {name}.</p>\n<pre>{lines}</pre>\n")
}

fn lock(fmu: &FmuResult) -> String {
    let lock = &fmu.lock;
    if lock.acquisitions + lock.leaked + lock.unbalanced == 0 {
        return "<h4>Preemption lock</h4>\n<p class=\"note\">Never taken.</p>\n".to_owned();
    }
    let mut facts = vec![format!("Taken {}", times(lock.acquisitions))];
    if lock.nested > 0 {
        facts.push(format!("taken again by its owner {} (allowed)", times(lock.nested)));
    }
    let mut faults = Vec::new();
    if lock.leaked > 0 {
        faults.push(format!("still held when a partition returned {}", times(lock.leaked)));
    }
    if lock.unbalanced > 0 {
        faults.push(format!("unlocked without having been locked {}", times(lock.unbalanced)));
    }
    let faults = match faults.is_empty() {
        true => String::new(),
        false => format!("<p class=\"fault\">Violations: {}.</p>\n", faults.join("; ")),
    };
    let table = numbers(&[("Held", &lock.hold), ("Waited for", &lock.wait)]);
    let explanation = match lock.wait.count() {
        0 => "Times in µs. Nobody ever had to wait for it.".to_owned(),
        n => format!("Times in µs. Waiting counts only when somebody else had it: {}.", plural(n, "time")),
    };
    let facts = facts.join("; ");
    format!(
        "<h4>Preemption lock</h4>\n<p>{facts}. As long as it is held, no other partition of this FMU runs.</p>\n\
         {faults}{table}<p class=\"note\">{explanation}</p>\n"
    )
}

fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        number => format!("{} times", count(number)),
    }
}
