//! The runner's memory, from outside: whether it has come to its limit, and how much it was over time.

use std::sync::atomic::Ordering::SeqCst;
use vecud_linux::memory::data_limit;
use vecud_plan::Plan;
use vecud_record::board::{Board, Global};
use vecud_report::{Kind, MemoryOverTime};

/// Time between two checks, ns.
const PERIOD: i64 = 100_000_000;
/// Intervals that there are at most.
const MOST: usize = 240;

/// The memory of its own that the runner's process has and may have (`RLIMIT_DATA`), bytes; the stacks of partitions come on top.
#[derive(Clone, Debug)]
pub struct Memory {
    runner: u32,
    looked: i64,
    most: u64,
    limit: Option<u64>,
    course: ResidentSet,
}

/// The machine's memory that the process used while the run went on: the maximum of each interval.
#[derive(Clone, Debug, Default)]
struct ResidentSet {
    /// Begin of the run, CLOCK_MONOTONIC in ns.
    start: i64,
    /// The length of an interval in [`PERIOD`]s; 0: none has begun.
    each: usize,
    resident_kib: Vec<u64>,
}

impl ResidentSet {
    /// Notes the memory at `now`. If there are too many intervals, each two become one.
    fn note(&mut self, start: i64, now: i64, kib: u64) {
        if self.start != start {
            *self = ResidentSet { start, each: 1, resident_kib: Vec::new() };
        }
        let place = |each: usize| usize::try_from((now - start) / PERIOD).unwrap_or(0) / each;
        while place(self.each) >= MOST {
            self.resident_kib = self.resident_kib.chunks(2).map(|pair| pair[0].max(pair[pair.len() - 1])).collect();
            self.each *= 2;
        }
        let place = place(self.each);
        if let Some(most) = self.resident_kib.get_mut(place) {
            *most = kib.max(*most);
            return;
        }
        // Intervals in which nobody looked have the value before them.
        let before = self.resident_kib.last().copied().unwrap_or(kib);
        self.resident_kib.resize(place, before);
        self.resident_kib.push(kib);
    }
}

impl Memory {
    /// The memory of the process that runs this plan.
    pub fn of(runner: u32, plan: &Plan) -> Memory {
        Memory {
            runner,
            looked: 0,
            most: 0,
            limit: data_limit(plan.host.memory_limit_mib),
            course: ResidentSet::default(),
        }
    }

    /// The process's memory over time; `None`: the run has not begun, or was over at once.
    pub fn over_time(&self) -> Option<MemoryOverTime> {
        let ResidentSet { each, resident_kib, .. } = &self.course;
        let interval_s = (*each as i64 * PERIOD) as f64 / 1e9;
        (!resident_kib.is_empty()).then(|| MemoryOverTime { interval_s, resident_kib: resident_kib.clone() })
    }

    /// Looks, if it is time (`now`: CLOCK_MONOTONIC, ns).
    pub fn look(&mut self, board: Board, now: i64) {
        if now - self.looked < PERIOD {
            return;
        }
        self.looked = now;
        let file = |name| std::fs::read_to_string(format!("/proc/{}/{name}", self.runner)).unwrap_or_default();
        let raised = allowed(&file("limits")).zip(self.limit).map_or(0, |(now, limit)| now.saturating_sub(limit));
        let status = file("status");
        self.most = bytes(&status, "VmData:").map_or(self.most, |now| self.most.max(now.saturating_sub(raised)));
        let [start, ended] = [Global::StartMonotonic, Global::Ended].map(|word| board.global(word).load(SeqCst) as i64);
        if let (1.., 0, Some(resident)) = (start, ended, bytes(&status, "VmRSS:").filter(|_| start <= now)) {
            self.course.note(start, now, resident >> 10);
        }
    }

    /// The problem of a run that has failed for lack of memory; `None`: memory was not short.
    pub fn shortage(&self, board: Board) -> Option<Kind> {
        let limit = self.limit?;
        let refused = board.global(Global::OutOfMemory).load(SeqCst) != 0;
        // An allocation that fails is some way below the limit.
        let reached = self.most >= limit / 100 * 95;
        let kind = Kind::MemoryShort { most_mib: self.most >> 20, limit_mib: limit >> 20, refused };
        (refused || reached).then_some(kind)
    }
}

/// A figure of a file `status`, bytes.
fn bytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// The limit of that in a file `limits`, bytes. It is raised by the stacks' size when these are made.
fn allowed(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max data size"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_file_is_read() {
        assert_eq!(bytes("VmPeak:\t  9 kB\nVmData:\t  1024 kB\n", "VmData:"), Some(1 << 20));
        assert_eq!(bytes("VmPeak:\t  9 kB\n", "VmData:"), None);
        assert_eq!(
            allowed(
                "Max cpu time  unlimited\nMax data size             67108864             96468992             bytes\n"
            ),
            Some(64 << 20)
        );
        assert_eq!(allowed("Max data size             unlimited            unlimited            bytes\n"), None);
    }

    /// However long the run is, each interval has the most of what was seen in it, and one without a look what was before.
    #[test]
    fn a_course_keeps_the_most_of_each_interval() {
        let (mut course, start) = (ResidentSet::default(), 5);
        let mut note = |tenths: usize, kib: u64| {
            course.note(start, start + tenths as i64 * PERIOD, kib);
            (course.each, course.resident_kib.clone())
        };
        assert_eq!(note(0, 10), (1, vec![10]));
        assert_eq!(note(3, 20), (1, vec![10, 10, 10, 20]));
        assert_eq!(note(3, 15).1, [10, 10, 10, 20]);
        let (each, kib) = note(300, 7);
        assert_eq!((each, kib.len(), &kib[..4], kib[149], kib[150]), (2, 151, &[10, 20, 20, 20][..], 20, 7));
        let (each, kib) = note(10_000, 8);
        assert!(each == 64 && kib.len() <= MOST && kib[0] == 20, "{each}: {kib:?}");
        assert_eq!(course.resident_kib.last(), Some(&8));
        // Another run of the same process.
        course.note(900, 901, 3);
        assert_eq!(course.resident_kib, [3]);
    }
}
