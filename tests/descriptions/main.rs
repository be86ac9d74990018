//! Descriptions of every version of FMI: what is read, what is refused, and how long it takes.

mod corpus;
mod draft;
mod earlier;
mod errors;
#[allow(dead_code, reason = "each test uses a part of it")]
#[path = "../foreign/mod.rs"]
mod foreign;
mod released;
mod size;
