//! The command line: one file per subcommand. Results go to stdout, diagnostics to stderr.

#![forbid(unsafe_code)]

mod browser;
mod call;
mod check;
mod commands;
#[cfg(feature = "daemon")]
mod ctl;
#[cfg(feature = "daemon")]
mod daemon;
mod diagnostics;
mod doctor;
mod excerpt;
mod inspect;
mod interruption;
mod made;
mod nearby;
mod new;
mod numbers;
mod opening;
mod orphans;
mod plot;
mod preview;
mod report;
mod results;
mod run;
mod setup;
mod simulate;
mod starts;
mod terminal;
mod validate;

pub use commands::main;
