//! `vecud new`: a working start for an FMU or a rig.
//!
//! Existing files are not touched, and an incomplete result leaves nothing behind ([`super::made`]).

mod command;
mod fmu;
mod rig;

pub use command::{Arguments, run};
