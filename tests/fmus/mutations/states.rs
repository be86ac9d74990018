//! Saved states: their bytes, and what somebody may put into one and seal.

use std::fs;

use sha2::{Digest, Sha256};
use vecud::schedule::Timeline;
use vecud::snapshot::Snapshot;
use vecud::time::Instant;

use crate::mutations::chance::Chance;
use crate::mutations::runs::{Runs, rig};
use crate::mutations::trial::words;
use crate::mutations::{Kind, campaign, nothing_more};

/// The digest at the end of a state.
const DIGEST: usize = 32;

fn time(chance: &mut Chance) -> Instant {
    let seconds = [0.0, 0.02, 0.049, 0.05, 0.0501, 0.06, 0.099, 0.1, 1e9, -1.0, -0.001, 1e-9];
    Instant::from_f64(*chance.pick(&seconds)).unwrap_or(Instant::ZERO)
}

fn word(chance: &mut Chance) -> u64 {
    *chance.pick(&[0, 1, 63, 64, 65, 255, 1 << 31, 1 << 32, 1 << 63, u64::MAX, f64::NAN.to_bits(), 1e308f64.to_bits()])
}

/// Another timeline whose bytes are nearly those of this one.
fn change_timeline(timeline: &mut Timeline, chance: &mut Chance) {
    let good = postcard::to_stdvec(timeline).unwrap();
    for _ in 0..40 {
        let mut bytes = good.clone();
        let place = chance.below(bytes.len());
        match chance.below(3) {
            0 => bytes[place] = chance.bits() as u8,
            1 => bytes[place] ^= 1 << chance.below(8),
            _ => chance.damage(&mut bytes),
        }
        if let Ok(other) = postcard::from_bytes(&bytes) {
            *timeline = other;
            return;
        }
    }
}

/// Makes a list longer or shorter, but not so that what comes of several lists is a thousand times as long.
fn resize<T: Clone>(list: &mut Vec<T>, chance: &mut Chance) {
    match (list.first().cloned(), chance.below(3)) {
        (Some(first), 0) => list.extend(std::iter::repeat_n(first, 1 + chance.below(100))),
        (_, 1) => list.clear(),
        _ => drop(list.pop()),
    }
}

fn change(state: &mut Snapshot, chance: &mut Chance) {
    let fmu = chance.below(state.states.len().max(1));
    match chance.below(16) {
        0 | 1 => state.time = time(chance),
        2 => state.states.get_mut(fmu).into_iter().for_each(|bytes| chance.damage(bytes)),
        3 => {
            state.states.get_mut(fmu).into_iter().for_each(|bytes| bytes.resize([0, 1, 1_000_000][chance.below(3)], 7))
        }
        4..=8 if !state.timelines.is_empty() => {
            let place = chance.below(state.timelines.len());
            change_timeline(&mut state.timelines[place], chance);
        }
        9 => {
            for values in state.connections.iter_mut().flatten() {
                let place = chance.below(values.len().max(1));
                values.get_mut(place).into_iter().for_each(|value| *value = word(chance));
            }
        }
        10 => state.connections.iter_mut().flatten().for_each(|values| resize(values, chance)),
        11 => state.versions.iter_mut().for_each(|versions| resize(versions, chance)),
        12 => {
            for versions in state.versions.iter_mut().flatten() {
                resize(versions, chance);
                for ((seen, made), values) in versions {
                    (*seen, *made) = (time(chance), time(chance));
                    resize(values, chance);
                }
            }
        }
        13 => match chance.below(4) {
            0 => resize(&mut state.sizes, chance),
            1 => resize(&mut state.timelines, chance),
            2 => resize(&mut state.states, chance),
            _ => resize(&mut state.connections, chance),
        },
        14 => state.sizes.get_mut(fmu).into_iter().for_each(|sizes| sizes.push(word(chance))),
        _ => {
            resize(&mut state.columns, chance);
            state.columns.push((
                ["", "a.out_f64", "\0", "x"][chance.below(4)].to_owned(),
                (0..1 + chance.below(3)).map(|_| word(chance)).collect(),
            ));
        }
    }
}

#[test]
fn states_are_taken_up_or_refused() {
    let runs = Runs::new();
    let good = runs.file("virtual", "state");
    campaign(&Kind {
        test: "states_are_taken_up_or_refused",
        usually: 120,
        culprit: "s.state",
        lay: &|chance, folder| {
            let bytes = match chance.below(6) {
                0 => {
                    let mut bytes = good.clone();
                    chance.damage(&mut bytes);
                    bytes
                }
                1 => {
                    // What is no longer what was written, but says that it is.
                    let mut bytes = good[..good.len() - DIGEST].to_vec();
                    for _ in 0..=chance.below(3) {
                        let place = 48 + chance.below(bytes.len() - 48);
                        bytes[place] = chance.bits() as u8;
                    }
                    let digest = Sha256::digest(&bytes);
                    bytes.extend(digest);
                    bytes
                }
                _ => {
                    let mut state = Snapshot::from_bytes(&good).unwrap();
                    for _ in 0..=chance.below(2) {
                        change(&mut state, chance);
                    }
                    state.to_bytes().unwrap()
                }
            };
            fs::write(folder.join("s.state"), bytes).unwrap();
            fs::write(folder.join("rig.toml"), rig("virtual")).unwrap();
            words("run rig.toml --out out --quiet --restore-state s.state --stop-time 0.1")
        },
        look: &nothing_more,
    });
}
