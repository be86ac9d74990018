//! The C interfaces of FMI. Callers of an FMU do not ask for its C interface; `tests/repository/architecture.rs` names
//! the few that must know it.
//!
//! Each has a list of its functions (the meaning that all share, a [`Function`](crate::Function); the name in C; the signature;
//! the interface types that have it), from which its table is made (`tables`), and a [`CInterface`] for loading.
//!
//! Calls go through [`Functions`]. It has FMI 3.0's own functions, so that nothing lies between a call and the FMU. FMI
//! 2.0 and 1.0 fill it with adapters, and their instance in Rust is an [`adapter::Component`]. An adapter that cannot
//! express a call in its C interface calls nothing and answers [`NOT_CALLED`](crate::types::NOT_CALLED).

mod adapter;
mod birth;
mod c_interface;
mod draft;
mod fmi1;
mod fmi2;
mod fmi3;
mod functions;
mod input_derivatives;
mod interfaces;
mod logger;
mod model;
mod negated;
mod step;
mod table;
mod tables;
mod update;
mod version_calls;

pub(super) use self::birth::Birth;
pub(super) use self::c_interface::CInterface;
#[cfg(test)]
pub(super) use self::draft::CORE as DRAFT_CORE;
pub use self::functions::{Functions, VersionFunctions};
pub(super) use self::interfaces::{NEWEST, newest_name};
pub(super) use self::step::{RawStep, StepCall};
pub use self::tables::{
    DraftFunctions, Fmi1EventInfo, Fmi1Functions, Fmi1ModelCallbacks, Fmi1SlaveCallbacks, Fmi2Callbacks, Fmi2EventInfo,
    Fmi2Functions, Fmi3Functions,
};
pub(super) use self::update::RawUpdate;
