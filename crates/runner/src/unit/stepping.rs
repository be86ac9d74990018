//! The progress of the steps of one instance, and the length of the next one (semantics S19, S21, S23). Makes no FMI call.

use super::figures::StepFigures;
use crate::calls::{Calls, Recorded};
use crate::run_state::RunState;
use crate::thread_host::PartitionHost;
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

/// A communication point at which the FMU is told the time of its own next event, which is the same but for rounding (semantics
/// S22).
#[derive(Clone, Copy)]
struct ToldTime {
    point: Instant,
    seconds: f64,
    /// In the FMU's unit of time.
    value: f64,
}

/// How an FMU that is simulated by itself is recorded: an event has two rows of its time.
struct EventRows {
    /// Times at which inputs have events: a source jumps, or changes a discrete variable.
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

impl EventRows {
    fn new(run: &RunState, steps_per_row: u32, step: Fraction) -> EventRows {
        let interval = Instant::ZERO.after_many(step, steps_per_row.into()).minus(Instant::ZERO);
        EventRows {
            input_events: run.plan.input_events.clone().into(),
            past: run.plan.input_events.partition_point(|event| *event <= run.begin),
            has_jumped: false,
            start: run.plan.start,
            interval: interval.filter(|_| steps_per_row > 1),
            next_row: run.plan.start,
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

/// The sizes of steps that an FMU can make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StepSizes {
    /// The length of the grid's steps alone.
    Grid,
    /// Any size; missed steps are made up one by one all the same, since the rig queues their releases.
    Any,
    /// Any size; missed steps are made up by one longer step.
    AnyAtOnce,
}

/// The place of a run among those that continue each other by a saved state.
struct RunPart {
    /// The run goes on from a saved state.
    is_resumed: bool,
    /// Another one goes on from its state, and has the row of the time at which its steps end.
    is_continued: bool,
}

/// The last row that was recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastRow {
    /// There is none yet, or none from after the last event.
    Missing,
    /// The row of this time.
    At(Instant),
    /// The row from before an event, whose outputs were not read yet.
    BeforeEvent,
}

/// The end of the run, as far as an FMU asks for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RunEnd {
    /// Not yet.
    Open,
    /// The FMU has asked for it.
    Requested,
    /// The FMU has asked for it, and has its last row.
    Recorded,
}

/// Progress and rules of the steps of one instance.
pub struct Stepping {
    unit: UnitId,
    /// One step.
    stride: Stride,
    /// The length of a step in the FMU's unit of time, rounded once.
    pub size: f64,
    /// The step size that the FMU is told.
    step_size: StepSize,
    sizes: StepSizes,
    /// The FMU has Event Mode.
    pub handles_events: bool,
    /// How a step that is discarded is tried in parts.
    pub retry: Retry,
    pub time_unit: TimeUnit,
    /// The time that no step goes beyond.
    pub stop: Option<Instant>,
    /// A step of the grid that ends here or later ends at the stop time: rounding alone lies between.
    until: Option<Instant>,
    part: RunPart,
    /// The communication point that the FMU has come to; `None`: it has made no step in this run.
    pub reached: Option<Instant>,
    /// The communication point whose outputs were read.
    read: Option<Instant>,
    row: LastRow,
    /// The distance from its communication point within which a step may end: the FMU's internal step, else a hundredth of a
    /// step.
    pub tolerance: f64,
    end: RunEnd,
    pub figures: StepFigures,
    /// The time that the last step has reached as the FMU reports it, if that is not its communication point.
    off: Option<f64>,
    /// A release beside the grid that the schedule does not have yet.
    beside: Option<Instant>,
    /// Begin and end of the step under way, where the FMU is told other times than these.
    told_times: [Option<ToldTime>; 2],
    /// `None`: it is a part of a rig.
    event_rows: Option<Box<EventRows>>,
}

impl Stepping {
    /// The steps of this task, `plan`, each over `step`.
    pub fn new(run: &RunState, unit: UnitId, plan: StepPlan, step: Fraction) -> Stepping {
        let own = &run.plan.units[unit.0];
        let time_unit = run.plan.fmus[own.fmu.0].time_unit;
        Stepping {
            unit,
            stride: Stride::new(step),
            size: time_unit.amount(step).unwrap_or(step).seconds(),
            step_size: plan.step_size,
            sizes: match plan.is_variable {
                true if run.plan.task_of(unit).overrun != Overrun::Queue => StepSizes::AnyAtOnce,
                true => StepSizes::Any,
                false => StepSizes::Grid,
            },
            handles_events: plan.engine != StepEngine::Steps,
            retry: plan.retry,
            time_unit,
            // A run that is taken up again goes on from where its steps end.
            stop: run.plan.stop.filter(|_| !run.saves),
            until: run.plan.released_until(own).filter(|_| !run.saves),
            part: RunPart {
                is_resumed: run.begin > run.plan.start || run.plan.fmus[own.fmu.0].initial_state.is_some(),
                is_continued: run.saves,
            },
            reached: None,
            read: None,
            row: LastRow::Missing,
            tolerance: plan.internal_step.unwrap_or(time_unit.amount(step).unwrap_or(step).seconds() / 100.0),
            end: RunEnd::Open,
            figures: StepFigures::new(run, unit, time_unit),
            off: None,
            beside: None,
            told_times: [None; 2],
            event_rows: match plan.rows {
                StepRows::Events { steps_per_row } => Some(Box::new(EventRows::new(run, steps_per_row, step))),
                StepRows::Releases => None,
            },
        }
    }

    /// The unit.
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// Whether the FMU can make steps of any size.
    pub fn varies(&self) -> bool {
        self.sizes != StepSizes::Grid
    }

    /// Whether the run goes on from a saved state.
    pub fn is_resumed(&self) -> bool {
        self.part.is_resumed
    }

    /// Whether the FMU has asked for the end of the run.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.end != RunEnd::Open
    }

    /// Takes over whether the FMU asks for the end of the run.
    #[inline(always)] // as what calls it
    pub fn request_end(&mut self, is_requested: bool) {
        if is_requested {
            self.end = self.end.max(RunEnd::Requested);
        }
    }

    /// Appends the row of this time, unless it is there already.
    pub fn record(&mut self, recorded: &Recorded, calls: &Calls, run: &RunState, host: &PartitionHost, time: Instant) {
        if !self.lacks_row(time) {
            return;
        }
        self.row = LastRow::At(time);
        // No other task has these columns, so that no order is needed but among rows of one time.
        let order = self.event_rows.as_mut().map_or(0, |event_rows| {
            event_rows.rows += 1;
            event_rows.rows
        });
        if !recorded.append(calls, run, host, order, time) {
            run.board.task(self.unit).count(TaskWord::SamplesDropped, 1);
        }
    }

    /// Whether the last row is before this time.
    pub fn lacks_row(&self, time: Instant) -> bool {
        !matches!(self.row, LastRow::At(row) if row >= time)
    }

    /// [`Stepping::record`] at a release, of which not each has a row.
    #[inline]
    pub fn record_release(
        &mut self,
        recorded: &Recorded,
        calls: &Calls,
        run: &RunState,
        host: &PartitionHost,
        time: Instant,
    ) {
        // The first one has one, and the first one after an event.
        if !matches!(self.row, LastRow::At(_))
            || self.event_rows.as_mut().is_none_or(|event_rows| event_rows.is_row(&time))
        {
            self.record(recorded, calls, run, host, time);
        }
    }

    /// Records the values before an event at the communication point that was reached, if events are shown: `has_event`, or one
    /// of inputs. The row from after the event comes with the next release, or with the last row.
    pub fn show_before(
        &mut self,
        has_event: bool,
        recorded: Option<&Recorded>,
        calls: &Calls,
        run: &RunState,
        host: &PartitionHost,
    ) {
        let (Some(event_rows), Some(reached)) = (&mut self.event_rows, self.reached) else { return };
        let passed = event_rows.input_events[event_rows.past..].partition_point(|event| *event <= reached);
        event_rows.past += passed;
        event_rows.has_jumped |= passed > 0 && self.stop != Some(reached);
        if !has_event && !event_rows.has_jumped {
            return;
        }
        self.row = match recorded {
            Some(recorded) => {
                self.record(recorded, calls, run, host, reached);
                LastRow::BeforeEvent
            }
            None => LastRow::Missing,
        };
    }

    /// The communication point that was reached is one for inputs alone, which have no event there: if it is beside the grid, the
    /// release there has no row.
    pub fn leave_row_out(&mut self) {
        let (beside, reached) = (self.beside, self.reached);
        if let Some(event_rows) = self.event_rows.as_mut().filter(|event_rows| !event_rows.has_jumped) {
            event_rows.left_out = beside.filter(|beside| Some(*beside) == reached);
        }
    }

    /// The values of a communication point were read.
    #[inline]
    pub fn is_read(&mut self, point: Option<Instant>) {
        self.read = point;
        if self.row == LastRow::BeforeEvent {
            self.row = LastRow::Missing;
        }
    }

    /// Whether they were where the FMU stands.
    pub fn is_read_here(&self) -> bool {
        self.read.is_some() && self.read == self.reached
    }

    /// Whether inputs have an event at the communication point that was reached; cleared by the call.
    #[inline]
    pub fn has_jumped(&mut self) -> bool {
        self.event_rows.as_mut().is_some_and(|event_rows| std::mem::take(&mut event_rows.has_jumped))
    }

    /// When inputs have their next event after this time.
    #[inline]
    pub fn input_event(&self, time: Instant) -> Option<Instant> {
        let event_rows = self.event_rows.as_ref()?;
        event_rows.input_events.get(event_rows.past).copied().filter(|event| *event > time)
    }

    /// Events have two rows.
    #[inline]
    pub fn shows_events(&self) -> bool {
        self.event_rows.is_some()
    }

    /// An event at the stop time is handled, since it is shown.
    pub fn ends_with_events(&self) -> bool {
        self.event_rows.is_some() && self.reached.is_some() && self.reached == self.stop
    }

    /// Records the outputs of the last step, at its end, but not before `least`, the time that others have reached. An event that
    /// was not handled any more has no row from after it.
    pub fn record_last(
        &mut self,
        recorded: Option<&Recorded>,
        calls: &Calls,
        run: &RunState,
        host: &PartitionHost,
        least: Instant,
    ) {
        if self.end == RunEnd::Recorded || self.row == LastRow::BeforeEvent {
            return;
        }
        if self.is_over() {
            self.end = RunEnd::Recorded;
        }
        if let (Some(recorded), Some(read), false) = (recorded, self.read, self.part.is_continued) {
            self.record(recorded, calls, run, host, read.max(least));
        }
    }

    /// Notes an illegal result of the last step.
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
    pub fn regular_end(&mut self, due: &Due) -> Option<Instant> {
        let end = self.stride.after(&due.time);
        let is_regular = due.next.as_ref().is_none_or(|next| *next == end)
            && self.until.as_ref().is_none_or(|until| end < *until)
            && self.reached.as_ref().is_none_or(|reached| *reached == due.time)
            && self.retry != Retry::FromState
            && (self.event_rows.is_none() || self.jump(due.time, end).is_none());
        is_regular.then_some(end)
    }

    /// Whether the releases from `time` on are regular, but for the last one before the stop time.
    pub fn is_regular_from(&self, time: Instant) -> bool {
        let is_shown = self
            .event_rows
            .as_ref()
            .is_some_and(|event_rows| event_rows.has_jumped || event_rows.past < event_rows.input_events.len());
        self.reached.is_none_or(|reached| reached == time) && self.stays_regular() && !is_shown
    }

    /// Whether the last step has changed nothing about that.
    #[inline]
    pub fn stays_regular(&self) -> bool {
        !self.is_over() && self.beside.is_none()
    }

    /// The end of the work of the release `due`, which is not [regular](Stepping::regular_end).
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
        self.input_event(time).filter(|jump| self.varies() && *jump < end)
    }

    /// The communication point and the step size of a regular step as the FMU is told them; `seconds` is the time of its release.
    #[inline(always)] // the instants stay in registers
    pub fn regular_step_args(&self, time: &Instant, seconds: f64, end: &Instant) -> (f64, f64) {
        let point = if self.time_unit.is_second() { seconds } else { self.time_unit.value(*time) };
        (point, self.told_size(point, || self.time_unit.value(*end)))
    }

    /// The size of a whole step from `point` to `next`, both as the FMU is told them.
    #[inline(always)] // the instants stay in registers
    pub fn told_size(&self, point: f64, next: impl FnOnce() -> f64) -> f64 {
        match self.step_size {
            StepSize::Nominal => self.size,
            StepSize::Difference => difference(point, next()).unwrap_or(self.size),
        }
    }

    /// The time at which the inputs of a release have to be visible.
    #[cfg(not(debug_assertions))]
    #[inline(always)] // it is the same time
    pub fn looks_at(&self, time: Instant) -> Instant {
        time
    }

    /// [`Stepping::looks_at`] of hosts that are wrong on purpose.
    #[cfg(debug_assertions)]
    pub fn looks_at(&self, time: Instant) -> Instant {
        let step = self.stride.length();
        match () {
            () if is_wrong("end") => time.after(step),
            () if is_wrong("after") => Instant::from_nanos(Nanos(time.nanos().0 - (step.seconds() * 1e9) as i64)),
            () => time,
        }
    }

    /// The next communication point after `from`, where the work of a release ends at `target`.
    pub fn next(&self, from: Instant, target: Instant) -> Instant {
        if self.sizes == StepSizes::AnyAtOnce {
            target
        } else {
            self.bounded(from.after(self.stride.length())).min(target)
        }
    }

    /// Whether two times are the same but for the rounding of an FMU.
    pub fn is_same(&self, event: Instant, point: Instant) -> bool {
        let [event, point] = [event, point].map(|time| self.time_unit.value(time));
        is_same(event, point, self.size)
    }

    /// Where a step ends that goes `to` there at most, and no further than to something that is `known`, but for rounding.
    pub fn ends_before(&self, to: Instant, known: Option<Instant>) -> Instant {
        known.filter(|known| *known < to && !self.is_same(*known, to)).unwrap_or(to)
    }

    /// Whether an event is due at a communication point, by the time that the FMU is told there.
    pub fn is_due(&self, event: Instant, point: Instant) -> bool {
        event <= point || self.time_unit.value(event) <= self.value(point)
    }

    /// Begins a step from one communication point to another. If the next `event` is at its end but for rounding, the FMU is told
    /// the time of the event there, to the bit also by the size of the step: not earlier, so that it comes, nor later, nor beyond
    /// the stop time. Nor is it told a time before its own: an FMU that was told a later one than `to` already stays there.
    pub fn aim(&mut self, from: Instant, to: Instant, event: Option<Instant>) {
        let here = self.told_times.into_iter().flatten().find(|told| told.point == from);
        let there = event.filter(|event| self.is_same(*event, to)).map(|event| {
            let stop = self.stop.map_or(f64::INFINITY, |stop| self.time_unit.value(stop));
            ToldTime { point: to, seconds: to.seconds(), value: self.time_unit.value(event).min(stop) }
        });
        let stands = self.value(from);
        let there = there.filter(|there| from == to || there.value > stands).or_else(|| {
            let is_passed = to > from && self.time_unit.value(to) <= stands;
            is_passed.then(|| ToldTime { point: to, seconds: to.seconds(), value: stands })
        });
        self.told_times = [here, there];
    }

    /// A communication point as the FMU is told it.
    pub fn value(&self, point: Instant) -> f64 {
        let told = self.told_times.iter().flatten().find(|told| told.point == point);
        told.map_or_else(|| self.time_unit.value(point), |told| told.value)
    }

    /// A solver's time, s, as the FMU is told it: `plain`, but on the same side of communication points.
    #[inline]
    pub fn value_between(&self, seconds: f64, plain: f64) -> f64 {
        self.told_times.iter().flatten().fold(plain, |value, told| match seconds.total_cmp(&told.seconds) {
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
        self.request_end(said.terminate_simulation);
        let off = (said.reached - point).abs();
        // Where only rounding is missing nothing is left to be stepped.
        let reached = match self.time_unit.instant(said.reached) {
            Some(reached) if off > self.size * ROUNDING => reached.max(from).min(to),
            _ => to,
        };
        self.reached = Some(reached);
        reached
    }

    /// [`Stepping::come_to`] without an early return.
    #[inline(always)] // the instant stays in registers
    pub fn arrive(&mut self, said: &StepResult, to: Instant, point: f64) {
        self.request_end(said.terminate_simulation);
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

    /// The instance is at this time, if it has made no step yet.
    pub fn begin_at(&mut self, time: Instant) {
        self.reached = self.reached.or(Some(time));
    }

    /// The FMU has discarded a step and reports this time. The step is to be taken back.
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

    /// The last step was taken back: the FMU is at its begin.
    pub fn take_back(&mut self, reached: Option<Instant>) {
        self.figures.taken_back();
        (self.reached, self.off, self.end) = (reached, None, RunEnd::Open);
    }

    /// The rest of a step on the grid gets a release of its own, at this time.
    #[cold]
    pub fn go_on_at(&mut self, time: Instant) {
        self.beside = Some(time);
    }

    /// Takes the release beside the grid, if there is one.
    #[inline]
    pub fn take_point(&mut self) -> Option<Instant> {
        self.beside.take()
    }

    /// The communication point and the step size as the FMU is told them: their sum is not beyond the stop time, which FMUs may
    /// refuse to pass.
    pub fn step_args(&self, from: Instant, to: Instant) -> (f64, f64) {
        let (point, next) = (self.value(from), self.value(to));
        if self.told_times.iter().flatten().any(|told| told.point == from || told.point == to) {
            return (point, exact(point, next));
        }
        let nominal = || match to.minus(from) {
            Some(rest) if self.is_whole(rest) => self.size,
            Some(rest) => self.time_unit.amount(rest).unwrap_or(rest).seconds(),
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
        time == length || !self.varies() && time.steps(length) == (1, true)
    }
}

/// The distance of two communication points as the FMU is told them. Point and distance add up to the next point, to the bit, if
/// that is at most twice as far from 0 as this one, as all are of a grid from 0 on (the difference is exact then, by Sterbenz's
/// lemma). `None`: their doubles are the same.
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

/// The step size from this point on, reduced just so much that the sum of both does not pass the stop time, beyond which an FMU
/// may refuse to go.
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

/// Hosts that are wrong on purpose, for tests that have to notice them: "hole" leaves out missed steps, "early" shows the outputs
/// of a step from its begin on, "end" sets the inputs of its end, "after" those of the begin of the step before, as if they were
/// set after the step.
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
