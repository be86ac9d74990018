//! What an activation gets of a stimulus: the values of the row of its time, or on the line to the next row.

use super::progress::broken;
use crate::lines::{self, OnLines};
use crate::run_state::RunState;
use std::ops::Range;
use vecud_base::time::Instant;
use vecud_description::VariableType;
use vecud_description::bytes;
use vecud_fmi::Batch;
use vecud_plan::{FedElement, UnitId};
use vecud_record::stimulus::{Follower, RowLookup};

/// The inputs of one task that one stimulus feeds.
pub struct Stimulated {
    stimulus: usize,
    follower: Follower<'static>,
    items: Vec<StimulatedInput>,
    /// Where values are in a row that are set without a tick of a clock.
    places: Vec<Range<usize>>,
}

/// An input that a stimulus feeds.
struct StimulatedInput {
    /// The batch that the input is in, by its index among those of the task.
    batch: usize,
    item: usize,
    /// Elements that no column feeds have their start values: it is set as soon as one element has a value, else when all
    /// have.
    partial: bool,
    /// Where values begin in a row, and the elements of the batch that they are for.
    elements: Vec<(usize, usize, VariableType)>,
    /// The elements are on lines from one activation to the next.
    on_lines: bool,
    /// The input is enabled in its batch.
    enabled: bool,
}

impl Stimulated {
    /// All stimuli of a task with these batches.
    pub fn of(run: &RunState, unit: UnitId, batches: &[&Batch]) -> Vec<Stimulated> {
        let plan = &run.plan;
        (0..plan.stimuli.len()).filter_map(|stimulus| Stimulated::new(run, stimulus, unit, batches)).collect()
    }

    fn new(run: &RunState, stimulus: usize, unit: UnitId, batches: &[&Batch]) -> Option<Stimulated> {
        let plan = &run.plan.stimuli[stimulus];
        let mut items = Vec::new();
        for (batch, planned) in run.plan.units[unit.0].set.iter().enumerate() {
            for (item, input) in planned.items.iter().enumerate() {
                let first = batches[batch].elements(item).start;
                let own = input.stimuli.iter().filter(|fed| fed.stimulus == stimulus);
                let place = |fed: &FedElement| plan.values[fed.value].first;
                let element = |fed: &FedElement| (place(fed), first + fed.element, planned.variable_type);
                let elements: Vec<_> = own.map(element).collect();
                if !elements.is_empty() {
                    let on_lines = lines::is_on_lines(&run.plan, unit, stimulus, planned);
                    items.push(StimulatedInput {
                        batch,
                        item,
                        partial: input.start.is_some(),
                        elements,
                        on_lines,
                        enabled: false,
                    });
                }
            }
        }
        let follower = Follower::new(run.board.stimulus(stimulus), plan);
        let follower = follower.on_lines(lines::rounding(&run.plan, unit, stimulus));
        let follower = follower.holding_for(lines::holds_for(&run.plan, unit, stimulus));
        let fed = lines::fed_at_any_time(&run.plan, unit, stimulus);
        let places = fed.map(|fed| plan.values[fed.value].words()).collect();
        (!items.is_empty()).then_some(Stimulated { stimulus, follower, items, places })
    }

    /// Brings the values for an activation at `time` into the batches. `false`: they cannot be read.
    #[inline(never)] // few tasks have stimuli, and what has none should stay small
    pub fn fetch<T: OnLines>(&mut self, run: &RunState, unit: UnitId, time: Instant, set: &mut [(Batch, T)]) -> bool {
        match self.follower.look(time.seconds()) {
            RowLookup::Found => (),
            RowLookup::Starved => self.follower.feed().starve(unit, time),
            RowLookup::Broken => {
                broken(run, self.stimulus);
                return false;
            }
        }
        for input in &mut self.items {
            let (values, own) = &mut set[input.batch];
            let mut lines = own.lines().filter(|_| input.on_lines);
            let mut known = 0;
            for (place, element, variable_type) in &input.elements {
                let is_known = match variable_type {
                    VariableType::String | VariableType::Binary => {
                        let words = self.follower.bytes(*place);
                        words.map(|words| values.fill_bytes(*element, |room| bytes::unpack(words, room))).is_some()
                    }
                    _ => {
                        let word = self.follower.value(*place, *variable_type);
                        word.map(|word| values.set_word(*element, word)).is_some()
                    }
                };
                known += usize::from(is_known);
                if let Some(lines) = &mut lines {
                    lines.put(*element, self.follower.line(*place, *variable_type));
                }
            }
            if !input.enabled && known > 0 && (input.partial || known == input.elements.len()) {
                values.enable(input.item);
                input.enabled = true;
            }
        }
        true
    }
}

impl Stimulated {
    /// When the lines end that inputs are on since the last activation, if they are on any.
    pub fn next_row(&self) -> Option<Instant> {
        let is_on_lines = self.items.iter().any(|input| input.on_lines);
        Instant::from_f64(self.follower.next_row().filter(|_| is_on_lines)?)
    }

    /// When the next values come at which steps end, if they do.
    pub fn next_change(&self) -> Option<Instant> {
        Instant::from_f64(self.follower.next_change(&self.places)?)
    }
}
