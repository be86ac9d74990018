//! The table that refreshes in place on a terminal. In a pipe, or when asked to be quiet, nothing.

use crate::plan::{Plan, TaskId};
use crate::record::board::{Board, Global, Metric, TaskWord};
use crate::report::{self, LiveHeader, LiveRow, Scheduling, Screen};
use crate::sys::process::terminal_size;
use crate::time::Nanos;
use std::io::{Write, stderr};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// How often it is drawn anew.
const PERIOD: Duration = Duration::from_millis(200);

/// The table of one run, on stderr.
pub struct Progress<'a> {
    plan: &'a Plan,
    on: bool,
    lines: usize,
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
        let preempt_rt = super::machine::look(&[]).preempt_rt;
        Progress { plan, on, lines: 0, drawn: None, preempt_rt }
    }

    /// Draws it, if it is time to.
    pub fn draw(&mut self, board: Board) {
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
                    name: format!("{}.{}", self.plan.fmus[plan.fmu.0].name, plan.clock),
                    activations: cells.get(TaskWord::Activations),
                    overruns: cells.get(TaskWord::Overruns),
                    wakeup: cells.histogram(Metric::Wakeup).read(),
                    execution: cells.histogram(Metric::Execution).read(),
                }
            })
            .collect();
        let text = report::live(&header, &rows, Screen { columns, lines, color: wants_color() });
        self.clear();
        self.lines = text.lines().count();
        let _ = stderr().write_all(text.as_bytes());
    }

    /// Takes it off the screen, so that something else can be written.
    pub fn clear(&mut self) {
        if self.lines > 0 {
            let _ = write!(stderr(), "\x1b[{}A\r\x1b[J", self.lines);
            self.lines = 0;
        }
    }
}

/// How the runner schedules.
pub fn scheduling(board: Board) -> Scheduling {
    match board.global(Global::Scheduling).load(SeqCst) {
        1 => Scheduling::Fifo,
        3 => Scheduling::Virtual,
        _ => Scheduling::Cooperative,
    }
}
