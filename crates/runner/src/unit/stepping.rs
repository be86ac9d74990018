//! How far the steps of one instance are, and how far the next one goes (semantics S19, S21, S23). Calls nothing.

use super::figures::StepFigures;
use crate::calls::{Calls, Recorded};
use crate::thread_host::PartitionHost;
use crate::world::World;
use std::cmp::Ordering;
#[cfg(debug_assertions)]
use std::sync::OnceLock;
#[cfg(debug_assertions)]
use vecud_base::time::Nanos;
use vecud_base::time::{Fraction, Instant, ROUNDING, Stride, TimeUnit, is_same};
use vecud_fmi::StepResult;
use vecud_plan::schedule::{Due, first_after};
use vecud_plan::{Overrun, Retry, StepEngine, StepPlan, StepRows, StepSize, UnitId};
use vecud_record::board::TaskWord;

/// A communication point at which the FMU is told the time of its own next event, which is the same but for rounding (semantics S22).
#[derive(Clone, Copy)]
struct Told {
    point: Instant,
    seconds: f64,
    /// In the FMU's unit of time.
    value: f64,
}

/// How an FMU that is simulated by itself is recorded: an event has two rows of its time.
struct Shows {
    /// Inputs have events at these times: what feeds them jumps, or changes something discrete.
    input_events: Box<[Instant]>,
    /// How many of them are over.
    past: usize,
    /// One of them is at the communication point that was reached, and was not handled yet.
    has_jumped: bool,
    start: Instant,
    /// From one row to the next; `None`: each release has one.
    interval: Option<Fraction>,
    /// No release before this time has one.
    next_row: Instant,
    /// The release beside the grid at this time has none.
    left_out: Option<Instant>,
    /// Rows that were recorded.
    rows: u64,
}

impl Shows {
    fn new(world: &World, steps_per_row: u32, step: Fraction) -> Shows {
        let interval = Instant::ZERO.after_many(step, steps_per_row.into()).minus(Instant::ZERO);
        Shows {
            input_events: world.plan.input_events.clone().into(),
            past: world.plan.input_events.partition_point(|event| *event <= world.begin),
            has_jumped: false,
            start: world.plan.start,
            interval: interval.filter(|_| steps_per_row > 1),
            next_row: world.plan.start,
            left_out: None,
            rows: 0,
        }
    }

    /// Whether a release at this time, which is not before that of the last question, has a row.
    #[inline]
    fn is_row(&mut self, time: &Instant) -> bool {
        self.left_out.take().is_none_or(|left_out| left_out != *time)
            && self.interval.is_none_or(|interval| *time >= self.next_row && self.is_on_row(*time, interval))
    }

    #[inline(never)] // mostly there are many steps to a row
    fn is_on_row(&mut self, time: Instant, interval: Fraction) -> bool {
        self.next_row = first_after(self.start, interval, time);
        time.minus(self.start).is_some_and(|since| since.is_multiple_of(interval))
    }
}

/// How far an instance is, and how it goes on.
pub struct Stepping {
    task: UnitId,
    /// One step.
    stride: Stride,
    /// The length of a step in the FMU's unit of time, rounded once.
    pub size: f64,
    /// How long the FMU is told that a step is.
    step_size: StepSize,
    /// What was missed is made up by one longer step, not by one after the other.
    is_variable: bool,
    /// The FMU can make steps of any size.
    pub varies: bool,
    /// It has Event Mode.
    pub handles_events: bool,
    /// How a step that is discarded is tried in parts.
    pub retry: Retry,
    pub unit: TimeUnit,
    /// The time that no step goes beyond.
    pub stop: Option<Instant>,
    /// A step of the grid that ends here or later ends at the stop time: rounding alone lies between.
    until: Option<Instant>,
    /// The run is taken up again: its next part has the row of the time at which this one's steps end.
    saves: bool,
    /// The run goes on from a saved state.
    pub is_resumed: bool,
    /// The communication point that the FMU has come to; `None`: it has made no step in this run.
    pub reached: Option<Instant>,
    /// The communication point whose values were read.
    read: Option<Instant>,
    /// The last row that was recorded.
    row: Option<Instant>,
    /// That row is from before an event, of which nothing was read yet.
    precedes_event: bool,
    /// How far a step may be from its point: the FMU's internal step, else a hundredth of one.
    pub tolerance: f64,
    /// The FMU has asked for the end of the run.
    pub is_over: bool,
    /// Its last row is recorded.
    is_ended: bool,
    pub figures: StepFigures,
    /// What the last step has reached by its own word, if that is another time than it was to.
    off: Option<f64>,
    /// A release beside the grid that the schedule does not know of yet.
    beside: Option<Instant>,
    /// Where the step under way begins, and where it ends, as far as the FMU is told other times than those.
    told: [Option<Told>; 2],
    /// `None`: it is a part of a rig.
    shows: Option<Box<Shows>>,
}

impl Stepping {
    /// The steps of this task, `plan`, each over `step`.
    pub fn new(world: &World, task: UnitId, plan: StepPlan, step: Fraction) -> Stepping {
        let own = &world.plan.units[task.0];
        let unit = world.plan.fmus[own.fmu.0].time_unit;
        Stepping {
            task,
            stride: Stride::new(step),
            size: unit.amount(step).unwrap_or(step).seconds(),
            step_size: plan.step_size,
            is_variable: plan.is_variable && own.overrun != Overrun::Queue,
            varies: plan.is_variable,
            handles_events: plan.engine != StepEngine::Steps,
            retry: plan.retry,
            unit,
            // A run that is taken up again goes on from where its steps end.
            stop: world.plan.stop.filter(|_| !world.saves),
            until: world.plan.released_until(own).filter(|_| !world.saves),
            saves: world.saves,
            is_resumed: world.begin > world.plan.start || world.plan.fmus[own.fmu.0].initial_state.is_some(),
            reached: None,
            read: None,
            row: None,
            precedes_event: false,
            tolerance: plan.internal_step.unwrap_or(unit.amount(step).unwrap_or(step).seconds() / 100.0),
            is_over: false,
            is_ended: false,
            figures: StepFigures::new(world, task, unit),
            off: None,
            beside: None,
            told: [None; 2],
            shows: match plan.rows {
                StepRows::Events { steps_per_row } => Some(Box::new(Shows::new(world, steps_per_row, step))),
                StepRows::Releases => None,
            },
        }
    }

    /// The task.
    pub fn task(&self) -> UnitId {
        self.task
    }

    /// Appends the row of this time, unless it is there already.
    pub fn record(&mut self, recorded: &Recorded, calls: &Calls, world: &World, host: &PartitionHost, time: Instant) {
        if self.row.is_some_and(|row| row >= time) {
            return;
        }
        (self.row, self.precedes_event) = (Some(time), false);
        // No other task has these columns, so that no order is needed but among rows of one time.
        let order = self.shows.as_mut().map_or(0, |shows| {
            shows.rows += 1;
            shows.rows
        });
        if !recorded.append(calls, world, host, order, time) {
            world.board.task(self.task).count(TaskWord::SamplesDropped, 1);
        }
    }

    /// Whether the last row is before this time.
    pub fn lacks_row(&self, time: Instant) -> bool {
        self.row.is_none_or(|row| row < time)
    }

    /// [`Stepping::record`] at a release, of which not each has a row.
    #[inline]
    pub fn record_release(
        &mut self,
        recorded: &Recorded,
        calls: &Calls,
        world: &World,
        host: &PartitionHost,
        time: Instant,
    ) {
        // The first one has one, and the first one after an event.
        if self.row.is_none() || self.shows.as_mut().is_none_or(|shows| shows.is_row(&time)) {
            self.record(recorded, calls, world, host, time);
        }
    }

    /// Records what there was before an event at the communication point that was reached, if it is to be shown: `has_event`, or
    /// inputs have one. The row from after it comes with the next release, or with the last row.
    pub fn show_before(
        &mut self,
        has_event: bool,
        recorded: Option<&Recorded>,
        calls: &Calls,
        world: &World,
        host: &PartitionHost,
    ) {
        let (Some(shows), Some(reached)) = (&mut self.shows, self.reached) else { return };
        let passed = shows.input_events[shows.past..].partition_point(|event| *event <= reached);
        shows.past += passed;
        shows.has_jumped |= passed > 0 && self.stop != Some(reached);
        if !has_event && !shows.has_jumped {
            return;
        }
        if let Some(recorded) = recorded {
            self.record(recorded, calls, world, host, reached);
            self.precedes_event = true;
        }
        self.row = None;
    }

    /// The communication point that was reached is one for inputs alone, which have no event there: if it is beside the grid, the
    /// release there has no row.
    pub fn leave_row_out(&mut self) {
        let (beside, reached) = (self.beside, self.reached);
        if let Some(shows) = self.shows.as_mut().filter(|shows| !shows.has_jumped) {
            shows.left_out = beside.filter(|beside| Some(*beside) == reached);
        }
    }

    /// The values of a communication point were read.
    #[inline]
    pub fn is_read(&mut self, point: Option<Instant>) {
        (self.read, self.precedes_event) = (point, false);
    }

    /// Whether they were where the FMU stands.
    pub fn is_read_here(&self) -> bool {
        self.read.is_some() && self.read == self.reached
    }

    /// Inputs have an event at the communication point that was reached; told once.
    #[inline]
    pub fn has_jumped(&mut self) -> bool {
        self.shows.as_mut().is_some_and(|shows| std::mem::take(&mut shows.has_jumped))
    }

    /// When inputs have their next event after this time.
    #[inline]
    pub fn input_event(&self, time: Instant) -> Option<Instant> {
        let shows = self.shows.as_ref()?;
        shows.input_events.get(shows.past).copied().filter(|event| *event > time)
    }

    /// Events have two rows.
    #[inline]
    pub fn shows_events(&self) -> bool {
        self.shows.is_some()
    }

    /// An event at the stop time is handled, since it is shown.
    pub fn ends_with_events(&self) -> bool {
        self.shows.is_some() && self.reached.is_some() && self.reached == self.stop
    }

    /// Records what the last step has computed, at its end, but not before `least`, which others have come to. An event that was not
    /// handled any more has no row from after it.
    pub fn record_last(
        &mut self,
        recorded: Option<&Recorded>,
        calls: &Calls,
        world: &World,
        host: &PartitionHost,
        least: Instant,
    ) {
        if self.is_ended || self.precedes_event {
            return;
        }
        self.is_ended = self.is_over;
        if let (Some(recorded), Some(read), false) = (recorded, self.read, self.saves) {
            self.record(recorded, calls, world, host, read.max(least));
        }
    }

    /// Notes what the last step was not to do.
    #[inline]
    pub fn note(&mut self) {
        if let Some(reached) = self.off.take() {
            self.figures.off_the_point(self.reached, reached);
        }
    }

    /// Where the work of the release `due` ends: at the next instant of the grid.
    #[inline]
    pub fn end_of(&self, due: &Due) -> Instant {
        due.next.unwrap_or_else(|| due.time.after(self.stride.length()))
    }

    /// Where the work of the release `due` ends if it is one whole step: it is not beside the grid, nothing was missed, and neither
    /// the stop time nor a jump of inputs comes before. `None`: there is more to it.
    #[inline(always)] // the instants stay in registers
    pub fn usual_end(&mut self, due: &Due) -> Option<Instant> {
        let end = self.stride.after(&due.time);
        let is_usual = due.next.as_ref().is_none_or(|next| *next == end)
            && self.until.as_ref().is_none_or(|until| end < *until)
            && self.reached.as_ref().is_none_or(|reached| *reached == due.time)
            && self.retry != Retry::FromState
            && (self.shows.is_none() || self.jump(due.time, end).is_none());
        is_usual.then_some(end)
    }

    /// Whether the releases from `time` on are usual, but for the last one before the stop time.
    pub fn strides_from(&self, time: Instant) -> bool {
        let is_shown =
            self.shows.as_ref().is_some_and(|shows| shows.has_jumped || shows.past < shows.input_events.len());
        self.reached.is_none_or(|reached| reached == time) && self.strides_on() && !is_shown
    }

    /// Whether the last step has changed nothing about that.
    #[inline]
    pub fn strides_on(&self) -> bool {
        !self.is_over && self.beside.is_none()
    }

    /// Where the work of the release `due` ends that is not [usual](Stepping::usual_end).
    pub fn target(&mut self, due: &Due) -> Instant {
        let end = self.end_of(due);
        let jump = self.jump(due.time, end);
        if let Some(jump) = jump {
            self.go_on_at(jump);
        }
        self.bounded(jump.unwrap_or(end))
    }

    /// Where a step ends that would end here: at the stop time at the latest, and there if rounding alone lies between.
    pub fn bounded(&self, end: Instant) -> Instant {
        self.stop.filter(|_| self.until.is_some_and(|until| end >= until)).unwrap_or(end)
    }

    /// When inputs jump between these times, if a step can end there.
    fn jump(&self, time: Instant, end: Instant) -> Option<Instant> {
        self.input_event(time).filter(|jump| self.varies && *jump < end)
    }

    /// The communication point and the step size of a usual step as they are told; `seconds` is the time of its release.
    #[inline(always)] // the instants stay in registers
    pub fn told_usual(&self, time: &Instant, seconds: f64, end: &Instant) -> (f64, f64) {
        let point = if self.unit.is_second() { seconds } else { self.unit.value(*time) };
        (point, self.size_told(point, || self.unit.value(*end)))
    }

    /// The size of a whole step from `point` to `next`, both as they are told.
    #[inline(always)] // the instants stay in registers
    pub fn size_told(&self, point: f64, next: impl FnOnce() -> f64) -> f64 {
        match self.step_size {
            StepSize::Nominal => self.size,
            StepSize::Difference => difference(point, next()).unwrap_or(self.size),
        }
    }

    /// The time at which what is set at a release is to be visible.
    #[cfg(not(debug_assertions))]
    #[inline(always)] // it is the same time
    pub fn looks_at(&self, time: Instant) -> Instant {
        time
    }

    /// The same of hosts that are known to be wrong.
    #[cfg(debug_assertions)]
    pub fn looks_at(&self, time: Instant) -> Instant {
        let step = self.stride.length();
        match () {
            () if is_wrong("end") => time.after(step),
            () if is_wrong("after") => Instant::from_nanos(Nanos(time.nanos().0 - (step.seconds() * 1e9) as i64)),
            () => time,
        }
    }

    /// The communication point that is to be reached next, from this one on, where the work of a release ends at `target`.
    pub fn next(&self, from: Instant, target: Instant) -> Instant {
        if self.is_variable { target } else { self.bounded(from.after(self.stride.length())).min(target) }
    }

    /// Whether two times are the same but for what an FMU may have lost by rounding.
    pub fn is_same(&self, event: Instant, point: Instant) -> bool {
        let [event, point] = [event, point].map(|time| self.unit.value(time));
        is_same(event, point, self.size)
    }

    /// Where a step ends that goes `to` there at most, and no further than to something that is `known`, but for rounding.
    pub fn ends_before(&self, to: Instant, known: Option<Instant>) -> Instant {
        known.filter(|known| *known < to && !self.is_same(*known, to)).unwrap_or(to)
    }

    /// Whether an event is due at a communication point, by the time that the FMU is told there.
    pub fn is_due(&self, event: Instant, point: Instant) -> bool {
        event <= point || self.unit.value(event) <= self.value(point)
    }

    /// A step goes from one communication point to another. If the next `event` is at its end but for rounding, the FMU is told the time of
    /// the event there, to the bit also by the size of the step: not earlier, so that it comes, nor later, nor beyond the stop time. Nor is it
    /// told a time before the one that it has: where it was told a later one than `to` already, it stands there.
    pub fn aim(&mut self, from: Instant, to: Instant, event: Option<Instant>) {
        let here = self.told.into_iter().flatten().find(|told| told.point == from);
        let there = event.filter(|event| self.is_same(*event, to)).map(|event| {
            let stop = self.stop.map_or(f64::INFINITY, |stop| self.unit.value(stop));
            Told { point: to, seconds: to.seconds(), value: self.unit.value(event).min(stop) }
        });
        let stands = self.value(from);
        let there = there.filter(|there| from == to || there.value > stands).or_else(|| {
            let is_passed = to > from && self.unit.value(to) <= stands;
            is_passed.then(|| Told { point: to, seconds: to.seconds(), value: stands })
        });
        self.told = [here, there];
    }

    /// A communication point as the FMU is told it.
    pub fn value(&self, point: Instant) -> f64 {
        let told = self.told.iter().flatten().find(|told| told.point == point);
        told.map_or_else(|| self.unit.value(point), |told| told.value)
    }

    /// A time of a solver, s, as the FMU is told it, which would be told `plain`: on the same side of communication points.
    #[inline]
    pub fn value_between(&self, seconds: f64, plain: f64) -> f64 {
        self.told.iter().flatten().fold(plain, |value, told| match seconds.total_cmp(&told.seconds) {
            Ordering::Less => value.min(told.value),
            Ordering::Equal => told.value,
            Ordering::Greater => value.max(told.value),
        })
    }

    /// The instant of the grid about a time, s, by one of its instants.
    pub fn on_grid(&self, one: Instant, time: f64) -> Instant {
        let number = ((time - one.seconds()) / self.stride.length().seconds()).round();
        one.after_many(self.stride.length(), number.max(0.0) as u64)
    }

    /// The time that a step over this interval has reached, which was to come to `point`. Off that point without an early return
    /// is worth a note, and the grid stays.
    pub fn come_to(&mut self, said: &StepResult, (from, to): (Instant, Instant), point: f64) -> Instant {
        if !said.early_return {
            self.arrive(said, to, point);
            return to;
        }
        self.figures.early_return();
        self.is_over |= said.terminate_simulation;
        let off = (said.reached - point).abs();
        // Where only rounding is missing nothing is left to be stepped.
        let reached = match self.unit.instant(said.reached) {
            Some(reached) if off > self.size * ROUNDING => reached.max(from).min(to),
            _ => to,
        };
        self.reached = Some(reached);
        reached
    }

    /// [`Stepping::come_to`] without an early return.
    #[inline(always)] // the instant stays in registers
    pub fn arrive(&mut self, said: &StepResult, to: Instant, point: f64) {
        self.is_over |= said.terminate_simulation;
        let off = (said.reached - point).abs();
        self.figures.deviates(off);
        // A time that is no number is off, too.
        self.off = (off > self.tolerance || off.is_nan()).then_some(said.reached);
        self.reached = Some(to);
    }

    /// Whether the last step has reached another time than it was to, by the FMU's own word and without an early return.
    pub fn is_off(&self) -> bool {
        self.off.is_some()
    }

    /// It stands at this time, if it has made no step yet.
    pub fn begin_at(&mut self, time: Instant) {
        self.reached = self.reached.or(Some(time));
    }

    /// The FMU has discarded a step and says that it came to this time. It is to be taken back.
    #[cold]
    pub fn reject(&mut self, reached: Instant) {
        self.figures.rejected();
        self.reached = Some(reached);
    }

    /// The host has integrated the FMU to this time.
    pub fn integrated(&mut self, to: Instant) {
        self.figures.step();
        self.reached = Some(to);
    }

    /// The last step was taken back: the FMU is where it was before it.
    pub fn take_back(&mut self, reached: Option<Instant>) {
        self.figures.taken_back();
        (self.reached, self.off, self.is_over) = (reached, None, false);
    }

    /// What is left of a step on the grid is done at a release of its own, at this time.
    #[cold]
    pub fn go_on_at(&mut self, time: Instant) {
        self.beside = Some(time);
    }

    /// A release beside the grid that is wanted; told once.
    #[inline]
    pub fn take_point(&mut self) -> Option<Instant> {
        self.beside.take()
    }

    /// The communication point and the step size as they are told: what they come to is not beyond the stop time, which FMUs
    /// may refuse to pass.
    pub fn told(&self, from: Instant, to: Instant) -> (f64, f64) {
        let (point, next) = (self.value(from), self.value(to));
        if self.told.iter().flatten().any(|told| told.point == from || told.point == to) {
            return (point, exact(point, next));
        }
        let nominal = || match to.minus(from) {
            Some(rest) if self.is_whole(rest) => self.size,
            Some(rest) => self.unit.amount(rest).unwrap_or(rest).seconds(),
            // An early return can be at a time that has no common denominator with the grid.
            None => next - point,
        };
        let size = match self.step_size {
            StepSize::Nominal => nominal(),
            StepSize::Difference => difference(point, next).unwrap_or_else(nominal),
        };
        (point, if self.stop == Some(to) { not_past(next, point, size) } else { size })
    }

    /// Whether a step over this time is one of the grid, but for rounding where the FMU has steps of one size.
    fn is_whole(&self, time: Fraction) -> bool {
        let length = self.stride.length();
        time == length || !self.varies && time.steps(length) == (1, true)
    }
}

/// The distance of two communication points as the FMU is told them. Point and distance add up to the next point, to the bit, if that is at
/// most twice as far from 0 as this one, as all are of a grid from 0 on (the difference is exact then, by Sterbenz's lemma). `None`: their
/// doubles are the same.
#[inline(always)] // for each step
fn difference(point: f64, next: f64) -> Option<f64> {
    let difference = next - point;
    (difference > 0.0).then_some(difference)
}

/// The step size that leads from one communication point to the next to the bit.
fn exact(point: f64, next: f64) -> f64 {
    let mut size = next - point;
    while point + size < next {
        size = size.next_up();
    }
    while point + size > next {
        size = size.next_down();
    }
    size
}

/// The step size from this point on, made just so much smaller that the sum of both does not pass the stop time, beyond which
/// an FMU may refuse to go.
fn not_past(stop: f64, point: f64, size: f64) -> f64 {
    if point + size <= stop {
        return size;
    }
    // The bits of numbers from 0 on are in their order.
    let (mut fits, mut passes) = (0, size.to_bits());
    while passes - fits > 1 {
        let between = fits + (passes - fits) / 2;
        match point + f64::from_bits(between) <= stop {
            true => fits = between,
            false => passes = between,
        }
    }
    f64::from_bits(fits)
}

/// Hosts that are known to be wrong, for tests that are to notice them: "hole" leaves out what was missed, "early" shows what a
/// step has computed from its begin on, "end" sets what is visible at the end of the step, "after" what was at the begin of the
/// one before, as if it were set after the step.
#[cfg(debug_assertions)]
pub fn is_wrong(how: &str) -> bool {
    static ASKED: OnceLock<Option<String>> = OnceLock::new();
    ASKED.get_or_init(|| std::env::var("VECUD_WRONG_STEP").ok()).as_deref() == Some(how)
}

#[cfg(not(debug_assertions))]
#[inline(always)] // nothing is
pub fn is_wrong(_how: &str) -> bool {
    false
}
