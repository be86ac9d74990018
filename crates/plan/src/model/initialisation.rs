//! The steps in which all FMUs are initialised together (semantics S11).

use super::{BatchPlan, ConnectionId, FmuId};
use serde::{Deserialize, Serialize};

/// A step of the initialisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum InitialStep {
    /// An instance enters Initialization Mode; one of FMI 1.0 is initialised.
    Enter(FmuId),
    /// Sets inputs to the values of their sources: in Initialization Mode, of FMI 1.0 before it.
    Set {
        /// The FMU whose inputs are set.
        fmu: FmuId,
        /// The inputs, with those connections that have a value by then.
        batch: BatchPlan,
    },
    /// Variables are read for connections and recordings.
    Get {
        /// The FMU whose variables are read.
        fmu: FmuId,
        /// The variables.
        batch: BatchPlan,
    },
    /// Variables are read for recordings that the FMU does not give in Initialization Mode, when it has left it.
    GetInitialised {
        /// The FMU whose variables are read.
        fmu: FmuId,
        /// The variables.
        batch: BatchPlan,
    },
    /// Inputs get values that give themselves back.
    Solve(InitialLoop),
}

/// An algebraic loop that is solved: its FMUs have entered Initialization Mode, and the inputs that it depends on are set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InitialLoop {
    /// The connections that close it, whose values are the unknowns.
    pub closing: Vec<ClosingConnection>,
    /// The steps that set the unknowns and read the resulting values.
    pub steps: Vec<InitialStep>,
}

/// A connection that closes an algebraic loop: of `Float64`, without derivatives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClosingConnection {
    /// The connection.
    pub connection: ConnectionId,
    /// The FMU whose input it feeds.
    pub fmu: FmuId,
    /// The nominal value of that input.
    pub nominal: f64,
    /// The first values of the search: the start value of each element.
    pub start: Vec<f64>,
}

impl InitialStep {
    /// The steps of this one: itself, or those of a loop.
    pub fn parts(&self) -> &[InitialStep] {
        match self {
            InitialStep::Solve(own) => &own.steps,
            _ => std::slice::from_ref(self),
        }
    }

    /// The inputs of this instance that the step sets.
    pub fn sets(&self, of: FmuId) -> Option<&BatchPlan> {
        match self {
            InitialStep::Set { fmu, batch } if *fmu == of => Some(batch),
            _ => None,
        }
    }

    /// The variables of this instance that the step reads.
    pub fn gets(&self, of: FmuId) -> Option<&BatchPlan> {
        match self {
            InitialStep::Get { fmu, batch } | InitialStep::GetInitialised { fmu, batch } if *fmu == of => Some(batch),
            _ => None,
        }
    }

    /// The variables of this instance that are read once it has left Initialization Mode.
    pub fn gets_initialised(&self, of: FmuId) -> Option<&BatchPlan> {
        match self {
            InitialStep::GetInitialised { fmu, batch } if *fmu == of => Some(batch),
            _ => None,
        }
    }
}
