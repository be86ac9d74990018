//! What activates which input clock, and when: periods, lists of times, output clocks, datagrams, stimuli.

pub mod causes;
pub mod clocked_clocks;
mod cycles;
pub mod datagrams;
pub mod drafts;
pub mod triggers;
pub mod waiting;
