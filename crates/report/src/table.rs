//! The table on the terminal: while a run lasts, and at its end.
//!
//! Text only; the caller moves the cursor. No line is longer than the screen is wide and [`live`] gives no more lines
//! than fit, so that the caller can go up by as many lines as it printed. Escape codes are used only when asked for, and
//! none comes through from a name.

use super::ellipsis::cut;
use super::format::{count, duration, plural, seconds};
use super::values::{self, LiveValue};
use super::{ClockResult, Ended, Run, Scheduling, Severity, passed};
use vecud_base::plain::{plain, plain_lines};
use vecud_plan::Mode;
use vecud_record::histogram::Histogram;

/// The screen of the table.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Characters per line.
    pub columns: usize,
    /// Lines that [`live`] may use.
    pub lines: usize,
    /// Whether escape codes for colours may be used.
    pub color: bool,
}

/// State of a running run.
#[derive(Clone, Debug)]
pub struct Live {
    /// Name of the rig.
    pub rig: String,
    /// Simulation time since the start, s.
    pub elapsed: f64,
    /// The length of the run, s, when it has one.
    pub stop: Option<f64>,
    /// The scheduling of threads.
    pub scheduling: Scheduling,
    /// The kernel is a PREEMPT_RT one.
    pub preempt_rt: bool,
    /// The clocks, in the order of the plan.
    pub clocks: Vec<LiveRow>,
    /// Values that are watched: only those that are reported have them.
    pub values: Vec<LiveValue>,
}

/// The row of one clock.
#[derive(Clone, Debug)]
pub struct LiveRow {
    /// `<fmu>.<clock>`.
    pub name: String,
    /// Activations that ran.
    pub activations: u64,
    /// See semantics S12.
    pub overruns: u64,
    /// Wake-up latency.
    pub wakeup: Histogram,
    /// Start latency.
    pub start: Histogram,
    /// Execution.
    pub execution: Histogram,
    /// Response.
    pub response: Histogram,
    /// An activation that has not returned for a while.
    pub under_way: Option<LiveActivation>,
}

impl LiveRow {
    /// The row of a clock of a run that is over. In virtual time nothing is late.
    fn of(clock: &ClockResult, mode: Mode) -> LiveRow {
        let real = |own: &Histogram| if mode == Mode::Virtual { Histogram::default() } else { own.clone() };
        LiveRow {
            name: format!("{}.{}", clock.fmu, clock.clock),
            activations: clock.activations,
            overruns: clock.overruns,
            wakeup: real(&clock.wakeup_latency),
            start: real(&clock.start_latency),
            execution: Histogram::clone(&clock.execution),
            response: real(&clock.response),
            under_way: None,
        }
    }
}

/// An activation that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveActivation {
    /// Since its first FMI call, ns; in virtual time since it was seen first.
    pub running: u64,
    /// A more urgent partition of the rig has its core, and has not returned either.
    pub held_up: bool,
}

impl LiveActivation {
    /// `running for 8.6 s`.
    fn words(self) -> String {
        let what = if self.held_up { "held up" } else { "running" };
        format!("{what} for {:.1} s", self.running as f64 / 1e9)
    }
}

/// The table of a run that goes on: each line ends in a line feed, the rows are shown in the order given and the last
/// ones are left out when the screen is too low.
pub fn live(live: &Live, screen: Screen) -> String {
    let rows = live.clocks.as_slice();
    let time = match live.stop {
        Some(stop) => format!("{:.1} s of {}", live.elapsed, seconds(stop)),
        None => format!("{:.1} s", live.elapsed),
    };
    let (scheduling, style) = scheduling(live.scheduling, live.preempt_rt);
    let rig = plain(&live.rig);
    let wanted = rig.chars().count() + time.len() + scheduling.chars().count() + 6;
    let mut lines = vec![match wanted <= screen.columns {
        true => format!("{}   {time}   {}", BOLD.on(&rig, screen), style.on(scheduling, screen)),
        false => BOLD.on(&cut(&format!("{time}   {rig}"), screen.columns), screen),
    }];
    let fit = screen.lines.saturating_sub(3);
    let values = values::lines(&live.values, screen.columns, values::room(fit, rows.len()));
    let fit = fit - values.len();
    let shown = if rows.len() > fit { fit.saturating_sub(1) } else { rows.len() };
    lines.extend(table(&rows[..shown], rows, screen));
    if shown < rows.len() {
        let mut rest = plural((rows.len() - shown) as u64, "more clock");
        // What hangs is seen on every screen.
        let hidden = rows[shown..].iter().filter_map(|row| row.under_way).max_by_key(|own| (!own.held_up, own.running));
        hidden.into_iter().for_each(|own| rest += &format!(", one {}", own.words()));
        lines.push(DIM.on(&cut(&format!("… {rest}"), screen.columns), screen));
    }
    lines.extend(values);
    lines.truncate(screen.lines.max(1));
    lines.join("\n") + "\n"
}

/// The text at the end of a run: the table, problems, and the path of the report. Warnings and notes among `told`,
/// lines that the user has just seen, are shortened to a reminder or omitted.
pub fn summary(run: &Run, report: &str, screen: Screen, told: &[String]) -> String {
    let is_told = |line: String| told.contains(&line);
    let rows: Vec<LiveRow> = run.clocks.iter().map(|clock| LiveRow::of(clock, run.mode)).collect();
    let mut lines = Vec::new();
    if !rows.is_empty() {
        lines.extend(table(&rows, &rows, screen));
        lines.push(String::new());
    }
    let events = lines.len();
    lines.extend(super::datagrams::lines(run).chain(super::steps::lines(run)).map(|line| plain(&line)));
    if lines.len() > events {
        lines.push(String::new());
    }
    for problem in &run.problems {
        let (style, word) = match problem.severity {
            Severity::Failure => (RED, "failure"),
            Severity::Limit => (RED, "limit exceeded"),
            Severity::Finding => (YELLOW, "finding"),
            Severity::Warning => (YELLOW, "warning"),
        };
        let message = problem.message();
        let message = match message.split_once(':') {
            Some((head, _)) if is_told(format!("vecud: warning: {message}")) => {
                format!("{head} (as told at the start)")
            }
            _ => message,
        };
        // Words of an FMU cannot look like a line of ours: what goes on is indented.
        let message = plain_lines(&message).collect::<Vec<_>>().join("\n    ");
        lines.push(format!("{}: {message}", style.on(word, screen)));
    }
    let notes = run.notes.iter().map(|note| plain(note)).filter(|note| !is_told(format!("note: {note}")));
    lines.extend(notes.map(|note| format!("{}: {note}", DIM.on("note", screen))));
    let span = seconds(run.end_time - run.start_time);
    let took = seconds(run.wall_seconds);
    let (style, verdict) = match run.ended {
        Ended::Finished if passed(run) => (GREEN, "passed"),
        Ended::Finished => (RED, "failed"),
        Ended::Running => (YELLOW, "goes on"),
        Ended::CutOff => (RED, "was cut off"),
    };
    let (scheduling, _) = scheduling(run.host.scheduling, run.host.preempt_rt);
    let limited = if run.host.is_limited() { ", LIMITED PRIORITIES" } else { "" };
    let rig = plain(&run.rig);
    lines.push(format!("{} {}: {span} simulated in {took}, {scheduling}{limited}", rig, style.on(verdict, screen)));
    lines.push(format!("report: {}", plain(report)));
    lines.join("\n") + "\n"
}

fn scheduling(scheduling: Scheduling, preempt_rt: bool) -> (&'static str, Style) {
    match (scheduling, preempt_rt) {
        (Scheduling::Fifo, true) => ("SCHED_FIFO, PREEMPT_RT kernel", GREEN),
        (Scheduling::Fifo, false) => ("SCHED_FIFO, but no PREEMPT_RT kernel", YELLOW),
        (Scheduling::Cooperative, _) => ("cooperative: no real-time privileges", YELLOW),
        (Scheduling::Virtual, _) => ("virtual time", DIM),
    }
}

/// A column after the name.
struct Column {
    title: &'static str,
    width: usize,
    /// Index of its group in [`GROUPS`].
    group: usize,
    /// Order in which columns are left out on a narrow screen: largest first, 0 never.
    rank: u8,
    cell: fn(&LiveRow) -> String,
}

const fn column(group: usize, title: &'static str, width: usize, rank: u8, cell: fn(&LiveRow) -> String) -> Column {
    Column { title, width, group, rank, cell }
}

/// Titles over columns, the longest first: the first one that fits is shown.
const GROUPS: [&[&str]; 5] =
    [&[], &["wake-up latency", "wake-up"], &["start latency", "start"], &["execution", "exec"], &["response"]];

const COLUMNS: [Column; 14] = [
    column(0, "activations", 12, 0, |row| count(row.activations)),
    column(0, "overruns", 9, 0, |row| count(row.overruns)),
    column(1, "p50", 9, 3, |row| quantile(&row.wakeup, 0.5)),
    column(1, "p99", 8, 2, |row| quantile(&row.wakeup, 0.99)),
    column(1, "p99.9", 8, 5, |row| quantile(&row.wakeup, 0.999)),
    column(1, "max", 8, 0, |row| longest(&row.wakeup)),
    column(2, "p50", 9, 7, |row| quantile(&row.start, 0.5)),
    column(2, "p99", 8, 7, |row| quantile(&row.start, 0.99)),
    column(2, "max", 8, 7, |row| longest(&row.start)),
    column(3, "p50", 9, 4, |row| quantile(&row.execution, 0.5)),
    column(3, "max", 8, 1, |row| longest(&row.execution)),
    column(4, "p50", 9, 6, |row| quantile(&row.response, 0.5)),
    column(4, "p99", 8, 6, |row| quantile(&row.response, 0.99)),
    column(4, "max", 8, 6, |row| longest(&row.response)),
];

/// Columns of this rank and beyond are for screens of more than [`WIDE`] characters, and only where no name is cut for them.
const EXTRA: u8 = 5;
const WIDE: usize = 120;
const SHORTEST_NAME: usize = 14;

fn quantile(histogram: &Histogram, share: f64) -> String {
    if histogram.count() == 0 { "–".to_owned() } else { duration(histogram.quantile(share)) }
}

fn longest(histogram: &Histogram) -> String {
    if histogram.count() == 0 { "–".to_owned() } else { duration(histogram.max()) }
}

/// Two lines of header and a line per row. Widths are those that suit `all` rows.
fn table(rows: &[LiveRow], all: &[LiveRow], screen: Screen) -> Vec<String> {
    let longest = all.iter().map(|row| plain(&row.name).chars().count()).max().unwrap_or(0).max(5);
    // Columns of this rank and beyond are left out.
    let mut omitted = if screen.columns > WIDE { u8::MAX } else { EXTRA };
    let width = |omitted: u8| -> usize { COLUMNS.iter().filter(|c| c.rank < omitted).map(|c| c.width).sum() };
    let name = |omitted: u8| if omitted > EXTRA { longest } else { longest.min(SHORTEST_NAME) };
    while omitted > 1 && name(omitted) + width(omitted) > screen.columns {
        omitted = COLUMNS.iter().map(|column| column.rank).filter(|&rank| rank < omitted).max().unwrap_or(0);
    }
    let name_width = longest.min(screen.columns.saturating_sub(width(omitted)));
    let kept: Vec<&Column> = COLUMNS.iter().filter(|column| column.rank < omitted).collect();

    let mut groups = format!("{:name_width$}", "");
    for (group, titles) in GROUPS.iter().enumerate() {
        let width: usize = kept.iter().filter(|column| column.group == group).map(|column| column.width).sum();
        let title = titles.iter().find(|title| title.len() < width).unwrap_or(&"");
        groups += &format!("{title:>width$}");
    }
    let mut titles = format!("{:name_width$}", cut("clock", name_width));
    for Column { title, width, .. } in &kept {
        titles += &format!("{title:>width$}");
    }
    let mut lines =
        vec![DIM.on(&cut(groups.trim_end(), screen.columns), screen), DIM.on(&cut(&titles, screen.columns), screen)];
    for row in rows {
        // On a screen that is too narrow for even these columns a cell is cut off, and colours are not worth it.
        let screen = Screen { color: screen.color && width(omitted) <= screen.columns, ..screen };
        let mut line = format!("{:name_width$}", cut(&plain(&row.name), name_width));
        let mark = row.under_way.map(LiveActivation::words);
        let (until, room) = mark.as_ref().map_or((kept.len(), 0), |mark| place_of(mark, &kept));
        for Column { title, width, cell, .. } in &kept[..until] {
            let cell = format!("{:>width$}", cell(row));
            line += &if *title == "overruns" && row.overruns > 0 { RED.on(&cell, screen) } else { cell };
        }
        if let Some(mark) = mark {
            // One blank before it stays, and where there is little room the time does.
            let room = room.saturating_sub(1);
            let short = mark.rsplit(" for ").next().unwrap_or_default();
            let mark = if mark.chars().count() > room { cut(short, room) } else { mark };
            let mark = format!(" {mark:>room$}");
            line += &RED.on(&mark, screen);
        }
        lines.push(if screen.color { line } else { cut(&line, screen.columns) });
    }
    lines
}

/// The place of a mark in a row: it replaces as many of the last columns as it needs, but never the counts. Returns the first of
/// these columns, and their width together.
fn place_of(mark: &str, kept: &[&Column]) -> (usize, usize) {
    let wanted = mark.chars().count() + 1;
    let (mut first, mut room) = (kept.len(), 0);
    while room < wanted && first > 2 {
        first -= 1;
        room += kept[first].width;
    }
    (first, room)
}

/// An escape code.
#[derive(Clone, Copy)]
struct Style(&'static str);

const BOLD: Style = Style("1");
const DIM: Style = Style("2");
const RED: Style = Style("31");
const GREEN: Style = Style("32");
const YELLOW: Style = Style("33");

impl Style {
    fn on(self, text: &str, screen: Screen) -> String {
        if screen.color { format!("\x1b[{}m{text}\x1b[0m", self.0) } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Problem, sample};
    use super::*;

    const WIDE: Screen = Screen { columns: 120, lines: 40, color: false };

    fn rows() -> Vec<LiveRow> {
        sample(1).clocks.iter().map(|clock| LiveRow::of(clock, Mode::RealTime)).collect()
    }

    fn with(clocks: &[LiveRow]) -> Live {
        Live {
            rig: "engine".to_owned(),
            elapsed: 3.21,
            stop: Some(10.0),
            scheduling: Scheduling::Fifo,
            preempt_rt: true,
            clocks: clocks.to_vec(),
            values: Vec::new(),
        }
    }

    #[test]
    fn everything_is_there_when_there_is_room() {
        let text = live(&with(&rows()), WIDE);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "engine   3.2 s of 10 s   SCHED_FIFO, PREEMPT_RT kernel");
        assert!(lines[1].contains("wake-up latency") && lines[1].ends_with("execution"));
        assert_eq!(
            lines[2].split_whitespace().collect::<Vec<_>>().join(" "),
            "clock activations overruns p50 p99 max p50 max"
        );
        assert_eq!(lines.len(), 3 + 7);
        assert!(lines[3].starts_with("ecu.crank_isr") && lines[3].contains("7,000") && lines[3].contains("µs"));
    }

    #[test]
    fn a_wide_screen_shows_all_figures_and_cuts_no_name_for_them() {
        let wide = Screen { columns: 160, ..WIDE };
        let words = |text: &str, line: usize| -> String {
            text.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let text = live(&with(&rows()), wide);
        assert_eq!(words(&text, 1), "wake-up latency start latency execution response");
        let all = "clock activations overruns p50 p99 p99.9 max p50 p99 max p50 max p50 p99 max";
        assert_eq!(words(&text, 2), all);
        // Each title ends where its figures end.
        let ends = |line: &str, word: &str| line.find(word).map(|at| line[..at].chars().count() + word.chars().count());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(ends(lines[1], "response"), Some(lines[2].trim_end().chars().count()));
        let mut long = rows();
        long[0].name = "a_name_of_forty_characters_of_some_clock".to_owned();
        let text = live(&with(&long), wide);
        assert!(text.contains(&long[0].name), "{text}");
        assert_eq!(words(&text, 1), "wake-up latency execution response");
    }

    #[test]
    fn no_line_is_too_long_and_there_are_not_too_many() {
        let mut rows = rows();
        rows[1].name = "a_very_long_name".repeat(20);
        rows[0].overruns = 3;
        rows[2].under_way = Some(LiveActivation { running: 8_600_000_000, held_up: false });
        rows[6].under_way = Some(LiveActivation { running: 86_400_000_000_000, held_up: true });
        for columns in 0..200 {
            for lines in [1, 2, 3, 4, 5, 24] {
                for color in [false, true] {
                    let mut text = live(&with(&rows), Screen { columns, lines, color });
                    for code in ["0", "1", "2", "31", "32", "33"] {
                        text = text.replace(&format!("\x1b[{code}m"), "");
                    }
                    assert!(text.lines().count() <= lines, "{columns}×{lines}\n{text}");
                    assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}×{lines}\n{text}");
                }
            }
        }
    }

    #[test]
    fn a_low_screen_says_what_it_leaves_out() {
        let text = live(&with(&rows()), Screen { columns: 100, lines: 8, color: false });
        assert!(text.ends_with("… 3 more clocks\n"), "{text}");
    }

    /// Whatever the screen, and its counts stay; the other columns keep their places.
    #[test]
    fn an_activation_that_does_not_return_is_marked() {
        let mut rows = rows();
        rows[1].overruns = 8_600;
        rows[1].under_way = Some(LiveActivation { running: 8_612_345_678, held_up: false });
        rows[5].under_way = Some(LiveActivation { running: 8_500_000_000, held_up: true });
        for (columns, shown) in [(120, "running for 8.6 s"), (70, "running for 8.6 s"), (45, "8.6 s")] {
            let text = live(&with(&rows), Screen { columns, ..WIDE });
            let lines: Vec<&str> = text.lines().collect();
            assert!(lines[4].contains("8,600") && lines[4].contains(shown), "{columns}\n{text}");
            assert!(columns < 120 || lines[4].chars().count() == lines[5].chars().count(), "{text}");
        }
        let coloured = live(&with(&rows), Screen { color: true, ..WIDE });
        assert!(coloured.contains("running for 8.6 s\x1b[0m"), "{coloured:?}");
        assert!(coloured.contains("held up for 8.5 s"), "{coloured:?}");
        let low = live(&with(&rows), Screen { columns: 100, lines: 8, color: false });
        assert!(low.ends_with("… 3 more clocks, one held up for 8.5 s\n"), "{low}");
    }

    #[test]
    fn colours_only_when_asked_for() {
        let mut rows = rows();
        (rows[0].overruns, rows[0].name) = (2, "\x1b[2Jx".into());
        assert!(!live(&with(&rows), WIDE).contains('\x1b'));
        let coloured = live(&with(&rows), Screen { color: true, ..WIDE });
        assert!(coloured.contains("\x1b[31m") && !coloured.contains("\x1b[2J"));
    }

    #[test]
    fn a_clock_that_has_not_run_has_dashes() {
        let mut row = rows().remove(0);
        for own in [&mut row.wakeup, &mut row.start, &mut row.execution, &mut row.response] {
            *own = Histogram::default();
        }
        assert_eq!(live(&with(&[row]), WIDE).matches('–').count(), 5);
    }

    #[test]
    fn what_was_told_at_the_start_is_not_told_again() {
        let mut run = sample(1);
        run.problems = ["NO PRIORITY: EPERM; do this", "MEMORY: other"]
            .map(|words| Problem::other(Severity::Warning, words))
            .into();
        run.notes = vec!["one".to_owned(), "two".to_owned()];
        let told = ["vecud: warning: NO PRIORITY: EPERM; do this", "note: two"].map(str::to_owned);
        let text = summary(&run, "x", WIDE, &told);
        assert!(
            text.contains("warning: NO PRIORITY (as told at the start)\nwarning: MEMORY: other\nnote: one\n"),
            "{text}"
        );
        assert!(!text.contains("two") && !text.contains("do this"), "{text}");
        let all = summary(&run, "x", WIDE, &[]);
        assert!(all.contains("warning: NO PRIORITY: EPERM; do this\n") && all.contains("note: two\n"), "{all}");
    }

    #[test]
    fn the_summary_ends_with_the_report() {
        let mut run = sample(1);
        assert!(summary(&run, "out/report.html", WIDE, &[]).ends_with(
            "engine passed: 10 s simulated in 10.002 s, SCHED_FIFO, PREEMPT_RT kernel\nreport: out/report.html\n"
        ));
        run.problems = vec![Problem::other(Severity::Limit, "ecu.task_1ms started late")];
        let text = summary(&run, "out/report.html", WIDE, &[]);
        assert!(
            text.contains("limit exceeded: ecu.task_1ms started late\n") && text.contains("engine failed"),
            "{text}"
        );
        run.problems = vec![Problem::other(Severity::Failure, "its last words:\n    no\x1b fuel")];
        let text = summary(&run, "out/report.html", WIDE, &[]);
        assert!(text.contains("failure: its last words:\n    no\\u{1b} fuel\n"), "{text}");
    }
}
