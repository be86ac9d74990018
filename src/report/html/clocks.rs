//! The tables of all clocks, and the details of each.

use super::figure::{Series, figure};
use super::histogram::histogram;
use super::svg::Frame;
use super::{breakable, escape, name};
use crate::plan::Mode;
use crate::plan::words::kind_name;
use crate::record::histogram::Histogram;
use crate::report::datagrams::fates;
use crate::report::format::{count, micros, seconds, short_duration};
use crate::report::{ClockResult, Run};

/// With more clocks than this, their details are folded up.
const UNFOLDED: usize = 10;

/// What ran, and how late.
pub fn tables(run: &Run) -> String {
    if run.clocks.is_empty() {
        return "<section>\n<h2>Clocks</h2>\n<p>No clock was activated.</p>\n</section>\n".to_owned();
    }
    let mut out = activations(run);
    if run.clocks.iter().any(|clock| clock.execution.count() > 0) {
        out += &durations(run);
    }
    out
}

fn activations(run: &Run) -> String {
    let mut out = String::from(
        "<section>\n<h2>Activations</h2>\n<p>One line per input clock, the most urgent first. FMI priorities count down \
         (0 is the most urgent), Linux priorities count up.</p>\n<div class=\"scroll\"><table>\n<thead>\n<tr>\
         <th colspan=\"2\"></th><th colspan=\"2\" class=\"group\">Priority</th><th></th><th colspan=\"5\" class=\"group\">\
         Number of</th></tr>\n<tr><th>Clock</th><th>Activated by</th><th class=\"n first\">FMI</th><th class=\"n\">FIFO</th>\
         <th class=\"n first\">Core</th><th class=\"n first\">activations</th><th class=\"n\">overruns</th>\
         <th class=\"n\">skipped</th><th class=\"n\">coalesced</th><th class=\"n\">retimed</th></tr>\n</thead>\n<tbody>\n",
    );
    for clock in &run.clocks {
        let fifo = clock.fifo_priority.map_or("–".to_owned(), |priority| priority.get().to_string());
        out += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n first\">{}</td><td class=\"n\">{fifo}</td>\
             <td class=\"n first\">{}</td><td class=\"n first\">{}</td>{}{}{}{}</tr>\n",
            name(&clock.fmu, &clock.clock),
            breakable(&clock.activated_by),
            clock.fmi_priority.0,
            clock.cpu,
            count(clock.activations),
            number(clock.overruns, "alarm"),
            number(clock.skipped, "alarm"),
            number(clock.coalesced, ""),
            number(clock.retimed, "alarm"),
        );
    }
    out += "</tbody>\n</table></div>\n";
    let discarded: u64 = run.clocks.iter().map(|clock| clock.discarded).sum();
    if discarded > 0 {
        out += &format!("<p class=\"note\">{} pending when the run was stopped did not run.</p>\n", {
            let ticks = count(discarded);
            if discarded == 1 { "1 tick that was".to_owned() } else { format!("{ticks} ticks that were") }
        });
    }
    out + "</section>\n"
}

/// A number that should be zero.
fn number(value: u64, class: &str) -> String {
    match value {
        0 => "<td class=\"n zero\">0</td>".to_owned(),
        value => format!("<td class=\"n {class}\">{}</td>", count(value)),
    }
}

fn durations(run: &Run) -> String {
    let real_time = run.mode == Mode::RealTime;
    let mut out =
        String::from("<section>\n<h2>Times</h2>\n<p>Microseconds. p99 means that 99 of 100 values were at most ");
    out += "that long, p99.9 means 999 of 1,000.";
    if real_time {
        out += " “Of interval” sets the longest response against the interval of the clock: beyond 100 % the next \
                activation was already due.";
    }
    out += "</p>\n<div class=\"scroll\"><table>\n<thead>\n<tr><th></th>";
    if real_time {
        out += "<th colspan=\"4\" class=\"group\">Wake-up latency</th><th colspan=\"3\" class=\"group\">Start latency</th>";
    }
    out += "<th colspan=\"2\" class=\"group\">Execution</th>";
    out += if real_time { "<th colspan=\"2\" class=\"group\">Response</th></tr>\n" } else { "</tr>\n" };
    out += "<tr><th>Clock</th>";
    let head = |names: &[&str]| -> String {
        let cells = names.iter().enumerate();
        cells.map(|(i, n)| format!("<th class=\"n{}\">{n}</th>", if i == 0 { " first" } else { "" })).collect()
    };
    if real_time {
        out += &(head(&["p50", "p99", "p99.9", "max"]) + &head(&["p50", "p99.9", "max"]));
    }
    out += &head(&["p50", "max"]);
    out += &if real_time { head(&["max", "of interval"]) } else { String::new() };
    out += "</tr>\n</thead>\n<tbody>\n";
    for clock in &run.clocks {
        out += &format!("<tr><th scope=\"row\">{}</th>", name(&clock.fmu, &clock.clock));
        if real_time {
            out += &cells(&clock.wakeup_latency, &[0.5, 0.99, 0.999], None);
            out += &cells(&clock.start_latency, &[0.5, 0.999], clock.max_latency);
        }
        out += &cells(&clock.execution, &[0.5], None);
        if real_time {
            out += &cells(&clock.response, &[], None);
            out += &share_of_interval(clock);
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table></div>\n</section>\n"
}

/// Quantiles and the maximum.
fn cells(histogram: &Histogram, quantiles: &[f64], limit: Option<u64>) -> String {
    let late = limit.is_some_and(|limit| histogram.max() > limit);
    let mut out = String::new();
    for (i, share) in quantiles.iter().map(Some).chain([None]).enumerate() {
        let text = match (histogram.count(), share) {
            (0, _) => "–".to_owned(),
            (_, Some(share)) => micros(histogram.quantile(*share)),
            (_, None) => micros(histogram.max()),
        };
        let first = if i == 0 { " first" } else { "" };
        let max = if share.is_none() { " max" } else { "" };
        let alarm = if late && share.is_none() { " alarm" } else { "" };
        out += &format!("<td class=\"n{first}{max}{alarm}\">{text}</td>");
    }
    out
}

fn share_of_interval(clock: &ClockResult) -> String {
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

/// Every figure of every clock.
pub fn details(run: &Run) -> String {
    if run.clocks.is_empty() {
        return String::new();
    }
    let open = if run.clocks.len() <= UNFOLDED { " open" } else { "" };
    let clocks: String = run.clocks.iter().map(|clock| detail(clock, run.mode, open)).collect();
    format!(
        "<section class=\"details\">\n<h2>Each clock</h2>\n<p>All figures, in microseconds.</p>\n{clocks}</section>\n"
    )
}

fn detail(clock: &ClockResult, mode: Mode, open: &str) -> String {
    let mut facts = vec![format!("{} clock", kind_name(clock.kind))];
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
    if let Some(own) = &clock.datagrams {
        rows.insert(0, ("Arrival latency", &own.arrival_latency));
    }
    let body = if rows.iter().all(|(_, histogram)| histogram.count() == 0) {
        let why = if clock.activations == 0 { "It was never activated." } else { "Nothing was measured." };
        format!("<p class=\"note\">{why}</p>\n")
    } else {
        numbers(&rows) + &drawings(clock, mode)
    };
    format!(
        "<details{open}>\n<summary>{}<small>{}</small></summary>\n<p class=\"lead\">{}</p>\n{body}</details>\n",
        name(&clock.fmu, &clock.clock),
        match clock.activations {
            1 => "1 activation".to_owned(),
            n => format!("{} activations", count(n)),
        },
        facts.join(" · ")
    )
}

fn interval_text(interval: f64) -> String {
    let nanos = interval * 1e9;
    if (1.0..1e9).contains(&nanos) { short_duration(nanos.round() as u64) } else { seconds(interval) }
}

/// The table of one clock, or of one lock.
pub fn numbers(rows: &[(&str, &Histogram)]) -> String {
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
        "From the release to the wake-up of the thread, and to the first FMI call.",
        [("wake-up", &clock.wakeup_latency, None), ("start", &clock.start_latency, clock.max_latency)],
    );
    let duration = pair(
        "How long it took",
        "From the first FMI call (execution) or the release (response) to the last output read.",
        [("execution", &clock.execution, None), ("response", &clock.response, None)],
    );
    format!("<div class=\"pair\">\n{latency}{duration}</div>\n")
}
