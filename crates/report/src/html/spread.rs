//! The range of wake-up, execution and response of each clock: three bars on one logarithmic axis, which shows whether
//! the machine was late, the FMU's code takes long, or something in between does.

use super::figure::{Drawing, captioned, entry, legend};
use crate::chart::{Axis, Chart, Frame};
use crate::ellipsis::cut;
use crate::format::{duration, plural};
use crate::{ClockResult, Distribution};

const ROW: f64 = 52.0;
const BAR: f64 = 10.0;
/// Distance from the top of a row to its first bar: room for a name above its bars.
const ABOVE: f64 = 22.0;
/// Characters of a name that there is room for.
const LETTERS: usize = 45;

/// The figure of these clocks; empty if nothing was measured. `note`: the clocks that are not drawn.
pub fn spread(clocks: &[&ClockResult], note: Option<String>) -> String {
    let clocks: Vec<&ClockResult> = clocks.iter().copied().filter(|clock| clock.response.count() > 0).collect();
    if clocks.is_empty() {
        return String::new();
    }
    let words = [
        "wake-up: kernel and machine, without the rig’s part",
        "execution: the FMU’s own code",
        "response: both, and all waiting",
    ];
    captioned(
        "Wake-up, execution and response",
        "Each line reaches from the shortest to the longest value, its thick part from the median to 99 %; the mark is the \
         longest. A response far right of wake-up and execution has waited for other partitions or the lock.",
        &Drawing { svg: draw(&clocks), notes: note.into_iter().collect() },
        &legend(words.into_iter().enumerate().map(|(style, word)| entry(style, word, None))),
    )
}

fn draw(clocks: &[&ClockResult]) -> String {
    let parts =
        |clock: &ClockResult| [clock.wakeup_machine(), &clock.execution, &clock.response].map(Distribution::clone);
    let all: Vec<[Distribution; 3]> = clocks.iter().map(|clock| parts(clock)).collect();
    let counted = || all.iter().flatten().filter(|own| own.count() > 0);
    // A single tiny value does not stretch the axis.
    let least = counted().map(|own| own.quantile(0.02)).min().unwrap_or(1).max(100) as f64;
    let most = counted().map(|own| own.max()).max().unwrap_or(1000).max(1000) as f64;
    let (min, max) = (10f64.powf(least.log10().floor()), 10f64.powf((most * 1.02).log10().ceil()));
    let frame =
        Frame { left: 14.0, right: 24.0, top: 12.0, bottom: 30.0, ..Frame::MEDIUM }.with_rows(clocks.len(), ROW);
    let mut chart = Chart::new(frame, &Axis::log_durations(min, max, frame.labels), &Axis::bare(0.0, 1.0));
    for (row, (clock, parts)) in clocks.iter().zip(&all).enumerate() {
        let top = frame.top + ROW * row as f64 + ABOVE;
        chart.text("strong over", frame.left, top - 9.0, &cut(&clock.clock, LETTERS));
        for (style, own) in parts.iter().enumerate().filter(|(_, own)| own.count() > 0) {
            let [median, most] = [0.5, 0.99].map(|share| own.quantile(share));
            let word = ["wake-up", "execution", "response"][style];
            let (p50, p99, max) = (duration(median), duration(most), duration(own.max()));
            let title = format!("{} {word}: p50 {p50}, p99 {p99}, max {max}", clock.clock);
            chart.interval(style, [own.min(), median, most, own.max()], top + BAR * style as f64, &title);
        }
    }
    chart.svg(&format!("Wake-up, execution and response of {}, apart", plural(clocks.len() as u64, "clock")))
}
