//! The control groups of this process, as far as they take time away: both versions, the own group and all above.

use crate::doctor::Tree;

/// Limits of the groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CgroupLimits {
    /// The processor time of ordinary threads in a period, in some group.
    pub quota: Option<Quota>,
    /// The processor time of real-time threads of this group in a period (version 1, RT_GROUP_SCHED).
    pub real_time: Option<Quota>,
}

/// A part of each period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The file that says so.
    pub file: String,
    /// µs.
    pub runtime_us: i64,
    /// µs.
    pub period_us: i64,
}

impl CgroupLimits {
    /// Reads them.
    pub fn read(tree: &Tree) -> CgroupLimits {
        let groups = tree.text("/proc/self/cgroup").unwrap_or_default();
        let mut found = CgroupLimits::default();
        for line in groups.lines() {
            let Some((controllers, path)) = line.split_once(':').and_then(|(_, rest)| rest.split_once(':')) else {
                continue;
            };
            if controllers.is_empty() {
                let mut limits = above(path).filter_map(|group| second_version(tree, &group));
                found.quota = found.quota.or_else(|| limits.next());
            } else if controllers.split(',').any(|name| name == "cpu") {
                let first = |group: &str, runtime: &str, period: &str| first_version(tree, group, runtime, period);
                let mut limits = above(path).filter_map(|group| first(&group, "cpu.cfs_quota_us", "cpu.cfs_period_us"));
                found.quota = found.quota.or_else(|| limits.find(|quota| quota.runtime_us > 0));
                found.real_time = first(path, "cpu.rt_runtime_us", "cpu.rt_period_us");
            }
        }
        found
    }
}

/// A group and all above: `/a/b`, `/a`, and the root as the empty path.
fn above(path: &str) -> impl Iterator<Item = String> {
    let own = path.trim_end_matches('/').to_owned();
    std::iter::successors(Some(own), |path| path.rfind('/').map(|end| path[..end].to_owned()))
}

fn second_version(tree: &Tree, group: &str) -> Option<Quota> {
    ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].into_iter().find_map(|mount| {
        let file = format!("{mount}{group}/cpu.max");
        let text = tree.text(&file)?;
        let (runtime, period) = text.split_once(' ')?;
        Some(Quota { runtime_us: runtime.parse().ok()?, period_us: period.trim().parse().ok()?, file })
    })
}

fn first_version(tree: &Tree, group: &str, runtime: &str, period: &str) -> Option<Quota> {
    ["cpu", "cpu,cpuacct"].into_iter().find_map(|controller| {
        let folder = format!("/sys/fs/cgroup/{controller}{}", group.trim_end_matches('/'));
        let file = format!("{folder}/{runtime}");
        Some(Quota {
            runtime_us: tree.number(&file)?,
            period_us: tree.number(&format!("{folder}/{period}")).unwrap_or(0),
            file,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_below_all_of_its_path() {
        assert_eq!(above("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", ""]);
        assert_eq!(above("/").collect::<Vec<_>>(), [""]);
    }
}
