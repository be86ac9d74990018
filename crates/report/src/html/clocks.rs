//! The tables of an FMU's clocks, and the details of each.

use super::figure::{Series, figure};
use super::histogram::histogram;
use super::over_time::{Course, over_time};
use super::svg::Frame;
use super::{breakable, escape, fold};
use crate::datagrams::fates;
use crate::format::{count, micros, seconds, short_duration, short_micros};
use crate::steps::figures;
use crate::{ClockResult, Distribution, OverTime, Run};
use vecud_plan::{Mode, TaskKind};
use vecud_record::histogram::Histogram;

/// With more clocks than this, their details stay folded up on paper, and only so many have figures of their own: those
/// that have started latest.
const ON_PAPER: usize = 40;

/// What ran, and how late: everything of the clocks of one FMU.
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
    let mut out = String::from(
        "<h4>Activations</h4>\n<p>How often each clock was activated, and what became of the other releases and ticks. FMI \
         priorities count down (0 is the most urgent), Linux priorities count up.</p>\n<div class=\"scroll\"><table>\n<thead>\n<tr>\
         <th></th><th></th><th colspan=\"2\" class=\"group\">Priority</th><th></th><th colspan=\"5\" class=\"group\">\
         Number of</th></tr>\n<tr><th>Clock</th><th>Activated by</th><th class=\"n first\">FMI</th><th class=\"n\">FIFO</th>\
         <th class=\"n first\">Core</th><th class=\"n first\">activations</th><th class=\"n\">overruns</th>\
         <th class=\"n\">skipped</th><th class=\"n\">coalesced</th><th class=\"n\">retimed</th></tr>\n</thead>\n<tbody>\n",
    );
    for clock in clocks {
        let fifo = clock.fifo_priority.map_or("–".to_owned(), |priority| priority.get().to_string());
        out += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n first\">{}</td><td class=\"n\">{fifo}</td>\
             <td class=\"n first\">{}</td><td class=\"n first\">{}</td>{}{}{}{}</tr>\n",
            breakable(&clock.clock),
            breakable(&clock.activated_by),
            clock.fmi_priority.map_or("–".to_owned(), |priority| priority.0.to_string()),
            clock.cpu,
            count(clock.activations),
            number(clock.overruns, "alarm"),
            number(clock.skipped, "alarm"),
            number(clock.coalesced, ""),
            number(clock.retimed, "alarm"),
        );
    }
    out += "</tbody>\n</table></div>\n";
    for (clock, words) in clocks.iter().filter_map(|clock| Some((clock, figures(clock)?))) {
        out += &format!("<p class=\"note\">{}: {words}.</p>\n", breakable(&clock.clock));
    }
    out
}

/// A number that should be zero.
pub fn number(value: u64, class: &str) -> String {
    match value {
        0 => "<td class=\"n zero\">0</td>".to_owned(),
        value => format!("<td class=\"n {class}\">{}</td>", count(value)),
    }
}

fn durations(run: &Run, clocks: &[&ClockResult]) -> String {
    let real_time = run.mode == Mode::RealTime;
    let mut out = String::from("<h4>Times</h4>\n<p>Microseconds. p99 means that 99 of 100 values were at most ");
    out += "that long, p99.9 means 999 of 1,000.";
    if real_time {
        out += " “With rig” adds what ran first. “Of interval” sets the longest response against the interval of the clock: beyond 100 % the next \
                activation was already due.";
    }
    out += "</p>\n<div class=\"scroll\"><table>\n<thead>\n<tr><th></th>";
    if real_time {
        out += "<th colspan=\"4\" class=\"group\">Wake-up, machine</th><th class=\"group\">with rig</th><th colspan=\"3\" class=\"group\">Start latency</th>";
    }
    out += "<th colspan=\"2\" class=\"group\">Execution</th>";
    out += if real_time { "<th colspan=\"2\" class=\"group\">Response</th></tr>\n" } else { "</tr>\n" };
    out += "<tr><th>Clock</th>";
    let head = |names: &[&str]| -> String {
        let cells = names.iter().enumerate();
        cells.map(|(i, n)| format!("<th class=\"n{}\">{n}</th>", if i == 0 { " first" } else { "" })).collect()
    };
    if real_time {
        out += &(head(&["p50", "p99", "p99.9", "max"]) + &head(&["max"]) + &head(&["p50", "p99.9", "max"]));
    }
    out += &head(&["p50", "max"]);
    out += &if real_time { head(&["max", "of interval"]) } else { String::new() };
    out += "</tr>\n</thead>\n<tbody>\n";
    for clock in clocks {
        out += &format!("<tr><th scope=\"row\">{}</th>", breakable(&clock.clock));
        if real_time {
            out += &cells(clock.wakeup_machine(), &[0.5, 0.99, 0.999], None);
            out += &cells(&clock.wakeup_latency, &[], None);
            out += &cells(&clock.start_latency, &[0.5, 0.999], clock.max_latency);
        }
        out += &cells(&clock.execution, &[0.5], None);
        if real_time {
            out += &cells(&clock.response, &[], None);
            out += &share_of_interval(clock);
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table></div>\n"
}

/// Quantiles and the maximum.
pub fn cells(histogram: &Histogram, quantiles: &[f64], limit: Option<u64>) -> String {
    let late = limit.is_some_and(|limit| histogram.max() > limit);
    let mut out = String::new();
    for (i, share) in quantiles.iter().map(Some).chain([None]).enumerate() {
        let text = match (histogram.count(), share) {
            (0, _) => "–".to_owned(),
            (_, Some(share)) => short_micros(histogram.quantile(*share)),
            (_, None) => short_micros(histogram.max()),
        };
        let first = if i == 0 { " first" } else { "" };
        let max = if share.is_none() { " max" } else { "" };
        let alarm = if late && share.is_none() { " alarm" } else { "" };
        out += &format!("<td class=\"n{first}{max}{alarm}\">{text}</td>");
    }
    out
}

pub fn share_of_interval(clock: &ClockResult) -> String {
    match clock.interval_s {
        Some(interval) if interval > 0.0 && clock.response.count() > 0 => {
            let share = clock.response.max() as f64 / (interval * 1e9) * 100.0;
            let digits = usize::from(share < 10.0);
            let class = if share > 100.0 { " alarm" } else { "" };
            format!("<td class=\"n{class}\">{share:.digits$} %</td>")
        }
        _ => "<td class=\"n zero\">–</td>".to_owned(),
    }
}

/// Every figure of each of these clocks, folded up.
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
    let mut out = String::from("<div class=\"scroll\"><table>\n<thead><tr><th></th>");
    for title in ["count", "min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"] {
        out += &format!("<th class=\"n\">{title}</th>");
    }
    out += "</tr></thead>\n<tbody>\n";
    for (title, histogram) in rows {
        out += &format!("<tr><th scope=\"row\">{title}</th><td class=\"n\">{}</td>", count(histogram.count()));
        let mut values = vec![histogram.min(), histogram.mean().round() as u64];
        values.extend([0.5, 0.9, 0.99, 0.999, 0.9999].map(|share| histogram.quantile(share)));
        for value in values {
            let text = if histogram.count() == 0 { "–".to_owned() } else { micros(value) };
            out += &format!("<td class=\"n\">{text}</td>");
        }
        let max = if histogram.count() == 0 { "–".to_owned() } else { micros(histogram.max()) };
        out += &format!("<td class=\"n max\">{max}</td></tr>\n");
    }
    out + "</tbody>\n</table></div>\n"
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
