//! The problems, most important first: each with advice, and a link to its figures on the page.

use super::names::breakable;
use super::page::{anchor, fold};
use crate::format::plural;
use crate::markup::escape_with_code;
use crate::{Problem, Run, Severity, Topic};
use vecud_base::plain::plain_lines;

/// Number of problems that are visible at once; the others are folded up.
const SHOWN: usize = 12;
/// The most problems on the page.
const MOST: usize = 200;

/// The list; nothing when all is well.
pub fn problems(run: &Run) -> String {
    // What to do is said once for all problems of a kind.
    let mut said: Vec<&str> = Vec::new();
    let mut items = Vec::new();
    for problem in run.problems.iter().take(MOST) {
        let advice = advice(problem).filter(|advice| !said.contains(advice));
        said.extend(advice);
        items.push(item(run, problem, advice));
    }
    let (first, others) = items.split_at(items.len().min(SHOWN));
    if first.is_empty() {
        return String::new();
    }
    let mut out = format!("<ol class=\"problems\">\n{}</ol>\n", first.concat());
    if !others.is_empty() {
        let all = run.problems.len() - SHOWN;
        let mut body = format!("<ol class=\"problems\">\n{}</ol>\n", others.concat());
        if run.problems.len() > MOST {
            body += &format!("<p class=\"note\">The first {MOST} are listed here; report.json has all.</p>\n");
        }
        out += &fold(&plural(all as u64, "further problem"), &body, false);
    }
    out
}

fn item(run: &Run, problem: &Problem, advice: Option<&str>) -> String {
    let (class, word) = match problem.severity {
        Severity::Failure => ("failure", "failure"),
        Severity::Limit => ("limit-exceeded", "limit exceeded"),
        Severity::Finding => ("warning", "finding"),
        Severity::Warning => ("warning", "warning"),
    };
    let message = plain_lines(&problem.message()).map(|line| escape_with_code(&line)).collect::<Vec<_>>().join("<br>");
    let advice = advice.map(|what| format!("<small>{what}</small>")).unwrap_or_default();
    format!(
        "<li class=\"{class}\"><b>{word}</b><div><span>{message}</span>{advice}{}</div></li>\n",
        place(run, problem)
    )
}

/// A link to the subject of the problem.
fn place(run: &Run, problem: &Problem) -> String {
    let name = problem.subject.fmu().unwrap_or_default();
    match run.fmus.iter().position(|fmu| fmu.name == name) {
        Some(index) => {
            format!("<a class=\"where\" href=\"#{}\">to the figures of {}</a>", anchor(index), breakable(name))
        }
        None => String::new(),
    }
}

/// Advice, if the problem's message has none. HTML.
fn advice(problem: &Problem) -> Option<&'static str> {
    match problem.kind.topic() {
        Topic::LatencyLimit => Some(
            "Compare the clock’s wake-up with its start latency. A late wake-up is the machine’s: see Machine. A late start \
             after a punctual wake-up has waited for more urgent partitions or for the preemption lock.",
        ),
        Topic::ExecutionLimit => {
            Some("The FMU’s code took that long by itself: make the partition shorter, or raise the limit.")
        }
        Topic::OverrunLimit | Topic::Overruns => Some(
            "Its response is longer than its interval. Look at “Where the time went” of its FMU: a long execution needs \
             another interval or a faster core; a response much longer than the execution has waited for others on the \
             same core, or for the machine.",
        ),
        Topic::FmuCode => {
            Some("The FMU’s code did it, not the host: run.log has what it printed, trace.json what ran last.")
        }
        Topic::Offence | Topic::Other if problem.severity == Severity::Finding => Some(
            "The standard forbids it: tell whoever makes the FMU. With <code>vecud run --strict</code> it fails the run.",
        ),
        Topic::Offence | Topic::Other => None,
    }
}
