//! `vecud daemon` as its clients see it: what it answers, what is on the disk, and what becomes of its rigs.
#![cfg(feature = "daemon")]

#[path = "../program/mod.rs"]
mod program;

mod client;
mod events;
mod requests;
mod rigs;
mod signals;
mod start;
mod ticks;
mod waits;
