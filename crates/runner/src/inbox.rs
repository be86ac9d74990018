//! Commands that set variables before the next activation (semantics S10).
//!
//! Each task has its own [`Inbox`]: the lanes that it may serve, and a buffer for one variable of each type. Tasks that share a
//! lane exclude each other by the preemption lock of their instance. The variables of one command are set under one lock, so no
//! partition runs between the first and the last of them.
//!
//! An FMU for Co-Simulation that handles events takes everything in Event Mode: a command is a jump (FMI 3.0.2, 4.1.1). One for
//! Model Exchange takes continuous inputs between events and everything else in Event Mode (3.2.2): before each of its steps it
//! has a [`Turn`] for each. A command with both waits in its ring from one turn to the next, and those behind it wait with it, so
//! that the order of all commands is kept. Such an FMU has one task, so one lane.
//!
//! With nothing sent since the last look, a look is one load. Nothing here allocates.

use super::activation_error::ActivationError;
use super::run_state::RunState;
use super::thread_host::PartitionHost;
use std::collections::HashMap;
use std::sync::atomic::Ordering::Acquire;
use vecud_base::time::Instant;
use vecud_description::{ValueReference, VariableType};
use vecud_fmi::{Batch, Failure, Function, Status};
use vecud_plan::{ControlKind, ControlVariable, FmuId, UnitId, control};
use vecud_record::board::FmuWord;
use vecud_record::control::{CommandOutcome, CommandReply, CommandRing, CommandedVariable, variables};
use vecud_record::items::Item;

/// Something whose variables can be set.
pub trait Settable {
    /// Sets the enabled items of the batch, in one call.
    fn set(&mut self, batch: &Batch) -> Result<vecud_fmi::Outcome, Failure>;

    /// Tunable parameters were set for a release at `time`: reads again the FMU's answers that may depend on them.
    fn follow_parameters(&mut self, host: &PartitionHost, time: Instant) -> Result<(), ActivationError>;
}

/// The commands that one task may carry out.
pub struct Inbox {
    fmu: FmuId,
    lanes: Vec<usize>,
    /// With the bytes that each string or binary may have: a buffer for one variable of a type, as large as the largest one.
    rooms: Vec<(Option<usize>, Batch)>,
    /// Commands for the instance that were sent when this looked last.
    seen: u64,
    /// Commands were left then: their time had not come, or they wait for the other mode.
    left: bool,
    /// The variables that the oldest command sets in Event Mode are set; those for Step Mode are still to come.
    half: bool,
}

/// Selects which variables of the due commands one turn sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Everything: the FMU handles no events between steps.
    All,
    /// The variables for Event Mode, up to the first command that also sets a variable in Step Mode. `again`: a further turn for
    /// the same step, so that commands sent since the first one wait.
    EventMode {
        /// Not the first turn for this step.
        again: bool,
    },
    /// The variables for Step Mode, up to the first command that wants Event Mode. Follows a turn in Event Mode.
    StepMode,
}

/// The result of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// A tunable parameter was set.
    pub tuned: bool,
    /// The next command that is due wants Event Mode.
    pub wants_event_mode: bool,
}

/// The result of one look into the lanes.
enum Step {
    /// There is nothing to do in this turn; whether something waits for its time, or for the other mode.
    Nothing { left: bool, wants_event_mode: bool },
    /// A command was carried out, or found impossible. Whether a tunable parameter was set.
    Done { tuned: bool },
}

impl Inbox {
    /// The inbox of a task.
    pub fn new(run: &RunState, unit: UnitId) -> Inbox {
        let fmu = run.plan.units[unit.0].fmu;
        let plan = &run.plan.fmus[fmu.0];
        let lanes: Vec<usize> =
            (0..plan.control.lanes.len()).filter(|lane| plan.control.lanes[*lane].units.contains(&unit)).collect();
        let mut largest: HashMap<(VariableType, Option<usize>), (ValueReference, usize)> = HashMap::new();
        for variable in &plan.control.variables {
            if matches!(variable.kind, ControlKind::Value { lane, .. } if lanes.contains(&lane)) {
                let elements = control::elements(&variable.lengths, |size| plan.sizes[size].start);
                let most = largest.entry((variable.variable_type, variable.bytes)).or_insert((variable.reference, 0));
                most.1 = most.1.max(elements);
            }
        }
        let room = |((variable_type, bytes), (reference, elements)): (_, (_, usize))| match bytes {
            None => (bytes, Batch::new(variable_type, vec![(reference, elements)])),
            Some(each) => (bytes, Batch::awaiting_bytes(variable_type, &[(reference, elements, each)]).all_enabled()),
        };
        Inbox { fmu, lanes, rooms: largest.into_iter().map(room).collect(), seen: 0, left: false, half: false }
    }

    /// Whether nothing can ever come.
    pub fn is_unused(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Carries out the commands that are due before an activation at `time`.
    #[inline]
    pub fn apply(
        &mut self,
        run: &RunState,
        host: &PartitionHost,
        setting: &mut impl Settable,
        time: Instant,
        turn: Turn,
    ) -> Result<Carried, ActivationError> {
        if self.lanes.is_empty() {
            return Ok(Carried::default());
        }
        let sent = match turn {
            Turn::All | Turn::EventMode { again: false } => {
                run.board.fmu(self.fmu).word(FmuWord::Commands).load(Acquire)
            }
            Turn::EventMode { again: true } | Turn::StepMode => self.seen,
        };
        if sent == self.seen && !self.left {
            return Ok(Carried::default());
        }
        self.apply_all(run, host, setting, (time, turn), sent)
    }

    #[cold]
    fn apply_all(
        &mut self,
        run: &RunState,
        host: &PartitionHost,
        setting: &mut impl Settable,
        (time, turn): (Instant, Turn),
        sent: u64,
    ) -> Result<Carried, ActivationError> {
        let mut any_tuned = false;
        // A command that is sent from now on waits for the next activation: a busy sender could otherwise hold this one up for
        // ever.
        loop {
            match host.locked(|| self.step(run, setting, (time, turn), sent))? {
                Step::Done { tuned } => any_tuned |= tuned,
                Step::Nothing { left, wants_event_mode } => {
                    (self.seen, self.left) = (sent, left);
                    return Ok(Carried { tuned: any_tuned, wants_event_mode });
                }
            }
        }
    }

    /// Carries out the oldest command that is due, as far as this turn goes. The caller has the lock.
    fn step(
        &mut self,
        run: &RunState,
        setting: &mut impl Settable,
        (time, turn): (Instant, Turn),
        sent: u64,
    ) -> Result<Step, ActivationError> {
        let mut first: Option<(CommandRing, Item)> = None;
        let mut left = false;
        for ring in self.lanes.iter().flat_map(|lane| run.board.lane(self.fmu, *lane)) {
            let Some(command) = ring.next() else { continue };
            let due = command.id() <= sent && command.time().is_none_or(|at| at <= time);
            left |= !due;
            if due && first.is_none_or(|(_, other)| command.id() < other.id()) {
                first = Some((ring, command));
            }
        }
        let Some((ring, command)) = first else { return Ok(Step::Nothing { left, wants_event_mode: false }) };
        if !self.fits(run, command) {
            self.finish(ring, CommandReply { verdict: CommandOutcome::Resized, time });
            return Ok(Step::Done { tuned: false });
        }
        let known = &run.plan.fmus[self.fmu.0].control.variables;
        let in_event_mode =
            |number: usize| matches!(known[number].kind, ControlKind::Value { in_event_mode: true, .. });
        let has_events = !self.half && variables(command).any(|item| in_event_mode(item.variable));
        let has_others = variables(command).any(|item| !in_event_mode(item.variable));
        match turn {
            Turn::EventMode { .. } if !has_events => return Ok(Step::Nothing { left: true, wants_event_mode: false }),
            Turn::StepMode if has_events => return Ok(Step::Nothing { left: true, wants_event_mode: true }),
            Turn::All | Turn::EventMode { .. } | Turn::StepMode => (),
        }
        let is_set_now = |number: usize| match turn {
            Turn::All => true,
            Turn::EventMode { .. } => in_event_mode(number),
            Turn::StepMode => !in_event_mode(number),
        };
        let mut tuned = false;
        for item in variables(command).filter(|item| is_set_now(item.variable)) {
            let variable = &known[item.variable];
            let result = self.set(run, setting, variable, item);
            if let Err(error) = result {
                self.finish(ring, CommandReply { verdict: failed(&error), time });
                return Err(error);
            }
            tuned |= matches!(variable.kind, ControlKind::Value { tunable: true, .. });
        }
        self.half = has_others && matches!(turn, Turn::EventMode { .. });
        if self.half {
            return Ok(Step::Nothing { left: true, wants_event_mode: false });
        }
        self.finish(ring, CommandReply { verdict: CommandOutcome::Applied, time });
        Ok(Step::Done { tuned })
    }

    /// The oldest command is over, whatever has become of it: nothing of the next one is set yet.
    fn finish(&mut self, ring: CommandRing, outcome: CommandReply) {
        self.half = false;
        ring.finish(outcome);
    }

    /// Whether the variables are there and still have as many elements as the sender thought.
    fn fits(&self, run: &RunState, command: Item) -> bool {
        let plan = &run.plan.fmus[self.fmu.0].control;
        variables(command).all(|item| {
            plan.variables.get(item.variable).is_some_and(|variable| {
                let ours = matches!(variable.kind, ControlKind::Value { lane, .. } if self.lanes.contains(&lane));
                ours && run.elements(self.fmu, &variable.lengths) == item.elements
            })
        })
    }

    fn set(
        &mut self,
        run: &RunState,
        setting: &mut impl Settable,
        variable: &ControlVariable,
        item: CommandedVariable,
    ) -> Result<(), ActivationError> {
        let kind = (variable.bytes, variable.variable_type);
        let room = self.rooms.iter_mut().find(|(bytes, values)| (*bytes, values.variable_type()) == kind);
        // The sender has checked lengths and NULs; a command that does not fit is damaged, and the instance goes on.
        let Some((bytes, values)) = room.filter(|(_, values)| item.elements <= values.len()) else { return Ok(()) };
        values.refer_to(variable.reference, item.elements);
        match bytes {
            None => (0..item.elements).for_each(|element| values.set_word(element, item.word(element))),
            Some(each) => {
                for (element, (length, bytes)) in item.texts().enumerate() {
                    values.fill_bytes(element, |room| room.iter_mut().zip(bytes).map(|(to, byte)| *to = byte).count());
                    let has_nul = || values.bytes(element).unwrap_or_default().contains(&0);
                    if length > *each || (variable.variable_type == VariableType::String && has_nul()) {
                        return Ok(());
                    }
                }
            }
        }
        ActivationError::unless_allowed(setting.set(values)?, run.plan.fmus[self.fmu.0].on_warning)
    }
}

/// The reply to the sender of a command whose instance has failed.
pub fn failed(error: &ActivationError) -> CommandOutcome {
    let (status, function) = match error {
        ActivationError::Call(failure) => (failure.status, failure.function),
        // A warning is reported as if the call that would have followed had returned it.
        ActivationError::Warning => (Status::Warning, Function::ActivateModelPartition),
        ActivationError::Other | ActivationError::Reading => (Status::Error, Function::ActivateModelPartition),
    };
    CommandOutcome::Failed { status: status as u8, function: function as u8 }
}
