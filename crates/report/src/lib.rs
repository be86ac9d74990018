//! Recording → report: pure functions from a finished [`Run`] to the files that people and tools read.
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! | function | file | for whom |
//! |---|---|---|
//! | [`json`] | `report.json` | scripts and CI; the fields of docs/report.md |
//! | [`checkpoint`] | `checkpoint.json` | whoever wants to know of a run that goes on, or was killed |
//! | [`html`] | `report.html` | people; one file, no network, no script |
//! | [`junit`] | `junit.xml` | CI servers |
//! | [`cyclictest`] | `cyclictest.json` | tools for `cyclictest --json`; in real time only |
//! | [`hlog`] | `histograms.hlog` | HdrHistogram's log tools |
//! | [`hgrm`] | `<fmu>.<clock>.<metric>.hgrm` | HdrHistogram's plotter |
//! | [`check_json`] | `vecud check --json` | scripts, before anything runs |
//! | [`Validation`] | `vecud validate`, `--json` | whoever got an FMU, and scripts |
//! | [`live`], [`summary`] | the terminal | whoever waits for the run |
//!
//! [`plot_html`] and [`plot_svg`] draw recordings alone.
//!
//! [`trends`] puts many runs beside each other. [`ReportFile`] is the way back: `report.json` and `histograms.hlog` → [`Run`]. [`compare`] puts two runs side by side.
//!
//! No files, no clock: everything that a page says is in the [`Run`], so that a report can be rebuilt from a recording
//! and compared byte for byte.
//!
//! ```
//! use vecud_report as report;
//!
//! let run = report::sample(7);
//! let page = report::html(&run);
//! assert!(page.starts_with("<!doctype html>") && page.contains("ecu.task_10ms"));
//! let json: serde_json::Value = serde_json::from_str(&report::json(&run)).unwrap();
//! assert_eq!(json["clocks"][0]["start_latency"]["count"], 7_000);
//! ```

#![forbid(unsafe_code)]

mod causes;
pub mod chart;
mod check;
pub mod compare;
mod cyclictest;
mod datagrams;
mod distribution;
mod doctor;
mod ellipsis;
mod end;
mod file;
mod finding;
pub mod format;
mod hgrm;
mod hints;
mod hlog;
mod html;
mod junit;
mod kernel;
mod layout;
mod limits;
mod markup;
mod measured;
mod message;
mod metrics;
mod overruns;
mod pauses;
mod problem;
mod problem_object;
mod read;
mod run;
mod sample;
mod schedulability;
mod since;
mod step_counts;
mod steps;
mod stimuli;
mod table;
mod trace;
mod trends;
mod validation;
mod values;
mod verdict;
mod words;

pub use causes::{ActivationResult, Causes, KernelCounters, OtherClock, OverrunResult, PartsResult, ThreadCounts};
pub use check::{CheckProblem, Checked, check_json};
pub use cyclictest::cyclictest;
pub use distribution::{Distribution, Slice, Statistics};
pub use doctor::{DoctorFinding, DoctorResult, ProbeResult};
pub use end::{End, Ended, FmuStatus};
pub use file::{FORMAT_VERSION, checkpoint, json};
pub use finding::FindingResult;
pub use hgrm::{hgrm, hgrms, is_hgrm};
pub use hints::hints;
pub use hlog::hlog;
pub use html::{Plot, Plotted, comparison_html, html, plot_html, plot_svg, trends_html};
pub use junit::junit;
pub use kernel::{CoreCounts, KernelTrace, KernelWork, Served};
pub use limits::{Measured, Unreturned, exceeded, judge};
pub use measured::measured;
pub use overruns::cause as overrun_cause;
pub use pauses::{PauseResult, Pauses};
pub use problem::{Broken, FailureKey, Kind, LimitKey, Problem, Severity, Subject, Topic};
pub use read::{ReadError, ReportFile};
pub use run::*;
pub use sample::sample;
pub use schedulability::{PredictedFrom, Schedulability};
pub use step_counts::{IntegrationCounts, StepCounts};
pub use table::{Live, LiveActivation, LiveRow, Screen, live, summary};
pub use trace::{Picture, TraceFile, TraceResult};
pub use trends::{TrendClock, TrendPoint, TrendRun, Trends, trends, trends_json};
pub use validation::{Check, CheckOutcome, Remark, Validation, Weight};
pub use values::LiveValue;
pub use verdict::{exit_code, passed};
