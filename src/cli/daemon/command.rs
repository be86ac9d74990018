//! The arguments of `vecud daemon`: where it listens, and what it keeps where.

use super::given::{self, PassedDescriptor};
use super::log::Writer;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use vecud_daemon::{Access, DaemonSettings, SocketAt, Token};
use vecud_host::Error;
use vecud_linux::process::outlive_file_size_limit;
use vecud_linux::stop;
use vecud_linux::{confine, heap};

#[derive(clap::Args)]
pub struct Arguments {
    /// Path of the socket to listen at. Default: $VECUD_SOCKET, else vecud.sock in $RUNTIME_DIRECTORY, else in $XDG_RUNTIME_DIR
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Base folder for relative paths in rigs. Default: the current folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    rigs: PathBuf,
    /// Folder for rigs and their runs. Default: $STATE_DIRECTORY, else vecud in $XDG_STATE_HOME or ~/.local/state
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Listen also at this address of this machine, such as 127.0.0.1:8080 or [::1]:8080 (port 0: any free port). Clients need the token
    #[arg(long, value_name = "ADDRESS", requires = "token_file")]
    listen: Option<SocketAddr>,
    /// File of the token for --listen: at least 16 characters, mode 0600, owned by you
    #[arg(long, value_name = "F", requires = "listen")]
    token_file: Option<PathBuf>,
    /// Answer requests that change nothing (GET) even without a token
    #[arg(long, requires = "listen")]
    anonymous_read: bool,
    /// Let --listen name an address that other machines reach. There is no TLS: others can read the traffic, including the token
    #[arg(long, requires = "listen")]
    allow_remote: bool,
    /// Name that requests to --listen may use for this machine (header Host), besides localhost and addresses. May be given several times
    #[arg(long, value_name = "NAME", requires = "listen")]
    host: Vec<String>,
}

/// The first of these variables that names something, and what follows it in a path.
fn folder_in(variables: &[(&str, &str)]) -> Option<PathBuf> {
    let named = |(name, below): &(&str, &str)| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some(PathBuf::from(value).join(below))
    };
    variables.iter().find_map(named)
}

/// Where a daemon listens that is told nothing.
pub fn default_socket() -> Result<PathBuf, Error> {
    if let Some(path) = std::env::var_os("VECUD_SOCKET").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    folder_in(&[("RUNTIME_DIRECTORY", "vecud.sock"), ("XDG_RUNTIME_DIR", "vecud.sock")]).ok_or_else(|| {
        Error::Command(
            "there is neither $RUNTIME_DIRECTORY nor $XDG_RUNTIME_DIR; name a socket with --socket PATH or $VECUD_SOCKET"
                .to_owned(),
        )
    })
}

/// Where else it is to listen, and what it asks of requests there.
fn tcp(arguments: &Arguments) -> Result<Option<(SocketAddr, Access)>, Error> {
    let (Some(address), Some(file)) = (arguments.listen, &arguments.token_file) else { return Ok(None) };
    if !address.ip().is_loopback() && !arguments.allow_remote {
        return Err(Error::Command(format!(
            "{address}: other machines reach this address, and there is no TLS: listen at 127.0.0.1 and let them come through an ssh \
             tunnel or a proxy, or say --allow-remote"
        )));
    }
    let (anonymous_read, names) = (arguments.anonymous_read, arguments.host.clone());
    Ok(Some((address, Access { token: Token::read(file)?, anonymous_read, names })))
}

/// The socket: the one that was handed over, else the one that is named, else the usual one.
fn socket(named: Option<PathBuf>, mut given: Vec<PassedDescriptor>) -> Result<SocketAt, Error> {
    let names: Vec<String> = given.iter().map(|given| given.name.clone()).collect();
    let names = names.join(", ");
    let Some(last) = given.pop() else { return named.map_or_else(default_socket, Ok).map(SocketAt::Path) };
    if let Some(path) = named {
        return Err(Error::Command(format!(
            "--socket {}: the service manager has handed over a socket as well ($LISTEN_FDS: {names}): leave --socket out, or disable \
             the socket unit",
            path.display()
        )));
    }
    // An address of this machine is for --listen, which wants a token.
    if !given.is_empty() {
        return Err(Error::Command(format!(
            "the service manager has handed over several sockets ($LISTEN_FDS: {names}): leave one ListenStream= in the socket unit, \
             the path"
        )));
    }
    Ok(SocketAt::Given(Arc::new(last.descriptor)))
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    heap::few_pools();
    // Before anything else is opened.
    let given = given::descriptors()?;
    let tcp = tcp(&arguments)?;
    let state = arguments
        .state
        .or_else(|| folder_in(&[("STATE_DIRECTORY", ""), ("XDG_STATE_HOME", "vecud"), ("HOME", ".local/state/vecud")]));
    let state = state.ok_or_else(|| {
        Error::Command("there is neither $STATE_DIRECTORY nor $HOME; name a state folder with --state DIR".to_owned())
    })?;
    let stop = stop::by_signals().map_err(|error| Error::System(error.to_string()))?;
    stop::reload_by_signal().map_err(|error| Error::System(error.to_string()))?;
    outlive_file_size_limit().map_err(|error| Error::System(error.to_string()))?;
    let socket = socket(arguments.socket, given)?;
    let rigs = std::path::absolute(&arguments.rigs).map_err(Error::file(&arguments.rigs))?;
    let writer = Writer::start();
    if let Err(error) = confine::close_memory() {
        writer
            .log()
            .say(&format!("FMU CODE CAN READ AND CHANGE THE MEMORY OF THE DAEMON, its token included: {error}"));
    }
    let settings = DaemonSettings { socket, tcp, rigs, state, log: writer.log(), stop, reload: stop::reload_is_asked };
    vecud_daemon::serve(&settings, |name| settings.log.say(&format!("listening on {name}")))?;
    Ok(ExitCode::SUCCESS)
}
