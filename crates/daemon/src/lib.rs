//! `vecud daemon`: rigs by name, each of which runs as a [`Session`](vecud_host::Session), for all users with access to
//! a socket, or over TCP with a token.
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! Guarantees:
//!
//! - A request touches no thread that partitions run on: figures are read from shared memory, and long work is done by
//!   separate threads.
//! - Rigs are isolated: the failure of one of them, or requests to it, do not affect the others.
//! - Any number of concurrent requests takes bounded memory and processors, and a rig can be stopped.
//! - The wanted state of each rig is on the disk before a request for it is confirmed.
//!
//! ```text
//! listen ──► api ──► Rigs ──► Rig ──► vecud_host::Session
//!                    │ └────► Store (the state folder)
//!                    └──────► service (what systemd is told)
//! ```

#![forbid(unsafe_code)]

mod api;
mod condition;
mod cores;
mod definition;
mod events;
mod listen;
mod log;
mod metrics;
mod name;
mod orphans;
mod restart;
mod rig;
mod rigs;
mod runs;
mod serve;
mod service;
mod settings;
mod status;
mod store;
mod tally;
mod token;
mod waits;

pub use api::Access;
pub use log::{DaemonLine, DaemonLog};
pub use name::RigName;
pub use serve::serve;
pub use settings::{DaemonSettings, SocketAt};
pub use token::Token;
