//! The algorithms once more, line by line, with what can be wrong about them: each mistake is noticed by one of the checks.

use super::model::{Case, Group, Stepper, groups, right};
use super::{agreement, liars, traces};
use crate::master::{
    Assumption, EarlyEnd, ExchangeStep, MasterAlgorithm, Shortened, SlaveClass, Slaves, Source, Stepped, Stop,
    Violation,
};
use proptest::prelude::*;
use vecud_base::time::Instant;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// Inputs are set in the order of connections in the rig.
    SetsInTheRigsOrder,
    /// Slaves step in the order in the rig.
    StepsInTheRigsOrder,
    /// A state is saved when the slave has stepped.
    SavesTooLate,
    /// Nobody is taken back before a step is repeated.
    TakesNobodyBack,
    /// Only who has rejected a step repeats it.
    RepeatsOnlyTheRejected,
    /// The last rejection counts, not the smallest step.
    TheLastRejectionCounts,
    /// Inputs are set anew when a step is repeated.
    SetsInputsAgain,
    /// The end of the step that is told is the one that was asked for.
    TellsTheEndAskedFor,
    /// Steps without length are made.
    MakesStepsWithoutLength,
    IgnoresA0,
    IgnoresA1,
    IgnoresA4,
    /// What predictable slaves tell is not asked for.
    IgnoresLimits,
    /// Predictable slaves step with the rollback ones, each time.
    PredictableEachTime,
    /// Predictable slaves step before the legacy one.
    PredictableBeforeLegacy,
    /// Legacy steps before anybody has agreed.
    LegacyFirst,
    /// Legacy steps each time that the others have agreed.
    LegacyEachTime,
    /// Legacy steps with the others, agreed or not.
    LegacyBeforeAgreement,
    /// That legacy has stopped earlier is nothing to the others.
    IgnoresThatLegacyStops,
    /// The others are asked to follow legacy, but not taken back for it.
    FollowsLegacyWithoutRestoring,
    /// A violation while legacy is farther already is survived like any other.
    ForgetsThatLegacyIsAhead,
}

const ALL: [Wrong; 21] = [
    Wrong::SetsInTheRigsOrder,
    Wrong::StepsInTheRigsOrder,
    Wrong::SavesTooLate,
    Wrong::TakesNobodyBack,
    Wrong::RepeatsOnlyTheRejected,
    Wrong::TheLastRejectionCounts,
    Wrong::SetsInputsAgain,
    Wrong::TellsTheEndAskedFor,
    Wrong::MakesStepsWithoutLength,
    Wrong::IgnoresA0,
    Wrong::IgnoresA1,
    Wrong::IgnoresA4,
    Wrong::IgnoresLimits,
    Wrong::PredictableEachTime,
    Wrong::PredictableBeforeLegacy,
    Wrong::LegacyFirst,
    Wrong::LegacyEachTime,
    Wrong::LegacyBeforeAgreement,
    Wrong::IgnoresThatLegacyStops,
    Wrong::FollowsLegacyWithoutRestoring,
    Wrong::ForgetsThatLegacyIsAhead,
];

/// One of the algorithms with one mistake, or with none.
struct Transcript<'a> {
    case: &'a Case,
    group: &'a mut Group,
    wrong: Option<Wrong>,
    from: Instant,
    stepped: Stepped,
}

type Stopped = Stop<String>;

impl Transcript<'_> {
    fn is(&self, wrong: Wrong) -> bool {
        self.wrong == Some(wrong)
    }

    /// The slaves of a class, or all, by name.
    fn these(&self, class: Option<SlaveClass>) -> Vec<usize> {
        let all = 0..self.case.models.len();
        let mut these: Vec<usize> =
            all.filter(|&slave| class.is_none_or(|class| self.case.models[slave].class == class)).collect();
        if !self.is(Wrong::StepsInTheRigsOrder) {
            these.sort_by_key(|&slave| self.case.models[slave].name);
        }
        these
    }

    fn set_inputs(&mut self) -> Result<(), String> {
        let connections: Vec<usize> = match self.is(Wrong::SetsInTheRigsOrder) {
            true => (0..self.case.connections.len()).collect(),
            false => {
                let number =
                    |exchange| if let ExchangeStep::Connection(number) = exchange { number } else { unreachable!() };
                self.case.exchanges().into_iter().map(number).collect()
            }
        };
        connections.into_iter().try_for_each(|connection| self.group.exchange(connection))
    }

    fn save(&mut self, these: &[usize]) -> Result<(), String> {
        match self.is(Wrong::SavesTooLate) {
            true => Ok(()),
            false => these.iter().try_for_each(|&slave| self.group.save(slave)),
        }
    }

    fn restore(&mut self, slave: usize) -> Result<(), String> {
        self.stepped.restores += 1;
        if self.is(Wrong::TakesNobodyBack) { Ok(()) } else { self.group.restore(slave) }
    }

    fn violated(&self, assumption: Assumption, slave: usize, asked: Instant, reached: Instant) -> Violation {
        Violation { assumption, slave, from: self.from, asked, reached }
    }

    fn do_step(&mut self, slave: usize, to: Instant) -> Result<Instant, Stopped> {
        if to == self.from && !self.is(Wrong::MakesStepsWithoutLength) {
            return Ok(to);
        }
        let from = if self.is(Wrong::TakesNobodyBack) { self.group.slaves[slave].time } else { self.from };
        let reached = self.group.do_step(slave, from, to)?;
        if self.is(Wrong::SavesTooLate) && self.case.models[slave].class == SlaveClass::Rollback {
            self.group.save(slave)?;
        }
        self.stepped.rejections += u32::from(reached < to);
        if !self.is(Wrong::IgnoresA0) && (reached < self.from || reached > to) {
            return Err(Stop::Violated(self.violated(Assumption::A0, slave, to, reached)));
        }
        Ok(reached)
    }

    /// The smaller of both ends.
    fn smaller(&mut self, h: Instant, reached: Instant, asked: Instant, slave: usize) -> Instant {
        if reached < h {
            self.stepped.shortened = Some(Shortened { slave, cause: EarlyEnd::Rejected });
        }
        if self.is(Wrong::TheLastRejectionCounts) && reached < asked { reached } else { h.min(reached) }
    }

    fn algorithm_2(&mut self, h_max: Instant) -> Result<Instant, Stopped> {
        let all = self.these(None);
        self.set_inputs()?;
        self.save(&all)?;
        let (mut h, mut rejected) = (h_max, Vec::new());
        for &c in &all {
            let reached = self.do_step(c, h_max)?;
            if reached < h_max {
                rejected.push(c);
            }
            h = self.smaller(h, reached, h_max, c);
        }
        if h < h_max {
            if self.is(Wrong::SetsInputsAgain) {
                self.set_inputs()?;
            }
            for c in if self.is(Wrong::RepeatsOnlyTheRejected) { rejected } else { all } {
                self.restore(c)?;
                let reached = self.do_step(c, h)?;
                if reached < h && !self.is(Wrong::IgnoresA1) {
                    return Err(Stop::Violated(self.violated(Assumption::A1, c, h, reached)));
                }
            }
        }
        Ok(h)
    }

    fn algorithm_3(&mut self, h_max: Instant) -> Result<Instant, Stopped> {
        let (c_r, c_p) = (self.these(Some(SlaveClass::Rollback)), self.these(Some(SlaveClass::Predictable)));
        let c_l = self.these(Some(SlaveClass::Legacy)).first().copied();
        self.set_inputs()?;
        let mut h = h_max;
        let asked = if self.is(Wrong::IgnoresLimits) { &[] } else { &c_p[..] };
        for &c in asked {
            if let Some(until) = self.group.latest(c, Source::NextEventTime, self.from)?.filter(|until| *until < h) {
                self.stepped.shortened = Some(Shortened { slave: c, cause: EarlyEnd::Limit(Source::NextEventTime) });
                h = until;
            }
        }
        self.save(&c_r)?;
        let mut do_step_on_legacy = true;
        if let Some(c) = c_l.filter(|_| self.is(Wrong::LegacyFirst)) {
            let reached = self.do_step(c, h)?;
            h = self.smaller(h, reached, h, c);
            do_step_on_legacy = false;
        }
        let mut tries = 0;
        loop {
            let follows = self.is(Wrong::FollowsLegacyWithoutRestoring) && !do_step_on_legacy;
            for &c in c_r.iter().filter(|_| tries > 0 && !follows) {
                self.restore(c)?;
            }
            if tries > 0 && self.is(Wrong::SetsInputsAgain) {
                self.set_inputs()?;
            }
            tries += 1;
            let (mut h_min, mut is_agreed) = (h, true);
            for &c in &c_r {
                let reached = match follows {
                    true => h,
                    false => self.do_step(c, h)?,
                };
                is_agreed &= reached >= h;
                h_min = self.smaller(h_min, reached, h, c);
                if reached < h && tries > 1 && !self.is(Wrong::IgnoresA1) {
                    let violation = self.violated(Assumption::A1, c, h, reached);
                    let is_ahead = c_l.is_some() && !do_step_on_legacy && !self.is(Wrong::ForgetsThatLegacyIsAhead);
                    if is_ahead || tries >= 20 {
                        return Err(Stop::Violated(violation));
                    }
                    self.stepped.violation.get_or_insert(violation);
                }
            }
            let each_time = if self.is(Wrong::PredictableEachTime) { &c_p[..] } else { &[] };
            for &c in each_time {
                self.do_step(c, h)?;
            }
            if self.is(Wrong::LegacyBeforeAgreement)
                && let Some(c) = c_l.filter(|_| do_step_on_legacy)
            {
                let reached = self.do_step(c, h)?;
                do_step_on_legacy = false;
                is_agreed &= reached >= h;
                h_min = self.smaller(h_min, reached, h, c);
            }
            if !is_agreed && tries < 20 {
                h = h_min;
                continue;
            }
            if self.is(Wrong::PredictableBeforeLegacy) {
                self.predictable(&c_p, h)?;
            }
            if let Some(c) = c_l.filter(|_| do_step_on_legacy) {
                let reached = self.do_step(c, h)?;
                do_step_on_legacy = self.is(Wrong::LegacyEachTime);
                if reached < h && !self.is(Wrong::IgnoresThatLegacyStops) && tries < 20 {
                    h = self.smaller(h, reached, h, c);
                    continue;
                }
            }
            break;
        }
        if !self.is(Wrong::PredictableEachTime) && !self.is(Wrong::PredictableBeforeLegacy) {
            self.predictable(&c_p, h)?;
        }
        Ok(h)
    }

    fn predictable(&mut self, c_p: &[usize], h: Instant) -> Result<(), Stopped> {
        for &c in c_p {
            let reached = self.do_step(c, h)?;
            if reached < h && !self.is(Wrong::IgnoresA4) {
                return Err(Stop::Violated(self.violated(Assumption::A4, c, h, reached)));
            }
        }
        Ok(())
    }
}

/// A step by the transcript; the algorithms without a way back are not in it.
fn transcribed(
    wrong: Option<Wrong>,
    case: &Case,
    group: &mut Group,
    from: Instant,
    to: Instant,
) -> Result<Stepped, Stopped> {
    let stepped = Stepped { to, rejections: 0, restores: 0, shortened: None, violation: None };
    let mut transcript = Transcript { case, group, wrong, from, stepped };
    let end = match case.algorithm {
        MasterAlgorithm::Rollback => transcript.algorithm_2(to)?,
        MasterAlgorithm::Predictable => transcript.algorithm_3(to)?,
        MasterAlgorithm::Jacobi | MasterAlgorithm::GaussSeidel => return right(case, transcript.group, from, to),
    };
    let asked = wrong == Some(Wrong::TellsTheEndAskedFor);
    Ok(Stepped { to: if asked { to } else { end }, ..transcript.stepped })
}

/// The transcript with the mistake of this number.
fn with<const N: usize>(case: &Case, group: &mut Group, from: Instant, to: Instant) -> Result<Stepped, Stopped> {
    transcribed(Some(ALL[N]), case, group, from, to)
}

fn without(case: &Case, group: &mut Group, from: Instant, to: Instant) -> Result<Stepped, Stopped> {
    transcribed(None, case, group, from, to)
}

/// What is wrong with a stepper, if anything is.
type Check = fn(Stepper) -> Result<(), String>;

const CHECKS: [(&str, Check); 3] =
    [("traces", traces::check), ("liars", liars::check), ("agreement", agreement::check)];

#[test]
fn every_mistake_is_noticed() {
    let steppers: [Stepper; ALL.len()] = [
        with::<0>, with::<1>, with::<2>, with::<3>, with::<4>, with::<5>, with::<6>, with::<7>, with::<8>, with::<9>,
        with::<10>, with::<11>, with::<12>, with::<13>, with::<14>, with::<15>, with::<16>, with::<17>, with::<18>,
        with::<19>, with::<20>,
    ];
    for (wrong, stepper) in ALL.into_iter().zip(steppers) {
        let noticed: Vec<&str> =
            CHECKS.iter().filter(|(_, check)| check(stepper).is_err()).map(|(name, _)| *name).collect();
        println!("{wrong:?}: {}", noticed.join(", "));
        assert!(!noticed.is_empty(), "{wrong:?}");
    }
}

#[test]
fn without_a_mistake_nothing_is_noticed() {
    for (name, check) in CHECKS {
        check(without).unwrap_or_else(|complaint| panic!("{name}: {complaint}"));
    }
}

proptest! {
    /// The transcript without a mistake does the same as the algorithms of this room, call by call.
    #[test]
    fn the_transcript_is_the_algorithm(case in groups(), rollback in any::<bool>()) {
        let case = if rollback { case.all(MasterAlgorithm::Rollback, SlaveClass::Rollback) } else { case };
        let by = |stepper: Stepper| {
            let (stepped, group) = super::model::once(stepper, &case);
            (stepped, group.trace(), group.by_name())
        };
        prop_assert_eq!(by(without), by(right));
    }
}
