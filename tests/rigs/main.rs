//! Rigs that are wrong, FMUs that fail or do harm, machines and users that lack something: what is told, and what is left.

#[path = "../program/mod.rs"]
mod program;

mod bad_input;
mod confinement;
mod doctor;
mod failures;
mod hostile;
mod neighbours;
mod newcomer;
mod priorities;
mod privileges;
mod schedulability;
mod stray_writes;
