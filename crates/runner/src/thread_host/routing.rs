//! Handles a clock update: reads every output clock once, hands its ticks to all clocks that it triggers, and arms countdown
//! clocks (semantics S2, S4, S9). In the draft a tick may have a delay.

use super::clock_buffers::Countdowns;
use super::partition_host::{Dispatch, Event, PartitionHost};
use crate::exchange::{Deadline, TickStamp};
use crate::intervals::{duration, roughly};
use crate::values::Publishing;
use crate::visibility::Visibility;
use std::sync::atomic::Ordering::Relaxed;
use vecud_base::time::{Fraction, Instant, Nanos, TimeUnit};
use vecud_fmi::{ClockUpdate, ElementIntervals, Failure, Interval, Qualifier};
use vecud_linux::prefetch::prefetch;
use vecud_plan::{OutputClock, TriggerTime, UnitId};
use vecud_record::board::TaskWord;
use vecud_record::findings::{FindingKind, Occurrence};
use vecud_record::ring::Ring;

impl PartitionHost {
    /// The task in whose activation `clock`, which is active, has ticked: the caller's own, or a partition that the caller has
    /// preempted, whose tick surfaces in the caller's callback (S4). `None`: its partition has returned.
    fn ticker(&self, clock: &OutputClock) -> Option<UnitId> {
        let own = self.unit();
        if clock.ticked_by.is_empty() || own.is_some_and(|own| clock.ticked_by.contains(&own)) {
            return own;
        }
        let active = |unit: &&UnitId| self.run.board.task(**unit).get(TaskWord::Active) == 1;
        clock.ticked_by.iter().find(active).copied()
    }

    /// The time of a tick of `clock` by `ticker` (S4), and the clock at the root of it; `said` is the time that the draft's
    /// callback gave.
    fn tick_time(
        &self,
        clock: &OutputClock,
        ticker: Option<UnitId>,
        said: Option<Instant>,
    ) -> (Instant, Option<UnitId>) {
        if self.run.plan.trigger_time == TriggerTime::Now && matches!(self.dispatch, Dispatch::Threads) {
            return (self.run.simulation(Nanos(self.run.now())), self.root());
        }
        match ticker {
            _ if ticker == self.unit() => (said.unwrap_or(self.time()), self.root()),
            Some(unit) => (said.unwrap_or(self.run.board.task(unit).time()), self.run.root(unit)),
            None => {
                self.note(FindingKind::TickReadLate, Some(clock.reference), 0);
                (said.unwrap_or(self.time()), self.root())
            }
        }
    }

    /// The FMU's unit of time.
    fn time_unit(&self) -> TimeUnit {
        self.run.plan.fmus[self.fmu.0].time_unit
    }

    /// The clock at the root of the activation under way.
    fn root(&self) -> Option<UnitId> {
        self.unit().and_then(|own| self.run.root(own))
    }

    /// The instant of an `intermediateUpdateTime`. Under preemption they may decrease, but not below the time of every activation
    /// under way: nothing can tick before it began.
    fn said(&self, time: f64) -> Instant {
        let illegal = |instead| {
            self.note(FindingKind::IllegalTickTime, None, time.to_bits());
            instead
        };
        let own = self.time();
        let Some(said) = self.time_unit().instant(time) else { return illegal(own) };
        if said >= own {
            return said;
        }
        let units = self.run.plan.units.iter().enumerate().filter(|(_, unit)| unit.fmu == self.fmu);
        let cells = units.map(|(unit, _)| self.run.board.task(UnitId(unit)));
        let active = cells.filter(|cells| cells.get(TaskWord::Active) == 1).map(|cells| cells.time());
        let earliest = active.min().unwrap_or(own);
        if said < earliest { illegal(earliest) } else { said }
    }

    /// Hands a tick of a clock, by its place among those of the instance, to all its targets.
    fn hand_out(&self, clock: usize, stamp: TickStamp) {
        let plan = &self.run.plan.fmus[self.fmu.0].output_clocks[clock];
        plan.targets.iter().for_each(|target| self.dispatch_tick(clock, *target, stamp));
        for target in &plan.clocks {
            let _counted_if_refused = self.run.tick_between_steps(*target, stamp);
        }
    }

    /// A clock of the instance has ticked in Event Mode, at this time: hands it to the tasks that it triggers.
    pub fn ticked_in_event_mode(&self, clock: usize, time: Instant) {
        let targets = &self.run.plan.fmus[self.fmu.0].output_clocks[clock].targets;
        let stamp = TickStamp { time, dispatched: self.dispatched_at(), root: self.unit() };
        targets.iter().for_each(|target| self.dispatch_tick(clock, *target, stamp));
        self.wake_targets();
    }

    fn dispatch_tick(&self, output: usize, target: UnitId, stamp: TickStamp) {
        let TickStamp { time, root, .. } = stamp;
        if self.closes_a_cycle(target, time) {
            self.note(FindingKind::CutCycle, self.run.plan.units[target.0].clock(), 0);
        } else {
            let by = self.unit().map_or(0, |own| own.0 as u64 + 1);
            self.run.tasks[target.0].ticked_by.store(by, Relaxed);
        }
        let taken = match &self.dispatch {
            Dispatch::Threads => {
                let taken = self.run.tick(target, stamp);
                if taken {
                    self.wake_later(target);
                }
                taken
            }
            Dispatch::Events(events) => {
                events.borrow_mut().push(Event::Tick(target, time, root));
                true
            }
        };
        self.trace_tick(output, target, taken, stamp);
    }

    /// Reads and publishes the variables of the active output clocks. Inside the lock, so that no other thread publishes these.
    fn read_on_ticks(&self, updates: &ClockUpdate, active: &[u8]) -> Result<(), Failure> {
        let now = self.unit().zip(self.due.get()).map(|(unit, due)| {
            // The interval of a changing clock is not known yet.
            let stamp = Visibility::default().of(self.run, unit, &due, None);
            Publishing { unit, time: due.time, stamp, in_event: false }
        });
        for on_tick in &mut self.on_ticks.borrow_mut().all {
            if !on_tick.clocks.iter().any(|&clock| active[clock] == 1) {
                continue;
            }
            let _counted = updates.get(&mut on_tick.values)?;
            on_tick.fresh = true;
            self.run.look_for_nan(self.fmu, self.unit(), &on_tick.values, || self.time());
            on_tick.bundles.publish(&on_tick.values);
            for output in &on_tick.single {
                if let Some(size) = output.publish(self.run, now, &on_tick.values, None, |_| false) {
                    let (unit, reference) = (self.unit(), Some(output.reference));
                    let seen = Occurrence { unit, reference, time: Some(self.time()), value: size as u64 };
                    self.run.board.fmu(self.fmu).findings().note(FindingKind::OversizedValue, seen);
                }
            }
        }
        Ok(())
    }

    /// Whether this activation goes back to one of `target` at this very time: the tick will be coalesced.
    fn closes_a_cycle(&self, target: UnitId, time: Instant) -> bool {
        let mut unit = self.unit();
        for _ in 0..self.run.tasks.len() {
            let Some(one) = unit.filter(|one| self.run.board.task(*one).time() == time) else { return false };
            if one == target {
                return true;
            }
            let by = self.run.tasks[one.0].ticked_by.load(Relaxed);
            unit = by.checked_sub(1).map(|by| UnitId(by as usize));
        }
        false
    }

    fn dispatch_deadline(&self, target: UnitId, time: Instant, dispatched: Nanos) {
        let tick = TickStamp { time, dispatched, root: self.root() };
        self.trace_arm(target, tick);
        match &self.dispatch {
            Dispatch::Threads => {
                self.run.arm(target, Deadline { tick, since: self.time() });
                self.wake_later(target);
            }
            Dispatch::Events(events) => events.borrow_mut().push(Event::Arm(target, time, self.root())),
        }
    }

    /// Prefetches the memory of a few tasks that this instance triggers, while the FMU reports which of its clocks tick.
    fn prefetch_targets(&self) {
        const FEW: usize = 4;
        if matches!(self.dispatch, Dispatch::Threads) {
            let clocks = &self.run.plan.fmus[self.fmu.0].output_clocks;
            let targets = clocks.iter().take(FEW).filter_map(|clock| clock.targets.first());
            targets.for_each(|target| self.run.prefetch_tick(*target));
            self.trace().into_iter().flat_map(Ring::prefetched).for_each(prefetch);
        }
    }

    /// Reads every output clock once and every countdown interval, and hands the ticks out. `time`: `intermediateUpdateTime` of
    /// the draft's callback.
    pub(super) fn route(&self, time: Option<f64>) -> Result<(), Failure> {
        let instance = &self.run.instances[self.fmu.0];
        let Some(updates) = instance.updates.get() else { return Ok(()) };
        let plan = &self.run.plan.fmus[self.fmu.0];
        let Ok(mut clocks) = self.clocks.try_borrow_mut() else { return Ok(()) };
        let clocks = &mut *clocks;
        if !clocks.outputs.is_empty() {
            self.prefetch_targets();
            let _counted = updates.get_clocks(&mut clocks.outputs)?;
            // While they are active, and before any of their targets can run.
            self.read_on_ticks(updates, clocks.outputs.active())?;
            let said = time.map(|time| self.said(time));
            if let Some(delays) = &mut clocks.delays {
                let get = |references: &[u32], into: ElementIntervals| updates.get_draft_intervals(references, into);
                delays.ask(plan, clocks.outputs.active(), get)?;
            }
            let now = self.dispatched_at();
            let active = clocks.outputs.active().iter().enumerate().filter(|(_, active)| **active == 1);
            for (index, clock) in active.map(|(index, _)| (index, &plan.output_clocks[index])) {
                let delay = clocks.delays.as_ref().map_or(Ok(Fraction::ZERO), |delays| delays.after(index));
                let delay = delay.unwrap_or_else(|illegal| {
                    // The clock has ticked, whatever its delay is.
                    self.note(FindingKind::IllegalInterval, Some(clock.reference), illegal.to_bits());
                    Fraction::ZERO
                });
                let ticker = self.ticker(clock);
                if let Some(ticker) = ticker {
                    self.run.tasks[ticker.0].note_ticked(index);
                }
                let (time, root) = self.tick_time(clock, ticker, said);
                let time = if delay.is_zero() { time } else { time.after(delay) };
                let stamp = TickStamp { time, dispatched: now, root };
                self.hand_out(index, stamp);
            }
        }
        let Countdowns { units, references, qualifiers } = &mut clocks.decimal;
        if !units.is_empty() {
            let _counted = updates.get_interval_decimal(references, &mut clocks.intervals, qualifiers)?;
            let now = self.dispatched_at();
            for (index, target) in units.iter().enumerate() {
                self.deadline(*target, qualifiers[index], Interval::Decimal(clocks.intervals[index]), now);
            }
        }
        let Countdowns { units, references, qualifiers } = &mut clocks.fraction;
        if !units.is_empty() {
            let (counters, resolutions) = (&mut clocks.counters, &mut clocks.resolutions);
            let _counted = updates.get_interval_fraction(references, counters, resolutions, qualifiers)?;
            let now = self.dispatched_at();
            for (index, target) in units.iter().enumerate() {
                let (counter, resolution) = (counters[index], resolutions[index]);
                self.deadline(*target, qualifiers[index], Interval::Fraction { counter, resolution }, now);
            }
        }
        Ok(())
    }

    /// The time at which the ticks are handed over: from then on the host's time passes.
    fn dispatched_at(&self) -> Nanos {
        match self.dispatch {
            Dispatch::Threads => Nanos(self.run.now()),
            Dispatch::Events(_) => Nanos(0), // virtual time looks at no clock
        }
    }

    /// A countdown interval was `read`: a changed one counts from the activation time of the caller.
    fn deadline(&self, target: UnitId, qualifier: i32, read: Interval, now: Nanos) {
        let illegal = |finding, value| {
            let reference = self.run.plan.units[target.0].clock();
            self.note(finding, reference, value);
        };
        match Qualifier::from_raw(qualifier) {
            Some(Qualifier::Changed) => match duration(read, self.time_unit()) {
                Ok(interval) => self.dispatch_deadline(target, self.time().after(interval), now),
                Err(_) => illegal(FindingKind::IllegalInterval, roughly(read, self.time_unit()).to_bits()),
            },
            Some(Qualifier::NotYetKnown | Qualifier::Unchanged) => (),
            None => illegal(FindingKind::IllegalQualifier, qualifier as u64),
        }
    }
}
