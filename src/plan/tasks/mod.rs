//! What a task is besides its release and its priority: the variables that it sets and reads, and the name of its thread.

pub mod batches;
pub mod names;
pub mod owners;
