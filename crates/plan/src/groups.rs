//! The groups of `[master.NAME]`: their FMUs, the length of their steps, and errors in these tables (semantics S24).

use super::described::DescribedFmu;
use super::findings::Findings;
use crate::rig::{At, Rig, RigMaster};
use vecud_base::time::Fraction;
use vecud_solver::master::MasterAlgorithm;

/// Whether an FMU is the first one of its group, whose task makes the steps of all.
pub(super) fn leads(fmus: &[DescribedFmu], fmu: usize) -> bool {
    fmus[fmu].master.is_some_and(|own| members(fmus, own).first() == Some(&fmu))
}

/// The FMUs of a group as places in the rig, by their names.
pub(super) fn members(fmus: &[DescribedFmu], master: &RigMaster) -> Vec<usize> {
    let is_its = |fmu: &usize| fmus[*fmu].master.is_some_and(|own| std::ptr::eq(own, master));
    let mut members: Vec<usize> = (0..fmus.len()).filter(is_its).collect();
    members.sort_by_key(|fmu| fmus[*fmu].name());
    members
}

/// Reports errors in the tables.
pub(super) fn check(rig: &Rig, fmus: &[DescribedFmu], findings: &mut Findings) {
    for described in fmus {
        let Some(master) = described.master else {
            let class = described.rig.class.as_ref().map(|class| ("class", class.place));
            let max_step = described.rig.max_step.as_ref().map(|step| ("max_step", step.place));
            for (key, place) in [class, max_step].into_iter().flatten() {
                let name = described.name();
                findings.rig(place, format!("{key} of {name} is for the master of its group, and it is in none: add it to fmus of a [master.NAME]"));
            }
            continue;
        };
        check_member(described, master, findings);
    }
    for master in &rig.masters {
        let is_integrated = members(fmus, master).iter().any(|fmu| fmus[*fmu].model_exchange().is_some());
        let said = &master.integration;
        let tolerance = said.tolerance.as_ref().map(|at| ("tolerance", at.place));
        let internal_step = said.internal_step.as_ref().map(|at| ("internal_step", at.place));
        let solver = said.solver.as_ref().map(|at| ("solver", at.place));
        for (key, place) in [solver, internal_step, tolerance].into_iter().flatten().filter(|_| !is_integrated) {
            let name = &master.name.value;
            findings
                .rig(place, format!("{key} in [master.{name}] is for Model Exchange: none of its FMUs runs with it"));
        }
    }
}

fn check_member(described: &DescribedFmu, master: &RigMaster, findings: &mut Findings) {
    let (name, group) = (described.name(), &master.name.value);
    let at = master.fmus.iter().find(|fmu| fmu.value == name).map_or(master.name.place, |fmu| fmu.place);
    if described.offer.is_some() && described.steps().is_none() {
        findings.rig(at, format!(
            "{name} makes no steps: its clocks are tasks of their own (Scheduled Execution); leave it out of fmus of [master.{group}]"
        ));
        return;
    }
    let own = &described.rig;
    let step = own.step.as_ref().map(|step| ("step", step.place));
    let cpu = own.cpu.as_ref().map(|cpu| ("cpu", cpu.place));
    let task = own.task.as_ref().map(|task| ("limits, the overrun policy and figures", task.place));
    let tolerance = own.integration.tolerance.as_ref().map(|at| ("tolerance", at.place));
    let of_model = [own.integration.first(), tolerance].into_iter().flatten();
    let of_model = of_model.filter(|_| described.model_exchange().is_some());
    for (what, place) in [step, cpu, task].into_iter().flatten().chain(of_model) {
        findings.rig(place, format!("{name} makes its steps together with others: say {what} in [master.{group}]"));
    }
    let class = own.class.as_ref().map(|class| ("class", class.place));
    let max_step = own.max_step.as_ref().map(|step| ("max_step", step.place));
    let is_used = |key: &str| match master.algorithm {
        MasterAlgorithm::Predictable => true,
        MasterAlgorithm::Rollback => key == "class",
        MasterAlgorithm::Jacobi | MasterAlgorithm::GaussSeidel => false,
    };
    for (key, place) in [class, max_step].into_iter().flatten().filter(|(key, _)| !is_used(key)) {
        let message = format!(
            "{key} of {name} says nothing to algorithm = \"{}\" of [master.{group}]: it is for \"predictable\"",
            master.algorithm.word()
        );
        findings.rig(place, message);
    }
    for (key, place) in [class, max_step].into_iter().flatten().filter(|_| described.model_exchange().is_some()) {
        findings
            .rig(place, format!("{key} is for Co-Simulation: {name} is integrated, and its steps end at its events"));
    }
}

/// The step of each FMU of a group; `own`: those that the FMUs would have alone, by their places in the rig.
pub(super) fn steps(rig: &Rig, fmus: &[DescribedFmu], own: &mut [Option<At<Fraction>>], findings: &mut Findings) {
    for master in &rig.masters {
        let members = members(fmus, master);
        let shortest = || members.iter().filter_map(|fmu| own[*fmu].clone()).min_by_key(|step| step.value);
        let step = master.step.clone().or_else(shortest).or_else(|| rig.step.clone());
        if step.is_none() && members.iter().any(|fmu| fmus[*fmu].steps().is_some()) {
            let name = &master.name.value;
            findings.rig(master.name.place, format!(
                "how far the FMUs of [master.{name}] are to go in one step is said nowhere: none of their descriptions has a stepSize or \
                 a fixedInternalStepSize; give it as step in [master.{name}], such as step = \"1/1000\", or give step in [rig], or `vecud run --step`"
            ));
        }
        members.iter().for_each(|fmu| own[*fmu] = step.clone());
    }
}

/// Joins the FMUs of each group, as those are whose clocks are connected; connected FMUs are all in one group, therefore.
pub(super) fn join(rig: &Rig, fmus: &[DescribedFmu], firsts: &mut [usize], findings: &mut Findings) {
    for master in &rig.masters {
        let members = members(fmus, master);
        let Some(&first) = members.first() else { continue };
        for fmu in 0..fmus.len() {
            let with = members.iter().find(|member| firsts[**member] == firsts[fmu]);
            if let (Some(&with), false) = (with, members.contains(&fmu)) {
                let (name, other, group) = (fmus[fmu].name(), fmus[with].name(), &master.name.value);
                findings.rig(master.name.place, format!(
                    "{name} and {other} make their steps together, since their clocks are connected, but only {other} is in \
                     [master.{group}]: add {name} to its fmus"
                ));
            }
        }
        members.iter().for_each(|member| firsts[*member] = first);
    }
}
