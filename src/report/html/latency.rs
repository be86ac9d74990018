//! The figures over all clocks, and what their words mean.

use super::figure::{COLOURS, Series, figure, styles};
use super::histogram::histogram;
use super::percentiles::percentiles;
use super::svg::Frame;
use crate::plan::Mode;
use crate::record::histogram::Histogram;
use crate::report::{ClockResult, Run};

/// Histogram and percentile curve of both latencies.
pub fn figures(run: &Run) -> String {
    if run.mode == Mode::Virtual {
        return "<section>\n<h2>Latency</h2>\n<p>There are no latencies: in virtual time nothing waits for a clock on the \
                wall. Activations follow one another as fast as the machine allows, each at exactly its nominal time. \
                Run the rig with <code>--mode realtime</code> to measure latencies.</p>\n</section>\n"
            .to_owned();
    }
    let start = series(run, |clock| &clock.start_latency, |clock| clock.max_latency);
    let wakeup = series(run, |clock| &clock.wakeup_latency, |_| None);
    if start.is_empty() && wakeup.is_empty() {
        return "<section>\n<h2>Latency</h2>\n<p>No latency was measured: no clock was activated.</p>\n</section>\n"
            .to_owned();
    }
    let mut out = String::from("<section>\n<h2>Latency</h2>\n");
    if !start.is_empty() {
        out += &figure(
            "Start latency, histogram",
            "How late an activation began: from its release to the first FMI call. Read the right end of each line: \
             that is the worst case. The mark is at the maximum; dashed red lines are limits of the rig.",
            &histogram(&start, Frame::LARGE),
            &start,
        );
        out += &figure(
            "Start latency, percentiles",
            "How rare a start latency is: at 99.9 % only one activation in 1,000 began later than the line says.",
            &percentiles(&start, Frame::LARGE.with_two_lines()),
            &start,
        );
    }
    if !wakeup.is_empty() {
        out += &figure(
            "Wake-up latency, histogram",
            "The part of it that belongs to the machine: from the release to the thread’s first instruction after its \
             sleep. This is what cyclictest measures.",
            &histogram(&wakeup, Frame::LARGE),
            &wakeup,
        );
        out += &figure(
            "Wake-up latency, percentiles",
            "How rare a wake-up latency is.",
            &percentiles(&wakeup, Frame::LARGE.with_two_lines()),
            &wakeup,
        );
    }
    out + "</section>\n"
}

/// A line for each clock that has values; grey ones first, so that the others are drawn over them.
fn series<'a>(
    run: &'a Run,
    histogram: impl Fn(&'a ClockResult) -> &'a Histogram,
    limit: impl Fn(&'a ClockResult) -> Option<u64>,
) -> Vec<Series<'a>> {
    let furthest: Vec<u64> = run.clocks.iter().map(|clock| clock.start_latency.max()).collect();
    let clocks = run.clocks.iter().zip(styles(&furthest)).filter(|(clock, _)| histogram(clock).count() > 0);
    let lines = clocks.map(|(clock, style)| {
        let name = format!("{}.{}", clock.fmu, clock.clock);
        Series { name, style, histogram: histogram(clock), limit: limit(clock) }
    });
    let mut series: Vec<_> = lines.collect();
    series.sort_by_key(|series| series.style < COLOURS);
    series
}

const WORDS: [(&str, &str, bool); 13] = [
    (
        "Release",
        "The instant at which an activation should start: on the clock’s time grid, or when it was triggered.",
        true,
    ),
    (
        "Wake-up latency",
        "From the release to the thread’s first instruction after its sleep: kernel and hardware.",
        true,
    ),
    (
        "Start latency",
        "From the release to the first FMI call of the activation: wake-up, plus waiting for more urgent partitions and \
         for the preemption lock.",
        true,
    ),
    (
        "Start jitter",
        "How much the distance of two starts differs from the distance of their releases: 0 is a perfectly even beat.",
        true,
    ),
    (
        "Execution",
        "From the first FMI call to the last output read, without the time in which other partitions of the rig ran on \
         that core.",
        false,
    ),
    ("Response", "From the release to the last output read: when the result is there.", true),
    ("Overrun", "A release whose predecessor was still running, or a tick that found its queue full.", false),
    (
        "Skipped",
        "Releases left out after an overrun. Their latencies, up to the instant of the skip, are in the figures: what did \
         not run is not hidden.",
        true,
    ),
    (
        "Coalesced",
        "Ticks for a time at which the clock was already activated or about to be: they need no second one.",
        false,
    ),
    (
        "Retimed",
        "Ticks that came when their clock had already moved on, or their time was recorded already; activated with a later time.",
        true,
    ),
    (
        "Preemption lock",
        "Between lock and unlock no other partition of that FMU runs. Held: from lock to unlock. Waited for: from asking \
         to having it, when somebody else had it.",
        false,
    ),
    ("Percentile", "p99.9 is the value that 999 of 1,000 do not exceed.", false),
    ("Precision", "Minimum, mean and maximum are exact; percentiles and steps are within 1 % of the value.", false),
];

/// Only where there are datagrams.
const ARRIVAL: (&str, &str, bool) = (
    "Arrival latency",
    "Of clocks that datagrams activate: from the moment at which the kernel received the datagram, which is the release of \
     its activation, to the first FMI call. It includes the thread that receives.",
    true,
);

/// What the words mean.
pub fn glossary(run: &Run) -> String {
    let words = WORDS.iter().filter(|(_, _, real_time)| run.mode == Mode::RealTime || !real_time);
    let datagrams = run.clocks.iter().find(|clock| clock.datagrams.is_some()).map(|_| &ARRIVAL);
    let items: String = words
        .chain(datagrams)
        .map(|(word, meaning, _)| format!("<div><dt>{word}</dt><dd>{meaning}</dd></div>\n"))
        .collect();
    format!("<section>\n<h2>What the words mean</h2>\n<dl class=\"words\">\n{items}</dl>\n</section>\n")
}
