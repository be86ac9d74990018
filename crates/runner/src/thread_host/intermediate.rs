//! What happens in the midst of the steps of an instance (`intermediateUpdate`; FMI 3.0.2, 4.2.2): what is recorded of internal
//! steps is read, then inputs that are on lines or parabolas are set, and a run that ends asks the step to return early.
//!
//! All memory is taken when a run is prepared.

use super::PartitionHost;
use crate::slopes::{CarriedDerivatives, HIGHEST, taylor};
use crate::values;
use crate::world::World;
use vecud_base::time::{Fraction, Instant, TimeUnit};
use vecud_description::VariableType;
use vecud_fmi::{Batch, Failure, Intermediate};
use vecud_plan::{FmuId, IntermediatePlan, Mode, Release, SignalId, UnitId, Work};
use vecud_record::board::TaskWord;

/// What counts as rounding, of a step.
const ROUNDING: f64 = 1e-9;

/// What one instance needs in the midst of its steps.
pub struct Midst {
    unit: TimeUnit,
    curves: Option<Curves>,
    rows: Option<Rows>,
}

/// Inputs that are on lines or parabolas.
struct Curves {
    batch: Batch,
    /// Since when, as the FMU is told it; `None`: nobody has said where they are.
    since: Option<f64>,
    /// Of each element its value then, and its derivatives in the FMU's unit of time.
    elements: Vec<(f64, [f64; HIGHEST])>,
}

/// Rows of internal steps.
struct Rows {
    task: UnitId,
    batches: Vec<Batch>,
    /// For each column of the task: the batch and the element that it is read as.
    columns: Vec<(SignalId, Option<(usize, usize)>)>,
    /// The last row.
    last: Option<Instant>,
    /// The grid of communication points: its first one, and the step.
    grid: (Instant, Fraction),
}

impl Midst {
    /// What this instance needs; `None`: nothing.
    pub(super) fn new(world: &World, fmu: FmuId) -> Option<Midst> {
        let own = &world.plan.fmus[fmu.0];
        let plan = own.intermediate()?;
        let curves = (!plan.inputs.is_empty()).then(|| {
            let batch = Batch::new(VariableType::Float64, plan.inputs.clone());
            Curves { elements: vec![(0.0, [0.0; HIGHEST]); batch.len()], batch, since: None }
        });
        let rows = Rows::new(world, fmu, plan);
        (curves.is_some() || rows.is_some()).then_some(Midst { unit: own.time_unit, curves, rows })
    }
}

impl Rows {
    fn new(world: &World, fmu: FmuId, plan: &IntermediatePlan) -> Option<Rows> {
        let is_its = |task: &vecud_plan::UnitPlan| task.fmu == fmu && matches!(task.work, Work::Step(_));
        let task = world.plan.units.iter().position(is_its).filter(|_| !plan.recorded.is_empty())?;
        let Release::Periodic { interval, .. } = world.plan.units[task].release else { return None };
        let batches: Vec<Batch> = plan.recorded.iter().map(|planned| values::get(&world.plan, planned).0).collect();
        let mut places = Vec::new();
        for (number, planned) in plan.recorded.iter().enumerate() {
            for (item, variable) in planned.items.iter().enumerate() {
                let elements = batches[number].elements(item);
                places.extend(
                    variable.signals.iter().zip(elements).map(|(signal, element)| (*signal, (number, element))),
                );
            }
        }
        let place = |signal: SignalId| places.iter().find(|(own, _)| *own == signal).map(|(_, place)| *place);
        let columns = world.plan.recorded(&world.plan.units[task]).map(|signal| (signal, place(signal))).collect();
        let grid = (world.plan.start, interval);
        Some(Rows { task: UnitId(task), batches, columns, last: None, grid })
    }

    /// What an FMU says of a time: the instant of the grid where only rounding is between them.
    fn instant(&self, unit: TimeUnit, time: f64) -> Option<Instant> {
        let said = unit.instant(time)?;
        let (start, step) = self.grid;
        let steps = said.minus(start).map_or(0.0, Fraction::seconds) / step.seconds();
        let nearest = start.after_many(step, steps.round() as u64);
        Some(if (steps - steps.round()).abs() <= ROUNDING { nearest } else { said })
    }

    /// Appends a row of what was read at `time`; the other columns keep what they have.
    fn append(&mut self, world: &World, time: Instant) {
        let Some(ring) = world.board.samples(self.task) else { return };
        if self.last.is_some_and(|last| last >= time) {
            return;
        }
        self.last = Some(time);
        let Rows { task, batches, columns, .. } = self;
        if world.plan.mode == Mode::Virtual {
            ring.ring.wait_for_room(ring.length);
        }
        let is_kept = ring.push(0, time, |record| {
            for (signal, place) in columns.iter() {
                let planned = world.plan.column(*signal);
                match (place, planned.capacity) {
                    (Some((batch, element)), None) => record.put_all([batches[*batch].word(*element)]),
                    (_, None) => record.put_all([0]),
                    (_, Some(capacity)) => record.put_bytes(capacity, None),
                }
            }
            record.put_all(columns.chunks(64).map(|columns| {
                let bits = columns.iter().enumerate().filter(|(_, (_, place))| place.is_some());
                bits.fold(0, |bits, (column, _)| bits | 1u64 << column)
            }));
        });
        if !is_kept {
            world.board.task(*task).count(TaskWord::SamplesDropped, 1);
        }
    }
}

impl PartitionHost {
    /// Inputs of the batch are on their curves from `time` on; whether this FMU asks for them in the midst of its steps.
    pub fn follow_curves(&self, time: Instant, batch: &Batch, slopes: &CarriedDerivatives) -> bool {
        let mut midst = self.midst.borrow_mut();
        let Some(Midst { unit, curves: Some(curves), .. }) = &mut *midst else { return false };
        curves.since = Some(unit.value(time));
        for (own, (element, derivatives)) in curves.elements.iter_mut().zip(slopes.elements()) {
            *own = (f64::from_bits(batch.word(element)), derivatives);
        }
        true
    }

    /// [`vecud_fmi::ThreadHost::intermediate_update`].
    pub(super) fn in_midst(&self, update: &Intermediate) {
        if let Err(failure) = self.exchange_in_midst(update) {
            self.fail(&failure);
        }
    }

    /// All gets come first, then all sets.
    fn exchange_in_midst(&self, update: &Intermediate) -> Result<(), Failure> {
        let mut midst = self.midst.borrow_mut();
        let Some(Midst { unit, curves, rows }) = &mut *midst else { return Ok(()) };
        let Some(updates) = self.world.instances[self.fmu.0].updates.get() else { return Ok(()) };
        if let Some(rows) = rows.as_mut().filter(|_| update.get_allowed && update.step_finished)
            && let Some(time) = rows.instant(*unit, update.time)
        {
            for batch in &mut rows.batches {
                let _warning_is_counted = updates.get(batch)?;
                self.world.look_for_nan(self.fmu, Some(rows.task), batch, || time);
            }
            rows.append(self.world, time);
        }
        if let Some(curves) = curves.as_mut().filter(|_| update.set_requested)
            && let Some(since) = curves.since
        {
            let Curves { batch, elements, .. } = curves;
            for (element, (value, derivatives)) in elements.iter().enumerate() {
                let (value, _) = taylor(*value, *derivatives, update.time - since);
                batch.set_word(element, value.to_bits());
            }
            let _warning_is_counted = updates.set(batch)?;
        }
        Ok(())
    }
}
