//! Other real-time threads of the machine.

use crate::doctor::Tree;
use std::collections::BTreeSet;
use vecud_linux::affinity;

/// A real-time policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealTimePolicy {
    /// `SCHED_FIFO`.
    Fifo,
    /// `SCHED_RR`.
    RoundRobin,
    /// `SCHED_DEADLINE`: above all priorities.
    Deadline,
}

/// A thread of another process, or of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The thread's id.
    pub tid: u32,
    /// The thread's name.
    pub name: String,
    /// The thread belongs to the kernel.
    pub kernel: bool,
    /// The thread's policy.
    pub policy: RealTimePolicy,
    /// The thread's priority; 0 with `SCHED_DEADLINE`.
    pub priority: u8,
    /// Cores that the thread may use; empty if unknown.
    pub cpus: BTreeSet<usize>,
}

impl Thread {
    /// Whether the thread may run on that core.
    pub fn may_use(&self, cpu: usize) -> bool {
        self.cpus.is_empty() || self.cpus.contains(&cpu)
    }
}

/// All threads with a real-time policy, except those of the process `own`.
pub fn real_time_threads(tree: &Tree, own: u32) -> Vec<Thread> {
    let mut found = Vec::new();
    for process in tree.numbered("/proc", "") {
        if process == own as usize {
            continue;
        }
        for tid in tree.numbered(&format!("/proc/{process}/task"), "") {
            let folder = format!("/proc/{process}/task/{tid}");
            let Some(mut thread) = tree.text(&format!("{folder}/stat")).and_then(|stat| parse(&stat)) else { continue };
            let status = tree.text(&format!("{folder}/status")).unwrap_or_default();
            let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            thread.cpus = affinity::parse_list(cpus.unwrap_or_default());
            found.push(thread);
        }
    }
    found
}

/// Parses one line of `stat`; `None` for an ordinary thread and for nonsense. The name in parentheses may contain
/// anything.
fn parse(stat: &str) -> Option<Thread> {
    /// Bit of the field `flags` that marks kernel threads.
    const PF_KTHREAD: u64 = 0x0020_0000;
    let (begin, end) = (stat.find('(')?, stat.rfind(')')?);
    // From the third field on.
    let fields: Vec<&str> = stat.get(end + 1..)?.split_whitespace().collect();
    let policy = match fields.get(38)?.parse::<u32>().ok()? {
        1 => RealTimePolicy::Fifo,
        2 => RealTimePolicy::RoundRobin,
        6 => RealTimePolicy::Deadline,
        _ => return None,
    };
    Some(Thread {
        tid: stat[..begin].trim().parse().ok()?,
        name: stat.get(begin + 1..end)?.to_owned(),
        kernel: fields.get(6)?.parse::<u64>().ok()? & PF_KTHREAD != 0,
        policy,
        priority: fields.get(37)?.parse().ok()?,
        cpus: BTreeSet::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields 3 to 52, of which `flags` is number 9, `rt_priority` 40 and `policy` 41.
    fn stat(name: &str, flags: u64, priority: u8, policy: u32) -> String {
        let mut fields = vec!["0".to_owned(); 50];
        fields[0] = "S".into();
        (fields[6], fields[37], fields[38]) = (flags.to_string(), priority.to_string(), policy.to_string());
        format!("18 ({name}) {}", fields.join(" "))
    }

    #[test]
    fn threads_are_told_by_policy_whatever_their_name() {
        let thread = parse(&stat("migration/0", 0x0420_8040, 99, 1)).unwrap();
        assert_eq!((thread.tid, thread.name.as_str(), thread.kernel, thread.priority), (18, "migration/0", true, 99));
        let odd = parse(&stat("a) 1 (b", 0, 40, 2)).unwrap();
        assert_eq!((odd.name.as_str(), odd.kernel, odd.policy), ("a) 1 (b", false, RealTimePolicy::RoundRobin));
        assert_eq!(parse(&stat("bash", 0, 0, 0)), None);
        for nonsense in ["", "18", "18 )(", "18 (x", "18 (x) S 1", "(((", "x (y) z"] {
            assert_eq!(parse(nonsense), None, "{nonsense}");
        }
    }
}
