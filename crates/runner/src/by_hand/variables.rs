//! Reads and sets variables and clock intervals of the instance that is called.

use super::instance::{Caller, Life, Result};
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
        let done = match &mut self.life {
            Life::Instantiated(instance) => instance.set_values(reference, variable_type, values),
            Life::Configuration(instance) => instance.set_values(reference, variable_type, values),
            Life::Initialization(instance) => instance.set_values(reference, variable_type, values),
            Life::Clocks(_, partitions) => {
                let partition =
                    partitions.first_mut().ok_or(RequestFailure::Refused("the FMU has no input clock".to_owned()))?;
                partition.begin().set(&filled(place, values))
            }
            Life::Steps(_, stepper) => match stepper.event_mode() {
                Some(mut event) => event.set(&filled(place, values)),
                None => stepper.begin().set(&filled(place, values)),
            },
            Life::Equations(_, model) => match model.continuous_time() {
                Some(mut continuous) => {
                    let attempt = continuous.set(&filled(place, values));
                    self.attempted(attempt)?;
                    return Ok(ReplyContent::Nothing);
                }
                None => model.event_mode().ok_or(RequestFailure::NotHere)?.set(&filled(place, values)),
            },
            Life::None | Life::Terminated(_) => return Err(RequestFailure::NotHere),
        };
        self.nothing(done)
    }

    pub(super) fn get(&mut self, place: VariableHandle) -> Result<Values> {
        let VariableHandle { reference, variable_type, elements } = place;
        if variable_type == VariableType::Clock {
            return Err(RequestFailure::Refused("clocks are read by GetClock".to_owned()));
        }
        let early = match &self.life {
            Life::Instantiated(instance) => Some(instance.get_values(reference, variable_type, elements)),
            Life::Initialization(instance) => Some(instance.get_values(reference, variable_type, elements)),
            _ => None,
        };
        if let Some(values) = early {
            return values.map_err(|failure| self.failed(failure));
        }
        let read = |life: &mut Life, batch: &mut Batch| match life {
            Life::Steps(_, stepper) => Ok(match stepper.event_mode() {
                Some(mut event) => event.get(batch).map(Attempt::Done),
                None => stepper.get(batch).map(Attempt::Done),
            }),
            Life::Equations(_, model) => match model.continuous_time() {
                Some(mut continuous) => Ok(continuous.get(batch)),
                None => Ok(model.event_mode().ok_or(RequestFailure::NotHere)?.get(batch).map(Attempt::Done)),
            },
            _ => Err(RequestFailure::NotHere),
        };
        let mut room = TEXT;
        loop {
            let mut batch = empty(place, room);
            let attempt = read(&mut self.life, &mut batch)?;
            self.attempted(attempt)?;
            match needed(&batch) {
                Some(more) => room = more,
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
        let given = match (&mut self.life, request) {
            (Life::Initialization(instance), Request::GetInterval { clock, fraction }) => {
                instance.get_interval(clock, fraction).map(interval)
            }
            (Life::Steps(_, stepper), Request::GetInterval { clock, fraction }) => {
                stepper.event_mode().ok_or(RequestFailure::NotHere)?.get_interval(clock, fraction).map(interval)
            }
            (Life::Equations(_, model), Request::GetInterval { clock, fraction }) => {
                model.event_mode().ok_or(RequestFailure::NotHere)?.get_interval(clock, fraction).map(interval)
            }
            (Life::Initialization(instance), Request::SetInterval { clock, interval }) => {
                instance.set_interval(clock, of_length(interval)).map(|_told| ReplyContent::Nothing)
            }
            (Life::Initialization(instance), Request::GetShift { clock, fraction }) => instance
                .get_shift(clock, fraction)
                .map(|shift| ReplyContent::Interval { length: length(shift), qualifier: None }),
            (Life::Initialization(instance), Request::SetShift { clock, shift }) => {
                instance.set_shift(clock, of_length(shift)).map(|_told| ReplyContent::Nothing)
            }
            _ => return Err(RequestFailure::NotHere),
        };
        given.map_err(|failure| self.failed(failure))
    }
}

/// A batch of one variable; `room`: bytes of each string or binary.
pub(super) fn empty(VariableHandle { reference, variable_type, elements }: VariableHandle, room: usize) -> Batch {
    match variable_type {
        VariableType::String | VariableType::Binary => {
            Batch::awaiting_bytes(variable_type, &[(reference, elements, room)]).all_enabled()
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
