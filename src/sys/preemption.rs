//! The lock between the model partitions of one instance: inside it nobody else of that instance *runs*.
//!
//! `lockPreemption` promises an FMU more than mutual exclusion: between lock and unlock no other partition of the
//! instance may start or go on, not even one that never locks. All partitions of an instance share one core and run
//! under `SCHED_FIFO`, so the scheduler does most of it; this module does the rest.
//!
//! # State
//! - the *word*: a priority-inheriting word ([`PiWord`]), held between `lock` and `unlock`;
//! - a *token* per priority level, another such word, held by a partition from its entry to its leave: partitions of
//!   equal priority exclude each other, blocked ones included;
//! - a *bitmap* of active levels: who has entered and not yet left. Level 0 is the highest.
//!
//! # Protocol
//! *Enter*, before the first FMI call of an activation: take the own level's token; then
//! 1. if the word is taken by somebody else, take it and give it back, once. Never until it is free: of two that wait
//!    here each hands it to the other, for ever. Then help: wake the higher pending targets of this core.
//! 2. if a higher level is active (it sleeps inside FMU code, else it would be running), take and give back the token of
//!    the nearest one: the own priority is lent to it and ends when it leaves. Again from 1.
//! 3. set the own bit. If a higher bit is there now (it came between 2 and 3 and sleeps), clear the own one and start
//!    again from 1.
//!
//! *Leave*, after the last FMI call: clear the bit, give the token back.
//!
//! *Lock*: take the word; **then** look at the bitmap. A higher level that is active now sleeps inside FMU code and
//! would go on inside the locked section when it wakes, so the holder raises itself to the instance's highest priority
//! until the unlock. Looking before taking the word is not enough: while the lock is waited for, a higher partition can
//! become active and fall asleep (`tests/preemption_model.rs` shows how). This costs two system calls, in that case only.
//!
//! What it cannot do: stop a partition that is already active when the holder itself sleeps inside its locked section.
//!
//! # Why nobody waits for ever
//! A thread that waits for a token waits for a level that is its own or a higher one; one that waits for the word waits
//! for a holder that waits for nothing, as nobody holds the word while waiting for anything else. So there is no cycle.
//!
//! # Ownership and memory ordering
//! The callbacks of an FMU have no arguments, so the calling thread's own [`Partition`] is the context; it is neither
//! `Send` nor `Sync`. Words acquire and release. Setting the own bit and reading the others is a store followed by a
//! load of another location, so the bitmap is sequentially consistent; on one core this is for the compiler only, and
//! without `SCHED_FIFO` (threads that run in turns or on several cores) it keeps enter free of deadlock.

use super::SysError;
use super::cycles::ticks;
use super::pi::PiWord;
use super::scheduling;
use super::thread::current_tid;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// More levels than `SCHED_FIFO` has priorities; levels of one instance never share a priority.
pub const MAX_LEVELS: usize = 128;
const BITS: usize = 64;

/// Why a lock cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockError {
    /// More levels than [`MAX_LEVELS`].
    TooManyLevels(usize),
    /// The kernel has no priority-inheriting futexes (`CONFIG_FUTEX_PI`).
    NoPriorityInheritance,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::TooManyLevels(levels) => write!(
                f,
                "an instance has {levels} priority levels, the preemption lock has room for {MAX_LEVELS}"
            ),
            LockError::NoPriorityInheritance => f.write_str(
                "this kernel has no priority-inheriting futexes (CONFIG_FUTEX_PI), which the preemption lock needs",
            ),
        }
    }
}

impl std::error::Error for LockError {}

/// What a call of `lock` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locked {
    /// The locked section begins. `waited`: ticks from the call to the possession, `None` when nobody was in the way.
    Outermost {
        /// Ticks that were waited, if any.
        waited: Option<u64>,
    },
    /// The caller holds the lock already; now it must unlock once more.
    Nested,
}

/// What a call of `unlock` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlocked {
    /// The locked section has ended.
    Outermost {
        /// Ticks from the possession to the unlock.
        held: u64,
    },
    /// One level of nesting less; the lock is still held.
    Nested,
    /// The caller does not hold the lock. No effect, but counted.
    NotHeld,
}

/// A lock that FMU code did not give back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    /// How many unlocks were missing.
    pub depth: u32,
    /// Ticks from the possession to its end.
    pub held: u64,
}

/// What one partition did with the lock, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Outermost locks.
    pub acquisitions: u64,
    /// Those that had to wait.
    pub contended: u64,
    /// Locks by a thread that held the lock already.
    pub nested: u64,
    /// Unlocks without a lock.
    pub not_held: u64,
    /// Locks that were still held at the end of an activation.
    pub leaked: u64,
    /// Locked sections that ran at the ceiling because a higher partition slept inside FMU code.
    pub raised: u64,
    /// Sections for which the kernel refused that.
    pub raise_refused: u64,
}

/// The preemption lock of one instance. See the [module](self).
#[derive(Debug)]
pub struct PreemptionLock {
    word: PiWord,
    active: [AtomicU64; MAX_LEVELS / BITS],
    tokens: Box<[PiWord]>,
    /// The highest `SCHED_FIFO` priority of the instance; 0 without real-time scheduling.
    ceiling: u8,
}

/// One thread's part in a [`PreemptionLock`]: made on the thread that uses it.
#[derive(Debug)]
pub struct Partition {
    tid: u32,
    level: Option<usize>,
    priority: u8,
    demoted: Arc<AtomicBool>,
    entered: Cell<bool>,
    depth: Cell<u32>,
    since: Cell<u64>,
    raised: Cell<bool>,
    counts: Cell<Counts>,
    /// The thread id is the owner's in the words: another thread must not act under it.
    on_its_thread: PhantomData<*const ()>,
}

impl Partition {
    /// The calling thread as the partition of a level. `priority` is its `SCHED_FIFO` priority, `None` when it is an
    /// ordinary thread.
    pub fn new(level: usize, priority: Option<u8>) -> Self {
        Partition::make(Some(level), priority)
    }

    /// The calling thread as somebody who calls the FMU but is no partition: during initialisation and at the end.
    pub fn outside() -> Self {
        Partition::make(None, None)
    }

    fn make(level: Option<usize>, priority: Option<u8>) -> Self {
        Partition {
            tid: current_tid(),
            level,
            priority: priority.unwrap_or(0),
            demoted: Arc::new(AtomicBool::new(false)),
            entered: Cell::new(false),
            depth: Cell::new(0),
            since: Cell::new(0),
            raised: Cell::new(false),
            counts: Cell::new(Counts::default()),
            on_its_thread: PhantomData,
        }
    }

    /// How often the lock is held by this thread, 0 when it is not.
    pub fn depth(&self) -> u32 {
        self.depth.get()
    }

    /// The level that it enters at.
    pub fn level(&self) -> Option<usize> {
        self.level
    }

    /// What it has done so far.
    pub fn counts(&self) -> Counts {
        self.counts.get()
    }

    /// What a watchdog needs to take this thread's priority away for good.
    pub fn demotion(&self) -> Demotion {
        Demotion {
            tid: self.tid,
            demoted: Arc::clone(&self.demoted),
        }
    }

    #[inline]
    fn count(&self, change: impl FnOnce(&mut Counts)) {
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
        self.demoted.store(true, Ordering::SeqCst);
        scheduling::demote(self.tid)
    }

    /// Whether [`demote`](Self::demote) was called.
    pub fn is_demoted(&self) -> bool {
        self.demoted.load(Ordering::SeqCst)
    }
}

impl PreemptionLock {
    /// A lock for an instance with `levels` priority levels, whose highest `SCHED_FIFO` priority is `ceiling` (`None`
    /// without real-time scheduling).
    pub fn new(levels: usize, ceiling: Option<u8>) -> Result<Self, LockError> {
        if levels > MAX_LEVELS {
            return Err(LockError::TooManyLevels(levels));
        }
        PiWord::supported().map_err(|_| LockError::NoPriorityInheritance)?;
        Ok(PreemptionLock {
            word: PiWord::new(),
            active: [const { AtomicU64::new(0) }; MAX_LEVELS / BITS],
            tokens: (0..levels).map(|_| PiWord::new()).collect(),
            ceiling: ceiling.unwrap_or(0),
        })
    }

    /// How many levels there are.
    pub fn levels(&self) -> usize {
        self.tokens.len()
    }

    /// Waits until an activation of `me` may start; returns how often it had to wait.
    ///
    /// `help` runs before each decision, never with the lock held: it wakes the higher pending targets of this core.
    /// Does nothing for a thread [outside](Partition::outside).
    ///
    /// # Panics
    /// When the level is none of this lock, or when `me` has entered already.
    #[inline]
    pub fn enter(&self, me: &Partition, mut help: impl FnMut()) -> u32 {
        let Some(level) = me.level else { return 0 };
        let token = &self.tokens[level];
        let (word, bit) = (&self.active[level / BITS], 1 << (level % BITS));
        assert!(
            !me.entered.replace(true),
            "a partition that has entered enters again"
        );
        let mut waits = u32::from(token.lock(me.tid));
        loop {
            if self.is_locked_by_another(me) {
                waits += 1;
                self.word.lock(me.tid);
                self.word.unlock(me.tid);
            }
            help();
            if let Some(higher) = self.nearest_active_above(level) {
                waits += 1;
                self.tokens[higher].lock(me.tid);
                self.tokens[higher].unlock(me.tid);
                continue;
            }
            word.fetch_or(bit, Ordering::SeqCst);
            if self.nearest_active_above(level).is_none() {
                return waits;
            }
            word.fetch_and(!bit, Ordering::SeqCst);
        }
    }

    /// Ends the activation of `me`. A lock that is still held is released, counted and returned.
    #[inline]
    pub fn leave(&self, me: &Partition) -> Option<Leak> {
        let leak = self.release_leaked(me);
        if let Some(level) = me.level
            && me.entered.replace(false)
        {
            self.active[level / BITS].fetch_and(!(1 << (level % BITS)), Ordering::SeqCst);
            self.tokens[level].unlock(me.tid);
        }
        leak
    }

    /// Takes the lock; to be called by `lockPreemption` and around callbacks. Recursive.
    #[inline]
    pub fn lock(&self, me: &Partition) -> Locked {
        let depth = me.depth.get();
        me.depth.set(depth + 1);
        if depth > 0 {
            me.count(|c| c.nested += 1);
            return Locked::Nested;
        }
        let waited = if self.word.try_lock(me.tid) {
            None
        } else {
            Some(self.lock_contended(me))
        };
        if me
            .level
            .is_some_and(|level| self.nearest_active_above(level).is_some())
        {
            self.raise(me);
        }
        me.count(|c| c.acquisitions += 1);
        me.since.set(ticks());
        Locked::Outermost { waited }
    }

    #[cold]
    fn lock_contended(&self, me: &Partition) -> u64 {
        let before = ticks();
        self.word.lock(me.tid);
        me.count(|c| c.contended += 1);
        ticks().wrapping_sub(before)
    }

    /// Gives the lock back; at the outermost one, whoever waits and is higher runs before this returns.
    #[inline]
    pub fn unlock(&self, me: &Partition) -> Unlocked {
        match me.depth.get() {
            0 => {
                me.count(|c| c.not_held += 1);
                Unlocked::NotHeld
            }
            1 => Unlocked::Outermost {
                held: self.release(me),
            },
            depth => {
                me.depth.set(depth - 1);
                Unlocked::Nested
            }
        }
    }

    /// Releases and counts a lock that FMU code still holds although its function has returned.
    #[inline]
    pub fn release_leaked(&self, me: &Partition) -> Option<Leak> {
        match me.depth.get() {
            0 => None,
            depth => {
                me.count(|c| c.leaked += 1);
                let held = self.release(me);
                Some(Leak { depth, held })
            }
        }
    }

    #[inline]
    fn release(&self, me: &Partition) -> u64 {
        let held = ticks().wrapping_sub(me.since.get());
        me.depth.set(0);
        self.word.unlock(me.tid);
        if me.raised.get() {
            self.restore(me);
        }
        held
    }

    /// Runs the locked section at the instance's highest priority: a higher partition sleeps inside FMU code.
    #[cold]
    fn raise(&self, me: &Partition) {
        if me.priority == 0 || self.ceiling <= me.priority || me.demoted.load(Ordering::SeqCst) {
            return;
        }
        match scheduling::set_fifo_errno(0, self.ceiling) {
            Ok(()) => {
                me.raised.set(true);
                me.count(|c| c.raised += 1);
                // The watchdog may have demoted this thread since the check; its word is the last one.
                if me.demoted.load(Ordering::SeqCst) {
                    let _ = scheduling::set_other_errno(0);
                }
            }
            Err(_) => me.count(|c| c.raise_refused += 1),
        }
    }

    #[cold]
    fn restore(&self, me: &Partition) {
        me.raised.set(false);
        if !me.demoted.load(Ordering::SeqCst) && scheduling::set_fifo_errno(0, me.priority).is_err()
        {
            me.count(|c| c.raise_refused += 1);
        }
        if me.demoted.load(Ordering::SeqCst) {
            let _ = scheduling::set_other_errno(0);
        }
    }

    #[inline]
    fn is_locked_by_another(&self, me: &Partition) -> bool {
        let owner = self.word.owner();
        owner != 0 && owner != me.tid
    }

    /// The lowest of the active levels that are higher than `level`.
    #[inline]
    fn nearest_active_above(&self, level: usize) -> Option<usize> {
        let (last, bit) = (level / BITS, level % BITS);
        let mut mask = (1_u64 << bit) - 1;
        for word in (0..=last).rev() {
            let above = self.active[word].load(Ordering::SeqCst) & mask;
            if above != 0 {
                return Some(word * BITS + above.ilog2() as usize);
            }
            mask = u64::MAX;
        }
        None
    }
}
