//! Delays of the draft's output clocks: one that has ticked can have its targets activated at the time of the tick, or an
//! interval later.
//!
//! Aperiodic output clocks are asked at every tick, if the rig has them asked; periodic ones have no delay.

use crate::intervals::{duration, roughly};
use vecud_base::time::Fraction;
use vecud_fmi::{ElementIntervals, Failure, Interval, Outcome};
use vecud_plan::{FmuPlan, GetIntervals};

/// Buffers for one question, and the answers.
pub struct Delays {
    get: GetIntervals,
    /// The value references of the clocks that are asked.
    references: Vec<u32>,
    /// The elements that are asked, by their index among the FMU's output clocks.
    asked: Vec<usize>,
    amounts: Vec<f64>,
    counters: Vec<u64>,
    resolutions: Vec<u64>,
    /// Per output clock: its delay; `Err`: the value that cannot be one, in seconds.
    delays: Vec<Result<Fraction, f64>>,
}

impl Delays {
    /// Buffers for all output clocks of an FMU; `None`: it is not of the draft.
    pub fn of(plan: &FmuPlan) -> Option<Delays> {
        let n = plan.output_clocks.len();
        plan.draft_clocks.as_ref().map(|clocks| Delays {
            get: clocks.get_intervals,
            references: Vec::with_capacity(n),
            asked: Vec::with_capacity(n),
            amounts: vec![0.0; n],
            counters: vec![0; n],
            resolutions: vec![1; n],
            delays: vec![Ok(Fraction::ZERO); n],
        })
    }

    /// Asks the aperiodic ones among the output clocks that are `active`, all in one call: `get`.
    pub fn ask(
        &mut self,
        plan: &FmuPlan,
        active: &[u8],
        get: impl FnOnce(&[u32], ElementIntervals) -> Result<Outcome, Failure>,
    ) -> Result<(), Failure> {
        self.references.clear();
        self.asked.clear();
        self.delays.fill(Ok(Fraction::ZERO));
        if self.get == GetIntervals::Never {
            return Ok(());
        }
        // Elements of one clock stand together; all of them are asked when one has ticked.
        let mut at = 0;
        // Input clocks, where they are among them, come after all output clocks.
        for clock in plan.output_clocks.chunk_by(|a, b| a.reference == b.reference).take_while(|c| c[0].input.is_none())
        {
            let elements = at..at + clock.len();
            at = elements.end;
            if clock[0].aperiodic && active[elements.clone()].contains(&1) {
                self.references.push(clock[0].reference.0);
                self.asked.extend(elements);
            }
        }
        let n = self.asked.len();
        if n == 0 {
            return Ok(());
        }
        // A value that the FMU leaves unchanged means no delay.
        self.amounts[..n].fill(0.0);
        self.counters[..n].fill(0);
        self.resolutions[..n].fill(1);
        let (counters, resolutions) = (&mut self.counters[..n], &mut self.resolutions[..n]);
        let into = match self.get {
            GetIntervals::Decimal => ElementIntervals::Decimal(&mut self.amounts[..n]),
            _ => ElementIntervals::Fraction { counters, resolutions },
        };
        let _warning_is_counted = get(&self.references, into)?;
        for (place, &clock) in self.asked.iter().enumerate() {
            let (amount, counter, resolution) = (self.amounts[place], self.counters[place], self.resolutions[place]);
            let read = match self.get {
                GetIntervals::Decimal => Interval::Decimal(amount),
                _ => Interval::Fraction { counter, resolution },
            };
            self.delays[clock] = duration(read, plan.time_unit).map_err(|_| roughly(read, plan.time_unit));
        }
        Ok(())
    }

    /// The delay of an output clock after its tick; `Err`: the FMU's answer, which cannot be one, in seconds.
    pub fn after(&self, clock: usize) -> Result<Fraction, f64> {
        self.delays[clock]
    }
}
