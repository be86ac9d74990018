//! The data of an algebraic loop among integrated FMUs of a group.

use super::super::slopes::Slopes;
use super::super::wires::Wire;
use vecud_plan::MasterPlan;
use vecud_solver::master::{Newton, TOLERANCE};

/// An algebraic loop.
pub struct AlgebraicLoop {
    /// Its wires, by their numbers in the group.
    pub wires: Vec<usize>,
    pub newton: Newton,
    /// Its inputs, where they were found last.
    pub inputs: Vec<f64>,
    /// The derivatives of its FMUs; empty: they provide none, and differences replace them.
    pub slopes: Vec<Slopes>,
}

impl AlgebraicLoop {
    /// The loop of these wires.
    pub fn new(master: &MasterPlan, all: &[Wire], wires: Vec<usize>) -> AlgebraicLoop {
        let nominals: Vec<f64> =
            wires.iter().flat_map(|wire| vec![master.wires[*wire].nominal; all[*wire].len()]).collect();
        let tell = wires.iter().all(|wire| master.wires[*wire].has_derivatives);
        AlgebraicLoop {
            newton: Newton::new(&nominals, TOLERANCE),
            inputs: vec![0.0; nominals.len()],
            slopes: if tell { Slopes::of(all, &wires).unwrap_or_default() } else { Vec::new() },
            wires,
        }
    }

    /// No loop; it allocates nothing.
    pub fn empty() -> AlgebraicLoop {
        AlgebraicLoop { wires: Vec::new(), newton: Newton::new(&[], TOLERANCE), inputs: Vec::new(), slopes: Vec::new() }
    }
}
