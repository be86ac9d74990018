//! Where the response time of each clock went: one bar for the usual activation, one for the worst; and what that points at.

use super::svg::{Frame, Scale, class, duration_ticks};
use super::{escape, name};
use crate::plan::Mode;
use crate::report::format::{duration, plural};
use crate::report::{ClockResult, Run, hints};
use std::fmt::Write;

const ROW: f64 = 44.0;
const BAR: f64 = 13.0;
const LEFT: f64 = 190.0;

/// The parts in the order in which they are drawn, and their styles.
const PARTS: [(&str, usize); 6] =
    [("wake-up", 0), ("gate", 4), ("preempted", 1), ("blocked", 3), ("set/get", 5), ("executing", 2)];

/// What the figures point at, near the top of the page; nothing when that is nothing.
pub fn hints_list(run: &Run) -> String {
    let hints = hints(run);
    if hints.is_empty() {
        return String::new();
    }
    let items: String = hints.iter().map(|hint| format!("<li>{}</li>\n", escape(hint))).collect();
    format!("<section class=\"notes\">\n<h4>What the figures point at</h4>\n<ul>\n{items}</ul>\n</section>\n")
}

/// The section; nothing in virtual time and of a run that did not measure it.
pub fn section(run: &Run, clocks: &[&ClockResult], rows: usize) -> String {
    let clocks: Vec<&ClockResult> = clocks.iter().copied().filter(|clock| clock.parts.set_get.count() > 0).collect();
    if run.mode == Mode::Virtual || clocks.is_empty() {
        return String::new();
    }
    let shown = &clocks[..clocks.len().min(rows)];
    let mut out = String::from("<h3>Where the time went</h3>\n");
    out += &figure(shown);
    if clocks.len() > shown.len() {
        let more = plural((clocks.len() - shown.len()) as u64, "less urgent clock");
        out += &format!("<p class=\"note\">Not shown: {more}.</p>\n");
    }
    out += &super::worst::tables(run, &clocks);
    out += &super::overruns::table(&clocks);
    out
}

/// The medians of the parts. Execution without setting and getting is what is left of the medians.
fn usual(clock: &ClockResult) -> [u64; 6] {
    let median = |histogram: &crate::record::histogram::Histogram| histogram.quantile(0.5);
    let (wakeup, set_get) = (median(&clock.wakeup_latency), median(&clock.parts.set_get));
    [
        wakeup,
        median(&clock.start_latency).saturating_sub(wakeup),
        median(&clock.parts.preempted),
        median(&clock.parts.blocked),
        set_get,
        median(&clock.execution).saturating_sub(set_get),
    ]
}

fn figure(clocks: &[&ClockResult]) -> String {
    let height = 8.0 + ROW * clocks.len() as f64 + 30.0;
    let frame = Frame { width: 960.0, height, left: LEFT, right: 70.0, top: 8.0, bottom: 30.0, labels: 8 };
    let bars: Vec<[Option<[u64; 6]>; 2]> = clocks
        .iter()
        .map(|clock| {
            let worst = clock.causes.worst_responses.first().map(|moment| moment.parts().map(|(_, part)| part));
            [Some(usual(clock)), worst]
        })
        .collect();
    let sum = |parts: &[u64; 6]| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
    let longest = bars.iter().flatten().flatten().map(sum).max().unwrap_or(0).max(1_000);
    let max = longest as f64;
    let ticks = duration_ticks(max, frame.labels, Scale::Linear { max });
    let ticks: Vec<_> = ticks.into_iter().map(|(share, label)| (share, label, String::new())).collect();
    let mut svg = frame.x_axis(&ticks);
    for (row, (clock, bars)) in clocks.iter().zip(&bars).enumerate() {
        let top = frame.top + ROW * row as f64;
        let full = format!("{}.{}", clock.fmu, clock.clock);
        let short = match full.char_indices().nth(22) {
            Some((end, _)) => format!("{}…", escape(&full[..end])),
            None => escape(&full),
        };
        let _ = writeln!(svg, "<text class=\"strong\" x=\"4\" y=\"{:.1}\">{short}</text>", top + 22.0);
        for (place, (label, bar)) in ["p50", "worst"].into_iter().zip(bars).enumerate() {
            let y = top + 5.0 + place as f64 * (BAR + 3.0);
            let _ =
                writeln!(svg, "<text class=\"end dim\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>", LEFT - 8.0, y + 10.5);
            let Some(parts) = bar else { continue };
            let mut begun = 0_u64;
            for (part, (title, style)) in parts.iter().zip(PARTS) {
                let (from, to) = (frame.x(begun as f64 / max), frame.x(begun.saturating_add(*part) as f64 / max));
                begun = begun.saturating_add(*part);
                if *part > 0 {
                    let (class, width, text) = (class(style), to - from, duration(*part));
                    let _ = writeln!(
                        svg,
                        "<rect class=\"bar {class}\" x=\"{from:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{BAR}\">\
                         <title>{title}: {text}</title></rect>"
                    );
                }
            }
            let end = frame.x(begun as f64 / max) + 5.0;
            let _ =
                writeln!(svg, "<text class=\"dim\" x=\"{end:.1}\" y=\"{:.1}\">{}</text>", y + 10.5, duration(begun));
        }
    }
    let key = |(title, style): (&str, usize)| {
        let class = class(style);
        format!(
            "<li><svg class=\"key\" viewBox=\"0 0 28 12\" aria-hidden=\"true\"><rect class=\"bar {class}\" x=\"3\" y=\"0\" \
             width=\"22\" height=\"12\"/></svg><span>{title}</span></li>\n"
        )
    };
    format!(
        "<figure>\n<figcaption><h3>Parts of the response</h3><p>From the release to the last output read. The upper bar of a \
         clock has the median of each part (they need not belong to one activation), the lower one its longest \
         activation.</p></figcaption>\n<div class=\"plot\">{}</div>\n<ul class=\"legend gantt\">\n{}</ul>\n</figure>\n",
        frame.svg("Parts of the response of each clock", &svg),
        PARTS.map(key).concat()
    )
}

/// The name of a clock that is given as `fmu.clock`.
pub fn full_name(clock: &str) -> String {
    clock.split_once('.').map_or_else(|| escape(clock), |(fmu, clock)| name(fmu, clock))
}
