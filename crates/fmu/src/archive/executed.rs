//! Tells the files of an FMU that decide what is executed.

use crate::platform;

/// Whether a file of an archive decides what is executed: the description, libraries for this machine, and sources.
pub(super) fn is_executed(name: &str) -> bool {
    let mut parts = name.split('/');
    match parts.next() {
        Some("modelDescription.xml" | "sources") => true,
        Some("binaries") => parts.next().is_some_and(|tuple| platform::rank(tuple).is_some()),
        _ => false,
    }
}
