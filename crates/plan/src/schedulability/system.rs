//! All tasks of all cores together.
//!
//! A task that others tick follows their pattern, but later, by anything up to their response: an activation ticks a clock at
//! most once, at any time between its release and its end. So responses depend on delays, and those on responses. Both only grow
//! when one does, so that they are computed from below until nothing changes (K. Tindell, J. Clark, "Holistic schedulability
//! analysis for distributed hard real-time systems", Microprocessing and Microprogramming 40 (1994)).

use super::blocking::blocks;
use super::response::{ResponseBound, ResponseResult, bound};
use super::{Arrivals, DelayedPattern, Demand, Task};

/// The most iterations of responses and delays.
const ROUNDS: usize = 50;

/// The tasks with their delays, at one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stage<'a> {
    tasks: &'a [Task],
    outcomes: Vec<ResponseResult>,
    /// The longest time after its tick at which each task may be woken; `None`: unknown.
    late: Vec<Option<i128>>,
}

/// Iterates responses and delays of all tasks until they no longer change.
///
/// # Panics
/// If tasks tick each other in a circle.
pub(super) fn fixed_point(tasks: &[Task]) -> Stage<'_> {
    let nothing = ResponseResult::Bounded(ResponseBound { response: 0, activations: 0, window: 0, released: 0 });
    let mut stage = Stage { tasks, outcomes: vec![nothing; tasks.len()], late: vec![Some(0); tasks.len()] };
    for _ in 0..ROUNDS {
        let next = stage.next();
        let is_last = next == stage || tasks.iter().all(|task| matches!(task.arrivals, Arrivals::Own(_)));
        stage = next;
        if is_last {
            return stage;
        }
    }
    // A task that still changes has no bound, and in the end neither have those that depend on it.
    for _ in 0..=tasks.len() {
        let next = stage.next();
        for (own, next) in stage.outcomes.iter_mut().zip(next.outcomes).filter(|(own, next)| *own != next) {
            *own = if next == ResponseResult::Overloaded { next } else { ResponseResult::NotFound };
        }
        stage.late = next.late;
    }
    stage
}

/// The worst response of each task.
///
/// # Panics
/// If tasks tick each other in a circle.
pub fn solve(tasks: &[Task]) -> Vec<ResponseResult> {
    fixed_point(tasks).outcomes
}

fn response(outcome: &ResponseResult) -> Option<i128> {
    match outcome {
        ResponseResult::Bounded(bound) => Some(bound.response),
        ResponseResult::Overloaded | ResponseResult::NotFound => None,
    }
}

impl<'a> Stage<'a> {
    /// The result of each task.
    pub fn outcome(&self, task: usize) -> ResponseResult {
        self.outcomes[task]
    }

    fn next(&self) -> Stage<'a> {
        let tasks = || 0..self.tasks.len();
        Stage {
            tasks: self.tasks,
            outcomes: tasks().map(|task| self.reckon(task)).collect(),
            late: tasks().map(|task| self.late_dispatch(task)).collect(),
        }
    }

    /// The arrivals of a task; `None`: a task that ticks it has no bound.
    pub fn streams(&self, task: usize) -> Option<Vec<DelayedPattern<'a>>> {
        match &self.tasks[task].arrivals {
            Arrivals::Own(pattern) => Some(vec![DelayedPattern { pattern, jitter: 0 }]),
            Arrivals::By(causes) => {
                let mut all = Vec::new();
                for &cause in causes {
                    let later = response(&self.outcomes[cause])?;
                    let streams = self.streams(cause)?;
                    all.extend(
                        streams.into_iter().map(|stream| DelayedPattern { jitter: stream.jitter + later, ..stream }),
                    );
                }
                Some(all)
            }
        }
    }

    /// The patterns that activate a task, whatever delays them.
    pub fn roots(&self, task: usize) -> Vec<DelayedPattern<'a>> {
        match &self.tasks[task].arrivals {
            Arrivals::Own(pattern) => vec![DelayedPattern { pattern, jitter: 0 }],
            Arrivals::By(causes) => causes.iter().flat_map(|&cause| self.roots(cause)).collect(),
        }
    }

    /// The demand of a task on its core.
    pub fn demand(&self, task: usize) -> Option<Demand<'a>> {
        let planned = &self.tasks[task];
        let wake = planned.wake + self.late[task]?;
        Some(Demand { execution: planned.execution, wake, streams: self.streams(task)? })
    }

    /// The tasks that go before a task, or with it.
    pub fn before(&self, task: usize) -> impl Iterator<Item = usize> + use<'a> {
        let (tasks, me) = (self.tasks, &self.tasks[task]);
        (0..tasks.len())
            .filter(move |&other| other != task && tasks[other].core == me.core && !tasks[other].goes_after(me))
    }

    fn reckon(&self, task: usize) -> ResponseResult {
        let Some(own) = self.demand(task) else { return ResponseResult::NotFound };
        let Some(others) = self.before(task).map(|other| self.demand(other)).collect::<Option<Vec<Demand>>>() else {
            return ResponseResult::NotFound;
        };
        bound(&own, &others, blocks(self.tasks, task).iter().map(|block| block.span).sum())
    }

    /// The delay between the tick and the wake-up of a task. A task that is ticked inside of a locked section, of whichever
    /// instance, is woken at its end; or, on the same core, by a less urgent task that starts meanwhile. So until then only more
    /// urgent tasks run; on another core those that are more urgent than the one that ticks.
    fn late_dispatch(&self, task: usize) -> Option<i128> {
        let Arrivals::By(causes) = &self.tasks[task].arrivals else { return Some(0) };
        let mut latest = 0;
        for &cause in causes.iter().filter(|cause| self.tasks[**cause].section > 0) {
            let end = response(&self.outcomes[cause])?;
            let meanwhile = if self.tasks[cause].core == self.tasks[task].core { task } else { cause };
            let others = self.before(meanwhile).filter(|other| *other != cause);
            let others: Vec<Demand> = others.map(|other| self.demand(other)).collect::<Option<_>>()?;
            let blocking: i128 = blocks(self.tasks, cause).iter().map(|block| block.span).sum();
            let mut window = self.tasks[cause].section + blocking;
            loop {
                let work: i128 = others.iter().map(|other| other.most(window) * other.execution).sum();
                let next = (self.tasks[cause].section + blocking + work).min(end);
                if next <= window {
                    break;
                }
                window = next;
            }
            latest = latest.max(window.min(end));
        }
        Some(latest)
    }
}
