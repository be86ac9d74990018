//! Structural parameters at run time: Reconfiguration Mode with the instance at rest.
//!
//! In real time on a thread of its own, which waits for partitions and allocates as it likes; in virtual time between two
//! activations.

use super::halt::Halt;
use super::inbox::failed;
use super::privileges::Say;
use super::thread_host::{Dispatch, PartitionHost};
use super::world::{Ending, World};
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;
use std::time::Duration;
use vecud_base::time::{Instant, Nanos};
use vecud_description::word;
use vecud_description::{ValueReference, Values, VariableType};
use vecud_fmi::{Function, Reconfiguration, set_thread_host};
use vecud_linux::preemption::LockMember;
use vecud_linux::{affinity, thread};
use vecud_plan::{ControlKind, ControlVariable, FmuId, UnitId};
use vecud_record::control::{CommandOutcome, CommandReply, CommandedVariable, ReceivedCommand, Ring};
use vecud_record::log::kind;
use vecud_record::unusable::Unusable;

/// How often the thread looks.
const LOOK: Duration = Duration::from_millis(2);

/// One instance whose structural parameters can be set.
pub struct Reconfigurable {
    /// The instance.
    fmu: FmuId,
    /// The instance whose thread calls it: its own, or that of the first member of its group.
    called_by: FmuId,
    /// The task that makes its steps.
    steps: Option<UnitId>,
    /// What takes it through Reconfiguration Mode.
    calls: Reconfiguration,
}

impl Reconfigurable {
    /// This instance, by `calls`.
    pub fn new(world: &World, fmu: FmuId, calls: Reconfiguration) -> Reconfigurable {
        let steps = world.instances[fmu.0].steps;
        let called_by = steps.map_or(fmu, |unit| world.plan.units[world.plan.task_of(unit).first().0].fmu);
        Reconfigurable { fmu, called_by, steps, calls }
    }

    /// Whether the thread of this instance calls it.
    pub fn is_called_by(&self, fmu: FmuId) -> bool {
        self.called_by == fmu
    }

    /// The command that is due at `now`, if there is one.
    fn due(&self, world: &World, now: Instant) -> Option<(Ring<'static>, ReceivedCommand<'static>)> {
        let ring = world.board.structure(self.fmu)?;
        let command = ReceivedCommand::new(ring.next()?);
        command.at().is_none_or(|at| at <= now).then_some((ring, command))
    }

    /// Carries out what is due at `now`, in the name of `host` or of what follows it. `time` tells the time once the instance is at rest.
    pub fn apply(&self, world: &World, host: &'static PartitionHost, now: Instant, time: impl Fn() -> Instant) {
        while let Some((ring, command)) = self.due(world, now) {
            let host = host.of(self.fmu);
            let applied = world.at_rest(self.called_by, || {
                // It may have failed, or the run been stopped, while this waited.
                if host.has_failed() || world.ending() == Ending::Discard {
                    return false;
                }
                self.carry_out(world, host, ring, command, time());
                true
            });
            if !applied {
                return;
            }
        }
    }

    fn carry_out(
        &self,
        world: &World,
        host: &'static PartitionHost,
        ring: Ring,
        command: ReceivedCommand,
        time: Instant,
    ) {
        let plan = &world.plan.fmus[self.fmu.0];
        let items: Vec<(&ControlVariable, Values)> = command
            .items()
            .filter_map(|item| {
                let variable = plan.control.variables.get(item.variable)?;
                Some((variable, values(variable.variable_type, item)?))
            })
            .collect();
        let served_before = set_thread_host(Some(host));
        host.at(time);
        let sets = items.iter().map(|(variable, values)| -> (ValueReference, VariableType, &Values) {
            (variable.reference, variable.variable_type, values)
        });
        let result = self.calls.set(sets);
        host.returned_from_fmu();
        let result = result.map_err(Halt::from).and_then(|outcome| Halt::unless_allowed(outcome, plan.on_warning));
        let result = result.and_then(|()| {
            self.resize(world, &items);
            self.follow_equations(world, host, time)
        });
        set_thread_host(served_before);
        let verdict = match &result {
            Ok(()) => CommandOutcome::Applied,
            Err(halt) => {
                self.calls.fail();
                halt.note(host);
                failed(halt)
            }
        };
        ring.finish(CommandReply { verdict, time });
    }

    /// Makes room for as many states and event indicators as an FMU for Model Exchange has now, which are those of its description.
    fn follow_equations(&self, world: &World, host: &PartitionHost, time: Instant) -> Result<(), Halt> {
        let Some(task) = self.steps.filter(|_| world.plan.fmus[self.fmu.0].model_exchange().is_some()) else {
            return Ok(());
        };
        let said = self.calls.numbers();
        host.returned_from_fmu();
        let described = world.described_now(self.fmu);
        let said = said?.unwrap_or(described);
        let pairs = [
            (Function::GetNumberOfContinuousStates, said.states, described.states),
            (Function::GetNumberOfEventIndicators, said.event_indicators, described.event_indicators),
        ];
        if let Some((function, said, described)) = pairs.into_iter().find(|(_, said, described)| said != described) {
            let reading = Unusable::Number(said as u64, described as u64);
            return Err(host.fail_reading(function, task, time, reading));
        }
        let first = world.plan.task_of(task).first();
        world.instances[self.called_by.0].room.make(&world.plan, first, |fmu| world.described_now(fmu));
        Ok(())
    }

    fn resize(&self, world: &World, items: &[(&ControlVariable, Values)]) {
        let instance = &world.instances[self.fmu.0];
        for (variable, values) in items {
            if let (ControlKind::Structural { size: Some(size) }, Values::UInt64(values)) = (variable.kind, values) {
                instance.sizes[size].store(values.first().copied().unwrap_or(0), SeqCst);
            }
        }
        instance.resized.fetch_add(1, SeqCst);
    }
}

fn values(variable_type: VariableType, item: CommandedVariable) -> Option<Values> {
    match variable_type {
        VariableType::String => {
            let text = |(_, bytes)| String::from_utf8(Iterator::collect(bytes)).ok();
            item.texts().map(text).collect::<Option<_>>().map(Values::String)
        }
        VariableType::Binary => Some(Values::Binary(item.texts().map(|(_, bytes)| bytes.collect()).collect())),
        _ => {
            let words: Vec<u64> = (0..item.elements).map(|element| item.word(element)).collect();
            word::values(&words, variable_type)
        }
    }
}

/// Reconfigures instances while partitions run, in real time.
pub struct Reconfigurer(JoinHandle<()>);

impl Reconfigurer {
    /// Starts the thread, if anything can be reconfigured.
    pub fn start(world: &'static World, instances: Vec<Reconfigurable>, say: Say) -> Option<Reconfigurer> {
        if instances.is_empty() {
            return None;
        }
        match thread::spawn_deep("vecud.control", 64 << 10, move |_| serve(world, &instances)) {
            Ok(thread) => Some(Reconfigurer(thread)),
            Err(error) => {
                say(1, kind::NOT_STARTED, &format!("no structural parameter can be set: {error}"));
                None
            }
        }
    }

    /// Whether it has left, which it does when the run ends.
    pub fn has_left(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits for its end.
    pub fn join(self) {
        let _ = self.0.join();
    }
}

fn serve(world: &'static World, instances: &[Reconfigurable]) {
    let own: Vec<usize> = world.plan.units.iter().map(|task| task.cpu).collect();
    let _partitions_go_first = affinity::keep_off(&own);
    let hosts: Vec<&'static PartitionHost> = instances
        .iter()
        .map(|instance| {
            let host = PartitionHost::new(world, instance.fmu, LockMember::outside(), Dispatch::Threads);
            // As long as the process: FMU code may call back until its very end.
            &*Box::leak(Box::new(host))
        })
        .collect();
    let time = || world.simulation(Nanos(world.now()));
    while world.ending() == Ending::No && !world.tasks.iter().all(|task| task.finished.load(SeqCst)) {
        if world.start().0 != 0 && time() >= world.begin {
            for (instance, host) in instances.iter().zip(&hosts) {
                instance.apply(world, host, time(), time);
            }
        }
        std::thread::sleep(LOOK);
    }
}
