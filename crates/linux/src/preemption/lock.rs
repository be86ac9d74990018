//! The preemption lock.

use super::member::LockMember;
use crate::cycles::ticks;
use crate::pi::PiWord;
use crate::prefetch::prefetch;
use crate::scheduling;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};

/// Levels in a word of the bitmap.
const BITS: usize = 64;

/// Why a lock cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockError {
    /// The kernel has no priority-inheriting futexes (`CONFIG_FUTEX_PI`).
    NoPriorityInheritance,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::NoPriorityInheritance => f.write_str(
                "this kernel has no priority-inheriting futexes (CONFIG_FUTEX_PI), which the preemption lock needs",
            ),
        }
    }
}

impl std::error::Error for LockError {}

/// The result of a call of `lock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locked {
    /// The locked section begins. `waited`: ticks from the call to the possession, `None` when nobody was in the way.
    Outermost {
        /// Ticks that were waited, if any.
        waited: Option<u64>,
    },
    /// The caller held the lock already; it must unlock once more.
    Nested,
}

/// The result of a call of `unlock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlocked {
    /// The locked section has ended.
    Outermost {
        /// Ticks from the possession to the unlock.
        held: u64,
    },
    /// There is one level of nesting less; the lock is still held.
    Nested,
    /// The caller did not hold the lock. No effect, but counted.
    NotHeld,
}

/// A lock that FMU code did not give back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Number of missing unlocks.
    pub depth: u32,
    /// Ticks from the possession to its end.
    pub held: u64,
}

/// The preemption lock of one instance. See the [module](super).
#[derive(Debug)]
pub struct PreemptionLock {
    pub(super) word: PiWord,
    pub(super) section: AtomicU32,
    pub(super) active: Box<[AtomicU64]>,
    tokens: Box<[PiWord]>,
    turns: Box<[PiWord]>,
    /// The highest `SCHED_FIFO` priority of the instance; 0 without real-time scheduling.
    ceiling: u8,
}

/// No partition of the instance is active, and none begins, while this is there. See [`PreemptionLock::quiesce`].
#[must_use]
pub struct Rest<'a> {
    lock: &'a PreemptionLock,
    tid: u32,
    /// Tokens belong to the thread that has taken them.
    not_send: PhantomData<*const ()>,
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        // The most urgent waiter first.
        for token in &self.lock.tokens {
            token.unlock(self.tid);
        }
    }
}

impl PreemptionLock {
    /// A lock for an instance with `levels` priority levels, whose highest `SCHED_FIFO` priority is `ceiling` (`None`
    /// without real-time scheduling).
    pub fn new(levels: usize, ceiling: Option<u8>) -> Result<Self, LockError> {
        PiWord::supported().map_err(|_| LockError::NoPriorityInheritance)?;
        Ok(PreemptionLock {
            word: PiWord::new(),
            section: AtomicU32::new(0),
            active: (0..levels.div_ceil(BITS)).map(|_| AtomicU64::new(0)).collect(),
            tokens: (0..levels).map(|_| PiWord::new()).collect(),
            turns: Box::default(),
            ceiling: ceiling.unwrap_or(0),
        })
    }

    /// This lock, with `priorities` priorities that have several levels each: see [`LockMember::sharing`].
    pub fn with_shared(self, priorities: usize) -> Self {
        PreemptionLock { turns: (0..priorities).map(|_| PiWord::new()).collect(), ..self }
    }

    /// The thread that is inside a locked section now, by its id.
    pub fn holder(&self) -> Option<u32> {
        Some(self.section.load(Ordering::Acquire)).filter(|tid| *tid != 0)
    }

    /// The number of levels.
    pub fn levels(&self) -> usize {
        self.tokens.len()
    }

    /// Asks for the memory that [`PreemptionLock::enter`] will look at.
    #[inline]
    pub fn prefetch(&self, me: &LockMember) {
        prefetch(self);
        me.level.iter().for_each(|level| prefetch(&self.active[level / BITS]));
        me.level.iter().for_each(|level| prefetch(&self.tokens[*level]));
    }

    /// Waits until an activation of `me` may start; returns how often it had to wait.
    ///
    /// `help` runs before each decision, never with the lock held: it wakes the higher pending targets of this core, and lets
    /// those that have the caller's own priority run up to their entry.
    /// Does nothing for a thread [outside](LockMember::outside).
    ///
    /// # Panics
    /// If the lock has no such level, or `me` has entered already.
    #[inline]
    pub fn enter(&self, me: &LockMember, help: impl FnMut()) -> u32 {
        let Some(level) = me.level else { return 0 };
        // FMU code may have leaked the lock in a call outside of any activation.
        self.release_leaked(me);
        let token = &self.tokens[level];
        let (word, bit) = (&self.active[level / BITS], 1 << (level % BITS));
        assert!(!me.entered.replace(true), "a partition that has entered enters again");
        let waits = u32::from(token.lock(me.tid));
        word.fetch_or(bit, Ordering::SeqCst);
        waits + self.pass(me, level, help)
    }

    /// Waits as [`PreemptionLock::enter`] does, for levels that have become active since. Precondition: the caller has
    /// entered and has not called the FMU since.
    #[inline(never)] // for those who poll
    pub fn enter_again(&self, me: &LockMember, help: impl FnMut()) -> u32 {
        let Some(level) = me.level else { return 0 };
        self.give_back_turn(me);
        self.pass(me, level, help)
    }

    /// Whether [`PreemptionLock::enter_again`] would not wait.
    #[inline]
    pub fn is_passed(&self, me: &LockMember) -> bool {
        let free = !self.is_inside_section() && self.word.owner() == 0;
        free && me.level.is_none_or(|level| self.nearest_active_above(level).is_none())
    }

    #[inline]
    fn pass(&self, me: &LockMember, level: usize, mut help: impl FnMut()) -> u32 {
        let mut waits = 0;
        loop {
            // The word as well: whoever has taken it may have been interrupted before it could set the section.
            if self.is_inside_section() || self.word.owner() != 0 {
                waits += 1;
                self.word.lock(me.tid);
                // Nobody is inside a section without the word: what stands there is left of a thread that has ended.
                self.section.store(0, Ordering::SeqCst);
                self.word.unlock(me.tid);
            }
            help();
            if let Some(higher) = self.nearest_active_above(level) {
                waits += 1;
                self.tokens[higher].lock(me.tid);
                // Likewise: nobody is active without the level's token.
                self.set_inactive(higher);
                self.tokens[higher].unlock(me.tid);
                continue;
            }
            if let Some(turn) = me.turn
                && self.turns[turn].lock(me.tid)
            {
                waits += 1;
                self.give_back_turn(me);
                continue;
            }
            // The section first: whoever comes between the two looks has its bit set, since only a higher one can come.
            if !self.is_inside_section() && self.nearest_active_above(level).is_none() {
                return waits;
            }
            self.give_back_turn(me);
        }
    }

    /// Clears the bit of a level. Precondition: the caller has its token.
    #[inline]
    fn set_inactive(&self, level: usize) {
        self.active[level / BITS].fetch_and(!(1 << (level % BITS)), Ordering::SeqCst);
    }

    #[inline]
    fn give_back_turn(&self, me: &LockMember) {
        if let Some(turn) = me.turn {
            self.turns[turn].unlock(me.tid);
        }
    }

    /// Ends the activation of `me`. A lock that is still held is released, counted and returned.
    #[inline]
    pub fn leave(&self, me: &LockMember) -> Option<Leak> {
        let leak = self.release_leaked(me);
        if let Some(level) = me.level
            && me.entered.replace(false)
        {
            self.set_inactive(level);
            self.give_back_turn(me);
            self.tokens[level].unlock(me.tid);
        }
        leak
    }

    /// Waits until no partition is active, and lets none begin until the result is dropped, on the same thread. `tid` is the
    /// calling thread's id, which is no partition's.
    pub fn quiesce(&self, tid: u32) -> Rest<'_> {
        for token in self.tokens.iter().rev() {
            token.lock(tid);
        }
        Rest { lock: self, tid, not_send: PhantomData }
    }

    /// Takes the lock; to be called by `lockPreemption` and around callbacks. Recursive.
    #[inline]
    pub fn lock(&self, me: &LockMember) -> Locked {
        self.lock_or_wait(me, || {})
    }

    /// [`PreemptionLock::lock`]; calls `waits` before it waits, if it has to.
    #[inline]
    pub fn lock_or_wait(&self, me: &LockMember, waits: impl FnOnce()) -> Locked {
        let depth = me.depth.get();
        me.depth.set(depth + 1);
        if depth > 0 {
            return Locked::Nested;
        }
        let waited = match self.word.try_lock(me.tid) {
            true => None,
            false => {
                waits();
                Some(self.lock_contended(me))
            }
        };
        self.section.store(me.tid, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
        if me.level.is_some_and(|level| self.nearest_active_above(level).is_some()) {
            self.raise(me);
        }
        me.since.set(ticks());
        Locked::Outermost { waited }
    }

    #[cold]
    fn lock_contended(&self, me: &LockMember) -> u64 {
        // Whoever has just taken the word may not have set the section yet.
        let holder = self.holder().unwrap_or_else(|| self.word.owner());
        me.blocker.set(holder);
        let before = ticks();
        self.word.lock(me.tid);
        me.count(|c| c.contended += 1);
        ticks().wrapping_sub(before)
    }

    /// Gives the lock back; at the outermost one, whoever waits and is higher runs before this returns.
    #[inline]
    pub fn unlock(&self, me: &LockMember) -> Unlocked {
        match me.depth.get() {
            0 => Unlocked::NotHeld,
            1 => Unlocked::Outermost { held: self.release(me) },
            depth => {
                me.depth.set(depth - 1);
                Unlocked::Nested
            }
        }
    }

    /// Releases a lock that FMU code still holds although its function has returned.
    #[inline]
    pub fn release_leaked(&self, me: &LockMember) -> Option<Leak> {
        match me.depth.get() {
            0 => None,
            depth => {
                let held = self.release(me);
                Some(Leak { depth, held })
            }
        }
    }

    #[inline]
    fn release(&self, me: &LockMember) -> u64 {
        let held = ticks().wrapping_sub(me.since.get());
        me.depth.set(0);
        self.section.store(0, Ordering::Release);
        self.word.unlock(me.tid);
        if me.raised.get() {
            self.restore(me);
        }
        held
    }

    /// Runs the locked section at the instance's highest priority: a higher partition sleeps inside FMU code.
    #[cold]
    fn raise(&self, me: &LockMember) {
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
    fn restore(&self, me: &LockMember) {
        me.raised.set(false);
        if !me.demoted.load(Ordering::SeqCst) && scheduling::set_fifo_errno(0, me.priority).is_err() {
            me.count(|c| c.raise_refused += 1);
        }
        if me.demoted.load(Ordering::SeqCst) {
            let _ = scheduling::set_other_errno(0);
        }
    }

    /// Somebody is inside a locked section; when an entry asks, it is somebody else.
    #[inline]
    fn is_inside_section(&self) -> bool {
        self.section.load(Ordering::SeqCst) != 0
    }

    /// The lowest of the active levels that are higher than `level`.
    #[inline]
    pub(super) fn nearest_active_above(&self, level: usize) -> Option<usize> {
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
