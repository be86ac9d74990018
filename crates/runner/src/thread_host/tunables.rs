//! Tunable clocks whose intervals depend on tunable parameters (FMI 3.0, 2.2.8.3, "Tunable periodic Clock"; semantics S2).

use super::partition_host::{Dispatch, Event, PartitionHost};
use crate::activation_error::ActivationError;
use crate::intervals::period;
use vecud_base::time::{Fraction, Instant};
use vecud_description::IntervalVariability;
use vecud_fmi::{BeforeActivation, Function, Qualifier};
use vecud_plan::{Release, UnitId};
use vecud_record::unusable::Unusable;

impl PartitionHost {
    /// Reads again the intervals of all tunable clocks that the FMU itself decides, after tunable parameters were set: to be
    /// called between the last set and the activation. A changed interval takes effect at `from`, the time of that activation.
    ///
    /// Allocates nothing. An interval that no clock can have is a failure of the FMU, which the board keeps.
    pub fn reread_tunable_intervals(
        &self,
        setting: &mut BeforeActivation<'_>,
        from: Instant,
    ) -> Result<(), ActivationError> {
        // Under the lock: readings and their effects stay in the order of the changes.
        let unit = self.run.plan.fmus[self.fmu.0].time_unit;
        self.locked(|| {
            for (index, planned) in self.run.plan.units.iter().enumerate() {
                let Some(partition) =
                    planned.partition().filter(|partition| partition.kind == IntervalVariability::Tunable)
                else {
                    continue;
                };
                if planned.fmu != self.fmu || planned.release != Release::Asked {
                    continue;
                }
                let (read, qualifier) = setting.get_interval(partition.clock, partition.supports_fraction)?;
                let reading = match Qualifier::from_raw(qualifier) {
                    Some(Qualifier::Changed) => period(read, unit, self.run.shortest_period()).map(Some),
                    Some(Qualifier::Unchanged) => Ok(None),
                    Some(Qualifier::NotYetKnown) | None => Err(Unusable::Qualifier(qualifier)),
                };
                match reading {
                    Ok(Some(interval)) => self.dispatch_change(UnitId(index), interval, from),
                    Ok(None) => (),
                    Err(reading) => {
                        let function = Function::get_interval(partition.supports_fraction);
                        return Err(self.fail_reading(function, UnitId(index), from, reading));
                    }
                }
            }
            Ok(())
        })
    }

    fn dispatch_change(&self, target: UnitId, interval: Fraction, from: Instant) {
        match &self.dispatch {
            Dispatch::Threads => {
                self.run.retune(target, interval, from);
                self.wake_later(target);
            }
            Dispatch::Events(events) => events.borrow_mut().push(Event::Retune(target, interval, from)),
        }
    }
}
