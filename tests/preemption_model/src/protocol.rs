//! The lock's protocol as a machine of single atomic steps, with its known-wrong variants, and FMU code that does its worst.

use crate::judge::Violation;
use crate::kernel::{Machine, NOBODY, Status, THREADS};
use crate::scene::{Gate, Mechanism, Raise, Scene};

const WORD: u8 = 0;
const fn token(level: u8) -> u8 {
    1 + level
}
const TURN: u8 = 5;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum At {
    Idle,
    Token,
    Gate,
    GateTake,
    GateGive,
    Help,
    Look,
    HigherTake(u8),
    HigherGive(u8),
    TurnTake,
    /// Before it goes through the gate once more.
    TurnGive,
    Set,
    RecheckFlag,
    Recheck,
    Clear,
    /// Inside of the gate, before the release.
    Poll,
    /// FMU code outside a locked section.
    Fmu,
    LookThenTake,
    RaiseThenTake,
    Take,
    SetFlag,
    TakenThenLook,
    RaiseTaken,
    /// FMU code inside a locked section.
    Section,
    ClearFlag,
    Give,
    Restore,
    Wake,
    Leave,
    /// Before it gives its token back.
    TurnEnd,
    TokenGive,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    pub machine: Machine,
    pub at: [At; THREADS],
    budget: [u8; THREADS],
    releases: [u8; THREADS],
    /// Between the return of lock and the call of unlock, as FMU code sees it.
    pub inside: [bool; THREADS],
    /// Has polled, and not yet started.
    polled: [bool; THREADS],
    /// Has started and not yet left.
    pub started: [bool; THREADS],
    active: u8,
    flag: u8,
    /// The target's queued ticks: marked, not yet started for.
    pub pending: bool,
    /// Raised a tick and has not yet woken the target.
    owes_wake: [bool; THREADS],
}

/// A step: who, and what was done, for the trace.
pub type Label = (u8, &'static str);

pub struct Model {
    pub mechanism: Mechanism,
    pub scene: Scene,
}

impl Model {
    pub fn threads(&self) -> impl Iterator<Item = u8> + use<> {
        0..self.scene.levels.len() as u8
    }

    /// Whether a level has its priority in common with others.
    pub fn shares(&self, level: u8) -> bool {
        let (first, last) = self.scene.shared;
        first < last && (first..=last).contains(&level)
    }

    fn takes_turns(&self, thread: u8) -> bool {
        self.mechanism.turn && self.shares(self.scene.levels[thread as usize])
    }

    pub fn start(&self) -> State {
        let per = |values: &[u8]| std::array::from_fn(|t| values.get(t).copied().unwrap_or(0));
        let own = |level: u8| if self.shares(level) { self.scene.shared.0 } else { level };
        let base = std::array::from_fn(|t| 10 - own(self.scene.levels.get(t).copied().unwrap_or(9)));
        State {
            machine: Machine::new(base, self.scene.steal),
            at: [At::Idle; THREADS],
            budget: [0; THREADS],
            releases: per(self.scene.releases),
            inside: [false; THREADS],
            polled: [false; THREADS],
            started: [false; THREADS],
            active: 0,
            flag: NOBODY,
            pending: false,
            owes_wake: [false; THREADS],
        }
    }

    /// Every state that can follow, with the violations that the step was.
    pub fn successors(&self, state: &State, found: &mut Vec<(State, Label, Option<Violation>)>) {
        for thread in self.threads() {
            let t = thread as usize;
            if state.machine.status[t] == Status::Idle && state.releases[t] > 0 {
                let mut next = *state;
                next.releases[t] -= 1;
                self.release(&mut next, thread);
                next.machine.end_step();
                found.push((next, (thread, "is released"), None));
            }
            if state.machine.status[t] == Status::Sleeping {
                let mut next = *state;
                next.machine.make_ready(thread);
                next.machine.end_step();
                found.push((next, (thread, "wakes up"), None));
            }
        }
        let Some(me) = state.machine.running() else {
            if found.is_empty() {
                let blocked = |t: u8| matches!(state.machine.status[t as usize], Status::Blocked(_));
                let stuck = self.threads().any(blocked).then_some(Violation::Deadlock);
                let lost = state.pending.then_some(Violation::LostTick);
                if let Some(violation) = stuck.or(lost) {
                    found.push((*state, (NOBODY, "nobody can run"), Some(violation)));
                }
            }
            return;
        };
        match state.at[me as usize] {
            At::Fmu => self.fmu_steps(state, me, found),
            At::Section => self.section_steps(state, me, found),
            At::Poll => self.poll_steps(state, me, found),
            _ => {
                let (next, label, violation) = self.protocol_step(state, me);
                found.push((next, (me, label), violation));
            }
        }
    }

    /// The running thread's next step, if it is the protocol's and not FMU code's.
    pub fn protocol_successor(&self, state: &State) -> Option<State> {
        let me = state.machine.running()?;
        let fmu = matches!(state.at[me as usize], At::Fmu | At::Section | At::Poll);
        (!fmu).then(|| self.protocol_step(state, me).0)
    }

    fn release(&self, state: &mut State, thread: u8) {
        state.machine.make_ready(thread);
        state.at[thread as usize] = if self.mechanism.token { At::Token } else { At::Gate };
    }

    fn fmu_steps(&self, state: &State, me: u8, found: &mut Vec<(State, Label, Option<Violation>)>) {
        let m = me as usize;
        let violation = self.judge_running(state, me);
        let mut choose = |label, change: &dyn Fn(&mut State)| {
            let mut next = *state;
            next.machine.begin_step(me);
            change(&mut next);
            next.machine.end_step();
            found.push((next, (me, label), violation));
        };
        choose("returns", &|s| s.at[m] = At::Leave);
        if state.budget[m] == 0 {
            return;
        }
        choose("calls lock", &|s| {
            s.budget[m] -= 1;
            s.at[m] = match self.mechanism.raise {
                Raise::BeforeTaking => At::LookThenTake,
                _ => At::Take,
            };
        });
        if self.scene.may_sleep {
            choose("sleeps", &|s| {
                s.budget[m] -= 1;
                s.machine.stop(me, Status::Sleeping);
            });
        }
    }

    /// The release comes, or something else that it is to do first. It never stops polling by itself.
    fn poll_steps(&self, state: &State, me: u8, found: &mut Vec<(State, Label, Option<Violation>)>) {
        let m = me as usize;
        let mut choose = |label, change: &dyn Fn(&mut State) -> Option<Violation>| {
            let mut next = *state;
            next.machine.begin_step(me);
            let violation = change(&mut next);
            next.machine.end_step();
            found.push((next, (me, label), violation));
        };
        choose("has its release", &|s| {
            s.polled[m] = true;
            match self.mechanism.again {
                true => {
                    s.at[m] = if self.takes_turns(me) { At::TurnGive } else { At::Gate };
                    None
                }
                false => self.begin(s, me),
            }
        });
        choose("is taken back", &|s| {
            s.at[m] = At::Leave;
            None
        });
    }

    fn section_steps(&self, state: &State, me: u8, found: &mut Vec<(State, Label, Option<Violation>)>) {
        let m = me as usize;
        let violation = self.judge_running(state, me);
        let mut choose = |label, change: &dyn Fn(&mut State)| {
            let mut next = *state;
            next.machine.begin_step(me);
            change(&mut next);
            next.machine.end_step();
            found.push((next, (me, label), violation));
        };
        choose("calls unlock", &|s| {
            s.inside[m] = false;
            s.at[m] = if self.mechanism.section_flag { At::ClearFlag } else { At::Give };
        });
        if self.scene.target.is_some_and(|t| t != me) && !state.pending {
            choose("ticks", &|s| {
                s.pending = true;
                s.owes_wake[m] = true;
            });
        }
        if self.scene.may_sleep_locked && state.budget[m] > 0 {
            choose("sleeps inside", &|s| {
                s.budget[m] -= 1;
                s.machine.stop(me, Status::Sleeping);
            });
        }
    }

    fn is_locked_by_another(&self, state: &State, me: u8) -> bool {
        if self.mechanism.section_flag {
            state.flag != NOBODY && state.flag != me
        } else {
            state.machine.is_taken_by_another(me, WORD)
        }
    }

    fn protocol_step(&self, state: &State, me: u8) -> (State, &'static str, Option<Violation>) {
        let m = me as usize;
        let level = self.scene.levels[m];
        let above = state.active & ((1 << level) - 1);
        let after_gate = if self.mechanism.help { At::Help } else { At::Look };
        let mut next = *state;
        next.machine.begin_step(me);
        let again = match self.mechanism.bit_first {
            true if self.takes_turns(me) => At::TurnGive,
            true => At::Gate,
            false => At::Clear,
        };
        let mut violation = None;
        let label = match state.at[m] {
            At::Token => {
                next.at[m] = if self.mechanism.bit_first { At::Set } else { At::Gate };
                next.machine.take(me, token(level));
                "takes its level's token"
            }
            At::Gate => {
                let taken = self.mechanism.gate_at_word && state.machine.is_taken_by_another(me, WORD);
                let stop = self.mechanism.gate != Gate::None && (taken || self.is_locked_by_another(state, me));
                next.at[m] = if stop { At::GateTake } else { after_gate };
                "looks for a section"
            }
            At::GateTake => {
                next.at[m] = At::GateGive;
                next.machine.take(me, WORD);
                "takes the word at the gate"
            }
            At::GateGive => {
                next.at[m] = match self.mechanism.gate {
                    Gate::UntilFree => At::Gate,
                    _ => after_gate,
                };
                next.machine.give(me, WORD);
                "gives the word back at the gate"
            }
            At::Help => {
                next.at[m] = At::Look;
                if let Some(target) = self.scene.target
                    && target != me
                    && self.scene.levels[target as usize] < level
                {
                    self.wake_target(&mut next, target);
                    let due = next.machine.status[target as usize] == Status::Ready && !next.started[target as usize];
                    if due
                        && self.mechanism.stand_back
                        && self.shares(level)
                        && self.shares(self.scene.levels[target as usize])
                    {
                        next.machine.stand_back(me);
                    }
                }
                "helps"
            }
            At::Look if !self.mechanism.bitmap => {
                violation = self.begin(&mut next, me);
                "starts"
            }
            At::Look if above != 0 => {
                next.at[m] = At::HigherTake(above.ilog2() as u8);
                "sees a higher level"
            }
            At::Look => {
                next.at[m] = match self.mechanism.bit_first {
                    true if self.takes_turns(me) => At::TurnTake,
                    true => At::RecheckFlag,
                    false => At::Set,
                };
                "sees no higher level"
            }
            At::TurnTake => {
                let waits = state.machine.is_taken_by_another(me, TURN);
                next.at[m] = if waits { At::TurnGive } else { At::RecheckFlag };
                next.machine.take(me, TURN);
                "takes the turn"
            }
            At::TurnGive => {
                next.at[m] = At::Gate;
                next.machine.give(me, TURN);
                "gives the turn back and begins again"
            }
            At::HigherTake(higher) => {
                next.at[m] = At::HigherGive(higher);
                next.machine.take(me, token(higher));
                "takes the higher token"
            }
            At::HigherGive(higher) => {
                next.at[m] = At::Gate;
                next.machine.give(me, token(higher));
                "gives the higher token back"
            }
            At::Set => {
                next.active |= 1 << level;
                if self.mechanism.bit_first {
                    next.at[m] = At::Gate;
                } else if self.mechanism.recheck {
                    next.at[m] = if self.mechanism.section_flag { At::RecheckFlag } else { At::Recheck };
                } else {
                    violation = self.begin(&mut next, me);
                }
                "sets its bit"
            }
            At::RecheckFlag => {
                let locked = self.is_locked_by_another(state, me);
                next.at[m] = if locked { again } else { At::Recheck };
                "looks for a section again"
            }
            At::Recheck => {
                let polls = self.scene.polls && !state.polled[m] && self.scene.target != Some(me);
                if above != 0 {
                    next.at[m] = again;
                } else if polls {
                    next.at[m] = At::Poll;
                } else {
                    violation = self.begin(&mut next, me);
                }
                "looks for higher levels again"
            }
            At::Clear => {
                next.active &= !(1 << level);
                next.at[m] = At::Gate;
                "clears its bit and begins again"
            }
            At::LookThenTake => {
                next.at[m] = if above != 0 { At::RaiseThenTake } else { At::Take };
                "looks for higher levels before taking"
            }
            At::RaiseThenTake => {
                next.machine.raised[m] = 10;
                next.at[m] = At::Take;
                "raises itself"
            }
            At::Take => {
                next.at[m] = if self.mechanism.section_flag { At::SetFlag } else { At::TakenThenLook };
                next.machine.take(me, WORD);
                "takes the word"
            }
            At::SetFlag => {
                next.flag = me;
                next.at[m] = At::TakenThenLook;
                "has the word, sets the section"
            }
            At::TakenThenLook => {
                if self.mechanism.raise == Raise::AfterTaking && above != 0 {
                    next.at[m] = At::RaiseTaken;
                } else {
                    next.at[m] = At::Section;
                    next.inside[m] = true;
                }
                "looks for higher levels, is inside"
            }
            At::RaiseTaken => {
                next.machine.raised[m] = 10;
                next.at[m] = At::Section;
                next.inside[m] = true;
                "raises itself, is inside"
            }
            At::ClearFlag => {
                next.flag = NOBODY;
                next.at[m] = At::Give;
                "clears the section"
            }
            At::Give => {
                next.at[m] = At::Restore;
                next.machine.give(me, WORD);
                "gives the word back"
            }
            At::Restore => {
                next.machine.raised[m] = 0;
                next.at[m] = if state.owes_wake[m] { At::Wake } else { At::Fmu };
                "has its own priority"
            }
            At::Wake => {
                next.owes_wake[m] = false;
                next.at[m] = At::Fmu;
                if let Some(target) = self.scene.target {
                    self.wake_target(&mut next, target);
                }
                "wakes the target"
            }
            At::Leave => {
                next.active &= !(1 << level);
                next.started[m] = false;
                next.at[m] = if self.takes_turns(me) { At::TurnEnd } else { At::TokenGive };
                "leaves"
            }
            At::TurnEnd => {
                next.at[m] = At::TokenGive;
                next.machine.give(me, TURN);
                "gives the turn back"
            }
            At::TokenGive => {
                if self.mechanism.token {
                    next.machine.give(me, token(level));
                }
                next.at[m] = At::Idle;
                next.machine.stop(me, Status::Idle);
                if self.scene.target == Some(me) && state.pending {
                    self.release(&mut next, me);
                }
                "is done"
            }
            At::Idle | At::Fmu | At::Section | At::Poll => unreachable!("not the protocol's"),
        };
        next.machine.end_step();
        (next, label, violation)
    }

    fn begin(&self, next: &mut State, me: u8) -> Option<Violation> {
        let violation = self.judge_start(next, me);
        next.at[me as usize] = At::Fmu;
        next.started[me as usize] = true;
        next.polled[me as usize] = false;
        next.budget[me as usize] = self.scene.budget[me as usize];
        if self.scene.target == Some(me) {
            next.pending = false;
        }
        violation
    }

    fn wake_target(&self, next: &mut State, target: u8) {
        if next.pending && next.machine.status[target as usize] == Status::Idle {
            self.release(next, target);
        }
    }
}
