//! The table that refreshes in place on a terminal. In a pipe, or when asked to be quiet, nothing.

use super::teller::Teller;
use crate::doctor::Tree;
use crate::doctor::facts::Kernel;
use crate::plan::{Plan, TaskId};
use crate::record::board::{Board, Global, Metric, TaskWord};
use crate::report::{self, LiveHeader, LiveRow, Scheduling, Screen};
use crate::sys::process::terminal_size;
use crate::time::Nanos;
use std::io::{Write, stderr};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is drawn anew.
const PERIOD: Duration = Duration::from_millis(200);

/// How often it is said that work goes on which takes long.
const SAID: Duration = Duration::from_secs(10);

/// Runs `work`, which may take long (a compiler may be at it), under a line that says what it is, on a terminal; elsewhere, and
/// there too, a line each 10 s says that it goes on, if there is a thread to say it.
pub fn under_way<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let shown = terminal_size(stderr().as_fd()).is_some();
    let (begin, clear) = (Instant::now(), if shown { "\r\x1b[K" } else { "" });
    let show = || drop(shown.then(|| write!(stderr(), "{what} ...")));
    show();
    let (done, is_done) = mpsc::channel::<()>();
    let result = thread::scope(|scope| {
        let teller = move || {
            while is_done.recv_timeout(SAID) == Err(RecvTimeoutError::Timeout) {
                let _ = writeln!(stderr(), "{clear}{what}: for {} s", begin.elapsed().as_secs());
                show();
            }
        };
        let _ = thread::Builder::new().name("vecud.teller".to_owned()).spawn_scoped(scope, teller);
        let result = work();
        drop(done);
        result
    });
    let _ = write!(stderr(), "{clear}");
    result
}

/// The table of one run, on stderr.
pub struct Progress<'a> {
    plan: &'a Plan,
    on: bool,
    drawn: Option<Instant>,
    preempt_rt: bool,
}

/// Whether the terminal behind stderr wants colours.
pub fn wants_color() -> bool {
    std::env::var_os("NO_COLOR").is_none() && std::env::var("TERM").is_ok_and(|term| term != "dumb")
}

impl<'a> Progress<'a> {
    /// A table that is drawn if stderr is a terminal.
    pub fn new(plan: &'a Plan, quiet: bool) -> Self {
        let on = !quiet && terminal_size(stderr().as_fd()).is_some();
        let preempt_rt = Kernel::read(&Tree::of_this_machine()).preempt_rt;
        Progress { plan, on, drawn: None, preempt_rt }
    }

    /// Draws it, if it is time to.
    pub fn draw(&mut self, board: Board, teller: &Teller) {
        if !self.on || self.drawn.is_some_and(|drawn| drawn.elapsed() < PERIOD) {
            return;
        }
        let Some((columns, lines)) = terminal_size(stderr().as_fd()) else { return };
        self.drawn = Some(Instant::now());
        let start = self.plan.start.nanos();
        let reached = Nanos(board.global(Global::Reached).load(SeqCst) as i64);
        let header = LiveHeader {
            rig: &self.plan.rig,
            elapsed: reached.seconds(),
            stop: self.plan.stop.map(|stop| stop.nanos().minus(start).seconds()),
            scheduling: scheduling(board),
            preempt_rt: self.preempt_rt,
        };
        let rows: Vec<LiveRow> = self
            .plan
            .tasks
            .iter()
            .enumerate()
            .map(|(task, plan)| {
                let cells = board.task(TaskId(task));
                LiveRow {
                    name: self.plan.full_name(plan),
                    activations: cells.get(TaskWord::Activations),
                    overruns: cells.get(TaskWord::Overruns),
                    wakeup: cells.histogram(Metric::Wakeup).read(),
                    execution: cells.histogram(Metric::Execution).read(),
                }
            })
            .collect();
        // One line less than there are: the cursor stands below the table.
        let screen = Screen { columns, lines: lines.saturating_sub(1), color: wants_color() };
        teller.draw(report::live(&header, &rows, screen));
    }
}

/// What replaces the `rows` lines above the cursor by `text`; the cursor stands below both.
///
/// Line by line: nothing flickers, and the screen is never erased from its top, which some terminals take for a wish to
/// keep what was there in the history. A terminal that has become narrower may have wrapped the old lines; then some of
/// them stay, since going up further could erase what others have written.
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

/// How the runner schedules.
pub fn scheduling(board: Board) -> Scheduling {
    match board.global(Global::Scheduling).load(SeqCst) {
        1 => Scheduling::Fifo,
        3 => Scheduling::Virtual,
        _ => Scheduling::Cooperative,
    }
}

#[cfg(test)]
mod tests {
    use super::redraw;

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
