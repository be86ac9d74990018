//! `vecud simulate`: one FMU by itself in virtual time, its outputs as CSV.

mod command;
mod plot;
mod reference;

pub use command::{Arguments, InterfaceArgument, deviation, keep_apart, run};
