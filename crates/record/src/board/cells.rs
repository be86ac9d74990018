//! The words of an instance, and those of a task.

use super::layout::{FMU_FINDINGS, FMU_OVERFLOW, TASK_WORDS};
use super::words::{FailedCall, FmuWord, Metric, TaskWord};
use crate::findings::FindingCells;
use crate::histogram;
use crate::log::overflow::Overflow;
use crate::unusable::Unusable;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{self, Relaxed, SeqCst};
use vecud_base::time::Instant;
use vecud_plan::UnitId;

/// The words of an instance.
#[derive(Clone, Copy)]
pub struct FmuCells<'a> {
    pub(super) words: &'a [AtomicU64],
}

impl<'a> FmuCells<'a> {
    /// A word of the FMU.
    pub fn word(&self, word: FmuWord) -> &'a AtomicU64 {
        &self.words[word as usize]
    }

    /// Adds to a counter that several threads write.
    pub fn count(&self, word: FmuWord, amount: u64) {
        self.word(word).fetch_add(amount, Relaxed);
    }

    /// Lock hold times outside of activations.
    pub fn hold(&self) -> histogram::HistogramWriter<'a> {
        histogram::HistogramWriter::new(&self.words[FmuWord::Count as usize..])
    }

    /// Lock wait times outside of activations.
    pub fn wait(&self) -> histogram::HistogramWriter<'a> {
        histogram::HistogramWriter::new(&self.words[FmuWord::Count as usize + histogram::WORDS..])
    }

    /// Offences of the instance against the standard.
    pub fn findings(&self) -> FindingCells<'a> {
        FindingCells::new(&self.words[FMU_FINDINGS..])
    }

    /// The newest lines of an FMU for which the log had no room.
    pub fn overflow(&self) -> Overflow<'a> {
        Overflow::new(&self.words[FMU_OVERFLOW..])
    }

    /// Notes a failure, if it is the first one of this instance. `reading`: the call succeeded, but the value that it gave
    /// is of no use.
    pub fn fail(&self, failed: FailedCall, unit: Option<UnitId>, time: Instant, reading: Option<Unusable>) {
        let FailedCall { status, function, answer } = failed;
        if self.word(FmuWord::FailureStatus).compare_exchange(0, status, SeqCst, SeqCst).is_ok() {
            let set = |word: FmuWord, value: u64| self.word(word).store(value, Relaxed);
            set(FmuWord::FailureAnswer, answer.map_or(0, |answer| u64::from(answer as u32) + 1));
            set(FmuWord::FailureFunction, function + 1);
            set(FmuWord::FailureTask, unit.map_or(0, |unit| unit.0 as u64 + 1));
            let times = [FmuWord::FailureTime, FmuWord::FailureTime1, FmuWord::FailureTime2];
            times.into_iter().zip(time.to_words()).for_each(|(word, value)| set(word, value));
            let readings = [FmuWord::FailureReading, FmuWord::FailureValue, FmuWord::FailureValue1];
            let words = reading.map_or([0; 3], Unusable::to_words);
            readings.into_iter().zip(words).for_each(|(word, value)| set(word, value));
        }
    }

    /// The value returned by the failed call, if it is no status.
    pub fn failed_answer(&self) -> Option<i32> {
        let word = self.word(FmuWord::FailureAnswer).load(SeqCst);
        word.checked_sub(1).map(|bits| bits as u32 as i32)
    }

    /// The reading that is the failure, if that is one.
    pub fn failed_reading(&self) -> Option<Unusable> {
        let words = [FmuWord::FailureReading, FmuWord::FailureValue, FmuWord::FailureValue1];
        Unusable::from_words(words.map(|word| self.word(word).load(SeqCst)))
    }
}

/// The words of a task.
#[derive(Clone, Copy)]
pub struct TaskCells<'a> {
    pub(super) words: &'a [AtomicU64; TASK_WORDS],
    pub(super) histograms: &'a [AtomicU64],
}

impl<'a> TaskCells<'a> {
    /// A word of the task.
    #[inline]
    pub fn word(&self, word: TaskWord) -> &'a AtomicU64 {
        &self.words[word as usize]
    }

    /// The value of a word of the task.
    pub fn get(&self, word: TaskWord) -> u64 {
        self.word(word).load(Relaxed)
    }

    /// Adds to a counter; its task's thread only.
    pub fn count(&self, word: TaskWord, amount: u64) {
        let word = self.word(word);
        word.store(word.load(Relaxed).wrapping_add(amount), Relaxed);
    }

    /// Adds to a counter that other threads write as well. Who reads the new count with `Acquire` sees what was written before.
    pub fn count_shared(&self, word: TaskWord, amount: u64) {
        self.word(word).fetch_add(amount, Ordering::Release);
    }

    /// A histogram of the task.
    pub fn histogram(&self, metric: Metric) -> histogram::HistogramWriter<'a> {
        let start = metric as usize * histogram::WORDS;
        histogram::HistogramWriter::new(&self.histograms[start..start + histogram::WORDS])
    }

    /// The activation time of the current or last activation.
    pub fn time(&self) -> Instant {
        Instant::from_words([self.get(TaskWord::Time), self.get(TaskWord::Time1), self.get(TaskWord::Time2)])
    }

    /// Sets it.
    #[inline]
    pub fn set_time(&self, time: &Instant) {
        for (place, word) in [TaskWord::Time, TaskWord::Time1, TaskWord::Time2].into_iter().zip(time.to_words()) {
            self.word(place).store(word, Relaxed);
        }
    }
}
