//! Processes that FMU code has started and left behind: ended, and named as findings.

use std::fs::read_link;
use std::path::PathBuf;
use vecud_linux::offspring::Process;
use vecud_plan::{FmuId, Plan, UnitPlan};
use vecud_report::FindingResult;

/// A process that remained at the end of the run.
#[derive(Clone, Debug)]
pub struct Left {
    /// The instance that started it, if that can be determined.
    fmu: Option<FmuId>,
    words: String,
}

impl Left {
    /// Determines the FMU that started a process: the rig's only FMU; else the one from whose thread it was forked,
    /// whose name it still has; else the one whose program it runs. Precondition: the process has not been ended.
    pub fn of(plan: &Plan, process: &Process) -> Left {
        let fmus = || (0..plan.fmus.len()).map(FmuId);
        let is_own = |unit: &&UnitPlan| plan.tasks[unit.task.0].thread == process.name;
        let by_thread = || plan.units.iter().find(is_own).map(|unit| unit.fmu);
        let program = read_link(format!("/proc/{}/exe", process.pid)).ok();
        let by_program = || {
            let program = program.as_ref()?;
            let folder = |fmu: FmuId| plan.fmus[fmu.0].resources.as_ref().map(PathBuf::from);
            fmus().find(|fmu| folder(*fmu).is_some_and(|folder| program.starts_with(folder)))
        };
        let fmu = if plan.fmus.len() == 1 { fmus().next() } else { by_thread().or_else(by_program) };
        Left { fmu, words: name(process) }
    }
}

/// Finding about the processes of an instance; `None`: processes of an unknown instance.
pub fn finding(plan: &Plan, left: &[Left], all_ended: bool, fmu: Option<FmuId>) -> Option<FindingResult> {
    let own: Vec<&str> = left.iter().filter(|left| left.fmu == fmu).map(|left| left.words.as_str()).collect();
    let who = match fmu {
        Some(fmu) => format!("fmu `{}`", plan.fmus[fmu.0].name),
        None => "an FMU".to_owned(),
    };
    let message = message(&who, &own, all_ended)?;
    Some(FindingResult { kind: "process_left".into(), count: own.len() as u64, message })
}

/// Describes a process for messages.
pub fn name(process: &Process) -> String {
    format!("{} ({})", process.pid, process.name)
}

/// A sentence about processes with these names that code of `who` has left behind; `None`: there are none.
pub fn message(who: &str, names: &[&str], all_ended: bool) -> Option<String> {
    const NAMED: usize = 8;
    let (processes, were) = match names.len() {
        0 => return None,
        1 => ("a process", "was"),
        _ => ("processes", "were"),
    };
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let end = match all_ended {
        true => format!("which {were} ended by force"),
        false => "not all of which could be ended".to_owned(),
    };
    let names = names[..names.len().min(NAMED)].join(", ");
    Some(format!("{who}: its code has left {processes} behind, {end}: {names}{more}"))
}
