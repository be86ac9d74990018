//! `vecud` runs virtual ECUs (FMI 3.0 Scheduled Execution) in real time.
//!
//! Data flows one way; each stage hands an immutable value to the next.
//!
//! ```text
//! rig file ──► rig ───────────────────┐
//! .fmu ──► fmu::archive ──► fmu::description ──► plan ──► runner (realtime | virtual) ──► record ──► report
//! ```
//!
//! Two processes. The *supervisor* is what the user started; the *runner* is its child, loads FMU code and holds the
//! partition threads. What is measured lies in shared memory that both map, so nothing is lost when FMU code crashes:
//!
//! ```text
//!  supervisor (ordinary process)                 runner (real-time threads, memory locked)
//!  ┌────────────────────────────┐    plan    ┌──────────────────────────────────────────────┐
//!  │ rig, fmu → plan            │ ─────────► │ one thread per input clock: set, activate,   │
//!  │ table, signals, report     │            │ get; routes ticks; the preemption lock       │
//!  └─────────────▲──────────────┘            └───────────────────────┬──────────────────────┘
//!                └──────── shared memory: counters, histograms, ◄────┘
//!                          samples, log lines
//! ```
//!
//! | module | what it does | pure |
//! |---|---|---|
//! | [`cli`] | one file per subcommand; the terminal and Ctrl-C | |
//! | [`supervisor`] | a session: prepares a runner, watches it, reports events, writes what is left of a run | |
//! | [`runner`] | joins FMU code, the operating system and a plan: real time, virtual time, shutdown | |
//! | [`doctor`] | looks at the machine and says what costs latency and what changes it | rules and output |
//! | [`report`] | what was measured → JSON, HTML, histograms, the table on the terminal; two runs side by side | yes |
//! | [`record`] | shared memory's layout, histograms, samples, log lines, signal files | |
//! | [`recording`] | reads what was recorded, and what others have written: rows of `signals.csv`, `signals.mcap`, CSV | yes |
//! | [`control`] | commands that set values in a running FMU, as words in shared memory | yes |
//! | [`exchange`] | values and ticks between partitions, lock-free | |
//! | [`snapshot`] | a run that was left, to be taken up again: FMU states and the host's bookkeeping | yes |
//! | [`stimulus`] | rows of a file that feed inputs and tick clocks; what an activation gets of them | yes |
//! | [`schedule`] | (plan, time, event) → activations due; the same code in both modes | yes |
//! | [`plan`] | the rig resolved against the descriptions: priorities, cores, connections, worst responses | yes |
//! | [`rig`] | TOML → what the user wants, strictly checked | yes |
//! | [`ffi`] | unsafe: function tables, instances, the callbacks that C calls | |
//! | [`fmu`] | archives, the cache, source builds; [`fmu::description`]: XML → data | description |
//! | [`sys`] | unsafe: scheduling, affinity, memory, sleep, shared memory, the preemption lock | |
//! | `files` | opens and makes files that others may have prepared | |
//! | `columns`, `plain` | tables as text; texts of others as people see them | yes |
//! | [`time`], [`priority`], `places` | types that refuse wrong arithmetic; lines and columns | yes |
//!
//! The rule: imports point only downward in this table's meaning. Pure modules have no unsafe code, threads, clock or
//! files; `ffi` and `sys` know nothing of rigs and plans; only `runner` joins them; unsafe code is in `ffi` and `sys` and
//! nowhere else. `tests/repository/architecture.rs` has the exact table of who may import what, and enforces it.
#![warn(missing_docs)]
#![warn(clippy::undocumented_unsafe_blocks)]

pub mod cli;
mod columns;
pub mod control;
pub mod doctor;
pub mod exchange;
pub mod ffi;
mod files;
pub mod fmu;
mod places;
mod plain;
pub mod plan;
pub mod priority;
pub mod record;
pub mod recording;
pub mod report;
pub mod rig;
pub mod runner;
pub mod schedule;
pub mod snapshot;
pub mod stimulus;
pub mod supervisor;
pub mod sys;
pub mod time;
