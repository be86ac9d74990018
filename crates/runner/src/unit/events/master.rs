//! One release of a group whose steps a master makes (`[master.NAME]`, semantics S24).
//!
//! The algorithm decides which slave steps when and how far ([`vecud_solver::master`]); this module provides its operations:
//! exchange of values, steps, rollback, events of one FMU that stops early. Other tasks see changes of an event at its time, and
//! all else after the last step of a release; inputs from them are held over a step of the grid.

use super::exchange::Exchange;
use super::group::{Failed, Group};
use super::member::Member;
use super::release::EventRelease;
use crate::activation_error::ActivationError;
use crate::calls::Meter;
use crate::inbox::Turn;
use crate::run_state::RunState;
use crate::unit::substeps;
use vecud_base::time::Instant;
use vecud_fmi::{Failure, Function};
use vecud_plan::schedule::Due;
use vecud_plan::{FmuId, MasterPlan, Plan, SlavePlan, UnitId};
use vecud_record::findings::{FindingKind, Occurrence};
use vecud_record::unusable::Unusable;
use vecud_solver::master::{
    Assumption, Classes, MasterAlgorithm, Setup, SlaveClass, Slaves, Source, Stepped, Stop, Violation, WayBack,
};

/// The master algorithm of a group.
pub struct Master {
    setup: Setup,
    slaves: Vec<Slave>,
    /// Steps within one release, at most.
    max_events: u32,
    /// Clocks connect the group with others: an event may tick a task outside, or a tick from there may have come until then, so
    /// that an event has a release of its own.
    meets_others: bool,
}

/// A slave of the algorithm: an FMU for Co-Simulation, or all integrated FMUs together.
struct Slave {
    /// Their numbers in the unit.
    members: Vec<usize>,
    /// Its means of rollback; `None`: it has none, or the algorithm makes none.
    way_back: Option<WayBack>,
    /// The slave reports its largest step: an incomplete step within it is reported as a violation, wherever it ends.
    tells_max_step: bool,
}

impl Master {
    /// The master of the group whose steps `unit` makes, and the exchange of its values; `None`: the task has none.
    pub fn of(run: &RunState, unit: UnitId) -> Option<(Master, Exchange)> {
        let plan = run.plan.master_of(unit)?;
        let members: Vec<UnitId> = run.plan.task_of(unit).units().to_vec();
        let MasterPlan { algorithm, ref slaves, ref classes, ref exchanges, max_events, .. } = *plan;
        let names: Vec<&str> = slaves.iter().map(|slave| slave.name.as_str()).collect();
        let number = |unit: &UnitId| members.iter().position(|own| own == unit).expect("it is of the group");
        let slave = |(place, slave): (usize, &SlavePlan)| Slave {
            members: slave.members.iter().map(number).collect(),
            way_back: classes.slaves()[place].way_back.filter(|_| algorithm.takes_back()),
            tells_max_step: algorithm == MasterAlgorithm::Predictable && tells_max_step(classes, place),
        };
        let master = Master {
            setup: Setup::new(algorithm, &names, classes, exchanges.clone(), &plan.ends()),
            slaves: slaves.iter().enumerate().map(slave).collect(),
            max_events,
            meets_others: meets_others(&run.plan, &members),
        };
        Some((master, Exchange::new(&run.plan, plan, &members)))
    }

    /// The work of the release `due`.
    pub fn release(&self, release: &mut EventRelease, due: &Due, meter: &mut impl Meter) -> Result<(), Failed> {
        let (time, target) = (due.time, release.fetch(due)?);
        for number in 0..release.group.len() {
            let stepping = &mut release.group.member(number).0.stepping;
            stepping.begin_at(time);
            stepping.note();
        }
        let mut left = self.max_events;
        loop {
            let point = release.group.point(time);
            if !release.come_to_rest(point, time)? {
                release.group.record(time)?;
                release.is_over(time);
                return Ok(());
            }
            let to = release.group.first.0.stepping.next(point, target);
            meter.enter();
            let stepped = self.step(release, (point, to), time, &mut left);
            meter.leave();
            let Some(stepped) = stepped? else {
                // The end comes, with the FMUs at different times, of which nothing is read any more.
                return release.group.record_what_is_missing(time);
            };
            let reached = stepped.to;
            if reached >= target || release.group.has_end() {
                break;
            }
            if release.group.is_stopped() {
                release.group.first.0.stepping.go_on_at(reached);
                break;
            }
            if self.meets_others && reached > time && reached < to {
                // The release at that point continues this one: other tasks see no intermediate outputs.
                release.group.first.0.stepping.go_on_at(reached);
                return (0..release.group.len())
                    .try_for_each(|member| release.exchanging(|exchange, group| exchange.read(group, member, time)));
            }
            if reached < to {
                let slave = stepped.shortened.map(|shortened| self.slaves[shortened.slave].members[0]);
                let wants = (0..release.group.len()).find(|member| release.group.member(*member).0.wants_event());
                let member = wants.or(slave).unwrap_or(0);
                count(&mut release.group, member, reached, &mut left, self.max_events)?;
            }
            if reached == point && !release.group.wants_event() {
                let slave = stepped.shortened.map_or(0, |shortened| shortened.slave);
                return Err(self.stuck(&mut release.group, slave, point));
            }
        }
        release.publish(time)
    }

    /// A step of the algorithm. `None`: the end of the run was requested in the midst of it.
    fn step(
        &self,
        release: &mut EventRelease,
        (from, to): (Instant, Instant),
        time: Instant,
        left: &mut u32,
    ) -> Result<Option<Stepped>, Failed> {
        let Master { setup, slaves, max_events, .. } = self;
        let mut working = Working { release, slaves, from, to, time, left, max_events: *max_events };
        match setup.step(&mut working, from, to) {
            Ok(stepped) => {
                if let Some(violation) = stepped.violation {
                    self.note(&mut release.group, violation);
                }
                Ok(Some(stepped))
            }
            Err(Stop::Left) => Ok(None),
            Err(Stop::Failed(failed)) => Err(failed),
            Err(Stop::Stuck { slave, at }) => Err(self.stuck(&mut release.group, slave, at)),
            Err(Stop::Violated(violation)) => Err(self.violated(&mut release.group, violation)),
        }
    }

    /// A slave does not go on.
    fn stuck(&self, group: &mut Group, slave: usize, at: Instant) -> Failed {
        let member = self.slaves[slave].members[0];
        let failure: Failure = substeps::stuck(group.member(member).0.stepping.value(at));
        Failed { member, error: ActivationError::Call(failure) }
    }

    /// Notes that a slave violates an assumption of the algorithm, but has made its step.
    #[cold]
    fn note(&self, group: &mut Group, violation: Violation) {
        let member = self.slaves[violation.slave].members[0];
        let (unit, host) = (group.unit(member), group.host(member));
        let value = violation.reached.seconds().to_bits();
        let seen = Occurrence { unit: Some(unit), reference: None, time: Some(violation.from), value };
        group.run.board.fmu(host.fmu()).findings().note(FindingKind::ShorterThanAccepted, seen);
    }

    /// Fails since a slave violates an assumption of the algorithm, and its time is unknown.
    #[cold]
    fn violated(&self, group: &mut Group, violation: Violation) -> Failed {
        let Violation { assumption, slave, from, reached, .. } = violation;
        let member = self.slaves[slave].members[0];
        let (unit, host) = (group.unit(member), group.host(member));
        let assumption = match assumption {
            Assumption::A0 => 0,
            Assumption::A1 => 1,
            Assumption::A4 => 4,
        };
        let reading = Unusable::Assumption(assumption, reached.seconds());
        let function = group.member(member).0.engine.step_function();
        Failed { member, error: host.fail_reading(function, unit, from, reading) }
    }
}

/// Whether clocks connect these FMUs with tasks or FMUs outside of their group, or with datagrams.
fn meets_others(plan: &Plan, members: &[UnitId]) -> bool {
    let is_inside = |fmu: FmuId| members.iter().any(|unit| plan.units[unit.0].fmu == fmu);
    let mut datagrams = plan.endpoints.iter().filter_map(|endpoint| endpoint.target.clock);
    datagrams.any(|clock| is_inside(clock.fmu))
        || plan.fmus.iter().enumerate().any(|(fmu, own)| match is_inside(FmuId(fmu)) {
            true => own.output_clocks.iter().any(|clock| !clock.targets.is_empty()),
            false => own.output_clocks.iter().flat_map(|clock| &clock.clocks).any(|clock| is_inside(clock.fmu)),
        })
}

/// Whether a slave is predictable by its own word.
fn tells_max_step(classes: &Classes, slave: usize) -> bool {
    let own = &classes.slaves()[slave];
    own.class == SlaveClass::Predictable && own.sources.contains(&Source::GetMaxStepSize)
}

/// Counts a step that has ended before the next instant of the grid; `most` are allowed in a release.
fn count(group: &mut Group, member: usize, time: Instant, left: &mut u32, most: u32) -> Result<(), Failed> {
    if let Some(others) = left.checked_sub(1) {
        *left = others;
        return Ok(());
    }
    let (host, unit) = (group.host(member), group.unit(member));
    let function = group.member(member).0.engine.step_function();
    Err(Failed { member, error: host.fail_reading(function, unit, time, Unusable::TooManyEvents(most.into())) })
}

/// The slaves in a step.
struct Working<'a, 'g> {
    release: &'a mut EventRelease<'g>,
    slaves: &'a [Slave],
    /// Begin and planned end of the step.
    from: Instant,
    to: Instant,
    /// The release.
    time: Instant,
    left: &'a mut u32,
    max_events: u32,
}

impl Working<'_, '_> {
    /// The largest step that an FMU reports, with the inputs of the step; `None`: no limit.
    fn ask(&mut self, member: usize, from: Instant) -> Result<Option<Instant>, Failed> {
        self.release.exchanging(|exchange, group| exchange.set(group, member, self.time))?;
        let (size, until) = self.release.group.with(member, |own, calls, _, _| {
            let (outcome, size, until) = own.max_step(from)?;
            calls.allow(outcome)?;
            Ok((size, until))
        })?;
        if size > 0.0 {
            return Ok(until);
        }
        let (unit, host) = (self.release.group.unit(member), self.release.group.host(member));
        let error = host.fail_reading(Function::GetMaxStepSize, unit, from, Unusable::MaxStep(size));
        Err(Failed { member, error })
    }

    fn is_integrated(&mut self, slave: usize) -> bool {
        self.release.group.member(self.slaves[slave].members[0]).0.is_integrated()
    }

    /// The outputs of a slave have to be read again.
    fn have_computed(&mut self, slave: usize) {
        if let Some(exchange) = &mut self.release.exchange {
            self.slaves[slave].members.iter().for_each(|member| exchange.has_computed(*member));
        }
    }

    /// Records the row of the release, unless it is there: inputs, and outputs computed from them or before.
    fn record(&mut self, member: usize) -> Result<(), Failed> {
        let time = self.time;
        if !self.release.group.member(member).0.lacks_row(time) {
            return Ok(());
        }
        if self.release.group.member(member).0.is_integrated() {
            self.release.exchanging(|exchange, group| exchange.read(group, member, time))?;
        }
        self.release.group.with(member, |own, calls, run, host| {
            own.record(calls, run, host, time);
            Ok(())
        })
    }
}

impl Slaves for Working<'_, '_> {
    type Failure = Failed;

    fn exchange(&mut self, connection: usize) -> Result<(), Failed> {
        let time = self.time;
        self.release.exchanging(|exchange, group| exchange.carry(group, connection, time))
    }

    fn solve(&mut self, circle: usize) -> Result<(), Failed> {
        let time = self.time;
        self.release.exchanging(|exchange, group| exchange.solve(group, circle, time))
    }

    fn save(&mut self, slave: usize) -> Result<(), Failed> {
        let (Slave { members, way_back, .. }, time) = (&self.slaves[slave], self.time);
        for &member in members {
            self.release.exchanging(|exchange, group| exchange.set(group, member, time))?;
            let by_state = matches!(way_back, Some(WayBack::State | WayBack::StatesOfModels));
            self.release.group.with(member, |own, calls, _, _| calls.allow(own.remember_point(by_state)?))?;
        }
        if self.is_integrated(slave) {
            let from = self.from;
            self.release.integrate(|continuous, group, exchange| {
                let _it_is_told_at_the_step = continuous.settle(group, exchange, from)?;
                continuous.save();
                Ok(())
            })?;
        }
        Ok(())
    }

    fn restore(&mut self, slave: usize) -> Result<(), Failed> {
        let Slave { members, way_back, .. } = &self.slaves[slave];
        for &member in members {
            self.release.group.with(member, |own, calls, _, _| calls.allow(own.go_back_to_point(*way_back)?))?;
        }
        self.have_computed(slave);
        if self.is_integrated(slave) {
            self.release.integrate(|continuous, group, exchange| continuous.restore(group, exchange))?;
        }
        Ok(())
    }

    fn do_step(&mut self, slave: usize, from: Instant, to: Instant) -> Result<Instant, Failed> {
        let Slave { members, way_back, tells_max_step } = &self.slaves[slave];
        // The end of the run comes when the others are there: it has asked for that, or is in the event in which another one has.
        let has_ended = |own: &mut Member| own.stepping.is_over() || own.is_in_event_mode();
        if members.iter().any(|member| has_ended(self.release.group.member(*member).0)) {
            return Ok(to);
        }
        let mut until = to;
        for &member in members {
            self.release.exchanging(|exchange, group| exchange.set(group, member, self.time))?;
            let own = self.release.group.member(member).0;
            for known in [own.next_point(from), own.time_event(from)].into_iter().filter(|_| own.stepping.varies()) {
                until = own.stepping.ends_before(until, known);
            }
        }
        let is_integrated = self.is_integrated(slave);
        let settled = self.release.integrate(|continuous, group, exchange| match is_integrated {
            true => continuous.settle(group, exchange, from),
            false => Ok(false),
        })?;
        // The row from after a state event that inputs have made comes when that is handled.
        if settled != Some(true) {
            members.iter().try_for_each(|member| self.record(*member))?;
        }
        let reached = match is_integrated {
            true if settled == Some(true) => from,
            true => {
                let go = self.release.integrate(|continuous, group, exchange| {
                    continuous.go(group, exchange, (&from, &until), Some(&until))
                });
                go?.unwrap_or(to)
            }
            false => {
                let rejects = way_back.is_some() || *tells_max_step;
                let time = self.time;
                self.release.group.with(members[0], |own, calls, _, _| {
                    calls.computes();
                    let (outcome, reached) = own.step_with(Some((calls, time)), from, until, rejects)?;
                    calls.allow(outcome)?;
                    Ok(reached)
                })?
            }
        };
        self.have_computed(slave);
        Ok(reached)
    }

    fn latest(&mut self, slave: usize, source: Source, from: Instant) -> Result<Option<Instant>, Failed> {
        let (to, member) = (self.to, self.slaves[slave].members[0]);
        let asked = if source == Source::GetMaxStepSize { self.ask(member, from)? } else { None };
        let own = self.release.group.member(member).0;
        // An event at the end of the step, but for rounding, does not shorten it.
        let is_before = |known: &Instant| !own.stepping.is_same(*known, to);
        Ok(match source {
            Source::GetMaxStepSize => asked.filter(is_before),
            Source::NextEventTime => own.time_event(from).filter(is_before),
            Source::ClockTick => own.clocks.next().filter(|next| *next > from),
            _ => None,
        })
    }

    fn stopped_early(&mut self, slave: usize, at: Instant) -> Result<bool, Failed> {
        let members = &self.slaves[slave].members;
        count(&mut self.release.group, members[0], at, self.left, self.max_events)?;
        let is_event = self.release.group.wants_event();
        self.release.handle_events(at, self.time, Turn::EventMode { again: true })?;
        Ok(is_event)
    }

    fn is_to_end(&self) -> bool {
        self.release.group.is_stopped()
    }
}
