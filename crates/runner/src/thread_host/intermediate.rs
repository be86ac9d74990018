//! The host's work in the midst of the steps of an instance (`intermediateUpdate`; FMI 3.0.2, 4.2.2): it reads the recorded
//! variables of internal steps, then sets inputs on lines or parabolas, and asks the step of a run that ends to return early.
//!
//! All memory is taken when a run is prepared.

use crate::run_state::RunState;
use crate::slopes::HIGHEST;
use crate::values;
use vecud_base::time::{Fraction, Instant, TimeUnit};
use vecud_description::VariableType;
use vecud_fmi::Batch;
use vecud_plan::{FmuId, IntermediatePlan, Mode, Release, SignalId, UnitId, Work};
use vecud_record::board::TaskWord;

/// Differences of times up to this share of a step are rounding.
const ROUNDING: f64 = 1e-9;

/// The buffers of one instance for the midst of its steps.
pub struct IntermediateWork {
    pub(super) time_unit: TimeUnit,
    pub(super) curves: Option<Curves>,
    pub(super) rows: Option<Rows>,
}

/// Inputs that are on lines or parabolas.
pub(super) struct Curves {
    pub(super) batch: Batch,
    /// Begin of the curves, as the FMU is told it; `None`: there are none yet.
    pub(super) since: Option<f64>,
    /// Of each element its value then, and its derivatives in the FMU's unit of time.
    pub(super) elements: Vec<(f64, [f64; HIGHEST])>,
}

/// Rows of internal steps.
pub(super) struct Rows {
    pub(super) unit: UnitId,
    pub(super) batches: Vec<Batch>,
    /// For each column of the unit: the batch and the element that it is read as.
    columns: Vec<(SignalId, Option<(usize, usize)>)>,
    /// The last row.
    last: Option<Instant>,
    /// The grid of communication points: its first one, and the step.
    grid: (Instant, Fraction),
}

impl IntermediateWork {
    /// The buffers of this instance; `None`: it needs none.
    pub(super) fn new(run: &RunState, fmu: FmuId) -> Option<IntermediateWork> {
        let own = &run.plan.fmus[fmu.0];
        let plan = own.intermediate()?;
        let curves = (!plan.inputs.is_empty()).then(|| {
            let batch = Batch::new(VariableType::Float64, plan.inputs.clone());
            Curves { elements: vec![(0.0, [0.0; HIGHEST]); batch.len()], batch, since: None }
        });
        let rows = Rows::new(run, fmu, plan);
        (curves.is_some() || rows.is_some()).then_some(IntermediateWork { time_unit: own.time_unit, curves, rows })
    }
}

impl Rows {
    fn new(run: &RunState, fmu: FmuId, plan: &IntermediatePlan) -> Option<Rows> {
        let is_its = |unit: &vecud_plan::UnitPlan| unit.fmu == fmu && matches!(unit.work, Work::Step(_));
        let unit = run.plan.units.iter().position(is_its).filter(|_| !plan.recorded.is_empty())?;
        let Release::Periodic { interval, .. } = run.plan.units[unit].release else { return None };
        let batches: Vec<Batch> = plan.recorded.iter().map(|planned| values::get(&run.plan, planned).0).collect();
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
        let columns = run.plan.recorded(&run.plan.units[unit]).map(|signal| (signal, place(signal))).collect();
        let grid = (run.plan.start, interval);
        Some(Rows { unit: UnitId(unit), batches, columns, last: None, grid })
    }

    /// The instant of a time that an FMU reports: the one of the grid where only rounding is between them.
    pub(super) fn instant(&self, unit: TimeUnit, time: f64) -> Option<Instant> {
        let said = unit.instant(time)?;
        let (start, step) = self.grid;
        let steps = said.minus(start).map_or(0.0, Fraction::seconds) / step.seconds();
        let nearest = start.after_many(step, steps.round() as u64);
        Some(if (steps - steps.round()).abs() <= ROUNDING { nearest } else { said })
    }

    /// Appends a row of the values that were read at `time`; the other columns are unchanged.
    pub(super) fn append(&mut self, run: &RunState, time: Instant) {
        let Some(ring) = run.board.samples(self.unit) else { return };
        if self.last.is_some_and(|last| last >= time) {
            return;
        }
        self.last = Some(time);
        let Rows { unit, batches, columns, .. } = self;
        if run.plan.mode == Mode::Virtual {
            ring.ring.wait_for_room(ring.length);
        }
        let is_kept = ring.push(0, time, |record| {
            for (signal, place) in columns.iter() {
                let planned = run.plan.column(*signal);
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
            run.board.task(*unit).count(TaskWord::SamplesDropped, 1);
        }
    }
}
