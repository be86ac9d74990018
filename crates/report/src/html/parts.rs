//! The parts of each clock's response, one bar for the usual activation and one for the worst; then the worst activations
//! and the overruns.

use super::figure::{Drawing, key, wide_and_narrow};
use crate::chart::{Axis, AxisTick, Chart, Frame, class};
use crate::ellipsis::cut;
use crate::format::{duration, plural};
use crate::{ClockResult, Run};
use vecud_plan::Mode;

const ROW: f64 = 48.0;
const BAR: f64 = 16.0;
/// Distance from the top of a bar to the base line of its text.
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

/// The medians of the parts. Execution without setting and getting is the rest of the medians.
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
    let frame = frame.with_rows(clocks.len(), ROW + above);
    let ticks = [0, 25, 50, 75, 100].map(|percent| AxisTick::new(f64::from(percent) / 100.0, format!("{percent} %")));
    let mut chart = Chart::new(frame, &Axis { ticks: ticks.into(), ..Axis::bare(0.0, 1.0) }, &Axis::bare(0.0, 1.0));
    for (row, clock) in clocks.iter().enumerate() {
        let top = frame.top + (ROW + above) * row as f64;
        let (y, letters) = if frame.is_narrow() { (top + above - 2.0, 41) } else { (top + 24.0, 23) };
        chart.text("strong over", 4.0, y, &cut(&format!("{}.{}", clock.fmu, clock.clock), letters));
        let worst = clock.causes.worst_responses.first().map(|moment| moment.parts().map(|(_, part)| part));
        for (place, (label, parts)) in [("p50", Some(usual(clock))), ("worst", worst)].into_iter().enumerate() {
            let y = top + above + 5.0 + place as f64 * (BAR + 3.0);
            chart.text("end dim", frame.left - 8.0, y + BASE, label);
            parts.into_iter().for_each(|parts| bar(&mut chart, y, parts));
        }
    }
    chart.svg("Parts of the response of each clock, as shares of it")
}

/// The figure; in a narrow window it has the first `most` clocks, so that the page of many FMUs stays small.
fn figure(clocks: &[&ClockResult], most: usize) -> String {
    let beside = Frame { width: 960.0, height: 0.0, left: 190.0, right: 70.0, top: 8.0, bottom: 30.0, labels: 4 };
    let above = Frame { width: 340.0, left: 44.0, right: 60.0, ..beside };
    let few = &clocks[..clocks.len().min(most)];
    let drawing = wide_and_narrow(beside, above, |frame| {
        let shown = if frame.is_narrow() { few } else { clocks };
        let not_shown = if frame.is_narrow() { not_shown(clocks.len() - few.len()) } else { String::new() };
        Drawing { svg: draw(shown, frame) + &not_shown, notes: Vec::new() }
    });
    let key = |(title, style): (&str, usize)| {
        let bar = format!("<rect class=\"bar part {}\" x=\"3\" y=\"0\" width=\"22\" height=\"12\"/>", class(style));
        format!("<li>{}<span>{title}</span></li>\n", key(&bar))
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
fn bar(chart: &mut Chart, y: f64, parts: [u64; 7]) {
    let whole = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
    let is_narrow = chart.frame.is_narrow();
    let mut begun = 0_u64;
    for (part, (title, style)) in parts.into_iter().zip(PARTS).filter(|(part, _)| *part > 0) {
        let end = begun.saturating_add(part);
        let [from, to] = [begun, end].map(|time| chart.x(time as f64 / whole as f64));
        begun = end;
        let (class, width, text) = (class(style), to - from, duration(part));
        // Nobody sees it, and nobody points at it.
        if is_narrow && width < 0.3 {
            continue;
        }
        let share = part as f64 / whole as f64 * 100.0;
        // Narrow windows belong to devices where nothing hovers.
        let hint = if is_narrow { String::new() } else { format!("{title}: {text}, {share:.1} %") };
        chart.bar(&format!("bar part {class}"), [from, y, width, BAR], &hint);
        // In grey, the name tells.
        let fits = |text: &String| width > LETTER * (text.chars().count() + 2) as f64;
        if let Some(text) = [format!("{title} {text}"), text].into_iter().find(fits) {
            chart.text(&format!("inside mid {class}"), from + width / 2.0, y + BASE, &text);
        }
    }
    chart.text("strong", chart.x(1.0) + 7.0, y + BASE, &duration(whole));
}
