//! Batch stepping: regular steps of many instants in one go. While only the tasks of one grid are released, and all of them make
//! steps from one instant to the next and nothing else, the order and the work of the next instants are known.
//!
//! Others see the same as if each release had been taken from the agenda: telemetry, counts, the order of all calls. As soon as a
//! step is not regular (an early return, a failure), the batch ends with its instant; a run that has ended, at once.

use super::context::VirtualContext;
use super::moment::Moment;
use crate::activation_error::ActivationError;
use crate::run_state::{Ending, RunState};
use crate::stimuli::VirtualStimuli;
use crate::thread_host::PartitionHost;
use crate::unit::FastPathSteps;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use vecud_base::time::{Instant, Nanos};
use vecud_fmi::{FastPath, FastPathExit};
use vecud_linux::crash::label_thread;
use vecud_plan::TaskId;
use vecud_plan::schedule::{Agenda, Due, Instants};
use vecud_record::board::{Global, TaskWord};

/// A batch of fewer instants is made one by one: preparing many takes as long as making a few.
const FEW: u64 = 12;

/// Number of instants that are made one by one after a step that was not regular, since such steps seldom come alone.
const AFTERWARDS: u64 = 64;

/// Makes the regular steps of a run, many instants in one go (see the [module](self)).
pub(super) struct BatchStepping {
    /// Some tasks make nothing but regular steps, and the run has no stimuli.
    are_possible: bool,
    begin: Nanos,
    complete: &'static AtomicU64,
    reached: &'static AtomicU64,
    /// Ask for the end, or for a pause.
    requests: [&'static AtomicU64; 2],
    /// The tasks that make their steps in the present go.
    tasks: Vec<TaskId>,
    /// Number of instants that are still made one by one.
    apart: u64,
    /// Releases beside the grid that steps of the last instant have asked for.
    beside: Vec<(TaskId, Instant)>,
}

impl BatchStepping {
    /// For a run with these tasks and stimuli; nothing was made yet.
    pub(super) fn new(run: &'static RunState, contexts: &[VirtualContext], stimuli: &VirtualStimuli) -> BatchStepping {
        let word = |global| run.board.global(global);
        BatchStepping {
            are_possible: stimuli.are_none() && contexts.iter().any(|context| context.can_batch),
            begin: run.plan.start.nanos(),
            complete: word(Global::Complete),
            reached: word(Global::Reached),
            requests: [Global::StopRequest, Global::PauseRequest].map(word),
            tasks: Vec::with_capacity(contexts.len()),
            apart: 0,
            beside: Vec::new(),
        }
    }

    /// Whether the end or a pause is requested.
    #[inline(always)] // in the loops there are
    fn is_asked(&self) -> bool {
        self.requests.iter().any(|word| word.load(Relaxed) != 0)
    }

    /// Makes the regular steps that come next. `false`: the next release is another one, and nothing was made.
    #[inline(always)] // mostly there are none
    pub(super) fn make(
        &mut self,
        run: &'static RunState,
        contexts: &mut [VirtualContext],
        agenda: &mut Agenda,
        moment: &mut Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> bool {
        if !self.are_possible {
            return false;
        }
        // Borrowed instead of moved: moving it takes a while.
        let mut next = agenda.next_instants();
        let Some(batch) = &mut next else { return false };
        let time = batch.due().time;
        let all_regular = agenda.released(batch).all(|task| contexts[task.0].is_regular_from(time));
        all_regular && self.make_all(run, contexts, agenda, batch, moment, served)
    }

    #[inline(never)] // loops of their own
    fn make_all(
        &mut self,
        run: &'static RunState,
        contexts: &mut [VirtualContext],
        agenda: &mut Agenda,
        batch: &mut Instants,
        moment: &mut Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> bool {
        self.tasks.clear();
        self.tasks.extend(agenda.released(batch));
        self.tasks.retain(|task| !contexts[task.0].failed.load(Relaxed));
        self.tasks.iter().for_each(|task| contexts[task.0].host.enter(contexts[task.0].telemetry));
        let instants = match self.apart == 0 && batch.left() >= FEW {
            true => self.make_at_once(run, contexts, batch, moment, served),
            false => Some(self.make_one_by_one(run, contexts, batch, moment, served)),
        };
        self.tasks.iter().for_each(|task| contexts[task.0].host.end());
        let Some(instants) = instants else { return false };
        agenda.pass(batch, instants);
        self.beside.drain(..).for_each(|(task, point)| agenda.beside(task, point));
        true
    }

    /// Makes the steps of a batch up to its end, or to the instant of a step that is not regular. Returns the number of instants;
    /// `None`: a task can make none now.
    fn make_at_once(
        &mut self,
        run: &'static RunState,
        contexts: &mut [VirtualContext],
        batch: &mut Instants,
        moment: &mut Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> Option<u64> {
        if let Some(task) = self.tasks.first() {
            // The thread begins to serve, if it has not; the host that is served last is known afterwards.
            contexts[task.0].serve(served);
        }
        let all = fast_path(contexts, &self.tasks)?;
        let (instants, exit) = self.make_regular(run, all, batch, moment);
        let last = exit.as_ref().map(|(place, _)| *place).or(if instants > 0 {
            self.tasks.len().checked_sub(1)
        } else {
            None
        });
        *served = last.map_or(*served, |last| Some(contexts[self.tasks[last].0].host));
        let Some((place, exit)) = exit else { return Some(instants) };
        self.apart = AFTERWARDS;
        let (task, end) = (self.tasks[place], batch.next());
        let context = &mut contexts[task.0];
        context.finish_irregular_step(exit, batch.due(), moment.seconds, end);
        self.reached.store(moment.since_start, Relaxed);
        self.beside.extend(context.activation.unit.take_point().map(|point| (task, point)));
        self.make_instant(run, contexts, place + 1, batch.due(), end, moment, served);
        Some(instants + 1)
    }

    /// Makes regular steps, of `all` tasks at each instant, until the batch is at its end, the end of the run is requested, or a
    /// step is not regular. Returns the number of whole instants, and the place and the exit of the task whose step was not
    /// regular.
    fn make_regular(
        &self,
        run: &RunState,
        mut all: Vec<FastPathSteps>,
        batch: &mut Instants,
        moment: &mut Moment,
    ) -> (u64, Option<(usize, FastPathExit)>) {
        let (mut fast_path, mut instants, mut exit) = (FastPath::begin(), 0, None);
        while !self.is_asked() && run.ending() != Ending::Discard {
            let end = batch.next();
            moment.come_to(&batch.due().time, self.begin, self.complete);
            let seconds = (moment.seconds, end.seconds());
            exit = all.iter_mut().position(|own| {
                let is_regular = own.step(&mut fast_path, &batch.due().time, seconds, end);
                if is_regular {
                    self.reached.store(moment.since_start, Relaxed);
                }
                !is_regular
            });
            if exit.is_some() {
                break;
            }
            instants += 1;
            if !batch.go_on(end) {
                break;
            }
        }
        for (place, own) in all.into_iter().enumerate() {
            let is_ahead = exit.is_some_and(|exit| place < exit);
            if is_ahead || instants > 0 {
                own.leave(if is_ahead { batch.next() } else { batch.due().time });
            }
        }
        (instants, exit.zip(fast_path.irregular()))
    }

    /// Makes the steps of a batch one by one, up to its end, or to where a batch is worth while again. Returns the number of
    /// instants.
    fn make_one_by_one(
        &mut self,
        run: &'static RunState,
        contexts: &mut [VirtualContext],
        batch: &mut Instants,
        moment: &mut Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> u64 {
        let (mut instants, mut goes_on) = (0, true);
        while goes_on && !self.is_asked() && run.ending() != Ending::Discard {
            let end = batch.next();
            moment.come_to(&batch.due().time, self.begin, self.complete);
            goes_on = self.make_instant(run, contexts, 0, batch.due(), end, moment, served);
            instants += 1;
            self.apart = self.apart.saturating_sub(1);
            goes_on &= batch.go_on(end) && (self.apart > 0 || batch.left() < FEW);
        }
        instants
    }

    /// Makes the steps of the instant `due`, to its `end`, from the task at this place on. Tells whether the next ones follow.
    #[inline(always)] // in two loops
    #[expect(clippy::too_many_arguments, reason = "what a run is made of")]
    fn make_instant(
        &mut self,
        run: &'static RunState,
        contexts: &mut [VirtualContext],
        first: usize,
        due: &Due,
        end: Instant,
        moment: &Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> bool {
        let mut goes_on = true;
        for task in &self.tasks[first..] {
            let context = &mut contexts[task.0];
            if context.failed.load(Relaxed) {
                continue;
            }
            if (first > 0 || !goes_on) && run.ending() == Ending::Discard {
                // The task was released at the last instant of the run.
                context.telemetry.cells.count(TaskWord::Discarded, 1);
                continue;
            }
            context.serve(served);
            if context.fast_step(due, moment.seconds, end) {
                goes_on = false;
                self.beside.extend(context.activation.unit.take_point().map(|point| (*task, point)));
            }
            self.reached.store(moment.since_start, Relaxed);
        }
        goes_on
    }
}

/// The fast paths of these tasks, in the order of their numbers; `None`: one can make no step now.
fn fast_path<'a>(contexts: &'a mut [VirtualContext], tasks: &[TaskId]) -> Option<Vec<FastPathSteps<'a>>> {
    let (mut rest, mut passed) = (contexts, 0);
    let own = |task: &TaskId| {
        let (context, behind) = std::mem::take(&mut rest).split_at_mut(task.0 - passed).1.split_first_mut()?;
        (rest, passed) = (behind, task.0 + 1);
        context.activation.unit.batched().fast_path(context.host, context.telemetry)
    };
    tasks.iter().map(own).collect()
}

impl VirtualContext<'_> {
    /// Whether all releases from `time` on are regular, but for the last one of the run.
    fn is_regular_from(&self, time: Instant) -> bool {
        self.can_batch
            && (self.failed.load(Relaxed)
                || self.activation.unit.steps().is_some_and(|steps| steps.is_regular_from(time)))
    }

    /// Makes the regular step of the release `due`, whose time is `seconds`, to its `end`, and counts it. Returns whether the
    /// next release is another one than the next regular step.
    #[inline(always)] // in the one loop there is
    fn fast_step(&mut self, due: &Due, seconds: f64, end: Instant) -> bool {
        label_thread(self.unit.0 as u64 + 1);
        self.telemetry.begin(&due.time);
        let result = self.activation.fast_step(due, seconds, end);
        self.finish_fast_step(result)
    }

    /// Completes and counts the release whose step has left the fast path by `exit`.
    #[cold]
    fn finish_irregular_step(&mut self, exit: FastPathExit, due: &Due, seconds: f64, end: Instant) {
        label_thread(self.unit.0 as u64 + 1);
        let result = self.activation.finish_irregular_step(exit, due, seconds, end);
        self.finish_fast_step(result);
    }

    #[inline(always)] // as what calls it
    fn finish_fast_step(&mut self, result: Result<bool, ActivationError>) -> bool {
        self.host.returned_from_fmu();
        if let Err(error) = &result {
            self.activation.unit.fail();
            error.note(self.host);
        }
        self.telemetry.end();
        label_thread(0);
        self.count();
        result.unwrap_or(true)
    }
}
