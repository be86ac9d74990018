//! FMUs of other tools: the Modelica Reference FMUs, and one that is built with another tool's crate.

mod equations;
mod fmite;
#[allow(dead_code, reason = "each test uses a part of it")]
use crate::foreign;
mod published;
mod reference_fmus;
