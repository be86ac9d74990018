//! The end of Event Mode for the FMUs of a group: the rules of an event iteration over connected FMUs.
//!
//! The run ends if *any* FMU asks for it. Event Mode is left if *all* need no further update (FMI 3.0: `discreteStatesNeedUpdate`),
//! else all stay. Continuous states are read again if *any* update of *any* iteration has changed them.

/// The answer of an FMU in an iteration (`fmi3UpdateDiscreteStates`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// `discreteStatesNeedUpdate`.
    pub needs_update: bool,
    /// `terminateSimulation`.
    pub terminate_simulation: bool,
    /// `valuesOfContinuousStatesChanged`.
    pub values_changed: bool,
    /// `nominalsOfContinuousStatesChanged`.
    pub nominals_changed: bool,
}

/// The consequence of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventDecision {
    /// Another iteration follows, for all FMUs.
    Again,
    /// All FMUs leave Event Mode.
    Leave,
    /// The run ends: this slave has asked for that first.
    Terminate(usize),
    /// The limit of iterations is reached, and this slave, the first of them, needs another one.
    Restless(usize),
}

/// The iterations of one event. In each one, [`note`](Iteration::note) the answer of every slave in Event Mode, and the
/// slaves that a [tick](Iteration::ticked) has reached; then ask for the [verdict](Iteration::verdict).
#[derive(Clone, Copy, Debug)]
pub struct Iteration {
    left: u32,
    /// The first slave that needs another iteration, of the present one.
    again: Option<usize>,
    terminates: Option<usize>,
    values_changed: bool,
    nominals_changed: bool,
}

impl Iteration {
    /// The state before the first of at most `limit` iterations; 0 counts as 1.
    pub fn new(limit: u32) -> Iteration {
        Iteration { left: limit, again: None, terminates: None, values_changed: false, nominals_changed: false }
    }

    /// Notes the answer of a slave in this iteration.
    pub fn note(&mut self, slave: usize, update: Update) {
        if update.terminate_simulation {
            self.terminates = self.terminates.or(Some(slave));
        }
        if update.needs_update {
            self.again = self.again.or(Some(slave));
        }
        self.values_changed |= update.values_changed;
        self.nominals_changed |= update.nominals_changed;
    }

    /// Notes that another slave activated a clock of this one in this iteration, or that its countdown is 0: it takes part in a
    /// further one.
    pub fn ticked(&mut self, slave: usize) {
        self.again = self.again.or(Some(slave));
    }

    /// The end of this iteration.
    pub fn verdict(&mut self) -> EventDecision {
        self.left = self.left.saturating_sub(1);
        match (self.terminates, self.again.take()) {
            (Some(slave), _) => EventDecision::Terminate(slave),
            (None, None) => EventDecision::Leave,
            (None, Some(slave)) if self.left == 0 => EventDecision::Restless(slave),
            (None, Some(_)) => EventDecision::Again,
        }
    }

    /// Whether continuous states have other values than before the event.
    pub fn values_changed(&self) -> bool {
        self.values_changed
    }

    /// Whether continuous states have other nominal values than before the event.
    pub fn nominals_changed(&self) -> bool {
        self.nominals_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Update =
        Update { needs_update: false, terminate_simulation: false, values_changed: false, nominals_changed: false };
    const AGAIN: Update = Update { needs_update: true, ..QUIET };

    /// The verdict after an iteration in which the slaves, by number, say this.
    fn after(iteration: &mut Iteration, updates: &[Update]) -> EventDecision {
        updates.iter().enumerate().for_each(|(slave, update)| iteration.note(slave, *update));
        iteration.verdict()
    }

    #[test]
    fn one_that_needs_an_update_keeps_all() {
        let mut iteration = Iteration::new(100);
        assert_eq!(after(&mut iteration, &[QUIET, AGAIN, QUIET]), EventDecision::Again);
        assert_eq!(after(&mut iteration, &[AGAIN, QUIET, QUIET]), EventDecision::Again, "who needs it may change");
        assert_eq!(after(&mut iteration, &[QUIET, QUIET, QUIET]), EventDecision::Leave);
    }

    #[test]
    fn one_that_ends_the_run_ends_it_although_others_need_an_update() {
        let end = Update { terminate_simulation: true, ..QUIET };
        assert_eq!(after(&mut Iteration::new(100), &[AGAIN, QUIET, end, end]), EventDecision::Terminate(2));
    }

    #[test]
    fn a_tick_brings_another_iteration() {
        let mut iteration = Iteration::new(100);
        iteration.ticked(1);
        assert_eq!(after(&mut iteration, &[QUIET, QUIET]), EventDecision::Again);
        assert_eq!(after(&mut iteration, &[QUIET, QUIET]), EventDecision::Leave);
    }

    #[test]
    fn who_never_comes_to_rest_is_named_after_the_last_iteration() {
        let mut iteration = Iteration::new(3);
        assert_eq!(after(&mut iteration, &[AGAIN, AGAIN]), EventDecision::Again);
        assert_eq!(after(&mut iteration, &[AGAIN, AGAIN]), EventDecision::Again);
        assert_eq!(after(&mut iteration, &[QUIET, AGAIN, AGAIN]), EventDecision::Restless(1));
        let mut iteration = Iteration::new(1);
        assert_eq!(after(&mut iteration, &[QUIET]), EventDecision::Leave, "the last one may be quiet");
    }

    #[test]
    fn what_has_changed_in_any_iteration_has_changed() {
        let mut iteration = Iteration::new(100);
        after(&mut iteration, &[QUIET, Update { values_changed: true, ..AGAIN }]);
        assert!(iteration.values_changed() && !iteration.nominals_changed());
        after(&mut iteration, &[Update { nominals_changed: true, ..AGAIN }, QUIET]);
        after(&mut iteration, &[QUIET, QUIET]);
        assert!(iteration.values_changed() && iteration.nominals_changed());
    }
}
