use super::*;
use crate::QUEUE;
use crate::Release;
use proptest::prelude::*;
use vecud_base::time::{Fraction, Instant, Nanos};

fn at(seconds: f64) -> Instant {
    Instant::from_f64(seconds).unwrap()
}

fn periodic(interval: &str, shift: &str, stop: f64) -> Timeline {
    let release =
        Release::Periodic { shift: Fraction::parse(shift).unwrap(), interval: Fraction::parse(interval).unwrap() };
    Timeline::new(&release, Instant::ZERO, Some(at(stop)))
}

fn ticked() -> Timeline {
    Timeline::new(&Release::Never, Instant::ZERO, Some(at(1000.0)))
}

fn dispatched(seconds: f64) -> DispatchStamp {
    DispatchStamp { wall: at(seconds).nanos(), time: at(seconds), root: None }
}

#[test]
fn a_grid_starts_at_its_shift_and_ends_before_the_stop() {
    let mut timeline = periodic("0.01", "0.003", 0.033);
    let times: Vec<f64> = std::iter::from_fn(|| timeline.take()).map(|d| d.time.seconds()).collect();
    assert_eq!(times, [0.003, 0.013, 0.023]);
}

#[test]
fn a_late_activation_keeps_its_time_and_the_grid_skips() {
    let mut timeline = periodic("0.01", "0", 1.0);
    assert_eq!(timeline.take().unwrap().time, at(0.0));
    let skipped: Vec<Skipped> = std::iter::from_fn(|| timeline.skip(at(0.025))).collect();
    assert_eq!(skipped, [Skipped { time: at(0.01) }, Skipped { time: at(0.02) }]);
    assert_eq!(timeline.next(), Some(at(0.03)));
}

fn times(timeline: &mut Timeline) -> Vec<f64> {
    std::iter::from_fn(|| timeline.take()).map(|due| due.time.seconds()).collect()
}

#[test]
fn sixteen_releases_are_kept_at_their_times_and_the_rest_is_left_out() {
    let mut timeline = periodic("0.01", "0", 0.3);
    timeline.take();
    let kept: Vec<LateRelease> = std::iter::from_fn(|| timeline.keep(at(0.185))).collect();
    assert!(kept[..16].iter().copied().eq((1..=16).map(|k| LateRelease::Waits(at(f64::from(k) / 100.0)))));
    assert_eq!(kept[16..], [0.17, 0.18].map(|time| LateRelease::Not(Skipped { time: at(time) })));
    assert_eq!(timeline.take().unwrap().time, at(0.01));
    assert_eq!(timeline.keep(at(0.19)), Some(LateRelease::Waits(at(0.19))), "there is room for one again");
    assert_eq!(timeline.keep(at(0.19)), None);
    assert_eq!(timeline.keep(at(0.2)), Some(LateRelease::Not(Skipped { time: at(0.2) })));
    let rest = times(&mut timeline);
    assert_eq!(rest.len(), 16 + 9);
    assert_eq!((rest[14], rest[15], rest[16], rest[24]), (0.16, 0.19, 0.21, 0.29));
    assert_eq!(timeline.keep(at(9.0)), None, "nothing after the stop");
}

/// The one that makes up for them is neither beyond now nor at the stop, and there is one as long as something is due.
#[test]
fn of_what_was_missed_the_last_stays_where_it_is_made_up_at_once() {
    let mut timeline = periodic("0.001", "0", 0.01);
    timeline.take();
    let skipped: Vec<Skipped> = std::iter::from_fn(|| timeline.skip_to_last(at(0.0045))).collect();
    assert_eq!(skipped, [0.001, 0.002, 0.003].map(|time| Skipped { time: at(time) }));
    assert_eq!(timeline.take().unwrap().time, at(0.004));
    assert_eq!(timeline.skip_to_last(at(0.0049)), None, "nothing is due");
    assert_eq!(std::iter::from_fn(|| timeline.skip_to_last(at(0.02))).count(), 4);
    assert_eq!(times(&mut timeline), [0.009], "the last one before the stop");
}

#[test]
fn a_kept_release_is_thrown_away_like_a_tick() {
    let mut timeline = periodic("0.01", "0", 1.0);
    timeline.take();
    assert_eq!(std::iter::from_fn(|| timeline.keep(at(0.035))).count(), 3);
    assert_eq!((timeline.discard(at(0.035)), timeline.next()), (3, Some(at(0.04))));
}

#[test]
fn times_of_lists_and_stimuli_that_have_come_are_thrown_away_and_later_ones_are_not() {
    let times = [0.0, 0.1, 0.2, 0.3, 0.9].map(at);
    let list = Timeline::new(&Release::At(times.to_vec()), at(0.0), Some(at(0.5)));
    let mut fed = Timeline::new(&Release::Stimulus { stimulus: 0, tick: 0 }, at(0.0), Some(at(0.5)));
    times.into_iter().for_each(|time| fed.feed(time));
    for mut timeline in [list, fed] {
        timeline.take();
        assert_eq!((timeline.discard(at(0.2)), timeline.next()), (2, Some(at(0.3))));
        assert_eq!((timeline.discard(at(1.0)), timeline.next()), (1, None), "none after the stop");
    }
}

#[test]
fn a_release_is_overdue_at_its_time_and_only_before_the_stop() {
    let mut timeline = periodic("0.01", "0", 0.02);
    timeline.take();
    assert_eq!((timeline.overdue(at(0.009)), timeline.overdue(at(0.01))), (None, Some(at(0.01))));
    timeline.take();
    assert_eq!(timeline.overdue(at(0.05)), None);
    let mut ticks = ticked();
    ticks.tick(at(1.0), dispatched(1.0));
    assert_eq!(ticks.overdue(at(2.0)), None, "ticks are queued");
}

#[test]
fn a_changing_clock_ticks_when_its_last_activation_said() {
    let start = at(1.0);
    let mut timeline = Timeline::new(&Release::Changing, start, Some(at(2.0)));
    assert_eq!(timeline.next(), None);
    timeline.learn(Learned::First(at(1.25)), start, None);
    let due = timeline.take().unwrap();
    assert_eq!((due.time, due.dispatched, timeline.next()), (at(1.25), None, None));
    timeline.follow(Fraction::parse("1/3").unwrap(), due.time);
    assert_eq!(timeline.overdue(at(1.6)), Some(at(1.25).after(Fraction::parse("1/3").unwrap())));
    let due = timeline.take().unwrap();
    timeline.follow(Fraction::ZERO, due.time);
    assert_eq!(timeline.next(), None, "once per instant");
    timeline.follow(Fraction::parse("1").unwrap(), due.time);
    assert_eq!(timeline.next(), None, "after the stop");
}

#[test]
fn a_grid_that_is_asked_for_starts_when_it_is_learned() {
    let mut timeline = Timeline::new(&Release::Asked, at(1.0), Some(at(1.5)));
    assert_eq!((timeline.next(), timeline.interval()), (None, None));
    let [shift, interval] = ["0.1", "0.2"].map(|text| Fraction::parse(text).unwrap());
    timeline.learn(Learned::Grid { shift, interval }, at(1.0), None);
    assert_eq!(timeline.interval(), Some(interval));
    assert_eq!(times(&mut timeline), [1.1, 1.3]);
}

#[test]
fn a_retuned_timeline_keeps_what_was_released_before() {
    let mut timeline = periodic("0.01", "0", 0.1);
    timeline.take();
    assert_eq!(
        (timeline.keep(at(0.025)), timeline.keep(at(0.025))),
        (Some(LateRelease::Waits(at(0.01))), Some(LateRelease::Waits(at(0.02))))
    );
    timeline.retune(Fraction::parse("0.03").unwrap(), at(0.022));
    assert_eq!(times(&mut timeline), [0.01, 0.02, 0.05, 0.08]);
}

#[test]
fn equal_ticks_are_coalesced_pending_or_activated() {
    let mut timeline = ticked();
    assert_eq!(timeline.tick(at(1.0), dispatched(0.0)), Tick::Queued);
    assert_eq!(timeline.tick(at(1.0), dispatched(0.0)), Tick::Coalesced);
    timeline.take();
    assert_eq!(timeline.tick(at(1.0), dispatched(0.0)), Tick::Coalesced);
    // Also when others have been activated since.
    timeline.tick(at(2.0), dispatched(0.0));
    timeline.take();
    assert_eq!(timeline.tick(at(1.0), dispatched(0.0)), Tick::Coalesced);
}

#[test]
fn pending_ticks_are_taken_in_the_order_of_their_times() {
    let mut timeline = ticked();
    for time in [3.0, 1.0, 2.0] {
        timeline.tick(at(time), dispatched(0.0));
    }
    let times: Vec<f64> = std::iter::from_fn(|| timeline.take()).map(|d| d.time.seconds()).collect();
    assert_eq!(times, [1.0, 2.0, 3.0]);
}

#[test]
fn a_tick_that_is_too_late_gets_the_time_of_its_dispatch() {
    let mut timeline = ticked();
    timeline.tick(at(2.0), dispatched(2.0));
    timeline.take();
    timeline.tick(at(1.0), dispatched(2.5));
    timeline.tick(at(1.5), dispatched(2.5));
    let due = timeline.take().unwrap();
    assert_eq!((due.time, due.retimed, due.dispatched), (at(2.5), true, Some(at(2.5).nanos())));
    assert!(timeline.take().unwrap().time > at(2.5), "strictly increasing even at one instant");
}

#[test]
fn a_tick_that_is_too_late_does_not_make_others_late() {
    let mut timeline = ticked();
    timeline.tick(at(2.0), dispatched(2.0));
    timeline.take();
    for (time, dispatch) in [(3.0, 3.0), (4.0, 4.0), (1.0, 5.0)] {
        timeline.tick(at(time), dispatched(dispatch));
    }
    let times: Vec<_> = std::iter::from_fn(|| timeline.take()).map(|due| (due.time.seconds(), due.retimed)).collect();
    assert_eq!(times, [(3.0, false), (4.0, false), (5.0, true)]);
}

#[test]
fn a_tick_that_cannot_be_activated_before_the_stop_is_said_to_be_so() {
    let mut timeline = ticked();
    assert_eq!(timeline.tick(at(1000.0), dispatched(1000.0)), Tick::AfterStop);
    timeline.tick(at(2.0), dispatched(2.0));
    timeline.take();
    assert_eq!(timeline.tick(at(1.0), dispatched(1001.0)), Tick::AfterStop, "it would run after the stop");
    assert_eq!((timeline.next(), timeline.waiting()), (None, 0));
}

#[test]
fn the_seventeenth_tick_is_refused() {
    let mut timeline = ticked();
    for k in 0..QUEUE {
        assert_eq!(timeline.tick(at(k as f64), dispatched(0.0)), Tick::Queued);
    }
    assert_eq!(timeline.tick(at(99.0), dispatched(0.0)), Tick::Full);
}

#[test]
fn arming_again_replaces_the_deadline() {
    let mut timeline = Timeline::new(&Release::Countdown, Instant::ZERO, Some(at(10.0)));
    timeline.arm(at(3.0), at(0.0), dispatched(0.0));
    timeline.arm(at(2.0), at(0.0), dispatched(0.0));
    assert_eq!(timeline.next(), Some(at(2.0)));
    assert_eq!(timeline.take().unwrap().time, at(2.0));
    assert_eq!(timeline.next(), None);
    assert_eq!(timeline.arm(at(2.0), at(0.0), dispatched(0.0)).tick, Tick::Coalesced);
}

#[test]
fn a_deadline_that_has_passed_is_not_forgotten_by_arming_anew() {
    let mut timeline = Timeline::new(&Release::Countdown, Instant::ZERO, Some(at(10.0)));
    timeline.arm(at(2.0), at(1.0), dispatched(1.0));
    timeline.arm(at(5.0), at(3.0), dispatched(3.0));
    let times: Vec<f64> = std::iter::from_fn(|| timeline.take()).map(|due| due.time.seconds()).collect();
    assert_eq!(times, [2.0, 5.0]);
    timeline.arm(at(6.0), at(5.5), dispatched(5.5));
    timeline.arm(at(7.0), at(6.0), dispatched(6.0));
    let times: Vec<f64> = std::iter::from_fn(|| timeline.take()).map(|due| due.time.seconds()).collect();
    assert_eq!(times, [6.0, 7.0], "armed anew at the very instant of its deadline, which was reached");
}

#[test]
fn a_deadline_at_once_is_reached_when_the_clock_is_armed_again_in_the_same_instant() {
    let mut timeline = Timeline::new(&Release::Countdown, Instant::ZERO, Some(at(10.0)));
    timeline.arm(at(2.0), at(2.0), dispatched(2.0));
    assert_eq!(timeline.arm(at(2.0), at(2.0), dispatched(2.0)).tick, Tick::Coalesced);
    timeline.arm(at(3.0), at(2.0), dispatched(2.0));
    assert_eq!(times(&mut timeline), [2.0, 3.0]);
}

#[test]
fn a_deadline_that_was_reached_and_has_no_room_is_told() {
    let mut timeline = Timeline::new(&Release::Countdown, Instant::ZERO, None);
    for k in 0..QUEUE {
        assert_eq!(timeline.tick(at(k as f64), dispatched(0.0)), Tick::Queued);
    }
    timeline.arm(at(20.0), at(19.0), dispatched(19.0));
    let armed = timeline.arm(at(21.0), at(20.0), dispatched(20.0));
    assert_eq!(armed, Armed { tick: Tick::Queued, lost: Some(at(20.0)) });
    timeline.arm(at(22.0), at(21.0), dispatched(21.0));
    let armed = timeline.arm(at(3.0), at(22.0), dispatched(22.0));
    assert_eq!(armed, Armed { tick: Tick::Coalesced, lost: Some(at(22.0)) }, "both are told");
}

proptest! {
    /// Whoever arms when: what was reached is activated, coalesced with one at that time, or told as lost; what was not is
    /// replaced, or still armed.
    #[test]
    fn every_deadline_that_is_reached_is_accounted_for(
        steps in proptest::collection::vec((0u64..3, 0u64..4, 0usize..3), 1..200),
    ) {
        let millis = |ms: u64| at(ms as f64 / 1000.0);
        let mut timeline = Timeline::new(&Release::Countdown, Instant::ZERO, None);
        let (mut now, mut armed, mut reached): (u64, Option<u64>, Vec<Instant>) = (0, None, Vec::new());
        let mut accounted: Vec<Instant> = Vec::new();
        for (passes, interval, takes) in steps {
            now += passes;
            reached.extend(armed.take_if(|time| *time <= now).map(millis));
            let outcome = timeline.arm(millis(now + interval), millis(now), dispatched(0.0));
            accounted.extend(outcome.lost);
            match outcome.tick {
                Tick::Coalesced => armed = None,
                _ => armed = Some(now + interval),
            }
            for _ in 0..takes {
                if timeline.next().is_some_and(|next| next <= millis(now)) {
                    let time = timeline.take().unwrap().time;
                    accounted.push(time);
                    if armed.map(millis) == Some(time) {
                        reached.push(time);
                        armed = None;
                    }
                }
            }
        }
        accounted.extend(timeline.waiting.iter().map(|waiting| waiting.time));
        reached.sort();
        accounted.sort();
        prop_assert_eq!(accounted, reached);
    }
}

#[test]
fn a_deadline_at_the_time_of_a_waiting_one_is_coalesced() {
    let mut timeline = Timeline::new(&Release::Countdown, Instant::ZERO, None);
    assert_eq!(timeline.arm(at(0.012), at(0.010), dispatched(0.010)).tick, Tick::Queued);
    assert_eq!(timeline.arm(at(0.014), at(0.013), dispatched(0.013)).tick, Tick::Queued, "the first one has ticked");
    // By an activation that is late: it began before the one that has armed the clock last.
    assert_eq!(timeline.arm(at(0.012), at(0.011), dispatched(0.013)).tick, Tick::Coalesced);
    assert_eq!(times(&mut timeline), [0.012]);
}

#[test]
fn what_lies_at_or_after_the_stop_never_comes() {
    let mut timeline = Timeline::new(&Release::Countdown, Instant::ZERO, Some(at(10.0)));
    timeline.arm(at(10.0), at(0.0), dispatched(0.0));
    assert_eq!(timeline.next(), None);
    let mut timeline = Timeline::new(&Release::At(vec![at(9.0), at(10.0)]), Instant::ZERO, Some(at(10.0)));
    assert!(timeline.take().is_some());
    assert!(timeline.take().is_none());
}

proptest! {
    /// What is foreseen is what is taken, whatever has happened to the clock before; and the step from one to the next is
    /// the same as looking anew.
    #[test]
    fn what_is_foreseen_comes(is_periodic in any::<bool>(), steps in proptest::collection::vec((0u8..8, 1u64..40), 1..80)) {
        let mut timeline = if is_periodic { periodic("0.01", "0.003", 1.0) } else { ticked() };
        let mut now = 0.0;
        for (what, amount) in steps {
            let time = at(now + amount as f64 / 1000.0);
            match what {
                0 => _ = timeline.tick(time, dispatched(now)),
                1 => timeline.retune(Fraction::new(amount, 2000).unwrap(), time),
                2 => _ = timeline.skip(time),
                3 => _ = timeline.keep(time),
                _ => {
                    let due = timeline.foresee();
                    let mut other = timeline.clone();
                    prop_assert_eq!(other.take(), due.or_else(|| timeline.clone().take()));
                    now = other.last.map_or(now, |last| last.seconds());
                    if due.is_some() {
                        prop_assert_eq!(timeline.advance(), other.foresee());
                        prop_assert_eq!(&timeline, &other);
                    }
                    timeline = other;
                }
            }
        }
    }

    /// A periodic clock that nobody disturbs is foreseen to its stop.
    #[test]
    fn an_undisturbed_clock_is_foreseen_to_its_stop(interval in 1u64..100) {
        let release = Release::Periodic { shift: Fraction::ZERO, interval: Fraction::new(interval, 1000).unwrap() };
        let mut timeline = Timeline::new(&release, at(0.0), Some(at(1.0)));
        let (mut next, mut number) = (timeline.foresee(), 0);
        while let Some(due) = next {
            prop_assert_eq!(timeline.next(), Some(due.time));
            next = timeline.advance();
            number += 1;
        }
        prop_assert_eq!(number, 1000u64.div_ceil(interval));
        prop_assert_eq!(timeline.take(), None);
    }

    /// S3, whatever the ticks and however late they come.
    #[test]
    fn activation_times_strictly_increase(ticks in proptest::collection::vec((0u64..50, 0u64..3), 1..100)) {
        let mut timeline = ticked();
        let mut last = None;
        for (now, (time, take)) in ticks.into_iter().enumerate() {
            timeline.tick(at(time as f64), dispatched(now as f64));
            for _ in 0..take {
                if let Some(due) = timeline.take() {
                    prop_assert!(last.is_none_or(|last| due.time > last));
                    last = Some(due.time);
                }
            }
        }
    }

    /// Every tick is accounted for: activated, coalesced, refused or still waiting.
    #[test]
    fn no_tick_is_lost(ticks in proptest::collection::vec((0u64..40, any::<bool>()), 1..200)) {
        let mut timeline = ticked();
        let (mut activated, mut coalesced, mut full) = (0, 0, 0);
        for (k, (time, take)) in ticks.iter().enumerate() {
            match timeline.tick(at(*time as f64), dispatched(k as f64)) {
                Tick::Queued => (),
                Tick::Coalesced => coalesced += 1,
                Tick::Full => full += 1,
                Tick::AfterStop => prop_assert!(false, "the run is long enough"),
            }
            if *take && timeline.take().is_some() {
                activated += 1;
            }
        }
        prop_assert_eq!(ticks.len(), activated + coalesced + full + timeline.waiting());
    }
}

#[test]
fn a_release_beside_the_grid_comes_in_between_and_is_not_left_out() {
    let interval = Fraction::new(1, 100).unwrap();
    let release = Release::Periodic { shift: Fraction::ZERO, interval };
    let mut timeline = Timeline::new(&release, Instant::ZERO, None);
    assert_eq!(timeline.take().map(|due| (due.time, due.next)), Some((at(0.0), Some(at(0.01)))));
    timeline.beside(at(0.0043));
    // However late it is: the grid is not passed over while it waits.
    assert_eq!((timeline.skip_to_last(at(0.05)), timeline.overdue(at(0.05))), (None, Some(at(0.0043))));
    assert_eq!(timeline.foresee(), None, "it is not the grid alone");
    assert_eq!(timeline.take().map(|due| (due.time, due.next)), Some((at(0.0043), Some(at(0.01)))));
    assert_eq!(timeline.skip_to_last(at(0.035)).map(|skipped| skipped.time), Some(at(0.01)));
    assert_eq!(timeline.next(), Some(at(0.02)));
    // Neither at the time of a release, nor before the last one, nor after the next one.
    for time in [0.02, 0.01, 0.025, 0.0] {
        timeline.beside(at(time));
        assert_eq!(timeline.next(), Some(at(0.02)), "{time}");
    }
    timeline.beside(at(0.015));
    assert_eq!([timeline.take(), timeline.take()].map(|due| due.unwrap().time), [at(0.015), at(0.02)]);
}

proptest! {
    /// However a run ends: each release up to there was activated or left out, or is thrown away, whatever the policy.
    #[test]
    fn no_release_up_to_the_end_is_lost(
        interval in 1i64..5_000, activations in proptest::collection::vec((0i64..20_000, 0i64..40_000), 0..12),
        end in 0i64..300_000, stop in proptest::option::of(1i64..300_000), policy in 0..3,
    ) {
        let micros = |micros: i64| Instant::from_nanos(Nanos(micros * 1_000));
        let (stop_time, end_time) = (stop.map(micros), micros(end));
        let release = Release::Periodic { shift: Fraction::ZERO, interval: Fraction::new(interval as u64, 1_000_000).unwrap() };
        let mut timeline = Timeline::new(&release, Instant::ZERO, stop_time);
        let (mut activated, mut left_out, mut now) = (0, 0, 0);
        let find = |timeline: &mut Timeline, now: Instant| match policy {
            0 => std::iter::from_fn(|| timeline.skip(now)).count(),
            1 => std::iter::from_fn(|| timeline.skip_to_last(now)).count(),
            _ => std::iter::from_fn(|| timeline.keep(now)).filter(|kept| matches!(kept, LateRelease::Not(_))).count(),
        };
        for (late, execution) in activations {
            let Some(next) = timeline.next() else { break };
            now = now.max(next.nanos().0 / 1_000) + late;
            if now > end {
                break;
            }
            timeline.take();
            activated += 1;
            now = (now + execution).min(end);
            left_out += find(&mut timeline, micros(now));
        }
        let mut discarded = usize::from(timeline.leave_out(end_time).is_some());
        left_out += find(&mut timeline, end_time);
        discarded += std::iter::from_fn(|| timeline.leave_out(end_time)).count();
        discarded += timeline.discard(end_time) as usize;
        let up_to_end = end / interval + 1;
        let released = stop.map_or(up_to_end, |stop| up_to_end.min((stop + interval - 1) / interval));
        prop_assert_eq!(activated + left_out + discarded, released as usize);
        prop_assert_eq!(timeline.overdue(end_time), None);
    }
}
