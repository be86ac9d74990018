//! A store of versions against a list that forgets nothing, alone and with real threads; and against exchanges that are
//! known to be wrong.

use super::*;
use crate::exchange::wrong::Wrong;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use vecud_base::time::Nanos;

fn ms(time: i64) -> Instant {
    Instant::from_nanos(Nanos(time * 1_000_000))
}

fn stamp(visible: i64, activation: i64) -> Stamp {
    Stamp { visible: ms(visible), activation: ms(activation) }
}

fn every(millis: u64) -> (Instant, Fraction) {
    (Instant::ZERO, Fraction::new(millis, 1000).unwrap())
}

fn lane(positions: usize, releases: &[u64]) -> LaneShape {
    LaneShape { positions, releases: releases.iter().map(|millis| every(*millis)).collect() }
}

/// Publishes one word.
fn put(versions: &Versions, lane: usize, stamp: Stamp, word: u64) {
    versions.write_with(lane, stamp, |words| words.set(0, word));
}

/// What is visible at a time, for a reader of its own.
fn at(versions: &Versions, time: i64) -> (Read, Option<u64>) {
    let mut got = None;
    let read = versions.read_with(ms(time), &mut versions.reader(0), |words| got = Some(words.get(0)));
    (read, got)
}

#[test]
fn a_version_is_seen_from_its_instant_on_and_not_before_however_new_it_is() {
    let versions = Versions::new(1, &[lane(4, &[])], 2);
    assert_eq!(at(&versions, 100), (Read::Nothing, None));
    put(&versions, 0, stamp(10, 0), 7);
    assert_eq!(at(&versions, 9), (Read::Nothing, None));
    assert_eq!(at(&versions, 10), (Read::New, Some(7)));
    put(&versions, 0, stamp(20, 10), 8);
    assert_eq!((at(&versions, 19).1, at(&versions, 20).1), (Some(7), Some(8)));
}

#[test]
fn a_reader_is_not_given_twice_what_it_has() {
    let versions = Versions::new(1, &[lane(4, &[])], 2);
    put(&versions, 0, stamp(10, 0), 7);
    let mut reader = versions.reader(0);
    assert_eq!(versions.read_with(ms(10), &mut reader, |_| ()), Read::New);
    assert_eq!(versions.read_with(ms(11), &mut reader, |_| panic!("it has that")), Read::Same);
}

#[test]
fn of_several_activations_that_become_visible_together_the_last_counts_and_older_ones_stay() {
    let versions = Versions::new(1, &[lane(2, &[])], 2);
    put(&versions, 0, stamp(10, 1), 1);
    for tick in 11..=19 {
        put(&versions, 0, stamp(20, tick), tick as u64);
    }
    assert_eq!((at(&versions, 10).1, at(&versions, 20).1), (Some(1), Some(19)));
}

#[test]
fn of_several_producers_the_one_that_became_visible_last_counts() {
    let versions = Versions::new(1, &[lane(8, &[]), lane(8, &[])], 2);
    put(&versions, 0, stamp(100, 0), 1);
    put(&versions, 1, stamp(90, 80), 2);
    assert_eq!((at(&versions, 99).1, at(&versions, 100).1), (Some(2), Some(1)));
    put(&versions, 1, stamp(100, 90), 3);
    assert_eq!(at(&versions, 100).1, Some(3), "of those at one instant the later activation");
    put(&versions, 0, stamp(110, 100), 4);
    put(&versions, 1, stamp(110, 100), 5);
    assert_eq!(at(&versions, 110).1, Some(5), "and of those the less urgent task, which virtual time runs last");
}

#[test]
fn a_change_of_the_clock_does_not_let_an_older_activation_win() {
    let versions = Versions::new(1, &[lane(4, &[])], 2);
    put(&versions, 0, stamp(20, 10), 1);
    put(&versions, 0, stamp(14, 13), 2);
    assert_eq!((at(&versions, 14).1, at(&versions, 20).1), (Some(2), Some(2)));
}

#[test]
fn what_was_overwritten_is_told_and_the_oldest_stands_for_it() {
    let versions = Versions::new(1, &[lane(3, &[])], 2);
    (1..=3).for_each(|k| put(&versions, 0, stamp(10 * k, 10 * k - 10), k as u64));
    assert_eq!(at(&versions, 10), (Read::New, Some(1)));
    put(&versions, 0, stamp(40, 30), 4);
    assert_eq!(at(&versions, 10), (Read::Lost, Some(2)));
    assert_eq!(at(&versions, 5), (Read::Lost, Some(2)), "nobody knows any more that there was none");
}

#[test]
fn what_was_finished_too_late_is_told_once_by_the_look_that_lacked_it() {
    let versions = Versions::new(1, &[lane(8, &[])], 2);
    let mut reader = versions.reader(0);
    let mut look = |time| versions.read_with(ms(time), &mut reader, |_| ());
    assert_eq!(look(10), Read::Nothing);
    put(&versions, 0, stamp(10, 0), 1);
    put(&versions, 0, stamp(20, 10), 2);
    assert_eq!(versions.missed(&reader), Some(Missed { visible: ms(10), lane: 0 }));
    let mut look = |time| versions.read_with(ms(time), &mut reader, |_| ());
    assert_eq!(look(20), Read::New);
    assert_eq!(versions.missed(&reader), None);
    put(&versions, 0, stamp(30, 20), 3);
    assert_eq!(versions.missed(&reader), None, "not visible at 20");
}

#[test]
fn what_was_finished_too_late_is_told_even_if_the_reader_looks_when_it_is_long_gone() {
    for (visible, told) in [(10, true), (11, false)] {
        let versions = Versions::new(1, &[lane(3, &[])], 1);
        let mut reader = versions.reader(0);
        assert_eq!(versions.read_with(ms(10), &mut reader, |_| ()), Read::Nothing);
        (0..50).for_each(|k| put(&versions, 0, stamp(visible + k, k), k as u64));
        assert_eq!(versions.missed(&reader), told.then_some(Missed { visible: ms(10), lane: 0 }));
    }
}

#[test]
fn with_constant_grids_a_version_stays_only_if_some_release_selects_it() {
    // Every millisecond a version, every 10 ms a look, up to 30 ms late: 4 positions do.
    let versions = Versions::new(1, &[lane(4, &[10])], 2);
    for k in 0..1000 {
        put(&versions, 0, stamp(k + 1, k), k as u64);
        let late = k - k % 10;
        for release in [late, late - 10, late - 20].into_iter().filter(|release| *release > 0) {
            assert_eq!(at(&versions, release), (Read::New, Some(release as u64 - 1)), "at {release} when it was {k}");
        }
    }
}

#[test]
fn what_is_kept_comes_back() {
    let versions = Versions::new(2, &[lane(3, &[]), lane(4, &[10])], 2);
    for k in 0..20 {
        versions.write_with(k % 2, stamp(k as i64 + 1, k as i64), |words| {
            (0..2).for_each(|i| words.set(i, (k + i) as u64))
        });
    }
    let kept = versions.kept();
    let again = Versions::new(2, &[lane(3, &[]), lane(4, &[10])], 2);
    again.put_back(&kept);
    assert_eq!(again.kept(), kept);
    assert_eq!(kept[0].len(), 3);
    for time in 15..25 {
        assert_eq!(at(&versions, time), at(&again, time), "at {time} ms");
    }
}

/// What a reader at `time` has to get, if nothing is ever forgotten.
fn model(all: &[Vec<(Stamp, u64)>], time: i64) -> Option<u64> {
    let newest = |lane: &Vec<(Stamp, u64)>| lane.iter().rev().find(|(stamp, _)| stamp.visible <= ms(time)).copied();
    let candidates = all.iter().filter_map(newest);
    candidates.max_by_key(|(stamp, _)| *stamp).map(|(_, word)| word)
}

proptest! {
    #[test]
    fn it_gives_what_a_list_of_everything_would_give_or_says_that_it_is_lost(
        lanes in 1usize..4,
        positions in 1usize..6,
        steps in prop::collection::vec((0usize..3, 1i64..8, 0i64..30, 0i64..40), 1..80),
    ) {
        let versions = Versions::new(1, &vec![lane(positions, &[]); lanes], 2);
        let mut all = vec![Vec::new(); lanes];
        let mut now = 0;
        for (word, (lane, step, delay, back)) in steps.into_iter().enumerate() {
            let (lane, word) = (lane % lanes, word as u64);
            now += step;
            put(&versions, lane, stamp(now + delay, now), word);
            all[lane].push((stamp(now + delay, now), word));
            for time in [now - back, now, now + delay / 2, now + delay] {
                let (read, got) = at(&versions, time);
                if read != Read::Lost {
                    prop_assert_eq!(got, model(&all, time), "at {}", time);
                }
            }
        }
    }

    /// Within the time that the positions are made for nothing that a release wants is lost.
    #[test]
    fn periodic_consumers_get_every_version_that_they_are_to_get(
        producer in 1i64..20, consumers in prop::collection::vec(1u64..20, 1..4), late in 0i64..60,
    ) {
        let count = |every: i64| (late as u64).div_ceil(every as u64) as usize + 2;
        let positions = consumers.iter().map(|every| count(*every as i64)).sum::<usize>().min(count(producer));
        let versions = Versions::new(1, &[lane(positions, &consumers)], 2);
        let mut all = vec![Vec::new()];
        for k in 0..60 {
            let now = k * producer;
            for time in (now - late).max(0)..=now {
                if consumers.iter().any(|every| time % *every as i64 == 0) {
                    let (read, got) = at(&versions, time);
                    prop_assert_ne!(read, Read::Lost, "at {} when it was {}", time, now);
                    prop_assert_eq!(got, model(&all, time), "at {} when it was {}", time, now);
                }
            }
            put(&versions, 0, stamp(now + producer, now), k as u64);
            all[0].push((stamp(now + producer, now), k as u64));
        }
    }
}

const PERIOD: i64 = 10;
const CONSUMERS: [i64; 2] = [7, 25];

/// Whether those who look are on time, or late by some and different times.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Punctuality {
    OnTime,
    Late,
}

/// A producer and consumers on threads of their own until `end`: how often a consumer got what it was to get, how often another
/// version and it was told, and how often and nobody knew.
fn in_threads(wrong: Option<Wrong>, by_release: bool, end: i64, punctuality: Punctuality) -> [usize; 3] {
    let is_late = punctuality == Punctuality::Late;
    let grids: Vec<u64> = CONSUMERS.iter().map(|every| *every as u64).filter(|_| by_release).collect();
    let mut versions = Versions::new(8, &[lane(64, &grids)], 2);
    versions.wrong = wrong;
    let clock = AtomicI64::new(0);
    let done: Vec<AtomicI64> = (0..3).map(|_| AtomicI64::new(0)).collect();
    let over = AtomicBool::new(false);
    let random = |time: i64| (time as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // Waits for the clock, and then for some turns that look random.
    let wait = |time: i64| {
        while clock.load(SeqCst) < time && !over.load(SeqCst) {
            std::thread::yield_now();
        }
        (0..random(time) >> 58).for_each(|_| std::hint::spin_loop());
    };
    let finished = &done[0];
    let consume = |number: usize, done: &AtomicI64| {
        let every = CONSUMERS[number];
        let (mut reader, mut counts, mut suspect, mut untold) = (versions.reader(number), [0; 3], false, 0);
        let mut last = None;
        for time in (0..end).step_by(every as usize) {
            // Every other one starts late, by up to three periods of the producer.
            wait(
                time + if !is_late || random(time) & 1 << 40 == 0 {
                    0
                } else {
                    (random(time) >> 41) as i64 % (3 * PERIOD)
                },
            );
            let read = versions.read_with(ms(time), &mut reader, |words| {
                last = Some((words.get(0), (1..words.len()).all(|i| words.get(i) == words.get(0))));
            });
            let told = versions.missed_before(&reader).is_some();
            if time > 0 {
                assert!(wrong.is_some() || !told || suspect, "it was told of a version that it had");
                match (suspect, told) {
                    // What lacks at one look is told when it is there, so it lacks at the next look as well until then.
                    (false, _) => {
                        counts[0] += 1;
                        counts[2] += std::mem::take(&mut untold);
                    }
                    (true, false) => untold += 1,
                    (true, true) => counts[1] += 1 + std::mem::take(&mut untold),
                }
            }
            assert!(last.is_none_or(|(_, whole)| whole), "a mixture");
            let wanted = (time >= PERIOD).then(|| (time - PERIOD) / PERIOD * PERIOD);
            suspect = read != Read::Lost && last.map(|(word, _)| word as i64) != wanted;
            done.store(time, SeqCst);
        }
        done.store(i64::MAX, SeqCst);
        while finished.load(SeqCst) != i64::MAX {
            std::thread::yield_now();
        }
        // The last look was counted by no other one.
        counts[0] += usize::from(!suspect);
        counts[if versions.missed(&reader).is_some() { 1 } else { 2 }] += untold + usize::from(suspect);
        counts
    };
    let (versions, done) = (&versions, &done);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for time in (0..end).step_by(PERIOD as usize) {
                wait(time);
                versions.write_with(0, stamp(time + PERIOD, time), |words| {
                    (0..words.len()).for_each(|i| words.set(i, time as u64));
                });
                done[0].store(time, SeqCst);
            }
            done[0].store(i64::MAX, SeqCst);
        });
        let consume = &consume;
        let consumers = [0, 1].map(|i| scope.spawn(move || consume(i, &done[i + 1])));
        // Nobody is left behind by more than this, but by so much everybody may be who is late.
        const BEHIND: i64 = 60;
        let steps = [PERIOD, CONSUMERS[0], CONSUMERS[1]];
        while clock.load(SeqCst) < end {
            let now = clock.load(SeqCst);
            let due = |step: i64| if is_late { now - BEHIND } else { now / step * step };
            if done.iter().zip(steps).all(|(done, step)| done.load(SeqCst) >= due(step)) {
                clock.fetch_add(1, SeqCst);
            }
            std::thread::yield_now();
        }
        let counts = consumers.map(|consumer| consumer.join().unwrap());
        over.store(true, SeqCst);
        std::array::from_fn(|i| counts[0][i] + counts[1][i])
    })
}

/// How often consumers look until `end`.
fn looks(end: i64) -> usize {
    CONSUMERS.iter().map(|every| (end as usize).div_ceil(*every as usize)).sum()
}

#[test]
fn a_consumer_that_is_on_time_gets_its_version() {
    let end = 300;
    for by_release in [false, true] {
        assert_eq!(in_threads(None, by_release, end, Punctuality::OnTime), [looks(end), 0, 0]);
    }
}

#[test]
fn whoever_is_late_a_consumer_gets_its_version_or_it_is_told_that_it_has_not() {
    let end = if cfg!(miri) { 300 } else { 20_000 };
    for by_release in [false, true] {
        let [right, told, silent] = in_threads(None, by_release, end, Punctuality::Late);
        println!("by_release {by_release}: {right} right, {told} told");
        assert_eq!((right + told, silent), (looks(end), 0));
    }
}

#[test]
fn exchanges_that_are_wrong_do_not_pass_that() {
    for wrong in [Wrong::Latest, Wrong::DoubleBuffer] {
        let [right, told, silent] =
            in_threads(Some(wrong), false, if cfg!(miri) { 300 } else { 20_000 }, Punctuality::Late);
        println!("{wrong:?}: {right} right, {told} told, {silent} wrong");
        assert!(silent > right / 20, "{wrong:?} gave {silent} wrong versions");
    }
}
