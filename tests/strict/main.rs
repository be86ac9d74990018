//! FMUs of all versions that answer Error to every call out of place: in `vecud simulate`, in rigs of both modes, by hand.
//!
//! They are built of `fmu/`: the state machines and tables of calls of FMI 3.0.2 (2.3, 3.2, 4.2) and 2.0.5 (3.2.3, 4.2.4), and what FMI 1.0
//! says of its calls. Each writes down what it has refused, so that a test sees it even where the program goes on.

#[path = "../program/mod.rs"]
mod program;
#[path = "../simulated/mod.rs"]
mod simulated;

mod alone;
mod by_hand;
mod demands;
mod fmu;
mod pairs;
mod refusals;
