use super::*;
use crate::stimulus::follow::model;
use crate::stimulus::{Follower, RowLookup};
use proptest::prelude::*;
use vecud_description::VariableType;
use vecud_plan::{FedClock, FedValue, FmuId, Interpolation, StepClock, TickTarget};

fn plan(values: usize, rows: usize, interpolation: Interpolation) -> StimulusPlan {
    let value = |value| FedValue {
        cell: 1 + value,
        column: format!("c{value}"),
        to: format!("ecu.u{value}"),
        variable_type: VariableType::Float64,
        items: Vec::new(),
        capacity: None,
        first: value,
    };
    StimulusPlan {
        grids: Vec::new(),
        file: "drive.csv".to_owned(),
        interpolation,
        cells: 2 + values,
        values: (0..values).map(value).collect(),
        ticks: vec![FedClock {
            cell: 1 + values,
            column: "clock".to_owned(),
            target: TickTarget { unit: UnitId(0), clock: None },
        }],
        left_out: 0,
        rows,
    }
}

fn memory(plan: &StimulusPlan) -> Vec<AtomicU64> {
    (0..Shape::of(plan).words()).map(|_| AtomicU64::new(0)).collect()
}

fn row(time: f64, value: f64, tick: bool) -> StimulusRow {
    StimulusRow { time, may_jump: false, values: vec![Some(value.to_bits())], ticks: vec![tick] }
}

fn at(seconds: f64) -> Instant {
    Instant::from_f64(seconds).unwrap()
}

const ALWAYS: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn push(feed: Feed, row: &StimulusRow) {
    feed.push(row, &row.values, ALWAYS.0, ALWAYS.1);
}

#[test]
fn a_row_that_somebody_may_want_is_not_given_up() {
    let plan = plan(1, 4, Interpolation::Hold);
    let memory = memory(&plan);
    let feed = Feed::new(&memory, Shape::of(&plan));
    feed.reset(0.0);
    for number in 0..4 {
        assert!(feed.has_room());
        push(feed, &row(f64::from(number), f64::from(number), false));
    }
    assert!(!feed.has_room(), "an activation at 0.5 wants the first");
    feed.set_floor(0.99);
    assert!(!feed.has_room());
    feed.set_floor(1.0);
    assert!(feed.has_room(), "from 1 on nobody wants the first");
    push(feed, &row(4.0, 4.0, false));
    let mut follower = Follower::new(feed, &plan);
    assert_eq!(
        (follower.look(1.5), follower.value(0, VariableType::Float64)),
        (RowLookup::Found, Some(1f64.to_bits()))
    );
    assert_eq!(follower.look(4.5), RowLookup::Starved, "what comes after 4 is not known");
    assert_eq!(follower.value(0, VariableType::Float64), Some(4f64.to_bits()), "the nearest that there is");
    feed.finish(false);
    assert_eq!(follower.look(1e9), RowLookup::Found);
    assert_eq!(follower.look(0.5), RowLookup::Starved, "that row is gone");
}

/// Who is to follow a line wants the row after an activation too, and takes one that is after it by rounding alone for its own.
#[test]
fn a_line_begins_at_an_activation_and_ends_at_the_next_row() {
    let plan = plan(1, 4, Interpolation::Linear);
    let memory = memory(&plan);
    let feed = Feed::new(&memory, Shape::of(&plan));
    feed.reset(0.0);
    let mut follower = Follower::new(feed, &plan).on_lines(Some(1e-9));
    push(feed, &row(1.0, 10.0, false));
    assert_eq!((follower.look(0.5), follower.next_row()), (RowLookup::Found, Some(1.0)));
    assert_eq!(follower.line(0, VariableType::Float64), None, "no row so far");
    assert_eq!(follower.look(1.0), RowLookup::Starved, "nobody knows where to it goes on from 1");
    push(feed, &row(2.0, 30.0, false));
    assert_eq!((follower.look(1.0), follower.next_row()), (RowLookup::Found, Some(2.0)));
    let line = follower.line(0, VariableType::Float64).unwrap();
    let at = |time: f64| f64::from_bits(line.word(time));
    assert_eq!([at(1.0), at(1.25), at(2.0), at(3.0)], [10.0, 15.0, 30.0, 30.0]);
    push(feed, &row(3.0, 30.0, false));
    follower.look(2.0 - 1e-10);
    assert_eq!(follower.value(0, VariableType::Float64), Some(30f64.to_bits()));
    assert!(follower.line(0, VariableType::Float64).unwrap().is_level());
    feed.finish(false);
    assert_eq!((follower.look(3.0), follower.next_row()), (RowLookup::Found, None));
    assert_eq!(follower.line(0, VariableType::Float64), None);
}

#[test]
fn what_cannot_be_read_is_told_to_those_who_want_it_only() {
    let plan = plan(1, 4, Interpolation::Hold);
    let memory = memory(&plan);
    let feed = Feed::new(&memory, Shape::of(&plan));
    feed.reset(0.0);
    push(feed, &row(1.0, 7.0, false));
    feed.finish(true);
    let mut follower = Follower::new(feed, &plan);
    assert_eq!((follower.look(0.5), follower.value(0, VariableType::Float64)), (RowLookup::Found, None));
    assert_eq!((follower.look(1.0), follower.look(1.1)), (RowLookup::Found, RowLookup::Broken));
}

#[test]
fn ticks_come_out_once_between_start_and_stop_and_hold_up_nobody_when_their_reader_has_left() {
    let plan = plan(1, 4, Interpolation::Hold);
    let memory = memory(&plan);
    let feed = Feed::new(&memory, Shape::of(&plan));
    feed.reset(10.0);
    for (time, tick) in [(-1.0, true), (0.0, true), (1.0, false), (2.0, true), (3.0, true)] {
        assert!(feed.has_room());
        feed.push(&row(time, 0.0, tick), &[Some(0)], 0.0, 3.0);
    }
    assert_eq!([feed.take_tick(0), feed.take_tick(0), feed.take_tick(0)], [Some(at(0.0)), Some(at(2.0)), None]);
    for time in 4..11 {
        assert!(feed.has_room());
        push(feed, &row(f64::from(time), 0.0, true));
    }
    assert!(!feed.has_room(), "seven ticks wait");
    feed.leave_ticks(0);
    assert!(feed.has_room());
}

/// Ticks of a clock between steps come ahead of the rows, and rows that nobody takes out do not hold them up.
#[test]
fn ticks_between_steps_are_known_apart_from_rows() {
    let mut plan = plan(1, 4, Interpolation::Hold);
    let target = TickTarget { unit: UnitId(0), clock: Some(StepClock { fmu: FmuId(0), clock: 0 }) };
    plan.ticks.push(FedClock { target, ..plan.ticks[0].clone() });
    let memory = memory(&plan);
    let feed = Feed::new(&memory, Shape::of(&plan));
    feed.reset(0.0);
    let row = |time: f64, ticks: [bool; 2]| StimulusRow { ticks: ticks.to_vec(), ..row(time, time, false) };
    (0..4).for_each(|number| push(feed, &row(f64::from(number), [false, true])));
    assert!(!feed.has_room() && feed.take_tick(1).is_none(), "rows bring the ticks of tasks alone");
    assert_eq!(feed.ticks_known(1), (FeedState::Reading, f64::NEG_INFINITY));
    for number in -1..20 {
        assert!(!feed.is_ahead(1, 18.5));
        feed.push_between_steps(1, &row(f64::from(number), [true, number % 6 == 5 || number < 0]), &[], 0.0, 18.0);
    }
    assert_eq!(feed.ticks_known(1), (FeedState::Reading, 19.0));
    assert!(feed.is_ahead(1, 18.5) && !feed.is_ahead(1, 19.0) && feed.has_room_for_tick(1));
    assert_eq!([feed.take_tick(1), feed.take_tick(1), feed.take_tick(1)], [5.0, 11.0, 17.0].map(|time| Some(at(time))));
    assert_eq!((feed.take_tick(1), feed.take_tick(0)), (None, None));
    feed.finish_between_steps(1, true);
    assert_eq!(feed.ticks_known(1), (FeedState::Broken, 19.0));
    feed.reset(0.0);
    feed.finish_between_steps(1, false);
    assert_eq!(feed.ticks_known(1), (FeedState::Ended, f64::INFINITY));
    assert_eq!(feed.state(), FeedState::Reading);
}

#[test]
fn the_first_that_starves_is_told() {
    let plan = plan(0, 4, Interpolation::Hold);
    let memory = memory(&plan);
    let feed = Feed::new(&memory, Shape::of(&plan));
    feed.reset(0.0);
    assert_eq!(feed.starved(), None);
    feed.starve(UnitId(3), at(0.5));
    feed.starve(UnitId(1), at(0.4));
    assert_eq!(feed.starved(), Some(Starved { count: 2, unit: UnitId(3), time: at(0.5) }));
}

/// A writer that goes round and round, and readers on other threads: each gets exactly the row of its time.
#[test]
fn readers_on_other_threads_get_the_rows_of_their_times() {
    let plan = plan(1, 16, Interpolation::Hold);
    let memory = memory(&plan);
    let feed = Feed::new(&memory, Shape::of(&plan));
    feed.reset(0.0);
    let count: u64 = if cfg!(miri) { 120 } else { 100_000 };
    let next = [AtomicU64::new(0), AtomicU64::new(0)];
    std::thread::scope(|scope| {
        for (reader, step) in [(0, 1), (1, 7)] {
            let (next, plan) = (&next, &plan);
            scope.spawn(move || {
                let mut follower = Follower::new(feed, plan);
                let mut time = 0;
                while time < count {
                    while feed.until() < time as f64 {
                        std::thread::yield_now();
                    }
                    assert_eq!(follower.look(time as f64), RowLookup::Found);
                    assert_eq!(follower.value(0, VariableType::Float64), Some((time as f64).to_bits()));
                    time += step;
                    next[reader].store(time, SeqCst);
                    let others = next.iter().map(|next| next.load(SeqCst)).min().unwrap();
                    // Whoever waits for a row does not want those before the last that there is.
                    feed.set_floor((others as f64).min(feed.until()));
                }
                next[reader].store(u64::MAX, SeqCst);
                feed.set_floor(next.iter().map(|next| next.load(SeqCst)).min().unwrap() as f64);
            });
        }
        for number in 0..count + 8 {
            while !feed.has_room() {
                let least = next.iter().map(|next| next.load(SeqCst)).min().unwrap();
                feed.set_floor((least as f64).min(feed.until()));
                std::thread::yield_now();
            }
            push(feed, &row(number as f64, number as f64, false));
        }
    });
}

fn files() -> impl Strategy<Value = Vec<StimulusRow>> {
    let cell = prop::option::weighted(0.6, -1000i32..1000);
    prop::collection::vec((1u32..400, cell.clone(), cell), 1..60).prop_map(|rows| {
        let mut millis = -200;
        let mut row = |(step, a, b): (u32, Option<i32>, Option<i32>)| {
            millis += step as i32;
            let word = |value: Option<i32>| value.map(|value| f64::from(value).to_bits());
            StimulusRow {
                time: f64::from(millis) / 1000.0,
                may_jump: false,
                values: vec![word(a), word(b)],
                ticks: vec![a.is_some()],
            }
        };
        rows.into_iter().map(&mut row).collect()
    })
}

proptest! {
    /// Random files, a small ring, activations that come at any times: each gets what the simple model says, whatever was
    /// read ahead.
    #[test]
    fn activations_get_what_the_file_says(
        rows in files(),
        steps in prop::collection::vec(0u32..900, 1..60),
        linear in any::<bool>(),
    ) {
        let interpolation = if linear { Interpolation::Linear } else { Interpolation::Hold };
        let plan = plan(2, 8, interpolation);
        let memory = memory(&plan);
        let feed = Feed::new(&memory, Shape::of(&plan));
        feed.reset(0.0);
        let mut follower = Follower::new(feed, &plan);
        let (mut read, mut carried) = (0, [None, None]);
        let (mut millis, mut ticks) = (0u32, Vec::new());
        for step in steps {
            millis += step;
            let time = f64::from(millis) / 1000.0;
            // As the runner does in virtual time.
            loop {
                while feed.has_room() && read < rows.len() {
                    rows[read].values.iter().zip(&mut carried).for_each(|(new, old)| *old = new.or(*old));
                    feed.push(&rows[read], &carried, 0.0, f64::INFINITY);
                    read += 1;
                }
                if read == rows.len() {
                    feed.finish(false);
                }
                ticks.extend(std::iter::from_fn(|| feed.take_tick(0)));
                if feed.until() >= time {
                    break;
                }
                feed.set_floor(time.min(feed.until()));
            }
            feed.set_floor(time);
            prop_assert_eq!(follower.look(time), RowLookup::Found);
            for value in 0..2 {
                let expected = model(&rows, value, &plan.values[value], linear, time);
                prop_assert_eq!(follower.value(value, VariableType::Float64), expected, "at {}", time);
            }
        }
        let counts = |row: &&StimulusRow| row.ticks[0] && row.time >= 0.0;
        let expected: Vec<Instant> = rows[..read].iter().filter(counts).map(|row| at(row.time)).collect();
        prop_assert_eq!(ticks, expected);
    }
}
