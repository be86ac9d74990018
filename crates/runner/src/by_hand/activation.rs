//! The activation of a model partition, and the requests that are answered while it is active.

use super::instance::{Caller, LiveInstance, Result, product, receive};
use super::protocol::{FmiState, ReplyContent, Request, RequestFailure, VariableHandle};
use super::variables::{TEXT, empty, length, needed};
use crate::values;
use std::os::unix::net::UnixStream;
use vecud_description::{ValueReference, Values, VariableType};
use vecud_fmi::{AfterActivation, Health};

impl Caller {
    /// Activates a model partition, and answers the requests that are legal meanwhile. Returns the first request of another kind.
    pub(super) fn activate(&mut self, clock: ValueReference, time: f64, from: &mut UnixStream) -> Option<Request> {
        let mut live = std::mem::replace(&mut self.instance, LiveInstance::None);
        let next = self.activate_of(&mut live, clock, time, from);
        self.instance = live;
        match next {
            Ok(next) => next,
            Err(why) => {
                self.over(self.state(), Err(why));
                receive(from)
            }
        }
    }

    fn activate_of(
        &mut self,
        live: &mut LiveInstance,
        clock: ValueReference,
        time: f64,
        from: &mut UnixStream,
    ) -> Result<Option<Request>> {
        let LiveInstance::Clocks(control, partitions) = live else { return Err(RequestFailure::NotHere) };
        if control.health() != Health::Healthy {
            return Err(RequestFailure::NotHere);
        }
        let own = partitions.iter_mut().find(|partition| partition.clock() == clock);
        let partition = own.ok_or_else(|| RequestFailure::Refused("it is no input clock".to_owned()))?;
        let mut getting = partition.begin().activate(time).map_err(|failure| self.failed(failure))?;
        self.time = time;
        self.over(FmiState::PartitionActivated, Ok(ReplyContent::Nothing));
        loop {
            let result = match receive(from) {
                Some(Request::Get { place }) => self.get_activated(&mut getting, place).map(ReplyContent::Values),
                Some(Request::GetInterval { clock: own, fraction }) if own == clock => {
                    let given = getting.get_interval(fraction).map(|(interval, qualifier)| ReplyContent::Interval {
                        length: length(interval),
                        qualifier: Some(qualifier),
                    });
                    given.map_err(|failure| self.failed(failure))
                }
                Some(Request::GetInterval { .. }) => Err(RequestFailure::Refused(
                    "after an activation only its own clock is asked for an interval".to_owned(),
                )),
                Some(Request::GetDerivative { adjoint, unknowns, knowns, seed }) => self
                    .matrix_of(&unknowns, &knowns)
                    .and_then(|of| self.derived(product(&mut getting, &of, adjoint, &seed))),
                Some(other) if !other.verb().states().contains(&FmiState::PartitionActivated) => {
                    Err(RequestFailure::NotHere)
                }
                other => return Ok(other),
            };
            let state = match control.health() {
                Health::Healthy => FmiState::PartitionActivated,
                Health::Failed => FmiState::Failed,
                Health::Fatal | Health::Freed => FmiState::Fatal,
            };
            self.over(state, result);
            if state != FmiState::PartitionActivated {
                return Ok(receive(from));
            }
        }
    }

    fn get_activated(&self, getting: &mut AfterActivation, place: VariableHandle) -> Result<Values> {
        if place.variable_type == VariableType::Clock {
            return Err(RequestFailure::Refused(
                "in Scheduled Execution clocks are read when the FMU calls back".to_owned(),
            ));
        }
        let mut capacity = TEXT;
        loop {
            let mut batch = empty(place, capacity);
            getting.get(&mut batch).map_err(|failure| self.failed(failure))?;
            match needed(&batch) {
                Some(more) => capacity = more,
                None => return values::load(&batch, 0).ok_or(RequestFailure::NotHere),
            }
        }
    }
}
