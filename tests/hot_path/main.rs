//! What runs in real-time threads allocates nothing (semantics S17): what stands behind an activation, the equations of Model Exchange,
//! a master step, a solver.

mod activation;
mod allocations;
mod equations;
mod master;
mod solver;

use allocations::allocations;
use vecud::ffi::{ForeignCall, InstanceHost, Status};

/// Hears nothing.
struct Host;
impl InstanceHost for Host {
    fn log(&self, _: Status, _: Option<&[u8]>, _: &[u8]) {}
    fn foreign_call(&self, what: ForeignCall) {
        panic!("{what:?}");
    }
}
