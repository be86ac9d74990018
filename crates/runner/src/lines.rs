//! Inputs that are on the lines of a file while the equations of their FMU are integrated (semantics S25). No allocation, no lock, no
//! system call after [`Lines::of`].

use vecud_base::time::ROUNDING;
use vecud_description::VariableType;
use vecud_fmi::Batch;
use vecud_plan::{FedElement, Interpolation, Plan, Release, UnitId};
use vecud_record::stimulus::LinearSegment;

/// Something that may have inputs on lines.
pub trait OnLines {
    /// The lines; `None`: it has no such inputs.
    fn lines(&mut self) -> Option<&mut Lines>;
}

/// The lines that elements of a batch are on up to the next row.
pub struct Lines {
    /// Of each element of the batch its line; `None`: it is on none.
    elements: Vec<Option<LinearSegment>>,
}

impl Lines {
    /// The lines of a batch that `unit` sets; `None`: no element can be on one.
    pub fn of(plan: &Plan, unit: UnitId, planned: &vecud_plan::BatchPlan, values: &Batch) -> Option<Lines> {
        let mut fed = planned.items.iter().flat_map(|item| &item.stimuli);
        let is_one_on_lines = fed.any(|fed| is_on_lines(plan, unit, fed.stimulus, planned));
        is_one_on_lines.then(|| Lines { elements: vec![None; values.len()] })
    }

    /// Whether inputs that a task sets can be on lines.
    pub fn are_for(plan: &Plan, unit: UnitId) -> bool {
        (0..plan.stimuli.len()).any(|stimulus| rounding(plan, unit, stimulus).is_some())
    }

    /// An element of the batch is on this line, or on none.
    pub fn put(&mut self, element: usize, line: Option<LinearSegment>) {
        self.elements[element] = line;
    }

    /// Brings the elements to where they are on their lines at this time, s. Whether one of these lines is not level.
    pub fn bring(&self, time: f64, values: &mut Batch) -> bool {
        let mut moves = false;
        for (element, line) in self.elements.iter().enumerate() {
            let Some(line) = line.as_ref().filter(|line| !line.is_level()) else { continue };
            values.set_word(element, line.word(time));
            moves = true;
        }
        moves
    }
}

/// Whether the inputs in this batch of `unit` that a stimulus feeds follow its lines in the midst of steps.
pub fn is_on_lines(plan: &Plan, unit: UnitId, stimulus: usize, batch: &vecud_plan::BatchPlan) -> bool {
    plan.units[unit.0].integration().is_some()
        && plan.stimuli[stimulus].interpolation == Interpolation::Linear
        && !batch.in_event_mode
        && matches!(batch.variable_type, VariableType::Float32 | VariableType::Float64)
}

/// The inputs of `unit` that a stimulus feeds without a tick of a clock.
pub fn fed_at_any_time(plan: &Plan, unit: UnitId, stimulus: usize) -> impl Iterator<Item = &FedElement> {
    let batches = plan.units[unit.0].set.iter().filter(|batch| batch.ticked.is_empty());
    let fed = batches.flat_map(|batch| &batch.items).flat_map(|item| &item.stimuli);
    fed.filter(move |fed| fed.stimulus == stimulus)
}

/// The length, s, of the steps of `unit` that end where a stimulus changes held values; `None`: there are none.
pub fn holds_for(plan: &Plan, unit: UnitId, stimulus: usize) -> Option<f64> {
    let own = &plan.units[unit.0];
    let is_held = plan.stimuli[stimulus].interpolation == Interpolation::Hold;
    match own.release {
        Release::Periodic { interval, .. }
            if is_held && own.ends_at_rows() && fed_at_any_time(plan, unit, stimulus).next().is_some() =>
        {
            Some(interval.seconds())
        }
        _ => None,
    }
}

/// By how much, s, a row may be after a release of `unit` and still count as at it, where the task looks ahead to the next row of
/// a stimulus: inputs are on its lines, or steps end where it changes values. `None`: the task does not look ahead.
pub fn rounding(plan: &Plan, unit: UnitId, stimulus: usize) -> Option<f64> {
    let own = &plan.units[unit.0];
    let feeds = |batch: &&vecud_plan::BatchPlan| {
        batch.items.iter().flat_map(|item| &item.stimuli).any(|fed| fed.stimulus == stimulus)
    };
    let is_one_on_lines = own.set.iter().filter(feeds).any(|batch| is_on_lines(plan, unit, stimulus, batch));
    match own.release {
        Release::Periodic { interval, .. } if is_one_on_lines || holds_for(plan, unit, stimulus).is_some() => {
            Some(interval.seconds() * ROUNDING)
        }
        _ => None,
    }
}
