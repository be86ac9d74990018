//! An explicit-state model of the preemption lock: every interleaving of a few threads on one core.
//!
//! `kernel.rs` is the scheduler, `protocol.rs` the lock, step by step; here the search and what it must find. The
//! model is written apart from `src/sys/preemption.rs`, from the same protocol: `tests/preemption_real.rs` binds the
//! code to it with real threads.

mod kernel;
mod protocol;

use protocol::{Gate, Label, Mechanism, Model, Raise, Scene, State, Violation};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

const RIGHT: Mechanism = Mechanism {
    gate: Gate::Once,
    token: true,
    bitmap: true,
    recheck: true,
    raise: Raise::AfterTaking,
    help: true,
    section_flag: false,
};

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

struct Found {
    states: usize,
    violations: HashMap<Violation, Vec<Label>>,
}

/// Visits every reachable state, breadth first, so that the trace of a violation is a shortest one.
fn explore(mechanism: Mechanism, scene: Scene) -> Found {
    let model = Model { mechanism, scene };
    let mut numbers: HashMap<State, usize, Hashing> = HashMap::default();
    let mut states = vec![model.start()];
    let mut origins: Vec<(usize, Label)> = vec![(0, (kernel::NOBODY, "start"))];
    let mut violations = HashMap::new();
    let mut found = Vec::new();
    numbers.insert(states[0], 0);
    let mut at = 0;
    while at < states.len() {
        found.clear();
        model.successors(&states[at], &mut found);
        for (next, label, violation) in &found {
            if let Some(violation) = violation {
                violations
                    .entry(*violation)
                    .or_insert_with(|| trace(&origins, at, *label));
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
        let label = (kernel::NOBODY, "the protocol goes round for ever");
        violations.insert(Violation::Livelock, trace(&origins, last, label));
    }
    Found {
        states: states.len(),
        violations,
    }
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

fn print(name: &str, found: &Found) {
    println!("{name}: {} states", found.states);
    for (violation, trace) in &found.violations {
        println!("  {violation:?} after {} steps:", trace.len());
        for (thread, label) in trace {
            println!("    {} {label}", char::from(b'A'.wrapping_add(*thread)));
        }
    }
}

/// A high one, two equal ones, a low one; code that locks and sleeps.
const FOUR: Scene = Scene {
    levels: &[0, 1, 1, 2],
    releases: &[1, 1, 1, 1],
    budget: &[2, 2, 2, 2],
    may_sleep: true,
    may_sleep_locked: false,
    target: None,
    steal: false,
};

/// Three levels, each released again.
const AGAIN: Scene = Scene {
    levels: &[0, 1, 2],
    releases: &[2, 2, 2],
    budget: &[2, 2, 2],
    ..FOUR
};

/// The highest one is the target of ticks by the others.
const TICKS: Scene = Scene {
    levels: &[0, 1, 2],
    releases: &[0, 2, 2],
    budget: &[1, 2, 2],
    target: Some(0),
    ..FOUR
};

/// The target of ticks is in the middle.
const TICKS_BELOW: Scene = Scene {
    levels: &[1, 0, 2, 2],
    releases: &[0, 1, 1, 1],
    budget: &[1, 2, 2, 1],
    target: Some(0),
    ..FOUR
};

/// FMU code that sleeps inside its locked section, which nothing should.
const SLEEPS_LOCKED: Scene = Scene {
    levels: &[0, 1, 2, 3],
    releases: &[1, 1, 1, 1],
    budget: &[1, 1, 2, 2],
    may_sleep_locked: true,
    ..FOUR
};

const SCENES: [(&str, Scene); 5] = [
    ("four", FOUR),
    ("again", AGAIN),
    ("ticks", TICKS),
    ("ticks below", TICKS_BELOW),
    ("sleeps locked", SLEEPS_LOCKED),
];

#[test]
fn survey() {
    for (what, m) in [
        (
            "flag",
            Mechanism {
                section_flag: true,
                ..RIGHT
            },
        ),
        (
            "before",
            Mechanism {
                raise: Raise::BeforeTaking,
                ..RIGHT
            },
        ),
        (
            "never",
            Mechanism {
                raise: Raise::Never,
                ..RIGHT
            },
        ),
        (
            "norecheck",
            Mechanism {
                recheck: false,
                ..RIGHT
            },
        ),
        (
            "nohelp",
            Mechanism {
                help: false,
                ..RIGHT
            },
        ),
        (
            "until",
            Mechanism {
                gate: Gate::UntilFree,
                ..RIGHT
            },
        ),
        (
            "untilflag",
            Mechanism {
                gate: Gate::UntilFree,
                section_flag: true,
                ..RIGHT
            },
        ),
        (
            "plain",
            Mechanism {
                gate: Gate::None,
                token: false,
                bitmap: false,
                recheck: false,
                ..RIGHT
            },
        ),
        (
            "gate",
            Mechanism {
                token: false,
                bitmap: false,
                recheck: false,
                ..RIGHT
            },
        ),
        (
            "gate+token",
            Mechanism {
                bitmap: false,
                recheck: false,
                ..RIGHT
            },
        ),
    ] {
        for steal in [false, true] {
            for (name, scene) in SCENES {
                let start = std::time::Instant::now();
                let found = explore(m, Scene { steal, ..scene });
                print(
                    &format!("{what} {name} steal={steal} {:?}", start.elapsed()),
                    &found,
                );
            }
        }
    }
}
