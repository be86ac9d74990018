//! `vecud ctl`: asks a daemon for something.
//!
//! Exit codes are those of `vecud run`: 2 says that what was asked for is wrong, 1 that it is right and has failed, or that there is no
//! daemon; who stops a run, or asks for its report, gets the run's own.

mod client;
mod events;
mod files;
mod show;

use super::daemon::default_socket;
use super::results;
use axum::http::Method;
use clap::Subcommand;
use client::{Client, DaemonAddress, escaped};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use show::StatusAnswer;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vecud_daemon::{RigName, Token};
use vecud_host::Error;
use vecud_linux::files as input;
use vecud_plan::rig::{self, RigValue};
use vecud_report::ReportFile;

#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Arguments {
    /// The daemon's socket; default: $VECUD_SOCKET, else vecud.sock in $RUNTIME_DIRECTORY, else in $XDG_RUNTIME_DIR; if there is none,
    /// that of the system's service, /run/vecud/vecud.sock
    #[arg(long, value_name = "PATH", global = true)]
    socket: Option<PathBuf>,
    /// Asks over TCP instead, at this address: http://127.0.0.1:8080
    #[arg(long, value_name = "URL", global = true)]
    url: Option<String>,
    /// The file of the token that is needed there: mode 0600, yours
    #[arg(long, value_name = "F", global = true)]
    token_file: Option<PathBuf>,
    /// Prints the answer as it came, also one that says what is wrong; events as JSON, one a line
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    what: What,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 it has failed, or there is no daemon, or (wait) the condition did not hold in time, or the \
                          run was over; 2 what is asked for is invalid: unknown names, mistakes in a rig, not possible now; stop and report: \
                          the exit code of the run, 3 if a limit was exceeded.";

#[derive(Subcommand)]
enum What {
    /// All rigs, and how far they are
    List,
    /// One rig: how far it is, and why it could not begin
    Show {
        #[command(flatten)]
        rig: Rig,
    },
    /// Makes a rig, or makes it another one, after a check as by vecud check
    Put {
        #[command(flatten)]
        rig: Rig,
        /// A rig file, an .fmu file or the folder of an FMU, which the daemon reads itself, now and at each start; with --url, or as -
        /// (standard input), the text of a rig is sent, whose relative paths count from the daemon's --rigs
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// If it runs, its run ends, and the new one starts
        #[arg(long)]
        reload: bool,
    },
    /// Forgets a rig; its runs stay on the disk
    Delete {
        #[command(flatten)]
        rig: Rig,
    },
    /// Starts a rig, and waits until it runs
    Start {
        #[command(flatten)]
        rig: Rig,
        /// In real time or as fast as possible; default: as the rig says
        #[arg(long, value_name = "MODE", value_parser = ["realtime", "virtual"])]
        mode: Option<String>,
        /// Ends at this simulation time (s); default: as the rig says
        #[arg(long, value_name = "S", value_parser = super::report::finite, allow_hyphen_values = true)]
        stop_time: Option<f64>,
    },
    /// Ends a run in good order, and waits for its report
    Stop {
        #[command(flatten)]
        rig: Rig,
        /// At once, by force: FMU code that runs is not waited for, and the run has failed
        #[arg(long)]
        now: bool,
    },
    /// Lets simulation time stand
    Pause {
        #[command(flatten)]
        rig: Rig,
    },
    /// Goes on after a pause
    Resume {
        #[command(flatten)]
        rig: Rig,
    },
    /// Has a rig be idle, whatever it is doing
    Reset {
        #[command(flatten)]
        rig: Rig,
    },
    /// What the clocks of a run have measured so far
    Clocks {
        #[command(flatten)]
        rig: Rig,
    },
    /// The newest values of recorded and watched signals
    Signals {
        #[command(flatten)]
        rig: Rig,
        /// Which of them; default: all
        #[arg(value_name = "GLOB")]
        globs: Vec<String>,
    },
    /// Sets variables of a run: tunable parameters and inputs that nothing else sets
    Set {
        #[command(flatten)]
        rig: Rig,
        /// ecu.gain=2, 'ecu.mode="idle"', ecu.map=[1,2]
        #[arg(value_name = "FMU.NAME=VALUE", required = true)]
        values: Vec<String>,
    },
    /// Ticks a triggered clock that nothing else ticks
    Tick {
        #[command(flatten)]
        rig: Rig,
        #[arg(value_name = "FMU.CLOCK")]
        clock: String,
    },
    /// Waits until a condition on signals holds: 'ecu.speed > 900 and rising(ecu.key)'
    Wait {
        #[command(flatten)]
        rig: Rig,
        #[arg(value_name = "CONDITION")]
        condition: String,
        /// For how long (s)
        #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = super::report::finite)]
        timeout: f64,
    },
    /// What happens to a rig, line by line, until it is interrupted
    Events {
        #[command(flatten)]
        rig: Rig,
        /// With the values of these signals, each second
        #[arg(value_name = "GLOB")]
        globs: Vec<String>,
    },
    /// The runs of a rig, oldest first
    Runs {
        #[command(flatten)]
        rig: Rig,
    },
    /// The report of a run
    Report {
        #[command(flatten)]
        rig: Rig,
        /// Which run; default: the last one
        #[arg(value_name = "RUN")]
        run: Option<String>,
        /// Writes all files of the run into this folder, which has none of them yet
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// The rig that something is asked of.
#[derive(clap::Args)]
struct Rig {
    #[arg(value_name = "RIG", value_parser = name)]
    rig: RigName,
}

fn name(text: &str) -> Result<RigName, String> {
    RigName::new(text).ok_or_else(|| {
        "no rig is called that: up to 64 letters, digits, `_`, `-` and `.`, a letter, digit or `_` first".to_owned()
    })
}

impl Rig {
    /// A path below the rig's own.
    fn at(&self, below: &str) -> String {
        format!("/v1/rigs/{}{below}", self.rig)
    }
}

/// Reason why a request is not done.
enum Failure {
    /// The arguments are wrong, and the request is not sent: exit code 2.
    Wrong(Error),
    /// The daemon has answered with an error.
    Answered(Box<Answered>),
    /// There is no daemon, or its answer cannot be read: exit code 1.
    Failed(String),
}

/// An answer that is a problem.
struct Answered {
    status: u16,
    /// The problem as received.
    body: Vec<u8>,
    /// The problem as an error.
    error: Error,
}

impl Answered {
    /// Whether the request was wrong; otherwise it was right, and took too long or failed.
    fn is_refusal(&self) -> bool {
        !matches!(self.status, 408 | 500..)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Wrong(error)
    }
}

/// Where a daemon would be that was started without a word: by this user, else by systemd/vecud.service.
fn usual_socket() -> Result<PathBuf, Error> {
    const SERVICE: &str = "/run/vecud/vecud.sock";
    let own = default_socket();
    let is_there = own.as_ref().is_ok_and(|path| path.exists());
    if !is_there && std::env::var_os("VECUD_SOCKET").is_none() && Path::new(SERVICE).exists() {
        return Ok(SERVICE.into());
    }
    own
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    if arguments.socket.is_some() && arguments.url.is_some() {
        return Err(Error::Command("a daemon is asked at its --socket or at its --url, not at both".to_owned()));
    }
    if arguments.token_file.is_some() && arguments.url.is_none() {
        return Err(Error::Command("a token is for TCP: say --url URL, too, or leave --token-file out".to_owned()));
    }
    let token = arguments.token_file.as_deref().map(Token::read).transpose()?;
    let to = match (&arguments.url, &arguments.socket) {
        (Some(url), _) => DaemonAddress::url(url)?,
        (None, Some(path)) => DaemonAddress::Socket(path.clone()),
        (None, None) => DaemonAddress::Socket(usual_socket()?),
    };
    let asked = Ctl { client: Client::new(to, token.as_ref())?, json: arguments.json };
    let failed = |said: &str| {
        super::say(said);
        Ok(ExitCode::from(1))
    };
    match asked.run(&arguments.what) {
        Ok(code) => Ok(ExitCode::from(code)),
        Err(Failure::Wrong(error)) => Err(error),
        Err(Failure::Failed(said)) => failed(&said),
        Err(Failure::Answered(answered)) => {
            if asked.json {
                asked.raw(&answered.body)?;
            }
            // It may have run when somebody began to wait.
            let has_ended = matches!(arguments.what, What::Wait { .. }) && answered.status == 409;
            match answered.is_refusal() && !has_ended {
                true => Err(answered.error),
                false => failed(&answered.error.to_string()),
            }
        }
    }
}

/// A client with the form of its output.
struct Ctl {
    client: Client,
    json: bool,
}

impl Ctl {
    /// The exit code.
    fn run(&self, what: &What) -> Result<u8, Failure> {
        let ask = |method: Method, rig: &Rig, below: &str| self.client.ask(method, &rig.at(below));
        match what {
            What::List => {
                self.tell(&self.client.ask(Method::GET, "/v1/rigs")?, |rigs: Vec<StatusAnswer>| show::list(&rigs))
            }
            What::Show { rig } => self.tell(&ask(Method::GET, rig, "")?, |status: StatusAnswer| show::all(&status)),
            What::Put { rig, file, reload } => self.status(&self.put(rig, file, *reload)?),
            What::Delete { rig } => {
                ask(Method::DELETE, rig, "")?;
                self.say(&format!("{} is forgotten; its runs stay on the disk\n", rig.rig))
            }
            What::Start { rig, mode, stop_time } => self.start(rig, mode.as_deref(), *stop_time),
            What::Stop { rig, now } => {
                let answer = ask(Method::POST, rig, if *now { "/stop?now=true" } else { "/stop" })?;
                self.status(&answer)?;
                Ok(read::<StatusAnswer>(&answer)?.exit_code.unwrap_or(0))
            }
            What::Pause { rig } => self.status(&ask(Method::POST, rig, "/pause")?),
            What::Resume { rig } => self.status(&ask(Method::POST, rig, "/resume")?),
            What::Reset { rig } => self.status(&ask(Method::POST, rig, "/reset")?),
            What::Clocks { rig } => {
                self.tell(&ask(Method::GET, rig, "/clocks")?, |clocks: Vec<show::ClockRow>| show::clocks(&clocks))
            }
            What::Signals { rig, globs } => {
                let answer = ask(Method::GET, rig, &format!("/signals{}", matching(globs)))?;
                self.tell(&answer, |signals: Vec<show::SignalValue>| show::signals(&signals))
            }
            What::Set { rig, values } => {
                let answer = self.client.tell(Method::PATCH, &rig.at("/variables"), &settings(values)?)?;
                self.tell(&answer, |times: Map<String, Value>| show::set(&times))
            }
            What::Tick { rig, clock } => {
                let answer = ask(Method::POST, rig, &format!("/ticks/{}", escaped(clock)))?;
                self.tell(&answer, |tick: show::HoldsFrom| match tick.time {
                    Some(time) => format!("{clock} ticks at {} s\n", show::time(time)),
                    None => format!("{clock} ticks when the rig goes on\n"),
                })
            }
            What::Wait { rig, condition, timeout } => self.wait(rig, condition, *timeout),
            What::Events { rig, globs } => events::print(&self.client, &rig.at("/events"), globs, self.json),
            What::Runs { rig } => {
                self.tell(&ask(Method::GET, rig, "/runs")?, |runs: Vec<show::ListedRun>| show::runs(&runs))
            }
            What::Report { rig, run, out } => self.report(rig, run.as_deref(), out.as_deref()),
        }
    }

    /// Prints an answer: as it came, or as people want it.
    fn tell<T: DeserializeOwned>(&self, answer: &[u8], text: impl FnOnce(T) -> String) -> Result<u8, Failure> {
        match self.json {
            true => Ok(self.raw(answer)?),
            false => self.say(&text(read(answer)?)),
        }
    }

    fn status(&self, answer: &[u8]) -> Result<u8, Failure> {
        self.tell(answer, |status: StatusAnswer| show::line(&status))
    }

    fn raw(&self, answer: &[u8]) -> Result<u8, Error> {
        let mut text = String::from_utf8_lossy(answer).into_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        results::print(&text, None)?;
        Ok(0)
    }

    /// Says what has no answer to be printed.
    fn say(&self, text: &str) -> Result<u8, Failure> {
        if !self.json {
            results::print(text, None)?;
        }
        Ok(0)
    }

    fn put(&self, rig: &Rig, file: &Path, reload: bool) -> Result<Vec<u8>, Failure> {
        let path = rig.at(if reload { "?reload=true" } else { "" });
        let is_input = file == Path::new("-");
        if !is_input && matches!(self.client.to, DaemonAddress::Socket(_)) {
            let file = std::path::absolute(file).map_err(Error::file(file))?;
            let named = file.to_str().ok_or_else(|| {
                Error::Command(format!("{}: its name is no UTF-8, so it cannot be sent", file.display()))
            })?;
            return self.client.tell(Method::PUT, &path, &json!({"path": named}));
        }
        let mut text = String::new();
        let read = match is_input {
            true => std::io::stdin().read_to_string(&mut text).map(drop),
            false => input::read_to_string(file).map(|own| text = own),
        };
        read.map_err(Error::file(file))?;
        let sent = self.client.send(Method::PUT, &path, "application/toml", text.into_bytes());
        sent.map_err(|failure| show::in_own_file(failure, &rig.rig, if is_input { None } else { Some(file) }))
    }

    fn start(&self, rig: &Rig, mode: Option<&str>, stop_time: Option<f64>) -> Result<u8, Failure> {
        let mut how = Map::new();
        how.extend(mode.map(|mode| ("mode".to_owned(), mode.into())));
        how.extend(stop_time.map(|time| ("stop_time".to_owned(), time.into())));
        let answer = self.client.tell(Method::POST, &rig.at("/start"), &how.into())?;
        self.status(&answer)?;
        let status: StatusAnswer = read(&answer)?;
        // A run in virtual time may be over by now.
        Ok(if status.is_over() { status.exit_code.unwrap_or(0) } else { 0 })
    }

    fn wait(&self, rig: &Rig, condition: &str, timeout: f64) -> Result<u8, Failure> {
        let wanted = json!({"condition": condition, "timeout": timeout});
        let answer = self.client.tell(Method::POST, &rig.at("/waits"), &wanted)?;
        self.tell(&answer, |held: show::ConditionMet| show::held(&held))
    }

    fn report(&self, rig: &Rig, run: Option<&str>, out: Option<&Path>) -> Result<u8, Failure> {
        let run = match run {
            Some(run) => run.to_owned(),
            None => {
                let status: StatusAnswer = read(&self.client.ask(Method::GET, &rig.at(""))?)?;
                let none = || Error::Command(format!("rig {} has no run yet", rig.rig));
                status.run.ok_or_else(none)?
            }
        };
        let path = rig.at(&format!("/runs/{}", escaped(&run)));
        let answer = self.client.ask(Method::GET, &path)?;
        let text = String::from_utf8_lossy(&answer);
        let unread = |error: vecud_report::ReadError| Failure::Failed(format!("the report of run {run}: {error}"));
        let read = ReportFile::parse(&text).map_err(unread)?;
        let whole = match read.of_checkpoint() {
            Some(whole) => whole,
            None if read.has_histograms() => {
                let log = self.client.ask(Method::GET, &format!("{path}/histograms.hlog"))?;
                read.rebuild(&String::from_utf8_lossy(&log))
            }
            None => read.rebuild(""),
        };
        let whole = whole.map_err(unread)?;
        let place = match out {
            Some(folder) => {
                files::bring(&self.client, &rig.at("/runs"), &run, folder)?;
                folder.join("report.html").display().to_string()
            }
            None => format!("run {run}; its files come with --out DIR"),
        };
        match self.json {
            true => self.raw(&answer)?,
            false => self.say(&vecud_report::summary(&whole, &place, super::report::screen(), &[]))?,
        };
        Ok(vecud_report::exit_code(&whole))
    }
}

/// What an answer says.
fn read<T: DeserializeOwned>(answer: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(answer).map_err(|error| {
        Failure::Failed(format!(
            "the answer cannot be read: {error}; is the daemon of another version? --json prints it"
        ))
    })
}

/// These globs as a query.
fn matching(globs: &[String]) -> String {
    let parts: Vec<String> = globs.iter().map(|glob| format!("match={}", escaped(glob))).collect();
    if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
}

/// Converts `FMU.NAME=VALUE` arguments into the body of the request.
fn settings(values: &[String]) -> Result<Value, Error> {
    let mut settings = Map::new();
    for text in values {
        let (name, value) = match text.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
            Some((name, value)) if name.contains('.') => (name, value),
            _ => return Err(Error::Command(format!("{text}: must be written FMU.NAME=VALUE"))),
        };
        // A rig file has no integer of more than 2^63 - 1, JSON has.
        let json = match value.parse::<u64>() {
            Ok(value) => value.into(),
            Err(_) => as_json(&rig::value(value).ok_or_else(|| Error::Command(rig::no_value(name, value)))?),
        };
        if settings.insert(name.to_owned(), json).is_some() {
            return Err(Error::Command(format!("{name} is to be set twice")));
        }
    }
    Ok(settings.into())
}

/// A value as the daemon takes it.
fn as_json(value: &RigValue) -> Value {
    match value {
        RigValue::Integer(value) => (*value).into(),
        RigValue::Float(value) if value.is_finite() => (*value).into(),
        RigValue::Float(value) if value.is_nan() => "NaN".into(),
        RigValue::Float(value) => if *value > 0.0 { "inf" } else { "-inf" }.into(),
        RigValue::Boolean(value) => (*value).into(),
        RigValue::String(value) => value.as_str().into(),
        RigValue::Array(list) => list.iter().map(|element| as_json(&element.value)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sent_as_json() {
        let texts =
            ["ecu.gain=2", "ecu.x = -0.5", "ecu.m=[[1, 2], [3, inf]]", "ecu.s=\"a=b\"", "ecu.b=true", "ecu.n=nan"];
        let texts = texts.map(str::to_owned);
        assert_eq!(
            settings(&texts).unwrap(),
            json!({"ecu.gain": 2, "ecu.x": -0.5, "ecu.m": [1, 2, 3, "inf"], "ecu.s": "a=b", "ecu.b": true, "ecu.n": "NaN"})
        );
        for (wrong, words) in
            [("gain=2", "FMU.NAME=VALUE"), ("ecu.gain", "FMU.NAME"), ("ecu.mode=idle", "double quotes")]
        {
            let error = settings(&[wrong.to_owned()]).unwrap_err().to_string();
            assert!(error.contains(words), "{wrong}: {error}");
        }
        assert_eq!(settings(&["ecu.x=18446744073709551615".to_owned()]).unwrap(), json!({"ecu.x": u64::MAX}));
        assert!(settings(&["ecu.x=1".to_owned(), "ecu.x=2".to_owned()]).unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn globs_are_a_query() {
        assert_eq!(matching(&[]), "");
        assert_eq!(matching(&["ecu.*".to_owned(), "a&b".to_owned()]), "?match=ecu.%2A&match=a%26b");
    }
}
