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
//! | crate | what it does | pure |
//! |---|---|---|
//! | `base` | types that refuse wrong arithmetic ([`time`], [`priority`]), places in texts, tables as text, orders | yes |
//! | `linux` ([`sys`]) | unsafe: scheduling, affinity, memory, sleep, shared memory, the preemption lock; files that others may have prepared | |
//! | `description` ([`fmu::description`]) | XML → data; values as words and bytes | yes |
//! | `fmu` ([`fmu`]) | archives, the cache, source builds, what libraries need | |
//! | `fmi` ([`ffi`]) | unsafe: function tables, instances, the callbacks that C calls | |
//! | `solver` ([`solver`], [`master`]) | differential equations integrated, with events; who of a group steps when, and how far | yes |
//! | `plan` ([`rig`], [`plan`], [`schedule`], [`snapshot`]) | TOML → what the user wants → the plan → activations due; a run that was left | yes |
//! | `record` ([`record`], [`control`], [`stimulus`], [`recording`]) | shared memory's layout, histograms, samples, log lines, signal files; commands; stimuli; recordings read | in part |
//! | `runner` ([`runner`], [`exchange`]) | joins FMU code, the operating system and a plan: real time, virtual time, shutdown; values and ticks between partitions, lock-free | |
//! | `report` ([`report`]) | what was measured → JSON, HTML, histograms, the table on the terminal; two runs side by side | yes |
//! | `host` ([`supervisor`], [`doctor`]) | a session: prepares a runner, watches it, reports events, writes what is left of a run; looks at the machine | |
//! | `daemon` | rigs by name, over HTTP | |
//! | `vecud` ([`cli`]) | one file per subcommand; the terminal and Ctrl-C; this face of all others | |
//!
//! The rule: a crate imports only what stands above it in this table, as its `Cargo.toml` says and the compiler holds. Pure modules
//! have no unsafe code, threads, clock or files; `fmi` and `linux` know nothing of rigs and plans; only `runner` joins them; unsafe code
//! is in `fmi` and `linux` and nowhere else. `tests/repository/architecture.rs` has the exact table of which module may import what, and
//! enforces what the compiler cannot.
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
//! | candidate | a unit that has no place in the order of all units yet | `plan::clocks::candidates` |
//! | task | what the schedule releases: a model partition, the steps of an FMU, or those of a group | [`plan::TaskPlan`] |
//! | group, member | FMUs that make their steps together, in one task; the steps of one of them | [`plan::GroupPlan`] |
//! | unit | what computes, and has figures and samples: a partition, or the steps of one FMU; its code, which sets, computes and gets | [`plan::UnitPlan`], `runner::unit` |
//! | release | the instant at which a task should start, or what brings it | [`plan::Release`] |
//! | level | priority within an instance, 0 the most urgent; levels of an instance may share a FIFO priority | [`plan::UnitPlan::level`] |
//! | class | candidates of one level, while the order is made | `plan::priorities` |
//! | connection, link | an output that feeds an input; a link is one whose ends are found | [`plan::ConnectionPlan`] |
//! | batch | variables of one type that travel in one FMI call | [`plan::BatchPlan`], [`ffi::Batch`] |
//! | lane | tasks that may set the same variables | [`plan::LanePlan`] |
//! | stimulus | a file whose rows feed inputs and tick clocks | [`stimulus`] |
//! | word | a value as 64 bits, whatever its type | [`exchange::word`] |
//! | signal bundle | connections whose values travel together: the same calls read them, and the same calls set them | `runner::signal_bundles` |
//! | cell | where the value of one connection lies: its initial one, or a string or binary | [`exchange::Latest`] |
//! | board | shared memory in which the runner writes down what is measured, and the supervisor reads it | [`record::board`] |
//! | column | one recorded scalar, or one element of an array | [`plan::SignalPlan`] |
//! | moment | an activation worth remembering: the worst ones, overruns | [`record::moment`] |
//! | timeline | when one task is due next | [`schedule`] |
//! | slave | an FMU of a group, or several that are integrated as one, as a master algorithm sees it | [`master::Slaves`] |
//! | agenda | which task of all is due next, in virtual time | [`schedule`] |
//! | checkpoint | what is known of a run that goes on, written down | `supervisor::keeper` |
//! | finding | an offence of an FMU against the standard; in `doctor`, something that costs latency | [`record::findings`] |
//! | problem | what is wrong with a rig or a run: its place, or its kind and figures | [`rig::Diagnostic`], [`report::Problem`] |
//! | promise | signals that real time records with the same bytes as virtual time | [`plan::promise`] |
//! | draft | the text of FMI 3.0 of January 2021; always this, never an unfinished thing | [`fmu::description::Abi`] |
//! | lock member | a partition as the preemption lock sees it | [`sys::preemption::LockMember`] |
#![forbid(unsafe_code)]

pub mod cli;

pub use vecud_base::{priority, time};
#[cfg(feature = "daemon")]
pub use vecud_daemon as daemon;
pub use vecud_fmi as ffi;
pub use vecud_host as supervisor;
pub use vecud_host::doctor;
pub use vecud_linux as sys;
pub use vecud_plan as plan;
pub use vecud_plan::{rig, schedule, snapshot};
pub use vecud_record as record;
pub use vecud_record::{control, recording, stimulus};
pub use vecud_report as report;
pub use vecud_runner as runner;
pub use vecud_solver as solver;
pub use vecud_solver::master;

/// Archives, their cache, source builds; model descriptions.
pub mod fmu {
    pub use vecud_description as description;
    pub use vecud_fmu::*;
}

/// Values and ticks between partitions, lock-free; values as words and bytes.
pub mod exchange {
    pub use vecud_description::{bytes, word};
    pub use vecud_runner::exchange::*;
}

/// The examples of `docs/library.md` are run.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;
