//! What variables get that no other FMU computes: start values, files of stimuli, commands; and what Initialization Mode
//! makes of them.

pub mod control;
pub mod elements;
pub mod initial;
pub mod own_starts;
pub mod start_values;
pub mod stimuli;
