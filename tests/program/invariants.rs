//! The rules of Scheduled Execution (design, section 3), looked up in a trace: without the tracer's own checks, from the
//! order of its events alone.

use super::clock::{self, DELAYED, HIGH, INPUTS, NAMES, OUT_HIGH, OUT_LOW, PERIOD};
use super::{End, Event, Outcome, Trace};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How much was there to be looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub activations: u64,
    /// That began while another one of the instance was active.
    pub preemptions: u64,
    pub locked_sections: u64,
    pub callbacks: u64,
    /// That began while a higher one slept: with [`Kind::Sleeping`] only, see there.
    pub inside_sleepers: u64,
    /// Ticks of `out_high` whose activation was where it has to be.
    pub high_ticks: u64,
}

/// How partitions of an instance share their core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By priority.
    Preemptive,
    /// By priority, and FMU code sleeps: a lower one that is active already may go on meanwhile (no host can prevent it).
    /// That includes one that has been let in and has not yet come to its first instruction in the FMU, which seen from
    /// there begins inside of the sleeper; it is counted. None may begin inside of an equal one or in a locked section.
    Sleeping,
    /// One after the other: virtual time, and cooperative runs.
    OneAtATime,
}

/// The periodic clocks of a tracer of which, by the report, not every release up to the end has become something (semantics S12).
pub fn unaccounted(report: &Value, fmu: &str) -> Vec<String> {
    let end = (report["end_time"].as_f64().unwrap() * 1e9).round() as u64;
    // Nothing is released at the stop time.
    let end = end - u64::from(report["end"] == "stop_time");
    let clocks = report["clocks"].as_array().unwrap();
    let wrong = |clock: u32| {
        let (name, period) = (NAMES[clock as usize], PERIOD[clock as usize] * 1_000_000);
        let reported = clocks.iter().find(|c| c["fmu"] == fmu && c["clock"] == name).expect("reported");
        let counts = ["activations", "skipped", "discarded"].map(|what| reported[what].as_u64().unwrap());
        let released = end / period + 1;
        (counts.iter().sum::<u64>() != released)
            .then(|| format!("{fmu}.{name}: {counts:?} of {released} until {end} ns"))
    };
    INPUTS.filter(|clock| PERIOD[*clock as usize] > 0).filter_map(wrong).collect()
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Seen) {
        self.activations += other.activations;
        self.preemptions += other.preemptions;
        self.locked_sections += other.locked_sections;
        self.callbacks += other.callbacks;
        self.high_ticks += other.high_ticks;
        self.inside_sleepers += other.inside_sleepers;
    }
}

/// What a thread is doing between its calls.
#[derive(Default)]
struct Thread {
    /// Types of variables set since the last activation.
    set: BTreeSet<&'static str>,
    /// The clock of the last of them.
    set_of: Option<u32>,
    /// The activation that has returned, until the next set or activation, and types read since, those of variables of an
    /// output clock by themselves.
    activated: Option<u32>,
    got: BTreeSet<(&'static str, Option<u32>)>,
    active: Option<u32>,
    /// A bit for each output clock that somebody has found active during the activation.
    ticked: u64,
}

impl Trace {
    /// Checks all rules that concern one instance; gives what is broken.
    pub fn check(&self, kind: Kind) -> (Seen, Vec<String>) {
        let mut seen = Seen::default();
        let mut broken = Vec::new();
        self.check_order(kind, &mut seen, &mut broken);
        self.check_sequences(&mut broken);
        self.check_callbacks(&mut seen, &mut broken);
        self.check_high(kind, &mut seen, &mut broken);
        self.check_grid(&mut broken);
        self.check_end(&mut broken);
        if self.violations() > 0 {
            broken.push(format!("{}: the tracer itself found {:?}", self.fmu, self.summary));
        }
        if self.summary["dropped"] != "0" {
            broken.push(format!("{}: the trace is cut: {:?}", self.fmu, self.summary));
        }
        (seen, broken)
    }

    /// Nobody starts or goes on where somebody else has precedence.
    fn check_order(&self, kind: Kind, seen: &mut Seen, broken: &mut Vec<String>) {
        let mut active: BTreeMap<u32, u32> = BTreeMap::new(); // clock → thread
        let mut asleep: BTreeSet<u32> = BTreeSet::new();
        let mut holder: Option<(u32, u32)> = None; // thread, depth
        let mut reading: Option<u32> = None; // thread inside GetClock .. GetInterval
        for event in &self.events {
            let place = || {
                let (seq, what, phase) = (event.seq, &event.what, &event.phase);
                format!("{} #{seq} {what} {phase} of {} at {} s", self.fmu, NAMES[event.clock as usize], event.time)
            };
            if let Some((thread, _)) = holder.filter(|(thread, _)| *thread != event.tid) {
                broken.push(format!("{}: runs although thread {thread} is in a locked section", place()));
            }
            if let Some(thread) = reading.filter(|thread| *thread != event.tid) {
                broken.push(format!("{}: runs although thread {thread} reads clocks under the lock", place()));
            }
            let own = active.iter().find(|(_, thread)| **thread == event.tid).map(|(clock, _)| *clock);
            if let Some(own) = own.filter(|_| kind != Kind::Sleeping) {
                let higher = |other: &&u32| self.clocks.is_above(**other, own);
                if let Some(other) = active.keys().find(higher) {
                    let (own, other) = (NAMES[own as usize], NAMES[*other as usize]);
                    broken.push(format!("{}: {own} goes on inside of {other}", place()));
                }
            }
            match (event.what.as_str(), event.phase.as_str()) {
                ("activate", "begin") => {
                    seen.activations += 1;
                    seen.preemptions += u64::from(!active.is_empty());
                    let equal = |other: &&u32| self.clocks.is_equal(**other, event.clock);
                    let above = |other: &&u32| self.clocks.is_above(**other, event.clock);
                    let excused = |other: &&u32| kind == Kind::Sleeping && asleep.contains(*other);
                    seen.inside_sleepers += u64::from(active.keys().any(|other| above(&other) && excused(&other)));
                    let inside = |other: &&u32| equal(other) || above(other) && !excused(other);
                    if let Some(other) = active.keys().find(inside) {
                        broken.push(format!("{}: inside of {}", place(), NAMES[*other as usize]));
                    } else if kind == Kind::OneAtATime && !active.is_empty() {
                        broken.push(format!("{}: inside of another one", place()));
                    }
                    if holder.is_some() {
                        broken.push(format!("{}: in a locked section", place()));
                    }
                    active.insert(event.clock, event.tid);
                }
                ("activate", "end") => drop(active.remove(&event.clock)),
                ("lock", "end") => {
                    seen.locked_sections += u64::from(holder.is_none());
                    holder = Some((event.tid, holder.map_or(1, |(_, depth)| depth + 1)));
                }
                ("unlock", "begin") => {
                    holder = holder.and_then(|(thread, depth)| (depth > 1).then_some((thread, depth - 1)));
                }
                ("get_clock", "begin") => reading = Some(event.tid),
                // Nothing more is read after an error.
                ("get_interval", "end") | ("update", "end") => reading = None,
                ("get_clock", "end") if event.status > 1 => reading = None,
                ("sleep", "begin") => drop(asleep.insert(event.clock)),
                ("sleep", "end") => drop(asleep.remove(&event.clock)),
                _ => (),
            }
        }
    }

    /// Set → activate → get, one call per type, own variables only; one thread and one core per partition. Variables of an
    /// output clock are read by themselves, and only after an activation in which it has ticked.
    fn check_sequences(&self, broken: &mut Vec<String>) {
        let mut threads: BTreeMap<u32, Thread> = BTreeMap::new();
        let running = self.events.iter().skip_while(|event| !event.is("exit_init", "end")).skip(1);
        for event in running.take_while(|event| !event.is("terminate", "begin")) {
            let (seq, tid) = (event.seq, event.tid);
            if event.is("get_clock", "end") {
                threads
                    .values_mut()
                    .filter(|thread| thread.active.is_some())
                    .for_each(|thread| thread.ticked |= event.hash);
            }
            let thread = threads.entry(tid).or_default();
            let mut wrong = |what: &str| broken.push(format!("{} #{seq}: {what}: {event:?}", self.fmu));
            match (event.what.as_str(), event.phase.as_str()) {
                ("set", "begin") => {
                    if !thread.set.insert(type_of(event.vr)) {
                        wrong("two sets of one type");
                    }
                    thread.set_of = Some(event.clock);
                    thread.activated = None;
                }
                ("activate", "begin") => {
                    if thread.set_of.is_some_and(|clock| clock != event.clock) {
                        wrong("the set before was of another clock");
                    }
                    *thread = Thread { active: Some(event.clock), ..Thread::default() };
                }
                ("activate", "end") => {
                    thread.activated = thread.active.take();
                }
                ("get", "begin") => {
                    match thread.activated {
                        None => wrong("a get that does not follow an activation"),
                        Some(clock) if ![clock, clock::NONE, OUT_HIGH, OUT_LOW].contains(&event.clock) => {
                            wrong("a get of another clock's variable");
                        }
                        Some(_) => (),
                    }
                    let output = Some(event.clock).filter(|clock| [OUT_HIGH, OUT_LOW].contains(clock));
                    if output.is_some_and(|output| thread.ticked >> output & 1 == 0) {
                        wrong("a get of a variable whose output clock has not ticked");
                    }
                    if !thread.got.insert((type_of(event.vr), output)) {
                        wrong("two gets of one type");
                    }
                }
                _ => (),
            }
        }
    }

    /// Every callback reads both output clocks in one call, once, and the countdown interval once.
    fn check_callbacks(&self, seen: &mut Seen, broken: &mut Vec<String>) {
        let mut open: BTreeMap<u32, (u64, u32, u32)> = BTreeMap::new(); // thread → seq, clocks, intervals
        let running = self.events.iter().skip_while(|event| !event.is("exit_init", "end"));
        // A failed instance is not asked.
        let failed = |event: &&Event| self.end == End::Terminated || !event.is("fail", "note");
        let running = running.take_while(failed).filter(|event| self.end != End::Left || !event.is("update", "end"));
        for event in running {
            match (event.what.as_str(), event.phase.as_str()) {
                ("update", "begin") => drop(open.insert(event.tid, (event.seq, 0, 0))),
                ("get_clock", "begin") => match open.get_mut(&event.tid) {
                    Some(callback) if event.n == 2 => callback.1 += 1,
                    _ => broken.push(format!("{}: not all clocks, or outside of a callback: {event:?}", self.fmu)),
                },
                ("get_interval", "begin") => match open.get_mut(&event.tid) {
                    Some(callback) if (event.vr, event.n) == (DELAYED, 1) => callback.2 += 1,
                    _ => broken.push(format!("{}: outside of a callback: {event:?}", self.fmu)),
                },
                ("update", "end") => match open.remove(&event.tid) {
                    Some((_, 1, 1)) => seen.callbacks += 1,
                    other => broken.push(format!("{}: a callback read {other:?}: {event:?}", self.fmu)),
                },
                _ => (),
            }
        }
    }

    /// Where `high` is more urgent than whoever tells that it has ticked, it runs inside the callback (behind the outermost
    /// unlock, if the partition holds the lock); where partitions take turns, right after that partition.
    fn check_high(&self, kind: Kind, seen: &mut Seen, broken: &mut Vec<String>) {
        if !self.clocks.high_follows {
            return;
        }
        let mut last_high = f64::NEG_INFINITY;
        let mut running: BTreeMap<u32, (u32, f64)> = BTreeMap::new(); // thread → clock, time
        let mut depth: BTreeMap<u32, u32> = BTreeMap::new(); // of the lock, by thread
        let mut depth_before_reading = 0;
        for (index, event) in self.events.iter().enumerate() {
            match (event.what.as_str(), event.phase.as_str()) {
                ("activate", "begin") => {
                    running.insert(event.tid, (event.clock, event.time));
                    if event.clock == HIGH {
                        last_high = event.time;
                    }
                }
                ("activate", "end") => drop(running.remove(&event.tid)),
                ("lock", "end") => *depth.entry(event.tid).or_default() += 1,
                ("unlock", "begin") => drop(depth.entry(event.tid).and_modify(|depth| *depth -= 1)),
                ("get_clock", "begin") => depth_before_reading = depth.get(&event.tid).copied().unwrap_or(0),
                _ => (),
            }
            // A tick may surface in the callback of another partition, which then gives it its time.
            if !event.is("get_clock", "end") || event.hash >> OUT_HIGH & 1 == 0 || event.status > 1 {
                continue;
            }
            let Some(&(reader, time)) = running.get(&event.tid) else {
                broken.push(format!("{}: clocks are read outside of an activation: {event:?}", self.fmu));
                continue;
            };
            let busy = |other: &(u32, f64)| !self.clocks.is_above(HIGH, other.0);
            if time <= last_high || running.values().any(busy) {
                continue; // coalesced, or retimed, or it has to wait (the reader is not below it, or somebody sleeps)
            }
            let after = &self.events[index..];
            let own = |what: &'static str, phase: &'static str| {
                after.iter().position(|e| e.tid == event.tid && e.is(what, phase))
            };
            let begins = |e: &Event| e.is("activate", "begin");
            let Some(start) = after.iter().position(|e| begins(e) && e.clock == HIGH && e.time == time) else {
                if !self.cut {
                    broken.push(format!("{}: high is not activated at {time} after {event:?}", self.fmu));
                }
                continue;
            };
            let end = if kind == Kind::OneAtATime {
                own("activate", "end")
            } else if depth_before_reading > 0 {
                self.outermost_unlock(index, event.tid, depth_before_reading)
            } else {
                own("update", "end")
            };
            // Who is not below `high` and sleeps keeps it waiting, and cannot keep the one that told of it from going on.
            let sleeper = |e: &Event| begins(e) && e.clock != HIGH && !self.clocks.is_above(HIGH, e.clock);
            if kind == Kind::Sleeping && end.is_some_and(|end| after[..end].iter().any(sleeper)) {
                continue;
            }
            // From there on nobody slips in before it who is less urgent.
            let others = after[..start].iter().find(|e| begins(e) && self.clocks.is_above(HIGH, e.clock));
            let in_time = end.is_some_and(|end| (start < end) == (kind != Kind::OneAtATime));
            if in_time && others.is_none() {
                seen.high_ticks += 1;
            } else {
                let reader = NAMES[reader as usize];
                broken.push(format!(
                    "{}: high begins {start} events after {reader} told of it in {event:?}, whose \
                    callback has {end:?} more; before it: {others:?}",
                    self.fmu
                ));
            }
        }
    }

    /// How many events after `index` a thread has given the lock back as often as it holds it there.
    fn outermost_unlock(&self, index: usize, tid: u32, depth: u32) -> Option<usize> {
        let mut depth = depth;
        self.events[index..].iter().position(|event| {
            let own = event.tid == tid;
            depth += u32::from(own && event.is("lock", "end"));
            depth -= u32::from(own && event.is("unlock", "end"));
            own && depth == 0
        })
    }

    /// On the grid of the clock, rounded once; strictly increasing.
    fn check_grid(&self, broken: &mut Vec<String>) {
        for clock in INPUTS {
            let times = self.activations(clock);
            let name = NAMES[clock as usize];
            if let Some(pair) = times.windows(2).find(|pair| pair[0] >= pair[1]) {
                broken.push(format!("{}.{name}: times do not increase: {pair:?}", self.fmu));
            }
            let Some(grid) = self.clocks.times(clock) else { continue };
            let mut grid = grid.peekable();
            let mut is_on_grid = |time: f64| {
                while grid.next_if(|on_grid| *on_grid < time).is_some() {}
                grid.next() == Some(time)
            };
            if let Some(time) = times.iter().find(|time| !is_on_grid(**time)) {
                broken.push(format!("{}.{name}: {time} is not on the grid", self.fmu));
            }
        }
    }

    /// Terminate once after all, free once at last, as far as its state allows.
    fn check_end(&self, broken: &mut Vec<String>) {
        let terminate = self.events.iter().position(|event| event.is("terminate", "begin"));
        let active = self.events.iter().rposition(|event| event.is("activate", "end"));
        let last = self.events.last().map(|event| (event.what.as_str(), event.phase.as_str()));
        let counts = (self.count("terminate", "begin"), self.count("free", "begin"));
        let right = match self.end {
            End::Terminated => counts == (1, 1) && terminate >= active && last == Some(("free", "begin")),
            End::Freed => counts.1 == 1 && last == Some(("free", "begin")),
            End::Left => counts.1 == 0,
        };
        let failed_in = |event: &&Event| event.is("terminate", "end") && event.status > 1;
        let terminate_failed = self.events.iter().any(|event| failed_in(&event));
        if !right || self.end != End::Terminated && counts.0 > u32::from(terminate_failed) as usize {
            broken.push(format!("{}: terminate and free {counts:?}, terminate at {terminate:?}, {last:?}", self.fmu));
        }
    }
}

/// In real time every partition has a thread of its own, all on one core.
pub fn check_threads(trace: &Trace) -> Vec<String> {
    let mut broken = Vec::new();
    let mut threads: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut cores = BTreeSet::new();
    for event in trace.events.iter().filter(|event| event.is("activate", "begin")) {
        threads.entry(event.clock).or_default().insert(event.tid);
        cores.insert(event.cpu);
    }
    let all: BTreeSet<u32> = threads.values().flatten().copied().collect();
    if threads.values().any(|own| own.len() != 1) || all.len() != threads.len() || cores.len() > 1 {
        broken.push(format!("{}: threads {threads:?} on cores {cores:?}", trace.fmu));
    }
    broken
}

impl Outcome {
    /// Everything that was activated was due, and everything that was due is accounted for: report, recording and traces
    /// tell the same.
    pub fn check_counts(&self, fmu: &str, stop_ms: u64) -> Vec<String> {
        let mut broken = Vec::new();
        let (trace, signals) = (self.trace(fmu), self.signals());
        for clock in INPUTS {
            let name = NAMES[clock as usize];
            let count = |what| self.count(fmu, name, what);
            let traced = trace.activations(clock).len() as u64;
            let recorded = signals.last(&format!("{fmu}.count_{name}"));
            if traced != count("activations") || traced != recorded {
                broken.push(format!(
                    "{fmu}.{name}: {traced} activations traced, {recorded} recorded, report: {}",
                    self.clock(fmu, name)
                ));
            }
            let period = PERIOD[clock as usize];
            if period > 0 && traced + count("skipped") != stop_ms.div_ceil(period) {
                broken.push(format!("{fmu}.{name}: {traced} activations, {} skipped", count("skipped")));
            }
        }
        broken
    }

    /// As many activations of `target` as ticks of the output clock that triggers it, less those that are accounted for.
    pub fn check_ticks(&self, source: &str, output: u32, target: &str, clock: u32) -> Vec<String> {
        let ticks = self.trace(source).ticks(output);
        let name = NAMES[clock as usize];
        let counts = ["activations", "coalesced", "overruns", "discarded"].map(|what| self.count(target, name, what));
        if counts.iter().sum::<u64>() == ticks {
            return Vec::new();
        }
        vec![format!("{ticks} ticks of {source}.{}, but {target}.{name}: {counts:?}", NAMES[output as usize])]
    }
}

/// The variable type behind a value reference of the tracer (an enumeration is one of its own, though read as Int64).
fn type_of(vr: u32) -> &'static str {
    const PAIRS: [&str; 15] =
        ["f64", "i32", "bool", "f64", "f32", "i8", "u8", "i16", "u16", "u32", "i64", "u64", "enum", "string", "binary"];
    match vr {
        20..35 => PAIRS[vr as usize - 20],
        40..55 => PAIRS[vr as usize - 40],
        81..=94 => "u64",
        0 | 101..=107 => "f64",
        _ => "another",
    }
}
