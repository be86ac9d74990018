//! One error for all refusals of Linux: the request, the reason, the remedy.

use nix::errno::Errno;
use std::borrow::Cow;
use std::fmt;

/// A request to the operating system that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysError {
    /// The refused request, as a phrase: `set SCHED_FIFO priority 80`.
    pub what: String,
    /// The error number, or 0 when the refusal is not a system call's.
    pub errno: i32,
    /// Remedy for the user; empty if none is known.
    pub fix: Cow<'static, str>,
}

impl SysError {
    /// An error with the number that a system call returned.
    pub fn new(what: impl Into<String>, errno: i32, fix: impl Into<Cow<'static, str>>) -> Self {
        SysError { what: what.into(), errno, fix: fix.into() }
    }

    /// An error with the calling thread's `errno`.
    pub fn last(what: impl Into<String>, fix: impl Into<Cow<'static, str>>) -> Self {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        SysError::new(what, errno, fix)
    }
}

impl SysError {
    /// The refusal and its reason (`EPERM: Operation not permitted`), without the remedy.
    pub fn cause(&self) -> String {
        match (self.errno, Errno::from_raw(self.errno)) {
            (0, _) => format!("cannot {}", self.what),
            (errno, Errno::UnknownErrno) => format!("cannot {}: error {errno}", self.what),
            (_, errno) => format!("cannot {}: {errno}", self.what),
        }
    }
}

impl fmt::Display for SysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause())?;
        if !self.fix.is_empty() {
            write!(f, "; {}", self.fix)?;
        }
        Ok(())
    }
}

impl std::error::Error for SysError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_why_and_how_to_fix() {
        let error = SysError::new("lock memory", libc::ENOMEM, "raise LimitMEMLOCK");
        let text = error.to_string();
        assert!(text.starts_with("cannot lock memory: "), "{text}");
        assert!(text.contains("ENOMEM: "), "{text}");
        assert!(text.ends_with("; raise LimitMEMLOCK"), "{text}");
        assert_eq!(SysError::new("do it", 0, "").to_string(), "cannot do it");
    }
}
