//! What a connection is: its two ends, what happens to a value on its way, and when it becomes visible (semantics S11).

pub mod delays;
pub mod links;
mod slopes;
pub mod timing;
mod units;
