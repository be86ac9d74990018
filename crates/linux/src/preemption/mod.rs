//! The lock between the model partitions of one instance: inside it nobody else of that instance *runs*.
//!
//! `lockPreemption` promises an FMU more than mutual exclusion: between lock and unlock no other partition of the
//! instance may start or go on, not even one that never locks. All partitions of an instance share one core and run
//! under `SCHED_FIFO`, so the scheduler does most of it; this module does the rest.
//!
//! # State
//! - the *word*: a priority-inheriting word ([`PiWord`]), held between `lock` and `unlock`;
//! - the *section*: the thread id of the holder, from its possession of the word until just before it gives it back, else
//!   0. The word alone does not say that: it also belongs for a moment to those who only wait at the gate, and from the
//!   hand-over on to a waiter that has not run yet;
//! - a *token* per priority level, another such word, held by a partition from its entry to its leave: partitions of
//!   equal priority exclude each other, blocked ones included;
//! - a *bitmap* of active levels: who has come to its entry and not yet left. Level 0 is the highest;
//! - a *turn* per priority that several levels share, another such word: held by the partition among them that has begun.
//!
//! # Protocol
//! *Enter*, before the first FMI call of an activation, and *enter again*, from the gate on, if it was not right before: take the own level's token; set the own bit; then
//! 1. (the gate) if somebody else is inside a section, or has the word, take the word and give it back, once: the own
//!    priority is lent to the holder. The section alone is not enough: a lower one that has just taken the word, or to
//!    which it was just handed, and could not yet set the section would run its section inside of this activation as soon
//!    as that locks. Never until the *word* is free: each of two that wait here would hand it to the other, for ever.
//!    Then help: wake the higher pending targets of this core.
//! 2. if a higher level is active (it sleeps inside FMU code or waits at its own gate, else it would be running), take and
//!    give back the token of the nearest one: the own priority is lent to it until it leaves. Again from 1.
//! 3. where levels share a priority, take their turn: one of them that has begun ends first, also if it sleeps. Whoever had to
//!    wait for it gives it back, and begins again from 1, since higher ones may have been ticked meanwhile. (One that is higher
//!    and has not begun is waited for in 2, so that of those that wait the highest begins.)
//! 4. if somebody is inside a section now, or a higher bit is set (they came meanwhile and sleep), again from 1, without the
//!    turn. The bit comes before the gate so that this sees one that waits there, and whose wait lets a section begin.
//!
//! *Leave*, after the last FMI call: clear the bit, give the turn and the token back.
//!
//! *Lock*: take the word; set the section; **then** look at the bitmap. A higher level that is active now sleeps inside
//! FMU code and would go on inside the section when it wakes, so the holder raises itself to the instance's highest
//! priority until the unlock. Looking before taking the word is not enough: while the lock is waited for, a higher
//! partition can become active and fall asleep. This costs two system calls, in that case only.
//!
//! *Unlock*: clear the section, give the word back, take the own priority again.
//!
//! `tests/preemption_model` explores all of this, and shows for each part what goes wrong without it.
//!
//! *Quiesce*: take the tokens of all levels, the lowest first, by a thread that is no partition's; *resume*: give them
//! back. Whoever has all tokens knows that no level is active, and everybody who comes waits at its own token, to which
//! it lends its priority.
//!
//! A partition that enters before its release and waits for it is active, and its first FMI call would overtake a
//! partition that arrives meanwhile and blocks: so it enters again after the release.
//!
//! The lock cannot stop a partition that is already active when the holder itself sleeps inside its locked section, be it in a call of
//! its own, in a page fault (a `fork` elsewhere in the process makes its pages read-only), or because somebody has stopped it. Nor can
//! it let the more urgent of two that share a priority begin first, where that one is due again after a sleep inside of FMU code and its
//! token is for a moment with somebody who has waited for its end.
//!
//! # Why nobody waits for ever
//! A thread that FMU code ends (`pthread_exit`) gives nothing back. The kernel tells whoever waits for a word of it, which takes it
//! over, and then knows that the section or the bit under it is left of the one that has ended.
//!
//! A thread that waits for a token waits for a level that is its own or a higher one; one that waits for the word waits
//! for a holder that waits for nothing, as nobody holds the word while waiting for anything else. One that waits for a turn
//! waits for a partition that has begun, which waits for the word at most; whoever holds a turn and has not begun gives it
//! back before it waits. So there is no cycle.
//! One that quiesces holds tokens of lower levels only while it waits for a higher one, whose holder waits for none of
//! these. The other way round it would hold a higher level's token, for which a partition that has just seen that level
//! active may wait, while it waits for that partition's.
//!
//! # Ownership and memory ordering
//! The callbacks of an FMU have no arguments, so the calling thread's own [`LockMember`] is the context; it is neither
//! `Send` nor `Sync`. Words acquire and release. Enter sets a bit and then reads the section and the other bits, lock
//! sets the section and then reads the bits: stores followed by loads of other locations. On one core a thread sees all
//! that the threads before it did, in program order, so a compiler fence between the section and the bits is all it
//! takes. The bitmap is sequentially consistent anyway, as it is changed by read-modify-write.
//!
//! Without `SCHED_FIFO` (threads that run in turns, or on several cores) it is still a recursive mutex, equal levels
//! still exclude each other, and nothing deadlocks; but a section does not keep others from going on. A host without
//! real-time privileges must itself let one partition of an instance run at a time.

mod member;
#[cfg(test)]
mod tests;

pub use member::{Demotion, LockCounts, LockMember};

use super::cycles::ticks;
use super::pi::PiWord;
use super::prefetch::prefetch;
use super::scheduling;
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

/// The preemption lock of one instance. See the [module](self).
#[derive(Debug)]
pub struct PreemptionLock {
    word: PiWord,
    section: AtomicU32,
    active: Box<[AtomicU64]>,
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

    /// This lock, where this many priorities have several levels each: see [`LockMember::sharing`].
    pub fn with_shared(self, priorities: usize) -> Self {
        PreemptionLock { turns: (0..priorities).map(|_| PiWord::new()).collect(), ..self }
    }

    /// The thread that is inside a locked section now, by its id.
    pub fn holder(&self) -> Option<u32> {
        Some(self.section.load(Ordering::Acquire)).filter(|tid| *tid != 0)
    }

    /// How many levels there are.
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
    /// When the level is none of this lock, or when `me` has entered already.
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

    /// For whoever has entered some time ago and has not called the FMU since: waits as [`PreemptionLock::enter`] does for
    /// those who have come meanwhile.
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

    /// Clears the bit of a level whose token the caller has.
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
