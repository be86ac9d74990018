//! Examples whose results others have published, and some that anybody can reckon by hand.

use super::{periodic, responses};
use vecud::plan::schedulability::{ArrivalPattern, Arrivals, DelayedPattern, ResponseResult, Task, bound, solve};

/// A. Burns, A. Wellings, "Real-Time Systems and Programming Languages", process set D of the chapter on scheduling: utilisation
/// tests fail, response times are 3, 6 and 20.
#[test]
fn three_processes_of_burns_and_wellings() {
    assert_eq!(responses(&[periodic(3, 7, 3), periodic(2, 12, 3), periodic(1, 20, 5)]), [Some(3), Some(6), Some(20)]);
}

/// J. Lehoczky, L. Sha, Y. Ding, "The rate monotonic scheduling algorithm: exact characterization and average case behavior",
/// Real-Time Systems Symposium (1989): the third task ends at 300 of 350, although the load of 0.953 exceeds the bound of
/// Liu and Layland.
#[test]
fn three_tasks_of_lehoczky_sha_and_ding() {
    let tasks = [periodic(3, 100, 40), periodic(2, 150, 40), periodic(1, 350, 100)];
    assert_eq!(responses(&tasks), [Some(40), Some(80), Some(300)]);
}

/// J. Lehoczky, "Fixed priority scheduling of periodic task sets with arbitrary deadlines" (1990): the responses of seven
/// activations in the busy period of the second task are 114, 102, 116, 104, 118, 106 and 94. Not the first is the worst.
#[test]
fn a_later_activation_can_be_the_worst() {
    let tasks = [periodic(2, 70, 26), periodic(1, 100, 62)];
    assert_eq!(responses(&tasks), [Some(26), Some(118)]);
    let ResponseResult::Bounded(worst) = solve(&tasks)[1] else { panic!("it has a bound") };
    assert_eq!((worst.activations, worst.released, worst.window), (5, 400, 518));
}

/// 1/2 + 1/3 + 1/6: sums of f64 may say 1, or more, or less.
#[test]
fn a_core_that_is_exactly_full_is_not_overloaded() {
    let full = [periodic(3, 2, 1), periodic(2, 3, 1), periodic(1, 6, 1)];
    assert_eq!(responses(&full), [Some(1), Some(2), Some(6)]);
    let mut more = full.to_vec();
    more.push(periodic(0, 1_000_000_000_000_000, 1));
    assert_eq!(responses(&more), [Some(1), Some(2), Some(6), None]);
    assert_eq!(solve(&more)[3], ResponseResult::Overloaded);
    // One part in 10^24 above, and below.
    let big = 1_000_000_000_000i128;
    let just = |execution| [periodic(2, big, big - 1), periodic(1, big + 1, execution)];
    assert_eq!(solve(&just(2))[1], ResponseResult::Overloaded);
    assert_ne!(solve(&just(1))[1], ResponseResult::Overloaded);
}

/// A full core with a locked section never comes to rest, and yet nothing gets later and later.
#[test]
fn a_full_core_that_never_rests_has_its_bounds() {
    let mut tasks = [periodic(3, 4, 2), periodic(2, 6, 3), periodic(1, 1000, 0)];
    tasks[2].execution = 5;
    let mut full = tasks[..2].to_vec();
    full[1].wake = 1;
    full[0].wake = 1;
    assert_eq!(responses(&full), [Some(3), Some(9)]);
}

/// B + C of a locked section, and of a burst.
#[test]
fn blocking_and_bursts_by_hand() {
    let mut low = Task { section: 6, ..periodic(1, 200, 50) };
    low.instance = 3;
    let tasks = [periodic(3, 20, 4), periodic(2, 50, 10), low];
    assert_eq!(responses(&tasks)[..2], [Some(10), Some(20)], "each waits for the section once");
    let burst =
        Task { arrivals: Arrivals::Own(ArrivalPattern::Grid { interval: 100, jitter: 300 }), ..periodic(1, 1, 5) };
    assert_eq!(responses(&[burst]), [Some(20)], "four at once");
    let list = Task { arrivals: Arrivals::Own(ArrivalPattern::Times(vec![0, 3, 6, 100])), ..periodic(1, 1, 5) };
    assert_eq!(responses(&[list]), [Some(9)], "the third waits for two");
}

/// A task that is ticked by another follows it with the jitter of its response.
#[test]
fn a_triggered_task_inherits_period_and_jitter() {
    let by = |urgency, execution, causes| Task { arrivals: Arrivals::By(causes), ..periodic(urgency, 1, execution) };
    // Its period is 10, and the second can come 6 after the first one: the third task waits for two of it.
    let tasks = [periodic(3, 10, 4), by(2, 2, vec![0]), periodic(1, 100, 4)];
    assert_eq!(responses(&tasks), [Some(4), Some(6), Some(16)]);
    let elsewhere = Task { core: 1, ..by(2, 2, vec![0]) };
    assert_eq!(responses(&[periodic(3, 10, 4), elsewhere])[1], Some(2));
}

#[test]
fn how_a_bound_comes_about_adds_up() {
    let pattern = ArrivalPattern::Grid { interval: 10, jitter: 0 };
    let demand = |execution, wake| vecud::plan::schedulability::Demand {
        execution,
        wake,
        streams: vec![DelayedPattern { pattern: &pattern, jitter: 0 }],
    };
    let (own, other) = (demand(4, 2), demand(3, 1));
    let ResponseResult::Bounded(worst) = bound(&own, std::slice::from_ref(&other), 2) else { panic!("it has a bound") };
    assert_eq!(worst.window, 2 + worst.activations * 4 + other.most(worst.window) * 3);
    assert_eq!(worst.response, worst.window - worst.released);
}
