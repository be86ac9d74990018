//! `[master.NAME]`: the order in which FMUs that make their steps together exchange values, and the capabilities of each
//! (semantics S24).
//!
//! The order of values and of FMUs comes from names alone: a rig whose tables stand in another order has the same results.

use super::clocks::{ClockNetwork, TickSource};
use super::described::{DescribedFmu, VariableId};
use super::findings::Findings;
use super::groups::members;
use super::resolved::Resolved;
use super::steps;
use super::{ConnectionId, FmuId, MasterPlan, SlavePlan, TaskId, TaskPlan, TaskWork, UnitId, UnitPlan, WirePlan};
use crate::rig::{Loops, MasterClass, Place, RigMaster};
use vecud_base::time::Fraction;
use vecud_description::{Causality, InterfaceOffer, Unknown, VariableType};
use vecud_solver::master::{
    self, Abilities, ClassReason, Classes, Dependencies, ExchangeStep, NoWayBack, SlaveClass, Source, Unfit, WayBack,
    classify,
};

/// Default of `max_events`: steps of a group within one release.
const REPEATS: u32 = 100;

/// The capabilities of an FMU for Co-Simulation, in steps over `step`.
fn abilities(described: &DescribedFmu, clocks: &ClockNetwork, fmu: usize, step: Fraction) -> Abilities {
    let (Some(InterfaceOffer::CoSimulation(own)), Some(can)) = (described.offer, described.steps()) else {
        return Abilities {
            varies_step: true,
            may_return_early: true,
            way_back: Err(NoWayBack::State),
            sources: Vec::new(),
        };
    };
    let has_clocks = clocks.tick_sources[fmu].iter().any(|source| source.step_clock.is_some());
    let mut sources = Vec::new();
    if described.handles_events() {
        sources.push(Source::NextEventTime);
    }
    if has_clocks {
        sources.push(Source::ClockTick);
    }
    if described.input.tells_max_step {
        sources.push(Source::GetMaxStepSize);
    }
    if let Some(internal) = steps::internal_step(described) {
        sources.push(Source::InternalStep(steps::last_multiple(internal, step)));
    }
    if let Some(max_step) = &described.rig.max_step {
        sources.push(Source::Rig(max_step.value));
    }
    if !can.varies {
        sources.push(Source::ConstantStep(step));
    }
    Abilities {
        varies_step: can.varies,
        may_return_early: can.may_return_early || !described.abi().tells_of_early_returns(),
        way_back: match own.common.can_get_and_set_fmu_state {
            true => Ok(WayBack::State),
            false if own.can_reject_steps => Ok(WayBack::RejectedStep),
            false if !described.abi().has_states() => Err(NoWayBack::RejectedStep),
            false => Err(NoWayBack::State),
        },
        sources,
    }
}

/// Adds their masters to the groups. Impossible groups, and loops, are reported.
pub(super) fn join(resolved: &Resolved, tasks: &mut [TaskPlan], units: &[UnitPlan], findings: &mut Findings) {
    for master in &resolved.rig.masters {
        if let Some((task, own)) = plan(resolved, master, units, findings)
            && let TaskWork::Group(group) = &mut tasks[task.0].work
        {
            group.master = Some(own);
        }
    }
}

fn plan(
    resolved: &Resolved,
    master: &RigMaster,
    units: &[UnitPlan],
    findings: &mut Findings,
) -> Option<(TaskId, MasterPlan)> {
    let Resolved { fmus, clocks, .. } = resolved;
    let members = members(fmus, master);
    let steps_of = |fmu: usize| {
        let its = |unit: &UnitPlan| unit.fmu == FmuId(fmu) && unit.makes_steps();
        units.iter().position(its).map(UnitId)
    };
    let task = units[steps_of(*members.first()?)?.0].task;
    let step = clocks.candidates[clocks.steps_of(*members.first()?)?].period?;
    let (integrated, stepping): (Vec<usize>, Vec<usize>) =
        members.iter().copied().partition(|fmu| fmus[*fmu].model_exchange().is_some());
    let mut slaves: Vec<(SlavePlan, Vec<usize>)> = Vec::new();
    for these in stepping.iter().map(|fmu| vec![*fmu]).chain((!integrated.is_empty()).then(|| integrated.clone())) {
        let members = these.iter().filter_map(|fmu| steps_of(*fmu)).collect();
        slaves.push((SlavePlan { name: fmus[these[0]].name().to_owned(), members }, these));
    }
    slaves.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    let classes = classes(resolved, master, &slaves, step, findings)?;
    check_ticks(resolved, master, &slaves, findings);
    let wires = wires(resolved, &members, &steps_of);
    let is_inner = |wire: &&WirePlan| {
        let is_integrated = |unit: UnitId| integrated.contains(&units[unit.0].fmu.0);
        is_integrated(wire.from) && is_integrated(wire.to)
    };
    let order = Order::of(resolved, master, &wires, findings);
    let among = |inner: bool| {
        let these = |wire: &usize| !wires[*wire].in_event_mode && (!inner || is_inner(&&wires[*wire]));
        order
            .exchanges
            .iter()
            .filter_map(|exchange| match exchange {
                ExchangeStep::Connection(wire) => Some(ExchangeStep::Connection(*wire)).filter(|_| these(wire)),
                ExchangeStep::Loop(loops) => {
                    let loops: Vec<usize> = loops.iter().copied().filter(|wire| these(wire)).collect();
                    Some(ExchangeStep::Loop(loops))
                        .filter(|kept| !matches!(kept, ExchangeStep::Loop(wires) if wires.is_empty()))
                }
            })
            .collect::<Vec<_>>()
    };
    let (exchanges, inner) = (among(false), among(true));
    let own = MasterPlan {
        name: master.name.value.clone(),
        algorithm: master.algorithm,
        slaves: slaves.into_iter().map(|(slave, _)| slave).collect(),
        classes,
        wires,
        exchanges,
        inner,
        max_events: master.integration.max_events.as_ref().map_or(REPEATS, |at| at.value),
    };
    Some((task, own))
}

/// The class of each slave; `None`: they cannot be a group, which is reported.
fn classes(
    resolved: &Resolved,
    master: &RigMaster,
    slaves: &[(SlavePlan, Vec<usize>)],
    step: Fraction,
    findings: &mut Findings,
) -> Option<Classes> {
    let Resolved { fmus, clocks, .. } = resolved;
    let candidates: Vec<master::UnclassifiedSlave> = slaves
        .iter()
        .map(|(slave, these)| master::UnclassifiedSlave {
            name: &slave.name,
            abilities: match fmus[these[0]].model_exchange() {
                Some(_) => integrated(fmus, these),
                None => abilities(&fmus[these[0]], clocks, these[0], step),
            },
            wish: fmus[these[0]].rig.class.as_ref().map(|class| match class.value {
                MasterClass::Predictable => SlaveClass::Predictable,
                MasterClass::Rollback => SlaveClass::Rollback,
                MasterClass::Legacy => SlaveClass::Legacy,
            }),
        })
        .collect();
    let (name, place) = (&master.name.value, master.name.place);
    match classify(&candidates, master.algorithm, step) {
        Ok(classes) => {
            if master.algorithm.takes_back() {
                let fixed = candidates.iter().zip(classes.slaves());
                let fixed =
                    fixed.filter(|(_, own)| matches!(own.why, ClassReason::OneStepSize | ClassReason::OtherStepSize));
                for (slave, own) in fixed {
                    findings.rig(
                        place,
                        format!(
                            "[master.{name}] cannot be: steps of it end where one of its FMUs stops early, and {}: {}; take it out of the \
                             group, or use algorithm = \"jacobi\" or \"gauss-seidel\"",
                            slave.name, own.why
                        ),
                    );
                }
                let each = candidates.iter().zip(classes.slaves());
                let each: Vec<String> =
                    each.map(|(slave, own)| format!("{} is {} ({})", slave.name, own.class, own.why)).collect();
                findings.note(format!("[master.{name}]: {}", each.join("; ")));
            }
            Some(classes)
        }
        Err(unfit) => {
            let wished = match &unfit {
                Unfit::Wish { name, .. } => class_of(fmus, name),
                _ => None,
            };
            findings.rig(wished.unwrap_or(place), format!("[master.{name}] cannot be: {unfit}"));
            None
        }
    }
}

/// The place of an FMU's class in the rig.
fn class_of(fmus: &[DescribedFmu], name: &str) -> Option<Place> {
    let described = fmus.iter().find(|described| described.name() == name)?;
    described.rig.class.as_ref().map(|class| class.place)
}

/// The capabilities of FMUs that are integrated together. They go back to former states as long as no FMU was told that an
/// internal step is complete.
fn integrated(fmus: &[DescribedFmu], these: &[usize]) -> Abilities {
    let models = || these.iter().filter_map(|fmu| fmus[*fmu].model_exchange());
    let way_back = if models().all(|own| !own.needs_completed_integrator_step) {
        Ok(WayBack::ContinuousStates)
    } else if models().all(|own| own.common.can_get_and_set_fmu_state) {
        Ok(WayBack::StatesOfModels)
    } else if these.iter().any(|fmu| !fmus[*fmu].abi().has_states()) {
        Err(NoWayBack::Version)
    } else {
        Err(NoWayBack::State)
    };
    Abilities { varies_step: true, may_return_early: true, way_back, sources: Vec::new() }
}

/// Refuses clocks that connect a group with others where slaves stop one by one: their events concern the group alone.
fn check_ticks(resolved: &Resolved, master: &RigMaster, slaves: &[(SlavePlan, Vec<usize>)], findings: &mut Findings) {
    if master.algorithm.takes_back() || slaves.len() == 1 {
        return;
    }
    for (_, own) in slaves {
        for &fmu in own {
            let described = &resolved.fmus[fmu];
            // FMUs that are integrated together are at one time.
            let ticks_others = |source: &&TickSource| {
                !source.targets.is_empty() || source.step_targets.iter().any(|(other, _)| !own.contains(other))
            };
            let Some(clock) = resolved.clocks.tick_sources[fmu].iter().find(ticks_others) else { continue };
            let (name, group) = (described.name(), &master.name.value);
            let clock = &described.variables()[clock.variable].name;
            findings.rig(
                master.name.place,
                format!(
                    "{name}.{clock} ticks others, but with algorithm = \"{}\" of [master.{group}] an event of {name} is handled while \
                     others stand at another time: use \"rollback\" or \"predictable\", where all stop at an event",
                    master.algorithm.word()
                ),
            );
        }
    }
}

/// The connections inside of a group, in the order of the rig.
fn wires(resolved: &Resolved, members: &[usize], steps_of: &impl Fn(usize) -> Option<UnitId>) -> Vec<WirePlan> {
    let Resolved { fmus, links, .. } = resolved;
    let inside = links
        .iter()
        .enumerate()
        .filter(|(_, link)| link.is_inside && members.contains(&link.source.0) && members.contains(&link.target.0));
    let wire = |(number, link): (usize, &super::connections::links::Link)| {
        let (fmu, variable) = link.target;
        Some(WirePlan {
            connection: ConnectionId(number),
            from: steps_of(link.source.0)?,
            to: steps_of(fmu)?,
            in_event_mode: resolved.is_set_in_event_mode(link.target),
            takes_jumps: fmus[fmu].takes_jumps_in_event_mode() && !resolved.is_set_in_event_mode(link.target),
            nominal: fmus[fmu].variables()[variable].nominal.unwrap_or(1.0),
            has_derivatives: fmus[link.source.0]
                .model_exchange()
                .is_some_and(|own| own.common.provides_directional_derivatives),
        })
    };
    inside.filter_map(wire).collect()
}

/// The order in which values are exchanged.
struct Order {
    /// The numbers are those of wires.
    exchanges: Vec<ExchangeStep>,
}

impl Order {
    fn of(resolved: &Resolved, master: &RigMaster, wires: &[WirePlan], findings: &mut Findings) -> Order {
        let Resolved { fmus, links, .. } = resolved;
        let mut variables: Vec<VariableId> = Vec::new();
        let mut number = |variable: VariableId| {
            variables.iter().position(|other| *other == variable).unwrap_or_else(|| {
                variables.push(variable);
                variables.len() - 1
            })
        };
        let ends = wires.iter().map(|wire| &links[wire.connection.0]);
        let connections: Vec<(usize, usize)> = ends.map(|link| (number(link.source), number(link.target))).collect();
        let names: Vec<(&str, &str)> =
            variables.iter().map(|&(fmu, at)| (fmus[fmu].name(), fmus[fmu].variables()[at].name.as_str())).collect();
        let direct = direct(fmus, &variables);
        let dependencies = Dependencies { names: &names, direct: &direct, connections: &connections };
        let order = dependencies.order();
        let exchanges = dependencies.exchanges(&order);
        for block in &order {
            let master::Block::Loop(these) = block else { continue };
            let way = dependencies.way_around(these);
            let way: Vec<String> =
                way.iter().chain(&way[..1]).map(|&at| format!("{}.{}", names[at].0, names[at].1)).collect();
            let (name, way) = (&master.name.value, way.join(" → "));
            let is_number = |&at: &usize| {
                let (fmu, at) = variables[at];
                fmus[fmu].variables()[at].variable_type == VariableType::Float64
            };
            if master.loops == Loops::Newton && !these.iter().all(is_number) {
                findings.rig(master.name.place, format!(
                    "loops = \"newton\" cannot solve the algebraic loop of [master.{name}]: not all of it is Float64: {way}"
                ));
                continue;
            }
            findings.note(match master.loops {
                Loops::Newton => format!("[master.{name}] has an algebraic loop, which is solved at each point in time: {way}"),
                Loops::Report => format!(
                    "[master.{name}] has an algebraic loop: {way}; an input of it has what was computed last, unless loops = \"newton\" \
                     stands there"
                ),
            });
        }
        match master.loops {
            Loops::Newton => Order { exchanges },
            Loops::Report => Order { exchanges: ExchangeStep::without_loops(&exchanges) },
        }
    }
}

/// The direct feedthrough from these inputs to these outputs. Between two steps no output of an FMU for Co-Simulation has any:
/// its outputs are those of its last step (FMI 2.0.4, 4.2.1; FMI 3.0.2, 4.2.1).
fn direct(fmus: &[DescribedFmu], variables: &[VariableId]) -> Vec<(usize, usize)> {
    let mut direct = Vec::new();
    for (output, &(fmu, at)) in variables.iter().enumerate() {
        let described = &fmus[fmu];
        if described.model_exchange().is_none() || described.variables()[at].causality != Causality::Output {
            continue;
        }
        let on = dependencies(described, at);
        for (input, &(other, at)) in variables.iter().enumerate() {
            let is_input = other == fmu && described.variables()[at].causality == Causality::Input;
            if is_input && on.as_ref().is_none_or(|on| on.contains(&described.place(at))) {
                direct.push((input, output));
            }
        }
    }
    direct
}

/// The [places](place) of the variables that an output depends on, by `<ModelStructure>`; `None`: all inputs, or undeclared.
fn dependencies(described: &DescribedFmu, output: usize) -> Option<Vec<usize>> {
    let description = described.input.description;
    let outputs = &description.structure.outputs;
    let output = described.place(output);
    let is_it = |unknown: &&Unknown| description.place(unknown.variable) == Some(output);
    let dependencies = outputs.iter().find(is_it)?.dependencies.as_ref()?;
    Some(dependencies.iter().filter_map(|dependency| description.place(dependency.on)).collect())
}
