//! `vecud check`: the plan of a rig, without running it, and whether its clocks meet their deadlines.

use super::report::Folder;
use super::results;
use crate::plan::schedulability::{self, Measured};
use crate::plan::{Mode, table};
use crate::supervisor::{self, Error, Options, Prepared};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Arguments {
    /// A rig file (TOML), an .fmu file, or the folder of an unpacked FMU
    file: PathBuf,

    /// The output folder of an earlier run of this rig in real time: worst responses are computed from what it has measured,
    /// where the rig does not say it (execution_us, lock_us, min_interval_us, wakeup_us)
    #[arg(long, value_name = "DIR")]
    measured: Option<PathBuf>,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let prepared = super::plan(Options { file: arguments.file, ..Options::default() })?;
    supervisor::check_sockets(&prepared)?;
    let plan = &prepared.plan;
    let measured = arguments.measured.as_deref();
    let run = measured.map(|folder| figures(folder, &prepared)).transpose()?;
    // In virtual time nothing takes time, and no privilege is needed.
    let is_real = plan.mode == Mode::RealTime;
    let granted = if is_real { prepared.host.text(plan) } else { String::new() };
    let analysis = is_real.then(|| schedulability::analyse(plan, run.as_ref()));
    let folder = measured.map(|folder| folder.display().to_string());
    let schedule = analysis.as_ref().map(|analysis| schedulability::table::render(plan, analysis, folder.as_deref()));
    results::print(&(table::render(plan) + &schedule.unwrap_or_default() + &granted), None)?;
    match analysis.and_then(|analysis| schedulability::table::refusal(plan, &analysis)) {
        Some(refusal) => Err(Error::Unschedulable(prepared.file, refusal)),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// What the run in this folder has measured of the rig.
fn figures(folder: &Path, prepared: &Prepared) -> Result<Measured, Error> {
    let plan = &prepared.plan;
    let wrong = |what: String| Err(Error::Report(folder.to_owned(), None, what));
    if plan.mode == Mode::Virtual {
        return wrong("--measured is of no use to a rig in virtual time, where nothing takes time".to_owned());
    }
    let report = Folder::of(folder)?.report()?;
    if report.rig() != plan.rig {
        return wrong(format!(
            "this is a run of the rig \"{}\", not of \"{}\"; name the output folder of a run of {}",
            report.rig(),
            plan.rig,
            prepared.file.display()
        ));
    }
    if !report.is_of_real_time() {
        return wrong("this run was in virtual time, which measures nothing; run the rig in real time".to_owned());
    }
    let measured = report.measured();
    let is_there = |(fmu, clock): (&str, &str)| measured.clocks.iter().any(|own| own.fmu == fmu && own.clock == clock);
    if !plan.tasks.iter().any(|task| is_there((&plan.fmus[task.fmu.0].name, &task.name))) {
        return wrong("this run had none of the clocks of the rig; name a run of the rig as it is now".to_owned());
    }
    Ok(measured)
}
