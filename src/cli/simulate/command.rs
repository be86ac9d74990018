//! The arguments of `vecud simulate`, and what it does: one simulation, or those of a sweep.

use super::plot::PlotPage;
use super::reference::{self, Copied};
use crate::cli::numbers::duration;
use crate::cli::opening::Opening;
use crate::cli::orphans::adopts;
use crate::cli::starts::Starts;
use crate::cli::terminal;
use std::fs::File;
use std::io::{ErrorKind, stderr, stdout};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use vecud_base::columns;
use vecud_base::plain;
use vecud_base::time::{Fraction, Instant};
use vecud_description::Interface;
use vecud_host::{Error, EventSink, HostResources, Options, RowSink, Simulated, SimulationOptions, SweepAxis};
use vecud_linux::process::{is_null_device, outlive_file_size_limit};
use vecud_linux::{confine, stop};
use vecud_plan::CallWatch;
use vecud_plan::rig::{Solver, StepSize};
use vecud_report::Run;
use vecud_report::compare::NamedTolerance;

#[derive(clap::Args)]
pub struct Arguments {
    /// An .fmu file, or the folder of an unpacked FMU
    file: PathBuf,
    /// Interface type of the FMU to use. Default: cs if the FMU has it, else se, else me
    #[arg(long, value_name = "TYPE")]
    interface_type: Option<InterfaceArgument>,
    /// Simulation time of the start, in seconds. Default: the start time of the FMU's default experiment, else 0
    #[arg(long, value_name = "S", value_parser = instant, allow_hyphen_values = true)]
    start_time: Option<Instant>,
    /// Simulation time of the end, in seconds. Default: the stop time of the default experiment, else one second after the start
    #[arg(long, value_name = "S", value_parser = instant, allow_hyphen_values = true)]
    stop_time: Option<Instant>,
    /// Time from one row to the next, in seconds, as a number or a fraction such as 1/300. Default: the step size of the default experiment,
    /// else a 500th of the simulation. If the FMU cannot vary its step size, vecud raises the interval to a multiple of that step size
    #[arg(long, value_name = "S", value_parser = duration, allow_hyphen_values = true)]
    output_interval: Option<Fraction>,
    /// Length of each step, in seconds. For Model Exchange: length of each step of a fixed-step solver. Default: the output interval
    #[arg(long, value_name = "S", value_parser = duration, allow_hyphen_values = true)]
    fixed_step_size: Option<Fraction>,
    #[command(flatten)]
    stepped: Stepped,
    #[command(flatten)]
    integrated: Integrated,
    /// Relative tolerance of the solver: of vecud's solver for Model Exchange, of the FMU's own for Co-Simulation
    #[arg(long, value_name = "X", value_parser = tolerance, allow_hyphen_values = true)]
    tolerance: Option<f64>,
    #[command(flatten)]
    starts: Starts,
    /// A variable to write as a column (* is any text). May be given several times. Default: all outputs
    #[arg(long, value_name = "NAME")]
    output_variable: Vec<String>,
    /// CSV file with values for inputs, time in the first column. Continuous inputs follow the line between two rows. Other inputs keep the
    /// value of the row before. Inputs jump where two rows have the same time
    #[arg(long, short, value_name = "F.csv")]
    input_file: Option<PathBuf>,
    /// File for the rows. Default: standard output
    #[arg(long, short, value_name = "F.csv")]
    output_file: Option<PathBuf>,
    #[command(flatten)]
    opening: Opening,
    #[command(flatten)]
    shown: Shown,
    /// Whether the FMU handles events in Event Mode (FMI 3.0). Default: true if the FMU can
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    event_mode_used: Option<bool>,
    /// Whether the FMU may end a step early (FMI 3.0). Default: true
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    early_return_allowed: Option<bool>,
    #[command(flatten)]
    study: Study,
    #[command(flatten)]
    states: States,
    #[command(flatten)]
    log: Logged,
}

/// What an FMU for Co-Simulation is told of its steps.
#[derive(clap::Args)]
struct Stepped {
    /// Step size that vecud tells an FMU for Co-Simulation: the difference of its communication points (difference), or the nominal length
    /// (nominal). Default: difference if the FMU can vary its step size, else nominal
    #[arg(long, value_name = "WORD", value_parser = step_size)]
    step_size: Option<StepSize>,
    /// Whether vecud retries a step in parts if an FMU for Co-Simulation discards it. Default: true if the FMU can vary its step size and, with
    /// FMI 1.0 and 2.0, take the step back
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    retry_steps: Option<bool>,
}

/// How an FMU for Model Exchange is integrated.
#[derive(clap::Args)]
struct Integrated {
    /// Solver for an FMU for Model Exchange: euler or rk4 (with a fixed step), dopri5 or bdf (with a tolerance), cvode (the same as bdf), or
    /// auto. Default: auto
    #[arg(long, value_name = "NAME", value_parser = solver)]
    solver: Option<Solver>,
}

/// What becomes of the rows besides. Arguments are in parts, since what describes many at once needs more stack than some
/// surroundings give.
#[derive(clap::Args)]
struct Shown {
    /// Compare the rows with this CSV file, at times where both have a row. A deviation beyond the tolerance gives exit code 3
    #[arg(long, value_name = "F.csv")]
    reference_file: Option<PathBuf>,
    /// Tolerance for the comparison with the reference: an absolute deviation, a share, or either of the two, such as 1e-6, 0.1% or 1e-6,0.1%.
    /// Default: 1e-6,0.1% for floating-point numbers. Other values have to be equal
    #[arg(long, value_name = "TOL", value_parser = deviation, requires = "reference_file")]
    reference_tolerance: Option<NamedTolerance>,
    /// Draw the variables over time into this page
    #[arg(long, value_name = "F.html")]
    plot: Option<PathBuf>,
    /// Show that page in the browser
    #[arg(long)]
    show_plot: bool,
}

/// A parameter study.
#[derive(clap::Args)]
struct Study {
    /// Simulate once for each of these start values and write one table for all: NAME=from:to:by, or NAME=value,value. If given several times,
    /// simulate once for each combination
    #[arg(long, value_name = "NAME=from:to:by", conflicts_with_all = ["reference_file", "plot", "show_plot"])]
    sweep: Vec<SweepAxis>,
    /// Number of processes that share the simulations of a sweep. Default: one for each core
    #[arg(long, value_name = "N", requires = "sweep", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

/// States of the FMU.
#[derive(clap::Args)]
struct States {
    /// Start with the FMU state in this file, as the FMU has serialised it. The start time has to be the time of that state
    #[arg(long, value_name = "FILE", conflicts_with = "sweep")]
    initial_fmu_state_file: Option<PathBuf>,
    /// File for the FMU state at the end, as the FMU serialises it
    #[arg(long, value_name = "FILE", conflicts_with = "sweep")]
    final_fmu_state_file: Option<PathBuf>,
}

/// Options for the report of calls.
#[derive(clap::Args)]
struct Logged {
    /// Show how often vecud called each function of the FMU, and how long that took
    #[arg(long, conflicts_with = "sweep")]
    show_stats: bool,
    /// Log each call of a function of the FMU
    #[arg(long)]
    log_fmi_calls: bool,
    /// Let the FMU log everything, and show it. Default: warnings and errors
    #[arg(long, visible_alias = "log")]
    logging_on: bool,
    /// File for the FMU's log and printed output. Default: standard error
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum InterfaceArgument {
    /// Co-Simulation
    #[value(alias = "co-simulation")]
    Cs,
    /// Model Exchange
    #[value(alias = "model-exchange")]
    Me,
    /// Scheduled Execution
    #[value(alias = "scheduled-execution")]
    Se,
}

impl From<InterfaceArgument> for Interface {
    fn from(argument: InterfaceArgument) -> Interface {
        match argument {
            InterfaceArgument::Cs => Interface::CoSimulation,
            InterfaceArgument::Me => Interface::ModelExchange,
            InterfaceArgument::Se => Interface::ScheduledExecution,
        }
    }
}

fn instant(text: &str) -> Result<Instant, String> {
    let seconds: f64 = text.parse().map_err(|_| "must be a number of seconds".to_owned())?;
    Instant::from_f64(seconds).ok_or_else(|| "must be a finite number of seconds, below 1e18".to_owned())
}

/// Parses a tolerance of rows against a reference.
pub fn deviation(text: &str) -> Result<NamedTolerance, String> {
    format!("*={text}").parse()
}

/// Alias of `bdf`.
const CVODE: &str = "cvode";

fn solver(text: &str) -> Result<Solver, String> {
    // The solver of SUNDIALS that other simulators have is one of the same kind.
    let wanted = if text == CVODE { Solver::Bdf.word() } else { text };
    let known = Solver::WORDS.iter().find(|(word, _)| *word == wanted).map(|(_, solver)| *solver);
    let words = || Solver::WORDS.map(|(word, _)| word).join(", ");
    known.ok_or_else(|| format!("must be one of {}, or {CVODE}, which is taken for {}", words(), Solver::Bdf.word()))
}

fn step_size(text: &str) -> Result<StepSize, String> {
    let known = StepSize::WORDS.iter().find(|(word, _)| *word == text).map(|(_, size)| *size);
    let words = StepSize::WORDS.map(|(word, _)| word).join(" or ");
    known.ok_or_else(|| format!("must be {words}; how long a step is says --fixed-step-size"))
}

fn tolerance(text: &str) -> Result<f64, String> {
    let wrong = || "must be a number above 0".to_owned();
    text.parse().ok().filter(|tolerance: &f64| tolerance.is_finite() && *tolerance > 0.0).ok_or_else(wrong)
}

/// The exit code of a simulation of which rows, its page or its state could not be written.
const FAILED: u8 = 1;
/// The exit code of a simulation that deviates from its reference.
const DEVIATES: u8 = 3;

pub fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let stop = stop::by_signals().map_err(|error| Error::System(error.to_string()))?;
    outlive_file_size_limit().map_err(|error| Error::System(error.to_string()))?;
    let code = terminal::showing_all("; --log-file keeps what FMUs log", |events| {
        let adopts = adopts(|warning| events.warn(format_args!("{warning}")));
        let (preload, lenient) = (arguments.opening.preload.clone(), arguments.opening.lenient);
        let options = Options { stop, adopts, log: arguments.log.logging_on, preload, lenient, ..Options::default() };
        match arguments.study.sweep.as_slice() {
            [] => one(arguments, &options, &events),
            axes => sweep(arguments, axes, &options, &events),
        }
    })?;
    Ok(ExitCode::from(code))
}

/// One simulation. The exit code.
fn one(arguments: &Arguments, options: &Options, events: &EventSink) -> Result<u8, Error> {
    let page = PlotPage::wanted(arguments.shown.plot.as_deref(), arguments.shown.show_plot, &arguments.file)?;
    let (reference, file) = (arguments.shown.reference_file.as_deref(), arguments.output_file.as_deref());
    let prepared = vecud_host::prepare_simulation(&wanted(arguments), options, events)?;
    if let Some(reference) = reference {
        let names: Vec<String> = prepared.plan.signals.iter().map(|signal| signal.name.clone()).collect();
        reference::check(reference, &names)?;
    }
    let mut rows = rows(arguments)?;
    rows.drawn = page.is_some();
    let copied = reference.map(|_| Copied::of(file)).transpose()?;
    if let Some(copied) = &copied {
        rows.out = copied.beside(rows.out).map_err(|error| Error::System(error.to_string()))?;
    }
    keep_apart(events);
    let Simulated { run, unwritten, final_state } = vecud_host::simulate(prepared, rows, events)?;
    for problem in &run.problems {
        events.say(format!("{}: {}", problem.severity.prefix(), plain::message(&problem.message())));
    }
    let state_file = arguments.states.final_fmu_state_file.as_ref().filter(|_| !final_state.is_empty());
    let kept = state_file.map_or(Ok(()), |file| vecud_host::write_whole(file, &final_state).map_err(Error::file(file)));
    if arguments.log.show_stats {
        stats(&run).into_iter().for_each(|line| events.say(line));
    }
    let drawn = page.as_ref().map_or(Ok(()), |page| page.write(&run, reference));
    let mut code = unwritten.map_or_else(|| vecud_report::exit_code(&run), |error| cut_short(&error, file, events));
    // Something was simulated: what cannot be written of it is a result that is missing, and no mistake in the command.
    for error in [kept, drawn].into_iter().filter_map(Result::err) {
        events.complain(format_args!("{error}"));
        code = FAILED;
    }
    let Some((rows, reference)) = copied.zip(reference).filter(|_| code == 0) else { return Ok(code) };
    let deviations = reference::deviations(&rows, reference, arguments.shown.reference_tolerance.as_ref())?;
    deviations.iter().for_each(|line| events.complain(format_args!("{line}")));
    Ok(if deviations.is_empty() { 0 } else { DEVIATES })
}

/// One simulation for each point of a grid. The exit code.
fn sweep(arguments: &Arguments, axes: &[SweepAxis], options: &Options, events: &EventSink) -> Result<u8, Error> {
    let jobs = match arguments.study.jobs {
        Some(jobs) => usize::from(jobs),
        None => HostResources::look(None)?.cpus.len(),
    };
    keep_apart(events);
    let swept = vecud_host::sweep(&wanted(arguments), axes, jobs, options, || rows(arguments), events)?;
    if swept.failed > 0 {
        events.complain(format_args!("{} of {} simulations have failed", swept.failed, swept.points));
    }
    if swept.whole < swept.all && swept.unwritten.is_none() {
        events.warn(format_args!("ended when asked to: {} of {} simulations are whole", swept.whole, swept.all));
    }
    Ok(match &swept.unwritten {
        Some(error) => cut_short(error, arguments.output_file.as_deref(), events),
        None => swept.exit_code,
    })
}

/// How often each function was called, and how long that took, as lines.
fn stats(run: &Run) -> Vec<String> {
    let calls = || run.fmus.iter().flat_map(|fmu| &fmu.calls);
    let mut rows = vec![["function", "calls", "total ms", "mean us"].map(str::to_owned)];
    rows.extend(calls().map(|own| {
        let text = |value: f64| format!("{value:.3}");
        let nanos = own.total_ns.map(|nanos| nanos as f64);
        let total = nanos.map_or_else(String::new, |nanos| text(nanos / 1e6));
        let mean = nanos.map_or_else(String::new, |nanos| text(nanos / 1e3 / own.calls as f64));
        [own.function.to_string(), own.calls.to_string(), total, mean]
    }));
    let own = calls().filter_map(|own| own.total_ns).map(Duration::from_nanos).sum::<Duration>().as_secs_f64();
    let (simulated, wall) = (run.end_time - run.start_time, run.wall_seconds);
    let whole = format!("{simulated} s simulated in {wall:.6} s, of which {own:.6} s in the FMU");
    columns::lines(rows.iter(), &[1, 2, 3]).chain([whole]).collect()
}

/// Nobody else reads or changes the memory of this process.
pub fn keep_apart(events: &EventSink) {
    if let Err(error) = confine::close_memory() {
        events.warn(format_args!("FMU CODE CAN READ AND CHANGE THE MEMORY OF VECUD: {error}"));
    }
}

fn wanted(arguments: &Arguments) -> SimulationOptions {
    SimulationOptions {
        file: arguments.file.clone(),
        interface: arguments.interface_type.map(Interface::from),
        start_time: arguments.start_time,
        stop_time: arguments.stop_time,
        output_interval: arguments.output_interval,
        fixed_step_size: arguments.fixed_step_size,
        step_size: arguments.stepped.step_size,
        retry_steps: arguments.stepped.retry_steps,
        solver: arguments.integrated.solver,
        tolerance: arguments.tolerance,
        start_file: arguments.starts.start.clone(),
        start_values: arguments.starts.start_value.clone(),
        varied: Vec::new(),
        output_variables: arguments.output_variable.clone(),
        input_file: arguments.input_file.clone(),
        event_mode_used: arguments.event_mode_used,
        early_return_allowed: arguments.early_return_allowed,
        initial_fmu_state_file: arguments.states.initial_fmu_state_file.clone(),
        keeps_final_state: arguments.states.final_fmu_state_file.is_some(),
        watch: CallWatch { times: arguments.log.show_stats, logs: arguments.log.log_fmi_calls },
        beginning: None,
    }
}

/// Where rows and what FMU code prints go. Files of these names are written over, but for the FMU itself.
fn rows(arguments: &Arguments) -> Result<RowSink, Error> {
    let read = [Some(&arguments.file), arguments.input_file.as_ref(), arguments.starts.start.as_ref()];
    let is_read = |file: &Path| read.iter().flatten().any(|input| same(file, input));
    let open = |option: &str, file: &Path| match is_read(file) {
        true => Err(Error::Command(format!("{option} {}: that is what is simulated, or its input", file.display()))),
        false => File::create(file).map_err(Error::file(file)),
    };
    let copy = |stream: std::os::fd::BorrowedFd| {
        stream.try_clone_to_owned().map(File::from).map_err(|error| Error::System(error.to_string()))
    };
    let log = arguments.log.log_file.as_ref().map(|file| open("--log-file", file)).transpose()?;
    let printed = match &log {
        Some(file) => copy(file.as_fd())?,
        None => copy(stderr().as_fd())?,
    };
    let out = match &arguments.output_file {
        Some(file) => open("--output-file", file)?,
        None => copy(stdout().as_fd())?,
    };
    let are_read = !is_null_device(out.as_fd());
    Ok(RowSink { out: Box::new(out), are_read, printed, log, logging_on: arguments.log.logging_on, drawn: false })
}

/// Whether two names stand for one file.
fn same(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// Tells why rows end early. The exit code.
fn cut_short(error: &std::io::Error, file: Option<&Path>, events: &EventSink) -> u8 {
    // A reader that has gone away (`vecud simulate ... | head`) has seen enough.
    if error.kind() == ErrorKind::BrokenPipe {
        return 0;
    }
    let place = file.map_or("standard output".to_owned(), |file| file.display().to_string());
    events.complain(format_args!("the rows end early, they cannot be written to {place}: {error}"));
    FAILED
}
