//! Orders by dependency: tasks and FMUs by their connections, variables by the variables that they are computed from.
//!
//! Nodes are numbers from 0, edges lead from a node to one that comes after it. Guarantees: the answer depends on these numbers
//! alone, and takes time that grows with the nodes and edges, not with their squares; no chain is too long for the stack.

#![forbid(unsafe_code)]

mod cycles;
mod order;

pub use cycles::Cycles;
pub use order::constrained;
