//! Co-Simulation and Model Exchange: communication steps, master algorithms, integration, `vecud simulate`.

#[path = "../program/mod.rs"]
mod program;
#[path = "../simulated/mod.rs"]
mod simulated;

mod equations;
mod masters;
mod simulate;
mod steps;
mod thesis;
