//! The arguments of `vecud call`, and its conversation with an FMU, line by line.

use super::input::{LineSource, NextLine};
use super::shown;
use crate::cli::diagnostics::say;
use crate::cli::opening::Opening;
use crate::cli::orphans::adopts;
use crate::cli::simulate::InterfaceArgument;
use crate::cli::validate;
use std::fs::File;
use std::io::{self, IsTerminal, Write, stderr, stdin, stdout};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use vecud_description::Interface;
use vecud_host::Error;
use vecud_host::by_hand::{ByHand, ConversationOptions, Done, FmiState, Heard};
use vecud_linux::confine;
use vecud_linux::process::outlive_file_size_limit;
use vecud_linux::stop::{self, StopToken};

#[derive(clap::Args)]
pub struct Arguments {
    /// An .fmu file, or the folder of an unpacked FMU
    file: PathBuf,
    /// A call, as you type it at the prompt: -c Instantiate -c 'set gain 2'. May be given several times. Default: lines of standard input
    #[arg(long, short, value_name = "CALL")]
    command: Vec<String>,
    /// Interface type of the instances. Default: cs if the FMU has it, else se, else me
    #[arg(long, value_name = "TYPE")]
    interface_type: Option<InterfaceArgument>,
    #[command(flatten)]
    opening: Opening,
    /// Time limit for each call, in seconds. After that, vecud ends the FMU
    #[arg(long, value_name = "S", default_value = "30", value_parser = validate::seconds, allow_hyphen_values = true)]
    timeout: Duration,
    /// Continue after a call that failed or that vecud refused. The exit code is still that of the first such call
    #[arg(long)]
    keep_going: bool,
    /// Print a line of JSON for each requested call, for programs
    #[arg(long)]
    json: bool,
}

/// The exit code where a call has failed, or what came of one could not be written.
const FAILED: u8 = 1;
/// The exit code where a line is wrong, or the FMU is invalid.
const WRONG: u8 = 2;

pub fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let system = |error: &dyn std::fmt::Display| Error::System(error.to_string());
    outlive_file_size_limit().map_err(|error| system(&error))?;
    if let Err(error) = confine::close_memory() {
        say(&format!("FMU CODE CAN READ AND CHANGE THE MEMORY OF VECUD: {error}"));
    }
    let (stop, _held) = stop::while_held().map_err(|error| system(&error))?;
    let wanted = ConversationOptions {
        file: arguments.file.clone(),
        interface: arguments.interface_type.map(Interface::from),
        timeout: arguments.timeout,
        printed: File::from(stderr().as_fd().try_clone_to_owned().map_err(|error| system(&error))?),
        adopts: adopts(|warning| say(&warning)),
        preload: arguments.opening.preload.clone(),
        lenient: arguments.opening.lenient,
        interrupts: stop::interrupts,
    };
    let mut conversation = ByHand::open(wanted, stop.clone())?;
    Error::if_asked(&stop)?;
    let is_prompted = arguments.command.is_empty() && stdin().is_terminal();
    let mut input = match arguments.command.as_slice() {
        [] if is_prompted => LineSource::typed().map_err(|error| system(&error))?,
        [] => LineSource::standard().map_err(|error| system(&error))?,
        commands => LineSource::of(commands),
    };
    if is_prompted {
        stop::count_interrupts().map_err(|error| system(&error))?;
        say(&format!("{}. `help` lists what can be called; Ctrl-D ends.", conversation.title()));
    }
    let mut talk = Talk { arguments, is_prompted, stop, code: 0, number: 0 };
    let talked = talk.go_on(&mut conversation, &mut input);
    conversation.end(&mut |heard| say(&format!("warning: {}", shown::text(&heard))));
    talked?;
    Ok(ExitCode::from(talk.code))
}

/// A conversation with an FMU.
struct Talk<'a> {
    arguments: &'a Arguments,
    /// Lines come from a terminal.
    is_prompted: bool,
    /// A signal asks for the end.
    stop: StopToken,
    /// The exit code so far.
    code: u8,
    /// The lines that were read.
    number: u64,
}

impl Talk<'_> {
    fn go_on(&mut self, conversation: &mut ByHand, input: &mut LineSource) -> Result<(), Error> {
        while !self.stop.is_asked() {
            // Whatever comes once the prompt is there is meant for the line.
            let interrupts = stop::interrupts();
            if self.is_prompted {
                prompt(conversation);
            }
            let line =
                match input.next(interrupts).map_err(|error| Error::System(format!("standard input: {error}")))? {
                    NextLine::End => {
                        if self.is_prompted {
                            let _nobody_may_look = writeln!(stderr());
                        }
                        return Ok(());
                    }
                    NextLine::GivenUp => {
                        let _nobody_may_look = writeln!(stderr());
                        continue;
                    }
                    NextLine::Of(line) => line,
                };
            self.number += 1;
            match self.line(conversation, &line) {
                // Whoever has read what was printed has seen enough.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => {
                    say(&format!("what came of it cannot be written to standard output: {error}"));
                    // The FMU was called: this is no mistake of whoever asked.
                    self.code = FAILED;
                    return Ok(());
                }
                Ok(true) => {}
                Ok(false) => return Ok(()),
            }
        }
        say(&format!("ended when asked to, after {} of its lines", self.number));
        self.code = FAILED;
        Ok(())
    }

    /// Does a line; false: it was the last.
    fn line(&mut self, conversation: &mut ByHand, line: &str) -> io::Result<bool> {
        if self.arguments.json {
            return self.line_for_programs(conversation, line);
        }
        // The descriptor itself, since Rust's stdout takes one that is not open for writing for success.
        let mut out = File::from(stdout().as_fd().try_clone_to_owned()?);
        let is_empty = line.trim().is_empty() || line.trim_start().starts_with('#');
        if !self.is_prompted && !is_empty {
            writeln!(out, "> {}", vecud_base::plain::plain(line.trim()))?;
        }
        let mut written = Ok(());
        let done = conversation.tell(line, &mut |heard| {
            if written.is_ok() {
                written = writeln!(out, "{}", shown::text(&heard));
            }
        });
        written?;
        let message = match done {
            Done::End => return Ok(false),
            Done::Nothing | Done::Well => return Ok(true),
            Done::Text(text) => {
                writeln!(out, "{}", vecud_base::plain::message(&text))?;
                return Ok(true);
            }
            Done::Wrong(message) => self.note(WRONG, message),
            Done::Invalid(message) => self.note(WRONG, message),
            Done::Failed(message) => self.note(FAILED, message),
        };
        match self.is_prompted {
            true => say(&message),
            false => say(&format!("{}: {message}", self.place())),
        }
        Ok(self.goes_on())
    }

    fn line_for_programs(&mut self, conversation: &mut ByHand, line: &str) -> io::Result<bool> {
        let mut heard: Vec<Heard> = Vec::new();
        let done = conversation.tell(line, &mut |one| heard.push(one));
        match &done {
            Done::Nothing => return Ok(true),
            Done::End => return Ok(false),
            Done::Text(_) | Done::Well => {}
            Done::Wrong(_) | Done::Invalid(_) => drop(self.note(WRONG, String::new())),
            Done::Failed(_) => drop(self.note(FAILED, String::new())),
        }
        let is_well = matches!(done, Done::Well | Done::Text(_));
        let text = shown::json(self.number, line.trim(), &heard, &done, conversation);
        let mut out = File::from(stdout().as_fd().try_clone_to_owned()?);
        writeln!(out, "{text}")?;
        Ok(is_well || self.goes_on())
    }

    /// Where a line is.
    fn place(&self) -> String {
        match self.arguments.command.is_empty() {
            true => format!("line {}", self.number),
            false => format!("-c {}", self.number),
        }
    }

    /// Notes that a line was not done as it should be. Whoever types has seen it.
    fn note(&mut self, code: u8, message: String) -> String {
        if self.code == 0 && !self.is_prompted {
            self.code = code;
        }
        message
    }

    fn goes_on(&self) -> bool {
        self.is_prompted || self.arguments.keep_going
    }
}

fn prompt(conversation: &ByHand) {
    let text = match conversation.state() {
        FmiState::NoInstance => "no instance> ".to_owned(),
        state => format!("{} {:?}> ", state.name(), conversation.time()),
    };
    let _nobody_may_look = stderr().write_all(text.as_bytes());
}
