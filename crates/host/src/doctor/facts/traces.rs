//! Instances of the kernel's tracing that runs of vecud have made (`[trace] kernel = true`): their names, and those that killed
//! runs have left.

use crate::doctor::Tree;

/// Mount points of tracefs: its own place, and the one of older kernels.
pub const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Instances of one process at most.
pub const SESSIONS: u32 = 64;
/// Begins the name of an instance.
const NAME: &str = "vecud-";

/// The name of an instance of a process: of its first session, its second and so on, counted from 1.
pub fn instance_name(process: u32, session: u32) -> String {
    if session == 1 { format!("{NAME}{process}") } else { format!("{NAME}{process}-{session}") }
}

/// The process whose instance has this name; `None`: it is no name of ours.
fn process_of(name: &str) -> Option<u32> {
    let process = name.strip_prefix(NAME)?.split('-').next()?.parse().ok()?;
    (1..SESSIONS).any(|session| instance_name(process, session) == name).then_some(process)
}

/// The folders of instances whose process is gone.
pub fn left_traces(tree: &Tree) -> Vec<String> {
    let folders = TRACEFS.map(|place| format!("{place}/instances"));
    let Some(folder) = folders.iter().find(|folder| tree.has(folder)) else { return Vec::new() };
    let names = tree.names(folder).get().unwrap_or_default();
    let gone = |process: u32| !tree.has(&format!("/proc/{process}"));
    let left = names.into_iter().filter(|name| process_of(name).is_some_and(gone));
    left.map(|name| format!("{folder}/{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_instances_of_ours_whose_process_is_gone_are_left() {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::at(folder.path());
        assert!(left_traces(&tree).is_empty());
        let names =
            ["vecud-7", "vecud-7-2", "vecud-8", "vecud-syscalls-7", "vecud-07", "vecud-7-1", "vecud-7-x", "other-7"];
        for name in names {
            fs::create_dir_all(folder.path().join("sys/kernel/tracing/instances").join(name)).unwrap();
        }
        fs::create_dir_all(folder.path().join("proc/8")).unwrap();
        let left = ["vecud-7", "vecud-7-2"].map(|name| format!("/sys/kernel/tracing/instances/{name}"));
        assert_eq!(left_traces(&tree), left);
    }
}
