//! Standard error while a rig is prepared and runs: messages, and on a terminal a line on what takes long and a table that refreshes
//! in place.
//!
//! A thread of its own writes it. A terminal that stands still (Ctrl-S, a connection that hangs) or a pipe that nobody reads
//! holds up only that thread, not who collects what the partitions leave behind, so nothing of the recording is lost by it.
//! Messages wait; beyond [`KEPT`] of them the newest are left out and counted, errors and warnings beyond twice as many. Who has time waits
//! before, as long as somebody reads. Of tables only the newest waits.

use super::diagnostics::say;
use std::io::{Write, stderr};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use vecud_host::{EventSink, LineWeight, SessionEvent, SessionState};
use vecud_linux::process::terminal_size;
use vecud_linux::stop;
use vecud_report::{Live, Screen};

/// Messages that wait for a reader at most.
const KEPT: usize = 10_000;

/// For so long who reads slowly is waited for before anything else.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it is said that work goes on which takes long.
const SAID: Duration = Duration::from_secs(10);

/// How often the table is drawn anew.
pub const PERIOD: Duration = Duration::from_millis(200);

/// Does something that reports events, and shows these on standard error; returns when all was shown. From a second after the
/// work has ended signals like SIGINT end the process again, since there may be nobody who reads. Where there can be no further
/// thread it is shown when the work has ended. `kept` says where more stands of what cannot be shown.
pub fn showing<T>(kept: &'static str, work: impl FnOnce(EventSink) -> T) -> T {
    show(kept, false, work)
}

/// [`showing`] of work that has time: it waits for whoever reads slowly.
pub fn showing_all<T>(kept: &'static str, work: impl FnOnce(EventSink) -> T) -> T {
    show(kept, true, work)
}

fn show<T>(kept: &'static str, has_time: bool, work: impl FnOnce(EventSink) -> T) -> T {
    let screen: fn() -> (usize, usize) = if wraps_what_is_there() { screen } else { || (usize::MAX, screen().1) };
    let teller = Arc::new(Teller { kept, has_time, is_terminal: is_terminal(), screen, ..Teller::default() });
    let theirs = teller.clone();
    let sink = EventSink::new(move |event| theirs.hear(event));
    let mut result = None;
    telling(&teller, &mut say, &mut stderr(), Box::new(|| result = Some(work(sink))));
    result.expect("the work is done")
}

/// Whether somebody looks at standard error.
pub fn is_terminal() -> bool {
    terminal_size(stderr().as_fd()).is_some()
}

/// Columns and lines of the screen now.
fn screen() -> (usize, usize) {
    terminal_size(stderr().as_fd()).unwrap_or((usize::MAX, usize::MAX))
}

/// Whether the terminal breaks lines that are there already when it becomes narrower, and joins them when it becomes wider: most
/// do. Those that do not cut such lines off.
fn wraps_what_is_there() -> bool {
    let is = |name: &str| std::env::var_os(name).is_some();
    let term = std::env::var("TERM").unwrap_or_default();
    let cuts = ["linux", "rxvt", "vt", "dumb", "ansi", "cons"].iter().any(|kind| term.starts_with(kind));
    // xterm and screen name themselves; others have only taken the name of the first.
    !(cuts || is("XTERM_VERSION") || (is("STY") && !is("TMUX")))
}

/// Whether the terminal takes colours, and its user wants them.
pub fn has_colors() -> bool {
    std::env::var_os("NO_COLOR").is_none() && std::env::var("TERM").is_ok_and(|term| term != "dumb")
}

/// Pending output; another thread writes it.
struct Teller {
    /// File that has all lines, to be named after omitted ones; empty: none.
    kept: &'static str,
    /// Whether callers may be made to wait.
    has_time: bool,
    is_terminal: bool,
    /// Columns and lines of the screen, as far as they matter for what is there already.
    screen: fn() -> (usize, usize),
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// Messages were taken.
    taken: Condvar,
}

impl Default for Teller {
    fn default() -> Teller {
        let screen = || (usize::MAX, usize::MAX);
        Teller {
            kept: "",
            has_time: false,
            is_terminal: false,
            screen,
            waiting: Mutex::default(),
            changed: Condvar::new(),
            taken: Condvar::new(),
        }
    }
}

/// The table that is on the screen, above the cursor: how many characters each of its lines has.
#[derive(Default)]
struct Drawn(Vec<usize>);

impl Drawn {
    fn of(text: &str) -> Drawn {
        Drawn(text.lines().map(shown).collect())
    }

    /// The lines that it takes on a screen of this size, as far as they are on it.
    fn rows(&self, (columns, lines): (usize, usize)) -> usize {
        let rows: usize = self.0.iter().map(|width| width.div_ceil(columns).max(1)).sum();
        rows.min(lines.saturating_sub(1))
    }
}

/// The characters of a line that are seen: escape codes for colours are not.
fn shown(line: &str) -> usize {
    let mut parts = line.split('\x1b');
    let first = parts.next().map_or(0, |part| part.chars().count());
    first + parts.map(|part| part.split_once('m').map_or(0, |(_, rest)| rest.chars().count())).sum::<usize>()
}

#[derive(Default)]
struct Waiting {
    lines: Vec<Line>,
    /// Messages that found no room after these.
    left_out: usize,
    /// Somebody has waited in vain for room.
    is_stalled: bool,
    /// The newest table, if it was not drawn yet; an empty one removes the last one from the screen.
    table: Option<String>,
    /// No more output will come.
    over: bool,
}

/// Output that is shown in the order of arrival.
enum Line {
    Message(String),
    /// Work has begun that may take long.
    Begun(String),
    /// That work is over.
    Over,
}

/// Work that goes on.
struct Work {
    what: String,
    begun: Instant,
    /// When there is to be a word on it.
    due: Instant,
}

/// Runs `body`, which has something to tell: messages by `tell`, all else on `screen`.
fn telling(
    teller: &Teller,
    tell: &mut (dyn FnMut(&str) + Send),
    screen: &mut (dyn Write + Send),
    body: Box<dyn FnOnce() + '_>,
) {
    /// However `body` ends.
    struct Over<'a>(&'a Teller);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.change(|waiting| waiting.over = true);
        }
    }
    thread::scope(|scope| {
        let name = "vecud.teller".to_owned();
        let writer = thread::Builder::new().name(name).spawn_scoped(scope, || teller.tell_all(tell, screen));
        let over = Over(teller);
        body();
        drop(over);
        let ended = Instant::now();
        while writer.as_ref().is_ok_and(|writer| !writer.is_finished()) {
            if ended.elapsed() > PATIENCE {
                stop::end_at_signals();
                break;
            }
            thread::sleep(Duration::from_micros(100));
        }
    });
    // What is left of it: nothing, unless there was no thread.
    teller.tell_all(tell, screen);
}

impl Teller {
    /// Shows an event.
    fn hear(&self, event: SessionEvent) {
        match event {
            SessionEvent::Begun(what) => self.change(|waiting| waiting.lines.push(Line::Begun(what))),
            SessionEvent::Over => self.change(|waiting| waiting.lines.push(Line::Over)),
            SessionEvent::Message(weight, message) => self.say(weight, &message),
            SessionEvent::State(SessionState::Over) => self.draw(String::new()),
            SessionEvent::State(_) => (),
            SessionEvent::Figures(live) => table(&live).into_iter().for_each(|table| self.draw(table)),
        }
    }

    /// A message. The table makes way for it.
    fn say(&self, weight: LineWeight, message: &str) {
        let mut waiting = self.lock();
        if self.has_time {
            let is_full = |waiting: &mut Waiting| waiting.lines.len() >= KEPT && !waiting.is_stalled;
            let waited = self.taken.wait_timeout_while(waiting, PATIENCE, is_full);
            let (guard, in_vain) = waited.unwrap_or_else(PoisonError::into_inner);
            waiting = guard;
            waiting.is_stalled |= in_vain.timed_out();
        }
        let room = if weight == LineWeight::Note { KEPT } else { 2 * KEPT };
        match waiting.lines.len() < room {
            true => waiting.lines.push(Line::Message(message.to_owned())),
            false => waiting.left_out += 1,
        }
        drop(waiting);
        self.changed.notify_one();
    }

    /// The table is this now; an empty one is none.
    fn draw(&self, table: String) {
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

    /// Waits until there is something, or for so long, and takes what there is; `None`: nothing else will come.
    fn next(&self, longest: Duration) -> Option<Waiting> {
        let nothing = |waiting: &Waiting| waiting.lines.is_empty() && waiting.table.is_none();
        let waits = |waiting: &mut Waiting| nothing(waiting) && !waiting.over;
        let waited = self.changed.wait_timeout_while(self.lock(), longest, waits);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let over = waiting.over;
        let taken = std::mem::replace(&mut *waiting, Waiting { over, ..Waiting::default() });
        self.taken.notify_all();
        (!over || !nothing(&taken)).then_some(taken)
    }

    fn tell_all(&self, tell: &mut (dyn FnMut(&str) + Send), screen: &mut (dyn Write + Send)) {
        let (mut drawn, mut work) = (Drawn::default(), None::<Work>);
        let clear = if self.is_terminal { "\r\x1b[K" } else { "" };
        // A terminal that is gone shows nothing.
        let mut put = |text: &str| drop(screen.write_all(text.as_bytes()));
        let under_way = |what: &str| if self.is_terminal { format!("{what} ...") } else { String::new() };
        let due = |work: &Option<Work>| work.as_ref().map_or(SAID, |work| work.due - Instant::now());
        while let Some(Waiting { lines, left_out, table, .. }) = self.next(due(&work)) {
            if !drawn.0.is_empty() && !lines.is_empty() {
                put(&redraw(drawn.rows((self.screen)()), ""));
                drawn = Drawn::default();
            }
            for line in lines {
                match line {
                    Line::Message(message) => tell(&message),
                    Line::Begun(what) => {
                        put(&under_way(&what));
                        let begun = Instant::now();
                        work = Some(Work { what, begun, due: begun + SAID });
                    }
                    Line::Over => {
                        put(clear);
                        work = None;
                    }
                }
            }
            if left_out > 0 {
                tell(&format!(
                    "{left_out} messages are not shown, since nobody has read those before them{}",
                    self.kept
                ));
            }
            if let Some(Work { what, begun, due }) = work.as_mut().filter(|work| work.due <= Instant::now()) {
                put(&format!("{clear}{what}: for {} s\n{}", begun.elapsed().as_secs(), under_way(what)));
                *due += SAID;
            }
            if let Some(table) = table.filter(|table| !drawn.0.is_empty() || !table.is_empty()) {
                put(&redraw(drawn.rows((self.screen)()), &table));
                drawn = Drawn::of(&table);
            }
        }
    }
}

/// The table, for the terminal as wide and as high as it is now.
fn table(live: &Live) -> Option<String> {
    let (columns, lines) = terminal_size(stderr().as_fd())?;
    let color = has_colors();
    // One line less than there are: the cursor stands below the table.
    Some(vecud_report::live(live, Screen { columns, lines: lines.saturating_sub(1), color }))
}

/// What replaces the `rows` lines above the cursor by `text`; the cursor stands below both.
///
/// Line by line: nothing flickers, and the screen is never erased from its top, which some terminals take for a wish to
/// keep what was there in the history. A terminal that has become narrower may have wrapped the old lines: `rows` are those that
/// they take now.
pub fn redraw(rows: usize, text: &str) -> String {
    let up = |rows: usize| if rows > 0 { format!("\x1b[{rows}A") } else { String::new() };
    // `^C` may stand where the cursor is.
    let mut out = format!("\r\x1b[K{}", up(rows));
    for line in text.lines() {
        out += &format!("{line}\x1b[K\r\n");
    }
    let left = rows.saturating_sub(text.lines().count());
    out += &"\x1b[K\r\n".repeat(left);
    out + &up(left)
}

#[cfg(test)]
mod tests {
    use super::LineWeight::{Error, Note};
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
        let teller = Teller::default();
        let body = || {
            teller.say(Note, "0");
            taken(&teller);
            // Nobody reads, and this goes on.
            (1..messages).for_each(|number| teller.say(Note, &number.to_string()));
            also(&teller);
            go_on.send(()).unwrap();
        };
        telling(&teller, &mut tell, &mut io::sink(), Box::new(body));
        written
    }

    /// Waits until nothing waits.
    fn taken(teller: &Teller) {
        let waits = |waiting: &Waiting| !waiting.lines.is_empty() || waiting.table.is_some();
        while waits(&teller.lock()) {
            thread::yield_now();
        }
    }

    /// Errors come behind a flood of notes that nobody has read.
    #[test]
    fn what_is_severe_finds_room_where_notes_are_left_out() {
        let written = said(KEPT + 100, |teller| teller.say(Error, "it burns"));
        assert_eq!(written.len(), 1 + KEPT + 2, "the first one, what waited, the error, and how many are missing");
        assert_eq!(written[KEPT + 1], "it burns");
        assert!(written[KEPT + 2].starts_with("99 messages are not shown"), "{}", written[KEPT + 2]);
    }

    /// Work that has time tells everything to a slower reader, and does not wait for ever for one that has gone.
    #[test]
    fn who_has_time_waits_for_a_reader_as_long_as_it_reads() {
        let all = 3 * KEPT;
        let mut written = 0;
        let teller = Teller { has_time: true, ..Teller::default() };
        let body = || (0..all).for_each(|_| teller.say(Note, "x"));
        telling(&teller, &mut |_| written += 1, &mut io::sink(), Box::new(body));
        assert_eq!(written, all);
        let teller = Teller { has_time: true, ..Teller::default() };
        let began = Instant::now();
        (0..all).for_each(|_| teller.say(Note, "x"));
        let waiting = teller.lock();
        assert_eq!((waiting.lines.len(), waiting.left_out), (KEPT, all - KEPT));
        assert!(began.elapsed() < 10 * PATIENCE, "{:?}", began.elapsed());
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

    /// The output on the screen, and the messages in between.
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
        let teller = Teller::default();
        let body = || {
            teller.draw("a\nb".to_owned());
            taken(&teller);
            teller.draw("c".to_owned());
            taken(&teller);
            teller.say(Note, "message");
            taken(&teller);
            teller.draw("d".to_owned());
            taken(&teller);
            teller.draw(String::new());
        };
        let mut tell = |line: &str| lines.0.lock().unwrap().push(line.to_owned());
        telling(&teller, &mut tell, &mut shown.clone(), Box::new(body));
        let expected =
            [redraw(0, "a\nb"), redraw(2, "c"), redraw(1, ""), "message".to_owned(), redraw(0, "d"), redraw(1, "")];
        assert_eq!(*shown.0.lock().unwrap(), expected);
    }

    /// A screen without an end.
    #[derive(Default)]
    struct Terminal {
        lines: Vec<String>,
        row: usize,
        column: usize,
    }

    impl Terminal {
        fn print(&mut self, output: &str) {
            let mut rest = output.chars();
            while let Some(c) = rest.next() {
                self.lines.resize(self.lines.len().max(self.row + 1), String::new());
                match c {
                    '\r' => self.column = 0,
                    '\n' => self.row += 1,
                    '\x1b' => {
                        let code: String = rest.by_ref().take_while(|c| !"AK".contains(*c)).collect();
                        match code.strip_prefix('[').unwrap() {
                            "" => self.lines[self.row].truncate(self.column),
                            rows => self.row -= rows.parse::<usize>().unwrap(),
                        }
                    }
                    _ => {
                        let mut line: Vec<char> = self.lines[self.row].chars().collect();
                        line.resize(line.len().max(self.column + 1), ' ');
                        line[self.column] = c;
                        self.lines[self.row] = line.into_iter().collect();
                        self.column += 1;
                    }
                }
            }
        }

        fn text(&self) -> String {
            self.lines.join("\n").trim_end().to_owned()
        }
    }

    #[test]
    fn lines_that_were_wrapped_are_counted() {
        let drawn = Drawn::of("\x1b[2mten chars!\x1b[0m\n\ntwenty-one characters\n");
        assert_eq!(drawn.0, [10, 0, 21]);
        let rows = |columns, lines| drawn.rows((columns, lines));
        assert_eq!([rows(usize::MAX, 24), rows(21, 24), rows(20, 24), rows(10, 24), rows(5, 24)], [3, 3, 4, 5, 8]);
        // What has left the screen cannot be reached.
        assert_eq!([rows(5, 8), rows(5, 3), rows(80, 3)], [7, 2, 2]);
        assert_eq!(Drawn::of("").rows((80, 24)), 0);
    }

    /// A screen that wraps what is there when it becomes narrower, as most do.
    #[test]
    fn a_window_that_shrinks_leaves_no_debris() {
        let old = Drawn::of("one two three\nfour five six\n");
        let mut terminal = Terminal::default();
        // As it is after wrapping at 7 columns: the cursor stands below.
        terminal.print("$ vecud\r\none two\r\n three\r\nfour fi\r\nve six\r\n");
        terminal.print(&redraw(old.rows((7, 24)), "one\nfour\n"));
        assert_eq!((terminal.text().as_str(), terminal.row), ("$ vecud\none\nfour", 3));
    }

    #[test]
    fn the_table_stays_where_it_is() {
        let mut terminal = Terminal::default();
        terminal.print("$ vecud\r\n");
        terminal.print(&redraw(0, "one\nthree\nfive\n"));
        terminal.print(&redraw(3, "1\n2\n3\n4\n"));
        assert_eq!(terminal.text(), "$ vecud\n1\n2\n3\n4");
        terminal.print("^C");
        terminal.print(&redraw(4, "less\n"));
        assert_eq!((terminal.text().as_str(), terminal.row), ("$ vecud\nless", 2));
        terminal.print(&redraw(1, ""));
        assert_eq!((terminal.text().as_str(), terminal.row), ("$ vecud", 1));
    }
}
