//! What is told of a run while it goes on: messages, and the table that refreshes in place on a terminal.
//!
//! A thread of its own writes it. A terminal that stands still (Ctrl-S, a connection that hangs) or a pipe that nobody reads
//! holds up only that thread, not who collects what the partitions leave behind, so nothing of the recording is lost by it.
//! Messages wait; beyond [`KEPT`] of them the newest are left out and counted. Of tables only the newest waits.

use super::progress::redraw;
use crate::sys::process;
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Messages that wait for a reader at most.
const KEPT: usize = 10_000;

/// For so long who reads slowly is waited for before anything else.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where a run tells something; writing it is another thread's.
#[derive(Default)]
pub struct Teller {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    messages: Vec<String>,
    /// Messages that found no room after these.
    left_out: usize,
    /// The newest one, if it was not drawn yet; an empty one takes the last one off the screen.
    table: Option<String>,
    /// Nothing else will come.
    over: bool,
}

/// Runs `body`, which has something to tell: messages by `tell`, the table on `screen`. Returns when all of it was told; from
/// a second after `body` has ended signals like SIGINT end the process again, since there may be nobody who reads. Where there can
/// be no further thread it is told when `body` has ended.
pub fn telling<T>(
    tell: &mut (dyn FnMut(&str) + Send),
    screen: &mut (dyn Write + Send),
    body: impl FnOnce(&Teller) -> T,
) -> T {
    /// However `body` ends.
    struct Over<'a>(&'a Teller);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.change(|waiting| waiting.over = true);
        }
    }
    let teller = Teller::default();
    let result = thread::scope(|scope| {
        let name = "vecud.teller".to_owned();
        let writer = thread::Builder::new().name(name).spawn_scoped(scope, || teller.tell_all(tell, screen));
        let over = Over(&teller);
        let result = body(&teller);
        drop(over);
        let ended = Instant::now();
        while writer.as_ref().is_ok_and(|writer| !writer.is_finished()) {
            if ended.elapsed() > PATIENCE {
                process::end_at_stop_signals();
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        result
    });
    // What is left of it: nothing, unless there was no thread.
    teller.tell_all(tell, screen);
    result
}

impl Teller {
    /// A message. The table makes way for it.
    pub fn say(&self, message: &str) {
        self.change(|waiting| match waiting.messages.len() < KEPT {
            true => waiting.messages.push(message.to_owned()),
            false => waiting.left_out += 1,
        });
    }

    /// The table is this now; an empty one is none.
    pub fn draw(&self, table: String) {
        self.change(|waiting| waiting.table = Some(table));
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.lock());
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing in here is ever half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something, and takes it; `None`: nothing else will come.
    fn next(&self) -> Option<Waiting> {
        let nothing = |waiting: &Waiting| waiting.messages.is_empty() && waiting.table.is_none();
        let waits = |waiting: &mut Waiting| nothing(waiting) && !waiting.over;
        let mut waiting = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        let over = waiting.over;
        let taken = std::mem::replace(&mut *waiting, Waiting { over, ..Waiting::default() });
        (!nothing(&taken)).then_some(taken)
    }

    fn tell_all(&self, tell: &mut (dyn FnMut(&str) + Send), screen: &mut (dyn Write + Send)) {
        let mut rows = 0;
        while let Some(Waiting { messages, left_out, table, .. }) = self.next() {
            // A terminal that is gone shows nothing.
            let mut put = |text: &str| drop(screen.write_all(text.as_bytes()));
            if rows > 0 && !messages.is_empty() {
                put(&redraw(rows, ""));
                rows = 0;
            }
            messages.iter().for_each(|message| tell(message));
            if left_out > 0 {
                tell(&format!(
                    "{left_out} messages are not shown, since nobody has read those before them; run.log has what FMUs have \
                     logged, the report what is wrong"
                ));
            }
            if let Some(table) = table.filter(|table| rows > 0 || !table.is_empty()) {
                put(&redraw(rows, &table));
                rows = table.lines().count();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam::channel::{Receiver, bounded};
    use std::io;

    /// Says so many messages while the first one waits to be written, and gives what was written in the end.
    fn said(messages: usize, also: impl FnOnce(&Teller)) -> Vec<String> {
        let (go_on, wait): (_, Receiver<()>) = bounded(0);
        let mut written = Vec::new();
        let mut tell = |line: &str| {
            if written.is_empty() {
                // An error: the other side has failed.
                let _ = wait.recv();
            }
            written.push(line.to_owned());
        };
        let body = move |teller: &Teller| {
            teller.say("0");
            taken(teller);
            // Nobody reads, and this goes on.
            (1..messages).for_each(|number| teller.say(&number.to_string()));
            also(teller);
            go_on.send(()).unwrap();
        };
        telling(&mut tell, &mut io::sink(), body);
        written
    }

    /// Waits until nothing waits.
    fn taken(teller: &Teller) {
        let waits = |waiting: &Waiting| !waiting.messages.is_empty() || waiting.table.is_some();
        while waits(&teller.lock()) {
            thread::yield_now();
        }
    }

    #[test]
    fn messages_arrive_in_their_order_however_long_somebody_takes_to_read_them() {
        let expected: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        assert_eq!(said(100, |_| ()), expected);
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let written = said(KEPT + 4, |_| ());
        assert_eq!(written.len(), KEPT + 2, "one under way, those that were kept, and the word on the others");
        assert_eq!(written[KEPT], KEPT.to_string());
        assert!(written[KEPT + 1].starts_with("3 messages are not shown"), "{}", written[KEPT + 1]);
    }

    #[test]
    fn of_tables_the_newest_waits() {
        said(2, |teller| {
            (0..1000).for_each(|number| teller.draw(number.to_string()));
            assert_eq!(teller.lock().table.as_deref(), Some("999"));
        });
    }

    /// What comes to the screen, and the messages in between.
    #[derive(Clone, Default)]
    struct Shown(std::sync::Arc<Mutex<Vec<String>>>);

    impl Write for Shown {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().push(String::from_utf8(text.to_vec()).unwrap());
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_table_makes_way_for_messages_and_is_gone_in_the_end() {
        let shown = Shown::default();
        let lines = shown.clone();
        telling(&mut |line| lines.0.lock().unwrap().push(line.to_owned()), &mut shown.clone(), |teller| {
            teller.draw("a\nb".to_owned());
            taken(teller);
            teller.draw("c".to_owned());
            taken(teller);
            teller.say("message");
            taken(teller);
            teller.draw("d".to_owned());
            taken(teller);
            teller.draw(String::new());
        });
        let expected =
            [redraw(0, "a\nb"), redraw(2, "c"), redraw(1, ""), "message".to_owned(), redraw(0, "d"), redraw(1, "")];
        assert_eq!(*shown.0.lock().unwrap(), expected);
    }
}
