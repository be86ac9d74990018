//! Who this user is, and what he may. With `jail.rs` the only place in the tests that looks at users, capabilities and limits.
//!
//! What a test learns here may change its outcome. So its name ends with `_as_this_user`, and the gate runs it once more as an
//! ordinary user (`tests/repository/users.rs`). What is the same for all users is to be had from `program` itself.

use super::skipped;
use nix::sys::resource::{Resource, getrlimit};
use rustix::process::{Pid, Rlimit, prlimit};
use rustix::thread::{CapabilitySet, capabilities};
use std::process::{Child, Command};
use vecud::sys::SysError;

/// A user without any privilege, and his group.
pub const NOBODY: u32 = 65534;

/// The words that start a program as that user.
pub const AS_NOBODY: &[&str] = &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// The words that start a program as that user in two more groups.
pub const AS_MEMBER: &[&str] = &["setpriv", "--reuid=65534", "--regid=65534", "--groups=54320,54321"];

/// The words that start a program as an ordinary user beside that one, whose number and group this is.
pub const AS_ANOTHER: &[&str] = &["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"];
pub const ANOTHER: u32 = 12345;

/// Whether this is root, who can start programs as others, or a visible word that the test needs him.
pub fn becomes_others(test: &str) -> bool {
    let becomes =
        is_root() && Command::new(AS_NOBODY[0]).args(&AS_NOBODY[1..]).arg("true").status().is_ok_and(|is| is.success());
    if !becomes {
        skipped(test, &"this test needs root, who becomes other users (setpriv)");
    }
    becomes
}

pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Whether this is root who can take privileges away, or a visible word that the test needs him.
pub fn root(test: &str) -> bool {
    let root = is_root() && may_have_fifo(89).is_ok();
    if !root {
        skipped(test, &"this test needs root with CAP_SYS_NICE, to take privileges away");
    }
    root
}

/// Whether this user gets that real-time priority.
pub fn may_have_fifo(priority: u8) -> Result<(), SysError> {
    vecud::sys::scheduling::probe_fifo(priority)
}

/// Whether this user can run a program without real-time priorities: he has none, or is root, who can take them away. Else a
/// visible word.
pub fn can_do_without_real_time(test: &str) -> bool {
    let can = is_root() || may_have_fifo(1).is_err();
    if !can {
        skipped(test, &"this user has real-time priorities, which only root can take away");
    }
    can
}

/// What a shell does to start PROGRAM without real-time priorities, where that can be done; else a visible word.
pub fn words_without_real_time(test: &str) -> Option<&'static str> {
    if is_root() && Command::new("setpriv").arg("--version").output().is_err() {
        skipped(test, &"setpriv cannot take root's privileges");
        return None;
    }
    can_do_without_real_time(test).then_some(
        "ulimit -r 0; test $(id -u) = 0 && exec setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice PROGRAM \"$@\"; \
         exec PROGRAM \"$@\"",
    )
}

/// Whether this user may raise limits beyond those that he has.
pub fn may_raise_limits() -> bool {
    capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::SYS_RESOURCE))
}

/// How many bytes a program of this user can be allowed to lock.
pub fn most_to_be_locked() -> u64 {
    getrlimit(Resource::RLIMIT_MEMLOCK).unwrap().1
}

/// Lets a child have so many bytes of address space at most.
pub fn limit_memory(child: &Child, most: u64) {
    limit(child, rustix::process::Resource::As, most);
}

/// Lets a child write files of so many bytes at most.
pub fn limit_files(child: &Child, most: u64) {
    limit(child, rustix::process::Resource::Fsize, most);
}

/// Lets a child have so many files and connections open at most.
pub fn limit_descriptors(child: &Child, most: u64) {
    limit(child, rustix::process::Resource::Nofile, most);
}

fn limit(child: &Child, resource: rustix::process::Resource, most: u64) {
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    let limited = prlimit(Some(Pid::from_child(child)), resource, limit);
    // An ordinary user may not raise a lower limit that holds already.
    let is_lower = || rustix::process::getrlimit(resource).maximum.is_some_and(|own| own < most);
    assert!(limited.is_ok() || is_lower(), "{limited:?}");
}
