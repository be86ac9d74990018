//! The tables of an FMU's clocks, and the details of each.

use super::figure::{Series, figure};
use super::histogram::histogram;
use super::names::breakable;
use super::over_time::{Course, over_time};
use super::page::fold;
use super::table::{Cell, Table, cells, html, none, number};
use crate::chart::Frame;
use crate::datagrams::fates;
use crate::format::{count, micros, seconds, short_duration, short_micros};
use crate::markup::escape;
use crate::steps::figures;
use crate::{ClockResult, Distribution, OverTime, Run};
use vecud_plan::{Mode, TaskKind};
use vecud_record::histogram::Histogram;

/// With more clocks than this, their details stay folded up on paper, and only this number of clocks have figures of
/// their own: those with the latest starts.
const ON_PAPER: usize = 40;

/// The tables of one FMU's clocks: their activations and latencies.
pub fn tables(run: &Run, clocks: &[&ClockResult]) -> String {
    if clocks.is_empty() {
        return "<p class=\"note\">It has no input clock that could be activated, and makes no steps.</p>\n".to_owned();
    }
    let mut out = activations(clocks);
    if clocks.iter().any(|clock| clock.execution.count() > 0) {
        out += &durations(run, clocks);
    }
    out
}

fn activations(clocks: &[&ClockResult]) -> String {
    let rows = clocks.iter().map(|clock| {
        let [fmi, fifo] =
            [clock.fmi_priority.map(|priority| priority.0), clock.fifo_priority.map(|priority| priority.get().into())]
                .map(|priority| priority.map_or("–".to_owned(), |priority| priority.to_string()));
        let [overruns, skipped, retimed] =
            [clock.overruns, clock.skipped, clock.retimed].map(|value| number(value, "alarm"));
        cells![
            html(breakable(&clock.clock)),
            html(breakable(&clock.activated_by)),
            fmi,
            fifo,
            clock.cpu,
            clock.activations,
            overruns,
            skipped,
            number(clock.coalesced, ""),
            retimed,
        ]
    });
    let groups = [("", 2), ("Priority", 2), ("", 1), ("Number of", 5)];
    let columns = "Clock|Activated by|>FMI|#FIFO|>Core|>activations|#overruns|#skipped|#coalesced|#retimed";
    let mut out = format!(
        "<h4>Activations</h4>\n<p>How often each clock was activated, and what became of the other releases and ticks. FMI \
         priorities count down (0 is the most urgent), Linux priorities count up.</p>\n{}",
        Table::grouped("", &groups, columns).rows(rows)
    );
    for (clock, words) in clocks.iter().filter_map(|clock| Some((clock, figures(clock)?))) {
        out += &format!("<p class=\"note\">{}: {words}.</p>\n", breakable(&clock.clock));
    }
    out
}

fn durations(run: &Run, clocks: &[&ClockResult]) -> String {
    let real_time = run.mode == Mode::RealTime;
    let mut out = String::from("<h4>Times</h4>\n<p>Microseconds. p99 means that 99 of 100 values were at most ");
    out += "that long, p99.9 means 999 of 1,000.";
    if real_time {
        out += " “With rig” adds what ran first. “Of interval” sets the longest response against the interval of the clock: beyond 100 % the next \
                activation was already due.";
    }
    out += "</p>\n";
    let mut groups = vec![
        ("", 1),
        ("Wake-up, machine", 4),
        ("with rig", 1),
        ("Start latency", 3),
        ("Execution", 2),
        ("Response", 2),
    ];
    let mut columns = "Clock|>p50|#p99|#p99.9|#max|>max|>p50|#p99.9|#max|>p50|#max|>max|#of interval";
    if !real_time {
        groups.retain(|(group, _)| matches!(*group, "" | "Execution"));
        columns = "Clock|>p50|#max";
    }
    out + &Table::grouped("", &groups, columns).rows(clocks.iter().map(|clock| {
        let mut row = vec![html(breakable(&clock.clock))];
        if real_time {
            row.extend(cells(clock.wakeup_machine(), &[0.5, 0.99, 0.999], None));
            row.extend(cells(&clock.wakeup_latency, &[], None));
            row.extend(cells(&clock.start_latency, &[0.5, 0.999], clock.max_latency));
        }
        row.extend(cells(&clock.execution, &[0.5], None));
        if real_time {
            row.extend(cells(&clock.response, &[], None));
            row.push(share_of_interval(clock));
        }
        row
    }))
}

/// Quantiles and the maximum.
pub fn cells(histogram: &Histogram, quantiles: &[f64], limit: Option<u64>) -> Vec<Cell> {
    let text = |value: u64| if histogram.count() == 0 { "–".to_owned() } else { short_micros(value) };
    let class = if limit.is_some_and(|limit| histogram.max() > limit) { "max alarm" } else { "max" };
    let max = Cell::from(text(histogram.max())).class(class);
    quantiles.iter().map(|share| text(histogram.quantile(*share)).into()).chain([max]).collect()
}

pub fn share_of_interval(clock: &ClockResult) -> Cell {
    match clock.interval_s {
        Some(interval) if interval > 0.0 && clock.response.count() > 0 => {
            let share = clock.response.max() as f64 / (interval * 1e9) * 100.0;
            let digits = usize::from(share < 10.0);
            Cell::from(format!("{share:.digits$} %")).class(if share > 100.0 { "alarm" } else { "" })
        }
        _ => none(),
    }
}

/// The details of these clocks, folded up: all figures of each.
pub fn details(run: &Run, clocks: &[&ClockResult]) -> String {
    let many = run.clocks.len() > ON_PAPER;
    let least = match many {
        true => {
            let mut all: Vec<u64> = run.clocks.iter().map(|clock| clock.start_latency.max()).collect();
            all.sort_unstable();
            all[all.len() - ON_PAPER]
        }
        false => 0,
    };
    let detail = |clock: &&ClockResult| detail(clock, run.mode, many, clock.start_latency.max() >= least);
    clocks.iter().map(detail).collect()
}

fn detail(clock: &ClockResult, mode: Mode, many: bool, drawn: bool) -> String {
    let mut facts = vec![match clock.kind {
        TaskKind::Clock(kind) => format!("{} clock", kind.name()),
        TaskKind::Step => match clock.steps.is_some_and(|steps| steps.integration.is_some()) {
            true => "steps of Model Exchange".to_owned(),
            false => "steps of Co-Simulation".to_owned(),
        },
        TaskKind::Group => "steps of a group".to_owned(),
    }];
    match clock.interval_s {
        Some(interval) => facts.push(format!("activated every {}", interval_text(interval))),
        None if clock.activated_by.is_empty() => {}
        None => facts.push(format!("activated by {}", escape(&clock.activated_by))),
    }
    if mode == Mode::RealTime {
        facts.push(format!("thread <code>{}</code> on core {}", escape(&clock.thread), clock.cpu));
    }
    facts.extend(clock.max_latency.map(|limit| format!("limit on start latency {}", short_duration(limit))));
    facts.extend(clock.schedulability.words());
    facts.extend(fates(clock).map(|fates| escape(&fates)));
    if clock.discarded > 0 && clock.datagrams.is_none() {
        facts.push(format!("{} discarded at the end", count(clock.discarded)));
    }
    let mut rows = match mode {
        Mode::RealTime => vec![
            ("Wake-up latency", &clock.wakeup_latency),
            ("Start latency", &clock.start_latency),
            ("Start jitter", &clock.start_jitter),
            ("Execution", &clock.execution),
            ("Response", &clock.response),
        ],
        Mode::Virtual => vec![("Execution", &clock.execution)],
    };
    if mode == Mode::RealTime && clock.wakeup_machine().figures != clock.wakeup_latency.figures {
        rows.insert(1, ("of it the machine", clock.wakeup_machine()));
    }
    if let Some(latency) = &clock.arrival_latency {
        rows.insert(0, ("Arrival latency", latency));
    }
    let body = if rows.iter().all(|(_, histogram)| histogram.count() == 0) {
        let why = if clock.activations == 0 { "It was never activated." } else { "Nothing was measured." };
        format!("<p class=\"note\">{why}</p>\n")
    } else {
        numbers(&rows) + &if drawn { drawings(clock, mode) } else { String::new() }
    };
    let summary = format!(
        "{}<small>{}</small>",
        breakable(&clock.clock),
        match clock.activations {
            1 => "1 activation".to_owned(),
            n => format!("{} activations", count(n)),
        }
    );
    let body = format!("<p class=\"lead\">{}</p>\n{body}", facts.join(" · "));
    match many {
        true => format!("<details>\n<summary>{summary}</summary>\n{body}</details>\n"),
        false => fold(&summary, &body, false),
    }
}

fn interval_text(interval: f64) -> String {
    let nanos = interval * 1e9;
    if (1.0..1e9).contains(&nanos) { short_duration(nanos.round() as u64) } else { seconds(interval) }
}

/// The table of one clock, or of one lock.
pub fn numbers(rows: &[(&str, &Distribution)]) -> String {
    Table::new("|#count|#min|#mean|#p50|#p90|#p99|#p99.9|#p99.99|#max").rows(rows.iter().map(|(title, own)| {
        let text = |value: u64| Cell::from(if own.count() == 0 { "–".to_owned() } else { micros(value) });
        let quantiles = [0.5, 0.9, 0.99, 0.999, 0.9999].map(|share| text(own.quantile(share)));
        let first = cells![*title, own.count(), text(own.min()), text(own.mean().round() as u64)];
        first.into_iter().chain(quantiles).chain([text(own.max()).class("max")])
    }))
}

/// Latency and duration of one clock, side by side.
fn drawings(clock: &ClockResult, mode: Mode) -> String {
    let pair = |title: &str, sentence: &str, lines: [(&str, &Histogram, Option<u64>); 2]| -> String {
        let lines = lines.into_iter().enumerate().filter(|(_, (_, histogram, _))| histogram.count() > 0);
        let series: Vec<_> = lines
            .map(|(style, (name, histogram, limit))| Series { name: name.to_owned(), style, histogram, limit })
            .collect();
        match series.is_empty() {
            true => String::new(),
            false => figure(title, sentence, &histogram(&series, Frame::SMALL), &series),
        }
    };
    if mode == Mode::Virtual {
        return String::new();
    }
    let latency = pair(
        "How late it started",
        "From the release to the wake-up of the thread, without what more urgent partitions had of it (machine), and to the \
         first FMI call.",
        [("machine", clock.wakeup_machine(), None), ("start", &clock.start_latency, clock.max_latency)],
    );
    let duration = pair(
        "How long it took",
        "From the first FMI call (execution) or the release (response) to the last output read.",
        [("execution", &clock.execution, None), ("response", &clock.response, None)],
    );
    let course = clock.over_time.as_ref().map(|own| course(clock, own)).unwrap_or_default();
    format!("<div class=\"pair\">\n{latency}{duration}{course}</div>\n")
}

/// Start latency and response over the time of the run.
fn course(clock: &ClockResult, own: &OverTime) -> String {
    let line = |name: &str, style, histogram, limit| Series { name: name.to_owned(), style, histogram, limit };
    let series =
        [line("start latency", 0, &clock.start_latency, clock.max_latency), line("response", 1, &clock.response, None)];
    let courses = [Course::of_start_latency(own), Course::of_response(own)];
    figure(
        "When it was late",
        "The longest value of each interval, over the time since the run began.",
        &over_time(&series, &courses, Frame::SMALL),
        &series,
    )
}
