//! Sets and asks for clock intervals in Initialization Mode (FMI 3.0, 2.2.8.3; semantics S2), as the standard requires for each
//! kind, and makes no other call: some FMUs answer a needless call with an error.
//!
//! | kind | interval | shift |
//! |---|---|---|
//! | constant, triggered | | |
//! | fixed, tunable, with `intervalDecimal` | set | set if the rig gives one |
//! | fixed, tunable, without it | asked for | asked for |
//! | changing, countdown | asked for | |

use super::activation_error::ActivationError;
use super::intervals::{duration, known, period, told};
use super::run_state::RunState;
use super::thread_host::PartitionHost;
use std::sync::atomic::Ordering::SeqCst;
use vecud_description::IntervalVariability;
use vecud_fmi::{Failure, Function, Initialization, Instance, Interval, Qualifier};
use vecud_plan::schedule::Learned;
use vecud_plan::{FmuId, InputClockPlan, Release, UnitId};
use vecud_record::board::TaskWord;
use vecud_record::unusable::Unusable;

/// A call failed, or it returned a value that no clock can have.
enum Refused {
    Call(Failure),
    Reading(Function, Unusable),
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        Refused::Call(failure)
    }
}

/// Sets the importer's intervals of the clocks of `fmu`, and asks the FMU for the others: `learned`, by task.
pub fn initialise(
    run: &RunState,
    fmu: FmuId,
    instance: &Instance<Initialization>,
    host: &PartitionHost,
    learned: &mut [Learned],
) -> Result<(), ActivationError> {
    for (index, unit) in run.plan.units.iter().enumerate().filter(|(_, unit)| unit.fmu == fmu) {
        let Some(partition) = unit.partition() else { continue };
        match clock(run, fmu, &unit.release, partition, instance) {
            Ok(known) => learned[index] = known,
            Err(Refused::Call(failure)) => return Err(failure.into()),
            Err(Refused::Reading(function, reading)) => {
                instance.fail();
                return Err(host.fail_reading(function, UnitId(index), run.plan.start, reading));
            }
        }
        if let Learned::Grid { interval, .. } = learned[index] {
            let cells = run.board.task(UnitId(index));
            cells.word(TaskWord::AskedCounter).store(interval.counter(), SeqCst);
            cells.word(TaskWord::AskedResolution).store(interval.resolution(), SeqCst);
        }
    }
    Ok(())
}

/// [`initialise`] for the input clocks of an FMU that makes steps, which tick between these. Returns the intervals by the clocks'
/// places.
pub fn between_steps(
    run: &RunState,
    fmu: FmuId,
    instance: &Instance<Initialization>,
    host: &PartitionHost,
) -> Result<Vec<Learned>, ActivationError> {
    let clocks = run.plan.fmus[fmu.0].output_clocks.iter();
    let learned = clocks.map(|own| match &own.input {
        None => Ok(Learned::Nothing),
        Some(input) => clock(run, fmu, &input.release, &input.clock, instance),
    });
    learned.collect::<Result<_, Refused>>().map_err(|refused| match refused {
        Refused::Call(failure) => failure.into(),
        Refused::Reading(function, reading) => {
            instance.fail();
            match run.instances[fmu.0].steps {
                Some(unit) => host.fail_reading(function, unit, run.plan.start, reading),
                None => ActivationError::Reading,
            }
        }
    })
}

fn clock(
    run: &RunState,
    fmu: FmuId,
    release: &Release,
    partition: &InputClockPlan,
    instance: &Instance<Initialization>,
) -> Result<Learned, Refused> {
    let InputClockPlan { clock, kind, write_interval, write_shift, supports_fraction, .. } = *partition;
    let unit = run.plan.fmus[fmu.0].time_unit;
    let get_interval = || -> Result<(Interval, i32), Failure> { instance.get_interval(clock, supports_fraction) };
    let unusable = |reading| Refused::Reading(Function::get_interval(supports_fraction), reading);
    match (release, kind) {
        (Release::Changing, _) => {
            let (interval, qualifier) = get_interval()?;
            let first = known(qualifier).and_then(|()| duration(interval, unit)).map_err(unusable)?;
            Ok(Learned::First(run.plan.start.after(first)))
        }
        (_, IntervalVariability::Countdown) => {
            let (interval, qualifier) = get_interval()?;
            match Qualifier::from_raw(qualifier) {
                Some(Qualifier::Changed) => {
                    Ok(Learned::First(run.plan.start.after(duration(interval, unit).map_err(unusable)?)))
                }
                Some(Qualifier::NotYetKnown | Qualifier::Unchanged) => Ok(Learned::Nothing),
                None => Err(unusable(Unusable::Qualifier(qualifier))),
            }
        }
        (Release::Periodic { shift, interval }, _) => {
            if write_interval {
                let _warning_is_counted = instance.set_interval(clock, told(*interval, unit, supports_fraction))?;
            }
            if write_shift {
                let _warning_is_counted = instance.set_shift(clock, told(*shift, unit, supports_fraction))?;
            }
            Ok(Learned::Nothing)
        }
        (Release::Asked, _) => {
            let (interval, qualifier) = get_interval()?;
            let known = known(qualifier).and_then(|()| period(interval, unit, run.shortest_period()));
            let interval = known.map_err(unusable)?;
            let function = Function::get_shift(supports_fraction);
            let shift = instance.get_shift(clock, supports_fraction)?;
            let shift = duration(shift, unit).map_err(|reading| Refused::Reading(function, reading))?;
            Ok(Learned::Grid { shift, interval })
        }
        (
            Release::At(_)
            | Release::Triggered { .. }
            | Release::Endpoint { .. }
            | Release::Stimulus { .. }
            | Release::Request
            | Release::Never
            | Release::Countdown,
            _,
        ) => Ok(Learned::Nothing),
    }
}
