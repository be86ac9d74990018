//! The clocks of one FMU that makes steps: which of its input clocks tick in an Event Mode, and when they tick next (semantics
//! S22).
//!
//! In the draft, an output clock that has ticked can delay the clocks that it triggers.
//!
//! A clock with times of its own, or with those of a stimulus, ticks at the communication point that is made for it. A tick from
//! outside of the steps, at τ, ticks at the first communication point strictly after τ; a tick that comes when that point is over
//! goes to the next.

use crate::delays::Delays;
use crate::exchange::TickStamp;
use crate::intervals::{duration, known, roughly};
use crate::run_state::RunState;
use crate::stimuli::StepFeed;
use vecud_base::time::{Fraction, Instant, Nanos, TimeUnit};
use vecud_description::{IntervalVariability, ValueReference};
use vecud_fmi::{ElementIntervals, EventMode, Failure, Function, InputClocks, OutputClocks, Qualifier};
use vecud_plan::schedule::{DispatchStamp, Learned, Tick, Timeline};
use vecud_plan::snapshot::BetweenSteps;
use vecud_plan::{FmuId, UnitId};
use vecud_record::board::TaskWord;
use vecud_record::board::promise::Break;
use vecud_record::findings::{FindingKind, Occurrence};

/// The clocks of one FMU.
pub struct StepClocks {
    fmu: FmuId,
    unit: UnitId,
    time_unit: TimeUnit,
    /// Its output clocks, which come first among its clocks.
    outputs: OutputClocks,
    /// How much later than its output clocks others tick, where that is asked for.
    delays: Option<Delays>,
    first_input: usize,
    /// Elements of one clock stand together.
    inputs: Vec<Input>,
    /// By its place among the clocks: it is active in this iteration.
    active: Vec<bool>,
    /// The input clocks that are active in this iteration.
    ticking: InputClocks,
}

/// An input clock.
struct Input {
    reference: ValueReference,
    kind: IntervalVariability,
    fraction: bool,
    /// When it ticks by itself, or by a stimulus.
    timeline: Timeline,
    /// The stimulus; `None`: none ticks it.
    fed: Option<StepFeed>,
    /// Ticks to be handled at this instant, each in an iteration of its own.
    pending: u32,
}

impl StepClocks {
    /// The clocks of the FMU whose steps `unit` makes; `learned`: their intervals from before the run, by their places; `left`:
    /// the state of the saved run that this one continues.
    pub fn new(run: &RunState, unit: UnitId, learned: &[Learned], left: Option<&BetweenSteps>) -> StepClocks {
        let fmu = run.plan.units[unit.0].fmu;
        let plan = &run.plan.fmus[fmu.0];
        // Steps go beyond the stop time of a run that may be taken up again.
        let stop = run.plan.stop.filter(|_| !run.saves);
        let outputs: Vec<_> = plan.output_clocks.iter().filter(|clock| clock.input.is_none()).collect();
        let inputs = plan.output_clocks.iter().enumerate().filter_map(|(place, clock)| {
            let own = clock.input.as_ref()?;
            let mut timeline = Timeline::new(&own.release, run.plan.start, stop);
            timeline.learn(learned.get(place).copied().unwrap_or_default(), run.plan.start, None);
            let (kind, fraction) = (own.clock.kind, own.clock.supports_fraction);
            let fed = StepFeed::of(run, unit, &own.release);
            Some(Input { reference: clock.reference, kind, fraction, timeline, fed, pending: 0 })
        });
        let mut inputs: Vec<Input> = inputs.collect();
        let releases = plan.output_clocks.iter().filter_map(|clock| Some(&clock.input.as_ref()?.release));
        for ((input, release), timeline) in
            inputs.iter_mut().zip(releases).zip(left.iter().flat_map(|left| &left.clocks))
        {
            // The state fits, or the run would not have been resumed.
            if let Ok(timeline) = timeline.clone().resume(release, stop) {
                input.timeline = timeline;
            }
        }
        for (clock, time) in left.iter().flat_map(|left| &left.ticks) {
            let stamp = TickStamp { time: *time, dispatched: Nanos(0), root: None };
            let _there_is_room = run.instances[fmu.0].ticks.get(*clock).map(|queue| queue.push(stamp));
        }
        StepClocks {
            fmu,
            unit,
            time_unit: plan.time_unit,
            delays: Delays::of(plan).filter(|_| !outputs.is_empty()),
            first_input: outputs.len(),
            outputs: OutputClocks::new(
                &outputs
                    .chunk_by(|a, b| a.reference == b.reference)
                    .map(|clock| (clock[0].reference, clock.len()))
                    .collect::<Vec<_>>(),
            ),
            active: vec![false; plan.output_clocks.len()],
            ticking: InputClocks::with_capacity(inputs.len(), inputs.len()),
            inputs,
        }
    }

    /// Whether stimuli tick one of them.
    pub fn is_fed(&self) -> bool {
        self.inputs.iter().any(|input| input.fed.is_some())
    }

    /// Fetches the ticks that stimuli have in the course of a step, from its begin to its end at the latest. `false`: they cannot
    /// be read, and the run ends.
    pub fn take_fed(&mut self, run: &RunState, step: (Instant, Instant)) -> bool {
        self.inputs
            .iter_mut()
            .all(|Input { fed, timeline, .. }| fed.as_mut().is_none_or(|fed| fed.take_within(run, timeline, step)))
    }

    /// When one of them ticks next by itself or by a stimulus, as far as that is known.
    pub fn next(&self) -> Option<Instant> {
        self.inputs.iter().filter_map(|input| input.timeline.next()).min()
    }

    /// Whether one of them is to tick at this communication point; `before`: the last one.
    pub fn is_due(&mut self, run: &RunState, point: Instant, before: Option<Instant>) -> bool {
        let queues = run.instances[self.fmu.0].ticks.iter().skip(self.first_input);
        for (input, queue) in self.inputs.iter_mut().zip(queues) {
            while input.timeline.next().is_some_and(|time| time <= point) {
                input.timeline.take();
                input.pending += 1;
                // There may be more than a timeline takes at once.
                input.fed.iter().for_each(|fed| fed.take(&mut input.timeline));
            }
            while queue.peek().is_some_and(|tick| tick.time < point)
                && let Some(TickStamp { time, .. }) = queue.pop()
            {
                let cells = run.board.task(self.unit);
                queue.set_waiting(0);
                input.pending += 1;
                cells.count(TaskWord::Deferred, 1);
                if before.is_some_and(|before| time < before) {
                    cells.count(TaskWord::Retimed, 1);
                    run.board.note_break(self.unit, Break::Retimed, point);
                }
            }
        }
        self.is_pending()
    }

    /// Whether one of them is still to tick at this instant.
    pub fn is_pending(&self) -> bool {
        self.inputs.iter().any(|input| input.pending > 0)
    }

    /// Another clock has ticked this one, by its place, at `point`: it ticks there, or at a later `time`.
    pub fn tick(&mut self, run: &RunState, clock: usize, point: Instant, time: Instant) {
        let input = clock.checked_sub(self.first_input).and_then(|input| self.inputs.get_mut(input));
        let Some(input) = input else { return };
        if time <= point {
            // Several ticks at once are one: all of them are in the same iteration.
            input.pending = input.pending.max(1);
            return;
        }
        let outcome = input.timeline.tick(time, DispatchStamp { wall: Nanos(0), time, root: None });
        if outcome == Tick::Full {
            run.board.task(self.unit).count_shared(TaskWord::RefusedTicks, 1);
        }
        let stamp = TickStamp { time, dispatched: run.wall(point), root: None };
        run.count(self.unit, stamp, outcome);
    }

    /// Sets the due input clocks, each once: they are active in this iteration.
    pub fn set(&mut self, event: &mut EventMode) -> Result<(), Failure> {
        self.active.fill(false);
        self.ticking.clear();
        let mut place = self.first_input;
        for clock in self.inputs.chunk_by_mut(|a, b| a.reference == b.reference) {
            if clock.iter().any(|element| element.pending > 0) {
                self.ticking.push(clock[0].reference, clock.iter().map(|element| element.pending > 0));
            }
            for element in clock {
                self.active[place] = element.pending > 0;
                element.pending = element.pending.saturating_sub(1);
                place += 1;
            }
        }
        if !self.ticking.is_empty() {
            let _warning_is_counted = event.set_clocks(&self.ticking)?;
        }
        Ok(())
    }

    /// Reads which output clocks are active in this iteration at `point`, and how much later others follow.
    pub fn get(&mut self, run: &RunState, event: &mut EventMode, point: Instant) -> Result<(), Failure> {
        if self.outputs.is_empty() {
            return Ok(());
        }
        let _warning_is_counted = event.get_clocks(&mut self.outputs)?;
        for (active, read) in self.active.iter_mut().zip(self.outputs.active()) {
            *active = *read == 1;
        }
        let Some(delays) = &mut self.delays else { return Ok(()) };
        let plan = &run.plan.fmus[self.fmu.0];
        let active = self.outputs.active();
        delays.ask(plan, active, |references, into: ElementIntervals| event.get_draft_intervals(references, into))?;
        for (place, _) in active.iter().enumerate().filter(|(_, active)| **active == 1) {
            // The clock has ticked, whatever its delay is.
            if let Err(illegal) = delays.after(place) {
                let seen = (plan.output_clocks[place].reference, point, illegal.to_bits());
                note(run, self.fmu, self.unit, FindingKind::IllegalInterval, seen);
            }
        }
        Ok(())
    }

    /// The delay between this clock, by its place, and the clocks that it triggers.
    pub fn delay(&self, clock: usize) -> Fraction {
        let delay = self.delays.as_ref().map_or(Ok(Fraction::ZERO), |delays| delays.after(clock));
        delay.unwrap_or(Fraction::ZERO)
    }

    /// The clocks that are active in this iteration, by their places.
    pub fn active(&self) -> impl Iterator<Item = usize> + '_ {
        self.active.iter().enumerate().filter(|(_, active)| **active).map(|(clock, _)| clock)
    }

    /// Whether one of these clocks is active in this iteration.
    pub fn is_one_active(&self, clocks: &[usize]) -> bool {
        clocks.iter().any(|clock| self.active[*clock])
    }

    /// Asks, after an iteration at `point`, for the intervals of countdown clocks, and of changing ones that have ticked.
    pub fn ask(&mut self, run: &RunState, event: &mut EventMode, point: Instant) -> Result<(), Failure> {
        for (place, input) in self.inputs.iter_mut().enumerate() {
            let ticked = self.active[self.first_input + place];
            match input.kind {
                IntervalVariability::Countdown => {
                    let (read, qualifier) = event.get_interval(input.reference, input.fraction)?;
                    match Qualifier::from_raw(qualifier) {
                        Some(Qualifier::Changed) => match duration(read, self.time_unit) {
                            Ok(interval) if interval.is_zero() => input.pending += 1,
                            Ok(interval) => {
                                let time = point.after(interval);
                                let dispatch = DispatchStamp { wall: Nanos(0), time, root: None };
                                let _one_at_a_time = input.timeline.arm(time, point, dispatch);
                            }
                            Err(_) => {
                                let value = roughly(read, self.time_unit).to_bits();
                                note(
                                    run,
                                    self.fmu,
                                    self.unit,
                                    FindingKind::IllegalInterval,
                                    (input.reference, point, value),
                                );
                            }
                        },
                        Some(Qualifier::NotYetKnown | Qualifier::Unchanged) => (),
                        None => {
                            let value = qualifier as u64;
                            note(
                                run,
                                self.fmu,
                                self.unit,
                                FindingKind::IllegalQualifier,
                                (input.reference, point, value),
                            );
                        }
                    }
                }
                IntervalVariability::Changing if ticked => {
                    let (read, qualifier) = event.get_interval(input.reference, input.fraction)?;
                    let interval = known(qualifier).and_then(|()| duration(read, self.time_unit));
                    match interval.ok().filter(|interval| point.after(*interval) > point) {
                        Some(interval) => input.timeline.follow(interval, point),
                        None => {
                            let function = Function::get_interval(input.fraction);
                            let value = roughly(read, self.time_unit).to_bits();
                            note(
                                run,
                                self.fmu,
                                self.unit,
                                FindingKind::IllegalInterval,
                                (input.reference, point, value),
                            );
                            let (status, clock) = (vecud_fmi::Status::Error, Some(input.reference));
                            let time = Some(self.time_unit.value(point));
                            return Err(Failure { function, status, clock, time, answer: None, refused: false });
                        }
                    }
                }
                _ => (),
            }
        }
        Ok(())
    }

    /// When its input clocks tick by themselves, for a run that goes on after this one.
    pub fn timelines(&self) -> Vec<Timeline> {
        self.inputs.iter().map(|input| input.timeline.clone()).collect()
    }
}

fn note(
    run: &RunState,
    fmu: FmuId,
    unit: UnitId,
    finding: FindingKind,
    (reference, time, value): (ValueReference, Instant, u64),
) {
    let seen = Occurrence { unit: Some(unit), reference: Some(reference), time: Some(time), value };
    run.board.fmu(fmu).findings().note(finding, seen);
}
