//! The search: every state, every step, shortest traces.

use crate::judge::Violation;
use crate::kernel::NOBODY;
use crate::protocol::{Label, Model, State};
use crate::scene::{Mechanism, Scene};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

/// Multiply and rotate: the states are many and trusted, the default hasher takes half of the time.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

type Hashing = BuildHasherDefault<Mix>;

/// What a search has come upon.
pub struct Found {
    pub states: usize,
    pub violations: HashMap<Violation, Vec<Label>>,
}

/// Visits every reachable state, breadth first, so that the trace of a violation is a shortest one. Ends at a violation
/// of the kind that `until` names.
pub fn explore(mechanism: Mechanism, scene: Scene, until: Option<Violation>) -> Found {
    let model = Model { mechanism, scene };
    let mut numbers: HashMap<State, usize, Hashing> = HashMap::default();
    let mut states = vec![model.start()];
    let mut origins: Vec<(usize, Label)> = vec![(0, (NOBODY, "start"))];
    let mut violations = HashMap::new();
    let mut found = Vec::new();
    numbers.insert(states[0], 0);
    let mut at = 0;
    while at < states.len() {
        found.clear();
        model.successors(&states[at], &mut found);
        for (next, label, violation) in &found {
            if let Some(violation) = violation {
                violations.entry(*violation).or_insert_with(|| trace(&origins, at, *label));
                if until == Some(*violation) {
                    return Found { states: states.len(), violations };
                }
                continue;
            }
            if let std::collections::hash_map::Entry::Vacant(entry) = numbers.entry(*next) {
                entry.insert(states.len());
                states.push(*next);
                origins.push((at, *label));
            }
        }
        at += 1;
    }
    if let Some(last) = livelock(&model, &states) {
        let label = (NOBODY, "the protocol goes round for ever");
        violations.insert(Violation::Livelock, trace(&origins, last, label));
    }
    Found { states: states.len(), violations }
}

/// A state from which the running threads take protocol steps for ever, though nothing happens around them.
fn livelock(model: &Model, states: &[State]) -> Option<usize> {
    let mut ends: HashSet<State, Hashing> = HashSet::default();
    let mut path = Vec::new();
    for (number, state) in states.iter().enumerate() {
        path.clear();
        let mut at = *state;
        while !ends.contains(&at) {
            path.push(at);
            // Far longer than any entry; a loop is found by its length.
            if path.len() > 500 {
                return Some(number);
            }
            match model.protocol_successor(&at) {
                Some(next) => at = next,
                None => break,
            }
        }
        ends.extend(path.drain(..));
    }
    None
}

fn trace(origins: &[(usize, Label)], mut at: usize, last: Label) -> Vec<Label> {
    let mut labels = vec![last];
    while at != 0 {
        labels.push(origins[at].1);
        at = origins[at].0;
    }
    labels.reverse();
    labels
}

/// The violations and how they came about; threads are A, B, C, D.
impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} states", self.states)?;
        for (violation, trace) in &self.violations {
            writeln!(f, "  {violation:?} after {} steps:", trace.len())?;
            for (thread, label) in trace {
                match thread {
                    &NOBODY => writeln!(f, "    {label}")?,
                    _ => writeln!(f, "    {} {label}", char::from(b'A' + thread))?,
                }
            }
        }
        Ok(())
    }
}
