//! The initialisation of all FMUs together: when each enters Initialization Mode, the order in which outputs are read, and the
//! inputs that get them (semantics S11).
//!
//! Guarantees: every input that has a source with an initial value is set once, after all its sources have been read; an output
//! is read once, after all inputs that it depends on are set; a variable that only the recording needs is read after all inputs
//! of its FMU. An FMU of FMI 1.0 gets all inputs before it is initialised, and gives outputs after that. Where that is a circle,
//! it is solved if the rig asks for that in its group; else the inputs that close it keep their own start values, and a note
//! tells that. Only in circles outside of groups the value of an input depends on the order of the FMUs.

mod dependencies;
mod order;
mod steps;

pub use steps::plan;
