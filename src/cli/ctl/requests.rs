//! What `vecud ctl` asks a daemon, and how the answers are told.

use super::arguments::{Arguments, NamedRig, What};
use super::client::{Client, DaemonAddress, escaped, matching, read};
use super::failure::CtlFailure;
use super::settings::settings;
use super::show::{self, StatusAnswer};
use super::{events, files};
use crate::cli::daemon::default_socket;
use crate::cli::diagnostics::say;
use crate::cli::results::{self, screen};
use axum::http::Method;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vecud_daemon::Token;
use vecud_host::Error;
use vecud_linux::files as input;
use vecud_report::ReportFile;

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
        say(said);
        Ok(ExitCode::from(1))
    };
    match asked.run(&arguments.what) {
        Ok(code) => Ok(ExitCode::from(code)),
        Err(CtlFailure::Wrong(error)) => Err(error),
        Err(CtlFailure::Failed(said)) => failed(&said),
        Err(CtlFailure::Answered(answered)) => {
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
    fn run(&self, what: &What) -> Result<u8, CtlFailure> {
        let ask = |method: Method, rig: &NamedRig, below: &str| self.client.ask(method, &rig.at(below));
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
            What::Runs { rig, limit, before } => {
                let (answer, has_older) = files::list(&self.client, &rig.at("/runs"), *limit, before.as_deref())?;
                let older = has_older.then_some(rig.rig.as_str());
                self.tell(&answer, |runs: Vec<show::ListedRun>| show::runs(&runs, older))
            }
            What::Report { rig, run, out } => self.report(rig, run.as_deref(), out.as_deref()),
        }
    }

    /// Prints an answer: as it came, or as people want it.
    fn tell<T: DeserializeOwned>(&self, answer: &[u8], text: impl FnOnce(T) -> String) -> Result<u8, CtlFailure> {
        match self.json {
            true => Ok(self.raw(answer)?),
            false => self.say(&text(read(answer)?)),
        }
    }

    fn status(&self, answer: &[u8]) -> Result<u8, CtlFailure> {
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
    fn say(&self, text: &str) -> Result<u8, CtlFailure> {
        if !self.json {
            results::print(text, None)?;
        }
        Ok(0)
    }

    fn put(&self, rig: &NamedRig, file: &Path, reload: bool) -> Result<Vec<u8>, CtlFailure> {
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

    fn start(&self, rig: &NamedRig, mode: Option<&str>, stop_time: Option<f64>) -> Result<u8, CtlFailure> {
        let mut how = Map::new();
        how.extend(mode.map(|mode| ("mode".to_owned(), mode.into())));
        how.extend(stop_time.map(|time| ("stop_time".to_owned(), time.into())));
        let answer = self.client.tell(Method::POST, &rig.at("/start"), &how.into())?;
        self.status(&answer)?;
        let status: StatusAnswer = read(&answer)?;
        // A run in virtual time may be over by now.
        Ok(if status.is_over() { status.exit_code.unwrap_or(0) } else { 0 })
    }

    fn wait(&self, rig: &NamedRig, condition: &str, timeout: f64) -> Result<u8, CtlFailure> {
        let wanted = json!({"condition": condition, "timeout": timeout});
        let answer = self.client.tell(Method::POST, &rig.at("/waits"), &wanted)?;
        self.tell(&answer, |held: show::ConditionMet| show::held(&held))
    }

    fn report(&self, rig: &NamedRig, run: Option<&str>, out: Option<&Path>) -> Result<u8, CtlFailure> {
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
        let unread = |error: vecud_report::ReadError| CtlFailure::Failed(format!("the report of run {run}: {error}"));
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
            false => self.say(&vecud_report::summary(&whole, &place, screen(), &[]))?,
        };
        Ok(vecud_report::exit_code(&whole))
    }
}
