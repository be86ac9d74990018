//! Stimuli: each column that is used names an input that nothing else feeds, or a triggered clock that nothing else ticks.

use super::start_values::{Starts, start_of};
use crate::clocks::candidates::{Candidate, has_input_clock, is_input_clock, named};
use crate::clocks::released::released;
use crate::described::{DescribedFmu, NameMeaning, VariableId, find};
use crate::elements::{ElementSelection, longest};
use crate::findings::Findings;
use crate::sizes::is_resizable;
use crate::timetable::Timetable;
use crate::{
    BatchItem, FedClock, FedElement, FedValue, FmuPlan, Release, StimulusInput, StimulusPlan, TickTarget, UnitId,
    UnitPlan,
};
use vecud_description::{Causality, IntervalVariability, Variable, VariableType};

use crate::rig::{At, Diagnostic, Interpolation, Place, Rig, RigStimulus, VariableName, suggestion};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Words that the rows which are read ahead may take: 8 MiB.
const WORDS: usize = 1 << 20;
/// Rows that are read ahead at least, of numbers, and where strings and binaries make them long.
const LEAST_ROWS: (usize, usize) = (64, 8);
/// Bytes of a string or binary, unless the rig or `maxSize` gives another number.
const TEXT: usize = 4096;
/// Bytes that all strings and binaries of a row may have.
const TEXTS: usize = 16 << 20;
/// Rows that are read ahead where they are far apart.
const SLOW_ROWS: usize = 1024;
/// The number of columns of a file whose problems are reported.
const TOLD: usize = 20;

/// An element of an input and the column that feeds it.
pub struct FedInput {
    /// The stimulus of the rig.
    pub stimulus: usize,
    value: usize,
    /// Index of the element, counted from 0.
    pub element: usize,
}

/// The stimuli of a rig, and the variables that they feed.
pub struct Stimuli {
    plans: Vec<StimulusPlan>,
    inputs: BTreeMap<VariableId, Vec<FedInput>>,
    /// The candidates that the columns of each stimulus tick.
    ticked: Vec<Vec<usize>>,
}

/// Why a column feeds nothing.
enum Unfit {
    /// The column may be left out of a recording.
    Foreign(String),
    /// The column must not feed the variable.
    Wrong(String),
}

/// The use of a column, and the place of its errors.
struct UsedColumn<'a> {
    /// Cell of a row.
    cell: usize,
    column: &'a str,
    target: VariableName,
    /// A problem of this column.
    problem: Box<dyn Fn(String) -> Diagnostic + 'a>,
}

/// The target of a column.
enum ColumnTarget {
    Input { variable: VariableId, element: usize, capacity: Option<usize> },
    Clock { candidate: usize },
}

/// Finds the target of each column of all stimuli.
pub fn resolve(
    rig: &Rig,
    opened: &[StimulusInput],
    fmus: &[DescribedFmu],
    candidates: &[Candidate],
    findings: &mut Findings,
) -> Stimuli {
    let mut all = Stimuli { plans: Vec::new(), inputs: BTreeMap::new(), ticked: Vec::new() };
    let connected = ConnectedInputs::of(rig, if rig.stimuli.is_empty() { &[] } else { fmus });
    // The elements that have a source already: the column and its file.
    let mut taken: HashMap<(usize, usize, usize), String> = HashMap::new();
    for (stimulus, own) in rig.stimuli.iter().enumerate() {
        let mut plan = StimulusPlan {
            file: own.file.value.display().to_string(),
            interpolation: own.interpolation,
            cells: 1,
            values: Vec::new(),
            ticks: Vec::new(),
            grids: Vec::new(),
            left_out: 0,
            rows: SLOW_ROWS,
        };
        // Columns that tick, and the candidates that they do.
        let mut ticks: Vec<(FedClock, usize)> = Vec::new();
        // Without an open file there is no run either.
        let Some(opened) = opened.get(stimulus) else {
            all.plans.push(plan);
            all.ticked.push(Vec::new());
            continue;
        };
        plan.file = opened.file.display().to_string();
        plan.cells = 1 + opened.columns.len();
        let mut wrong = 0;
        let uses = uses(rig, own, opened, findings);
        let columns = uses.len();
        for (seen, used) in uses.into_iter().enumerate() {
            if wrong == TOLD {
                let message = format!("and {} more columns of {} were not looked at", columns - seen, plan.file);
                let hint = "columns = { \"fmu.input\" = \"column\" } uses only those that it names";
                findings.rig(own.file.place, format!("{message}; {hint}"));
                break;
            }
            let target = match target(rig, fmus, candidates, own, &connected, &used.target) {
                Ok(target) => target,
                Err(Unfit::Foreign(_)) if leaves_out(own) => continue,
                Err(Unfit::Foreign(message) | Unfit::Wrong(message)) => {
                    wrong += 1;
                    findings.problems.push((used.problem)(message));
                    continue;
                }
            };
            let key = match target {
                ColumnTarget::Input { variable, element, .. } => (variable.0, variable.1, element),
                ColumnTarget::Clock { candidate } => (usize::MAX, candidate, 0),
            };
            let here = format!("column \"{}\" of {}", used.column, plan.file);
            if let Some(first) = taken.insert(key, here) {
                wrong += 1;
                findings.problems.push((used.problem)(format!("{} is fed by {first} already", used.target)));
                continue;
            }
            match target {
                ColumnTarget::Input { variable, element, capacity } => {
                    let v = &fmus[variable.0].variables()[variable.1];
                    let own = all.inputs.entry(variable).or_default();
                    own.push(FedInput { stimulus, value: plan.values.len(), element });
                    plan.values.push(FedValue {
                        cell: used.cell,
                        column: used.column.to_owned(),
                        to: used.target.to_string(),
                        variable_type: v.variable_type,
                        items: fmus[variable.0].items(v).iter().map(|item| (item.name.clone(), item.value)).collect(),
                        capacity,
                        first: plan.words(),
                    });
                }
                ColumnTarget::Clock { candidate } => {
                    // The tasks are numbered later, by the order.
                    let target = TickTarget { unit: UnitId(usize::MAX), clock: None };
                    ticks.push((FedClock { cell: used.cell, column: used.column.to_owned(), target }, candidate));
                }
            }
        }
        ticks.sort_by_key(|(_, candidate)| candidates[*candidate].in_steps);
        let (ticks, ticked) = ticks.into_iter().unzip();
        plan.ticks = ticks;
        finish(&mut plan, own, opened, findings);
        all.plans.push(plan);
        all.ticked.push(ticked);
    }
    all
}

/// Notes ignored columns, and sets the read-ahead.
fn finish(plan: &mut StimulusPlan, own: &RigStimulus, opened: &StimulusInput, findings: &mut Findings) {
    let used: BTreeSet<usize> =
        plan.values.iter().map(|value| value.cell).chain(plan.ticks.iter().map(|tick| tick.cell)).collect();
    plan.left_out = opened.columns.len() - used.len();
    let texts: Vec<usize> = plan.values.iter().filter_map(|value| value.capacity).collect();
    match &own.max_size {
        Some(given) if texts.is_empty() => {
            let message = format!("max_size is for strings and binaries, and {} feeds none", plan.file);
            findings.rig(given.place, message);
        }
        given if texts.iter().fold(0, |all: usize, size| all.saturating_add(*size)) > TEXTS => {
            let place = given.as_ref().map_or(own.file.place, |given| given.place);
            let message = format!(
                "the strings and binaries that {} feeds may have more than {TEXTS} bytes in a row: give a smaller max_size, or feed \
                 some of them by a [[stimulus]] of their own (columns)",
                plan.file
            );
            findings.rig(place, message);
        }
        _ => (),
    }
    let width = 1 + plan.words() + plan.ticks.len();
    let least = if texts.is_empty() { LEAST_ROWS.0 } else { LEAST_ROWS.1 };
    let most = (WORDS / width).max(least);
    plan.rows = ((2.0 * opened.rate) as usize).max(SLOW_ROWS).min(most);
    if used.is_empty() {
        if findings.problems.is_empty() {
            let message =
                format!("{} has no column that fits an input of this rig which nothing else feeds", plan.file);
            findings
                .rig(own.file.place, format!("{message}; columns = {{ \"fmu.input\" = \"column\" }} says what fits"));
        }
    // In a trajectory each column has an owner, maybe another stimulus.
    } else if plan.left_out > 0 && !own.jumps {
        findings.note(format!(
            "{} of the {} columns of {} feed nothing and are left out",
            plan.left_out,
            opened.columns.len(),
            plan.file
        ));
    }
}

/// The used columns, with their targets.
fn uses<'a>(
    rig: &'a Rig,
    own: &'a RigStimulus,
    opened: &'a StimulusInput,
    findings: &mut Findings,
) -> Vec<UsedColumn<'a>> {
    let names = || opened.columns.iter().map(|column| column.value.as_str());
    let Some(columns) = &own.columns else {
        let by_name = |(index, column): (usize, &'a At<String>)| {
            let cell = index + 1;
            let problem = move |message: String| {
                Diagnostic::new(&opened.file, column.place, format!("column {}: {message}", cell + 1))
            };
            let target = match column.value.split_once('.') {
                Some((fmu, variable)) => VariableName { fmu: fmu.to_owned(), variable: variable.to_owned() },
                None => VariableName { fmu: String::new(), variable: column.value.clone() },
            };
            UsedColumn { cell, column: &column.value, target, problem: Box::new(problem) }
        };
        return opened.columns.iter().enumerate().map(by_name).collect();
    };
    let mut uses = Vec::new();
    for (fed, written) in columns {
        let mut same = names().enumerate().filter(|(_, name)| *name == written.value).map(|(index, _)| index);
        let Some(index) = same.next() else {
            let hint = suggestion(&written.value, names());
            let hint = if hint.is_empty() { some_of(names()) } else { hint };
            let file = opened.file.display();
            findings.rig(written.place, format!("{file} has no column \"{}\"{hint}", written.value));
            continue;
        };
        if let Some(other) = same.next() {
            let (file, column, cells) = (opened.file.display(), &written.value, (index + 2, other + 2));
            let message =
                format!("{file} has 2 columns \"{column}\" ({} and {}): nobody knows which", cells.0, cells.1);
            findings.rig(written.place, format!("{message} one is meant"));
            continue;
        }
        let place = fed.place;
        let problem = move |message: String| Diagnostic::new(rig.origin(place), place, message);
        let target = fed.value.clone();
        uses.push(UsedColumn { cell: index + 1, column: &written.value, target, problem: Box::new(problem) });
    }
    uses
}

/// A few names of columns.
fn some_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<&str> = names.take(6).collect();
    if names.len() == 6 {
        names[5] = "…";
    }
    format!("; it has {}", names.join(", "))
}

/// Whether columns that feed nothing are left out without a word: those of a recording that the rig does not name.
fn leaves_out(own: &RigStimulus) -> bool {
    own.recording && own.columns.is_none()
}

/// Finds the target of a column.
fn target(
    rig: &Rig,
    fmus: &[DescribedFmu],
    candidates: &[Candidate],
    own: &RigStimulus,
    connected: &ConnectedInputs,
    to: &VariableName,
) -> Result<ColumnTarget, Unfit> {
    use Unfit::{Foreign, Wrong};
    // What nobody is told takes no search for similar names.
    let is_silent = leaves_out(own);
    let Some(fmu) = fmus.iter().position(|described| described.name() == to.fmu) else {
        if is_silent {
            return Err(Foreign(String::new()));
        }
        let every = fmus.iter().flat_map(|described| {
            let fits = described.variables().iter().filter(|v| v.causality == Causality::Input);
            fits.map(|v| format!("{}.{}", described.name(), v.name))
        });
        let every: Vec<String> = every.collect();
        let written = if to.fmu.is_empty() { to.variable.clone() } else { to.to_string() };
        let hint = suggestion(&written, every.iter().map(String::as_str));
        let hint = if hint.is_empty() { some_of(fmus.iter().map(DescribedFmu::name)) } else { hint };
        return Err(Foreign(format!("\"{written}\" begins with no FMU of the rig{hint}")));
    };
    let described = &fmus[fmu];
    if let Some((index, element)) =
        named(described, &to.variable).filter(|(i, _)| described.variables()[*i].clock.is_some())
    {
        return clock(rig, described, fmu, candidates, (index, element), to);
    }
    let (index, selection) = match find(described, &to.variable) {
        NameMeaning::Elements(index, selection) => (index, selection),
        NameMeaning::Unsuitable(message) => return Err(Wrong(message)),
        NameMeaning::Nothing if is_silent => return Err(Foreign(String::new())),
        NameMeaning::Nothing => {
            let hint = match described.suggest(&to.variable, |v| v.causality == Causality::Input) {
                none if none.is_empty() => "; vecud inspect lists them".to_owned(),
                hint => hint,
            };
            return Err(Foreign(format!("{} has no variable \"{}\"{hint}", described.name(), to.variable)));
        }
    };
    let v = &described.variables()[index];
    if v.causality != Causality::Input {
        let what = v.causality.with_article();
        return Err(Foreign(format!("{to} is {what}: a stimulus feeds inputs and triggered input clocks")));
    }
    if !has_input_clock(described, v) {
        return Err(Foreign(format!(
            "{to} belongs to an output clock: setting it is not supported yet by this version of vecud"
        )));
    }
    if let Some(place) = connected.place((fmu, index), &selection) {
        let place = format!("{}:{}", rig.file.display(), place.line);
        return Err(Foreign(format!("{to} has a source already, a connection ({place}): an input has one")));
    }
    let element = match selection.runs.as_slice() {
        [run] if run.len() == 1 => run.start,
        _ => {
            let message = format!("{to} has {} elements: a column feeds one, such as {to}[1]", selection.elements());
            return Err(Wrong(message));
        }
    };
    if is_resizable(described, v) {
        return Err(Wrong(format!("{to} can get another size while it runs: a stimulus feeds arrays of fixed size")));
    }
    let floats = matches!(v.variable_type, VariableType::Float32 | VariableType::Float64);
    if own.interpolation == Interpolation::Linear && !floats {
        let kind = v.variable_type.name();
        return Err(Wrong(format!(
            "{to} is {kind}: interpolation = \"linear\" is for Float32 and Float64; feed it by a [[stimulus]] of its own \
             (columns), with \"hold\""
        )));
    }
    Ok(ColumnTarget::Input { variable: (fmu, index), element, capacity: capacity(v, own) })
}

/// Bytes that a string or binary may have which this stimulus feeds.
fn capacity(v: &Variable, own: &RigStimulus) -> Option<usize> {
    let given = own.max_size.as_ref().map_or(TEXT, |size| size.value);
    let largest = v.max_size.map_or(usize::MAX, |size| usize::try_from(size).unwrap_or(usize::MAX));
    match v.variable_type {
        VariableType::String => Some(given),
        VariableType::Binary => Some(given.min(largest)),
        _ => None,
    }
}

/// The elements of inputs that connections feed, and where these are.
struct ConnectedInputs(HashMap<VariableId, Vec<(ElementSelection, Place)>>);

impl ConnectedInputs {
    fn of(rig: &Rig, fmus: &[DescribedFmu]) -> ConnectedInputs {
        let by_name: HashMap<&str, usize> = fmus.iter().enumerate().map(|(fmu, own)| (own.name(), fmu)).collect();
        let mut all: HashMap<VariableId, Vec<_>> = HashMap::new();
        for to in rig.connects.iter().map(|connect| &connect.to) {
            if let Some(&fmu) = by_name.get(to.value.fmu.as_str())
                && let NameMeaning::Elements(index, elements) = find(&fmus[fmu], &to.value.variable)
            {
                all.entry((fmu, index)).or_default().push((elements, to.place));
            }
        }
        ConnectedInputs(all)
    }

    /// The place of the connection that feeds one of these elements.
    fn place(&self, variable: VariableId, selection: &ElementSelection) -> Option<Place> {
        let (_, place) = self.0.get(&variable)?.iter().find(|(elements, _)| elements.overlaps(selection))?;
        Some(*place)
    }
}

fn clock(
    rig: &Rig,
    described: &DescribedFmu,
    fmu: usize,
    candidates: &[Candidate],
    (index, element): (usize, Option<usize>),
    to: &VariableName,
) -> Result<ColumnTarget, Unfit> {
    use Unfit::{Foreign, Wrong};
    let v = &described.variables()[index];
    let Some(c) = v.clock.as_ref().filter(|_| is_input_clock(v)) else {
        return Err(Foreign(format!("{to} is no input clock: nothing can trigger it")));
    };
    if let Some(by) = c.triggered_by {
        let by = described.find_reference(by).map_or("an output clock", |i| &described.variables()[i].name);
        return Err(Foreign(format!("{to} is triggered by {by} of the FMU itself (triggeredBy): no stimulus can")));
    }
    if c.interval_variability != IntervalVariability::Triggered {
        let kind = c.interval_variability.name_in(described.abi());
        let wanted = IntervalVariability::Triggered.name_in(described.abi());
        return Err(Foreign(format!("{to} is a {kind} clock: a stimulus ticks only {wanted} clocks")));
    }
    if !described.is_scheduled() && !described.handles_events() {
        let fmu = described.name();
        return Err(Wrong(format!("{fmu} has no Event Mode (hasEventMode), in which alone clocks tick between steps")));
    }
    let meant = |d: &usize| candidates[*d].is_of(fmu, index, element);
    let targets: Vec<usize> = (0..candidates.len()).filter(meant).collect();
    let [candidate] = targets.as_slice() else {
        return Err(Wrong(format!("{to} is an array: a column ticks one element, such as {to}[1]")));
    };
    let same = |other: &VariableName| {
        other.fmu == to.fmu
            && named(described, &other.variable)
                .is_some_and(|(i, e)| i == index && candidates[*candidate].is_of(fmu, i, e))
    };
    if let Some(trigger) = rig.triggers.iter().find(|trigger| same(&trigger.clock.value)) {
        let place = format!("{}:{}", rig.file.display(), trigger.clock.place.line);
        return Err(Foreign(format!("{to} has a trigger already, a [[trigger]] ({place}): a clock has one")));
    }
    Ok(ColumnTarget::Clock { candidate: *candidate })
}

impl Stimuli {
    /// Makes candidates that a column ticks be released by it.
    pub fn ticking(&self, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
        for (stimulus, ticked) in self.ticked.iter().enumerate() {
            for (tick, &candidate) in ticked.iter().enumerate() {
                candidates[candidate].release = Release::Stimulus { stimulus, tick };
            }
        }
        candidates
    }

    /// The variables that are fed, each with its elements that are.
    pub fn fed(&self) -> &BTreeMap<VariableId, Vec<FedInput>> {
        &self.inputs
    }

    /// The elements of a variable that are fed.
    fn own(&self, variable: VariableId) -> &[FedInput] {
        self.inputs.get(&variable).map(Vec::as_slice).unwrap_or_default()
    }

    /// The column of its file that feeds an element, counted from 0 after the time.
    pub fn column(&self, input: &FedInput) -> usize {
        self.plans[input.stimulus].values[input.value].cell - 1
    }

    /// Whether a stimulus feeds this input.
    pub fn feeds(&self, variable: VariableId) -> bool {
        self.inputs.contains_key(&variable)
    }

    /// Whether stimuli hold the values of this input from one row to the next.
    pub fn holds(&self, variable: VariableId) -> bool {
        self.own(variable).iter().all(|input| self.plans[input.stimulus].interpolation == Interpolation::Hold)
    }

    /// Checks that an array with fed elements has values for the others. `is_connected`: whether connections feed an input.
    pub fn check_parts(
        &self,
        rig: &Rig,
        fmus: &[DescribedFmu],
        is_connected: impl Fn(VariableId) -> bool,
        starts: &[Starts],
        findings: &mut Findings,
    ) {
        for (&(fmu, index), own) in &self.inputs {
            let (described, v) = (&fmus[fmu], &fmus[fmu].variables()[index]);
            let is_whole = self.is_whole(described, (fmu, index), is_connected((fmu, index)));
            if is_whole || start_of(described, index, &starts[fmu]).is_some() {
                continue;
            }
            findings.rig(
                rig.stimuli[own[0].stimulus].file.place,
                format!(
                    "{}.{} has no start value for the elements that no column feeds: feed all of them",
                    described.name(),
                    v.name
                ),
            );
        }
    }

    /// Whether every element is fed by a stimulus.
    fn is_whole(&self, described: &DescribedFmu, variable: VariableId, is_connected: bool) -> bool {
        self.own(variable).len() == described.elements(&described.variables()[variable.1]) && !is_connected
    }

    /// Adds the stimuli's elements to an input, which may have connections as well. `starts`: those of its FMU.
    pub fn feed(
        &self,
        described: &DescribedFmu,
        starts: &Starts,
        variable: VariableId,
        is_connected: bool,
        item: &mut BatchItem,
    ) {
        let own = self.own(variable).iter();
        item.stimuli = own
            .map(|input| FedElement { stimulus: input.stimulus, value: input.value, element: input.element })
            .collect();
        let capacity = |fed: &FedElement| self.plans[fed.stimulus].values[fed.value].capacity;
        if !item.stimuli.is_empty() && !self.is_whole(described, variable, is_connected) {
            item.start = start_of(described, variable.1, starts);
        }
        let rooms = item.stimuli.iter().filter_map(capacity).chain(item.start.as_ref().map(longest));
        item.capacity = rooms.fold(item.capacity, usize::max);
    }

    /// The plans of the stimuli, with the tasks and the clocks between steps that they tick.
    pub fn plans(&self, units: &[UnitPlan], fmus: &[FmuPlan], times: &Timetable) -> Vec<StimulusPlan> {
        let mut plans = self.plans.clone();
        for (stimulus, plan) in plans.iter_mut().enumerate() {
            for (tick, own) in plan.ticks.iter_mut().enumerate() {
                let release = Release::Stimulus { stimulus, tick };
                own.target = released(&release, units, fmus).expect("it releases something");
            }
            let feeds = |unit: &UnitPlan| {
                let mut fed = unit.set.iter().flat_map(|batch| &batch.items).flat_map(|item| &item.stimuli);
                fed.any(|fed| fed.stimulus == stimulus)
            };
            let ticks = |unit: usize| plan.ticks.iter().any(|tick| tick.target.unit == UnitId(unit));
            let fed = (0..units.len()).filter(|unit| ticks(*unit) || feeds(&units[*unit]));
            plan.grids = fed.flat_map(|unit| units[unit].steps_on(times.start, times.stop)).collect();
        }
        plans
    }
}
