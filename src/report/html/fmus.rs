//! One section per FMU: how it ended, its preemption lock, its last words.

use super::clocks::numbers;
use super::escape;
use crate::report::format::{count, plural};
use crate::report::{FmuResult, FmuStatus, Run, status};

/// All FMUs.
pub fn fmus(run: &Run) -> String {
    if run.fmus.is_empty() {
        return String::new();
    }
    let fmus: String = run.fmus.iter().map(fmu).collect();
    format!("<section>\n<h2>FMUs</h2>\n<div class=\"cards\">\n{fmus}</div>\n</section>\n")
}

fn fmu(fmu: &FmuResult) -> String {
    let (class, sentence) = match fmu.status {
        FmuStatus::Terminated => ("good", "Ended in the regular way."),
        FmuStatus::Error => ("bad", "Returned fmi3Error or fmi3Discard and was freed without being terminated."),
        FmuStatus::Fatal => ("bad", "Returned fmi3Fatal; none of its functions was called again."),
        FmuStatus::Aborted => ("idle", "Did nothing wrong, but could not end in the regular way."),
        FmuStatus::Crashed => ("bad", "Its code crashed, exited or did not return."),
    };
    let word = status(fmu.status);
    let mut out =
        format!("<article class=\"card\">\n<h3>{}<em class=\"{class}\">{word}</em></h3>\n", escape(&fmu.name));
    out += &format!("<p class=\"lead\"><code>{}</code><br>{sentence}</p>\n", escape(&fmu.path));
    out += &lock(fmu);
    if !fmu.log.is_empty() {
        let lines: Vec<String> = fmu.log.iter().map(|line| escape(line)).collect();
        out += &format!("<h4>Last log messages</h4>\n<pre>{}</pre>\n", lines.join("\n"));
    }
    out + "</article>\n"
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
    format!("<h4>Preemption lock</h4>\n<p>{facts}.</p>\n{faults}{table}<p class=\"note\">{explanation}</p>\n")
}

fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        number => format!("{} times", count(number)),
    }
}
