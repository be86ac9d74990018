//! Values that are set while a run goes on, through the library (requirements X22, CF-01 to CF-06, rows 39 and 66), on
//! `fmus/structural`, which answers Error to whatever an importer does in a wrong state.

#[path = "../program/mod.rs"]
mod program;

mod bench;
mod failures;
mod no_allocation;
mod refused;
mod runs;
mod set;
mod structural;
