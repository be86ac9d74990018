//! What other threads ask of the thread that collects a run's samples: newest values, and to be told when a row is as they want it.
//!
//! Guarantees: who asks never waits here, and who collects never waits for them. As long as nobody asks, that costs one look at a flag.
//! A question that nobody will answer any more, since all runs are over, is dropped with its answer: who waits for that hears of it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use vecud_base::time::Instant;
use vecud_description::Values;
use vecud_plan::SignalId;
use vecud_record::RowWatcher;

/// What a column has had last, a value of one element or none, and since when; no time: not in this run yet.
pub type NewestValue = (Option<Values>, Option<Instant>);

/// Something that is asked.
pub enum Question {
    /// What these columns have had last.
    Newest(Vec<SignalId>, Box<dyn FnOnce(Vec<NewestValue>) + Send>),
    /// Has somebody look at rows.
    Rows(Box<dyn RowWatcher>),
}

/// All that is asked and not answered yet.
pub struct Questions {
    /// Nothing any more: nobody will answer.
    asked: Mutex<Option<Vec<Question>>>,
    is_any: AtomicBool,
}

impl Default for Questions {
    fn default() -> Questions {
        Questions { asked: Mutex::new(Some(Vec::new())), is_any: AtomicBool::new(false) }
    }
}

impl Questions {
    /// Asks. Whether somebody may answer: else it is dropped.
    pub fn ask(&self, question: Question) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(asked) = &mut *asked else { return false };
        asked.push(question);
        self.is_any.store(true, SeqCst);
        true
    }

    /// What was asked since the last look.
    pub fn take(&self) -> Vec<Question> {
        if !self.is_any.swap(false, SeqCst) {
            return Vec::new();
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Nobody answers any more.
    pub fn close(&self) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Questions")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn what_nobody_answers_is_dropped_with_its_answer() {
        let questions = Questions::default();
        let ask = |sender: std::sync::mpsc::Sender<usize>| {
            questions.ask(Question::Newest(Vec::new(), Box::new(move |values| sender.send(values.len()).unwrap())))
        };
        assert!(questions.take().is_empty());
        let (sender, receiver) = channel();
        assert!(ask(sender.clone()));
        for question in questions.take() {
            let Question::Newest(_, answer) = question else { panic!("it is the other one") };
            answer(vec![(None, None)]);
        }
        assert_eq!(receiver.recv(), Ok(1));
        assert!(ask(sender.clone()));
        questions.close();
        assert!(!ask(sender), "it is too late");
        assert!(receiver.recv().is_err(), "who waits hears of it");
        assert!(questions.take().is_empty());
    }
}
