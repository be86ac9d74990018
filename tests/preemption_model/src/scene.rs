//! What is explored: a mechanism, the right one or one that lacks a part, and the scene that it is put into.

/// What an entry does about a lock that is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    None,
    /// Take it and give it back, once.
    Once,
    /// The same again until it is found free.
    UntilFree,
}

/// When a locking thread looks for active higher levels, to raise itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Raise {
    Never,
    BeforeTaking,
    AfterTaking,
}

/// A mechanism: the right one, or one that lacks a part.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism {
    pub gate: Gate,
    pub token: bool,
    pub bitmap: bool,
    /// Look at the bitmap again after setting the own bit.
    pub recheck: bool,
    pub raise: Raise,
    /// Wake higher pending targets in the entry.
    pub help: bool,
    /// Gate and recheck look at a flag that says "inside a section"; without it the gate looks at the word.
    pub section_flag: bool,
    /// The gate looks at the word as well as at the flag: who has taken it may not have set the flag yet.
    pub gate_at_word: bool,
    /// The own bit is set before the gate, and stays: who waits there counts as active.
    pub bit_first: bool,
    /// Who has polled inside of the gate goes through it once more.
    pub again: bool,
    /// Where levels share a priority, one that has begun holds their turn.
    pub turn: bool,
    /// Whoever helps lets those of its priority that come before it run up to their entry.
    pub stand_back: bool,
}

/// What the threads are and what their FMU code may do.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// The level of each thread; 0 is the highest.
    pub levels: &'static [u8],
    /// The first and the last of those levels that share one priority; the same: none do.
    pub shared: (u8, u8),
    /// How often each thread is released; 0 for the target of ticks.
    pub releases: &'static [u8],
    /// Locked sections plus sleeps that an activation may have.
    pub budget: &'static [u8],
    pub may_sleep: bool,
    /// Whoever is no target enters before its release, and polls; or is taken back.
    pub polls: bool,
    pub may_sleep_locked: bool,
    /// The thread that ticks release.
    pub target: Option<u8>,
    pub steal: bool,
}
