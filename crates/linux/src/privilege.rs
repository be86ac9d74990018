//! Why the kernel refuses what real time needs, and the command that changes that.
//!
//! Permissions are found by trying, elsewhere; nothing here decides. This module only explains a refusal: capabilities,
//! limits, user namespaces, control groups and seccomp filters all end in the same error number, and each has a
//! different remedy.

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};
use std::fs;

/// Privileges of this process that matter for a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Standing {
    /// The effective user is 0.
    root: bool,
    /// The capability in question is effective.
    capable: bool,
    /// Whether the process is in another user namespace than the machine's first: capabilities do not count for scheduling and
    /// memory there.
    namespace: bool,
    /// A seccomp filter is in force.
    filtered: bool,
    /// The program, for commands.
    program: String,
    /// The user, for lines of configuration files.
    user: u32,
}

impl Standing {
    fn of_this_process(capability: CapabilitySet) -> Standing {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let filter = status.lines().find_map(|line| line.strip_prefix("Seccomp:")).map(str::trim);
        let uid = rustix::process::geteuid();
        Standing {
            root: uid.is_root(),
            capable: capabilities(None).is_ok_and(|sets| sets.effective.contains(capability)),
            namespace: fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| !is_first_namespace(&map)),
            filtered: filter.is_some_and(|mode| mode != "0"),
            program: std::env::current_exe().map_or_else(|_| "vecud".to_owned(), |path| path.display().to_string()),
            user: uid.as_raw(),
        }
    }

    /// The capability is there and counts.
    fn privileged(&self) -> bool {
        self.capable && !self.namespace
    }
}

/// Whether a `uid_map` is that of the machine's first user namespace: everybody is himself.
fn is_first_namespace(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Whether this thread may give `SCHED_FIFO` priorities whatever the limits are.
pub(super) fn may_set_priorities() -> bool {
    Standing::of_this_process(CapabilitySet::SYS_NICE).privileged()
}

/// The way out of a refused `SCHED_FIFO` priority.
pub(super) fn fifo_fix(priority: u8) -> String {
    let limit = getrlimit(Resource::RLIMIT_RTPRIO).map_or(0, |(soft, _)| soft);
    explain_fifo(&Standing::of_this_process(CapabilitySet::SYS_NICE), priority, limit, starved_group())
}

fn explain_fifo(own: &Standing, priority: u8, limit: u64, group: Option<String>) -> String {
    let permitted = own.privileged() || limit >= u64::from(priority);
    match group {
        Some(file) if permitted => format!(
            "the process has the privilege, but its control group has no real-time time (RT_GROUP_SCHED): \
             `echo 500000 | sudo tee {file}`, or start it from the root control group"
        ),
        None if permitted && own.filtered => {
            "the process has the privilege, so a seccomp filter refuses: for a container \
             `docker run --security-opt seccomp=unconfined` or a profile that allows sched_setscheduler; in a systemd \
             unit remove RestrictRealtime= and SystemCallFilter="
                .to_owned()
        }
        None if permitted => "the process has the privilege, so its control group has no real-time time \
             (RT_GROUP_SCHED): give it some in cpu.rt_runtime_us, or start from the root control group"
            .to_owned(),
        _ if own.capable => {
            "CAP_SYS_NICE does not count in this user namespace: start vecud outside of it (a container \
             that is not rootless), or raise the limit before it is entered: `sudo prlimit --rtprio=95 --pid $$`"
                .to_owned()
        }
        _ if own.root => "this is root without CAP_SYS_NICE: `docker run --cap-add=SYS_NICE --cap-add=IPC_LOCK \
             --ulimit rtprio=95`, or AmbientCapabilities=CAP_SYS_NICE in the systemd unit"
            .to_owned(),
        _ => format!(
            "`sudo setcap cap_sys_nice,cap_ipc_lock=ep '{}'`, or run as root, or the line `#{} - rtprio 95` in \
             /etc/security/limits.d/vecud.conf and a new login, or LimitRTPRIO=95 in the systemd unit",
            own.program, own.user
        ),
    }
}

/// The file that gives the own control group real-time time, if it has none.
fn starved_group() -> Option<String> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = cpu_group(&groups)?;
    ["cpu", "cpu,cpuacct"].into_iter().find_map(|controller| {
        let file = format!("/sys/fs/cgroup/{controller}{path}/cpu.rt_runtime_us");
        let starved = fs::read_to_string(&file).is_ok_and(|runtime| runtime.trim() == "0");
        starved.then_some(file)
    })
}

/// The path of the group of the `cpu` controller (control groups version 1; version 2 has no real-time time).
fn cpu_group(groups: &str) -> Option<&str> {
    groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|name| name == "cpu").then_some(path)
    })
}

/// The way out of memory that cannot be locked.
pub(super) fn memlock_fix() -> String {
    let limit = getrlimit(Resource::RLIMIT_MEMLOCK).map_or(0, |(soft, _)| soft);
    explain_memlock(&Standing::of_this_process(CapabilitySet::IPC_LOCK), limit)
}

fn explain_memlock(own: &Standing, limit: u64) -> String {
    let permitted = own.privileged() || limit == RLIM_INFINITY;
    match () {
        () if permitted && own.filtered => "no limit refuses, so a seccomp filter does: for a container `docker run \
             --security-opt seccomp=unconfined` or a profile that allows mlock and mlockall"
            .to_owned(),
        () if permitted => "free memory: there is less than the process has mapped".to_owned(),
        () if own.root => "`docker run --ulimit memlock=-1`, or LimitMEMLOCK=infinity in the systemd unit".to_owned(),
        () => format!(
            "`sudo setcap cap_sys_nice,cap_ipc_lock=ep '{}'`, or the line `#{} - memlock unlimited` in \
             /etc/security/limits.d/vecud.conf and a new login, or LimitMEMLOCK=infinity in the systemd unit",
            own.program, own.user
        ),
    }
}

/// The way out of a refused core.
pub(super) fn affinity_fix(cpu: usize, errno: i32) -> String {
    let filtered = Standing::of_this_process(CapabilitySet::SYS_NICE).filtered;
    if errno == libc::EINVAL || !filtered {
        return format!(
            "the cpuset of the process does not have core {cpu}: `taskset -p $$` and /proc/self/status (Cpus_allowed_list) \
             say which it has; give it the core (docker run --cpuset-cpus, AllowedCPUs= in the systemd unit), or name \
             another one in the rig"
        );
    }
    "a seccomp filter refuses: for a container `docker run --security-opt seccomp=unconfined` or a profile that allows \
     sched_setaffinity"
        .to_owned()
}

/// The way out of a refused `prctl`.
pub(super) fn prctl_fix() -> &'static str {
    "nothing but a seccomp filter refuses that: for a container `docker run --security-opt seccomp=unconfined` or a profile \
     that allows prctl"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn somebody() -> Standing {
        Standing {
            root: false,
            capable: false,
            namespace: false,
            filtered: false,
            program: "/opt/vecud".into(),
            user: 1000,
        }
    }

    #[test]
    fn every_refusal_has_the_way_out_of_its_own_cause() {
        let root = Standing { root: true, capable: true, ..somebody() };
        let dropped = Standing { root: true, ..somebody() };
        let rootless = Standing { namespace: true, ..root.clone() };
        let filtered = Standing { filtered: true, ..root.clone() };
        let group = || Some("/sys/fs/cgroup/cpu/x/cpu.rt_runtime_us".to_owned());
        for (own, limit, group, word) in [
            (&somebody(), 0, None, "setcap cap_sys_nice,cap_ipc_lock=ep '/opt/vecud'"),
            (&somebody(), 60, None, "`#1000 - rtprio 95`"),
            (&somebody(), 99, None, "control group"),
            (&somebody(), 0, group(), "setcap"),
            (&dropped, 0, None, "--cap-add=SYS_NICE"),
            (&rootless, 0, None, "user namespace"),
            (&filtered, 0, None, "seccomp filter"),
            (&filtered, 0, group(), "tee /sys/fs/cgroup/cpu/x/cpu.rt_runtime_us"),
            (&root, 0, None, "cpu.rt_runtime_us"),
        ] {
            let fix = explain_fifo(own, 80, limit, group);
            assert!(fix.contains(word), "{own:?} {limit}: {fix}");
        }
        assert!(explain_memlock(&somebody(), 0).contains("`#1000 - memlock unlimited`"));
        assert!(explain_memlock(&dropped, 8 << 20).contains("--ulimit memlock=-1"));
        assert!(explain_memlock(&rootless, 0).contains("memlock=-1"));
        assert!(explain_memlock(&filtered, 0).contains("seccomp"));
    }

    #[test]
    fn the_kernels_files_are_read() {
        assert!(is_first_namespace("         0          0 4294967295\n"));
        assert!(!is_first_namespace("         0       1000          1\n"));
        assert_eq!(cpu_group("9:name=systemd:/\n2:cpuacct:/b\n1:cpu:/a:b\n0::/\n"), Some("/a:b"));
        assert_eq!(cpu_group("4:cpu,cpuacct:/x\n"), Some("/x"));
        assert_eq!(cpu_group("0::/user.slice\n"), None);
    }
}
