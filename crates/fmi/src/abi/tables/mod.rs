//! The tables of the functions that each C interface has for itself.

mod draft;
mod fmi1;
mod fmi2;
mod fmi3;

pub use self::draft::DraftFunctions;
pub use self::fmi1::{Fmi1EventInfo, Fmi1Functions, Fmi1ModelCallbacks, Fmi1SlaveCallbacks};
pub(super) use self::fmi2::RawInt;
pub use self::fmi2::{Fmi2Callbacks, Fmi2EventInfo, Fmi2Functions};
pub use self::fmi3::Fmi3Functions;
