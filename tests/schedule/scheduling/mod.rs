//! Order, threads and time under the real scheduler, and random rigs in both modes.

mod ends;
mod plan_size;
mod random_rigs;
mod realtime_setup;
mod tracer_invariants;
mod where_the_time_went;
