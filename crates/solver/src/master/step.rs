//! A master step: all slaves from one communication point to the next one, which is the same for all.
//!
//! Algorithm 2 takes all slaves back where one rejects the step. Algorithm 3 asks the predictable ones first, takes back those that
//! can be, and asks a legacy one once, when the others have agreed. Comments have the numbers of their lines. Jacobi and Gauss-Seidel
//! take nobody back: whoever stops early goes on from there.
//!
//! Guarantees: a step ends at one instant for all, or it is told who stands in its way. The end of a step that is repeated is strictly
//! earlier each time, and it is repeated a bounded number of times. No step has no length: FMI knows none, and it would change
//! nothing, so that slaves which are to stay are set back and not called. Nothing is allocated after [`Setup::new`].

use super::algorithm::MasterAlgorithm;
use super::classes::{ClassReason, Classes, Classified, SlaveClass};
use super::order::ExchangeStep;
use super::source::{Limit, Source};
use std::fmt;
use vecud_base::graph::constrained;
use vecud_base::time::Instant;

/// The most moves of a step's end; then a slave that contradicts A1 each time ends the run.
const TRIES: u32 = 20;
/// Steps that come nowhere, one after another, after which a slave is stuck (semantics S23).
const IDLE: u32 = 2;

/// The slaves of a group, by numbers, as a master step sees them.
pub trait Slaves {
    /// Why a call has failed; it should say which slave that was.
    type Failure;

    /// `u := P(u)`: reads the output of this connection and sets its input.
    fn exchange(&mut self, connection: usize) -> Result<(), Self::Failure>;

    /// Solves the algebraic loop of this number among the [`ExchangeStep::Loop`]s of the setup, and sets its inputs.
    fn solve(&mut self, circle: usize) -> Result<(), Self::Failure>;

    /// `r[c] := m[c]`: keeps the state of a slave. Called of rollback slaves alone.
    fn save(&mut self, slave: usize) -> Result<(), Self::Failure>;

    /// `m[c] := r[c]`: takes a slave back to the state that was saved last, inputs included.
    fn restore(&mut self, slave: usize) -> Result<(), Self::Failure>;

    /// `(s', h') := doStep(s, h)` from `from` to `to`, which is later. The instant that was reached: `to`, or an earlier one where
    /// the slave rejects the step (an early return, a discarded step). A slave that does not meet `to` because of rounding has met it.
    fn do_step(&mut self, slave: usize, from: Instant, to: Instant) -> Result<Instant, Self::Failure>;

    /// The instant that this source of a predictable slave tells, which [is asked](Source::is_asked) for it; `None`: it knows of
    /// none.
    fn latest(&mut self, slave: usize, source: Source, from: Instant) -> Result<Option<Instant>, Self::Failure>;

    /// Jacobi and Gauss-Seidel: the slave has stopped before the end of its step and is to go on from there. Events are handled here;
    /// `true`: there was one, so that a slave without progress is not stuck. Too many of them are a failure.
    fn stopped_early(&mut self, slave: usize, at: Instant) -> Result<bool, Self::Failure>;

    /// Jacobi and Gauss-Seidel: whether a slave that has stopped before the end of its step is to stay there, since somebody has asked for
    /// the end of all.
    fn is_to_end(&self) -> bool {
        false
    }
}

/// An assumption on all slaves, or on predictable ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// A step ends between its beginning and the end that was asked for.
    A0,
    /// A step that is shorter than an accepted one is accepted.
    A1,
    /// A predictable slave accepts every step up to its largest.
    A4,
}

/// A contradiction of a slave to an assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The violated assumption.
    pub assumption: Assumption,
    /// Number of the slave.
    pub slave: usize,
    /// The beginning of the step.
    pub from: Instant,
    /// The requested end.
    pub asked: Instant,
    /// The instant that the slave claims to have reached.
    pub reached: Instant,
}

/// Why a step ended earlier than asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyEnd {
    /// A predictable slave cannot step farther.
    Limit(Source),
    /// A slave has rejected the step.
    Rejected,
}

/// Origin of a shortened step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// The slave; the first by name of several.
    pub slave: usize,
    /// Reason.
    pub cause: EarlyEnd,
}

/// A step that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stepped {
    /// The instant at which all slaves are. It may be that from which they came: then somebody has to handle an event there.
    pub to: Instant,
    /// Number of calls of [`Slaves::do_step`] that ended early.
    pub rejections: u32,
    /// Number of times that a slave was restored.
    pub restores: u32,
    /// Slave and reason, if `to` is earlier than requested.
    pub shortened: Option<Shortened>,
    /// The first violation that the step has survived: it is to be reported.
    pub violation: Option<Violation>,
}

/// Why a step was not made. The slaves are at different times, and the group cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop<F> {
    /// A call has failed.
    Failed(F),
    /// A slave contradicts an assumption about it.
    Violated(Violation),
    /// A slave is asked to go on from there, and does not.
    Stuck {
        /// Number of the slave.
        slave: usize,
        /// The time of the slave.
        at: Instant,
    },
    /// Somebody has asked for the end of all in the midst of the step.
    Left,
}

impl<F> From<F> for Stop<F> {
    fn from(failure: F) -> Stop<F> {
        Stop::Failed(failure)
    }
}

/// A slave's turn in Gauss-Seidel: the connections that feed it, then its step.
#[derive(Clone, Debug)]
struct Turn {
    slave: usize,
    connections: Vec<usize>,
}

/// Structure of a group, prepared before it steps.
#[derive(Clone, Debug)]
pub struct Setup {
    algorithm: MasterAlgorithm,
    /// x, as connections.
    exchanges: Vec<ExchangeStep>,
    /// C by name, as all sets here.
    all: Vec<usize>,
    /// C_P, with where the largest steps are known from.
    predictable: Vec<(usize, Vec<Source>)>,
    /// C_R.
    rollback: Vec<usize>,
    /// C_L.
    legacy: Option<usize>,
    /// The slave that is integrated, if it can be taken back: A1 does not hold for it, so that it stays at the time of the others, and may
    /// make a step shorter once more.
    integrated: Option<usize>,
    turns: Vec<Turn>,
}

impl Setup {
    /// A group of slaves with these names, which are different, and [classes](super::classify). `exchanges` come from
    /// [`Dependencies::exchanges`](super::Dependencies::exchanges); of each connection, `ends` are the slaves that it comes from and
    /// leads to. Gauss-Seidel solves no loops: whoever steps first gets what the others have from the step before.
    ///
    /// # Panics
    /// If there are not as many names as classes, or numbers without a slave.
    pub fn new(
        algorithm: MasterAlgorithm,
        names: &[&str],
        classes: &Classes,
        exchanges: Vec<ExchangeStep>,
        ends: &[(usize, usize)],
    ) -> Setup {
        let slaves = classes.slaves();
        assert_eq!(names.len(), slaves.len(), "a name for each slave");
        let mut all: Vec<usize> = (0..names.len()).collect();
        all.sort_by_key(|&slave| names[slave]);
        let of = |class: SlaveClass| all.iter().copied().filter(move |&slave| slaves[slave].class == class);
        let predictable = of(SlaveClass::Predictable).map(|slave| (slave, slaves[slave].sources.clone())).collect();
        let (rollback, legacy) = (of(SlaveClass::Rollback).collect(), of(SlaveClass::Legacy).next());
        let turns = turns(&all, &exchanges, ends);
        let is_integrated =
            |own: &Classified| matches!(own.why, ClassReason::GoesBack(way_back) if !way_back.repeats());
        let integrated = slaves.iter().position(is_integrated);
        Setup { algorithm, exchanges, predictable, rollback, legacy, integrated, turns, all }
    }

    /// Steps all slaves from `from` to `to`, which is later, or to an earlier instant.
    pub fn step<S: Slaves>(&self, slaves: &mut S, from: Instant, to: Instant) -> Result<Stepped, Stop<S::Failure>> {
        let integrated = self.integrated.map(|slave| (slave, None));
        let mut step = Step { slaves, from, integrated, rejections: 0, restores: 0, shortened: None, violation: None };
        let to = match self.algorithm {
            MasterAlgorithm::Jacobi => self.jacobi(&mut step, to)?,
            MasterAlgorithm::GaussSeidel => self.gauss_seidel(&mut step, to)?,
            MasterAlgorithm::Rollback => self.with_rollback(&mut step, to)?,
            MasterAlgorithm::Predictable => self.with_prediction(&mut step, to)?,
        };
        let Step { rejections, restores, shortened, violation, .. } = step;
        Ok(Stepped { to, rejections, restores, shortened, violation })
    }

    fn jacobi<S: Slaves>(&self, step: &mut Step<S>, to: Instant) -> Result<Instant, Stop<S::Failure>> {
        self.exchange(step.slaves)?;
        for &slave in &self.all {
            step.go_to_the_end(slave, to)?;
        }
        Ok(to)
    }

    fn gauss_seidel<S: Slaves>(&self, step: &mut Step<S>, to: Instant) -> Result<Instant, Stop<S::Failure>> {
        for Turn { slave, connections } in &self.turns {
            for &connection in connections {
                step.slaves.exchange(connection)?;
            }
            step.go_to_the_end(*slave, to)?;
        }
        Ok(to)
    }

    /// Algorithm 2.
    fn with_rollback<S: Slaves>(&self, step: &mut Step<S>, h_max: Instant) -> Result<Instant, Stop<S::Failure>> {
        // 1. for u in x, u in U: set_cu(m[cu], u, get_cy(m[cy], P(u)))
        self.exchange(step.slaves)?;
        // 2. r := m
        step.save(&self.all)?;
        // 3. h := h_max
        let mut h = h_max;
        // 4. for c in C: (m[c], h') := doStep_c(m[c], h_max), h := min(h, h')
        for &slave in &self.all {
            // 5. assert A0, where it can be told whose step it was
            let reached = step.do_step(slave, h_max)?;
            h = step.earlier(h, reached, slave);
        }
        // 6. if h < h_max: for c in C: (m[c], h') := doStep_c(r[c], h), assert h' = h (A1)
        let (mut asked, mut tries) = (h_max, 0);
        while h < asked {
            asked = h;
            tries += 1;
            for &slave in &self.all {
                if step.stays(slave, h) {
                    continue;
                }
                step.restore(slave)?;
                let reached = step.do_step(slave, h)?;
                if reached < h && (self.integrated != Some(slave) || tries >= TRIES) {
                    return Err(Stop::Violated(step.violation(Assumption::A1, slave, h, reached)));
                }
                // Of one that is integrated: once more, for all.
                h = step.earlier(h, reached, slave);
            }
        }
        // 7. return m, h
        Ok(h)
    }

    /// Algorithm 3.
    fn with_prediction<S: Slaves>(&self, step: &mut Step<S>, h_max: Instant) -> Result<Instant, Stop<S::Failure>> {
        // 1. as in Algorithm 2
        self.exchange(step.slaves)?;
        // 2. h := min({ getMaxStepSize_c(m[c]) | c in C_P } + { h_max })
        let mut h = h_max;
        for (slave, sources) in &self.predictable {
            for &source in sources {
                h = step.limited(h, *slave, source)?;
            }
        }
        // 3. for c in C_R: r[c] := m[c]; doStepOnLegacy := true; goto 5
        step.save(&self.rollback)?;
        let mut do_step_on_legacy = true;
        let mut tries = 0;
        loop {
            // 4. for c in C_R: m[c] := r[c]
            if tries > 0 {
                for &slave in &self.rollback {
                    if !step.stays(slave, h) {
                        step.restore(slave)?;
                    }
                }
            }
            tries += 1;
            // 5. h_min := h; for c in C_R: (m[c], h') := doStep_c(m[c], h), h_min := min(h', h_min)
            let mut h_min = h;
            for &slave in &self.rollback {
                if tries > 1 && step.stays(slave, h) {
                    continue;
                }
                let reached = step.do_step(slave, h)?;
                h_min = step.earlier(h_min, reached, slave);
                if reached < h && tries > 1 {
                    // It has accepted more before (A1). That can be made good, unless the legacy slave is farther already.
                    let violation = step.violation(Assumption::A1, slave, h, reached);
                    if !do_step_on_legacy || tries >= TRIES {
                        return Err(Stop::Violated(violation));
                    }
                    if self.integrated != Some(slave) {
                        step.violation = step.violation.or(Some(violation));
                    }
                }
            }
            // 6. if h_min < h: h := h_min; goto 4
            if h_min < h {
                h = h_min;
                continue;
            }
            // 7. if c in C_L and doStepOnLegacy: (m[c], h') := doStep_c(m[c], h); doStepOnLegacy := false; if h' < h: h := h'; goto 4
            if let Some(slave) = self.legacy.filter(|_| do_step_on_legacy) {
                let reached = step.do_step(slave, h)?;
                do_step_on_legacy = false;
                if reached < h {
                    h = step.earlier(h, reached, slave);
                    continue;
                }
            }
            break;
        }
        // 8. for c in C_P: (m[c], h') := doStep_c(m[c], h), assert h' = h (A4)
        for (slave, _) in &self.predictable {
            let reached = step.do_step(*slave, h)?;
            if reached < h {
                return Err(Stop::Violated(step.violation(Assumption::A4, *slave, h, reached)));
            }
        }
        // 9. return m, h
        Ok(h)
    }

    fn exchange<S: Slaves>(&self, slaves: &mut S) -> Result<(), S::Failure> {
        let mut loops = 0;
        for exchange in &self.exchanges {
            match exchange {
                ExchangeStep::Connection(connection) => slaves.exchange(*connection)?,
                ExchangeStep::Loop(_) => {
                    slaves.solve(loops)?;
                    loops += 1;
                }
            }
        }
        Ok(())
    }
}

/// The turns of all slaves: who feeds others comes before them; where they feed each other in a circle, by name.
fn turns(all: &[usize], exchanges: &[ExchangeStep], ends: &[(usize, usize)]) -> Vec<Turn> {
    let mut rank_of = vec![0; all.len()];
    all.iter().enumerate().for_each(|(rank, &slave)| rank_of[slave] = rank);
    let feeds: Vec<(usize, usize)> = ends.iter().map(|&(from, to)| (rank_of[from], rank_of[to])).collect();
    let mut connections = vec![Vec::new(); all.len()];
    for exchange in ExchangeStep::without_loops(exchanges) {
        if let ExchangeStep::Connection(connection) = exchange {
            connections[ends[connection].1].push(connection);
        }
    }
    let turn = |rank: usize| Turn { slave: all[rank], connections: std::mem::take(&mut connections[all[rank]]) };
    constrained(all.len(), &[], &feeds).into_iter().map(turn).collect()
}

/// A step under way.
struct Step<'a, S> {
    slaves: &'a mut S,
    from: Instant,
    /// The slave that is integrated, and where it stands since it has stepped.
    integrated: Option<(usize, Option<Instant>)>,
    rejections: u32,
    restores: u32,
    shortened: Option<Shortened>,
    violation: Option<Violation>,
}

impl<S: Slaves> Step<'_, S> {
    fn violation(&self, assumption: Assumption, slave: usize, asked: Instant, reached: Instant) -> Violation {
        Violation { assumption, slave, from: self.from, asked, reached }
    }

    fn save(&mut self, these: &[usize]) -> Result<(), S::Failure> {
        these.iter().try_for_each(|&slave| self.slaves.save(slave))
    }

    fn restore(&mut self, slave: usize) -> Result<(), S::Failure> {
        self.restores += 1;
        self.note(slave, None);
        self.slaves.restore(slave)
    }

    /// Notes the time of a slave after its step; `None`: it was taken back.
    fn note(&mut self, slave: usize, stands: Option<Instant>) {
        if let Some((_, own)) = self.integrated.as_mut().filter(|(integrated, _)| *integrated == slave) {
            *own = stands;
        }
    }

    /// Whether a slave is where all are to be, and would come elsewhere if it were to go there again.
    fn stays(&self, slave: usize, h: Instant) -> bool {
        self.integrated == Some((slave, Some(h)))
    }

    /// Steps a slave from the beginning of the step, and asserts A0. A step without length is none.
    fn do_step(&mut self, slave: usize, to: Instant) -> Result<Instant, Stop<S::Failure>> {
        match to > self.from {
            true => self.do_step_from(slave, self.from, to),
            false => Ok(to),
        }
    }

    fn do_step_from(&mut self, slave: usize, from: Instant, to: Instant) -> Result<Instant, Stop<S::Failure>> {
        let reached = self.slaves.do_step(slave, from, to)?;
        if reached < from || reached > to {
            return Err(Stop::Violated(Violation { assumption: Assumption::A0, slave, from, asked: to, reached }));
        }
        if reached < to {
            self.rejections += 1;
        }
        self.note(slave, Some(reached));
        Ok(reached)
    }

    /// Steps a slave to the end of the step, in as many steps as it takes.
    fn go_to_the_end(&mut self, slave: usize, to: Instant) -> Result<(), Stop<S::Failure>> {
        let (mut at, mut idle) = (self.from, 0);
        while at < to {
            let reached = self.do_step_from(slave, at, to)?;
            if reached == to {
                break;
            }
            if self.slaves.is_to_end() {
                return Err(Stop::Left);
            }
            let was_event = self.slaves.stopped_early(slave, reached)?;
            idle = if reached == at && !was_event { idle + 1 } else { 0 };
            if idle == IDLE {
                return Err(Stop::Stuck { slave, at });
            }
            at = reached;
        }
        Ok(())
    }

    /// The end of the step after a slave has reached that instant.
    fn earlier(&mut self, h: Instant, reached: Instant, slave: usize) -> Instant {
        if reached < h {
            self.shortened = Some(Shortened { slave, cause: EarlyEnd::Rejected });
        }
        h.min(reached)
    }

    /// The end of the step after a predictable slave has told how far it can step.
    fn limited(&mut self, h: Instant, slave: usize, source: Source) -> Result<Instant, S::Failure> {
        let told = if source.is_asked() { self.slaves.latest(slave, source, self.from)? } else { None };
        match source.limit(self.from, told) {
            Limit { until: Some(until), source } if until < h => {
                self.shortened = Some(Shortened { slave, cause: EarlyEnd::Limit(source) });
                Ok(until)
            }
            _ => Ok(h),
        }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Assumption::A0 => "a step ends between its beginning and the end that was asked for (A0)",
            Assumption::A1 => "a step that is shorter than an accepted one is accepted (A1)",
            Assumption::A4 => "what can say how far it steps accepts every step up to that (A4)",
        })
    }
}
