//! What the library offers beyond the program: sessions, and values that are set while a run goes on, on
//! `fmus/structural`, which answers Error to whatever an importer does in a wrong state.

use crate::program;

mod bench;
mod equations;
mod failures;
mod no_allocation;
mod pauses;
mod refused;
mod runs;
mod sessions;
mod set;
mod structural;
