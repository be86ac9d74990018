//! The steps of the initialisation: the variables that are set and read in each.

use super::order::{self, InitialBlock, InitialVariables, Ordered, Port};
use crate::connections::links::Link;
use crate::described::{DescribedFmu, VariableId};
use crate::findings::Findings;
use crate::inputs::start_values::start_of;
use crate::resolved::Resolved;
use crate::tasks::batches;
use crate::{ClosingConnection, ConnectionId, FmuId, InitialLoop, InitialStep};
use std::collections::HashSet;
use vecud_description::{Causality, Values, Variability, Variable};

/// All steps, in their order.
pub fn plan(resolved: &Resolved, findings: &mut Findings) -> Vec<InitialStep> {
    let links: Vec<(usize, &Link)> =
        resolved.links.iter().enumerate().filter(|(_, link)| carries(resolved, link)).collect();
    let variables = variables(resolved, &links);
    let Ordered { sequence, cut } = order::order(resolved, &links, &variables, findings);
    let kept: HashSet<VariableId> =
        links.iter().filter(|(number, _)| !cut.contains(number)).map(|(_, link)| link.target).collect();
    let taken = |sequence: Vec<(usize, Port)>| {
        let mut steps = Steps { resolved, cut: &cut, done: Vec::new(), fmu: 0, set: Vec::new(), get: Vec::new() };
        for (fmu, port) in sequence {
            match port {
                Port::Enter => steps.enter(fmu),
                Port::AllSet => {}
                Port::Set(input) if kept.contains(&(fmu, input)) => steps.set(fmu, input),
                Port::Set(_) => {}
                // The variable keeps its start value, which only the FMU has for an array of another size.
                Port::Get(variable)
                    if variables[fmu].set.contains(&variable)
                        && !kept.contains(&(fmu, variable))
                        && !resolved.fmus[fmu].is_resized(&resolved.fmus[fmu].variables()[variable]) => {}
                Port::Get(variable) => steps.get(fmu, variable),
            }
        }
        steps.complete();
        steps.done
    };
    let mut steps = Vec::new();
    for part in sequence {
        match part {
            InitialBlock::Plain(events) => steps.extend(taken(events)),
            InitialBlock::Loop { closing, events } => steps.push(InitialStep::Solve(InitialLoop {
                closing: closing.into_iter().map(|link| self::closing(resolved, link)).collect(),
                steps: taken(events),
            })),
        }
    }
    for (fmu, InitialVariables { later, .. }) in variables.into_iter().enumerate() {
        let read = batches::read(resolved, fmu, later).into_iter();
        steps.extend(read.map(|batch| InitialStep::GetInitialised { fmu: FmuId(fmu), batch }));
    }
    steps
}

/// The connection of the link of this number, which closes a loop.
fn closing(resolved: &Resolved, link: usize) -> ClosingConnection {
    let Link { target: (fmu, variable), to, .. } = &resolved.links[link];
    let described = &resolved.fmus[*fmu];
    let elements = to.runs.iter().cloned().flatten();
    let start = match start_of(described, *variable, &resolved.starts[*fmu]) {
        Some(Values::Float64(all)) => elements.map(|element| all[element]).collect(),
        // Only the FMU has the start value of an array of another size.
        _ => elements.map(|_| 0.0).collect(),
    };
    let nominal = described.variables()[*variable].nominal.unwrap_or(1.0);
    ClosingConnection { connection: ConnectionId(link), fmu: FmuId(*fmu), nominal, start }
}

/// Whether a connection has a value initially.
fn carries(Resolved { fmus, .. }: &Resolved, link: &Link) -> bool {
    let variable = |(fmu, index): VariableId| &fmus[fmu].variables()[index];
    readable(variable(link.source)) && variable(link.target).clocks.is_empty()
}

/// Whether a variable has a value in Initialization Mode that belongs to no clock.
fn readable(v: &Variable) -> bool {
    v.clocks.is_empty() && v.initial.is_some()
}

/// The variables of each FMU that these links need.
fn variables(resolved: &Resolved, links: &[(usize, &Link)]) -> Vec<InitialVariables> {
    let mut all: Vec<InitialVariables> = resolved.fmus.iter().map(|_| InitialVariables::default()).collect();
    for (_, link) in links {
        all[link.source.0].feeding.insert(link.source.1);
        all[link.target.0].set.insert(link.target.1);
    }
    for (fmu, own) in all.iter_mut().enumerate() {
        let needed = &resolved.needed[fmu];
        let is_read = |&index: &usize| {
            let described = &resolved.fmus[fmu];
            let v = &described.variables()[index];
            match v.causality {
                // Recorded: its start value may differ from its first value. Most inputs are recorded where they are set.
                Causality::Input => {
                    v.clocks.is_empty() && (needed.is_input_read(described, index) || described.is_resized(v))
                }
                _ => {
                    let is_computed = is_computed(described, v) || needed.is_given_by_another_name(described, index);
                    readable(v) && (is_computed || !resolved.links.fed_by((fmu, index)).is_empty())
                }
            }
        };
        let given = given(&resolved.fmus[fmu]);
        let is_given =
            |index: &usize| given.as_ref().is_none_or(|given| given.contains(&resolved.fmus[fmu].place(*index)));
        (own.get, own.later) = needed.read.iter().copied().filter(is_read).partition(is_given);
    }
    all
}

/// The [places](DescribedFmu::place) of the values that an FMU gives in Initialization Mode; `None`: all. A source of a
/// connection is an output, and so among them.
fn given(described: &DescribedFmu) -> Option<HashSet<usize>> {
    let variables = || described.variables().iter().enumerate();
    let outputs =
        variables().filter(|(_, v)| v.causality == Causality::Output).map(|(index, _)| described.place(index));
    let description = described.input.description;
    let unknowns = description.structure.initial_unknowns.iter();
    let unknowns = unknowns.filter_map(|unknown| description.place(unknown.variable));
    described.abi().gives_unknowns_alone_in_initialization_mode().then(|| outputs.chain(unknowns).collect())
}

/// Whether only the FMU has the initial value of a variable.
fn is_computed(described: &DescribedFmu, v: &Variable) -> bool {
    let given = v.variability == Variability::Constant
        || matches!(v.causality, Causality::Parameter | Causality::StructuralParameter);
    // For an array that the rig has resized only the FMU has the start value.
    !given || described.is_resized(v)
}

/// The steps so far, and the variables of the next ones: variables of one FMU that follow each other are one step for each type.
struct Steps<'a> {
    resolved: &'a Resolved<'a>,
    /// The connections, by their numbers, that have no value in time.
    cut: &'a HashSet<usize>,
    done: Vec<InitialStep>,
    /// The FMU whose variables are collected for the next step.
    fmu: usize,
    /// Variables that are set before any of `get` is read.
    set: Vec<usize>,
    get: Vec<usize>,
}

impl Steps<'_> {
    fn enter(&mut self, fmu: usize) {
        self.complete();
        self.done.push(InitialStep::Enter(FmuId(fmu)));
    }

    fn set(&mut self, fmu: usize, input: usize) {
        if fmu != self.fmu || !self.get.is_empty() {
            self.complete();
        }
        self.fmu = fmu;
        self.set.push(input);
    }

    fn get(&mut self, fmu: usize, variable: usize) {
        if fmu != self.fmu {
            self.complete();
        }
        self.fmu = fmu;
        self.get.push(variable);
    }

    fn complete(&mut self) {
        let fmu = FmuId(self.fmu);
        let (mut set, mut get) = (std::mem::take(&mut self.set), std::mem::take(&mut self.get));
        set.sort_unstable();
        get.sort_unstable();
        for mut batch in batches::written(self.resolved, fmu.0, set) {
            for item in &mut batch.items {
                item.connections.retain(|connection| !self.cut.contains(&connection.0));
            }
            self.done.push(InitialStep::Set { fmu, batch });
        }
        let read = batches::read(self.resolved, fmu.0, get).into_iter();
        self.done.extend(read.map(|batch| InitialStep::Get { fmu, batch }));
    }
}
