//! The meanings of the page's words.

use crate::Run;
use vecud_plan::Mode;

const WORDS: [(&str, &str, bool); 14] = [
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
    (
        "Call",
        "Of a function of an FMU, from its first instance to its last, also in callbacks. How long calls take is measured with \
         call_times = true in [report] of the rig: from call to return, whatever interrupted the function meanwhile.",
        false,
    ),
    ("Percentile", "p99.9 is the value that 999 of 1,000 do not exceed.", false),
    ("Precision", "Minimum, mean and maximum are exact; percentiles and steps are within 1 % of the value.", false),
];

/// The entry for a page with datagrams.
const ARRIVAL: (&str, &str, bool) = (
    "Arrival latency",
    "Of clocks that datagrams activate: from the moment at which the kernel received the datagram, which is the release of \
     its activation, to the first FMI call. It includes the thread that receives.",
    true,
);

/// The entry for a page with FMUs that make steps.
const STEP: (&str, &str, bool) = (
    "Step",
    "What an FMU for Co-Simulation computes from one release to the next, and one for Model Exchange is integrated over; its release is an activation. An early return stops short \
     of the end, a rejected step is tried again in parts, and an event is handled between two steps.",
    false,
);

/// The section with the meanings of the words.
pub fn glossary(run: &Run) -> String {
    let words = WORDS.iter().filter(|(_, _, real_time)| run.mode == Mode::RealTime || !real_time);
    let datagrams = run.clocks.iter().find(|clock| clock.datagrams.is_some()).map(|_| &ARRIVAL);
    let steps = run.has_steps().then_some(&STEP);
    let items: String = words
        .chain(datagrams)
        .chain(steps)
        .map(|(word, meaning, _)| format!("<div><dt>{word}</dt><dd>{meaning}</dd></div>\n"))
        .collect();
    format!("<section id=\"words\">\n<h2>What the words mean</h2>\n<dl class=\"words\">\n{items}</dl>\n</section>\n")
}
