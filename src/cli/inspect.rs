//! `vecud inspect`: what is inside of an FMU, without loading its code.

mod command;
mod fit;
mod graph;
mod names;
mod only;
mod render;
mod save;
mod tree;
mod view;

pub use command::{Arguments, run};
