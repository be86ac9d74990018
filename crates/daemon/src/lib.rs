//! `vecud daemon`: rigs by name, each of which runs as a [`Session`](vecud_host::Session), for everybody with access to
//! a socket, or over TCP with a token.
//!
//! Guarantees:
//!
//! - A request touches no thread that partitions run on: figures are read from shared memory, and long work is done by
//!   separate threads.
//! - Rigs are isolated: the failure of one of them, or requests to it, do not affect the others.
//! - Any number of concurrent requests takes bounded memory and processors, and a rig can be stopped.
//! - The wanted state of each rig is on the disk before a request for it is confirmed.
//!
//! ```text
//! listen ──► api ──► Rigs ──► Rig ──► vecud_host::Session
//!                    │ └────► Store (the state folder)
//!                    └──────► service (what systemd is told)
//! ```

#![forbid(unsafe_code)]

mod api;
mod condition;
mod cores;
mod definition;
mod events;
mod listen;
mod log;
mod metrics;
mod name;
mod orphans;
mod restart;
mod rig;
mod rigs;
mod runs;
mod service;
mod status;
mod store;
mod tally;
mod token;
mod waits;

pub use api::Access;
pub use log::{DaemonLine, DaemonLog};
pub use name::RigName;
pub use token::Token;

use listen::{Socket, Tcp};
use rigs::Rigs;
use service::{Pulses, ServiceManager};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use vecud_host::Error;
use vecud_linux::stop::StopToken;

/// What a daemon is told.
#[derive(Clone, Debug)]
pub struct DaemonSettings {
    /// Where it listens.
    pub socket: SocketAt,
    /// Where it listens besides, and what it asks of requests there.
    pub tcp: Option<(SocketAddr, Access)>,
    /// The folder that relative paths in rigs, and of rig files, count from.
    pub rigs: PathBuf,
    /// State folder: definitions of rigs, and their runs.
    pub state: PathBuf,
    /// Destination of log lines.
    pub log: DaemonLog,
    /// Request for the end.
    pub stop: StopToken,
    /// Whether a reload of the rigs' files was requested since the last call.
    pub reload: fn() -> bool,
}

/// A unix socket.
#[derive(Clone, Debug)]
pub enum SocketAt {
    /// One that is made here, and that its group may write to.
    Path(PathBuf),
    /// One that a service manager has made and opened, for whom it wants, and that stays there.
    Given(Arc<OwnedFd>),
}

/// How often it is looked whether somebody asks for the end, or for another look at files.
const LOOK: Duration = Duration::from_millis(50);

/// Serves until somebody asks for the end; then all rigs come to theirs. `ready` is called as soon as requests are answered, with the
/// name of the socket.
pub fn serve(settings: &DaemonSettings, ready: impl FnOnce(&str)) -> Result<(), Error> {
    let system = |error: std::io::Error| Error::System(format!("threads for requests: {error}"));
    let store = store::Store::open(&settings.state)?;
    let socket = match &settings.socket {
        SocketAt::Path(path) => Socket::bind(path)?,
        SocketAt::Given(descriptor) => Socket::given(descriptor)?,
    };
    let tcp = settings.tcp.as_ref().map(|(address, access)| Ok((Tcp::bind(*address)?, access))).transpose()?;
    let rigs = Arc::new(Rigs::load(store, settings.rigs.clone(), settings.log.clone())?);
    let requests = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(api::THREADS + 2)
        .thread_name("vecud.http")
        .enable_io()
        .enable_time()
        .build()
        .map_err(system)?;
    let (manager, pulses) = (ServiceManager::new(settings.log.clone()), Pulses::default());
    let api = api::router(rigs.clone());
    let attendance = requests.block_on(async {
        let asked = async {
            while !settings.stop.is_asked() {
                pulses.main.beat();
                tokio::time::sleep(LOOK).await;
            }
            rigs.streams.end();
            rigs.end_checks();
        };
        let rigs_as_wanted = rigs.clone();
        tokio::task::spawn_blocking(move || rigs_as_wanted.resume());
        tokio::spawn(api::answer(rigs.clone(), pulses.requests.clone()));
        tokio::spawn(reload(rigs.clone(), manager.clone(), settings.reload));
        let attendance = manager.attend(rigs.clone(), pulses.clone());
        ready(&socket.name());
        manager.is_ready();
        let tcp = tcp.map(|(tcp, access)| (tcp, api::over_tcp(api.clone(), access.clone())));
        let served = listen::serve(&socket, api, tcp, &settings.log, asked).await;
        manager.is_stopping();
        served.map(|()| attendance)
    })?;
    rigs.end(&settings.stop, || pulses.main.beat());
    drop(attendance);
    Ok(())
}

/// Has files of rigs looked at anew as often as somebody asks for that, once at a time.
async fn reload(rigs: Arc<Rigs>, manager: ServiceManager, is_asked: fn() -> bool) {
    loop {
        tokio::time::sleep(LOOK).await;
        if is_asked() {
            let (rigs, manager) = (rigs.clone(), manager.clone());
            let work = move || {
                let _meanwhile = manager.reloads();
                rigs.reload();
            };
            let _panicked = tokio::task::spawn_blocking(work).await;
        }
    }
}
