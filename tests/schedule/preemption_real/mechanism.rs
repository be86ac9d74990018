//! The mechanisms under stress: the one of `vecud`, and three that are known to be wrong, made of the same words.

use std::cell::Cell;
use vecud::sys::pi::PiWord;
use vecud::sys::preemption::{LockCounts, LockMember, PreemptionLock};

/// Which mechanism.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `vecud::sys::preemption`.
    Right,
    /// Exclusion with priority inheritance, and nothing else.
    PlainPiMutex,
    /// Before each start the mutex is locked and unlocked.
    GateAlone,
    /// And each level has a token.
    GateAndToken,
}

/// The lock of one instance.
pub struct Mechanism {
    kind: Kind,
    right: PreemptionLock,
    word: PiWord,
    tokens: [PiWord; 8],
}

/// A thread's part in it.
pub struct Member {
    pub partition: LockMember,
    tid: u32,
    level: usize,
    depth: Cell<u32>,
}

impl Member {
    pub fn new(level: usize, priority: u8) -> Self {
        Member {
            partition: LockMember::new(level, Some(priority)),
            tid: vecud::sys::thread::current_tid(),
            level,
            depth: Cell::new(0),
        }
    }

    pub fn counts(&self) -> LockCounts {
        self.partition.counts()
    }
}

impl Mechanism {
    pub fn new(kind: Kind, levels: usize, ceiling: u8) -> Self {
        Mechanism {
            kind,
            right: PreemptionLock::new(levels, Some(ceiling)).unwrap(),
            word: PiWord::new(),
            tokens: [const { PiWord::new() }; 8],
        }
    }

    pub fn enter(&self, me: &Member, mut help: impl FnMut()) {
        if self.kind == Kind::Right {
            self.right.enter(&me.partition, help);
            return;
        }
        if self.kind == Kind::GateAndToken {
            self.tokens[me.level].lock(me.tid);
        }
        if self.kind != Kind::PlainPiMutex && self.word.owner() != 0 {
            self.word.lock(me.tid);
            self.word.unlock(me.tid);
        }
        help();
    }

    pub fn leave(&self, me: &Member) {
        match self.kind {
            Kind::Right => assert_eq!(self.right.leave(&me.partition), None),
            Kind::GateAndToken => self.tokens[me.level].unlock(me.tid),
            Kind::PlainPiMutex | Kind::GateAlone => {}
        }
    }

    pub fn lock(&self, me: &Member) {
        if self.kind == Kind::Right {
            self.right.lock(&me.partition);
        } else if me.depth.replace(me.depth.get() + 1) == 0 {
            self.word.lock(me.tid);
        }
    }

    /// True at the outermost one.
    pub fn unlock(&self, me: &Member) -> bool {
        if self.kind == Kind::Right {
            self.right.unlock(&me.partition);
            return me.partition.depth() == 0;
        }
        me.depth.set(me.depth.get() - 1);
        if me.depth.get() == 0 {
            self.word.unlock(me.tid);
        }
        me.depth.get() == 0
    }
}
