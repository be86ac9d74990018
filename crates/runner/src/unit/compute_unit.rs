//! The FMU code of a task, of whichever kind: each kind of [`Work`] is a variant of [`Unit`].

use super::events::{Engine, EventUnit, GroupMember, Member};
use super::partition::PartitionUnit;
use super::step::{StepUnit, patience};
use crate::activation_error::ActivationError;
use crate::calls::{Calls, Meter};
use crate::run_state::RunState;
use crate::stimuli::Stimulated;
use crate::thread_host::PartitionHost;
use vecud_base::time::{Fraction, Instant};
use vecud_fmi::{ClockElement, ComputeHandle, Failure, Instance, InstanceControl, Numbers, Running};
use vecud_plan::schedule::{Due, Learned};
use vecud_plan::{FmuId, Release, StepEngine, UnitId, Work};

/// The FMU code of one task; belongs to one thread.
#[expect(
    clippy::large_enum_variant,
    reason = "one more look through a pointer in each activation costs more than the memory"
)]
pub enum Unit {
    /// The model partition of an input clock (Scheduled Execution).
    Partition(PartitionUnit),
    /// The steps of an instance that handles no events (Co-Simulation).
    Step(StepUnit),
    /// The steps of an instance that handles events between them (Co-Simulation, Model Exchange), or of a group.
    Events(Box<EventUnit>),
}

/// An instance that is ready to run.
pub struct Ready {
    /// Ends it.
    pub control: InstanceControl,
    /// The tasks, each with its part of the instance.
    pub units: Vec<(UnitId, Unit)>,
}

impl Unit {
    /// Splits an instance into the units of its tasks; [`join`] puts them together again. `learned`: the intervals of clocks that
    /// are no tasks, by their places.
    pub fn all_of(run: &RunState, fmu: FmuId, instance: Instance<Running>, learned: &[Learned]) -> Ready {
        let units = run.plan.units.iter().enumerate().filter(|(_, plan)| plan.fmu == fmu);
        let (mut partitions, mut step) = (Vec::new(), None);
        for (id, plan) in units {
            match (&plan.work, &plan.release) {
                (Work::Partition(own), _) => {
                    partitions.push((UnitId(id), ClockElement { clock: own.clock, element: own.element }));
                }
                (Work::Step(own), Release::Periodic { interval, .. }) => step = Some((UnitId(id), *own, *interval)),
                (Work::Step(_), _) => unreachable!("steps are periodic"),
            }
        }
        if let Some((id, own, interval)) = step {
            let (control, engine) = match own.engine {
                StepEngine::Equations(_) => {
                    let (control, model) = instance.into_model(run.described_now(fmu));
                    (control, Engine::Equations(model))
                }
                StepEngine::Steps | StepEngine::StepsAndEvents => {
                    let (control, stepper) = instance.into_stepper();
                    (control, Engine::Steps(stepper.with_patience(patience(run))))
                }
            };
            let unit = match engine {
                Engine::Steps(stepper) if own.engine == StepEngine::Steps && !own.membership.is_mastered() => {
                    Unit::Step(StepUnit::new(run, id, own, interval, stepper))
                }
                engine => Unit::Events(Box::new(EventUnit::new(run, id, own, interval, engine, learned))),
            };
            return Ready { control, units: vec![(id, unit)] };
        }
        let clocks: Vec<ClockElement> = partitions.iter().map(|(_, clock)| *clock).collect();
        let (control, own) = instance.into_parts(&clocks);
        let unit = |((id, _), partition): (&(UnitId, ClockElement), _)| {
            (*id, Unit::Partition(PartitionUnit::new(run, *id, partition)))
        };
        Ready { control, units: partitions.iter().zip(own).map(unit).collect() }
    }

    /// Whether [`Getting::ask`](crate::calls::Getting::ask) does nothing.
    pub fn asks_nothing(&self) -> bool {
        match self {
            Unit::Partition(unit) => unit.asks_nothing(),
            Unit::Step(_) | Unit::Events(_) => true,
        }
    }

    /// Whether it can be released beside its grid.
    pub fn leaves_its_grid(&self) -> bool {
        matches!(self, Unit::Step(_) | Unit::Events(_))
    }

    /// The steps of an FMU without Event Mode; `None`: it is another kind.
    #[inline]
    pub fn steps(&self) -> Option<&StepUnit> {
        match self {
            Unit::Step(unit) => Some(unit),
            _ => None,
        }
    }

    /// [`Unit::steps`] of a task that makes them in a batch, as no other unit does.
    #[inline(always)] // in the one loop there is
    pub fn batched(&mut self) -> &mut StepUnit {
        match self {
            Unit::Step(unit) => unit,
            _ => unreachable!("it does not stride"),
        }
    }

    /// The FMU that it makes the steps of, if that handles events.
    pub fn member(&mut self) -> Option<&mut Member> {
        match self {
            Unit::Events(unit) => Some(unit.member()),
            _ => None,
        }
    }

    /// The numbers of states and event indicators that the instance reports; `None`: it is none for Model Exchange, or is between
    /// events, as after a state was restored, where asking is illegal (FMI 3.0.2, 2.3.5, 3.2.1).
    pub fn numbers(&mut self) -> Result<Option<Numbers>, Failure> {
        let Some(member) = self.member() else { return Ok(None) };
        if member.is_in_event_mode() { member.engine.numbers() } else { Ok(None) }
    }

    /// Whether stimuli tick clocks between its steps.
    pub fn is_fed(&self) -> bool {
        matches!(self, Unit::Events(unit) if unit.is_fed())
    }

    /// Fetches the ticks that stimuli have between its steps, before the release `due` is over. `false`: they cannot be read, and
    /// the run ends.
    pub fn take_fed(&mut self, run: &RunState, due: &Due) -> bool {
        self.member().is_none_or(|member| member.take_fed(run, due))
    }

    /// Whether a release at this time continues a step of a group, over which inputs from outside are held.
    #[inline]
    pub fn holds_inputs(&self, time: Instant) -> bool {
        matches!(self, Unit::Events(unit) if unit.holds_inputs(time))
    }

    /// That unit is another member of its group, with these calls and stimuli.
    pub fn join(&mut self, other: Unit, calls: Calls, stimuli: Vec<Stimulated>) {
        let (Unit::Events(unit), Unit::Events(other)) = (self, other) else {
            unreachable!("the plan groups units with Event Mode only");
        };
        unit.join(GroupMember { member: other.into_member(), calls, stimuli });
    }

    /// Whether it is a group of several.
    pub fn is_group(&self) -> bool {
        matches!(self, Unit::Events(unit) if unit.is_group())
    }

    /// Fetches the stimuli's values for the other members of a group, for the release `due`; `is_held`: inputs from outside are
    /// held. `false`: they cannot be read, and the run ends.
    #[inline]
    pub fn stimulate_others(&mut self, run: &RunState, due: &Due, is_held: bool) -> bool {
        match self {
            Unit::Events(unit) => unit.stimulate_others(run, due, is_held),
            _ => true,
        }
    }

    /// Itself, which has this number, and the other members of a group, each with its number.
    pub fn apart(self, unit: UnitId) -> Vec<(UnitId, Unit)> {
        match self {
            Unit::Events(mut own) => {
                let other = |GroupMember { member, calls, .. }| (calls.unit(), Unit::Events(Box::new(member.into())));
                let others = own.leave().into_iter().map(other);
                [(unit, Unit::Events(own))].into_iter().chain(others).collect()
            }
            own => vec![(unit, own)],
        }
    }

    /// Whether it records by itself: its results belong to another time than its inputs.
    pub fn records(&self) -> bool {
        matches!(self, Unit::Step(_) | Unit::Events(_))
    }

    /// Asks for the memory that every call looks at.
    #[inline]
    pub fn prefetch(&self) {
        match self {
            Unit::Partition(unit) => unit.prefetch(),
            Unit::Step(unit) => unit.prefetch(),
            Unit::Events(unit) => unit.prefetch(),
        }
    }

    /// Treats the instance as failed.
    pub fn fail(&self) {
        match self {
            Unit::Partition(unit) => unit.fail(),
            Unit::Step(unit) => unit.fail(),
            Unit::Events(unit) => unit.fail(),
        }
    }

    /// Makes the calls of the task once, for the release `due`, whose time is `seconds`.
    #[inline]
    pub fn run(
        &mut self,
        calls: &mut Calls,
        run: &'static RunState,
        host: &'static PartitionHost,
        due: &Due,
        seconds: f64,
        meter: &mut impl Meter,
    ) -> Result<(), ActivationError> {
        match self {
            Unit::Partition(unit) => calls.run(unit.begin(), run, host, due, seconds, meter),
            Unit::Step(unit) if unit.is_over(run, host) => {
                unit.record_last(calls, run, host, due.time);
                calls.leave_out();
                Ok(())
            }
            Unit::Step(unit) => {
                unit.read_first_outputs(calls)?;
                calls.run(unit.begin(), run, host, due, seconds, meter)?;
                unit.is_read(calls, run, host);
                Ok(())
            }
            Unit::Events(unit) => unit.run(calls, run, host, due, meter),
        }
    }

    /// Ends the work after the last release of the run, such as recording the last values.
    pub fn finish(&mut self, calls: &Calls, run: &RunState, host: &'static PartitionHost) {
        match self {
            Unit::Step(unit) => unit.finish(calls, run, host),
            Unit::Events(unit) => unit.finish(calls, run, host),
            Unit::Partition(_) => (),
        }
    }

    /// Takes the release beside the grid that the unit wants, if there is one.
    #[inline]
    pub fn take_point(&mut self) -> Option<Instant> {
        match self {
            Unit::Step(unit) => unit.take_point(),
            Unit::Events(unit) => unit.take_point(),
            Unit::Partition(_) => None,
        }
    }

    /// Takes the time until the next release, where the FMU decides it each time.
    pub fn take_next(&mut self) -> Option<Fraction> {
        match self {
            Unit::Partition(unit) => unit.take_next(),
            Unit::Step(_) | Unit::Events(_) => None,
        }
    }
}

impl From<Unit> for ComputeHandle {
    fn from(unit: Unit) -> ComputeHandle {
        match unit {
            Unit::Partition(unit) => unit.into_partition().into(),
            Unit::Step(unit) => unit.into_stepper().into(),
            Unit::Events(unit) => unit.into_part(),
        }
    }
}

/// Puts an instance together again; `None`: units of it are missing, and it is abandoned.
pub fn join(control: InstanceControl, units: Vec<Unit>) -> Option<Instance<Running>> {
    control.join(units).ok()
}
