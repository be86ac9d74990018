//! Where the time went: the parts of each clock's response, one bar for the usual activation and one for the worst; then the
//! worst activations and the overruns.

use super::escape;
use super::figure::{Drawing, wide_and_narrow};
use super::svg::{Frame, class};
use crate::format::{duration, plural};
use crate::{ClockResult, Run};
use std::fmt::Write;
use vecud_plan::Mode;

const ROW: f64 = 48.0;
const BAR: f64 = 16.0;
/// From the top of a bar to the base line of its text.
const BASE: f64 = 12.0;
/// Width of a letter, about.
const LETTER: f64 = 7.0;
/// Room for a name above its bars.
const ABOVE: f64 = 18.0;

/// The parts in the order in which they are drawn, and their styles.
const PARTS: [(&str, usize); 7] =
    [("machine", 0), ("rig first", 6), ("gate", 4), ("preempted", 1), ("blocked", 3), ("set/get", 5), ("executing", 2)];

/// The section; nothing in virtual time and of a run that did not measure it.
pub fn section(run: &Run, clocks: &[&ClockResult], rows: usize) -> String {
    let clocks: Vec<&ClockResult> = clocks.iter().copied().filter(|clock| clock.parts.set_get.count() > 0).collect();
    if run.mode == Mode::Virtual || clocks.is_empty() {
        return String::new();
    }
    let shown = &clocks[..clocks.len().min(rows)];
    let mut out = String::from("<h3>Where the time went</h3>\n");
    out += &figure(shown, rows.div_ceil(3));
    out += &not_shown(clocks.len() - shown.len());
    out += &super::worst::tables(run, &clocks);
    out += &super::overruns::table(&clocks);
    out
}

fn not_shown(clocks: usize) -> String {
    match clocks {
        0 => String::new(),
        n => format!("<p class=\"note\">Not shown: {}.</p>\n", plural(n as u64, "less urgent clock")),
    }
}

/// The medians of the parts. Execution without setting and getting is what is left of the medians.
fn usual(clock: &ClockResult) -> [u64; 7] {
    let median = |histogram: &vecud_record::histogram::Histogram| histogram.quantile(0.5);
    let (wakeup, machine) = (median(&clock.wakeup_latency), median(clock.wakeup_machine()));
    let set_get = median(&clock.parts.set_get);
    [
        machine,
        wakeup.saturating_sub(machine),
        median(&clock.start_latency).saturating_sub(wakeup),
        median(&clock.parts.preempted),
        median(&clock.parts.blocked),
        set_get,
        median(&clock.execution).saturating_sub(set_get),
    ]
}

/// Each bar is as long as any other: medians beside the worst, and clocks of 1 ms beside those of 100 ms, would vanish. In such a
/// frame, but for its height.
fn draw(clocks: &[&ClockResult], frame: Frame) -> String {
    let above = if frame.is_narrow() { ABOVE } else { 0.0 };
    let row_height = ROW + above;
    let frame = Frame { height: 8.0 + row_height * clocks.len() as f64 + 30.0, ..frame };
    let ticks = [0, 25, 50, 75, 100].map(|percent| (f64::from(percent) / 100.0, format!("{percent} %"), String::new()));
    let mut svg = frame.x_axis(&ticks);
    for (row, clock) in clocks.iter().enumerate() {
        let top = frame.top + row_height * row as f64;
        let full = format!("{}.{}", clock.fmu, clock.clock);
        let most = if frame.is_narrow() { 40 } else { 22 };
        let short = match full.char_indices().nth(most) {
            Some((end, _)) => format!("{}…", escape(&full[..end])),
            None => escape(&full),
        };
        let y = if frame.is_narrow() { top + above - 2.0 } else { top + 24.0 };
        let _ = writeln!(svg, "<text class=\"strong over\" x=\"4\" y=\"{y:.1}\">{short}</text>");
        let worst = clock.causes.worst_responses.first().map(|moment| moment.parts().map(|(_, part)| part));
        for (place, (label, parts)) in [("p50", Some(usual(clock))), ("worst", worst)].into_iter().enumerate() {
            let y = top + above + 5.0 + place as f64 * (BAR + 3.0);
            let x = frame.left - 8.0;
            let _ = writeln!(svg, "<text class=\"end dim\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>", y + BASE);
            svg += &parts.map_or_else(String::new, |parts| bar(&frame, y, parts));
        }
    }
    frame.svg("Parts of the response of each clock, as shares of it", &svg)
}

/// In a narrow window the first `most` of them, so that the page of many FMUs stays small.
fn figure(clocks: &[&ClockResult], most: usize) -> String {
    let beside = Frame { width: 960.0, height: 0.0, left: 190.0, right: 70.0, top: 8.0, bottom: 30.0, labels: 4 };
    let above = Frame { width: 340.0, left: 44.0, right: 60.0, ..beside };
    let few = &clocks[..clocks.len().min(most)];
    let drawing = wide_and_narrow(beside, above, |frame| {
        let svg = if frame.is_narrow() {
            draw(few, frame) + &not_shown(clocks.len() - few.len())
        } else {
            draw(clocks, frame)
        };
        Drawing { svg, notes: Vec::new() }
    });
    let key = |(title, style): (&str, usize)| {
        let class = class(style);
        format!(
            "<li><svg class=\"key\" viewBox=\"0 0 28 12\" aria-hidden=\"true\"><rect class=\"bar part {class}\" x=\"3\" y=\"0\" \
             width=\"22\" height=\"12\"/></svg><span>{title}</span></li>\n"
        )
    };
    format!(
        "<figure>\n<figcaption><h3>Parts of the response</h3><p>From the release to the last output read, as shares of that \
         time, which stands behind the bar: first what the machine took to wake the thread, then what more urgent partitions ran \
         before it (rig first). Bars of one length are not of one duration. The upper bar of a clock has the \
         median of each part (they need not belong to one activation), the lower one its longest activation.</p></figcaption>\n\
         <div class=\"plot\">{}</div>\n<ul class=\"legend gantt\">\n{}</ul>\n</figure>\n",
        drawing.svg,
        PARTS.map(key).concat()
    )
}

/// A bar across the plot, its parts from left to right; those that are long enough have their name and time in them.
fn bar(frame: &Frame, y: f64, parts: [u64; 7]) -> String {
    let whole = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
    let mut out = String::new();
    let mut begun = 0_u64;
    for (part, (title, style)) in parts.into_iter().zip(PARTS).filter(|(part, _)| *part > 0) {
        let x = |time: u64| frame.x(time as f64 / whole as f64);
        let (from, to) = (x(begun), x(begun.saturating_add(part)));
        begun = begun.saturating_add(part);
        let (class, width, text) = (class(style), to - from, duration(part));
        // Nobody sees it, and nobody points at it.
        if frame.is_narrow() && width < 0.3 {
            continue;
        }
        let share = part as f64 / whole as f64 * 100.0;
        let bar = format!("<rect class=\"bar part {class}\" y=\"{y}\" height=\"{BAR}\"");
        // Narrow windows belong to devices where nothing hovers.
        let _ = match frame.is_narrow() {
            true => writeln!(out, "{bar} x=\"{from:.1}\" width=\"{width:.1}\"/>"),
            false => {
                let hint = format!("{title}: {text}, {share:.1} %");
                writeln!(out, "{bar} x=\"{from:.2}\" width=\"{width:.2}\"><title>{hint}</title></rect>")
            }
        };
        // In grey, the name tells.
        let fits = |text: &String| width > LETTER * (text.chars().count() + 2) as f64;
        if let Some(text) = [format!("{title} {text}"), text].into_iter().find(fits) {
            let (x, y) = (from + width / 2.0, y + BASE);
            let _ = writeln!(out, "<text class=\"inside mid {class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
        }
    }
    let (x, y) = (frame.x(1.0) + 7.0, y + BASE);
    out + &format!("<text class=\"strong\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n", duration(whole))
}
