//! What a run of a random rig must have done.

use super::super::program::{Event, Outcome, Trace};
use super::rigs::{Connection, Drawn, Own, Source, TRACER, Target};

/// How much was there to be looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub steps: usize,
    /// Inputs of steps whose value is known.
    pub values: usize,
    /// How often Event Mode was entered.
    pub events: usize,
    pub early: usize,
    /// Missed instants.
    pub late: u64,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Seen) {
        self.steps += other.steps;
        self.values += other.values;
        self.events += other.events;
        self.early += other.early;
        self.late += other.late;
    }
}

/// A step as the FMU has seen it.
struct Step {
    point: f64,
    size: f64,
    /// The inputs `a` to `d`; `None`: never set.
    inputs: [Option<f64>; 4],
}

/// Gives what is broken.
pub fn judge(drawn: &Drawn, run: &Outcome, is_virtual: bool) -> (Seen, Vec<String>) {
    let (mut seen, mut broken) = (Seen::default(), Vec::new());
    if run.code != 0 {
        return (seen, vec![format!("exit code {}: {}", run.code, run.stderr)]);
    }
    let exact_until = exact_until(drawn, run, is_virtual);
    for (number, own) in drawn.own.iter().enumerate() {
        let trace = run.trace(&own.name);
        if trace.violations() > 0 || trace.summary["dropped"] != "0" {
            broken.push(format!("{}: the FMU itself found {:?}", own.name, trace.summary));
        }
        let steps = steps(&trace);
        broken.extend(points(drawn, number, &steps, run));
        broken.extend(ends(own, &trace, drawn.stop));
        let (values, wrong) = inputs(drawn, number, &steps, exact_until);
        broken.extend(wrong);
        if !is_virtual {
            broken.extend(one_thread(own, &trace));
        }
        seen += Seen {
            steps: steps.len(),
            values,
            events: trace.count("enter_event_mode", "note"),
            early: trace.events.iter().filter(|event| event.is("step", "end") && event.hash == 1).count(),
            late: run.count(&own.name, "step", "overruns"),
        };
    }
    broken.extend(partition(drawn, run, exact_until));
    (seen, broken)
}

/// Up to when inputs have what the grids say: to the end in virtual time, in real time as far as the report promises, if it
/// promises all signals.
fn exact_until(drawn: &Drawn, run: &Outcome, is_virtual: bool) -> f64 {
    if is_virtual {
        return f64::INFINITY;
    }
    let promise = run.report()["promise"].clone();
    match promise["until_s"].as_f64() {
        _ if drawn.connections.iter().any(|connection| !connection.delayed) => f64::NEG_INFINITY,
        _ if promise["holds"] == true => f64::INFINITY,
        until => until.unwrap_or(f64::NEG_INFINITY),
    }
}

fn steps(trace: &Trace) -> Vec<Step> {
    let (mut inputs, mut all) = ([None; 4], Vec::new());
    for event in &trace.events {
        match event.what.as_str() {
            "set" if (10..14).contains(&event.vr) => inputs[event.vr as usize - 10] = Some(f64::from_bits(event.hash)),
            "step" if event.phase == "begin" => {
                all.push(Step { point: event.time, size: f64::from_bits(event.hash), inputs });
            }
            _ => (),
        }
    }
    all
}

/// Communication points are the doubles of the grid, each once; those that are missing were skipped, and a longer step has made
/// up for them.
fn points(drawn: &Drawn, number: usize, steps: &[Step], run: &Outcome) -> Vec<String> {
    let (own, grid) = (&drawn.own[number], drawn.grid(number));
    let mut broken = Vec::new();
    let on_grid: Vec<f64> = steps.iter().map(|step| step.point).filter(|point| grid.contains(point)).collect();
    if on_grid.windows(2).any(|pair| pair[0] >= pair[1]) {
        broken.push(format!("{}: the points do not increase", own.name));
    }
    if !own.has_more_points && on_grid.len() != steps.len() {
        let off = steps.iter().find(|step| !grid.contains(&step.point)).map(|step| step.point);
        broken.push(format!("{}: {off:?} is not on the grid", own.name));
    }
    let count = |what| run.count(&own.name, "step", what);
    let skipped = if own.varies && !own.queue { count("skipped") } else { 0 };
    // Points of the FMU's own may be on the grid too, in a step that makes up for what was missed.
    let accounted = on_grid.len() as u64 + skipped;
    if accounted < grid.len() as u64 || !own.has_more_points && accounted != grid.len() as u64 {
        let numbers = (on_grid.len(), skipped, grid.len());
        broken.push(format!("{}: points on the grid, skipped, all of them: {numbers:?}", own.name));
    }
    if count("activations") + count("skipped") != grid.len() as u64 {
        broken.push(format!("{}: {} activations of {}", own.name, count("activations"), grid.len()));
    }
    if own.queue && count("skipped") > 0 {
        broken.push(format!("{}: {} are skipped", own.name, count("skipped")));
    }
    broken
}

/// The steps come to the stop time, then to Terminate and to the end.
fn ends(own: &Own, trace: &Trace, stop: f64) -> Option<String> {
    let reached = trace.events.iter().rev().find(|event| event.is("step", "end"))?.time;
    let last: Vec<&str> = trace.events.iter().rev().map(|event| event.what.as_str()).take(2).collect();
    let right = (reached - stop).abs() < 1e-9 && reached <= stop && last == ["free", "terminate"];
    (!right).then(|| format!("{}: the last step reaches {reached:?} of {stop:?}, then {last:?}", own.name))
}

/// At its begin a step has what was visible then: of delayed connections what the grids say, as long as nothing is late, and never
/// a value of later; of immediate ones at least as much.
fn inputs(drawn: &Drawn, number: usize, steps: &[Step], exact_until: f64) -> (usize, Vec<String>) {
    let (mut seen, mut broken) = (0, Vec::new());
    let grid = drawn.grid(number);
    for connection in &drawn.connections {
        let Target::Step(fmu, input) = connection.to else { continue };
        if fmu != number {
            continue;
        }
        let mut before: Option<f64> = None;
        for step in steps.iter().filter(|step| grid.contains(&step.point)) {
            let (at, value) = (step.point, step.inputs[input as usize - 10]);
            let visible = drawn.visible(connection.from, at);
            // In a loop of connections inputs keep their start values while FMUs are initialised.
            let may_be_unset = at >= exact_until || visible == drawn.start && drawn.is_in_loop(connection);
            if value.is_none() && may_be_unset {
                continue;
            }
            let has = value.unwrap_or(0.0);
            let is_right = match at < exact_until {
                true if connection.delayed => near(has, visible),
                true => has > visible.min(at) - 1e-9 && has <= latest(drawn, connection.from, at),
                false => is_late_but_right(drawn, connection, step, (before, has)),
            };
            if !is_right {
                broken.push(format!(
                    "{}: in the step from {:?} input {input} is {value:?}, of {connection:?}, and {visible:?} is visible",
                    drawn.own[number].name, at
                ));
            }
            before = value;
            seen += usize::from(at < exact_until);
        }
    }
    (seen, broken)
}

/// Whether an input may have this value, where it is not known what is late: never less than `before`. Of a delayed connection it
/// is nothing of later, seen from the release; the steps that an FMU of constant steps makes for one release are not known here.
fn is_late_but_right(drawn: &Drawn, connection: &Connection, step: &Step, (before, has): (Option<f64>, f64)) -> bool {
    let Target::Step(fmu, _) = connection.to else { return true };
    let is_one_step = drawn.own[fmu].varies || drawn.own[fmu].queue;
    let end = step.point + step.size;
    before.is_none_or(|before| has >= before)
        && (!connection.delayed || !is_one_step || has <= latest(drawn, connection.from, end))
}

/// The most that a source can show at a time: what it computes at that very instant.
fn latest(drawn: &Drawn, from: Source, time: f64) -> f64 {
    match from {
        Source::Step(fmu) => drawn.visible(from, time) + drawn.own[fmu].seconds() + 1e-9,
        Source::Partition => time + 1e-9,
    }
}

/// The partition `fast` has what steps have computed by its activation.
fn partition(drawn: &Drawn, run: &Outcome, exact_until: f64) -> Vec<String> {
    let to_it = |connection: &&Connection| connection.to == Target::Partition && connection.delayed;
    let Some(connection) = drawn.connections.iter().find(to_it) else { return Vec::new() };
    let signals = run.signals();
    let cells = |name: &str| signals.column(&format!("{TRACER}.{name}")).into_iter().map(str::parse::<f64>);
    let rows = cells("time_fast").zip(cells("in_f64")).filter_map(|(time, value)| time.ok().zip(value.ok()));
    let wrong = |(time, value): &(f64, f64)| {
        let visible = drawn.visible(connection.from, *time);
        // Clocked variables get nothing while FMUs are initialised.
        let is_unset = visible == drawn.start && *value == 0.0;
        *time < exact_until && !near(*value, visible) && !is_unset
    };
    rows.filter(wrong)
        .map(|row| format!("at an activation of fast and its input there: {row:?}, of {connection:?}"))
        .collect()
}

/// In real time all steps of an FMU are made by one thread on one core.
fn one_thread(own: &Own, trace: &Trace) -> Option<String> {
    let begins = |event: &&Event| event.is("step", "begin");
    let mut places: Vec<(u32, u32)> = trace.events.iter().filter(begins).map(|event| (event.tid, event.cpu)).collect();
    places.sort_unstable();
    places.dedup();
    (places.len() != 1).then(|| format!("{}: threads and cores of its steps: {places:?}", own.name))
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}
