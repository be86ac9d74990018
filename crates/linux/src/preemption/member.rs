//! A member of a preemption lock: one thread, the locks that it holds, and its counts. [The module](super) has the lock's states and protocol.

use crate::thread::current_tid;
use crate::{SysError, scheduling};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Counts of one partition's locked sections, since it was made; callers learn the rest from return values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockCounts {
    /// Outermost locks that had to wait.
    pub contended: u64,
    /// Locked sections that ran at the ceiling because a higher partition slept inside FMU code.
    pub raised: u64,
    /// Sections for which the kernel refused that.
    pub raise_refused: u64,
}

/// One thread's part in a [`PreemptionLock`](super::PreemptionLock). Precondition: it is made on the thread that uses it.
#[derive(Debug)]
pub struct LockMember {
    pub(super) tid: u32,
    /// The level of its partition; `None`: it is no partition.
    pub(super) level: Option<usize>,
    /// Index of its priority among those that several levels share; `None`: its level has the priority alone.
    pub(super) turn: Option<usize>,
    /// The thread's own `SCHED_FIFO` priority; 0: it is an ordinary thread.
    pub(super) priority: u8,
    /// A watchdog has taken its priority away for good.
    pub(super) demoted: Arc<AtomicBool>,
    /// Whether its level's bit is set in the lock.
    pub(super) entered: Cell<bool>,
    /// Number of times that the thread holds the lock.
    pub(super) depth: Cell<u32>,
    /// Time stamp of its outermost lock.
    pub(super) since: Cell<u64>,
    /// The thread runs at the ceiling now.
    pub(super) raised: Cell<bool>,
    /// The thread id that it has waited for last; 0: none.
    pub(super) blocker: Cell<u32>,
    counts: Cell<LockCounts>,
    /// The words have the thread's id as the owner's: another thread must not act under it.
    on_its_thread: PhantomData<*const ()>,
}

impl LockMember {
    /// The calling thread as the partition of a level. `priority` is its `SCHED_FIFO` priority, `None` when it is an
    /// ordinary thread.
    pub fn new(level: usize, priority: Option<u8>) -> Self {
        LockMember::make(Some(level), priority)
    }

    /// This thread, if other levels of the instance have its priority too. `turn`: the index of that priority among the shared ones,
    /// below the number for [`PreemptionLock::with_shared`](super::PreemptionLock::with_shared).
    pub fn sharing(self, turn: Option<usize>) -> Self {
        LockMember { turn, ..self }
    }

    /// The calling thread as somebody who calls the FMU but is no partition: during initialisation and at the end.
    pub fn outside() -> Self {
        LockMember::make(None, None)
    }

    fn make(level: Option<usize>, priority: Option<u8>) -> Self {
        LockMember {
            tid: current_tid(),
            level,
            turn: None,
            priority: priority.unwrap_or(0),
            demoted: Arc::new(AtomicBool::new(false)),
            entered: Cell::new(false),
            depth: Cell::new(0),
            since: Cell::new(0),
            raised: Cell::new(false),
            blocker: Cell::new(0),
            counts: Cell::new(LockCounts::default()),
            on_its_thread: PhantomData,
        }
    }

    /// The number of times that this thread holds the lock.
    pub fn depth(&self) -> u32 {
        self.depth.get()
    }

    /// Time stamp ([`crate::cycles::ticks`]) of the last outermost lock.
    pub fn since(&self) -> u64 {
        self.since.get()
    }

    /// The thread that had the lock when this one last waited for it, by its id; 0: it never has.
    pub fn blocker(&self) -> u32 {
        self.blocker.get()
    }

    /// The level that it enters at.
    pub fn level(&self) -> Option<usize> {
        self.level
    }

    /// Counts so far.
    pub fn counts(&self) -> LockCounts {
        self.counts.get()
    }

    /// Handle with which a watchdog can take this thread's priority away for good.
    pub fn demotion(&self) -> Demotion {
        Demotion { tid: self.tid, demoted: Arc::clone(&self.demoted) }
    }

    #[inline]
    pub(super) fn count(&self, change: impl FnOnce(&mut LockCounts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }
}

/// Takes a partition's real-time priority away, from another thread, so that the lock does not give it back.
#[derive(Clone, Debug)]
pub struct Demotion {
    tid: u32,
    demoted: Arc<AtomicBool>,
}

impl Demotion {
    /// Makes the partition's thread an ordinary one. It stays one, also when it is inside a locked section at the
    /// ceiling; waiters still lend it their priority.
    pub fn demote(&self) -> Result<(), SysError> {
        // The flag is set before the kernel is asked, and the lock reads it after it has set a priority: whichever comes last, the thread ends
        // as an ordinary one.
        self.demoted.store(true, Ordering::SeqCst);
        scheduling::demote(self.tid)
    }

    /// Whether [`demote`](Self::demote) was called.
    pub fn is_demoted(&self) -> bool {
        self.demoted.load(Ordering::SeqCst)
    }
}
