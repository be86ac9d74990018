//! Descriptions of every version of FMI: what is read, what is refused, and how long it takes.

mod breaches;
mod corpus;
mod draft;
mod earlier;
mod errors;
mod lenient;
#[allow(dead_code, reason = "each test uses a part of it")]
use crate::foreign;
mod released;
mod size;
