//! `comparison.html`: two runs side by side, differences first. Made like `report.html`, and as self-contained.

use super::deviations::{deviations, tables};
use super::names::name;
use super::page::{header, page, verdict};
use super::table::{Cell, Table, html};
use super::tiles::tile;
use crate::compare::{
    ClocksComparison, ComparedMetric, Comparison, FIGURES, SignalsComparison, ratio_text, round, some,
};
use crate::format::{count, micros, plural, seconds};
use crate::markup::escape;
use crate::words::Word;
use crate::{Run, passed};
use vecud_plan::Mode;

/// Number of violations that are listed; the tables have all of them.
const EXCESSES: usize = 6;
/// Ratios nearer to 1 than this are not worth a colour.
const NOTABLE: f64 = 1.1;

/// The comparison as a page.
pub fn comparison_html(comparison: &Comparison) -> String {
    let reports = comparison.reports.iter().flatten();
    let title = reports.map(|report| report.run.rig.as_str()).next().unwrap_or("Recordings");
    let [a, b] = comparison.names.each_ref().map(|name| escape(name));
    let mut body = header("Comparison", title, &[format!("run <code>{a}</code> against <code>{b}</code>")]);
    body += &outcome(comparison);
    body += &tiles(comparison);
    let notes: Vec<String> = comparison.all_notes().iter().map(|note| escape(note)).collect();
    body += &super::page::notes("Worth knowing", &notes, "");
    if let Some(signals) = &comparison.signals {
        body += &tables(signals, comparison.common_only);
        body += &deviations(signals, &comparison.curves);
    }
    if let Some(clocks) = &comparison.clocks {
        body += &counts(clocks);
        body += &times(clocks, comparison.ratio);
    }
    body += &runs(comparison);
    page(&format!("{title} – vecud comparison"), &body, env!("CARGO_PKG_VERSION"))
}

fn outcome(comparison: &Comparison) -> String {
    let excesses = comparison.excesses();
    let different = comparison.signals.as_ref().map_or(0, |signals| signals.different.len());
    let compared = comparison.signals.as_ref().map_or(0, SignalsComparison::number);
    let judged =
        if comparison.ratio.is_some() { "Latencies are within the limit." } else { "Latencies were not judged." };
    let (class, mark, word, sentence) = match (excesses.len() as u64, different) {
        (0, 0) if compared == 0 => ("pass", "✓", "Nothing beyond", format!("No signals were compared. {judged}")),
        (0, 0) => (
            "pass",
            "✓",
            "Equal signals",
            match &comparison.clocks {
                Some(clocks) if !clocks.no_latencies => format!("All that were compared are equal. {judged}"),
                _ => "All that were compared are equal.".to_owned(),
            },
        ),
        (0, n) => ("pass", "✓", "Within tolerance", format!("{}, by no more than is allowed.", differ(n as u64))),
        (n, _) => {
            ("fail", "✕", "Beyond tolerance", format!("{}, what was first in time first.", plural(n, "difference")))
        }
    };
    let mut out = verdict(class, mark, word, &sentence);
    if !excesses.is_empty() {
        let item = |excess: &String| {
            format!("<li class=\"limit-exceeded\"><b>beyond</b><span>{}</span></li>\n", escape(excess))
        };
        let items: String = excesses.iter().take(EXCESSES).map(item).collect();
        out += &format!("<ol class=\"problems\">\n{items}</ol>\n");
        if excesses.len() > EXCESSES {
            out += &format!(
                "<p class=\"note\">… and {} more, see below.</p>\n",
                count((excesses.len() - EXCESSES) as u64)
            );
        }
    }
    out
}

fn differ(number: u64) -> String {
    format!("{} {}", plural(number, "signal"), if number == 1 { "differs" } else { "differ" })
}

fn tiles(comparison: &Comparison) -> String {
    let mut tiles = Vec::new();
    if let Some(signals) = &comparison.signals {
        let (different, all) = (signals.different.len() as u64, signals.number() as u64);
        tiles.push(tile("Signals that differ", &count(different), &format!("of {}", count(all))));
        let first = signals.different.iter().filter_map(|signal| Some((signal.first.as_ref()?.time, &signal.name)));
        if let Some((time, name)) = first.min_by(|one, other| one.0.total_cmp(&other.0)) {
            tiles.push(tile("First difference", &format!("{time} s"), name));
        }
        let largest =
            signals.different.iter().find_map(|signal| Some((signal.largest_absolute.as_ref()?.0, &signal.name)));
        if let Some((most, name)) = largest {
            tiles.push(tile("Largest for its size", &round(most), name));
        }
    }
    if let Some(clocks) = comparison.clocks.as_ref().filter(|clocks| !clocks.no_latencies) {
        let start = |metric: &&ComparedMetric| metric.name == "start latency";
        let of = clocks.common.iter().filter_map(|clock| Some((clock, clock.metrics.iter().find(start)?.ratio(1)?)));
        if let Some((clock, ratio)) = of.max_by(|one, other| one.1.total_cmp(&other.1)) {
            let name = format!("{}.{}", clock.fmu, clock.clock);
            tiles.push(tile("Start latency, p99", &format!("{} ×", ratio_text(ratio)), &name));
        }
    }
    format!("<section class=\"tiles\">\n{}</section>\n", tiles.concat())
}

/// The table of activations and releases of clocks.
fn counts(clocks: &ClocksComparison) -> String {
    let Some(first) = clocks.common.first() else { return only(clocks) };
    let groups: Vec<(&str, usize)> =
        [("", 1)].into_iter().chain(first.counts.iter().map(|(what, _)| (*what, 2))).collect();
    let columns = format!("Clock{}", "|>run|#ref.".repeat(first.counts.len()));
    let table = Table::grouped("", &groups, &columns).rows(clocks.common.iter().map(|clock| {
        let cells = clock.counts.iter().flat_map(|(_, [a, b])| {
            let class = match a == b {
                true if *a == 0 => "zero",
                true => "",
                false => "differs",
            };
            [*a, *b].map(|value| Cell::from(value).class(class))
        });
        [html(name(&clock.fmu, &clock.clock))].into_iter().chain(cells)
    }));
    format!(
        "<section>\n<h2>Activations</h2>\n<p>How often each clock was activated, and what became of its releases and ticks; \
         numbers that differ are set off.</p>\n{table}{}</section>\n",
        only(clocks)
    )
}

fn only(clocks: &ClocksComparison) -> String {
    let sides = ["run", "reference"].into_iter().zip(&clocks.only).filter(|(_, only)| !only.is_empty());
    sides.map(|(word, only)| format!("<p class=\"note\">Only in the {word}: {}.</p>\n", escape(&some(only)))).collect()
}

/// Figures of both, and their ratios.
fn times(clocks: &ClocksComparison, limit: Option<f64>) -> String {
    if clocks.common.iter().all(|clock| clock.metrics.is_empty()) {
        return match clocks.no_latencies {
            true => "<section>\n<h2>Times</h2>\n<p>In virtual time nothing is late, so there are no latencies to compare.</p>\n\
                     </section>\n"
                .to_owned(),
            false => String::new(),
        };
    }
    let mut out = String::from(
        "<section>\n<h2>Times</h2>\n<p>Microseconds, and how many times as long the run took as the reference.",
    );
    if clocks.no_latencies {
        out += " In virtual time nothing is late, so there are no latencies to compare.";
    }
    if let Some(limit) = limit {
        out += &format!(" p50 and p99 of latencies and responses may be {limit} times as long.");
    }
    out += "</p>\n<div class=\"scroll\"><table>\n<thead>\n<tr><th></th><th></th>";
    out += &FIGURES.map(|figure| format!("<th colspan=\"3\" class=\"group\">{figure}</th>")).concat();
    out += "</tr>\n<tr><th>Clock</th><th></th>";
    out += &"<th class=\"n first\">run</th><th class=\"n\">ref.</th><th class=\"n\">ratio</th>".repeat(FIGURES.len());
    out += "</tr>\n</thead>\n";
    let beyond = limit.map(|limit| clocks.beyond(limit)).unwrap_or_default();
    for clock in clocks.common.iter().filter(|clock| !clock.metrics.is_empty()) {
        out += "<tbody>\n";
        for (place, metric) in clock.metrics.iter().enumerate() {
            let first = match place {
                0 => format!(
                    "<th scope=\"rowgroup\" rowspan=\"{}\">{}</th>",
                    clock.metrics.len(),
                    name(&clock.fmu, &clock.clock)
                ),
                _ => String::new(),
            };
            out += &format!("<tr>{first}<td class=\"metric\">{}</td>", metric.name);
            for (figure, [a, b]) in metric.figures.iter().enumerate() {
                let is_beyond = beyond.iter().any(|(_, other, which)| std::ptr::eq(*other, metric) && *which == figure);
                out += &format!("<td class=\"n first\">{}</td><td class=\"n\">{}</td>", micros(*a), micros(*b));
                out += &ratio_cell(metric.ratio(figure), is_beyond);
            }
            out += "</tr>\n";
        }
        out += "</tbody>\n";
    }
    out + "</table></div>\n</section>\n"
}

fn ratio_cell(ratio: Option<f64>, is_beyond: bool) -> String {
    let Some(ratio) = ratio else { return "<td class=\"n zero\">–</td>".to_owned() };
    let class = match ratio {
        _ if is_beyond => "alarm",
        ratio if ratio > NOTABLE => "slower",
        ratio if ratio < 1.0 / NOTABLE => "faster",
        _ => "",
    };
    format!("<td class=\"n {class}\">{}</td>", ratio_text(ratio))
}

/// The two runs: verdicts, problems, machines.
fn runs(comparison: &Comparison) -> String {
    if comparison.reports.iter().all(Option::is_none) {
        return String::new();
    }
    let row = |title: &str, value: &dyn Fn(&Run) -> String| {
        let text = |place: usize| comparison.reports[place].as_ref().map_or("–".to_owned(), |own| value(&own.run));
        let [a, b] = [text(0), text(1)];
        let class = if a == b { "" } else { "differs" };
        [title.into(), html(a).class(class), html(b).class(class)]
    };
    let problems = |run: &Run| match run.problems.as_slice() {
        [] => "none".to_owned(),
        problems => {
            let items: String =
                problems.iter().map(|problem| format!("<li>{}</li>", escape(&problem.message()))).collect();
            format!("<ul class=\"plain\">{items}</ul>")
        }
    };
    let rows = [
        row("Rig", &|run| escape(&run.rig)),
        row("Verdict", &|run| if passed(run) { "passed" } else { "failed" }.to_owned()),
        row("Problems", &problems),
        row("Time", &|run| if run.mode == Mode::Virtual { "virtual time" } else { "real time" }.to_owned()),
        row("Simulated", &|run| format!("{} to {}", seconds(run.start_time), seconds(run.end_time))),
        row("Started", &|run| escape(&run.started)),
        row("Scheduling", &|run| run.host.scheduling.word().to_owned()),
        row("Kernel", &|run| {
            let kind = if run.host.preempt_rt { "PREEMPT_RT" } else { "no PREEMPT_RT" };
            format!("{} ({kind})", escape(&run.host.kernel))
        }),
        row("Processor", &|run| escape(&run.host.cpu_model)),
    ];
    format!(
        "<section>\n<h2>The two runs</h2>\n<p>Latencies belong to a machine as much as to a program: compare those of the same \
         machine.</p>\n{}</section>\n",
        Table::grouped("runs", &[], "|Run|Reference").rows(rows)
    )
}
