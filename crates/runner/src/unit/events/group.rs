//! The FMUs of an [`EventUnit`](super::EventUnit) in a release: their communication points, and the way to call one of them.

use super::member::Member;
use crate::activation_error::ActivationError;
use crate::calls::Calls;
use crate::run_state::{Ending, RunState};
use crate::stimuli::Stimulated;
use crate::thread_host::PartitionHost;
use std::sync::atomic::Ordering::Relaxed;
use vecud_base::time::Instant;
use vecud_fmi::set_thread_host;
use vecud_linux::crash::label_thread;
use vecud_plan::UnitId;
use vecud_plan::schedule::Due;
use vecud_record::board::{Global, TaskWord};

/// One of them has failed, by its number.
pub struct Failed {
    pub member: usize,
    pub error: ActivationError,
}

/// A member of a group, but for the first, whose calls and stimuli are those of the activation.
pub struct GroupMember {
    pub member: Member,
    pub calls: Calls,
    pub stimuli: Vec<Stimulated>,
}

impl GroupMember {
    /// Asks for the memory that its release will touch.
    pub fn prefetch(&self) {
        self.member.prefetch();
        self.calls.prefetch();
    }

    /// Fetches the stimuli's values for the release `due`, unless inputs from outside are held (`is_held`). `false`: they cannot
    /// be read, and the run ends.
    pub fn stimulate(&mut self, run: &RunState, due: &Due, is_held: bool) -> bool {
        let own = is_held || self.calls.stimulate(&mut self.stimuli, run, due.time);
        self.member.follow_rows(&self.stimuli);
        own && self.member.take_fed(run, due)
    }
}

/// The FMUs of a unit in a release, by their numbers: 0 is the first, in whose name the thread works.
pub struct Group<'a> {
    pub run: &'static RunState,
    pub host: &'static PartitionHost,
    pub first: (&'a mut Member, &'a mut Calls),
    pub others: &'a mut [GroupMember],
}

impl Group<'_> {
    pub fn len(&self) -> usize {
        1 + self.others.len()
    }

    /// The FMU of that number, and its calls.
    pub fn member(&mut self, number: usize) -> (&mut Member, &mut Calls) {
        match number.checked_sub(1) {
            None => (&mut *self.first.0, &mut *self.first.1),
            Some(other) => {
                let GroupMember { member, calls, .. } = &mut self.others[other];
                (member, calls)
            }
        }
    }

    /// Its task.
    pub fn unit(&mut self, number: usize) -> UnitId {
        self.member(number).1.unit()
    }

    /// The host of the FMU of that number.
    #[inline]
    pub fn host(&mut self, number: usize) -> &'static PartitionHost {
        if number == 0 {
            return self.host;
        }
        let unit = self.unit(number);
        self.host.of(self.run.plan.units[unit.0].fmu)
    }

    /// Does something with one of them, under its own host.
    pub fn with<T>(
        &mut self,
        number: usize,
        body: impl FnOnce(&mut Member, &mut Calls, &'static RunState, &'static PartitionHost) -> Result<T, ActivationError>,
    ) -> Result<T, Failed> {
        let (run, host) = (self.run, self.host(number));
        let is_other = number > 0;
        if is_other {
            set_thread_host(Some(host));
            label_thread(self.unit(number).0 as u64 + 1);
        }
        let (member, calls) = self.member(number);
        let result = body(member, calls, run, host);
        host.returned_from_fmu();
        if is_other {
            set_thread_host(Some(self.host));
            label_thread(self.unit(0).0 as u64 + 1);
        }
        result.map_err(|error| Failed { member: number, error })
    }

    /// Does something with each of them.
    pub fn each(
        &mut self,
        mut body: impl FnMut(
            &mut Member,
            &mut Calls,
            &'static RunState,
            &'static PartitionHost,
        ) -> Result<(), ActivationError>,
    ) -> Result<(), Failed> {
        (0..self.len()).try_for_each(|number| self.with(number, &mut body))
    }

    /// Whether the end of the run is requested, to come as soon as possible: a run whose state is saved ends on its grid.
    pub fn is_stopped(&self) -> bool {
        let request = self.run.board.global(Global::StopRequest);
        !self.run.saves && (request.load(Relaxed) != 0 || self.run.ending() == Ending::Discard)
    }

    /// The others begin in their own names.
    pub fn begin(&mut self, due: &Due) {
        for number in 1..self.len() {
            let (run, host, unit) = (self.run, self.host(number), self.unit(number));
            host.begin(&run.telemetry[unit.0], due);
        }
    }

    pub fn end(&mut self, is_done: bool) {
        for number in 1..self.len() {
            let (host, unit) = (self.host(number), self.unit(number));
            host.end();
            let cells = self.run.board.task(unit);
            match is_done {
                true => cells.count(TaskWord::Activations, 1),
                // Another thread counts discards from outside for the same task.
                false => cells.count_shared(TaskWord::Discarded, 1),
            }
        }
    }

    /// The communication point that the group has come to: one that is ahead waits for the others there.
    pub fn point(&mut self, time: Instant) -> Instant {
        let reached = |group: &mut Self, number| group.member(number).0.stepping.reached.unwrap_or(time);
        (0..self.len()).map(|number| reached(self, number)).min().unwrap_or(time)
    }

    pub fn is_at(&mut self, number: usize, point: Instant) -> bool {
        self.member(number).0.stepping.reached.is_none_or(|reached| reached == point)
    }

    /// Whether one of them has asked for the end of the run.
    pub fn has_end(&mut self) -> bool {
        (0..self.len()).any(|number| self.member(number).0.stepping.is_over())
    }

    /// Whether one of them wants Event Mode at its communication point.
    pub fn wants_event(&mut self) -> bool {
        (0..self.len()).any(|number| self.member(number).0.wants_event())
    }

    /// Records the inputs of this time, and the outputs that were read last.
    pub fn record(&mut self, time: Instant) -> Result<(), Failed> {
        self.each(|member, calls, run, host| {
            member.record(calls, run, host, time);
            Ok(())
        })
    }

    /// [`Group::record`] for members that have no row of this time yet.
    pub fn record_what_is_missing(&mut self, time: Instant) -> Result<(), Failed> {
        self.each(|member, calls, run, host| {
            if member.lacks_row(time) {
                member.record(calls, run, host, time);
            }
            Ok(())
        })
    }

    /// Does something with each of them that is at this communication point.
    pub fn at_point(
        &mut self,
        point: Instant,
        mut body: impl FnMut(
            &mut Member,
            &mut Calls,
            &'static RunState,
            &'static PartitionHost,
        ) -> Result<(), ActivationError>,
    ) -> Result<(), Failed> {
        for number in 0..self.len() {
            if self.is_at(number, point) {
                self.with(number, &mut body)?;
            }
        }
        Ok(())
    }
}
