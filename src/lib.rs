//! `vecud` runs virtual ECUs (FMI 3.0 Scheduled Execution) in real time.
//!
//! Data flows one way; each stage hands an immutable value to the next.
//!
//! ```text
//! rig file ──► rig ───────────────────┐
//! .fmu ──► fmu::archive ──► fmu::description ──► plan ──► runner (realtime | virtual) ──► record ──► report
//! ```
//!
//! Comments name what had to be decided as *semantics S1* to *S26* and *S34*: docs/semantics.md says what they are.
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
//! | [`recording`] | reads what was recorded, and what others have written: rows of `signals.csv`, `signals.mcap`, `signals.arrows`, CSV | yes |
//! | [`control`] | commands that set values in a running FMU, as words in shared memory | yes |
//! | [`exchange`] | values and ticks between partitions, lock-free | |
//! | [`snapshot`] | a run that was left, to be taken up again: FMU states and the host's bookkeeping | yes |
//! | [`stimulus`] | rows of a file that feed inputs and tick clocks; what an activation gets of them | yes |
//! | [`master`] | who of a group steps when, and how far: master algorithms, algebraic loops | yes |
//! | [`schedule`] | (plan, time, event) → activations due; the same code in both modes | yes |
//! | [`solver`] | differential equations integrated, with events | yes |
//! | [`plan`] | the rig resolved against the descriptions: priorities, cores, connections, worst responses | yes |
//! | [`rig`] | TOML → what the user wants, strictly checked | yes |
//! | [`ffi`] | unsafe: function tables, instances, the callbacks that C calls | |
//! | [`fmu`] | archives, the cache, source builds; [`fmu::description`]: XML → data | description |
//! | [`sys`] | unsafe: scheduling, affinity, memory, sleep, shared memory, the preemption lock | |
//! | `files` | opens and makes files that others may have prepared | |
//! | `graph` | orders of what depends on each other | yes |
//! | `columns`, `plain` | tables as text; texts of others as people see them | yes |
//! | [`time`], [`priority`], `places` | types that refuse wrong arithmetic; lines and columns | yes |
//!
//! The rule: imports point only downward in this table's meaning. Pure modules have no unsafe code, threads, clock or
//! files; `ffi` and `sys` know nothing of rigs and plans; only `runner` joins them; unsafe code is in `ffi` and `sys` and
//! nowhere else. `tests/repository/architecture.rs` has the exact table of who may import what, and enforces it.
//!
//! # Words
//!
//! The standard's words mean what they mean there: *instance*, *model partition*, *input clock*, *output clock*, *activation*,
//! *activation time*, *tick*. Ours:
//!
//! | word | meaning | where |
//! |---|---|---|
//! | rig | one TOML file: FMUs, how they are connected, where they run | [`rig::Rig`] |
//! | plan | the rig resolved against the descriptions of its FMUs | [`plan::Plan`] |
//! | described FMU | an FMU of the rig with its description, while a plan is made | `plan::described` |
//! | candidate | a task that has no place in the order of all tasks yet | `plan::clocks::candidates` |
//! | task | what the schedule releases; so far a model partition | [`plan::TaskPlan`] |
//! | release | the instant at which a task should start, or what brings it | [`plan::Release`] |
//! | level | priority within an instance, 0 the most urgent; levels of an instance may share a FIFO priority | [`plan::TaskPlan::level`] |
//! | class | candidates of one level, while the order is made | `plan::priorities` |
//! | connection, link | an output that feeds an input; a link is one whose ends are found | [`plan::ConnectionPlan`] |
//! | batch | variables of one type that travel in one FMI call | [`plan::Batch`], [`ffi::Batch`] |
//! | lane | tasks that may set the same variables | [`plan::LanePlan`] |
//! | stimulus | a file whose rows feed inputs and tick clocks | [`stimulus`] |
//! | word | a value as 64 bits, whatever its type | [`exchange::word`] |
//! | unit | the FMU code of one task: it sets, computes and gets | `runner::unit` |
//! | cable | where numbers travel that are read in the same calls, and set in the same calls | `runner::cables` |
//! | cell | where the value of one connection lies: its initial one, or a string or binary | [`exchange::Latest`] |
//! | board | shared memory in which the runner writes down what is measured, and the supervisor reads it | [`record::board`] |
//! | column | one recorded scalar, or one element of an array | [`plan::SignalPlan`] |
//! | moment | an activation worth remembering: the worst ones, overruns | [`record::moment`] |
//! | timeline | when one task is due next | [`schedule`] |
//! | slave | an FMU of a group, or several that are integrated as one, as a master algorithm sees it | [`master::Slaves`] |
//! | agenda | which task of all is due next, in virtual time | [`schedule`] |
//! | checkpoint | what is known of a run that goes on, written down | `supervisor::keeper` |
//! | finding | an offence of an FMU against the standard; in `doctor`, something that costs latency | [`record::findings`] |
//! | problem | what is wrong with a rig or a run: its place, or its kind and figures | [`rig::Problem`], [`report::Problem`] |
//! | promise | signals that real time records with the same bytes as virtual time | [`plan::promise`] |
//! | draft | the text of FMI 3.0 of January 2021; always this, never an unfinished thing | [`fmu::description::Abi`] |
//! | lock member | a partition as the preemption lock sees it | [`sys::preemption::LockMember`] |
#![warn(missing_docs)]
#![warn(clippy::undocumented_unsafe_blocks)]

pub mod cli;
mod columns;
pub mod control;
#[cfg(feature = "daemon")]
pub mod daemon;
pub mod doctor;
pub mod exchange;
pub mod ffi;
mod files;
pub mod fmu;
mod graph;
pub mod master;
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
pub mod solver;
pub mod stimulus;
pub mod supervisor;
pub mod sys;
pub mod time;

/// The examples of `docs/library.md` are run.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;
