//! The range of wake-up, execution and response of each clock: three bars on one logarithmic axis, which shows whether
//! the machine was late, the FMU's code takes long, or something in between does.

use super::escape;
use super::figure::{Drawing, captioned, key};
use super::svg::{Frame, Scale, log_duration_ticks, marker};
use crate::format::{duration, plural};
use crate::{ClockResult, Distribution};
use std::fmt::Write;

const ROW: f64 = 52.0;
const BAR: f64 = 10.0;
/// Room for a name above its bars.
const NAME: f64 = 15.0;
/// Characters of a name that there is room for.
const LETTERS: usize = 45;

/// The figure of these clocks; empty if nothing was measured. `note`: the clocks that are not drawn.
pub fn spread(clocks: &[&ClockResult], note: Option<String>) -> String {
    let clocks: Vec<&ClockResult> = clocks.iter().copied().filter(|clock| clock.response.count() > 0).collect();
    if clocks.is_empty() {
        return String::new();
    }
    let drawing = Drawing { svg: draw(&clocks), notes: note.into_iter().collect() };
    let mut legend = String::from("<ul class=\"legend\">\n");
    for (style, word) in [
        "wake-up: kernel and machine, without the rig’s part",
        "execution: the FMU’s own code",
        "response: both, and all waiting",
    ]
    .into_iter()
    .enumerate()
    {
        legend += &format!("<li>{}<span>{word}</span></li>\n", key(style));
    }
    legend += "</ul>\n";
    captioned(
        "Wake-up, execution and response",
        "Each line reaches from the shortest to the longest value, its thick part from the median to 99 %; the mark is the \
         longest. A response far right of wake-up and execution has waited for other partitions or the lock.",
        &drawing,
        &legend,
    )
}

fn draw(clocks: &[&ClockResult]) -> String {
    let parts =
        |clock: &&ClockResult| [clock.wakeup_machine(), &clock.execution, &clock.response].map(|own| own.clone());
    let all: Vec<[Distribution; 3]> = clocks.iter().map(parts).collect();
    let counted = || all.iter().flatten().filter(|own| own.count() > 0);
    // A single tiny value does not stretch the axis.
    let least = counted().map(|own| own.quantile(0.02)).min().unwrap_or(1).max(100) as f64;
    let most = counted().map(|own| own.max()).max().unwrap_or(1000).max(1000) as f64;
    let (min, max) = (10f64.powf(least.log10().floor()), 10f64.powf((most * 1.02).log10().ceil()));
    let height = 12.0 + ROW * clocks.len() as f64 + 30.0;
    let frame = Frame { height, left: 14.0, right: 24.0, top: 12.0, bottom: 28.0, ..Frame::MEDIUM };
    let xs = Scale::Log { min, max };
    let ticks = log_duration_ticks(min, max, frame.labels).into_iter();
    let ticks: Vec<_> = ticks.map(|(share, label)| (share, label, String::new())).collect();
    let mut out = frame.x_axis(&ticks);
    for (row, (clock, parts)) in clocks.iter().zip(&all).enumerate() {
        let top = frame.top + ROW * row as f64 + NAME + 7.0;
        let shown: String = match clock.clock.chars().count() {
            n if n > LETTERS => clock.clock.chars().take(LETTERS - 1).chain(['…']).collect(),
            _ => clock.clock.clone(),
        };
        let (name, x, y) = (escape(&shown), frame.left, top - 9.0);
        let _ = writeln!(out, "<text class=\"strong over\" x=\"{x:.1}\" y=\"{y:.1}\">{name}</text>");
        for (style, own) in parts.iter().enumerate().filter(|(_, own)| own.count() > 0) {
            let y = top + BAR * style as f64;
            let x = |value: u64| frame.x(xs.share(value as f64));
            let (from, median, most, to) = (x(own.min()), x(own.quantile(0.5)), x(own.quantile(0.99)), x(own.max()));
            let word = ["wake-up", "execution", "response"][style];
            let values = format!(
                "{} {word}: p50 {}, p99 {}, max {}",
                escape(&clock.clock),
                duration(own.quantile(0.5)),
                duration(own.quantile(0.99)),
                duration(own.max())
            );
            let _ = write!(
                out,
                "<g><title>{values}</title><path class=\"span s{style}\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>"
            );
            let _ =
                write!(out, "<path class=\"core s{style}\" d=\"M{median:.1} {y:.1}H{:.1}\"/>", most.max(median + 2.0));
            let _ = writeln!(out, "{}</g>", marker(style, to, y).trim_end());
        }
    }
    let label = format!("Wake-up, execution and response of {}, apart", plural(clocks.len() as u64, "clock"));
    frame.svg(&label, &out)
}
