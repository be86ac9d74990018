//! The words between the thread of one task and other threads.

use crate::exchange::{Deadline, Latest, TickQueue};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::SeqCst};
use vecud_base::time::{Fraction, Instant};
use vecud_description::IntervalVariability;
use vecud_linux::wake::WakeWord;
use vecud_plan::UnitId;

/// Words of a changed interval.
pub const RETUNED: usize = 5;
/// Words of a grid: origin, counter, resolution.
pub const GRID: usize = 5;

/// The words between the thread of one task and other threads.
pub struct TaskState {
    /// The word that the thread of the task sleeps on.
    pub wake: WakeWord,
    /// Ticks for the task.
    pub ticks: TickQueue,
    /// The deadline of a countdown clock, newest version (a [`Deadline`] as words).
    pub armed: Latest,
    /// The newest version of `armed` that its thread has seen.
    pub armed_seen: AtomicU64,
    /// 1 + index of the task whose activation ticked it last; 0: none. Written under the lock of the instance that ticks.
    pub ticked_by: AtomicU64,
    /// The newest change of a tunable clock's interval: counter, resolution, and the time of the change.
    pub retuned: Latest,
    /// The newest version of `retuned` that its thread has seen.
    pub retuned_seen: AtomicU64,
    /// 1 + index of the clock at the root of its activation under way, or of the last one.
    pub root: AtomicU64,
    /// A bit for each output clock of its instance: it has ticked in the activation under way. Set under the lock of the instance
    /// by the thread that reads the clock, which may be a partition that has preempted this one.
    pub has_ticked: Box<[AtomicU64]>,
    /// The grid of a periodic clock: an instant of it, and the interval.
    pub grid: Latest,
    /// Simulation time of the task's current or next activation, ns; `i64::MAX`: there is none; `i64::MIN`: its thread is about
    /// to look.
    pub next: AtomicI64,
    /// The thread of the task has left its loop.
    pub finished: AtomicBool,
    /// The core of the task: index into [`RunState::cores`].
    pub core: usize,
    /// The place of the task among those of its core, most urgent first.
    pub place: usize,
    /// Tasks of the same core and FIFO priority that come before this one in the order of the plan, most urgent first; none
    /// without `SCHED_FIFO`.
    pub ahead: Box<[UnitId]>,
    /// Which of the priorities that several levels of the instance share is that of the task; `None`: none of them.
    pub shared: Option<usize>,
    /// The kind of clock that releases the task: only a countdown clock is armed, only a tunable one gets another interval.
    pub kind: Option<IntervalVariability>,
}

impl TaskState {
    /// The newest deadline, if its thread has not seen it yet.
    pub fn unseen_deadline(&self) -> Option<Deadline> {
        let mut words = [0; Deadline::WIDTH];
        let version = self.armed.read(|i, word| words[i] = word);
        (version != self.armed_seen.load(SeqCst)).then(|| Deadline::from_words(words))
    }

    /// [`TaskState::unseen_deadline`], which its thread has seen from now on.
    pub fn take_deadline(&self) -> Option<Deadline> {
        if !self.has_deadline() {
            return None;
        }
        let mut words = [0; Deadline::WIDTH];
        let version = self.armed.read(|i, word| words[i] = word);
        (self.armed_seen.swap(version, SeqCst) != version).then(|| Deadline::from_words(words))
    }

    /// The newest change of the interval and its time, if the thread has not seen it yet; from now on it has.
    pub fn take_change(&self) -> Option<(Fraction, Instant)> {
        if !self.has_change() {
            return None;
        }
        let mut words = [0; RETUNED];
        let version = self.retuned.read(|i, word| words[i] = word);
        self.retuned_seen.store(version, SeqCst);
        let [counter, resolution, a, b, c] = words;
        Some((Fraction::new(counter, resolution).ok()?, Instant::from_words([a, b, c])))
    }

    /// Notes that this output clock of its instance has ticked in the activation under way.
    pub fn note_ticked(&self, output: usize) {
        self.has_ticked[output / 64].fetch_or(1 << (output % 64), SeqCst);
    }

    /// Another activation begins, in which no output clock has ticked.
    pub fn forget_ticked(&self) {
        self.has_ticked.iter().for_each(|word| word.store(0, SeqCst));
    }

    /// Whether one of these output clocks has ticked in the activation under way, or in the last one.
    pub fn has_one_ticked(&self, outputs: &[usize]) -> bool {
        outputs.iter().any(|output| self.has_ticked[output / 64].load(SeqCst) >> (output % 64) & 1 == 1)
    }

    /// Whether other threads have handed it work that its own thread has not taken yet.
    pub fn has_mail(&self) -> bool {
        !self.ticks.is_empty() || self.has_deadline() || self.has_change()
    }

    #[inline]
    fn has_deadline(&self) -> bool {
        self.kind == Some(IntervalVariability::Countdown) && self.armed.version() != self.armed_seen.load(SeqCst)
    }

    #[inline]
    fn has_change(&self) -> bool {
        self.kind == Some(IntervalVariability::Tunable) && self.retuned.version() != self.retuned_seen.load(SeqCst)
    }
}
