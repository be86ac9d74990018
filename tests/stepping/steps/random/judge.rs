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
    /// The inputs `a` to `d`; `None`: never set.
    inputs: [Option<f64>; 4],
}

/// What is known of a run: how far the steps of each FMU have come, one after the other, and up to when nothing is late.
struct Known<'a> {
    drawn: &'a Drawn,
    ends: Vec<Vec<f64>>,
    /// To the end in virtual time; in real time as far as the report promises, if it promises all signals.
    exact_until: f64,
}

impl Known<'_> {
    /// What a delayed connection from a source shows at a time, if nothing is late.
    fn visible(&self, from: Source, time: f64) -> f64 {
        let Source::Step(fmu) = from else { return self.drawn.visible_of_partition(time) };
        let ends = &self.ends[fmu];
        let number = ends.partition_point(|end| *end <= time + 1e-9);
        if number == 0 { self.drawn.start } else { ends[number - 1] }
    }

    /// Whether a delayed connection may show this at a time, which is one of the consumer's grid or is not. Communication points
    /// that FMUs have chosen themselves may be the same time as others, each rounded in its own way.
    fn is_visible(&self, from: Source, (time, is_on_grid): (f64, bool), value: f64) -> bool {
        let is_chosen = |fmu: usize| !self.drawn.grid(fmu).iter().any(|instant| near(*instant, time));
        let may_be_rounded = !is_on_grid || matches!(from, Source::Step(fmu) if is_chosen(fmu));
        near(value, self.visible(from, time)) || may_be_rounded && near(value, self.visible(from, time - 2e-9))
    }

    /// The most that a source can show at a time: what it computes at that very instant.
    fn latest(&self, from: Source, time: f64) -> f64 {
        match from {
            Source::Step(fmu) => self.visible(from, time) + self.drawn.own[fmu].seconds() + 1e-9,
            Source::Partition => time + 1e-9,
        }
    }
}

/// Gives what is broken.
pub fn judge(drawn: &Drawn, run: &Outcome, is_virtual: bool) -> (Seen, Vec<String>) {
    let (mut seen, mut broken) = (Seen::default(), Vec::new());
    if run.code != 0 {
        return (seen, vec![format!("exit code {}: {}", run.code, run.stderr)]);
    }
    let traces: Vec<Trace> = drawn.own.iter().map(|own| run.trace(&own.name)).collect();
    let ends_of =
        |trace: &Trace| trace.events.iter().filter(|event| event.is("step", "end")).map(|event| event.time).collect();
    let known =
        Known { drawn, ends: traces.iter().map(ends_of).collect(), exact_until: exact_until(drawn, run, is_virtual) };
    for (number, (own, trace)) in drawn.own.iter().zip(&traces).enumerate() {
        if trace.violations() > 0 || trace.summary["dropped"] != "0" {
            broken.push(format!("{}: the FMU itself found {:?}", own.name, trace.summary));
        }
        let steps = steps(trace);
        broken.extend(points(drawn, number, &steps, run));
        broken.extend(ends(own, trace, drawn.stop));
        let (values, wrong) = inputs(&known, number, &steps);
        broken.extend(wrong);
        broken.extend(if is_virtual { unread(own, trace) } else { one_thread(own, trace) });
        seen += Seen {
            steps: steps.len(),
            values,
            events: trace.count("enter_event_mode", "note"),
            early: trace.events.iter().filter(|event| event.is("step", "end") && event.hash == 1).count(),
            late: run.count(&own.name, "step", "overruns"),
        };
    }
    broken.extend(partition(&known, run));
    (seen, broken)
}

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
                all.push(Step { point: event.time, inputs });
            }
            _ => (),
        }
    }
    all
}

/// Communication points are the doubles of the grid, each once; those that are missing were skipped, and a longer step has made
/// up for them. One at which an FMU has an event of its own, but for rounding, is told as the time of that.
fn points(drawn: &Drawn, number: usize, steps: &[Step], run: &Outcome) -> Vec<String> {
    let (own, grid) = (&drawn.own[number], drawn.grid(number));
    let mut broken = Vec::new();
    let rounding = grid.windows(2).next().map_or(0.0, |pair| 1e-9 * (pair[1] - pair[0]));
    let is_told = |point: &f64| own.has_more_points && grid.iter().any(|instant| (instant - point).abs() <= rounding);
    let is_on_grid = |point: &f64| grid.contains(point) || is_told(point);
    let on_grid: Vec<f64> = steps.iter().map(|step| step.point).filter(is_on_grid).collect();
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
    let released = count("activations") + count("skipped");
    if released < grid.len() as u64 || !own.has_more_points && released != grid.len() as u64 {
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

/// At its begin a step has what was visible then: of delayed connections what the communication points of the source say, as long
/// as nothing is late; of immediate ones at least as much.
fn inputs(known: &Known, number: usize, steps: &[Step]) -> (usize, Vec<String>) {
    let (drawn, grid) = (known.drawn, known.drawn.grid(number));
    let (mut seen, mut broken) = (0, Vec::new());
    for connection in &drawn.connections {
        let Target::Step(fmu, input) = connection.to else { continue };
        if fmu != number {
            continue;
        }
        let mut before: Option<f64> = None;
        for step in steps {
            let (at, value) = (step.point, step.inputs[input as usize - 10]);
            let (is_exact, visible) = (at < known.exact_until, known.visible(connection.from, at));
            // In a loop of connections inputs keep their start values while FMUs are initialised.
            let is_initial = visible == drawn.start && drawn.is_in_loop(connection);
            let may_be_unset = !is_exact || is_initial || connection.from == Source::Partition && visible == 0.0;
            if value.is_none() && may_be_unset {
                continue;
            }
            let has = value.unwrap_or(0.0);
            let is_right = match is_exact {
                true if connection.delayed => known.is_visible(connection.from, (at, grid.contains(&at)), has),
                true => has > visible.min(drawn.start) - 1e-9 && has <= known.latest(connection.from, at),
                // What is late may have missed versions, but never goes back.
                false => before.is_none_or(|before| has >= before),
            };
            if !is_right {
                broken.push(format!(
                    "{}: in the step from {:?} input {input} is {value:?}, of {connection:?}, and {visible:?} is visible",
                    drawn.own[number].name, at
                ));
            }
            before = value;
            seen += usize::from(is_exact);
        }
    }
    (seen, broken)
}

/// The partition `fast` has what steps have computed by its activation.
fn partition(known: &Known, run: &Outcome) -> Vec<String> {
    let to_it = |connection: &&Connection| connection.to == Target::Partition && connection.delayed;
    let Some(connection) = known.drawn.connections.iter().find(to_it) else { return Vec::new() };
    let signals = run.signals();
    let cells = |name: &str| signals.column(&format!("{TRACER}.{name}")).into_iter().map(str::parse::<f64>);
    let rows = cells("time_fast").zip(cells("in_f64")).filter_map(|(time, value)| time.ok().zip(value.ok()));
    let wrong = |(time, value): &(f64, f64)| {
        let visible = known.visible(connection.from, *time);
        // Clocked variables get nothing while FMUs are initialised.
        let is_unset = visible == known.drawn.start && *value == 0.0;
        *time < known.exact_until && !known.is_visible(connection.from, (*time, true), *value) && !is_unset
    };
    rows.filter(wrong)
        .map(|row| format!("at an activation of fast and its input there: {row:?}, of {connection:?}"))
        .collect()
}

/// What a step has computed is read before anything is set for the next one. (In real time a release that makes up for what was
/// missed reads at its end.)
fn unread(own: &Own, trace: &Trace) -> Option<String> {
    let mut last = None;
    for event in &trace.events {
        match event.what.as_str() {
            "step" | "get" => last = Some(event),
            "set" if last.is_some_and(|last| last.what == "step") => {
                return Some(format!("{}: nothing was read between {last:?} and {event:?}", own.name));
            }
            _ => (),
        }
    }
    None
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
