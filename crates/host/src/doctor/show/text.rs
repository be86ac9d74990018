//! For people: what was measured, problems, advice, and in short what is as it should be.

use super::counts::number;
use crate::doctor::against::{Change, Changes};
use crate::doctor::rules::{named, verdict};
use crate::doctor::{Action, Case, Finding, Fix, Level, Probe};
use vecud_base::plain::plain;
use vecud_report::format::{count, duration, plural};

/// The screen of the text.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    /// Characters per line.
    pub columns: usize,
    /// Whether escape codes for colours may be used.
    pub color: bool,
}

/// Longer lines are hard to read, however wide the screen is.
const WIDEST: usize = 110;
/// The table of the probe needs this.
const NARROWEST: usize = 32;
/// Width of the text before `why` and `fix`, and their indentation.
const INDENT: usize = 10;
/// Number of commands that are shown of one fix; the script has all.
const COMMANDS: usize = 4;

/// The whole page; each line ends in a line feed.
pub fn text(case: &Case, findings: &[Finding], against: Option<&Changes>, page: TextStyle) -> String {
    let page = TextStyle { columns: page.columns.clamp(NARROWEST, WIDEST), ..page };
    let mut lines = head(case, page);
    if let Some(probe) = &case.probe {
        lines.push(String::new());
        lines.extend(table(probe, page));
    }
    if let Some(comparison) = against {
        lines.push(String::new());
        lines.extend(compared(comparison, case, page));
    }
    for finding in findings.iter().filter(|finding| finding.level != Level::Ok) {
        lines.push(String::new());
        lines.extend(one(finding, page));
    }
    let fine: Vec<&Finding> = findings.iter().filter(|finding| finding.level == Level::Ok).collect();
    if !fine.is_empty() {
        lines.push(String::new());
        lines.extend(labelled("fine", GREEN, &fine_text(&fine), page));
    }
    lines.push(String::new());
    lines.extend(end(case, findings, page));
    lines.join("\n") + "\n"
}

fn head(case: &Case, page: TextStyle) -> Vec<String> {
    let (facts, target) = (&case.facts, &case.target);
    let whose = target.rig.as_deref().map_or("vecud's defaults".to_owned(), plain);
    let (low, high) = target.band;
    let first = format!("{whose}: {}, SCHED_FIFO {low} to {high}", named(&target.cpus));
    let model = facts.processor.model.as_deref().map_or("unknown processor".to_owned(), plain);
    let number = match facts.cores.online.len() {
        0 => "cores not known".to_owned(),
        cores => plural(cores as u64, "core"),
    };
    let release = plain(&facts.kernel.release);
    let rt = if facts.kernel.preempt_rt { " PREEMPT_RT" } else { "" };
    let mut lines: Vec<String> = wrapped(&first, page.columns).iter().map(|line| BOLD.on(line, page)).collect();
    lines.extend(wrapped(format!("Linux {release}{rt}, {model}, {number}").replace(" ,", ",").as_str(), page.columns));
    lines
}

/// The probe: a line per core. A narrow screen gets a short one.
fn table(probe: &Probe, page: TextStyle) -> Vec<String> {
    let cut = if probe.cut_short { ", ended early" } else { "" };
    let title = format!("Wake-up latency, every ms for {:.1} s on all these cores at once{cut}", probe.seconds);
    let mut lines: Vec<String> = wrapped(&title, page.columns);
    // Faults and preemptions are findings as well, so a screen that is not wide enough does without.
    let row = |cells: [&str; 9]| {
        let [cpu, policy, times, min, p50, p99, max, faults, preempted] = cells;
        let most = format!("{cpu:>4}  {policy:<8} {times:>10} {min:>8} {p50:>8} {p99:>8} {max:>8}");
        match page.columns {
            96.. => format!("{most} {faults:>7} {preempted:>9}"),
            78.. => most,
            _ => format!("{cpu:>4} {p50:>8} {p99:>8} {max:>8}"),
        }
    };
    let title = row(["core", "policy", "wake-ups", "min", "p50", "p99", "max", "faults", "preempted"]);
    lines.push(DIM.on(title.trim_end(), page));
    for core in &probe.cores {
        let latency = &core.latency;
        let time = |nanos: u64| if latency.count() == 0 { "–".to_owned() } else { duration(nanos) };
        let policy = core.priority.map_or("ordinary".to_owned(), |priority| format!("FIFO {priority}"));
        let cells = row([
            &core.cpu.to_string(),
            &policy,
            &count(latency.count()),
            &time(latency.min()),
            &time(latency.quantile(0.5)),
            &time(latency.quantile(0.99)),
            &time(latency.max()),
            &count(core.faults),
            &count(core.preempted),
        ]);
        let (level, word) = verdict(core);
        let room = page.columns.saturating_sub(cells.chars().count() + 2);
        let word = if word.chars().count() > room { "" } else { word };
        lines.push(format!("{cells}  {}", style(level).on(word, page)).trim_end().to_owned());
    }
    lines
}

/// The differences from a saved answer: a line for each figure of a core, short enough for every screen.
fn compared(comparison: &Changes, case: &Case, page: TextStyle) -> Vec<String> {
    let (saved, facts) = (&comparison.saved, &case.facts);
    let mut title = format!("Against {}", plain(&comparison.file));
    if saved.machine.kernel != plain(&facts.kernel.release) {
        title += &format!(", of Linux {}", plain(&saved.machine.kernel));
    }
    if saved.machine.cpu_model != facts.processor.model.as_deref().map(plain) {
        title += ", of another processor";
    }
    if let Some(probe) = &saved.probe {
        title += &format!(" ({:.1} s)", probe.seconds);
    }
    let mut lines = wrapped(&title, page.columns);
    for core in &comparison.cores {
        for figure in &core.figures {
            let style = match figure.change {
                Change::Better => GREEN,
                Change::Worse => style(Level::Problem),
                Change::NoDifference | Change::Unknown => DIM,
            };
            let (then, now) = (duration(figure.then), duration(figure.now));
            let cells = format!("{:>3} {} {then:>8} {now:>8}", core.cpu, figure.name);
            let word = figure.change.word();
            // The narrowest screen has room for six letters.
            let room = page.columns.saturating_sub(cells.chars().count() + 1);
            let word = if word.chars().count() > room { word.split(' ').next().unwrap_or_default() } else { word };
            lines.push(format!("{cells} {}", style.on(word, page)));
        }
    }
    if comparison.cores.is_empty() {
        lines.extend(wrapped("No core was measured both times.", page.columns));
    }
    for (label, found) in [("gone", &comparison.gone), ("new", &comparison.new)] {
        if !found.is_empty() {
            lines.extend(labelled(
                label,
                if label == "gone" { GREEN } else { style(Level::Problem) },
                &found.join("; "),
                page,
            ));
        }
    }
    lines
}

fn one(finding: &Finding, page: TextStyle) -> Vec<String> {
    let cpu = finding.cpu.map_or(String::new(), |cpu| format!("core {cpu}: "));
    let word = if finding.level == Level::Problem { "PROBLEM" } else { "advice" };
    let mut lines = labelled(word, style(finding.level), &format!("{cpu}{}", finding.found), page);
    lines.extend(labelled("    why", DIM, &finding.why, page));
    if let Some(fix) = &finding.fix {
        let mut label = "    fix";
        for (style, line) in fix_lines(fix) {
            lines.extend(styled(label, DIM, &line, style, page));
            label = "";
        }
    }
    lines
}

/// The commands of a fix, the file that makes them last, and its notes.
fn fix_lines(fix: &Fix) -> Vec<(Style, String)> {
    let commands = fix.now.iter().take(COMMANDS).map(|action| (BOLD, plain(&Action::command(action))));
    let mut lines: Vec<(Style, String)> = commands.collect();
    let mut say = |line: String| lines.push((PLAIN, line));
    if fix.now.len() > COMMANDS {
        say(format!("... and {} more: vecud doctor --fix", fix.now.len() - COMMANDS));
    }
    if !fix.words.is_empty() {
        say(fix.words.clone());
    }
    if let Some(file) = fix.file {
        say(if fix.now.is_empty() { format!("file: {file}") } else { format!("lasting: {file}") });
    }
    lines
}

fn fine_text(fine: &[&Finding]) -> String {
    let say = |finding: &&Finding| match finding.cpu {
        Some(cpu) => format!("core {cpu}: {}", finding.found),
        None => finding.found.clone(),
    };
    fine.iter().map(say).collect::<Vec<_>>().join("; ")
}

fn end(case: &Case, findings: &[Finding], page: TextStyle) -> Vec<String> {
    let (problems, advice) = (number(findings, Level::Problem), number(findings, Level::Advice));
    let verdict = match (problems, advice) {
        (0, 0) => "fit for real time: nothing to change".to_owned(),
        (0, _) => format!("fit for real time, with {}", pieces(advice)),
        (_, 0) => format!("not fit for real time: {}", plural(problems, "problem")),
        _ => format!("not fit for real time: {}, {}", plural(problems, "problem"), pieces(advice)),
    };
    let color = if problems > 0 { RED } else { GREEN };
    let mut lines: Vec<String> = wrapped(&verdict, page.columns).iter().map(|line| color.on(line, page)).collect();
    if case.probe.is_none() {
        lines.extend(wrapped("not measured (--seconds 0)", page.columns));
    }
    if problems + advice > 0 {
        let rig = if case.target.rig.is_some() { " RIG.toml" } else { "" };
        let how = format!("Commands are root's. All of them as a script: vecud doctor{rig} --fix");
        lines.extend(wrapped(&how, page.columns));
        let fixes =
            findings.iter().filter(|finding| finding.level != Level::Ok).filter_map(|finding| finding.fix.as_ref());
        if fixes.filter_map(|fix| fix.file).next().is_some() {
            lines.extend(wrapped("The files that are named: vecud doctor --files DIR", page.columns));
        }
    }
    lines
}

fn pieces(advice: u64) -> String {
    plural(advice, "piece") + " of advice"
}

/// Text beside a label, all of its lines moved in by as much.
fn labelled(label: &str, color: Style, text: &str, page: TextStyle) -> Vec<String> {
    styled(label, color, text, PLAIN, page)
}

fn styled(label: &str, color: Style, text: &str, style: Style, page: TextStyle) -> Vec<String> {
    let lines = wrapped(text, page.columns - INDENT);
    let lines = lines.iter().enumerate().map(|(index, line)| {
        let label = if index == 0 { label } else { "" };
        let gap = " ".repeat(INDENT - label.chars().count().min(INDENT));
        format!("{}{gap}{}", color.on(label, page), style.on(line, page))
    });
    lines.collect()
}

/// Lines of at most `width` characters, broken between words; a longer word stands alone and is cut if necessary.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        let line = lines.last_mut().expect("there is always one");
        let room = width.saturating_sub(line.chars().count() + usize::from(!line.is_empty()));
        if word.len() <= room {
            if !line.is_empty() {
                line.push(' ');
            }
            line.extend(word);
            continue;
        }
        if line.is_empty() {
            lines.pop();
        }
        while word.len() > width {
            let rest = word.split_off(width);
            lines.push(word.into_iter().collect());
            word = rest;
        }
        lines.push(word.into_iter().collect());
    }
    lines
}

/// An escape code.
#[derive(Clone, Copy)]
struct Style(&'static str);

const PLAIN: Style = Style("");
const BOLD: Style = Style("1");
const DIM: Style = Style("2");
const RED: Style = Style("31");
const GREEN: Style = Style("32");
const YELLOW: Style = Style("33");

fn style(level: Level) -> Style {
    match level {
        Level::Problem => RED,
        Level::Advice => YELLOW,
        Level::Ok => GREEN,
    }
}

impl Style {
    fn on(self, text: &str, page: TextStyle) -> String {
        match page.color && !text.is_empty() && !self.0.is_empty() {
            // What moves a label in stays plain.
            true => {
                let inside = text.trim_start();
                format!("{}\x1b[{}m{inside}\x1b[0m", &text[..text.len() - inside.len()], self.0)
            }
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_break_between_words_where_they_can() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a abcdefghij b", 4), ["a", "abcd", "efgh", "ij b"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("abcd", 4), ["abcd"]);
    }
}
