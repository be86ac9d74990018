//! The list of calls that a tracer has noted.

use super::clocks::Clocks;
use std::collections::BTreeMap;

/// Value references of the tracer's clocks.
pub mod clock {
    pub const NONE: u32 = 0;
    pub const FAST: u32 = 1;
    pub const EQUAL_A: u32 = 2;
    pub const EQUAL_B: u32 = 3;
    pub const SLOW: u32 = 4;
    pub const HIGH: u32 = 5;
    pub const LOW: u32 = 6;
    pub const DELAYED: u32 = 7;
    pub const OUT_HIGH: u32 = 8;
    pub const OUT_LOW: u32 = 9;

    pub const INPUTS: std::ops::RangeInclusive<u32> = FAST..=DELAYED;
    pub const NAMES: [&str; 10] =
        ["none", "fast", "equal_a", "equal_b", "slow", "high", "low", "delayed", "out_high", "out_low"];
    /// As in its modelDescription.xml: smaller is more urgent.
    pub const PRIORITY: [u32; 8] = [u32::MAX, 1, 2, 2, 4, 0, 5, 3];
    /// Milliseconds, 0 when it is not periodic.
    pub const PERIOD: [u64; 8] = [0, 1, 2, 3, 10, 0, 0, 0];
}

#[derive(Clone, Debug)]
pub struct Event {
    pub seq: u64,
    /// CLOCK_MONOTONIC.
    pub ns: i64,
    pub tid: u32,
    pub cpu: u32,
    pub what: String,
    /// `begin`, `end` or `note`.
    pub phase: String,
    pub clock: u32,
    pub vr: u32,
    pub n: u32,
    pub hash: u64,
    pub time: f64,
    pub status: i32,
}

impl Event {
    pub fn is(&self, what: &str, phase: &str) -> bool {
        self.what == what && self.phase == phase
    }
}

/// How an instance has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// `fmi3Terminate`, `fmi3FreeInstance`.
    Terminated,
    /// `fmi3FreeInstance` only.
    Freed,
    /// Nothing is called.
    Left,
}

#[derive(Debug)]
pub struct Trace {
    pub fmu: String,
    pub clocks: Clocks,
    pub end: End,
    /// Not run to its stop time: what waited at the end has not been activated.
    pub cut: bool,
    pub events: Vec<Event>,
    /// The names and values of the last line.
    pub summary: BTreeMap<String, String>,
}

impl Trace {
    pub fn parse(fmu: &str, text: &str) -> Trace {
        let mut events = Vec::new();
        let mut summary = BTreeMap::new();
        for line in text.lines().skip(1) {
            if let Some(rest) = line.strip_prefix("# ") {
                summary = rest.split(' ').filter_map(|pair| pair.split_once('=')).map(own).collect();
                continue;
            }
            let cells: Vec<&str> = line.split(',').collect();
            let number = |i: usize| cells[i].parse::<i64>().unwrap();
            events.push(Event {
                seq: number(0) as u64,
                ns: number(1),
                tid: number(2) as u32,
                cpu: number(3) as u32,
                what: cells[4].to_owned(),
                phase: cells[5].to_owned(),
                clock: number(6) as u32,
                vr: number(7) as u32,
                n: number(8) as u32,
                hash: u64::from_str_radix(cells[9], 16).unwrap(),
                time: cells[10].parse().unwrap(),
                status: number(11) as i32,
            });
        }
        Trace { fmu: fmu.to_owned(), clocks: Clocks::usual(), end: End::Terminated, cut: false, events, summary }
    }

    /// How many events there are of a kind.
    pub fn count(&self, what: &str, phase: &str) -> usize {
        self.events.iter().filter(|event| event.is(what, phase)).count()
    }

    /// Activation times of a clock.
    pub fn activations(&self, clock: u32) -> Vec<f64> {
        let of = |event: &&Event| event.is("activate", "begin") && event.clock == clock;
        self.events.iter().filter(of).map(|event| event.time).collect()
    }

    /// How often the importer has read that an output clock ticked.
    pub fn ticks(&self, output: u32) -> u64 {
        let reads = self.events.iter().filter(|event| event.is("get_clock", "end"));
        reads.filter(|event| event.hash >> output & 1 == 1).count() as u64
    }

    /// What the tracer itself has found.
    pub fn violations(&self) -> u64 {
        self.summary["violations"].parse().unwrap()
    }
}

fn own((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
