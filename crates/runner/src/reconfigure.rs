//! Structural parameters at run time: Reconfiguration Mode with the instance at rest.
//!
//! In real time on a thread of its own, which waits for partitions and allocates as it likes; in virtual time between two
//! activations.

use super::activation_error::ActivationError;
use super::inbox::failed;
use super::privileges::Say;
use super::run_state::{Ending, RunState};
use super::thread_host::{Dispatch, PartitionHost};
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
use vecud_record::control::{CommandOutcome, CommandReply, CommandRing, CommandedVariable, variables};
use vecud_record::items::Item;
use vecud_record::log::kind;
use vecud_record::unusable::Unusable;

/// How often the thread looks.
const LOOK: Duration = Duration::from_millis(2);

/// An instance whose structural parameters can be set.
pub struct Reconfigurable {
    /// The instance.
    fmu: FmuId,
    /// The instance whose thread calls it: the instance itself, or the first member of its group.
    called_by: FmuId,
    /// The task that makes its steps.
    steps: Option<UnitId>,
    /// The calls of Reconfiguration Mode.
    calls: Reconfiguration,
}

impl Reconfigurable {
    /// This instance, by `calls`.
    pub fn new(run: &RunState, fmu: FmuId, calls: Reconfiguration) -> Reconfigurable {
        let steps = run.instances[fmu.0].steps;
        let called_by = steps.map_or(fmu, |unit| run.plan.units[run.plan.task_of(unit).first().0].fmu);
        Reconfigurable { fmu, called_by, steps, calls }
    }

    /// Whether the thread of this instance calls it.
    pub fn is_called_by(&self, fmu: FmuId) -> bool {
        self.called_by == fmu
    }

    /// The command that is due at `now`, if there is one.
    fn due(&self, run: &RunState, now: Instant) -> Option<(CommandRing<'static>, Item<'static>)> {
        let ring = run.board.structure(self.fmu)?;
        let command = ring.next()?;
        command.time().is_none_or(|at| at <= now).then_some((ring, command))
    }

    /// Carries out the commands that are due at `now`, on behalf of `host`. `time` returns the time once the instance is at rest.
    pub fn apply(&self, run: &RunState, host: &'static PartitionHost, now: Instant, time: impl Fn() -> Instant) {
        while let Some((ring, command)) = self.due(run, now) {
            let host = host.of(self.fmu);
            let applied = run.at_rest(self.called_by, || {
                // The instance may have failed, or the run been stopped, while this waited.
                if host.has_failed() || run.ending() == Ending::Discard {
                    return false;
                }
                self.carry_out(run, host, ring, command, time());
                true
            });
            if !applied {
                return;
            }
        }
    }

    fn carry_out(&self, run: &RunState, host: &'static PartitionHost, ring: CommandRing, command: Item, time: Instant) {
        let plan = &run.plan.fmus[self.fmu.0];
        let items: Vec<(&ControlVariable, Values)> = variables(command)
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
        let result = result
            .map_err(ActivationError::from)
            .and_then(|outcome| ActivationError::unless_allowed(outcome, plan.on_warning));
        let result = result.and_then(|()| {
            self.resize(run, &items);
            self.follow_equations(run, host, time)
        });
        set_thread_host(served_before);
        let verdict = match &result {
            Ok(()) => CommandOutcome::Applied,
            Err(error) => {
                self.calls.fail();
                error.note(host);
                failed(error)
            }
        };
        ring.finish(CommandReply { verdict, time });
    }

    /// Makes buffers for the present numbers of states and event indicators of an FMU for Model Exchange, by its description.
    fn follow_equations(&self, run: &RunState, host: &PartitionHost, time: Instant) -> Result<(), ActivationError> {
        let Some(unit) = self.steps.filter(|_| run.plan.fmus[self.fmu.0].model_exchange().is_some()) else {
            return Ok(());
        };
        let said = self.calls.numbers();
        host.returned_from_fmu();
        let described = run.described_now(self.fmu);
        let said = said?.unwrap_or(described);
        let pairs = [
            (Function::GetNumberOfContinuousStates, said.states, described.states),
            (Function::GetNumberOfEventIndicators, said.event_indicators, described.event_indicators),
        ];
        if let Some((function, said, described)) = pairs.into_iter().find(|(_, said, described)| said != described) {
            let reading = Unusable::Number(said as u64, described as u64);
            return Err(host.fail_reading(function, unit, time, reading));
        }
        let first = run.plan.task_of(unit).first();
        run.instances[self.called_by.0].buffer_swap.make(&run.plan, first, |fmu| run.described_now(fmu));
        Ok(())
    }

    fn resize(&self, run: &RunState, items: &[(&ControlVariable, Values)]) {
        let instance = &run.instances[self.fmu.0];
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
    pub fn start(run: &'static RunState, instances: Vec<Reconfigurable>, say: Say) -> Option<Reconfigurer> {
        if instances.is_empty() {
            return None;
        }
        match thread::spawn_deep("vecud.control", 64 << 10, move |_| serve(run, &instances)) {
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

fn serve(run: &'static RunState, instances: &[Reconfigurable]) {
    let own = run.plan.cores();
    let _partitions_go_first = affinity::keep_off(&own);
    let hosts: Vec<&'static PartitionHost> = instances
        .iter()
        .map(|instance| {
            let host = PartitionHost::new(run, instance.fmu, LockMember::outside(), Dispatch::Threads);
            // Leaked: FMU code may call back until the very end of the process.
            &*Box::leak(Box::new(host))
        })
        .collect();
    let time = || run.simulation(Nanos(run.now()));
    while run.ending() == Ending::No && !run.tasks.iter().all(|task| task.finished.load(SeqCst)) {
        if run.start().0 != 0 && time() >= run.begin {
            for (instance, host) in instances.iter().zip(&hosts) {
                instance.apply(run, host, time(), time);
            }
        }
        std::thread::sleep(LOOK);
    }
}
