//! Instants at which tasks are due that do not share a grid, each with a bit per task.
//!
//! An instant that is in the small table `near` is joined. Of other instants there may be several groups, which are put together
//! when the instant comes.

use super::queue::Queue;
use vecud_base::time::Instant;

/// Groups that can be found again.
pub(super) const NEAR: usize = 64;

/// The tasks that are due at each instant.
#[derive(Clone, Debug)]
pub(super) struct DueTasks {
    /// `None`: no group.
    times: Vec<Option<Instant>>,
    /// Bits of the tasks, `width` words for each group.
    due: Vec<u64>,
    width: usize,
    free: Vec<usize>,
    /// All groups, some of which may be empty.
    pub(super) queue: Queue<Instant>,
    /// The group that may be of an instant, by the hash of the instant.
    near: [usize; NEAR],
    /// Groups beyond this number are only kept while a task is in them.
    enough: usize,
}

impl DueTasks {
    /// No groups, for this number of tasks.
    pub(super) fn new(tasks: usize) -> DueTasks {
        DueTasks {
            times: Vec::new(),
            due: Vec::new(),
            width: tasks.div_ceil(64),
            free: Vec::new(),
            queue: Queue::new(),
            near: [0; NEAR],
            enough: 2 * tasks + NEAR,
        }
    }

    /// The instant of a group.
    #[inline]
    pub(super) fn time(&self, group: usize) -> Option<Instant> {
        self.times[group]
    }

    /// The bits of a group.
    #[inline]
    pub(super) fn words(&mut self, group: usize) -> &mut [u64] {
        &mut self.due[group * self.width..(group + 1) * self.width]
    }

    /// The group of an instant.
    #[inline]
    pub(super) fn at(&mut self, time: Instant) -> usize {
        let [seconds, counter, _] = time.to_words();
        let mixed = (seconds.rotate_left(32) ^ counter).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed >> 32) as usize % NEAR;
        let near = self.near[place];
        if self.times.get(near) == Some(&Some(time)) {
            return near;
        }
        self.near[place] = self.found(time);
        self.near[place]
    }

    fn found(&mut self, time: Instant) -> usize {
        // A far deadline that is put off again and again leaves empty groups.
        if self.in_use() > self.enough {
            let DueTasks { times, due, width, free, queue, .. } = self;
            queue.retain(|group| {
                let is_used = due[group * *width..(group + 1) * *width].iter().any(|word| *word != 0);
                if !is_used {
                    times[group] = None;
                    free.push(group);
                }
                is_used
            });
        }
        let group = self.free.pop().unwrap_or_else(|| {
            self.due.resize(self.due.len() + self.width, 0);
            self.times.push(None);
            self.times.len() - 1
        });
        self.times[group] = Some(time);
        self.queue.push(time, group);
        group
    }

    /// Ends a group whose instant has come: no task is in it any more.
    #[inline]
    pub(super) fn dissolve(&mut self, group: usize) {
        self.words(group).fill(0);
        self.times[group] = None;
        self.free.push(group);
    }

    /// The number of groups in use.
    pub(super) fn in_use(&self) -> usize {
        self.times.len() - self.free.len()
    }
}
