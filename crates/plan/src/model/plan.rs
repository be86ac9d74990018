//! The plan.

use super::{
    ConnectionPlan, EndpointPlan, Figures, FmuId, FmuPlan, HostPlan, InitialStep, MasterPlan, ReceiverPlan, Release,
    RequestedClock, SerialPlan, SignalPlan, StepClock, StimulusPlan, TaskPlan, TaskWork, TracePlan, UnitId, UnitPlan,
};
use crate::rig::{Format, Limits, Mode, OnError, OnNan, Overrun, RigReport, Rotation, TriggerTime};
use serde::{Deserialize, Serialize};
use vecud_base::time::{Instant, Nanos};

/// All data of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the rig.
    pub rig: String,
    /// Whether real time or virtual time passes.
    pub mode: Mode,
    /// Activations happen at times in [start, stop).
    pub start: Instant,
    /// `None`: until stopped.
    pub stop: Option<Instant>,
    /// The consequence for the other FMUs when one fails.
    pub on_error: OnError,
    /// The overrun policy of tasks whose own the rig does not say.
    pub overrun: Overrun,
    /// The consequence of a NaN that is read from an FMU.
    pub nan: OnNan,
    /// The source of a tick's activation time.
    pub trigger_time: TriggerTime,
    /// Time in which an activation must return after the end of the run.
    pub shutdown_timeout: Nanos,
    /// The longest call that is no activation in real time; `None`: no limit.
    pub call_timeout: Option<Nanos>,
    /// The settings of the process.
    pub host: HostPlan,
    /// The instances, in rig order.
    pub fmus: Vec<FmuPlan>,
    /// The initialisation of all instances, step by step.
    pub initialisation: Vec<InitialStep>,
    /// All tasks, in merged order.
    pub tasks: Vec<TaskPlan>,
    /// All units, in merged order: most urgent first; this order breaks ties in virtual time.
    pub units: Vec<UnitPlan>,
    /// Sets of FMUs that step one at a time, in the order of the rig; an FMU is in one of them at most.
    pub serials: Vec<SerialPlan>,
    /// Libraries with variables of their own, by their names, that these FMUs bring and that are loaded once.
    pub libraries: Vec<(String, Vec<FmuId>)>,
    /// All variable connections.
    pub connections: Vec<ConnectionPlan>,
    /// Files that feed inputs and tick clocks, in the order of the rig.
    pub stimuli: Vec<StimulusPlan>,
    /// The instants, in order, at which inputs of an FMU that is simulated by itself jump or change something discrete: its steps
    /// end there where they may.
    pub input_events: Vec<Instant>,
    /// The recorded signals, in column order.
    pub signals: Vec<SignalPlan>,
    /// Signals that are read for observers and not recorded: their columns come after the recorded ones. Empty unless the run can
    /// be controlled.
    pub watched: Vec<SignalPlan>,
    /// Rows are wanted although there is no column: they have the time alone.
    pub rows_of_time: bool,
    /// The file formats of the recording.
    pub formats: Vec<Format>,
    /// The rotation of the recording's files.
    pub rotation: Rotation,
    /// The sources of items from outside, in the order of the rig's triggers.
    pub endpoints: Vec<EndpointPlan>,
    /// The clocks that a controller may tick; empty unless the run can be controlled.
    pub requests: Vec<RequestedClock>,
    /// The thread that serves endpoints; `None`: there are none, or time is virtual.
    pub receiver: Option<ReceiverPlan>,
    /// The parts of the report that are kept beside the recording.
    pub report: RigReport,
    /// The trace of activations.
    pub trace: TracePlan,
    /// Notes for the user, although the rig is valid.
    pub notes: Vec<String>,
}

impl Plan {
    /// The task that a unit computes in.
    pub fn task_of(&self, unit: UnitId) -> &TaskPlan {
        &self.tasks[self.units[unit.0].task.0]
    }

    /// Whether the figures of its task's releases are those of this unit.
    pub fn is_first(&self, unit: UnitId) -> bool {
        self.task_of(unit).first() == unit
    }

    /// The limits on a unit's releases. Those of a group are on its first unit.
    pub fn limits(&self, unit: UnitId) -> Limits {
        if self.is_first(unit) { self.task_of(unit).limits } else { Limits::default() }
    }

    /// The rig's figures of a unit's releases. Those of a group are of its first unit.
    pub fn figures(&self, unit: UnitId) -> Figures {
        if self.is_first(unit) { self.task_of(unit).figures } else { Figures::default() }
    }

    /// The overrun policy that lists of all units show: a group's stands beside its first unit, the rig's beside the others.
    pub fn shown_overrun(&self, unit: UnitId) -> Overrun {
        if self.is_first(unit) { self.task_of(unit).overrun } else { self.overrun }
    }

    /// The algorithm of the group that a unit is in, if a master makes its steps.
    pub fn master_of(&self, unit: UnitId) -> Option<&MasterPlan> {
        match &self.task_of(unit).work {
            TaskWork::Group(group) => group.master.as_ref(),
            TaskWork::Partition(_) | TaskWork::Step(_) => None,
        }
    }

    /// No release of a task comes at this time or later: the stop time, or the last instant of the grid of steps, if nothing but
    /// [rounding](vecud_base::time::Fraction::steps) is left over there (semantics S19). `None`: the run has no stop time.
    pub fn released_until(&self, unit: &UnitPlan) -> Option<Instant> {
        let stop = self.stop?;
        let Release::Periodic { interval, .. } = unit.release else { return Some(stop) };
        let last = || match stop.minus(self.start)?.steps(interval) {
            (steps @ 1.., true) => Some(self.start.after_many(interval, steps)),
            _ => None,
        };
        Some(Some(unit).filter(|unit| unit.makes_steps()).and_then(|_| last()).map_or(stop, |last| last.min(stop)))
    }

    /// The name of a task among all of the rig, `fmu.name`.
    pub fn full_name(&self, unit: &UnitPlan) -> String {
        format!("{}.{}", self.fmus[unit.fmu.0].name, unit.name)
    }

    /// A task in a sentence: `clock ecu.fast`, but `plant.step`, since steps have no clock.
    pub fn told_name(&self, unit: &UnitPlan) -> String {
        let what = if unit.clock().is_some() { "clock " } else { "" };
        what.to_owned() + &self.full_name(unit)
    }

    /// The name of an input clock that ticks between steps among all of the rig, `fmu.clock`.
    pub fn clock_name(&self, StepClock { fmu, clock }: StepClock) -> String {
        let fmu = &self.fmus[fmu.0];
        format!("{}.{}", fmu.name, fmu.output_clocks[clock].name)
    }

    /// The core of each task.
    pub fn cores(&self) -> Vec<usize> {
        self.tasks.iter().map(|task| task.cpu).collect()
    }
}
