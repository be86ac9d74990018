use super::groups::NEAR;
use super::*;
use crate::schedule::{DispatchStamp, Due, Timeline};
use crate::{Release, TaskId};
use proptest::prelude::*;
use vecud_base::time::{Fraction, Instant, Nanos};

fn at(seconds: f64) -> Instant {
    Instant::from_f64(seconds).unwrap()
}

fn timeline(release: Release) -> Timeline {
    Timeline::new(&release, Instant::ZERO, Some(at(0.05)))
}

fn every(interval: &str) -> Timeline {
    timeline(Release::Periodic { shift: Fraction::ZERO, interval: Fraction::parse(interval).unwrap() })
}

fn take(agenda: &mut Agenda) -> Option<(TaskId, Due)> {
    let task = agenda.take()?;
    agenda.tell_next(task);
    Some((task, *agenda.due()))
}

fn order(agenda: &mut Agenda) -> Vec<(usize, f64)> {
    std::iter::from_fn(|| take(agenda)).map(|(task, due)| (task.0, due.time.seconds())).collect()
}

#[test]
fn equal_times_come_in_merged_order() {
    let mut agenda = Agenda::new(vec![every("0.01"), every("0.02")]);
    let expected = [(0, 0.0), (1, 0.0), (0, 0.01), (0, 0.02), (1, 0.02), (0, 0.03), (0, 0.04), (1, 0.04)];
    assert_eq!(order(&mut agenda), expected);
}

#[test]
fn a_triggered_task_runs_at_the_time_of_its_tick_before_less_urgent_ones() {
    let mut agenda = Agenda::new(vec![timeline(Release::Never), every("0.02"), every("0.02")]);
    assert_eq!(agenda.take().unwrap(), TaskId(1));
    agenda.tick(TaskId(0), at(0.0), None);
    assert_eq!(agenda.take().unwrap(), TaskId(0));
    assert_eq!(agenda.take().unwrap(), TaskId(2));
}

#[test]
fn a_retuned_task_comes_at_the_times_of_its_new_grid_only() {
    let mut agenda = Agenda::new(vec![every("0.01"), every("0.03")]);
    assert_eq!(agenda.take().unwrap(), TaskId(0));
    agenda.retune(TaskId(1), Fraction::parse("0.02").unwrap(), at(0.0));
    assert_eq!(take(&mut agenda).unwrap().1.time, at(0.0), "released already");
    let expected = [(0, 0.01), (0, 0.02), (1, 0.02), (0, 0.03), (0, 0.04), (1, 0.04)];
    assert_eq!(order(&mut agenda), expected);
}

#[test]
fn a_changing_task_comes_when_it_said() {
    let mut agenda = Agenda::new(vec![timeline(Release::Changing), every("0.02")]);
    agenda.follow(TaskId(0), Fraction::ZERO, at(0.0)); // as the first tick
    assert_eq!(agenda.take().unwrap(), TaskId(0));
    agenda.follow(TaskId(0), Fraction::parse("0.03").unwrap(), at(0.0));
    assert_eq!(order(&mut agenda), [(1, 0.0), (1, 0.02), (0, 0.03), (1, 0.04)]);
}

#[test]
fn groups_that_everybody_has_left_do_not_pile_up() {
    let mut agenda = Agenda::new(vec![timeline(Release::Countdown), every("0.001")]);
    for k in 0..40 {
        agenda.arm(TaskId(0), at(0.049).after_many(Fraction::NANOSECOND, k), at(0.0), None);
    }
    let mut heap = 0;
    for k in 0..10_000 {
        agenda.arm(TaskId(0), at(0.049).after_many(Fraction::NANOSECOND, 10_000 - k), at(0.0), None);
        heap = heap.max(agenda.groups.queue.len());
    }
    assert!(heap <= 2 * 2 + NEAR + 1, "{heap} groups for two tasks");
    assert_eq!(order(&mut agenda).iter().filter(|(task, _)| *task == 0).count(), 1);
}

#[test]
fn what_one_task_was_ticked_with_is_nothing_to_those_that_share_a_grid() {
    let mut agenda = Agenda::new(vec![timeline(Release::Never), every("1/48"), every("1/11")]);
    let interval = Fraction::parse("1/48").unwrap();
    agenda.tick(TaskId(0), at(0.0), None);
    assert_eq!(agenda.take(), Some(TaskId(0)));
    assert!(agenda.due().dispatched.is_some());
    let first = Due { next: Some(Instant::ZERO.after(interval)), ..Due::own(Instant::ZERO) };
    assert_eq!(take(&mut agenda), Some((TaskId(1), first)));
    assert_eq!(take(&mut agenda).unwrap().0, TaskId(2));
    // At an instant of the grid, told in other parts than its own.
    let time = Instant::ZERO.after(interval);
    agenda.tick(TaskId(0), time, None);
    assert_eq!(agenda.take(), Some(TaskId(0)));
    assert_eq!(take(&mut agenda), Some((TaskId(1), Due { next: Some(time.after(interval)), ..Due::own(time) })));
}

/// Every timeline for itself, looked at one by one.
struct OneByOne(Vec<Timeline>);

impl OneByOne {
    fn next(&self) -> Option<(Instant, usize)> {
        self.0.iter().enumerate().filter_map(|(task, timeline)| Some((timeline.next()?, task))).min()
    }

    fn take(&mut self) -> Option<(TaskId, Due)> {
        let (_, task) = self.next()?;
        Some((TaskId(task), self.0[task].take()?))
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Tick(usize, u64),
    Arm(usize, u64),
    Retune(usize, u64),
    Beside(usize, u64),
    Take,
    Instants(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (any::<usize>(), 0u64..60).prop_map(|(task, millis)| Step::Tick(task, millis)),
        1 => (any::<usize>(), 0u64..60).prop_map(|(task, millis)| Step::Arm(task, millis)),
        1 => (any::<usize>(), 0u64..60).prop_map(|(task, millis)| Step::Retune(task, millis)),
        2 => (any::<usize>(), 0u64..600).prop_map(|(task, tenths)| Step::Beside(task, tenths)),
        3 => Just(Step::Take),
        1 => (0u64..40).prop_map(Step::Instants),
    ]
}

/// What has been released beside its grid costs no more than before, once that is over.
#[test]
fn after_a_release_beside_it_a_task_shares_its_grid_again() {
    let mut agenda = Agenda::new(vec![every("0.01"), every("0.01")]);
    assert_eq!(agenda.take().unwrap(), TaskId(0));
    agenda.beside(TaskId(0), at(0.005));
    assert_eq!(agenda.take().unwrap(), TaskId(1));
    assert!(agenda.next_instants().is_none(), "one of them comes before the grid does");
    assert_eq!((agenda.take().unwrap(), agenda.due().time), (TaskId(0), at(0.005)));
    let mut next = || (agenda.take().unwrap(), agenda.due().time);
    assert_eq!([next(), next()], [(TaskId(0), at(0.01)), (TaskId(1), at(0.01))]);
    let batch = agenda.next_instants().unwrap();
    assert_eq!((batch.left(), agenda.released(&batch).collect::<Vec<_>>()), (2, vec![TaskId(0), TaskId(1)]));
    let expected = [(0, 0.02), (1, 0.02), (0, 0.03), (1, 0.03), (0, 0.04), (1, 0.04)];
    assert_eq!(order(&mut agenda), expected);
}

proptest! {
    /// Whatever is ticked, armed, retuned and released beside its grid when, also in the past, and whatever is taken in stretches: always the earliest of all timelines, and of equal ones
    /// the first; and each timeline is in the end what it would be without an agenda, however many share their grids.
    #[test]
    fn an_agenda_is_all_timelines_one_by_one(
        kinds in 1usize..6,
        intervals in proptest::collection::vec((1u64..7, 1u64..400), 1..150),
        steps in proptest::collection::vec(step(), 0..300),
        takes in 0usize..2000,
    ) {
        let interval = |(counter, resolution)| Fraction::new(counter, resolution).unwrap();
        let release = |index: usize| match index % 4 {
            0 => Release::Countdown,
            _ => Release::Periodic { shift: Fraction::ZERO, interval: interval(intervals[index % kinds % intervals.len()]) },
        };
        let tasks = intervals.len();
        let timelines: Vec<Timeline> = (0..tasks).map(release).map(timeline).collect();
        let mut expected = OneByOne(timelines.clone());
        let mut agenda = Agenda::new(timelines);
        for step in steps {
            let at_tenths = |tenths: u64| at(tenths as f64 / 10_000.0);
            let at = |millis: u64| at(millis as f64 / 1000.0);
            match step {
                Step::Tick(task, millis) => {
                    let (task, time) = (TaskId(task % tasks), at(millis));
                    let dispatch = DispatchStamp { wall: Nanos(0), time, root: None };
                    prop_assert_eq!(agenda.tick(task, time, None), expected.0[task.0].tick(time, dispatch));
                }
                Step::Arm(task, millis) => {
                    let (task, time, since) = (TaskId(task % tasks), at(millis), at(0));
                    let dispatch = DispatchStamp { wall: Nanos(0), time, root: None };
                    let outcome = agenda.arm(task, time, since, None);
                    prop_assert_eq!(outcome, expected.0[task.0].arm(time, since, dispatch));
                }
                Step::Retune(task, millis) => {
                    let (task, interval) = (TaskId(task % tasks), interval((1 + millis, 1000)));
                    agenda.retune(task, interval, at(millis));
                    expected.0[task.0].retune(interval, at(millis));
                }
                // One at a time.
                Step::Beside(task, tenths) if expected.0[task % tasks].nothing_but_grid().is_some() => {
                    let (task, time) = (TaskId(task % tasks), at_tenths(tenths));
                    agenda.beside(task, time);
                    expected.0[task.0].beside(time);
                }
                Step::Beside(..) => {}
                Step::Take => {
                    prop_assert_eq!(agenda.peek(), expected.next().map(|(time, _)| time));
                    prop_assert_eq!(take(&mut agenda), expected.take());
                }
                Step::Instants(most) => {
                    let Some(mut batch) = agenda.next_instants() else { continue };
                    let mut instants = 0;
                    while instants < most {
                        let next = batch.next();
                        for task in agenda.released(&batch) {
                            let due = Due { next: Some(next), ..*batch.due() };
                            prop_assert_eq!(Some((task, due)), expected.take());
                        }
                        instants += 1;
                        if !batch.go_on(next) {
                            break;
                        }
                    }
                    agenda.pass(&batch, instants);
                }
            }
        }
        for _ in 0..takes {
            prop_assert_eq!(take(&mut agenda), expected.take());
        }
        prop_assert_eq!(agenda.into_timelines(), expected.0);
    }
}

#[test]
fn a_replaced_deadline_does_not_come_twice() {
    let mut agenda = Agenda::new(vec![timeline(Release::Countdown)]);
    agenda.arm(TaskId(0), at(0.03), at(0.0), None);
    agenda.arm(TaskId(0), at(0.02), at(0.0), None);
    agenda.arm(TaskId(0), at(0.03), at(0.0), None);
    assert_eq!(order(&mut agenda), [(0, 0.03)]);
}
