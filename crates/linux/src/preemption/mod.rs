//! The lock between the model partitions of one instance: inside it nobody else of that instance *runs*.
//!
//! `lockPreemption` promises an FMU more than mutual exclusion: between lock and unlock no other partition of the
//! instance may start or go on, not even one that never locks. All partitions of an instance share one core and run
//! under `SCHED_FIFO`, so the scheduler does most of it; this module does the rest.
//!
//! # State
//! - the *word*: a priority-inheriting word ([`PiWord`](crate::pi::PiWord)), held between `lock` and `unlock`;
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
mod lock;
mod member;
#[cfg(test)]
mod tests;

pub use self::lock::{Leak, LockError, Locked, PreemptionLock, Rest, Unlocked};
pub use self::member::{Demotion, LockCounts, LockMember};
