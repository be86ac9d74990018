//! Diagnostics on standard error.

use std::io::{Write, stderr};
use vecud_base::plain;

/// A diagnostic on stderr. One that nobody reads (a closed pipe, a full disk) must not end a run.
pub fn say(message: &str) {
    let _ = writeln!(stderr(), "{}", plain::message(message));
}
