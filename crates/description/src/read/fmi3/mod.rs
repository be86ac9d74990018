//! Reads descriptions of FMI 3.0 and of its draft, section by section.

mod clocks;
mod dialect;
mod interface;
mod references;
mod root;
mod structure;
mod types;
mod variables;

pub(super) use self::dialect::RELEASED;
pub(super) use self::root::read;
