//! The initialisation of all FMUs together: which of them enters Initialization Mode when, whose outputs are read first, and which
//! inputs get them (semantics S11).
//!
//! Guarantees: every input that has a source with an initial value is set once, after all that feeds it has been read; an output is
//! read once, after all inputs that it depends on are set; what is read for a recording alone, after all inputs of its FMU. An FMU of
//! FMI 1.0 gets all inputs before it is initialised, and gives outputs after that. Where that is a circle, it is solved if the rig says so
//! of its group; else the inputs that close it keep their own start values, and a note says so. Which value an input gets depends on the
//! order of the FMUs only in circles that are in no group.

mod dependencies;
mod order;
mod steps;

pub use steps::plan;
