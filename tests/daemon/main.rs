//! `vecud daemon` as its clients see it: what it answers, what is on the disk, and what becomes of its rigs.
#![cfg(feature = "daemon")]

#[path = "../program/mod.rs"]
mod program;

mod activation;
mod attacks;
mod client;
mod cores;
mod ctl;
mod described;
mod disk;
mod ends;
mod events;
mod exposition;
mod hostile;
mod links;
mod load;
mod metrics;
mod monitoring;
mod orphans;
mod pause;
mod permissions;
mod requests;
mod rigs;
mod served;
mod service;
mod signals;
mod start;
mod tcp;
mod ticks;
mod waits;
