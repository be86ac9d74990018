//! Virtual time: all timelines in one order.
//!
//! Activations come out ordered by (time, merged order of the tasks), so a run is repeatable byte for byte (semantics S15).
//!
//! Tasks that are due at the same instant are bits in one set, so that their order costs nothing. They come into it by
//! [grids](shared_grids) that many tasks share, or by [groups](groups) of an instant, one by one.
//!
//! Why this and no heap with an entry (instant, task) for each task: to take an activation of periodic clocks costs the
//! nanoseconds below, the least of nine rounds of two million on two shared cores of an AMD EPYC, 23 November 2026. A whole
//! activation in virtual time, calls into the FMU included, takes 15 to 44 ns (bench/README.md).
//!
//! | clocks | agenda | `BinaryHeap` |
//! |---|---|---|
//! | 1 of 1 ms | 7 | 34 |
//! | 10 from 1 ms to 1 s | 12 | 41 |
//! | 10 of 1 s | 2.5 | 42 |
//! | 1,000 with 10 periods from 1 ms to 1 s | 2 | 127 |
//! | 1,000 of 1 s | 2 | 79 |
//! | 1,000 with as many periods, 1 to 2 ms | 54 | 130 |

mod activations;
mod groups;
mod queue;
mod shared_grids;

pub use activations::Agenda;
pub use shared_grids::Instants;

#[cfg(test)]
mod tests;
