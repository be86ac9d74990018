//! What the daemon says, written by a thread of its own: to the journal with fields, if standard error goes there, else to standard
//! error.
//!
//! Guarantees: nobody who says something waits, whatever becomes of standard error or of the journal. Lines that there is no room for
//! are counted, and their number is written. What the journal does not take goes to standard error.

use super::journal::Journal;
use crate::cli::diagnostics::say;
use crossbeam::channel::{Receiver, RecvTimeoutError, TrySendError, bounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;
use vecud_base::plain;
use vecud_daemon::{DaemonLine, DaemonLog};
use vecud_host::LineWeight;

/// Lines that wait to be written, at most.
const ROOM: usize = 4096;
/// How long lines that wait may still take to be written at the end.
const LAST: Duration = Duration::from_secs(2);
/// How often it is looked whether the end has come.
const LOOK: Duration = Duration::from_millis(20);

/// A line that waits.
struct Line {
    rig: Option<String>,
    run: Option<String>,
    weight: LineWeight,
    text: String,
}

impl Line {
    /// Whom it is about, this, and what is said.
    fn said(&self, word: &str) -> String {
        let text = &self.text;
        self.rig.as_ref().map_or_else(|| format!("{word}{text}"), |rig| format!("rig {rig}: {word}{text}"))
    }

    /// The entry as lines for people: its severity is not told by other means, and none of its further lines begins like a first line.
    fn for_people(&self) -> String {
        let said = match self.weight {
            LineWeight::Note => self.said(""),
            weight => self.said(&format!("{}: ", weight.word())),
        };
        said.replace('\n', "\n    ")
    }
}

/// What writes down what is said. When it is dropped, all that was said by then is written, if that can be done in a moment.
pub struct Writer {
    log: DaemonLog,
    ends: Arc<AtomicBool>,
    /// Disconnected when all is written.
    written: Receiver<()>,
}

impl Writer {
    /// Begins to write.
    pub fn start() -> Writer {
        let journal = Journal::of_stderr();
        Writer::to(move |line| write(journal.as_ref(), line))
    }

    fn to(write: impl Fn(&Line) + Send + 'static) -> Writer {
        let (lines, waiting) = bounded::<Line>(ROOM);
        let (writes, written) = bounded(0);
        let (ends, lost): (Arc<AtomicBool>, Arc<AtomicU64>) = Default::default();
        let log = {
            let lost = lost.clone();
            DaemonLog::new(move |line: DaemonLine| {
                let DaemonLine { rig, run, weight, text } = line;
                let rig = rig.map(|rig| rig.as_str().to_owned());
                let line = Line { rig, run: run.map(str::to_owned), weight, text: text.to_owned() };
                if let Err(TrySendError::Full(_)) = lines.try_send(line) {
                    lost.fetch_add(1, SeqCst);
                }
            })
        };
        let is_over = ends.clone();
        let work = move || {
            let _until_all_is_written = writes;
            loop {
                match waiting.recv_timeout(LOOK) {
                    Ok(line) => write(&line),
                    Err(RecvTimeoutError::Timeout) if !is_over.load(SeqCst) => (),
                    Err(_) => return,
                }
                let lost = lost.swap(0, SeqCst);
                if lost > 0 {
                    let text = format!("warning: {lost} lines were lost here: nobody has taken them in time");
                    write(&Line { rig: None, run: None, weight: LineWeight::Warning, text });
                }
            }
        };
        if let Err(error) = thread::Builder::new().name("vecud.log".to_owned()).spawn(work) {
            say(&format!("there is no thread that writes down what the daemon says: {error}"));
        }
        Writer { log, ends, written }
    }

    /// Where to say what is to be written.
    pub fn log(&self) -> DaemonLog {
        self.log.clone()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.ends.store(true, SeqCst);
        let _in_vain = self.written.recv_timeout(LAST);
    }
}

fn write(journal: Option<&Journal>, line: &Line) {
    let Line { rig, run, weight, .. } = line;
    let priority = match weight {
        LineWeight::Error => "3",
        LineWeight::Warning => "4",
        LineWeight::Note => "6",
    };
    let message = plain::message(&line.said(""));
    let mut fields = vec![("MESSAGE", message.as_str()), ("PRIORITY", priority), ("SYSLOG_IDENTIFIER", "vecud")];
    fields.extend(rig.as_deref().map(|rig| ("VECUD_RIG", rig)));
    fields.extend(run.as_deref().map(|run| ("VECUD_RUN", run)));
    if journal.is_none_or(|journal| journal.send(&fields).is_err()) {
        say(&line.for_people());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::time::Instant;

    fn say(log: &DaemonLog, text: &str) {
        log.line(DaemonLine { rig: None, run: None, weight: LineWeight::Note, text });
    }

    #[test]
    fn all_is_written_by_the_end_in_its_order() {
        let written = Arc::new(Mutex::new(Vec::new()));
        let own = written.clone();
        let writer = Writer::to(move |line| own.lock().unwrap().push(line.text.clone()));
        (0..100).for_each(|number| say(&writer.log(), &number.to_string()));
        drop(writer);
        let expected: Vec<String> = (0..100).map(|number: u32| number.to_string()).collect();
        assert_eq!(*written.lock().unwrap(), expected);
    }

    #[test]
    fn no_further_line_of_a_message_looks_like_another_message() {
        let text = "one\nrig b: error: forged\n".to_owned();
        let line = Line { rig: Some("a".to_owned()), run: None, weight: LineWeight::Warning, text };
        let said = line.for_people();
        assert_eq!(said.lines().filter(|line| !line.starts_with("    ")).collect::<Vec<_>>(), ["rig a: warning: one"]);
    }

    /// Nobody reads standard error, say.
    #[test]
    fn who_says_something_does_not_wait_for_who_writes_and_what_is_lost_is_counted() {
        let held = Arc::new(Mutex::new(()));
        let (own, written) = (held.clone(), Arc::new(Mutex::new(Vec::new())));
        let lines = written.clone();
        let writer = Writer::to(move |line| {
            let _waits = own.lock().unwrap();
            lines.lock().unwrap().push(line.text.clone());
        });
        let guard = held.lock().unwrap();
        let began = Instant::now();
        (0..ROOM + 100).for_each(|_| say(&writer.log(), "a"));
        assert!(began.elapsed() < Duration::from_secs(5));
        drop(guard);
        drop(writer);
        let written = written.lock().unwrap();
        let lost: usize = written.iter().filter_map(|line| line.split(' ').nth(1)?.parse::<usize>().ok()).sum();
        let told = written.iter().filter(|line| *line == "a").count();
        assert!(lost >= 99 && told + lost == ROOM + 100, "{lost} lost, {told} told");
    }
}
