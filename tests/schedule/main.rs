//! Scheduled Execution: which partition is activated when, with which values, in real time and in virtual time.

#[path = "../program/mod.rs"]
mod program;

mod activations;
mod clock_rules;
mod control;
mod datagrams;
mod exchange;
mod preemption_model;
mod preemption_real;
mod promise;
mod requirements;
mod scheduling;
mod state;
mod stimulus;
mod stress;
mod three_input_clocks;
