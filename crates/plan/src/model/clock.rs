//! Clocks of FMUs: when they tick, and the targets of their ticks.

use super::{BatchPlan, FmuId, UnitId};
use crate::rig::EndpointSource;
use serde::{Deserialize, Serialize};
use vecud_base::priority::FifoPriority;
use vecud_base::time::{Fraction, Instant};
use vecud_description::{IntervalVariability, ValueReference};

/// An output clock, or an element of one, and where its ticks go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputClock {
    /// The clock's value reference.
    pub reference: ValueReference,
    /// The clock's name, with `[i]` for an element.
    pub name: String,
    /// The clock ticks at no fixed interval, so in the draft each tick has a delay of its own.
    pub aperiodic: bool,
    /// The partitions that may tick it (its `clocks`); empty: undeclared.
    pub ticked_by: Vec<UnitId>,
    /// The tasks that it triggers, in this and in other FMUs, most urgent first.
    pub targets: Vec<UnitId>,
    /// The input clocks of FMUs that make steps which it triggers.
    pub clocks: Vec<StepClock>,
    /// The input clock of an FMU that makes steps, which ticks between two of them; `None`: an output clock.
    pub input: Option<StepClockPlan>,
}

/// An input clock of an FMU that makes steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepClock {
    /// The FMU.
    pub fmu: FmuId,
    /// Index into its [`FmuPlan::output_clocks`](super::FmuPlan::output_clocks).
    pub clock: usize,
}

/// An input clock of an FMU that makes steps: it ticks in Event Mode (semantics S22).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepClockPlan {
    /// The clock.
    pub clock: InputClockPlan,
    /// The source of its ticks.
    pub release: Release,
}

/// Variables that belong to an output clock, and are read while it is active.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnTick {
    /// Indices into [`FmuPlan::output_clocks`](super::FmuPlan::output_clocks): the clock, or all elements of an array clock, any
    /// of which counts.
    pub clocks: Vec<usize>,
    /// The variables.
    pub batch: BatchPlan,
}

/// Ticks that may wait per clock (semantics S9).
pub const QUEUE: usize = 16;

/// The source of a task's releases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Release {
    /// The task is released at `start + shift + k · interval`.
    Periodic {
        /// First tick after the start of the run.
        shift: Fraction,
        /// Never zero.
        interval: Fraction,
    },
    /// The task is released at `start + shift + k · interval`, both read from the FMU in Initialization Mode: a fixed or
    /// tunable clock without `intervalDecimal`.
    Asked,
    /// First after the interval that is read in Initialization Mode, then after the one that each activation gives.
    Changing,
    /// Each tick of an output clock releases the task.
    Triggered {
        /// The instance that the output clock belongs to.
        fmu: FmuId,
        /// Index into that FMU's [`FmuPlan::output_clocks`](super::FmuPlan::output_clocks).
        output_clock: usize,
    },
    /// The task is released at these times, strictly increasing.
    At(Vec<Instant>),
    /// Each item of an endpoint releases the task.
    Endpoint {
        /// Index into [`Plan::endpoints`](super::Plan::endpoints).
        endpoint: usize,
    },
    /// Each tick in a column of a stimulus releases the task.
    Stimulus {
        /// Index into [`Plan::stimuli`](super::Plan::stimuli).
        stimulus: usize,
        /// Index into [`StimulusPlan::ticks`](super::StimulusPlan::ticks).
        tick: usize,
    },
    /// The task is released when the FMU has armed its clock and the interval is over.
    Countdown,
    /// Each request of a controller of the run releases the task, since nothing in the rig does
    /// ([`Plan::requests`](super::Plan::requests)).
    Request,
    /// Nothing releases the task.
    Never,
}

impl Release {
    /// The shortest time between two instants of this clock that are known without its being activated; `None`: there are
    /// none such.
    pub fn shortest_known(&self) -> Option<Fraction> {
        match self {
            Release::Periodic { interval, .. } => Some(*interval),
            _ => None,
        }
    }

    /// Whether it has instants that are known without its being activated: a grid, or a list.
    pub fn has_instants(&self) -> bool {
        matches!(self, Release::Periodic { .. } | Release::Asked | Release::At(_))
    }
}

/// The target of a tick from outside of all FMUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickTarget {
    /// The unit that it activates, or that makes the steps of the FMU whose clock it ticks.
    pub unit: UnitId,
    /// The clock that it ticks between the steps of its FMU; `None`: it activates the unit itself.
    pub clock: Option<StepClock>,
}

/// A clock that a controller of the run may tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedClock {
    /// `fmu.clock`, with `[2]` behind it for an element of an array clock.
    pub name: String,
    /// The target of a request.
    pub target: TickTarget,
}

/// A source of items from outside, served by the [receiver](ReceiverPlan).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndpointPlan {
    /// The source of items. The supervisor makes a socket.
    pub source: EndpointSource,
    /// The target of each item.
    pub target: TickTarget,
    /// Items per second that are accepted, beyond a short burst.
    pub max_rate: f64,
}

/// The thread that serves endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverPlan {
    /// The core that the thread runs on.
    pub cpu: usize,
    /// The priority of the thread.
    pub fifo: FifoPriority,
}

/// One input clock, or one element of an array clock, whose model partition a task activates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputClockPlan {
    /// The clock's value reference.
    pub clock: ValueReference,
    /// `clockElementIndex`: 0 for a scalar, else the element's number from 1 in row-major order (draft).
    pub element: usize,
    /// The clock's kind in the XML.
    pub kind: IntervalVariability,
    /// The interval is written in Initialization Mode (fixed and tunable clocks).
    pub write_interval: bool,
    /// The shift, which is the rig's, is written in Initialization Mode.
    pub write_shift: bool,
    /// `fmi3GetIntervalFraction` and its kind may be used.
    pub supports_fraction: bool,
}
