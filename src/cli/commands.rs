//! All subcommands, and what is done before and after each of them.

#[cfg(feature = "daemon")]
use super::ctl;
#[cfg(feature = "daemon")]
use super::daemon;
use super::diagnostics::say;
use super::{
    call, check, doctor, excerpt, inspect, nearby, new, plot, report, results, run, setup, simulate, terminal, validate,
};
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use std::io::{self, Write, stderr, stdout};
use std::os::fd::AsFd;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;
use vecud_fmu::archive::ArchiveError;
use vecud_host::Error;
use vecud_linux::process::terminal_size;
use vecud_plan::rig;

/// Runs FMUs in real time: Scheduled Execution, Co-Simulation and Model Exchange.
#[derive(Parser)]
#[command(name = "vecud", version, about, after_help = EXIT_CODES, infer_subcommands = false)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  Done
  1  The run failed: an FMU error, a crash, or results that vecud cannot write
  2  The command, the rig or the FMU is invalid, or the system refuses something that vecud needs
  3  The run exceeded a limit of the rig, a comparison exceeded a tolerance, doctor --strict found a problem,
     or validate has findings";

#[derive(Subcommand)]
enum Command {
    /// Run a rig, or one FMU alone
    Run(run::Arguments),
    /// Simulate one FMU as fast as possible and write its outputs as CSV
    Simulate(Box<simulate::Arguments>),
    /// Serve rigs over a unix socket and, with a token, over TCP
    #[cfg(feature = "daemon")]
    Daemon(daemon::Arguments),
    /// Control a daemon: put, start and stop rigs, show them, set variables, wait, fetch reports
    #[cfg(feature = "daemon")]
    Ctl(ctl::Arguments),
    /// Check a rig and show its plan without running it: tasks, priorities, cores, connections, worst response times
    Check(check::Arguments),
    /// Check whether this machine is ready for real time: what costs latency, why, and how to change it
    Doctor(doctor::Arguments),
    /// Show the contents of an FMU: clocks, variables, capability flags
    Inspect(inspect::Arguments),
    /// Check whether an FMU is sound: archive, description, library, short test runs, its own reference results
    Validate(validate::Arguments),
    /// Call single functions of an FMU by hand: from a prompt, a script, or the command line
    Call(call::Arguments),
    /// Create a working start: an FMU as C sources, or a rig for FMUs
    New(new::Arguments),
    /// Rebuild the report of a run, or compare the run with others
    Report(report::Arguments),
    /// Plot recorded signals: any signals, any stretch of time, two recordings over each other
    Plot(plot::Arguments),
    /// Print a script that lets a shell complete commands and options
    Completions(setup::Completions),
    /// Print the manual page, or write the pages of all commands
    Man(setup::Manual),
    /// Print a JSON schema: of rig files, for editors, or of the JSON that vecud writes for programs
    Schema(setup::Schema),
}

/// The one argument of the process that holds FMU code: for `vecud run`, so it is no command, and nobody is told of it.
const RUNNER: &str = "runner";

/// The arguments of the process that holds the FMU of `vecud call`: no command either.
const BY_HAND: [&str; 2] = [RUNNER, "call"];

/// The whole program: arguments → exit code.
pub fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq([RUNNER]) {
        return ended(there_is_memory().map(|()| ExitCode::from(vecud_runner::main() as u8)));
    }
    if std::env::args_os().skip(1).eq(BY_HAND) {
        return ended(there_is_memory().map(|()| ExitCode::from(vecud_runner::by_hand::main() as u8)));
    }
    let arguments = match with_room(|| Arguments::try_parse().map_err(suggesting)) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            let _ = error.print();
            return ExitCode::from(2);
        }
        // Help is a result.
        Err(help) => {
            let result = results::written(|| help.print().and_then(|()| stdout().flush()), None);
            return ended(result.map(|()| ExitCode::SUCCESS));
        }
    };
    let result = there_is_memory().and_then(|()| match arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        #[cfg(feature = "daemon")]
        Command::Daemon(arguments) => daemon::run(arguments),
        #[cfg(feature = "daemon")]
        Command::Ctl(arguments) => ctl::run(&arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Validate(arguments) => validate::run(arguments),
        Command::Call(arguments) => call::run(&arguments),
        Command::New(arguments) => new::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Plot(arguments) => plot::run(arguments),
        Command::Completions(arguments) => setup::completions(&arguments, with_room(Arguments::command)),
        Command::Man(arguments) => setup::manual(&arguments, with_room(Arguments::command)),
        Command::Schema(arguments) => setup::schema(&arguments),
    });
    ended(result)
}

/// What this makes, on a stack that a limit of the user's (`ulimit -s`) does not narrow: in a build that is not optimised the description
/// of all commands takes hundreds of KiB while it is made.
fn with_room<T: Send + 'static>(make: impl Fn() -> T + Clone + Send + 'static) -> T {
    const ROOM: usize = 2 << 20;
    match thread::Builder::new().stack_size(ROOM).spawn(make.clone()) {
        Ok(made) => made.join().unwrap_or_else(|panicked| resume_unwind(panicked)),
        Err(_) => make(),
    }
}

/// The error with a command that may have been meant, where letters have changed places.
fn suggesting(mut error: clap::Error) -> clap::Error {
    let written = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(written)) if error.get(ContextKind::SuggestedSubcommand).is_none() => written.clone(),
        _ => return error,
    };
    let command = Arguments::command();
    let near = rig::nearest(&written, command.get_subcommands().map(clap::Command::get_name));
    if !near.is_empty() {
        let near = near.into_iter().map(str::to_owned).collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
    }
    error
}

/// What a small rig takes in each process, with as much again (bytes).
const LEAST_MEMORY: usize = 32 << 20;

/// Refuses a limit on memory (RLIMIT_DATA, RLIMIT_AS) that leaves no room even for small rigs: it would end the program in the
/// midst of its work, where files would be left behind. The memory is asked for and given back, not used.
fn there_is_memory() -> Result<(), Error> {
    let mut room = Vec::<u8>::new();
    let there = room.try_reserve_exact(LEAST_MEMORY);
    // Or the compiler, which sees that nobody uses it, does not even ask for it.
    std::hint::black_box(&room);
    there.map_err(|_| {
        Error::System(format!(
            "there is no memory for vecud: it needs {} MiB at least (see ulimit -d, ulimit -v)",
            LEAST_MEMORY >> 20
        ))
    })
}

/// The exit code; of an error, which is told, it is 2.
fn ended(result: Result<ExitCode, Error>) -> ExitCode {
    result.unwrap_or_else(|error| {
        let screen = terminal_size(stderr().as_fd());
        match screen.and_then(|(columns, _)| excerpt::of(&error, columns, terminal::has_colors())) {
            // Its parts are plain, the marks between them are not.
            Some(told) => drop(writeln!(stderr(), "{told}")),
            None => say(&format!("{error}{}", way_out(&error))),
        }
        ExitCode::from(2)
    })
}

/// The options of this program that help against an error, or the names that may have been meant.
fn way_out(error: &Error) -> String {
    match error {
        Error::Output(..) => "; choose another one with --out DIR".to_owned(),
        Error::OutputInUse(_) => "; wait for its end, or choose another one with --out DIR".to_owned(),
        Error::File(path, source) | Error::Archive(ArchiveError::Read { path, source })
            if source.kind() == io::ErrorKind::NotFound =>
        {
            nearby::hint(path)
        }
        Error::InRig(_, _, error) => way_out(error),
        _ => String::new(),
    }
}
