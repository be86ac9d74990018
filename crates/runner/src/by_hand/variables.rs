//! Reads and sets variables and clock intervals of the instance that is called.

use super::instance::{Caller, LiveInstance, Result};
use super::protocol::{IntervalValue, ReplyContent, Request, RequestFailure, VariableHandle};
use crate::values;
use vecud_description::{Values, VariableType};
use vecud_fmi::{Attempt, Batch, Interval};

/// Bytes of a string or a binary that is read, at first: of a longer one the FMU is asked again.
pub(super) const TEXT: usize = 4096;

impl Caller {
    pub(super) fn set(&mut self, place: VariableHandle, values: &Values) -> Result<ReplyContent> {
        let VariableHandle { reference, variable_type, .. } = place;
        if variable_type == VariableType::Clock {
            return Err(RequestFailure::Refused("clocks are set by SetClock".to_owned()));
        }
        let done = match &mut self.instance {
            LiveInstance::Instantiated(instance) => instance.set_values(reference, variable_type, values),
            LiveInstance::Configuration(instance) => instance.set_values(reference, variable_type, values),
            LiveInstance::Initialization(instance) => instance.set_values(reference, variable_type, values),
            LiveInstance::Clocks(_, partitions) => {
                let partition =
                    partitions.first_mut().ok_or(RequestFailure::Refused("the FMU has no input clock".to_owned()))?;
                partition.begin().set(&filled(place, values))
            }
            LiveInstance::Steps(_, stepper) => match stepper.event_mode() {
                Some(mut event) => event.set(&filled(place, values)),
                None => stepper.begin().set(&filled(place, values)),
            },
            LiveInstance::Equations(_, model) => match model.continuous_time() {
                Some(mut continuous) => {
                    let attempt = continuous.set(&filled(place, values));
                    self.attempted(attempt)?;
                    return Ok(ReplyContent::Nothing);
                }
                None => model.event_mode().ok_or(RequestFailure::NotHere)?.set(&filled(place, values)),
            },
            LiveInstance::None | LiveInstance::Terminated(_) => return Err(RequestFailure::NotHere),
        };
        self.nothing(done)
    }

    pub(super) fn get(&mut self, place: VariableHandle) -> Result<Values> {
        let VariableHandle { reference, variable_type, elements } = place;
        if variable_type == VariableType::Clock {
            return Err(RequestFailure::Refused("clocks are read by GetClock".to_owned()));
        }
        let early = match &self.instance {
            LiveInstance::Instantiated(instance) => Some(instance.get_values(reference, variable_type, elements)),
            LiveInstance::Initialization(instance) => Some(instance.get_values(reference, variable_type, elements)),
            _ => None,
        };
        if let Some(values) = early {
            return values.map_err(|failure| self.failed(failure));
        }
        let read = |live: &mut LiveInstance, batch: &mut Batch| match live {
            LiveInstance::Steps(_, stepper) => Ok(match stepper.event_mode() {
                Some(mut event) => event.get(batch).map(Attempt::Done),
                None => stepper.get(batch).map(Attempt::Done),
            }),
            LiveInstance::Equations(_, model) => match model.continuous_time() {
                Some(mut continuous) => Ok(continuous.get(batch)),
                None => Ok(model.event_mode().ok_or(RequestFailure::NotHere)?.get(batch).map(Attempt::Done)),
            },
            _ => Err(RequestFailure::NotHere),
        };
        let mut capacity = TEXT;
        loop {
            let mut batch = empty(place, capacity);
            let attempt = read(&mut self.instance, &mut batch)?;
            self.attempted(attempt)?;
            match needed(&batch) {
                Some(more) => capacity = more,
                None => return values::load(&batch, 0).ok_or(RequestFailure::NotHere),
            }
        }
    }

    /// Intervals and shifts.
    pub(super) fn clock(&mut self, request: Request) -> Result<ReplyContent> {
        let interval = |(interval, qualifier): (Interval, i32)| ReplyContent::Interval {
            length: length(interval),
            qualifier: Some(qualifier),
        };
        let given = match (&mut self.instance, request) {
            (LiveInstance::Initialization(instance), Request::GetInterval { clock, fraction }) => {
                instance.get_interval(clock, fraction).map(interval)
            }
            (LiveInstance::Steps(_, stepper), Request::GetInterval { clock, fraction }) => {
                stepper.event_mode().ok_or(RequestFailure::NotHere)?.get_interval(clock, fraction).map(interval)
            }
            (LiveInstance::Equations(_, model), Request::GetInterval { clock, fraction }) => {
                model.event_mode().ok_or(RequestFailure::NotHere)?.get_interval(clock, fraction).map(interval)
            }
            (LiveInstance::Initialization(instance), Request::SetInterval { clock, interval }) => {
                instance.set_interval(clock, of_length(interval)).map(|_told| ReplyContent::Nothing)
            }
            (LiveInstance::Initialization(instance), Request::GetShift { clock, fraction }) => instance
                .get_shift(clock, fraction)
                .map(|shift| ReplyContent::Interval { length: length(shift), qualifier: None }),
            (LiveInstance::Initialization(instance), Request::SetShift { clock, shift }) => {
                instance.set_shift(clock, of_length(shift)).map(|_told| ReplyContent::Nothing)
            }
            _ => return Err(RequestFailure::NotHere),
        };
        given.map_err(|failure| self.failed(failure))
    }
}

/// A batch of one variable; `capacity`: bytes of each string or binary.
pub(super) fn empty(VariableHandle { reference, variable_type, elements }: VariableHandle, capacity: usize) -> Batch {
    match variable_type {
        VariableType::String | VariableType::Binary => {
            Batch::awaiting_bytes(variable_type, &[(reference, elements, capacity)]).all_enabled()
        }
        other => Batch::new(other, vec![(reference, elements)]),
    }
}

fn filled(place: VariableHandle, values: &Values) -> Batch {
    let longest = match values {
        Values::String(all) => all.iter().map(String::len).max(),
        Values::Binary(all) => all.iter().map(Vec::len).max(),
        _ => None,
    };
    let mut batch = empty(place, longest.unwrap_or(0));
    values::store(&mut batch, 0, values);
    batch
}

/// The size of the longest string or binary that did not fit; `None`: all fitted.
pub(super) fn needed(batch: &Batch) -> Option<usize> {
    batch.elements(0).filter_map(|element| batch.bytes(element).err()).max()
}

pub(super) fn length(interval: Interval) -> IntervalValue {
    match interval {
        Interval::Decimal(value) => IntervalValue::Decimal(value),
        Interval::Fraction { counter, resolution } => IntervalValue::Fraction { counter, resolution },
    }
}

fn of_length(length: IntervalValue) -> Interval {
    match length {
        IntervalValue::Decimal(value) => Interval::Decimal(value),
        IntervalValue::Fraction { counter, resolution } => Interval::Fraction { counter, resolution },
    }
}
