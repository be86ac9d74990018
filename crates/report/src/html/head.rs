//! The top of the page: verdict, problems with advice, the fitness of the machine.

use super::machine::{bands, locked};
use super::page::{header, verdict};
use super::problems;
use crate::format::{plural, seconds};
use crate::markup::{escape, escape_with_code};
use crate::{End, Ended, Run, Scheduling, passed};
use vecud_base::plain::shell_word;
use vecud_plan::Mode;

/// Number of notes that are visible at once; the others are folded up.
const NOTES: usize = 6;
/// The most notes on the page.
const MOST: usize = 200;

/// Everything above the tables.
pub fn head(run: &Run) -> String {
    let mode = match run.mode {
        Mode::RealTime => "Real time",
        Mode::Virtual => "Virtual time",
    };
    let end = match run.end {
        _ if run.ended == Ended::Running => "goes on",
        _ if run.ended == Ended::CutOff => "was cut off",
        End::StopTime => "ended at its stop time",
        End::Overrun => "ended by an overrun",
        End::Signal => "stopped by a signal",
        End::Failure => "ended by a failure",
    };
    let span = format!("simulated {} to {}", seconds(run.start_time), seconds(run.end_time));
    let facts = [mode.to_owned(), span, format!("took {}", seconds(run.wall_seconds)), end.to_owned()];
    let mut leads = vec![facts.join(" · ")];
    if !run.started.is_empty() {
        leads[0] += &format!(" · started <time>{}</time>", escape(&run.started));
    }
    if !run.command.is_empty() {
        let words: Vec<String> = run.command.iter().map(|word| shell_word(word)).collect();
        leads.push(format!("<code>{}</code>", escape(&words.join(" "))));
    }
    let mut out = header("Run report", &run.rig, &leads);
    out += &outcome(run);
    // Hints on causes belong here: below the problems, above the machine's state.
    out += &readiness(run);
    out += &notes(run);
    out
}

fn outcome(run: &Run) -> String {
    let number = run.problems.len() as u64;
    let (class, mark, word) = match run.ended {
        Ended::Finished if passed(run) => ("pass", "✓", "Passed"),
        Ended::Finished => ("fail", "✕", "Failed"),
        Ended::Running => ("fail", "…", "Goes on"),
        Ended::CutOff => ("fail", "✕", "Cut off"),
    };
    let sentence = match (passed(run), number) {
        (true, 0) => "Nothing failed and no limit of the rig was exceeded.".to_owned(),
        (true, n) => format!("Nothing failed and no limit of the rig was exceeded; {} to look at.", plural(n, "thing")),
        (false, 0) => "The run ended by a failure.".to_owned(),
        (false, n) => format!("{}, most important first.", plural(n, "problem")),
    };
    verdict(class, mark, word, &sentence) + &problems::problems(run)
}

/// The reasons why a machine is not ready for real time.
fn obstacles(run: &Run) -> Vec<String> {
    let host = &run.host;
    let mut obstacles = Vec::new();
    if host.scheduling == Scheduling::Cooperative {
        let what = "partitions ran one after the other without real-time priorities, none could preempt another";
        obstacles.push(what.to_owned());
    }
    if host.is_limited() {
        obstacles.push(format!("partitions had real-time priorities {}", bands(host)));
    }
    if !host.preempt_rt {
        obstacles.push("the kernel is not a PREEMPT_RT one".to_owned());
    }
    if !host.memory_locked {
        obstacles.push(match host.memory_locked_bytes {
            0 => "memory was not locked".to_owned(),
            _ => format!("memory was locked only in part, {}", locked(host)),
        });
    }
    obstacles
}

fn readiness(run: &Run) -> String {
    let obstacles = obstacles(run);
    if run.mode == Mode::Virtual || obstacles.is_empty() {
        return String::new();
    }
    format!(
        "<section class=\"callout\"><p><b>The figures below are of a machine that is not real-time ready:</b> {}. \
         They show what this machine did, not what a prepared one can do.</p></section>\n",
        obstacles.join("; ")
    )
}

fn notes(run: &Run) -> String {
    let mut notes: Vec<String> = run.notes.iter().map(|note| escape_with_code(note)).collect();
    if run.samples_dropped > 0 {
        let samples = plural(run.samples_dropped, "sample");
        notes.push(format!("{samples} of the recorded signals could not be kept: the recording has gaps."));
    }
    if run.log_dropped > 0 {
        notes.push(format!("{} could not be kept.", plural(run.log_dropped, "log message")));
    }
    let shown = &notes[..notes.len().min(MOST)];
    let (first, others) = shown.split_at(shown.len().min(NOTES));
    let mut folded = String::new();
    if !others.is_empty() {
        let items: String = others.iter().map(|note| format!("<li>{note}</li>\n")).collect();
        let mut body = format!("<ul>\n{items}</ul>\n");
        if notes.len() > MOST {
            let all = super::page::file("report.json");
            body += &format!("<p class=\"note\">The first {MOST} are listed here; {all} has all.</p>\n");
        }
        folded = super::page::fold(&plural((notes.len() - NOTES) as u64, "further note"), &body, false);
    }
    super::page::notes("Worth knowing", first, &folded)
}
