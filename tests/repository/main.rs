//! What must hold of the repository itself: its shape, its documents, its examples, its unit for systemd.

mod architecture;
mod circles;
mod contract;
mod crates;
mod documents;
mod examples;
mod folders;
#[path = "../program/schema.rs"]
mod json_schema;
mod names;
mod schema;
#[path = "../source/mod.rs"]
mod source;
mod systemd_unit;
mod users;
