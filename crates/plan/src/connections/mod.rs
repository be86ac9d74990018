//! Connections: their two ends, the conversion of a value on its way, and when it becomes visible (semantics S11).

pub mod delays;
pub mod links;
mod slopes;
pub mod timing;
mod units;
