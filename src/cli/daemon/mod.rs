//! `vecud daemon`: serves until somebody asks for its end.

mod command;
mod given;
mod journal;
mod log;

pub use command::{Arguments, default_socket, run};
