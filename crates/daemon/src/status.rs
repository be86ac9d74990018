//! Public status of a rig.

use super::name::RigName;
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;
use utoipa::ToSchema;
use vecud_report::{CheckProblem, Problem, Run, Severity, exit_code};

/// State of a rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RigState {
    /// The rig does not run. The last run, if there was one, succeeded, or exceeded a limit.
    Idle,
    /// FMUs are opened, loaded and initialised.
    Preparing,
    /// Partitions are activated, and steps made.
    Running,
    /// All released activations have completed, no others are released, and simulation time stands still.
    Paused,
    /// No new activation begins, FMUs are terminated, and the report is written.
    Stopping,
    /// The rig does not run: the last run failed, or could not begin.
    Failed,
}

impl RigState {
    /// All states.
    pub const ALL: [RigState; 6] = [
        RigState::Idle,
        RigState::Preparing,
        RigState::Running,
        RigState::Paused,
        RigState::Stopping,
        RigState::Failed,
    ];

    /// The word for it, as in the status.
    pub fn word(self) -> &'static str {
        match self {
            RigState::Idle => "idle",
            RigState::Preparing => "preparing",
            RigState::Running => "running",
            RigState::Paused => "paused",
            RigState::Stopping => "stopping",
            RigState::Failed => "failed",
        }
    }
}

/// Verdict on a run, as in report.json.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The run succeeded.
    Pass,
    /// The run failed, or exceeded a limit.
    Fail,
}

/// Status of a rig.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Status)]
pub struct RigStatus {
    /// The rig.
    pub name: RigName,
    /// State of the rig.
    pub state: RigState,
    /// Verdict on the last run that is over; null: there was none.
    pub verdict: Option<Verdict>,
    /// Exit code of the last run, as of `vecud run`: 0 success, 1 failure, 2 it could not begin, 3 an exceeded limit.
    pub exit_code: Option<u8>,
    /// Time of the last change of state (RFC 3339).
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// The present run, or the last one; null: there was none.
    pub run: Option<String>,
    /// The run of which `verdict` and `exit_code` are; null: that one could not begin, or there was none.
    pub last_run: Option<String>,
    /// When the rig starts anew, since its last run has failed (RFC 3339); null: it does not.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub restart_at: Option<Timestamp>,
    /// So often it has started anew in a row, since its runs have failed.
    pub restarts: u32,
    /// Why the last run could not begin; or why it has failed, and which limits it has exceeded.
    pub problems: Vec<Mistake>,
    /// The last run has come to activations or steps.
    #[serde(skip)]
    pub has_begun: bool,
}

impl RigStatus {
    /// A rig that has not run yet.
    pub fn new(name: RigName) -> RigStatus {
        let (state, since) = (RigState::Idle, Timestamp::now());
        let (verdict, exit_code, run, last_run, restart_at) = Default::default();
        let (restarts, problems, has_begun) = Default::default();
        RigStatus { name, state, verdict, exit_code, since, run, last_run, restart_at, restarts, problems, has_begun }
    }

    /// The rig is in another state.
    pub fn enter(&mut self, state: RigState) {
        if self.state != state {
            (self.state, self.since) = (state, Timestamp::now());
        }
        self.has_begun |= matches!(state, RigState::Running | RigState::Paused);
    }

    /// Takes the end of a run with these facts.
    pub fn leave(&mut self, run: &Run) {
        self.last_run.clone_from(&self.run);
        let code = exit_code(run);
        // It may have been over before anybody has looked.
        self.has_begun |= code != 1 || run.clocks.iter().any(|clock| clock.activations > 0);
        self.exit_code = Some(code);
        self.verdict = Some(if code == 0 { Verdict::Pass } else { Verdict::Fail });
        let counts = |problem: &&Problem| matches!(problem.severity, Severity::Failure | Severity::Limit);
        self.problems = run.problems.iter().filter(counts).map(|problem| Mistake::said(problem.message())).collect();
        self.enter(if code == 1 { RigState::Failed } else { RigState::Idle });
    }

    /// Whether the last run could not begin, so that another rig file may help.
    pub fn could_not_begin(&self) -> bool {
        self.state == RigState::Failed && self.exit_code == Some(2)
    }

    /// Whether the last start has come to an end, good or bad: its run has begun, or is over before.
    pub fn is_decided(&self) -> bool {
        self.has_begun || matches!(self.state, RigState::Idle | RigState::Failed)
    }

    /// Why the last start has come to no run.
    pub fn obstacles(&self) -> Option<&[Mistake]> {
        (self.state == RigState::Failed && !self.has_begun).then_some(&self.problems)
    }

    /// Whether a run goes on, or is to begin.
    pub fn is_busy(&self) -> bool {
        !matches!(self.state, RigState::Idle | RigState::Failed) || self.restart_at.is_some()
    }
}

/// A mistake in a rig, in the form of `vecud check --json`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Mistake {
    /// File that has to change; null: none.
    pub file: Option<String>,
    /// The line in it, counted from 1.
    pub line: Option<u32>,
    /// The column, counted from 1.
    pub column: Option<u32>,
    /// The mistake, and its remedy.
    pub message: String,
}

impl Mistake {
    /// Makes a mistake without a place in a file.
    pub fn said(message: String) -> Mistake {
        Mistake { file: None, line: None, column: None, message }
    }

    /// Leaves the beginning of a very long message, which quotes what is wrong.
    pub fn shorten(&mut self) {
        const LONGEST: usize = 4096;
        if self.message.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|end| self.message.is_char_boundary(*end));
            self.message.truncate(end.unwrap_or(0));
            self.message.push('…');
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
            for place in [self.line, self.column].into_iter().flatten() {
                write!(f, "{place}:")?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.message)
    }
}

impl From<CheckProblem> for Mistake {
    fn from(CheckProblem { file, line, column, message }: CheckProblem) -> Mistake {
        Mistake { file, line, column, message }
    }
}
