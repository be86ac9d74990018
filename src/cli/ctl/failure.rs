//! Why a request of `vecud ctl` is not done.

use vecud_host::Error;

/// Reason why a request is not done.
pub enum CtlFailure {
    /// The arguments are wrong, and the request is not sent: exit code 2.
    Wrong(Error),
    /// The daemon has answered with an error.
    Answered(Box<Answered>),
    /// There is no daemon, or its answer cannot be read: exit code 1.
    Failed(String),
}

/// An answer that is a problem.
pub struct Answered {
    pub status: u16,
    /// The problem as received.
    pub body: Vec<u8>,
    /// The problem as an error.
    pub error: Error,
}

impl Answered {
    /// Whether the request was wrong; otherwise it was right, and took too long or failed.
    pub fn is_refusal(&self) -> bool {
        !matches!(self.status, 408 | 500..)
    }
}

impl From<Error> for CtlFailure {
    fn from(error: Error) -> CtlFailure {
        CtlFailure::Wrong(error)
    }
}
