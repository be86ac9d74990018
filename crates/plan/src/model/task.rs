//! Tasks, which the schedule releases, and the units that compute in them.

use super::{BatchPlan, Figures, FmuId, InputClockPlan, MasterPlan, RecordedClock, Release, TaskId, UnitId};
use crate::rig::{Limits, Overrun, Solver, StepSize};
use serde::{Deserialize, Serialize};
use vecud_base::priority::{FifoPriority, FmiPriority};
use vecud_base::time::{Fraction, Instant, StepGrid};
use vecud_description::{IntervalVariability, ValueReference};

/// A task: the unit of scheduling, with a thread of its own in real time. Its [first unit](TaskPlan::first) has release and
/// urgency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskPlan {
    /// Its work in a release.
    pub work: TaskWork,
    /// Priority of the thread. Several levels of an instance may [share](crate::priorities::shared) one.
    pub fifo: FifoPriority,
    /// The core of its instances.
    pub cpu: usize,
    /// Name of the thread: at most 15 bytes, unique.
    pub thread: String,
    /// Overrun policy.
    pub overrun: Overrun,
    /// Limits on its releases.
    pub limits: Limits,
    /// The rig's figures of its releases, for [`crate::schedulability`].
    pub figures: Figures,
}

/// The work of a task when it is released.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TaskWork {
    /// Activates a model partition (Scheduled Execution).
    Partition(UnitId),
    /// Makes the steps of an FMU (Co-Simulation, Model Exchange).
    Step(UnitId),
    /// Makes the steps of several FMUs together.
    Group(GroupPlan),
}

/// FMUs that make their steps together, since clocks connect them (semantics S22), or by a `[master.NAME]` (S24). A member is no
/// task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupPlan {
    /// The steps of each FMU. The figures of the group's releases are those of the first; a master sorts the others by the names
    /// of their FMUs, which decide the order of everything there.
    pub members: Vec<UnitId>,
    /// The algorithm that decides which member steps when; `None`: all step to each communication point of any of them.
    pub master: Option<MasterPlan>,
}

/// A unit of computation: a model partition, or the steps of one FMU. [`UnitPlan::work`] alone depends on the kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitPlan {
    /// The instance that it belongs to.
    pub fmu: FmuId,
    /// The task that it computes in.
    pub task: TaskId,
    /// Unique name within the instance: of a partition its clock's, with `[i]` for an element of an array clock.
    pub name: String,
    /// Its work in a release.
    pub work: Work,
    /// The source of its releases.
    pub release: Release,
    /// The units that may tick a triggered clock, or arm a countdown clock; empty for other clocks.
    pub caused_by: Vec<UnitId>,
    /// `priority` of the clock that it belongs to; `None`: it belongs to none.
    pub urgency: Option<FmiPriority>,
    /// Priority level within the instance: 0 is the most urgent, equal levels never preempt each other.
    pub level: usize,
    /// Set before the activation: one entry per variable type.
    pub set: Vec<BatchPlan>,
    /// Read after it: one entry per variable type.
    pub get: Vec<BatchPlan>,
    /// The recorded clocks that its activations may tick, its own first.
    pub ticks: Vec<RecordedClock>,
}

/// The work of a unit when its task is released, with the data of its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Work {
    /// Activates a model partition (Scheduled Execution).
    Partition(InputClockPlan),
    /// Makes the steps of an FMU (Co-Simulation, Model Exchange).
    Step(StepPlan),
}

/// The steps of one FMU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepPlan {
    /// The group that it makes them in, if it is in one.
    pub membership: Membership,
    /// `canHandleVariableCommunicationStepSize`: missed steps are made up by one longer step, and the last one may be shorter.
    pub is_variable: bool,
    /// The step size that the FMU is told.
    pub step_size: StepSize,
    /// The engine of the steps, and the place of its event handling.
    pub engine: StepEngine,
    /// Which rows are recorded of it.
    pub rows: StepRows,
    /// `mightReturnEarlyFromDoStep`.
    pub may_return_early: bool,
    /// A step is taken back where another FMU of the same task has returned early, and made anew to that point
    /// (`canGetAndSetFMUState`).
    pub goes_back: bool,
    /// How a step that is discarded is tried in parts.
    pub retry: Retry,
    /// `fixedInternalStepSize`, in the FMU's unit of time.
    pub internal_step: Option<f64>,
}

/// The engine of an FMU's steps, and the place of its event handling.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum StepEngine {
    /// The FMU itself, which has no Event Mode, or is not to use it.
    Steps,
    /// The FMU itself, with Event Mode between its steps.
    StepsAndEvents,
    /// An integration of its equations, with Event Mode between communication points (Model Exchange).
    Equations(IntegrationPlan),
}

/// Which rows are recorded of the steps of an FMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepRows {
    /// One for each release.
    Releases,
    /// One row for `steps_per_row` steps; an event, also one at the stop time, has two of its time, one from before and one from
    /// after it.
    Events {
        /// Steps from one row to the next.
        steps_per_row: u32,
    },
}

/// The group that an FMU makes its steps in, if it is in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Membership {
    /// The FMU is in no group.
    Alone,
    /// The group consists of the FMUs that clocks connect with this one.
    Clocks,
    /// The group is that of a [`MasterPlan`], whose algorithm decides which member steps when.
    Master {
        /// The figures of the group's releases are its own.
        is_first: bool,
    },
}

/// How a step that is discarded is tried in parts, of an FMU that can vary its steps (semantics S23).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Retry {
    /// Not at all: it cannot be. Discard counts as Error.
    Never,
    /// Not at all, though it could be: the rig does not want it, or real time.
    Unwanted,
    /// The FMU is as it was (FMI 3.0).
    Again,
    /// The FMU goes back to its state from before the step, which is taken before each (FMI 2.0, `canGetAndSetFMUstate`).
    FromState,
    /// The FMU makes the next step in place of this one (FMI 1.0, `canRejectSteps`).
    Instead,
}

/// How Model Exchange FMUs are integrated (semantics S25).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntegrationPlan {
    /// The method.
    pub solver: Solver,
    /// The step of a method with a fixed one.
    pub internal_step: Fraction,
    /// Relative tolerance of an adaptive method.
    pub tolerance: f64,
    /// State events that are located within a step at most.
    pub max_events: u32,
}

/// FMUs of which one at a time makes steps (semantics S34).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SerialPlan {
    /// The FMUs, in the order of the rig. Their steps are made by at least two tasks.
    pub fmus: Vec<FmuId>,
    /// The rig names FMUs of it (`serialise`); `false`: they are instances of one library.
    pub is_said: bool,
}

/// The kind of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// The partition of a clock of this kind.
    Clock(IntervalVariability),
    /// The steps of an FMU.
    Step,
    /// The steps of the first of several FMUs, as a master makes them, with the figures of their releases.
    Group,
}

impl TaskKind {
    /// Whether it makes steps.
    pub fn makes_steps(self) -> bool {
        match self {
            TaskKind::Clock(_) => false,
            TaskKind::Step | TaskKind::Group => true,
        }
    }
}

impl Membership {
    /// Whether a master algorithm decides on the steps.
    pub fn is_mastered(self) -> bool {
        matches!(self, Membership::Master { .. })
    }
}

impl TaskPlan {
    /// The units that compute in its releases.
    pub fn units(&self) -> &[UnitId] {
        match &self.work {
            TaskWork::Partition(unit) | TaskWork::Step(unit) => std::slice::from_ref(unit),
            TaskWork::Group(group) => &group.members,
        }
    }

    /// The unit whose figures are those of its releases.
    pub fn first(&self) -> UnitId {
        self.units()[0]
    }

    /// The other members, if it is a group.
    pub fn others(&self) -> &[UnitId] {
        &self.units()[1..]
    }

    /// Whether the rig sets it a limit that may be exceeded.
    pub fn has_limit(&self) -> bool {
        let Limits { max_latency, max_execution, max_overruns } = self.limits;
        max_latency.is_some() || max_execution.is_some() || max_overruns.is_some() || self.overrun == Overrun::Stop
    }
}

impl UnitPlan {
    /// Its kind.
    pub fn kind(&self) -> TaskKind {
        match &self.work {
            Work::Partition(partition) => TaskKind::Clock(partition.kind),
            Work::Step(StepPlan { membership: Membership::Master { is_first: true }, .. }) => TaskKind::Group,
            Work::Step(_) => TaskKind::Step,
        }
    }

    /// The model partition that it activates; `None`: it is another kind of task.
    pub fn partition(&self) -> Option<&InputClockPlan> {
        match &self.work {
            Work::Partition(partition) => Some(partition),
            Work::Step(_) => None,
        }
    }

    /// Whether it makes steps.
    pub fn makes_steps(&self) -> bool {
        self.kind().makes_steps()
    }

    /// The grids of its steps in a run from `start` on: the instants at which they begin, and the one at which the last of them
    /// ends; none where it makes no steps.
    pub fn steps_on(&self, start: Instant, stop: Option<Instant>) -> Vec<StepGrid> {
        match self.release {
            Release::Periodic { shift, interval } if self.makes_steps() => {
                let origins = [Some(start.after(shift)), stop].into_iter().flatten();
                origins.map(|origin| StepGrid { origin, step: interval }).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the FMU whose steps it makes handles events in Event Mode.
    pub fn handles_events(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.engine != StepEngine::Steps)
    }

    /// Whether its FMU may be taken back to the beginning of a step by a state of its own.
    pub fn goes_back(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.goes_back)
    }

    /// Whether each event of its steps has rows of its own.
    pub fn shows_events(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.rows != StepRows::Releases)
    }

    /// Whether its steps end at rows of a stimulus that its inputs hold: a change of these is an event of its FMU (semantics
    /// S22).
    pub fn ends_at_rows(&self) -> bool {
        let jumps = |step: &StepPlan| step.engine == StepEngine::StepsAndEvents && step.rows == StepRows::Releases;
        matches!(&self.work, Work::Step(step) if jumps(step) && step.is_variable && !step.membership.is_mastered())
    }

    /// Whether a step of its FMU that is discarded could be tried in parts, and is not.
    pub fn may_retry(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.retry == Retry::Unwanted)
    }

    /// Whether a state of its FMU is taken before each step.
    pub fn takes_states(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.retry == Retry::FromState)
    }

    /// The integration of its FMU; `None`: there is none.
    pub fn integration(&self) -> Option<IntegrationPlan> {
        match self.work {
            Work::Step(StepPlan { engine: StepEngine::Equations(integration), .. }) => Some(integration),
            Work::Step(_) | Work::Partition(_) => None,
        }
    }

    /// Whether it is released at other instants than its grid has: communication points where an event is, or where a step
    /// has returned early.
    pub fn leaves_its_grid(&self) -> bool {
        let leaves = |step: &StepPlan| step.may_return_early || step.membership.is_mastered();
        self.handles_events() || matches!(&self.work, Work::Step(step) if leaves(step))
    }

    /// Whether its work has no holes in time: missed steps are made up (semantics S21).
    pub fn is_contiguous(&self) -> bool {
        matches!(self.work, Work::Step(_))
    }

    /// The clock that it belongs to; `None`: it belongs to none.
    pub fn clock(&self) -> Option<ValueReference> {
        Some(self.partition()?.clock)
    }

    /// Whether it belongs to a clock of this kind.
    pub fn has_clock(&self, kind: IntervalVariability) -> bool {
        self.partition().is_some_and(|partition| partition.kind == kind)
    }
}
