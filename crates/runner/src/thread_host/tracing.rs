//! Notes of this thread for the trace ([`vecud_record::trace`]): its locks, clock updates, ticks and armings.
//!
//! Without a trace nothing but a test of a pointer.

use super::partition_host::{Dispatch, PartitionHost, Section};
use crate::exchange::TickStamp;
use vecud_linux::cycles::ticks;
use vecud_plan::UnitId;
use vecud_record::trace::Note;

impl PartitionHost {
    fn is_virtual(&self) -> bool {
        matches!(self.dispatch, Dispatch::Events(_))
    }

    fn stamp(&self) -> u64 {
        if self.is_virtual() { self.run.board.next_in_order() } else { ticks() }
    }

    /// A stamp, if anything is noted.
    #[inline]
    pub(super) fn stamp_if_traced(&self) -> Option<u64> {
        self.trace().map(|_| self.stamp())
    }

    /// FMU code has got the lock, after waiting for `waited`.
    #[inline]
    pub(super) fn trace_lock(&self, waited: Option<u64>) {
        if self.trace().is_some() {
            let since = if self.is_virtual() { self.stamp() } else { self.member.since() };
            self.section.set(Section { since, waited: waited.unwrap_or(0), nested: 0 });
        }
    }

    /// FMU code that has the lock has locked again.
    pub(super) fn trace_nested_lock(&self) {
        let section = self.section.get();
        self.section.set(Section { nested: section.nested + 1, ..section });
    }

    /// The lock was given back, or taken away from FMU code that has kept it.
    #[inline]
    pub(super) fn trace_unlock(&self, held: u64, leaked: bool) {
        if let Some(ring) = self.trace() {
            let Section { since, waited, nested } = self.section.take();
            let until = if self.is_virtual() { self.stamp() } else { since.wrapping_add(held) };
            self.run.trace_in(ring, Note::Locked { since, until, waited, nested, leaked });
        }
    }

    /// A clock update that began at this stamp has ended.
    pub(super) fn trace_update(&self, since: Option<u64>) {
        if let (Some(ring), Some(since)) = (self.trace(), since) {
            self.run.trace_in(ring, Note::Updated { since, until: self.stamp() });
        }
    }

    /// The flow number and the time of the activation that this tick causes.
    fn flow(&self, tick: TickStamp) -> (u64, i64) {
        match self.is_virtual() {
            true => (virtual_flow(tick.time.nanos().0), self.stamp() as i64),
            false => (tick.dispatched.0 as u64, tick.dispatched.0),
        }
    }

    /// An output clock has ticked.
    pub(super) fn trace_tick(&self, output: usize, target: UnitId, taken: bool, tick: TickStamp) {
        if let Some(ring) = self.trace() {
            let (flow, at) = self.flow(tick);
            let (output, time) = (output as u32, tick.time.nanos().0);
            self.run.trace_in(ring, Note::Ticked { output, target, taken, time, at, flow });
        }
    }

    /// A countdown clock was armed.
    pub(super) fn trace_arm(&self, target: UnitId, tick: TickStamp) {
        if let Some(ring) = self.trace() {
            let (flow, at) = self.flow(tick);
            self.run.trace_in(ring, Note::Armed { target, time: tick.time.nanos().0, at, flow });
        }
    }
}

/// In virtual time there is at most one activation of a clock at a time, ns: that names it. Never 0.
pub fn virtual_flow(time: i64) -> u64 {
    (time as u64) ^ (1 << 63)
}
