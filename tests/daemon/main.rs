//! `vecud daemon` as its clients see it: what it answers, what is on the disk, and what becomes of its rigs.
#![cfg(feature = "daemon")]

#[path = "../program/mod.rs"]
mod program;

mod activation;
mod client;
mod cores;
mod ctl;
mod exposition;
mod hostile;
mod metrics;
mod monitoring;
mod pause;
mod requests;
mod rigs;
mod service;
mod start;
mod tcp;
