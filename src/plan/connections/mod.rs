//! What a connection is: its two ends, what happens to a value on its way, and when it becomes visible (design S11).

pub mod conversion;
pub mod delays;
mod ends;
pub mod links;
pub mod resolve;
pub mod timing;
mod units;
