//! The promise of virtual time (semantics S15): the signals that real time records with the same bytes, as long as nothing is
//! late.
//!
//! Covered is a signal that depends on nothing but delayed connections from covered clocks, times that are known, and the own
//! state of a partition. Stated assumptions, which vecud cannot check: partitions of one FMU, and instances of one library, share
//! no memory, FMUs which take turns leave nothing to each other, and none keeps anything for one thread.

use super::connections::timing::name;
use super::{ConnectionPlan, FmuId, Plan, Release, SignalId, TriggerTime, UnitId, UnitPlan};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use vecud_description::ValueReference;

/// The covered signals, and the reasons for the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// Per unit: why its results are not covered; `None`: they are.
    pub units: Vec<Option<String>>,
    /// Per recorded column.
    pub signals: Vec<Option<String>>,
    /// FMUs with covered columns that have several partitions, which are assumed to share no memory.
    pub assumed: Vec<FmuId>,
    /// Instances of one library that do not take turns, in each group one with covered columns at least: they are assumed to share no
    /// memory, such as static variables.
    pub together: Vec<Vec<FmuId>>,
    /// Libraries, by their names, that FMUs share which do not take turns, with the groups of these FMUs that have covered columns: the
    /// promise assumes that they share no variables of these libraries.
    pub libraries: Vec<(String, Vec<FmuId>)>,
    /// Groups of FMUs that take turns and have covered columns: the promise assumes that no FMU leaves something for the step of
    /// another one.
    pub in_turns: Vec<Vec<FmuId>>,
}

impl Promise {
    /// The promise of a plan.
    pub fn of(plan: &Plan) -> Promise {
        let roots = super::roots(&plan.units);
        let setting = setting(plan);
        let mut units: Vec<Option<String>> =
            (0..plan.units.len()).map(|id| of_itself(plan, UnitId(id), &roots, &setting)).collect();
        // Everything that depends on an uncovered task is uncovered: the first of them each time.
        let followers = followers(plan);
        let of_uncovered = (0..units.len()).filter(|id| units[*id].is_some()).flat_map(|id| &followers[id]);
        let mut following: BTreeSet<UnitId> = of_uncovered.copied().collect();
        while let Some(id) = following.pop_first() {
            if units[id.0].is_none() {
                units[id.0] = through(plan, id, &units);
                following.extend(&followers[id.0]);
            }
        }
        let signals = signals(plan, &units);
        let several = |fmu: &FmuId| plan.units.iter().filter(|unit| unit.fmu == *fmu).count() > 1;
        let covered = |fmu: &FmuId| {
            let columns = plan.units.iter().zip(&units).filter(|(unit, why)| unit.fmu == *fmu && why.is_none());
            columns
                .flat_map(|(unit, _)| unit.recorded())
                .filter(|signal| plan.is_recorded(*signal))
                .any(|signal| signals[signal.0].is_none())
        };
        let all = || (0..plan.fmus.len()).map(FmuId);
        let assumed = all().filter(several).filter(covered).collect();
        let mut together = plan.instances();
        together.retain(|instances| !plan.take_turns(instances) && instances.iter().any(covered));
        let mut libraries = plan.libraries.clone();
        libraries.retain(|(_, fmus)| !plan.take_turns(fmus) && fmus.iter().any(covered));
        let in_turns = plan.serials.iter().map(|serial| serial.fmus.clone());
        let in_turns = in_turns.filter(|fmus| fmus.iter().any(covered)).collect();
        Promise { units, signals, assumed, together, libraries, in_turns }
    }

    /// Number of columns that are covered.
    pub fn covered(&self) -> usize {
        self.signals.iter().filter(|why| why.is_none()).count()
    }

    /// Whether something that is covered comes from this task.
    pub fn covers(&self, unit: UnitId) -> bool {
        self.units[unit.0].is_none()
    }
}

/// The tasks that set each input.
fn setting(plan: &Plan) -> HashMap<(FmuId, ValueReference), BTreeSet<UnitId>> {
    let mut setting: HashMap<_, BTreeSet<UnitId>> = HashMap::new();
    for (id, unit) in plan.units.iter().enumerate() {
        for item in unit.set.iter().flat_map(|batch| &batch.items) {
            setting.entry((unit.fmu, item.reference)).or_default().insert(UnitId(id));
        }
    }
    setting
}

/// Why a task is not covered, whatever the others are. `setting`: see [`setting`].
fn of_itself(
    plan: &Plan,
    id: UnitId,
    roots: &[Vec<UnitId>],
    setting: &HashMap<(FmuId, ValueReference), BTreeSet<UnitId>>,
) -> Option<String> {
    let unit = &plan.units[id.0];
    let own = name(plan, id);
    if let Some(endpoint) = plan.endpoints.iter().find(|endpoint| endpoint.target.unit == id) {
        let what = if endpoint.target.clock.is_some() { "has a clock that is ticked" } else { "is activated" };
        return Some(format!("{own} {what} by {}", endpoint.source));
    }
    match &unit.release {
        Release::Triggered { .. } if plan.trigger_time == TriggerTime::Now => {
            return Some(format!("{own} has the time of the wall clock (trigger_time = \"now\")"));
        }
        // A more urgent one that updates clocks brings the tick of another one as well, at its own time if it may tick (S4).
        Release::Triggered { .. } if !of_one_level(plan, &unit.caused_by) => {
            return Some(format!("several partitions may tick {own}, in the order in which they run"));
        }
        Release::Countdown => {
            let arming: Vec<UnitId> = unit.caused_by.iter().copied().filter(|by| *by != id).collect();
            if arming.len() > 1 {
                return Some(format!("several partitions may arm {own}, in the order in which they run"));
            }
            if let Some((by, other)) = arming.first().and_then(|by| Some((*by, updates_within(plan, *by, id)?))) {
                return Some(format!(
                    "{} may update clocks in the midst of {}, and {own} then counts from its time",
                    name(plan, other),
                    name(plan, by)
                ));
            }
        }
        _ => (),
    }
    let inputs = unit.set.iter().flat_map(|batch| &batch.items);
    let mut fed = inputs.clone().filter(|item| !item.stimuli.is_empty());
    if let Some(item) = fed.find(|item| setting[&(unit.fmu, item.reference)].len() > 1) {
        let fmu = &plan.fmus[unit.fmu.0].name;
        return Some(format!("several partitions set {fmu}.{}, which belongs to no clock alone", item.name));
    }
    for item in inputs {
        for connection in &item.connections {
            let planned = &plan.connections[connection.0];
            if planned.is_inside {
                continue;
            }
            let Some(delay) = &planned.delay else {
                return Some(format!("the connection {} is immediate", planned.arrow()));
            };
            if delay.consumers.len() > 1 {
                return Some(format!("several partitions set {}, which belongs to no clock alone", planned.to));
            }
            if delay.producers.len() > 1 {
                return Some(format!("several partitions may compute {}", planned.from));
            }
            for producer in &delay.producers {
                let release = &plan.units[producer.unit.0].release;
                let chained = !release.has_instants() && !matches!(release, Release::Changing | Release::Never);
                let known = |root: &UnitId| plan.units[root.0].release.has_instants();
                if chained && !matches!(roots[producer.unit.0].as_slice(), [root] if known(root)) {
                    let producer = name(plan, producer.unit);
                    return Some(format!(
                        "{} is of {producer}, and no one clock with known times is at the root of that",
                        planned.from
                    ));
                }
            }
        }
    }
    None
}

/// Whether no activation of these units can interrupt another one of them.
fn of_one_level(plan: &Plan, units: &[UnitId]) -> bool {
    units.windows(2).all(|pair| plan.units[pair[0].0].level == plan.units[pair[1].0].level)
}

/// A more urgent partition of the same FMU than `arming` that may update clocks, by the description: one that may tick an output
/// clock or arm a countdown, but for the countdown `armed` itself.
fn updates_within(plan: &Plan, arming: UnitId, armed: UnitId) -> Option<UnitId> {
    let own = &plan.units[arming.0];
    let of_fmu = |id: &UnitId| plan.units[id.0].fmu == own.fmu;
    let more_urgent = |id: &UnitId| plan.units[id.0].level < own.level;
    let fmu = &plan.fmus[own.fmu.0];
    let countdowns = fmu.countdowns().iter().filter(|other| **other != armed);
    let said = fmu.output_clocks.iter().map(|clock| &clock.ticked_by);
    let mut by = said.chain(countdowns.map(|other| &plan.units[other.0].caused_by));
    by.find_map(|units| match units.is_empty() {
        true => (0..plan.units.len()).map(UnitId).filter(of_fmu).find(more_urgent),
        false => units.iter().copied().find(more_urgent),
    })
}

/// Why a task is not covered since another one is not.
fn through(plan: &Plan, id: UnitId, units: &[Option<String>]) -> Option<String> {
    let unit = &plan.units[id.0];
    let uncovered = |other: &&UnitId| units[other.0].is_some();
    if let Some(by) = unit.caused_by.iter().find(uncovered) {
        return Some(format!("{} follows {}, which is not covered", name(plan, id), name(plan, *by)));
    }
    if let Some(other) = together(plan, id).iter().chain(&ticking(plan, id)).find(uncovered) {
        return Some(format!(
            "{} depends on the clocks of {}, which is not covered",
            name(plan, id),
            name(plan, *other)
        ));
    }
    let (planned, producer) = producers(plan, unit).find(|(_, producer)| uncovered(&producer))?;
    Some(format!("{} comes from {}, which is not covered", planned.to, name(plan, producer)))
}

/// For each task those that depend on it, as [`through`] looks at them.
fn followers(plan: &Plan) -> Vec<Vec<UnitId>> {
    let mut followers = vec![Vec::new(); plan.units.len()];
    for (id, unit) in plan.units.iter().enumerate() {
        let id = UnitId(id);
        let others = unit.caused_by.iter().copied().chain(together(plan, id)).chain(ticking(plan, id));
        let others = others.chain(producers(plan, unit).map(|(_, producer)| producer));
        others.for_each(|other| followers[other.0].push(id));
    }
    followers
}

/// The delayed connections that feed a task, each with the tasks that it comes from.
fn producers<'a>(plan: &'a Plan, unit: &'a UnitPlan) -> impl Iterator<Item = (&'a ConnectionPlan, UnitId)> {
    let connections = unit.set.iter().flat_map(|batch| &batch.items).flat_map(|item| &item.connections);
    connections.map(|connection| &plan.connections[connection.0]).flat_map(|planned| {
        let producers = planned.delay.iter().flat_map(|delay| &delay.producers);
        producers.map(move |producer| (planned, producer.unit))
    })
}

/// The units whose steps are made together with those of this one.
fn together(plan: &Plan, id: UnitId) -> Vec<UnitId> {
    let mut others: Vec<UnitId> = plan.task_of(id).units().iter().copied().filter(|other| *other != id).collect();
    others.sort_unstable();
    others
}

/// The tasks that may tick a clock between the steps of this one.
fn ticking(plan: &Plan, id: UnitId) -> Vec<UnitId> {
    let unit = &plan.units[id.0];
    let clocks = plan.fmus[unit.fmu.0].output_clocks.iter().filter(|_| unit.is_contiguous());
    let sources = clocks.filter_map(|clock| match clock.input.as_ref()?.release {
        Release::Triggered { fmu, output_clock } => Some(&plan.fmus[fmu.0].output_clocks[output_clock].ticked_by),
        _ => None,
    });
    sources.flatten().copied().filter(|other| *other != id).collect()
}

fn signals(plan: &Plan, units: &[Option<String>]) -> Vec<Option<String>> {
    let mut by: Vec<Vec<UnitId>> = vec![Vec::new(); plan.signals.len()];
    for (id, unit) in plan.units.iter().enumerate() {
        unit.recorded().filter(|signal| plan.is_recorded(*signal)).for_each(|signal| by[signal.0].push(UnitId(id)));
    }
    for fmu in &plan.fmus {
        for on_tick in fmu.on_ticks() {
            let columns = on_tick.batch.items.iter().flat_map(|item| item.signals.iter().copied());
            let tickers: BTreeSet<UnitId> =
                on_tick.clocks.iter().flat_map(|clock| fmu.output_clocks[*clock].ticked_by.iter().copied()).collect();
            // A partition that updates clocks in the midst of the only ticker reads them as well.
            let within = tickers.first().and_then(|by| updates_within(plan, *by, *by));
            for signal in columns.filter(|signal| plan.is_recorded(*signal)) {
                by[signal.0].extend(tickers.iter().chain(&within));
                if tickers.is_empty() {
                    // Undeclared tickers count as several.
                    by[signal.0].extend([UnitId(usize::MAX), UnitId(usize::MAX)]);
                }
            }
        }
    }
    let of = |by: &Vec<UnitId>| match by.as_slice() {
        [] => None,
        [unit] => units[unit.0].clone(),
        _ => Some("several partitions compute it: it belongs to no clock, or to several".to_owned()),
    };
    let mut signals: Vec<Option<String>> = by.iter().map(of).collect();
    clocks(plan, units).into_iter().for_each(|(signal, why)| signals[signal.0] = why);
    signals
}

/// The reasons why columns of clocks are not covered. Partitions of one level that may tick the same clock do so one after the
/// other, and the row has the ticks of all of them.
fn clocks(plan: &Plan, units: &[Option<String>]) -> BTreeMap<SignalId, Option<String>> {
    let mut tickers: BTreeMap<SignalId, Vec<UnitId>> = BTreeMap::new();
    for (id, unit) in plan.units.iter().enumerate() {
        let clocks = unit.ticks.iter().filter(|clock| plan.is_recorded(clock.signal));
        clocks.for_each(|clock| tickers.entry(clock.signal).or_default().push(UnitId(id)));
    }
    let why = |by: &[UnitId]| match of_one_level(plan, by) {
        true => by.iter().find_map(|unit| units[unit.0].clone()),
        false => Some("several partitions may tick it, in the order in which they run".to_owned()),
    };
    tickers.into_iter().map(|(signal, by)| (signal, why(&by))).collect()
}

/// The signals outside the promise, for `vecud check`, one reason a line with the columns that it concerns; and the assumptions
/// about the others.
pub(super) fn lines(plan: &Plan) -> (Vec<String>, Vec<String>) {
    const SHOWN: usize = 4;
    let promise = Promise::of(plan);
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (signal, why) in plan.signals.iter().zip(&promise.signals) {
        if let Some(why) = why {
            by_reason.entry(why).or_default().push(&signal.name);
        }
    }
    let line = |(why, columns): (&str, Vec<&str>)| {
        let more = if columns.len() > SHOWN { format!(" and {} more", columns.len() - SHOWN) } else { String::new() };
        format!("{}{more}: {why}", columns[..columns.len().min(SHOWN)].join(", "))
    };
    let mut outside: Vec<String> = by_reason.into_iter().map(line).collect();
    if plan.trigger_time == TriggerTime::Now {
        outside.push("activation times of triggered clocks (trigger_time = \"now\")".to_owned());
    }
    if !plan.requests.is_empty() {
        outside.push("activation times of clocks that tick on request".to_owned());
    }
    let live = plan.receiver.iter().flat_map(|_| &plan.endpoints).map(|endpoint| endpoint.source.items());
    for items in live.collect::<BTreeSet<_>>() {
        outside.push(format!("activation times of clocks that {items} activate"));
    }
    let mut inside = Vec::new();
    if promise.covered() > 0 {
        inside.push(format!("{} of {} columns, as long as nothing is late", promise.covered(), plan.signals.len()));
    }
    if !promise.assumed.is_empty() {
        let names: Vec<&str> = promise.assumed.iter().map(|fmu| plan.fmus[fmu.0].name.as_str()).collect();
        inside.push(format!(
            "assumed: columns of {} depend on no memory that its partitions share, which vecud cannot see",
            names.join(" and of ")
        ));
    }
    for instances in &promise.together {
        inside.push(format!(
            "assumed: {}, which are instances of one library, share no memory (static variables), which vecud cannot see; vecud validate \
             looks whether two of them compute what one alone does",
            plan.names(instances)
        ));
    }
    for (library, fmus) in &promise.libraries {
        inside.push(format!(
            "assumed: {}, which share {library}, leave nothing to each other in its static variables, which vecud cannot see",
            plan.names(fmus)
        ));
    }
    for fmus in &promise.in_turns {
        inside.push(format!(
            "assumed: {}, which take turns, leave nothing to each other from one step to the next (static variables, files), which vecud \
             cannot see",
            plan.names(fmus)
        ));
    }
    if promise.covered() > 0 {
        inside.push(
            "assumed: no FMU keeps anything for one thread (thread-local variables): in real time each of its tasks has a thread of its \
             own, and another one instantiates it"
                .to_owned(),
        );
    }
    (inside, outside)
}
