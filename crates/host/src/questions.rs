//! Requests of other threads to the thread that collects a run's samples: for newest values, and for watching rows.
//!
//! Guarantees: neither side waits for the other. Without requests the cost is one check of a flag. A request that will
//! not be answered any more, since all runs are over, is dropped with its answer: its waiter notices that.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use vecud_base::time::Instant;
use vecud_description::Values;
use vecud_plan::SignalId;
use vecud_record::RowWatcher;

/// The newest value of a column, one element or none, and its time; no time: the column has no value in this run yet.
pub type NewestValue = (Option<Values>, Option<Instant>);

/// A request.
pub enum Question {
    /// A request for the newest values of these columns.
    Newest(Vec<SignalId>, Box<dyn FnOnce(Vec<NewestValue>) + Send>),
    /// Lets a watcher see rows.
    Rows(Box<dyn RowWatcher>),
}

/// All pending requests.
pub struct Questions {
    /// `None`: no request will be answered any more.
    asked: Mutex<Option<Vec<Question>>>,
    is_any: AtomicBool,
}

impl Default for Questions {
    fn default() -> Questions {
        Questions { asked: Mutex::new(Some(Vec::new())), is_any: AtomicBool::new(false) }
    }
}

impl Questions {
    /// Adds a request. Returns `false` and drops it if nobody will answer.
    pub fn ask(&self, question: Question) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(asked) = &mut *asked else { return false };
        asked.push(question);
        self.is_any.store(true, SeqCst);
        true
    }

    /// Takes the requests since the last check.
    pub fn take(&self) -> Vec<Question> {
        if !self.is_any.swap(false, SeqCst) {
            return Vec::new();
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Drops all requests: nobody answers any more.
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
