//! The settings with which a daemon starts.

use crate::api::Access;
use crate::log::DaemonLog;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use vecud_linux::stop::StopToken;

/// The settings of a daemon.
#[derive(Clone, Debug)]
pub struct DaemonSettings {
    /// The socket at which it listens.
    pub socket: SocketAt,
    /// A further address at which it listens, and the access to it.
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
    /// A socket that the daemon makes, and that its group may write to.
    Path(PathBuf),
    /// A socket that a service manager has made and opened, and that stays there.
    Given(Arc<OwnedFd>),
}
