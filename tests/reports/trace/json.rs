//! `trace.json` as a reader of the trace event format sees it.

use crate::program::Outcome;
use serde_json::Value;
use std::collections::HashMap;

/// A slice or an instant on the track of a partition. Times in µs from the start of the run.
#[derive(Clone, Debug)]
pub struct Event {
    /// Names of the process and of the track.
    pub fmu: String,
    pub clock: String,
    pub name: String,
    pub from: f64,
    pub to: f64,
    pub args: Value,
}

impl Event {
    /// Activation time, s.
    pub fn time(&self) -> f64 {
        self.args["time_s"].as_f64().unwrap()
    }

    pub fn contains(&self, other: &Event) -> bool {
        (&self.fmu, &self.clock) == (&other.fmu, &other.clock) && self.from <= other.from && other.to <= self.to
    }
}

/// An arrow: number, and who ticked or is triggered when.
#[derive(Clone, Debug)]
pub struct Arrow {
    pub tail: (String, String, f64),
    pub head: (String, String, f64),
}

pub struct TraceFile {
    /// All events, in the order of the file.
    all: Vec<Value>,
    /// By their begins; of those with the same begin the longest first.
    pub slices: Vec<Event>,
    pub instants: Vec<Event>,
    pub arrows: Vec<Arrow>,
    /// What is said of the whole run.
    pub remarks: Vec<(f64, String)>,
}

impl TraceFile {
    pub fn of(run: &Outcome, name: &str) -> TraceFile {
        TraceFile::parse(&run.file(name))
    }

    pub fn parse(text: &str) -> TraceFile {
        let all: Vec<Value> = serde_json::from_str(text).unwrap_or_else(|error| panic!("no JSON: {error}"));
        let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let kind = |event: &Value, wanted: &str| event["ph"] == wanted;
        let place = |event: &Value| (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap_or(0));
        let mut names: HashMap<(u64, u64), String> = HashMap::new();
        for event in all.iter().filter(|event| kind(event, "M")) {
            if event["name"].as_str().is_some_and(|name| name.ends_with("_name")) {
                names.insert(place(event), text(&event["args"], "name"));
            }
        }
        let at = |event: &Value| event["ts"].as_f64().unwrap();
        let own = |event: &Value| {
            let (pid, tid) = place(event);
            (names[&(pid, 0)].clone(), names[&(pid, tid)].clone())
        };
        let made = |event: &Value| {
            let (fmu, clock) = own(event);
            let to = at(event) + event["dur"].as_f64().unwrap_or(0.0);
            Event { fmu, clock, name: text(event, "name"), from: at(event), to, args: event["args"].clone() }
        };
        let mut slices: Vec<Event> = all.iter().filter(|event| kind(event, "X")).map(made).collect();
        slices.sort_by(|a, b| a.from.total_cmp(&b.from).then(b.to.total_cmp(&a.to)));
        let mut instants: Vec<Event> =
            all.iter().filter(|event| kind(event, "i") && event["s"] == "t").map(made).collect();
        instants.sort_by(|a, b| a.from.total_cmp(&b.from));
        let end = |event: &Value| {
            let (fmu, clock) = own(event);
            (fmu, clock, at(event))
        };
        let tails: HashMap<u64, _> =
            all.iter().filter(|e| kind(e, "s")).map(|event| (event["id"].as_u64().unwrap(), end(event))).collect();
        let heads = all.iter().filter(|event| kind(event, "f"));
        let arrows = heads.map(|event| Arrow { tail: tails[&event["id"].as_u64().unwrap()].clone(), head: end(event) });
        let remarks = all.iter().filter(|event| kind(event, "i") && event["s"] == "g");
        TraceFile {
            arrows: arrows.collect(),
            remarks: remarks.map(|event| (at(event), text(event, "name"))).collect(),
            slices,
            instants,
            all,
        }
    }

    /// Arrows that do not point at an activation, but at something in it, as ui.perfetto.dev finds what they belong to: of what
    /// is under way at their time the last one that began, where slices come before all else, the longest first, and else
    /// the order of the file counts.
    pub fn stray_arrows(&self) -> Vec<(&Value, &str)> {
        let ns = |event: &Value, key: &str| (event[key].as_f64().unwrap_or(0.0) * 1e3).round() as i64;
        let rank = |event: &Value| if event["ph"] == "X" { -ns(event, "dur") } else { 1 };
        let mut order: Vec<&Value> = self.all.iter().filter(|event| event["ph"] != "M").collect();
        order.sort_by_key(|event| (ns(event, "ts"), rank(event)));
        let mut open: HashMap<u64, Vec<(i64, i64, &Value)>> = HashMap::new();
        let mut stray = Vec::new();
        for event in order {
            let stack = open.entry(event["tid"].as_u64().unwrap()).or_default();
            let (from, length) = (ns(event, "ts"), ns(event, "dur"));
            match event["ph"].as_str().unwrap() {
                "X" | "i" => {
                    // Marks of one instant lie on each other.
                    stack.retain(|&(begin, end, _)| end > from || end == from && begin == end && length == 0);
                    stack.push((from, from + length, event));
                }
                "f" => {
                    let under_way = stack.last().expect("something is under way").2;
                    if under_way["args"]["time_s"].is_null() || under_way["ph"] == "i" {
                        stray.push((event, under_way["name"].as_str().unwrap()));
                    }
                }
                _ => {}
            }
        }
        stray
    }

    /// All activations, by their begins.
    pub fn activations(&self) -> impl Iterator<Item = &Event> {
        self.slices.iter().filter(|slice| slice.name == slice.clock)
    }

    /// Those of a clock.
    pub fn of_clock(&self, fmu: &str, clock: &str) -> Vec<&Event> {
        self.activations().filter(|slice| slice.fmu == fmu && slice.clock == clock).collect()
    }

    /// Slices of this name in an FMU.
    pub fn named(&self, fmu: &str, name: &str) -> Vec<&Event> {
        self.slices.iter().filter(|slice| slice.fmu == fmu && slice.name == name).collect()
    }

    /// Slices of one track are apart, or one lies inside of the other.
    pub fn assert_nested(&self) {
        let mut open: HashMap<(&str, &str), Vec<&Event>> = HashMap::new();
        for slice in &self.slices {
            let stack = open.entry((&slice.fmu, &slice.clock)).or_default();
            stack.retain(|outer| outer.to > slice.from);
            if let Some(outer) = stack.last() {
                // To a nanosecond, which is what a number of microseconds can be off.
                assert!(slice.to <= outer.to + 0.0015, "{slice:?} sticks out of {outer:?}");
            }
            stack.push(slice);
        }
    }
}
