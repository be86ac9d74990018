//! One core of Linux, as far as the lock sees it: threads under `SCHED_FIFO`, sleep, and priority-inheriting words.
//!
//! Rules, each as the kernel has it:
//! - the runnable thread with the highest effective priority runs; of equal ones, the first in the queue;
//! - who becomes runnable goes to the tail; a priority that is raised moves its thread to the tail of the new one, a
//!   priority that is lowered to the head;
//! - the effective priority is the highest of the own one, that of a temporary raise, and those of all who wait for a
//!   word that the thread owns, through any number of words;
//! - an unlocked word belongs to its highest waiter from that instant, before it has run. Until it has run, a thread of
//!   higher priority may steal the word ([`Machine::steal`]; the kernel does it when it gets the chance, so both ways are
//!   explored).

/// Threads in a state, at most.
pub const THREADS: usize = 4;
/// Words in a state: the lock, then one token per level, then the turn of those that share a priority.
pub const WORDS: usize = 6;
/// No thread.
pub const NOBODY: u8 = u8::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// Waits for its release (or for a tick).
    Idle,
    Ready,
    Blocked(u8),
    /// Asleep inside FMU code.
    Sleeping,
}

/// A queue of threads without gaps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Queue {
    threads: [u8; THREADS],
}

impl Queue {
    pub const EMPTY: Queue = Queue { threads: [NOBODY; THREADS] };

    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        self.threads.iter().copied().take_while(|t| *t != NOBODY)
    }

    pub fn push(&mut self, thread: u8) {
        let end = self.iter().count();
        self.threads[end] = thread;
    }

    pub fn push_front(&mut self, thread: u8) {
        self.threads.rotate_right(1);
        self.threads[0] = thread;
    }

    pub fn remove(&mut self, thread: u8) {
        let at = self.iter().position(|t| t == thread).expect("in the queue");
        self.threads[at..].rotate_left(1);
        self.threads[THREADS - 1] = NOBODY;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Word {
    pub owner: u8,
    /// The owner got it from an unlock and has not run since.
    granted: bool,
    waiters: Queue,
}

/// The scheduler's part of a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Machine {
    pub status: [Status; THREADS],
    /// Own priorities; larger is higher.
    pub base: [u8; THREADS],
    /// A priority that the thread gave itself for a while, or 0.
    pub raised: [u8; THREADS],
    effective: [u8; THREADS],
    ready: Queue,
    pub words: [Word; WORDS],
    steal: bool,
}

impl Machine {
    pub fn new(base: [u8; THREADS], steal: bool) -> Self {
        let word = Word { owner: NOBODY, granted: false, waiters: Queue::EMPTY };
        Machine {
            status: [Status::Idle; THREADS],
            base,
            raised: [0; THREADS],
            effective: base,
            ready: Queue::EMPTY,
            words: [word; WORDS],
            steal,
        }
    }

    /// Who has the core.
    pub fn running(&self) -> Option<u8> {
        let mut best: Option<u8> = None;
        for thread in self.ready.iter() {
            if best.is_none_or(|b| self.effective[b as usize] < self.effective[thread as usize]) {
                best = Some(thread);
            }
        }
        best
    }

    /// A running thread goes behind those of its priority (`sched_yield`).
    pub fn stand_back(&mut self, thread: u8) {
        self.ready.remove(thread);
        self.ready.push(thread);
    }

    pub fn effective(&self, thread: u8) -> u8 {
        self.effective[thread as usize]
    }

    /// To be called before a thread's step: what it was granted is now its own for good.
    pub fn begin_step(&mut self, thread: u8) {
        for word in &mut self.words {
            if word.owner == thread {
                word.granted = false;
            }
        }
    }

    /// To be called after each step: priorities follow the words.
    pub fn end_step(&mut self) {
        let before = self.effective;
        let mut now: [u8; THREADS] = std::array::from_fn(|t| self.base[t].max(self.raised[t]));
        loop {
            let last = now;
            for word in self.words.iter().filter(|w| w.owner != NOBODY) {
                for waiter in word.waiters.iter() {
                    let lent = now[waiter as usize];
                    let owner = &mut now[word.owner as usize];
                    *owner = (*owner).max(lent);
                }
            }
            if now == last {
                break;
            }
        }
        self.effective = now;
        for thread in 0..THREADS as u8 {
            let (old, new) = (before[thread as usize], now[thread as usize]);
            if old != new && self.status[thread as usize] == Status::Ready {
                self.ready.remove(thread);
                if new > old {
                    self.ready.push(thread);
                } else {
                    self.ready.push_front(thread);
                }
            }
        }
    }

    pub fn make_ready(&mut self, thread: u8) {
        self.status[thread as usize] = Status::Ready;
        self.ready.push(thread);
    }

    pub fn stop(&mut self, thread: u8, status: Status) {
        self.status[thread as usize] = status;
        self.ready.remove(thread);
    }

    /// Takes the word or blocks on it; either way the thread's next step is the one after.
    pub fn take(&mut self, thread: u8, word: u8) {
        let index = word as usize;
        let owner = self.words[index].owner;
        assert_ne!(owner, thread, "a word is not recursive");
        if owner == NOBODY {
            self.words[index].owner = thread;
            return;
        }
        let may_steal = self.steal && self.words[index].granted;
        if may_steal && self.effective[thread as usize] > self.effective[owner as usize] {
            self.words[index].owner = thread;
            self.words[index].granted = false;
            self.words[index].waiters.push_front(owner);
            self.stop(owner, Status::Blocked(word));
            return;
        }
        self.words[index].waiters.push(thread);
        self.stop(thread, Status::Blocked(word));
    }

    /// Gives the word to its highest waiter, the first of equal ones, or to nobody.
    pub fn give(&mut self, thread: u8, word: u8) {
        let index = word as usize;
        assert_eq!(self.words[index].owner, thread, "only the owner unlocks");
        let mut next = NOBODY;
        for waiter in self.words[index].waiters.iter() {
            if next == NOBODY || self.effective[next as usize] < self.effective[waiter as usize] {
                next = waiter;
            }
        }
        self.words[index].owner = next;
        self.words[index].granted = next != NOBODY;
        if next != NOBODY {
            self.words[index].waiters.remove(next);
            self.make_ready(next);
        }
    }

    pub fn is_taken_by_another(&self, thread: u8, word: u8) -> bool {
        let owner = self.words[word as usize].owner;
        owner != NOBODY && owner != thread
    }

    /// Whom a blocked thread waits for in the end: the last one of the chain, which is not blocked itself.
    pub fn waits_for(&self, thread: u8) -> Option<u8> {
        let mut at = thread;
        let mut end = None;
        for _ in 0..THREADS {
            let Status::Blocked(word) = self.status[at as usize] else {
                return end;
            };
            at = self.words[word as usize].owner;
            end = Some(at);
        }
        end
    }
}
