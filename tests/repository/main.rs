//! What must hold of the repository itself: its shape, its documents, its examples, its unit for systemd.

mod architecture;
mod documents;
mod examples;
mod schema;
#[path = "../source/mod.rs"]
mod source;
mod systemd_unit;
