//! Which partitions are activated, when and how often, in both modes: the whole program on rigs of small FMUs.

mod clock_kinds;
mod counts;
mod derivatives;
mod draft;
mod draft_payload;
mod engine;
mod overruns;
mod policies;
mod tunable_intervals;
mod waiting;
