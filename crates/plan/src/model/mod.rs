//! The data of a plan: every stage of the planning makes a part of it, and the code that runs or shows a plan reads it.

mod batch;
mod clock;
mod connection;
mod control;
pub mod conversion;
mod figures;
mod fmu;
mod host;
mod id;
mod initialisation;
pub(crate) mod length;
mod master;
mod plan;
mod record;
mod recorded;
mod stimulus;
mod task;
mod trace;

pub use self::batch::*;
pub use self::clock::*;
pub use self::connection::*;
pub use self::control::*;
pub use self::figures::*;
pub use self::fmu::*;
pub use self::host::*;
pub use self::id::*;
pub use self::initialisation::*;
pub use self::length::{Length, SizePlan};
pub use self::master::*;
pub use self::plan::*;
pub use self::record::*;
pub use self::stimulus::*;
pub use self::task::*;
pub use self::trace::*;
pub use crate::rig::{
    DatagramAddress, EndpointSource, Extrapolation, Format, GetIntervals, HostClock, Interpolation, Limits,
    MessageEncoding, Mode, OnError, OnNan, OnWarning, OpenEndpoint, Overrun, Rotation, Rule, Solver, StepSize, Timing,
    TraceMode, TriggerTime,
};
