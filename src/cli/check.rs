//! `vecud check`: the plan of a rig, without running it, and whether its clocks meet their deadlines.

use super::preview::plan;
use super::report::RunFolder;
use super::results;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vecud_host::{Error, Options, Prepared};
use vecud_plan::schedulability::{self, Analysis, MeasuredRun};
use vecud_plan::{Mode, table};
use vecud_report::{Checked, check_json};

#[derive(clap::Args)]
pub struct Arguments {
    /// A rig file (TOML), an .fmu file, or the folder of an unpacked FMU
    file: PathBuf,

    /// Output folder of an earlier run of this rig in real time. vecud computes worst response times from its measurements, except for the
    /// values in the rig (execution_us, lock_us, min_interval_us, wakeup_us)
    #[arg(long, value_name = "DIR")]
    measured: Option<PathBuf>,

    /// Print the plan as JSON. For an invalid rig, print its mistakes as JSON, with file, line and column
    #[arg(long)]
    json: bool,
}

/// A rig that has a plan.
struct Valid {
    prepared: Prepared,
    /// Whether clocks meet their deadlines; in virtual time nothing takes time.
    analysis: Option<Analysis>,
}

impl Valid {
    fn of(arguments: &Arguments) -> Result<Valid, Error> {
        let prepared = plan(Options { file: arguments.file.clone(), ..Options::default() })?;
        vecud_host::check_sockets(&prepared)?;
        let run = arguments.measured.as_deref().map(|folder| figures(folder, &prepared)).transpose()?;
        let is_real = prepared.plan.mode == Mode::RealTime;
        let analysis = is_real.then(|| schedulability::analyse(&prepared.plan, run.as_ref()));
        Ok(Valid { prepared, analysis })
    }

    /// Why it cannot be run although it has a plan.
    fn refusal(&self) -> Option<Error> {
        let refusal = schedulability::table::refusal(&self.prepared.plan, self.analysis.as_ref()?)?;
        Some(Error::Unschedulable(self.prepared.file.clone(), refusal))
    }

    /// What this machine gives it; in virtual time no privilege is needed.
    fn machine(&self) -> Vec<String> {
        let Prepared { host, plan, .. } = &self.prepared;
        self.analysis.as_ref().map_or_else(Vec::new, |_| host.lines(plan).into())
    }

    fn text(&self, measured: Option<&Path>) -> String {
        let plan = &self.prepared.plan;
        let mut text = table::render(plan);
        if let Some(analysis) = &self.analysis {
            let folder = measured.map(|folder| folder.display().to_string());
            text += &schedulability::table::render(plan, analysis, folder.as_deref());
            text += "\nThis machine, for this user\n";
            self.machine().iter().for_each(|line| text += &format!("  {line}\n"));
        }
        text
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let valid = Valid::of(&arguments);
    if matches!(valid, Err(Error::Interrupted)) {
        return valid.map(|_| ExitCode::SUCCESS);
    }
    if arguments.json {
        results::print(&json(&arguments.file, &valid), None)?;
    }
    let valid = valid?;
    if !arguments.json {
        results::print(&valid.text(arguments.measured.as_deref()), None)?;
    }
    valid.refusal().map_or(Ok(ExitCode::SUCCESS), Err)
}

fn json(file: &Path, valid: &Result<Valid, Error>) -> String {
    let file = file.to_string_lossy().into_owned();
    check_json(&match valid {
        Err(error) => Checked { file, problems: error.told(), ..Checked::default() },
        Ok(valid) => Checked {
            file,
            problems: valid.refusal().as_ref().map(Error::told).unwrap_or_default(),
            plan: Some(&valid.prepared.plan),
            analysis: valid.analysis.as_ref(),
            machine: valid.machine(),
        },
    })
}

/// What the run in this folder has measured of the rig.
fn figures(folder: &Path, prepared: &Prepared) -> Result<MeasuredRun, Error> {
    let plan = &prepared.plan;
    let wrong = |what: String| Err(Error::Report(folder.to_owned(), None, what));
    if plan.mode == Mode::Virtual {
        return wrong("--measured is of no use to a rig in virtual time, where nothing takes time".to_owned());
    }
    let report = RunFolder::of(folder)?.report()?;
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
    if !plan.units.iter().any(|task| is_there((&plan.fmus[task.fmu.0].name, &task.name))) {
        return wrong("this run had none of the clocks of the rig; name a run of the rig as it is now".to_owned());
    }
    Ok(measured)
}
