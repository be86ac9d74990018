//! What a daemon is told when it starts.

use crate::api::Access;
use crate::log::DaemonLog;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
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
