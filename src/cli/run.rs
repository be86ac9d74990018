//! `vecud run`: a rig, or one FMU by itself.

use super::diagnostics::say;
use super::numbers::duration;
use super::opening::Opening;
use super::orphans::adopts;
use super::{browser, results, terminal};
use std::io::{IsTerminal, stderr, stdout};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use vecud_base::time::{Fraction, Instant};
use vecud_host::{Error, EventSink, Finished, Options, Session, SessionEvent};
use vecud_linux::process::{is_same_file, outlive_file_size_limit, terminal_size};
use vecud_linux::{affinity, confine, offspring, stop};
use vecud_plan::Mode;
use vecud_report::Screen;

#[derive(clap::Args)]
pub struct Arguments {
    /// A rig file (TOML), an .fmu file, or the folder of an unpacked FMU
    file: PathBuf,
    /// Run in real time or in virtual time. Default: the rig's mode
    #[arg(long, value_name = "MODE")]
    mode: Option<ModeArgument>,
    /// Simulation time at which the run ends, in seconds
    #[arg(long, value_name = "S", value_parser = seconds, allow_hyphen_values = true)]
    stop_time: Option<Instant>,
    /// Step size of an FMU that runs alone, in seconds, such as 0.01 or 1/100. Default: the FMU's suggestion, else 1 ms. For a rig, it replaces
    /// step in [rig]
    #[arg(long, value_name = "S", value_parser = duration)]
    step: Option<Fraction>,
    /// Folder for the report and the recordings. Default: vecud-out/<rig>
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace a start value of the rig: --set ecu.gain=2, --set 'ecu.mode="idle"', --set ecu.map=[1,2]. The same checks apply as in a rig.
    /// A rig of one FMU needs no FMU here: --set gain=2. May be given several times
    #[arg(long, value_name = "[FMU.]NAME=VALUE", conflicts_with = "restore_state")]
    set: Vec<String>,
    /// Show the values of recorded variables below the table during the run. With --watch='ecu.*', show only the variables that match (* is any
    /// text)
    #[arg(
        long,
        value_name = "PATTERN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "*",
        conflicts_with = "quiet"
    )]
    watch: Option<String>,
    /// Fail the run (exit code 1) if an FMU breaches the FMI standard, instead of only reporting the breach
    #[arg(long)]
    strict: bool,
    /// Let FMUs log everything (loggingOn, all log categories), except FMUs with a key `log` in their table. Default: warnings and errors
    #[arg(long, visible_alias = "logging-on")]
    log: bool,
    #[command(flatten)]
    opening: Opening,
    /// Show no table during the run
    #[arg(long)]
    quiet: bool,
    /// Show the report in the browser after the run. With several runs, show the report of the first run
    #[arg(long)]
    open: bool,
    /// Save the state of all FMUs and of the run at the end, or after Ctrl-C. --restore-state continues from this file
    #[arg(long, value_name = "FILE", conflicts_with = "repeat")]
    save_state: Option<PathBuf>,
    /// Continue the run that saved this state, up to the stop time
    #[arg(long, value_name = "FILE", conflicts_with = "repeat")]
    restore_state: Option<PathBuf>,
    /// Run N times without loading the FMUs again (fmi3Reset in between). The reports go to DIR/run-1 to DIR/run-N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ModeArgument {
    /// Follow the wall clock
    Realtime,
    /// Run as fast as possible, with repeatable results
    Virtual,
}

fn seconds(text: &str) -> Result<Instant, String> {
    let seconds: f64 = text.parse().map_err(|_| "must be a number of seconds".to_owned())?;
    Instant::from_f64(seconds).ok_or_else(|| "must be a finite number of seconds, below 1e18".to_owned())
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    if arguments.watch.is_some() && !terminal::is_terminal() {
        let message =
            "--watch shows values on a terminal, and standard error is none; leave it out, or do not redirect it";
        return Err(Error::Command(message.to_owned()));
    }
    // Whenever a signal comes, it is not the end of this process but of its work.
    let stop = stop::by_signals().map_err(|error| Error::System(error.to_string()))?;
    stop::report_by_signal().map_err(|error| Error::System(error.to_string()))?;
    let open = arguments.open;
    let options = Options {
        file: arguments.file,
        mode: arguments.mode.map(|mode| match mode {
            ModeArgument::Realtime => Mode::RealTime,
            ModeArgument::Virtual => Mode::Virtual,
        }),
        stop_time: arguments.stop_time,
        step: arguments.step,
        out: arguments.out,
        set: arguments.set,
        watch: arguments.watch,
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        strict: arguments.strict,
        log: arguments.log,
        preload: arguments.opening.preload,
        lenient: arguments.opening.lenient,
        figures: (!arguments.quiet && terminal::is_terminal()).then_some(terminal::PERIOD),
        save_state: arguments.save_state,
        restore_state: arguments.restore_state,
        repeat: arguments.repeat,
        claims_cores: true,
        stop,
        ..Options::default()
    };
    let told = Told::default();
    let kept = "; run.log has what FMUs have logged, the report what is wrong";
    let finished = terminal::showing(kept, |events| session(&options, told.beside(events)))?;
    let told = if has_one_reader() { told.lines() } else { Vec::new() };
    let columns = terminal_size(stdout().as_fd()).map_or(120, |(columns, _)| columns);
    let color = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut codes: Vec<u8> = finished.iter().map(Finished::exit_code).collect();
    for (index, one) in finished.iter().enumerate() {
        let screen = Screen { columns, lines: usize::MAX, color };
        let written =
            ["report.html", "report.json"].map(|name| one.out.join(name)).into_iter().find(|path| path.is_file());
        let place = written.map(|path| path.display().to_string());
        let title = match options.repeat {
            Some(runs) => format!("run {} of {runs}\n", index + 1),
            None => String::new(),
        };
        let text = title + &vecud_report::summary(&one.run, place.as_deref().unwrap_or("not written"), screen, &told);
        let instead = place.map(|place| format!("the report is there: {place}"));
        if let Err(error) = results::print(&text, instead.as_deref()) {
            say(&error.to_string());
            codes.push(FAILED);
            break;
        }
    }
    let page = finished.first().map(|one| one.out.join("report.html")).filter(|page| page.is_file());
    if let Some(page) = page.filter(|_| open) {
        browser::show(&page);
    }
    Ok(ExitCode::from(worst(codes)))
}

/// Whether who reads standard output reads standard error too: on a terminal, or in a pipe or file that both go to.
fn has_one_reader() -> bool {
    let terminals = terminal::is_terminal() && stdout().is_terminal();
    terminals || is_same_file(stdout().as_fd(), stderr().as_fd())
}

/// The first lines that were told, so that they need not be told again.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    /// As many come before activations begin, or nearly so.
    const KEPT: usize = 100;

    /// Hears what these events' listener hears.
    fn beside(&self, events: EventSink) -> EventSink {
        let own = self.clone();
        EventSink::new(move |event| {
            if let SessionEvent::Message(_, line) = &event {
                let mut lines = own.0.lock().unwrap_or_else(PoisonError::into_inner);
                if lines.len() < Self::KEPT {
                    lines.push(line.clone());
                }
            }
            events.tell(event);
        })
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How often processes that FMU code has left to this one are taken off the table of processes when they have ended.
const REAPED: Duration = Duration::from_millis(100);

/// Prepares and runs a rig in this process, which is there for that alone: no other process of its user reads its memory, orphans
/// of FMU code come to it, a limit on the size of files does not end it, and all of its threads leave the partitions' cores alone.
fn session(options: &Options, events: EventSink) -> Result<Vec<Finished>, Error> {
    let mut prepared = vecud_host::plan(options, &events)?;
    outlive_file_size_limit().map_err(|error| Error::System(error.to_string()))?;
    let own = &mut prepared.options;
    if let Err(error) = confine::close_memory() {
        own.warnings.push(format!("FMU CODE CAN READ AND CHANGE THE MEMORY OF VECUD, its reports included: {error}"));
    }
    own.adopts = adopts(|warning| own.warnings.push(warning));
    let session = Session::start(prepared, events, |_| ())?;
    if session.plan().mode == Mode::RealTime {
        affinity::keep_process_off(&session.plan().cores());
    }
    let runner = session.runner();
    let reap = || runner.into_iter().for_each(offspring::reap);
    let finished = session.wait_with(REAPED, |session| {
        reap();
        if stop::report_is_asked() {
            session.report();
        }
    });
    reap();
    finished
}

/// The exit code of a run that failed.
const FAILED: u8 = 1;

/// The exit code of several runs: a failure is worse than a limit that was exceeded.
fn worst(codes: Vec<u8>) -> u8 {
    codes.into_iter().max_by_key(|code| [0, 3, FAILED].iter().position(|known| known == code)).unwrap_or(0)
}
