//! `vecud ctl`: asks a daemon for something.
//!
//! Exit codes are those of `vecud run`: 2 says that what was asked for is wrong, 1 that it is right and has failed, or that there is no
//! daemon; who stops a run, or asks for its report, gets the run's own.

mod arguments;
mod client;
mod events;
mod failure;
mod files;
mod requests;
mod settings;
mod show;

pub use arguments::Arguments;
pub use requests::run;
