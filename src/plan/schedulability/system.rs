//! All tasks of all cores together.
//!
//! Who is ticked by others follows their pattern, but later, by anything up to their response: an activation ticks a clock at
//! most once, at any time between its release and its end. So responses depend on delays, and those on responses. Both only
//! grow when one does, so that they are reckoned from below until nothing changes (K. Tindell, J. Clark, "Holistic
//! schedulability analysis for distributed hard real-time systems", Microprocessing and Microprogramming 40 (1994)).

use super::blocking::blocks;
use super::response::{Demand, Outcome, bound};
use super::{Arrivals, Stream, Task};

/// How often responses and delays are reckoned anew, at most.
const ROUNDS: usize = 200;

/// The tasks with their delays, at one stage.
pub(super) struct Stage<'a> {
    tasks: &'a [Task],
    /// Response so far; `None`: it has none.
    responses: Vec<Option<i128>>,
}

/// The worst response of each task.
///
/// # Panics
/// When tasks tick each other in a circle.
pub fn solve(tasks: &[Task]) -> Vec<Outcome> {
    let mut stage = Stage { tasks, responses: vec![Some(0); tasks.len()] };
    let mut outcomes = Vec::new();
    for _ in 0..ROUNDS {
        outcomes = (0..tasks.len()).map(|task| stage.outcome(task)).collect();
        let responses: Vec<Option<i128>> = outcomes.iter().map(response).collect();
        let all_own = tasks.iter().all(|task| matches!(task.arrivals, Arrivals::Own(_)));
        if all_own || responses == stage.responses {
            return outcomes;
        }
        stage.responses = responses;
    }
    // Whoever still changes, or depends on one that does, has no bound.
    let last: Vec<Outcome> = (0..tasks.len()).map(|task| stage.outcome(task)).collect();
    let changes = |(before, after): (&Outcome, Outcome)| if *before == after { after } else { Outcome::NotFound };
    outcomes.iter().zip(last).map(changes).collect()
}

fn response(outcome: &Outcome) -> Option<i128> {
    match outcome {
        Outcome::Bounded(bound) => Some(bound.response),
        Outcome::Overloaded | Outcome::NotFound => None,
    }
}

impl<'a> Stage<'a> {
    /// With these results.
    pub fn at(tasks: &'a [Task], outcomes: &[Outcome]) -> Stage<'a> {
        Stage { tasks, responses: outcomes.iter().map(response).collect() }
    }

    /// When a task is activated; `None`: one that ticks it has no bound.
    pub fn streams(&self, task: usize) -> Option<Vec<Stream<'a>>> {
        match &self.tasks[task].arrivals {
            Arrivals::Own(pattern) => Some(vec![Stream { pattern, jitter: 0 }]),
            Arrivals::By(causes) => {
                let mut all = Vec::new();
                for &cause in causes {
                    let later = self.responses[cause]?;
                    let streams = self.streams(cause)?;
                    all.extend(streams.into_iter().map(|stream| Stream { jitter: stream.jitter + later, ..stream }));
                }
                Some(all)
            }
        }
    }

    /// The patterns that activate a task, whatever delays them.
    pub fn roots(&self, task: usize) -> Vec<Stream<'a>> {
        match &self.tasks[task].arrivals {
            Arrivals::Own(pattern) => vec![Stream { pattern, jitter: 0 }],
            Arrivals::By(causes) => causes.iter().flat_map(|&cause| self.roots(cause)).collect(),
        }
    }

    /// What a task asks of its core.
    pub fn demand(&self, task: usize) -> Option<Demand<'a>> {
        let planned = &self.tasks[task];
        let wake = planned.wake + self.late_dispatch(task)?;
        Some(Demand { execution: planned.execution, wake, streams: self.streams(task)? })
    }

    /// Those that go before a task, or with it.
    pub fn before(&self, task: usize) -> impl Iterator<Item = usize> + use<'a> {
        let (tasks, me) = (self.tasks, &self.tasks[task]);
        (0..tasks.len())
            .filter(move |&other| other != task && tasks[other].core == me.core && tasks[other].urgency >= me.urgency)
    }

    fn outcome(&self, task: usize) -> Outcome {
        let Some(own) = self.demand(task) else { return Outcome::NotFound };
        let Some(others) = self.before(task).map(|other| self.demand(other)).collect::<Option<Vec<Demand>>>() else {
            return Outcome::NotFound;
        };
        bound(&own, &others, blocks(self.tasks, task).iter().map(|block| block.span).sum())
    }

    /// How long after its tick it may be woken: one that ticks inside of a locked section, on another core, wakes it at the
    /// end of that, however long it is preempted there.
    fn late_dispatch(&self, task: usize) -> Option<i128> {
        let Arrivals::By(causes) = &self.tasks[task].arrivals else { return Some(0) };
        let remote = |cause: &&usize| {
            let cause = &self.tasks[**cause];
            cause.core != self.tasks[task].core && cause.section > 0
        };
        causes.iter().filter(remote).map(|&cause| self.responses[cause]).try_fold(0, |most, one| Some(most.max(one?)))
    }
}
