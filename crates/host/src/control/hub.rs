//! The supervisor's end of the rings: one writer for each, and the tickets that wait for an outcome.

use super::check::CheckedCommand;
use super::error::ControlError;
use crate::shared::SharedRig;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vecud_base::time::Instant;
use vecud_description::bytes;
use vecud_description::{Values, VariableType};
use vecud_fmi::{Function, Status};
use vecud_plan::control::element_place;
use vecud_plan::{ControlKind, ControlVariable, FmuId, FmuPlan, Length, Plan};
use vecud_record::board::FmuWord;
use vecud_record::control::{CommandOutcome, CommandRing, OUTSTANDING, encode};
use vecud_record::findings::{FindingKind, Occurrence};
use vecud_record::items;
use vecud_record::signals::Set;

/// Outcome of an executed command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Applied {
    /// Activation time of the activation before which the values were set; for a reconfiguration the simulation time;
    /// for a tick its activation time.
    pub time: Instant,
    /// The run pauses, and the tick waits until it continues.
    pub is_held: bool,
}

/// The values that a variable accepts.
#[derive(Clone, Debug, PartialEq)]
pub struct AcceptedValue {
    /// Type of the variable.
    pub variable_type: VariableType,
    /// Items of an enumeration: names and values.
    pub items: Vec<(String, i64)>,
}

/// Receives the outcome of one command.
pub type Slot = Arc<Mutex<Option<Result<Applied, ControlError>>>>;

/// All rings of a run.
pub struct Hub {
    shared: Arc<SharedRig>,
    state: Mutex<State>,
    closed: AtomicBool,
}

struct State {
    fmus: Vec<Fmu>,
    changes: Vec<(Instant, Vec<Set>)>,
    ticks: Ticks,
}

/// Requested ticks.
#[derive(Default)]
struct Ticks {
    /// Requests without an outcome yet, with the names of their clocks.
    waiting: VecDeque<(Slot, String)>,
}

struct Fmu {
    sent: u64,
    /// Present sizes.
    sizes: Vec<u64>,
    /// Sizes at the start of each run.
    first_sizes: Vec<u64>,
    /// Commands sent in each lane: immediate, timed. Structural parameters have both in one ring.
    lanes: Vec<[Sent; 2]>,
    structure: Sent,
}

/// Commands sent to one ring.
#[derive(Default)]
struct Sent {
    /// Commands without an outcome so far.
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    slot: Slot,
    at: Option<Instant>,
    sets: Vec<(usize, Values)>,
}

impl Hub {
    /// Attaches the supervisor's end to the shared memory of a run.
    pub fn new(shared: Arc<SharedRig>) -> Hub {
        let resumed = shared.prepared.resumed.as_ref();
        let fmu = |(id, plan): (usize, &FmuPlan)| {
            let mut sizes: Vec<u64> = plan.sizes.iter().map(|size| size.start).collect();
            let left = resumed.and_then(|snapshot| snapshot.sizes.get(id)).into_iter().flatten();
            sizes.iter_mut().zip(left).for_each(|(size, left)| *size = *left);
            Fmu {
                sent: 0,
                first_sizes: sizes.clone(),
                sizes,
                lanes: plan.control.lanes.iter().map(|_| Default::default()).collect(),
                structure: Sent::default(),
            }
        };
        let fmus = shared.plan().fmus.iter().enumerate().map(fmu).collect();
        Hub {
            state: Mutex::new(State { fmus, changes: Vec::new(), ticks: Ticks::default() }),
            closed: AtomicBool::new(false),
            shared,
        }
    }

    /// The plan of the run.
    pub fn plan(&self) -> &Plan {
        self.shared.plan()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Present sizes of an instance, as far as they are known here.
    pub fn sizes(&self, fmu: usize) -> Vec<u64> {
        let mut state = self.lock();
        self.read_outcomes(&mut state);
        state.fmus[fmu].sizes.clone()
    }

    /// Sends commands to different rings: all of them, or none.
    pub fn send(&self, commands: Vec<CheckedCommand>, at: Option<Instant>) -> Result<Vec<Slot>, ControlError> {
        let mut state = self.lock();
        self.read_outcomes(&mut state);
        let mut ready: Vec<(CheckedCommand, Vec<u64>)> = Vec::new();
        for command in commands {
            self.refuse_if_over(command.fmu)?;
            let before = ready.iter().filter(|(other, _)| other.fmu == command.fmu).count() as u64;
            let order = state.fmus[command.fmu].sent + 1 + before;
            let sent = state.fmus[command.fmu].sent_in(command.lane, at.is_some());
            if let Some(later) = sent.waiting.back().and_then(|last| last.at)
                && at.is_none_or(|at| at < later)
            {
                return Err(ControlError::OutOfOrder(later));
            }
            let borrowed: Vec<(usize, &Values)> =
                command.sets.iter().map(|(variable, values)| (*variable, values)).collect();
            let words = encode(order, at, &borrowed);
            let ring = self.ring(&command, at.is_some())?;
            if words.len() > ring.commands.longest() {
                return Err(ControlError::TooLong(words.len(), ring.commands.longest()));
            }
            if sent.waiting.len() >= OUTSTANDING || !ring.commands.has_room(words.len()) {
                return Err(ControlError::Busy);
            }
            ready.push((command, words));
        }
        let mut slots = Vec::new();
        for (command, words) in ready {
            if !self.ring(&command, at.is_some())?.commands.push(&words) {
                return Err(ControlError::Busy);
            }
            let CheckedCommand { fmu, lane, sets } = command;
            let (own, slot) = (&mut state.fmus[fmu], Slot::default());
            own.sent += 1;
            own.sent_in(lane, at.is_some()).waiting.push_back(Waiting { slot: slot.clone(), at, sets });
            self.shared.board().fmu(FmuId(fmu)).word(FmuWord::Commands).store(own.sent, SeqCst);
            slots.push(slot);
        }
        Ok(slots)
    }

    /// Requests a tick of the clock with this number.
    pub fn tick(&self, number: usize) -> Result<Slot, ControlError> {
        let clock = &self.plan().requests[number];
        let mut state = self.lock();
        self.read_outcomes(&mut state);
        self.refuse_if_over(self.plan().units[clock.target.unit.0].fmu.0)?;
        let ring = self.shared.board().requests().ok_or(ControlError::NotControlled)?;
        if state.ticks.waiting.len() >= OUTSTANDING || !ring.commands.push(&items::header(number as u64, None)) {
            return Err(ControlError::Busy);
        }
        let slot = Slot::default();
        state.ticks.waiting.push_back((slot.clone(), clock.name.clone()));
        Ok(slot)
    }

    /// Ring for a command.
    fn ring(&self, command: &CheckedCommand, timed: bool) -> Result<CommandRing<'_>, ControlError> {
        let board = self.shared.board();
        match command.lane {
            Some(lane) => Ok(board.lane(FmuId(command.fmu), lane)[usize::from(timed)]),
            None => board.structure(FmuId(command.fmu)).ok_or(ControlError::NotControlled),
        }
    }

    /// The values that a variable of an FMU accepts.
    pub fn settable(&self, fmu: usize, variable: &ControlVariable) -> AcceptedValue {
        let description = &self.shared.prepared.descriptions[fmu];
        let own = description.variable(&variable.name);
        let items = own.map(|own| description.items_of(own)).unwrap_or_default();
        AcceptedValue {
            variable_type: variable.variable_type,
            items: items.iter().map(|item| (item.name.clone(), item.value)).collect(),
        }
    }

    /// Outcome of a command, if it is known.
    pub fn look(&self, fmu: usize, slot: &Slot) -> Option<Result<Applied, ControlError>> {
        // The end is read before the rings: every command executed before the end then has its outcome there.
        let over = self.refuse_if_over(fmu);
        self.read_outcomes(&mut self.lock());
        let known = slot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.or_else(|| over.err().map(Err))
    }

    /// Resets the sizes for the next run, with new instances.
    pub fn next_run(&self) {
        let mut state = self.lock();
        // Outcomes of the previous run refer to its own sizes.
        self.read_outcomes(&mut state);
        state.fmus.iter_mut().for_each(|fmu| fmu.sizes.clone_from(&fmu.first_sizes));
    }

    /// Marks all runs as over.
    pub fn close(&self) {
        self.closed.store(true, SeqCst);
    }

    /// Requests the end of the run.
    pub fn end(&self) {
        self.shared.ask_to_stop();
    }

    /// Takes the values set in recorded columns since the last call.
    pub fn take_changes(&self) -> Vec<(Instant, Vec<Set>)> {
        let mut state = self.lock();
        self.read_outcomes(&mut state);
        std::mem::take(&mut state.changes)
    }

    fn refuse_if_over(&self, fmu: usize) -> Result<(), ControlError> {
        if self.closed.load(SeqCst) {
            return Err(ControlError::RunEnded);
        }
        match self.shared.board().fmu(FmuId(fmu)).word(FmuWord::FailureStatus).load(SeqCst) {
            0 => Ok(()),
            _ => Err(ControlError::InstanceFailed(self.plan().fmus[fmu].name.clone())),
        }
    }

    fn read_outcomes(&self, state: &mut State) {
        let board = self.shared.board();
        if let Some(ring) = board.requests() {
            state.ticks.read(ring);
        }
        for (id, (plan, fmu)) in self.plan().fmus.iter().zip(&mut state.fmus).enumerate() {
            let mut done = Vec::new();
            for (lane, sent) in fmu.lanes.iter_mut().enumerate() {
                for (ring, sent) in board.lane(FmuId(id), lane).into_iter().zip(sent) {
                    sent.read(ring, plan, &mut done);
                }
            }
            if let Some(ring) = board.structure(FmuId(id)) {
                fmu.structure.read(ring, plan, &mut done);
            }
            // Sorted by time: the order of execution as far as it matters.
            done.sort_by_key(|(time, _)| *time);
            for (time, sets) in done {
                let mut changes = changes(plan, &mut fmu.sizes, &sets);
                for (signal, value) in &mut changes {
                    let column = self.plan().column(*signal);
                    let Some(size) = value.as_deref().and_then(|words| column.too_long(words)) else { continue };
                    *value = None;
                    let set = sets.iter().map(|(number, _)| &plan.control.variables[*number]);
                    let reference = set.filter(|set| set.signals.contains(signal)).map(|set| set.reference).next();
                    let seen = Occurrence { reference, time: Some(time), value: size, ..Occurrence::default() };
                    board.fmu(FmuId(id)).findings().note(FindingKind::OversizedValue, seen);
                }
                state.changes.push((time, changes));
            }
        }
    }
}

impl Ticks {
    /// Reads new outcomes.
    fn read(&mut self, ring: CommandRing) {
        while !self.waiting.is_empty()
            && let Some(outcome) = ring.take_outcome()
            && let Some((slot, clock)) = self.waiting.pop_front()
        {
            let result = match outcome.verdict {
                CommandOutcome::Applied => Ok(Applied { time: outcome.time, is_held: false }),
                CommandOutcome::Held => Ok(Applied { time: outcome.time, is_held: true }),
                CommandOutcome::Full => Err(ControlError::TicksWait(clock)),
                _ => Err(ControlError::TickRefused(clock)),
            };
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    }
}

impl Fmu {
    /// The commands sent to the ring of a lane, or to the ring of structural parameters.
    fn sent_in(&mut self, lane: Option<usize>, timed: bool) -> &mut Sent {
        match lane {
            Some(lane) => &mut self.lanes[lane][usize::from(timed)],
            None => &mut self.structure,
        }
    }
}

impl Sent {
    /// Reads new outcomes; executed commands are appended to `done`.
    fn read(&mut self, ring: CommandRing, plan: &FmuPlan, done: &mut Vec<(Instant, Vec<(usize, Values)>)>) {
        // Reads at most as many as were sent: FMU code can overwrite any memory, including the counters.
        while !self.waiting.is_empty()
            && let Some(outcome) = ring.take_outcome()
            && let Some(waiting) = self.waiting.pop_front()
        {
            let time = outcome.time;
            let result = match outcome.verdict {
                CommandOutcome::Applied => {
                    done.push((time, waiting.sets));
                    Ok(Applied { time, is_held: false })
                }
                CommandOutcome::Resized | CommandOutcome::Refused | CommandOutcome::Full | CommandOutcome::Held => {
                    Err(ControlError::Resized)
                }
                CommandOutcome::Failed { status, function } => Err(ControlError::Failed {
                    fmu: plan.name.clone(),
                    abi: plan.abi,
                    function: Function::from_u32(function.into()),
                    status: Status::from_raw(status.into()),
                    time,
                }),
            };
            *waiting.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    }
}

/// Changes in recorded columns that follow from an executed command; updates sizes.
fn changes(plan: &FmuPlan, sizes: &mut [u64], sets: &[(usize, Values)]) -> Vec<Set> {
    let mut changes = Vec::new();
    let mut resized = false;
    for (number, values) in sets {
        let variable = &plan.control.variables[*number];
        if let (ControlKind::Structural { size: Some(size) }, Values::UInt64(new)) = (variable.kind, values) {
            sizes[size] = new.first().copied().unwrap_or(0);
            resized = true;
        }
        let words = bytes::elements(values);
        for (element, signal) in variable.signals.iter().enumerate() {
            let place = element_place(&variable.lengths, element, |size| plan.sizes[size].start, |size| sizes[size]);
            changes.push((*signal, place.and_then(|place| words.get(place)).cloned()));
        }
    }
    if resized {
        // Values of an array whose size has changed are invalid (FMI 3.0, 2.4.7.5.1); what is read is recorded again.
        let arrays = plan.control.variables.iter().filter(|v| v.lengths.iter().any(|l| matches!(l, Length::By(_))));
        changes.extend(arrays.flat_map(|array| array.signals.iter().map(|signal| (*signal, None))));
    }
    changes
}
