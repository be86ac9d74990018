//! `vecud doctor`: is this machine ready for real time? It looks, and changes nothing; what it has measured is kept for reports.

use super::diagnostics::say;
use super::interruption::interruptible;
use super::made::UnfinishedOutput;
use super::preview::plan;
use super::results;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use vecud_fmu::archive::Cache;
use vecud_host::doctor::against::{self, SavedAnswer};
use vecud_host::doctor::kept::{self, ProbeArchive};
use vecud_host::doctor::{Case, Level, MachineFacts, Probe, Target, Tree, probe, rules, show, trials};
use vecud_host::{Error, HostResources, Options};
use vecud_linux::process::terminal_size;
use vecud_linux::stop;
use vecud_plan::Mode;
use vecud_plan::rig::RigHost;
use vecud_report::format::duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// Rig that the machine has to be ready for: its cores and its priorities. Default: those of a rig that names none
    rig: Option<PathBuf>,
    /// Print JSON, for programs
    #[arg(long, conflicts_with = "fix")]
    json: bool,
    /// Print a shell script that changes what can be changed while the machine runs. The script also says what it cannot change
    #[arg(long)]
    fix: bool,
    /// Write the files that the fixes name into a new folder (rt-config/ and systemd/ in it), with a script that installs them. doctor then
    /// checks nothing
    #[arg(long, value_name = "DIR", exclusive = true)]
    files: Option<PathBuf>,
    /// How long to measure wake-up latencies, on all these cores at once, in seconds. 0: do not measure
    #[arg(long, value_name = "S", default_value = "5", value_parser = seconds, allow_hyphen_values = true)]
    seconds: Duration,
    /// Compare with this saved answer of --json: say for each core whether it is better or worse
    #[arg(long, value_name = "SAVED", conflicts_with = "fix")]
    against: Option<PathBuf>,
    /// Exit with code 3 if doctor finds a problem
    #[arg(long)]
    strict: bool,
}

/// A file of the repository, by its path there.
macro_rules! shipped {
    ($($path:literal),* $(,)?) => { [$(($path, include_str!(concat!("../../", $path)))),*] };
}

/// What `rt-config` and `systemd` have, for machines without the repository.
const SHIPPED: [(&str, &str); 13] = shipped![
    "rt-config/README.md",
    "rt-config/install",
    "rt-config/irq-affinity",
    "rt-config/grub.d/vecud.cfg",
    "rt-config/limits.d/vecud.conf",
    "rt-config/sysctl.d/99-vecud.conf",
    "rt-config/systemd/vecud-irq-affinity.service",
    "rt-config/tuned/vecud/tuned.conf",
    "rt-config/udev/99-vecud.rules",
    "systemd/README.md",
    "systemd/vecud.service",
    "systemd/vecud.socket",
    "systemd/vecud@.service",
];

fn seconds(text: &str) -> Result<Duration, String> {
    /// A day.
    const LONGEST: f64 = 86_400.0;
    let seconds: f64 = text.parse().map_err(|_| "must be a number of seconds".to_owned())?;
    match (0.0..=LONGEST).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err("must be 0 to 86400 seconds".to_owned()),
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    if let Some(folder) = arguments.files {
        return write_files(&folder);
    }
    let saved = arguments.against.as_deref().map(saved).transpose()?;
    let target = target(arguments.rig.as_deref())?;
    let tree = Tree::of_this_machine();
    let (trials, held) = trials::all(&target);
    let facts = MachineFacts::read(&tree, &target.cpus);
    let probe = match arguments.seconds.is_zero() {
        true => None,
        false => {
            let shown = terminal_size(stderr().as_fd()).map(|(columns, _)| columns);
            let result = stop::by_signals().and_then(|stop| {
                probe::run(&target, trials.fifo, arguments.seconds, &tree, &stop, |progress| {
                    if let Some(columns) = shown {
                        let _ = write!(stderr(), "\r{}\x1b[K", line(progress, arguments.seconds, columns));
                    }
                })
            });
            if shown.is_some() {
                let _ = write!(stderr(), "\r\x1b[K");
            }
            Some(result.map_err(|error| Error::System(error.to_string()))?)
        }
    };
    drop(held);
    if let Some(probe) = &probe {
        keep(probe, &tree);
    }
    let case = Case { target, facts, trials, probe };
    let findings = rules::findings(&case);
    let against = saved.map(|(file, saved)| against::compare(file, saved, case.probe.as_ref(), &findings));
    let text = match (arguments.json, arguments.fix) {
        (true, _) => show::json(&case, &findings, against.as_ref()),
        (false, true) => show::script(&case, &findings),
        (false, false) => {
            let columns = terminal_size(stdout().as_fd()).map_or(100, |(columns, _)| columns);
            let color = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            show::text(&case, &findings, against.as_ref(), show::TextStyle { columns, color })
        }
    };
    results::print(&text, None)?;
    let fit = findings.iter().all(|finding| finding.level != Level::Problem);
    Ok(if arguments.strict && !fit { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

/// An answer that `vecud doctor --json` has written, and its file.
fn saved(file: &Path) -> Result<(String, SavedAnswer), Error> {
    let text = vecud_linux::files::read_to_string(file).map_err(Error::file(file))?;
    let read = serde_json::from_str::<SavedAnswer>(&text);
    let wrong = |error: serde_json::Error| {
        Error::Report(file.to_owned(), Some(error.line() as u64), format!("no answer of vecud doctor --json: {error}"))
    };
    let saved = read.map_err(wrong)?;
    Ok((file.display().to_string(), saved))
}

/// Puts what was measured where reports find it, beside what is known of other cores. Whoever has no cache has no line in
/// his reports.
fn keep(probe: &Probe, tree: &Tree) {
    let now = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap_or_default();
    let Some(kept) = ProbeArchive::of(probe, tree, &now.to_string()) else { return };
    let written = Cache::user().map_err(|error| error.to_string()).and_then(|cache| {
        cache.note().into_iter().for_each(|note| say(&format!("note: {note}")));
        let file = cache.folder().join(kept::NAME);
        let earlier = vecud_linux::files::read_to_string(&file).ok().and_then(|text| ProbeArchive::read(&text, tree));
        let kept = earlier.into_iter().fold(kept, ProbeArchive::after);
        std::fs::create_dir_all(cache.folder())
            .and_then(|()| vecud_host::write_shared(&file, kept.text().as_bytes()))
            .map_err(|error| format!("{}: {error}; set VECUD_CACHE to a folder that you may write to", file.display()))
    });
    if let Err(error) = written {
        say(&format!("note: what was measured is not kept for reports: {error}"));
    }
}

/// Writes what an installed program has with it of the repository.
fn write_files(folder: &Path) -> Result<ExitCode, Error> {
    interruptible(|stop| UnfinishedOutput::folder(folder, SHIPPED).map(|made| made.keep(&stop)))?;
    let shown = folder.display();
    let told = format!(
        "{shown}: {} files; {shown}/rt-config/README.md explains them\n\
         next: cd {shown} && sh rt-config/install --dry-run --cores LIST\n",
        SHIPPED.len()
    );
    results::print(&told, None)?;
    Ok(ExitCode::SUCCESS)
}

/// The rig's cores and priorities; of a rig in virtual time, those that it would have in real time.
fn target(rig: Option<&Path>) -> Result<Target, Error> {
    let Some(file) = rig else {
        let (low, high) = RigHost::default().fifo_priorities.value;
        let cpus = HostResources::look(None)?.facts().default_cores();
        return Ok(Target { rig: None, cpus, band: (low.get(), high.get()) });
    };
    let options = Options { file: file.to_owned(), mode: Some(Mode::RealTime), ..Options::default() };
    let plan = plan(options)?.plan;
    let mut cpus: Vec<usize> = plan.fmus.iter().map(|fmu| fmu.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let (low, high) = plan.host.fifo_asked;
    Ok(Target { rig: Some(plan.rig), cpus, band: (low.get(), high.get()) })
}

/// What a terminal shows meanwhile, in one line.
fn line(progress: &probe::Progress, length: Duration, columns: usize) -> String {
    let elapsed = progress.elapsed.min(length.as_secs_f64());
    let worst = progress.worst.iter().max_by_key(|(_, late)| *late);
    let worst = worst.map_or(String::new(), |(cpu, late)| format!(", {} late at most (core {cpu})", duration(*late)));
    let text = format!("measuring wake-ups: {elapsed:.0} of {:.0} s{worst}", length.as_secs_f64());
    text.chars().take(columns.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A user without the repository gets every file of it that a fix names, or that stands beside one.
    #[test]
    fn all_files_of_the_folders_are_shipped() {
        for folder in ["rt-config", "systemd"] {
            let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
            while let Some(path) = open.pop() {
                if path.is_dir() {
                    open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                    continue;
                }
                let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().to_str().unwrap();
                assert!(SHIPPED.iter().any(|(own, _)| *own == name), "{name}");
            }
        }
        assert!(vecud_host::doctor::FILES.iter().all(|file| SHIPPED.iter().any(|(own, _)| own == file)));
    }

    #[test]
    fn only_lengths_that_can_be_waited_for() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        for bad in ["-1", "nan", "inf", "1e30", "x", ""] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
