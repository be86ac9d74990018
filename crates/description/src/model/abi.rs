//! The C interfaces of FMI, and the differences between them that others have to know.

use super::value_reference::ValueReference;
use serde::{Deserialize, Serialize};

/// The C interfaces of FMI: which functions an FMU exports, under which names, with which arguments. Between patch releases
/// they do not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Abi {
    /// FMI 1.0: two interfaces, each of which prefixes its functions with the model identifier.
    Fmi1,
    /// FMI 2.0 with its patch releases.
    Fmi2,
    /// FMI 3.0, 3.0.1, 3.0.2.
    #[default]
    Fmi3,
    /// The text between FMI 3.0-alpha.5 and 3.0-alpha.6 (January 2021).
    Draft,
}

impl Abi {
    /// Whether it is FMI 1.0 or 2.0, which have words and names of their own.
    pub fn is_earlier(self) -> bool {
        matches!(self, Abi::Fmi1 | Abi::Fmi2)
    }

    /// The dialect of FMI 3.0 that it is, as a rig names it.
    pub fn dialect(self) -> Option<&'static str> {
        match self {
            Abi::Fmi3 => Some("released"),
            Abi::Draft => Some("draft"),
            Abi::Fmi1 | Abi::Fmi2 => None,
        }
    }

    /// Whether the version has Scheduled Execution, which came with FMI 3.0.
    pub fn has_scheduled_execution(self) -> bool {
        matches!(self, Abi::Fmi3 | Abi::Draft)
    }

    /// Whether a variable of each base type may have the same value reference, so that the type belongs to it.
    pub fn has_typed_references(self) -> bool {
        matches!(self, Abi::Fmi1 | Abi::Fmi2)
    }

    /// Whether an instance is told by a URI where its resources are, and not by a path.
    pub fn has_resource_uri(self) -> bool {
        self != Abi::Fmi3
    }

    /// Whether enumerations are got and set as `Integer`.
    pub fn has_integer_enumerations(self) -> bool {
        matches!(self, Abi::Fmi1 | Abi::Fmi2)
    }

    /// Whether the state of an instance can be saved and set. FMI 1.0 has no function for that.
    pub fn has_states(self) -> bool {
        self != Abi::Fmi1
    }

    /// Whether Event Mode of Model Exchange is entered with the reasons for it.
    pub fn has_event_reasons(self) -> bool {
        self == Abi::Draft
    }

    /// The words by which an iteration of an event tells that none follows.
    pub fn end_of_iteration(self) -> &'static str {
        match self {
            Abi::Fmi1 => "iterationConverged is true",
            Abi::Fmi2 => "newDiscreteStatesNeeded is false",
            Abi::Fmi3 | Abi::Draft => "discreteStatesNeedUpdate is false",
        }
    }

    /// Spelling of a flag of FMI 3.0 about states, such as `canGetAndSetFMUState`, in this version.
    pub fn spelled(self, flag: &str) -> String {
        if self == Abi::Fmi2 { flag.replace("FMUState", "FMUstate") } else { flag.to_owned() }
    }

    /// Whether variables can be set and read while an instance is being initialised. In FMI 1.0 inputs go in before, and outputs
    /// come after.
    pub fn has_initialization_mode(self) -> bool {
        self != Abi::Fmi1
    }

    /// Whether only outputs and initial unknowns can be read in Initialization Mode (FMI 2.0.5, notes on the tables of calls in 3.2.3 and
    /// 4.2.4).
    pub fn gives_unknowns_alone_in_initialization_mode(self) -> bool {
        self == Abi::Fmi2
    }

    /// Whether inputs are set while an instance is being initialised and not before: in FMI 2.0, where they have no `initial` (2.2.7).
    pub fn sets_inputs_in_initialization_mode_alone(self) -> bool {
        self == Abi::Fmi2
    }

    /// The reference by which the FMU knows a variable: negated aliases, of FMI 1.0, have [another one](ValueReference::negated) here.
    pub fn reference_of_fmu(self, reference: ValueReference) -> ValueReference {
        if self == Abi::Fmi1 { reference.of_fmu() } else { reference }
    }

    /// Whether a discarded step leaves the instance unchanged, so that a shorter one may follow (FMI 3.0.2, 4.2.1:
    /// `fmi3DoStep`). In earlier versions the instance is in the midst of it.
    pub fn may_step_again(self) -> bool {
        self == Abi::Fmi3
    }

    /// Whether an instance that has discarded a step is taken back by its state, if it has one, before another step (FMI 2.0.5, 4.2.2).
    pub fn goes_back_from_discard(self) -> bool {
        self == Abi::Fmi2
    }

    /// Whether Event Mode of Co-Simulation is used: the draft's steps tell of clocks otherwise than those of released FMI 3.0, and earlier
    /// versions have none.
    pub fn uses_event_mode_of_steps(self) -> bool {
        self == Abi::Fmi3
    }

    /// Whether descriptions say if a step may end earlier than asked for (`mightReturnEarlyFromDoStep`). Before, any may be discarded.
    pub fn tells_of_early_returns(self) -> bool {
        matches!(self, Abi::Fmi3 | Abi::Draft)
    }

    /// Whether the model structure lists continuous states; FMI 1.0 says only how many there are.
    pub fn has_structure_of_states(self) -> bool {
        self != Abi::Fmi1
    }

    /// Whether importers hand over derivatives of inputs (`fmi2SetRealInputDerivatives`). FMI 3.0 asks for inputs in the midst of a
    /// step instead (intermediate update).
    pub fn has_input_derivatives(self) -> bool {
        matches!(self, Abi::Fmi1 | Abi::Fmi2)
    }

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Abi::Fmi1 => "FMI 1.0",
            Abi::Fmi2 => "FMI 2.0",
            Abi::Fmi3 => "the released FMI 3.0",
            Abi::Draft => "the draft of FMI 3.0",
        }
    }
}
