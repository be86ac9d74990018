//! Brings a model from where it stands to a goal, step by step, and stops at events.

use super::adaptive::{AdaptiveStep, first_length};
use super::asked::{MeteredModel, Tried, Trouble};
use super::fixed::Step;
use super::locate::{locate, repeat};
use super::method::{Integrator, Method};
use super::roots::{Roots, narrow};
use super::weights::Weights;
use super::{Indicators, Stopped, Structure, WorkBudget, WorkCounts};

/// Number of consecutive halvings of a step that the model refuses.
const HALVINGS: u32 = 10;

/// Distance before a limit, in steps, up to which the method's step length is used unchanged; closer to the limit, the
/// remainder is divided evenly.
const MANY: f64 = 10.0;

/// Target of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The communication point from which fixed internal steps are counted, in seconds: the k-th ends at `point` + k · internal step,
    /// whatever events have been in between.
    pub point: f64,
    /// The time to come to, in seconds, and never to pass: the end of the communication step, or the next time event.
    pub until: f64,
    /// Time up to which a method that chooses its steps may look ahead, in seconds: the next time event, the next
    /// instant at which inputs are set, the stop time. A step under way may then end beyond `until`, and the values at
    /// `until` are interpolated. With `until` itself, or less, each step ends there at the latest. A step under way is
    /// not shortened by another goal; [`Drive::after_inputs`] and [`Drive::restart`] discard it. There is no other
    /// bound on the length of steps.
    pub limit: f64,
    /// Time of the next known event of the model or of others, in seconds; infinite: none is known. A state event
    /// before it, within the accuracy of a search, counts as being at that time.
    pub event: f64,
    /// Whether [`Drive::to`] returns after each internal step, for models that need `CompletedIntegratorStep`.
    pub steps: bool,
}

impl Goal {
    /// A goal from a communication point to a time, without a look ahead and without a stop after internal steps.
    pub fn end(point: f64, until: f64) -> Goal {
        Goal { point, until, limit: until, event: f64::INFINITY, steps: false }
    }
}

/// Why a drive stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reached {
    /// The drive is at [`Goal::until`].
    Until {
        /// Whether an internal step ends here, so that it may be completed. Else the next one is under way, and goes on from here.
        step_ended: bool,
    },
    /// The drive is at the right side of a state event. [`Drive::roots`] tells the indicators. Then [`Drive::restart`] must
    /// follow.
    Event {
        /// Whether it was located. Else it has happened somewhere before: [`WorkBudget::events`] was 0.
        located: bool,
    },
    /// The drive is at the end of an internal step before the goal: [`Goal::steps`].
    Step,
}

/// Adapted step size and error of a method that chooses its steps: with them, and time and states, a run can be resumed
/// exactly, to the bit for methods that look back no further than to the beginning of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Length of the next step, in seconds; 0 where it is not known yet, or only together with the steps before.
    pub length: f64,
    /// The error of the last step, in units of the tolerable error.
    pub error: f64,
}

/// A model's states on their way through time. The module says how it is called.
#[derive(Clone, Debug)]
pub struct Drive {
    method: Method,
    integrator: Integrator,
    weights: Weights,
    t: f64,
    x: Vec<f64>,
    /// Whether `step.f0` are the derivatives at `t` and `x`.
    knows_derivatives: bool,
    step: Step,
    /// The ending of a step that was made but whose end has not been reached.
    under_way: Option<Ending>,
    /// Number of steps on the way to a goal that were given up, since the model refuses to be there.
    given_up: u32,
    /// Whether the model has refused something since the last restart, and so may refuse the end of a step as well.
    has_refused: bool,
    /// Length of the step, in seconds, when the model first refused an answer on the way to an event in it; 0: it has not, or a step
    /// as long has been made since.
    refused_event: f64,
    /// Length of the next step if the method chooses it, in seconds; 0: unknown so far.
    pace: f64,
    /// [`Goal::event`] of the goal that it goes to.
    event: f64,
    roots: Roots,
    /// Whether an event waits for its restart.
    is_at_event: bool,
    /// States inside of a step, while an event is looked for.
    between: Vec<f64>,
    counts: WorkCounts,
}

/// Kind of a step's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Plain,
    /// A located event.
    Event,
}

impl Drive {
    /// A drive for a model with these numbers of continuous states and event indicators. It allocates all memory here: if the
    /// numbers change, a new drive is needed. Precondition of the first [`Drive::to`]: a [`Drive::restart`].
    ///
    /// # Panics
    /// If an internal step or a tolerance is not a positive number.
    pub fn new(method: Method, states: usize, indicators: usize) -> Drive {
        for chosen in [method.internal_step(), method.tolerance()].into_iter().flatten() {
            assert!(chosen > 0.0 && chosen.is_finite(), "{method:?}");
        }
        Drive {
            method,
            integrator: Integrator::new(method, states),
            weights: Weights::new(method.tolerance().unwrap_or(1.0), states),
            t: 0.0,
            x: vec![0.0; states],
            knows_derivatives: false,
            step: Step::new(states),
            under_way: None,
            given_up: 0,
            has_refused: false,
            refused_event: 0.0,
            pace: 0.0,
            event: f64::INFINITY,
            roots: Roots::new(indicators),
            is_at_event: true,
            between: vec![0.0; states],
            counts: WorkCounts::default(),
        }
    }

    /// Goes on in place of another drive, at its time, with other numbers of states or indicators: [`Drive::restart`] must
    /// follow.
    pub fn follow(&mut self, before: &Drive) {
        (self.t, self.counts) = (before.t, before.counts);
    }

    /// The time at which it stands, in seconds.
    pub fn time(&self) -> f64 {
        self.t
    }

    /// The continuous states there.
    pub fn states(&self) -> &[f64] {
        &self.x
    }

    /// The continuous states, to be overwritten by those of the model after an event. [`Drive::restart`] must follow.
    pub fn states_mut(&mut self) -> &mut [f64] {
        self.is_at_event = true;
        &mut self.x
    }

    /// For each indicator what the last event did, as `rootsFound` says it: 1 if it has become positive, -1 if it has ceased to be,
    /// else 0.
    pub fn roots(&self) -> &[i32] {
        self.roots.found()
    }

    /// Work so far.
    pub fn counts(&self) -> WorkCounts {
        self.counts
    }

    /// Takes the nominals of the states, as they are at first or have become at an event.
    pub fn set_nominals(&mut self, nominals: &[f64]) {
        self.counts.nominals_mended += self.weights.set_nominals(nominals);
    }

    /// Tells which derivatives depend on which states: a method for stiff equations then needs fewer of them. Without it, any may
    /// depend on any.
    pub fn set_structure(&mut self, structure: Structure) {
        self.integrator.set_structure(structure);
    }

    /// The data with which a run is continued.
    pub fn pace(&self) -> Pace {
        let length = if self.integrator.looks_back() { 0.0 } else { self.pace };
        Pace { length, error: self.integrator.last_error() }
    }

    /// Takes a run up again, after [`Drive::restart`] where that is no event: what was known of the next step still holds.
    pub fn set_pace(&mut self, pace: Pace) {
        self.pace = pace.length;
        self.integrator.set_last_error(pace.error);
    }

    /// Starts at a time, with its states ([`Drive::states_mut`]): at first, and after each event, when the model is in Continuous-Time
    /// Mode (again). The model is told both, and the domains of its indicators are remembered from here. A method that chooses its steps
    /// determines the length of the first one anew, Bdf with order 1: a step as long as those before could pass over events that follow
    /// closely, as the next bounce of a ball does.
    pub fn restart<E: Indicators>(&mut self, equations: &mut E, t: f64) -> Result<(), Stopped<E::Failure>> {
        self.t = t;
        self.begin_anew();
        self.look(equations, false)?;
        self.roots.remember();
        self.is_at_event = false;
        Ok(())
    }

    /// Must follow a change of the model's answers that neither the integration nor an event has made, such as continuous inputs that
    /// were set at a communication point. Returns whether it has changed the domain of an indicator: a state event at [`Drive::time`].
    pub fn after_inputs<E: Indicators>(&mut self, equations: &mut E) -> Result<bool, Stopped<E::Failure>> {
        // A step that has been made leads beyond, by what the model was before.
        let mut goes_on = self.under_way.is_none();
        let looks_back = goes_on && self.integrator.looks_back();
        self.look(equations, looks_back)?;
        if looks_back {
            goes_on = self.knows_derivatives && self.integrator.leads_on(&self.weights, &self.x, &self.step.f0);
        }
        if !goes_on {
            self.begin_anew();
        }
        self.is_at_event |= self.roots.begin_has_changed();
        if self.is_at_event {
            self.roots.note_found();
            self.counts.events += 1;
        }
        Ok(self.is_at_event)
    }

    /// Discards all information from earlier steps.
    fn begin_anew(&mut self) {
        self.integrator.restart();
        self.pace = 0.0;
    }

    /// Forgets the answers of the model, and asks for the indicators at the present point; on request for the derivatives as
    /// well.
    fn look<E: Indicators>(&mut self, equations: &mut E, wants_derivatives: bool) -> Result<(), Stopped<E::Failure>> {
        self.under_way = None;
        self.given_up = 0;
        self.has_refused = false;
        self.refused_event = 0.0;
        self.knows_derivatives = false;
        let mut bound = WorkBudget { events: 0, right_hand_sides: 1 };
        let mut asked = MeteredModel::new(equations, self.counts, &mut bound);
        let mut looked = asked.tell(self.t, &self.x);
        if looked.is_ok() && !self.roots.is_empty() {
            looked = asked.indicators(&mut self.roots.begin);
        }
        if looked.is_ok() && wants_derivatives {
            looked = match asked.derivatives(&mut self.step.f0) {
                Ok(()) => {
                    self.knows_derivatives = true;
                    Ok(())
                }
                // They are asked for again where they are needed.
                Err(Trouble::Smaller(_)) => Ok(()),
                stop => stop,
            };
        }
        self.counts = asked.counts;
        looked.map_err(Trouble::stopped)
    }

    /// Goes on until something is [`Reached`]: the goal, an event, or the end of an internal step. Where it already stands at the goal
    /// or beyond, it stays and asks nothing.
    ///
    /// # Panics
    /// If an event, or states that were written, have not been followed by a restart.
    pub fn to<E: Indicators>(
        &mut self,
        equations: &mut E,
        goal: &Goal,
        bound: &mut WorkBudget,
    ) -> Result<Reached, Stopped<E::Failure>> {
        assert!(!self.is_at_event, "Drive::restart must come first");
        self.event = goal.event;
        let mut asked = MeteredModel::new(equations, self.counts, bound);
        let reached = self.go(&mut asked, goal);
        self.counts = asked.counts;
        reached
    }

    fn go<E: Indicators>(
        &mut self,
        asked: &mut MeteredModel<'_, E>,
        goal: &Goal,
    ) -> Result<Reached, Stopped<E::Failure>> {
        while self.t < goal.until {
            let ending = match self.under_way {
                Some(ending) => ending,
                None if self.method.internal_step().is_some() => self.fixed_step(asked, goal)?,
                None => self.chosen_step(asked, goal)?,
            };
            let mut ending = ending;
            if goal.until < self.step.to {
                self.under_way = Some(ending);
                match self.pass(asked, goal.until) {
                    Ok(None) => {
                        self.given_up = 0;
                        return Ok(Reached::Until { step_ended: false });
                    }
                    Ok(Some(earlier)) => ending = earlier,
                    // What the step has become by then is none that may be gone on with, nor looked into.
                    Err(Trouble::Stop(stopped)) => {
                        self.give_up_step(goal.until);
                        return Err(stopped);
                    }
                    Err(Trouble::Smaller(stopped)) => {
                        let is_last = self.given_up == HALVINGS || goal.until - self.t <= narrow(goal.until);
                        self.give_up_step(goal.until);
                        if is_last {
                            return Err(stopped);
                        }
                        self.given_up += 1;
                        asked.counts.discarded += 1;
                        continue;
                    }
                }
            }
            self.under_way = None;
            self.arrive(asked)?;
            if self.t >= goal.until {
                self.given_up = 0;
            }
            let is_late = ending == Ending::Plain && self.t >= goal.until && self.roots.begin_has_changed();
            if ending == Ending::Event || is_late {
                self.is_at_event = true;
                self.roots.note_found();
                asked.counts.events += 1;
                return Ok(Reached::Event { located: !is_late });
            }
            if goal.steps && self.t < goal.until {
                return Ok(Reached::Step);
            }
        }
        Ok(Reached::Until { step_ended: self.under_way.is_none() })
    }

    /// Comes to a time within the step that was made. Where the domain of an indicator has changed there, the step ends at that event
    /// instead; what is at its end then.
    fn pass<E: Indicators>(&mut self, asked: &mut MeteredModel<'_, E>, t: f64) -> Tried<E, Option<Ending>> {
        self.integrator.between(&self.step, t, &mut self.between);
        asked.tell(t, &self.between)?;
        if !self.roots.is_empty() {
            asked.indicators(&mut self.roots.within)?;
            if self.roots.within_has_changed() {
                return self.shorten(asked, t).map(Some);
            }
            // FMUs of OpenModelica take what they compute for event indicators for all: outputs are old until they are told a point again.
            asked.tell(t, &self.between)?;
            std::mem::swap(&mut self.roots.begin, &mut self.roots.within);
        }
        std::mem::swap(&mut self.x, &mut self.between);
        self.t = t;
        Ok(None)
    }

    /// Makes the step end at a time at which a domain has changed, or at the event before it.
    fn shorten<E: Indicators>(&mut self, asked: &mut MeteredModel<'_, E>, to: f64) -> Tried<E, Ending> {
        let length = to - self.step.from;
        if self.integrator.is_exact_between() {
            self.step.x1.copy_from_slice(&self.between);
            (self.step.to, self.step.length) = (to, length);
            std::mem::swap(&mut self.roots.end, &mut self.roots.within);
        } else {
            repeat(asked, &mut self.integrator, &mut self.step, &mut self.roots, to, length)?;
        }
        self.end_at_event(asked)
    }

    /// The model refuses to be in the midst of the step that was made: another one begins where it stands, which ends before this time.
    fn give_up_step(&mut self, before: f64) {
        self.under_way = None;
        self.knows_derivatives = false;
        self.integrator.forget();
        self.pace = 0.5 * (before - self.t);
    }

    /// Goes to the end of the step that was made. A model that was told another point since is asked for its indicators there, as before
    /// each complete step (FMI 2.0.5, 3.2.4): some FMUs compute what they give only when they are asked for those, or for derivatives.
    fn arrive<E: Indicators>(&mut self, asked: &mut MeteredModel<'_, E>) -> Result<(), Stopped<E::Failure>> {
        asked.tell_end(self.step.to, &self.step.x1).map_err(Trouble::stopped)?;
        if !asked.has_answered && !self.roots.is_empty() {
            asked.indicators(&mut self.roots.within).map_err(Trouble::stopped)?;
        }
        self.t = self.step.to;
        std::mem::swap(&mut self.x, &mut self.step.x1);
        std::mem::swap(&mut self.step.f0, &mut self.step.f1);
        std::mem::swap(&mut self.roots.begin, &mut self.roots.end);
        asked.counts.steps += 1;
        self.knows_derivatives = self.integrator.leaves_derivatives();
        if self.integrator.changes() {
            self.pace = 0.0;
        }
        Ok(())
    }

    /// Makes a step to the next end of the grid or, where the model refuses that, a smaller one.
    fn fixed_step<E: Indicators>(
        &mut self,
        asked: &mut MeteredModel<'_, E>,
        goal: &Goal,
    ) -> Result<Ending, Stopped<E::Failure>> {
        let (mut to, mut length) = self.end_on_grid(goal);
        let mut halvings = 0;
        loop {
            match self.try_fixed(asked, to, length) {
                Ok(ending) => return Ok(ending),
                Err(Trouble::Stop(stopped)) => return Err(stopped),
                Err(Trouble::Smaller(stopped)) => {
                    length *= 0.5;
                    to = self.t + length;
                    if halvings == HALVINGS || to <= self.t {
                        return Err(stopped);
                    }
                    halvings += 1;
                    asked.counts.discarded += 1;
                }
            }
        }
    }

    /// The end and the length of the internal step from here. A whole step has the wanted length, to the bit.
    fn end_on_grid(&self, goal: &Goal) -> (f64, f64) {
        let internal_step = self.method.internal_step().unwrap_or(f64::INFINITY);
        let on_grid = |number: f64| goal.point + number * internal_step;
        let mut number = ((self.t - goal.point) / internal_step).floor().max(0.0);
        if on_grid(number) <= self.t {
            number += 1.0;
        }
        // Rounding may have hidden one more. A step that is none at this time ends at the next time that there is.
        if on_grid(number) <= self.t {
            number += 1.0;
        }
        let end = on_grid(number).max(self.t.next_up());
        let begins_on_grid = self.t == on_grid(number - 1.0);
        // The goal is an instant that was rounded by itself.
        let nearly = 1e-6 * internal_step;
        if end < goal.until - nearly {
            (end, if begins_on_grid { internal_step } else { end - self.t })
        } else {
            let is_whole = begins_on_grid && end <= goal.until + nearly;
            (goal.until, if is_whole { internal_step } else { goal.until - self.t })
        }
    }

    /// Tries a step to a time, and moves its end to the first event in it.
    fn try_fixed<E: Indicators>(&mut self, asked: &mut MeteredModel<'_, E>, to: f64, length: f64) -> Tried<E, Ending> {
        let has_states = !self.x.is_empty();
        self.begin_step(asked, to, length)?;
        if has_states {
            self.integrator.advance(asked, &mut self.step)?;
        }
        let ending = self.end_step(asked)?;
        // A model that has no derivatives at the end refuses the step now, not the next one when there is no way back.
        if has_states && ending == Ending::Plain {
            asked.derivatives(&mut self.step.f1)?;
        }
        Ok(ending)
    }

    /// Makes a step of a length that the method chooses, as far as the goal allows.
    fn chosen_step<E: Indicators>(
        &mut self,
        asked: &mut MeteredModel<'_, E>,
        goal: &Goal,
    ) -> Result<Ending, Stopped<E::Failure>> {
        // What is not located is looked at where the goal is, and without states nothing is gained by going beyond.
        let is_ahead = asked.bound.events > 0 && !self.x.is_empty();
        let limit = if is_ahead { goal.limit.max(goal.until) } else { goal.until };
        let mut halvings = 0;
        loop {
            match self.try_chosen(asked, limit) {
                Ok(Some(ending)) => return Ok(ending),
                Ok(None) if self.pace < narrow(self.t) => return Err(Stopped::StepTooSmall { t: self.t }),
                Ok(None) => asked.counts.rejected += 1,
                Err(Trouble::Stop(stopped)) => return Err(stopped),
                Err(Trouble::Smaller(stopped)) => {
                    // Where it refuses before a length was chosen, none mends that.
                    if self.pace > 0.0 {
                        self.pace = 0.5 * self.pace.min(self.step.to - self.t);
                    } else if self.x.is_empty() {
                        self.pace = 0.5 * (self.step.to - self.t);
                    }
                    if halvings == HALVINGS || (self.pace > 0.0 && self.pace < narrow(self.t)) {
                        return Err(stopped);
                    }
                    halvings += 1;
                    asked.counts.discarded += 1;
                    self.has_refused = true;
                    self.integrator.forget();
                }
            }
        }
    }

    /// Tries a step, and moves its end to the first event in it. `None` if its error is too large; the next one is to be smaller then.
    fn try_chosen<E: Indicators>(&mut self, asked: &mut MeteredModel<'_, E>, limit: f64) -> Tried<E, Option<Ending>> {
        self.begin_step(asked, limit, limit - self.t)?;
        if self.x.is_empty() {
            if self.pace > 0.0 && self.t + self.pace < limit {
                self.step.to = self.t + self.pace;
            }
            let ending = self.end_step(asked)?;
            self.pace = 0.0;
            return Ok(Some(ending));
        }
        if self.pace == 0.0 {
            self.pace =
                first_length(asked, &self.weights, &mut self.step, limit - self.t, self.integrator.first_power())?;
            asked.begin_step();
        }
        // No shorter than what time can tell apart.
        self.pace = self.pace.max(narrow(self.t));
        // Close to the limit, what is left is shared out among as many steps as it takes anyway. A last one that is hardly longer than
        // it should be is better than two.
        let left = limit - self.t;
        let number = (left / self.pace - 0.01).ceil();
        if number > MANY {
            self.step.length = self.pace;
        } else if number > 1.0 {
            self.step.length = left / number;
        }
        if number > 1.0 {
            self.step.to = self.t + self.step.length;
        }
        let is_shortened = number <= MANY;
        match self.integrator.attempt(asked, &self.weights, &mut self.step)? {
            AdaptiveStep::Bad { next } => {
                self.pace = next;
                return Ok(None);
            }
            AdaptiveStep::Good { next, is_estimate } => {
                // A step that the goal has shortened says only that a longer one might have done as well.
                self.pace = if is_shortened && !is_estimate { next.max(self.pace) } else { next };
            }
        }
        let ending = self.end_step(asked)?;
        // As with fixed steps: where the end is refused, there is no way back from it. Methods that leave its derivatives have asked.
        if self.has_refused && ending == Ending::Plain && !self.integrator.leaves_derivatives() {
            asked.derivatives(&mut self.step.f1)?;
        }
        Ok(Some(ending))
    }

    /// Prepares a step, with the derivatives at its beginning.
    fn begin_step<E: Indicators>(&mut self, asked: &mut MeteredModel<'_, E>, to: f64, length: f64) -> Tried<E> {
        let step = &mut self.step;
        (step.from, step.to, step.length) = (self.t, to, length);
        if !self.x.is_empty() && !self.knows_derivatives && self.integrator.needs_derivatives() {
            asked.tell(self.t, &self.x)?;
            asked.derivatives(&mut step.f0)?;
            self.knows_derivatives = true;
        }
        step.x0.copy_from_slice(&self.x);
        asked.begin_step();
        Ok(())
    }

    /// Tells the end of a step that was computed, and moves it to the first event in it, unless no event may be located any more.
    fn end_step<E: Indicators>(&mut self, asked: &mut MeteredModel<'_, E>) -> Tried<E, Ending> {
        asked.tell_end(self.step.to, &self.step.x1)?;
        if self.roots.is_empty() {
            return Ok(Ending::Plain);
        }
        asked.indicators(&mut self.roots.end)?;
        self.end_at_event(asked)
    }

    /// Moves the end of the step, whose indicators are known, to the first event that is ahead, if there is one and it may be located.
    fn end_at_event<E: Indicators>(&mut self, asked: &mut MeteredModel<'_, E>) -> Tried<E, Ending> {
        let length = self.step.length;
        if asked.bound.events == 0 || !self.roots.end_has_changed() {
            if length >= self.refused_event {
                self.refused_event = 0.0;
            }
            return Ok(Ending::Plain);
        }
        // Each refusal brings the next step closer to the event by half. Steps that are much closer might change no state any more.
        let is_close = length * f64::from(1 << HALVINGS) <= self.refused_event;
        let (from, known) = ((self.t, is_close), self.event);
        let located =
            locate(asked, &mut self.integrator, &mut self.step, &mut self.roots, &mut self.between, from, known);
        if matches!(located, Err(Trouble::Smaller(_))) && self.refused_event == 0.0 {
            self.refused_event = length;
        }
        located?;
        asked.bound.events -= 1;
        Ok(Ending::Event)
    }
}
