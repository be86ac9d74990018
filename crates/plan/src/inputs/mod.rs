//! Values of variables that no other FMU computes: start values, files of stimuli, commands.

pub mod fed_starts;
pub mod own_starts;
pub mod start_values;
pub mod stimuli;
