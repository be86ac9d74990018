//! Orders of what depends on each other: tasks and FMUs by who feeds whom, variables by what they are computed from.
//!
//! Nodes are numbers from 0, edges lead from what comes before to what comes after. Guarantees: the answer depends on these
//! numbers alone, and takes time that grows with the nodes and edges, not with their squares; no chain is too long for the stack.

#![forbid(unsafe_code)]

mod cycles;
mod order;

pub use cycles::Cycles;
pub use order::constrained;
