//! Sockets that a service manager has opened and hands over: sd_listen_fds(3), without its library.

use std::env;
use std::os::fd::OwnedFd;
use vecud_host::Error;
use vecud_linux::process::inherited;

/// The number of the first one.
const FIRST: i32 = 3;

/// A descriptor that was handed over.
#[derive(Debug)]
pub struct PassedDescriptor {
    /// Name of the descriptor in the service manager, or its number.
    pub name: String,
    /// The descriptor.
    pub descriptor: OwnedFd,
}

/// Descriptors passed to this process; to be called once, before it opens anything.
pub fn descriptors() -> Result<Vec<PassedDescriptor>, Error> {
    let of = |name| env::var(name).ok();
    let named = names(of("LISTEN_PID"), of("LISTEN_FDS"), of("LISTEN_FDNAMES"), std::process::id())?;
    let given = named.into_iter().zip(FIRST..).map(|(name, number)| {
        let descriptor = inherited(number).map_err(|error| {
            Error::System(format!("descriptor {number} was to be handed over ($LISTEN_FDS), and is not there: {error}"))
        })?;
        Ok(PassedDescriptor { name, descriptor })
    });
    given.collect()
}

/// The names of what was handed over, if it was to this process.
fn names(pid: Option<String>, count: Option<String>, names: Option<String>, own: u32) -> Result<Vec<String>, Error> {
    let (Some(pid), Some(count)) = (pid, count) else { return Ok(Vec::new()) };
    if pid.parse() != Ok(own) {
        // It was meant for a process before this one.
        return Ok(Vec::new());
    }
    let count: u8 = count
        .parse()
        .map_err(|_| Error::Command(format!("LISTEN_FDS={count}: that is no number of descriptors; leave it unset")))?;
    let mut named = names.iter().flat_map(|names| names.split(':')).filter(|name| !name.is_empty()).map(str::to_owned);
    let number = |number: i32| format!("descriptor {number}");
    Ok((FIRST..FIRST + i32::from(count)).map(|at| named.next().unwrap_or_else(|| number(at))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant_for_another_process_is_left_alone() {
        let of = |pid: Option<&str>, count: &str, named: Option<&str>| {
            names(pid.map(str::to_owned), Some(count.to_owned()), named.map(str::to_owned), 7)
        };
        assert_eq!(of(Some("7"), "2", Some("vecud.socket:other")).unwrap(), ["vecud.socket", "other"]);
        assert_eq!(of(Some("7"), "2", None).unwrap(), ["descriptor 3", "descriptor 4"]);
        assert!(of(Some("8"), "1", None).unwrap().is_empty());
        assert!(of(None, "1", None).unwrap().is_empty());
        for wrong in ["", "-1", "x", "1000"] {
            assert!(of(Some("7"), wrong, None).is_err(), "{wrong}");
        }
    }
}
