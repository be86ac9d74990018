//! Worst responses: that nothing which happens exceeds them, that they are no larger than need be, and what the program makes
//! of them.

use crate::program;
mod program_tests;
mod properties;
mod simulator;
mod textbook;
mod wrong;

use vecud::plan::schedulability::{ArrivalPattern, Arrivals, ResponseResult, Task, solve};

/// A task of an instance of its own on core 0.
fn periodic(urgency: u32, interval: i128, execution: i128) -> Task {
    let arrivals = Arrivals::Own(ArrivalPattern::Grid { interval, jitter: 0 });
    Task {
        core: 0,
        instance: urgency as usize,
        urgency,
        level: 0,
        waits: false,
        turn: None,
        execution,
        section: 0,
        wake: 0,
        arrivals,
    }
}

/// Worst responses, where there are any.
fn responses(tasks: &[Task]) -> Vec<Option<i128>> {
    let response = |outcome| match outcome {
        ResponseResult::Bounded(bound) => Some(bound.response),
        ResponseResult::Overloaded | ResponseResult::NotFound => None,
    };
    solve(tasks).into_iter().map(response).collect()
}
