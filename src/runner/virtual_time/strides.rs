//! Usual steps, many instants in one go: while the tasks of one grid alone are released, and all of them make steps from one
//! instant to the next and nothing else, nobody has to be asked who comes next and what is to be done.
//!
//! What others see is the same as if each release had been taken from the agenda: marks, counts, the order of all calls. As soon
//! as a step is not usual (an early return, a failure), the stretch ends with its instant; a run that has ended, at once.

use super::super::stimuli::VirtualStimuli;
use super::super::thread_host::PartitionHost;
use super::super::unit::UsualSteps;
use super::super::world::{Ending, World};
use super::{Lane, Moment};
use crate::ffi::{Striding, Unusual};
use crate::plan::TaskId;
use crate::record::board::Global;
use crate::schedule::{Agenda, Due, Instants};
use crate::sys::crash::label_thread;
use crate::time::{Instant, Nanos};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Makes the usual steps of a run, many instants in one go (see the [module](self)).
pub(super) struct Strides {
    /// Some tasks can make nothing but usual steps, and nothing comes from outside.
    are_possible: bool,
    begin: Nanos,
    complete: &'static AtomicU64,
    reached: &'static AtomicU64,
    stop_request: &'static AtomicU64,
    /// The tasks that make their steps in the present go.
    tasks: Vec<TaskId>,
    /// Releases beside the grid that steps of the last instant have asked for.
    beside: Vec<(TaskId, Instant)>,
}

impl Strides {
    /// For a run with these tasks and stimuli; nothing was made yet.
    pub(super) fn new(world: &'static World, lanes: &[Lane], stimuli: &VirtualStimuli) -> Strides {
        let word = |global| world.board.global(global);
        Strides {
            are_possible: stimuli.are_none() && lanes.iter().any(|lane| lane.can_stride),
            begin: world.plan.start.nanos(),
            complete: word(Global::Complete),
            reached: word(Global::Reached),
            stop_request: word(Global::StopRequest),
            tasks: Vec::with_capacity(lanes.len()),
            beside: Vec::new(),
        }
    }

    /// Makes the usual steps that come next. `false`: something else does, and nothing was made.
    #[inline(always)] // mostly there are none
    pub(super) fn make(
        &mut self,
        world: &'static World,
        lanes: &mut [Lane],
        agenda: &mut Agenda,
        moment: &mut Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> bool {
        if self.are_possible
            && let Some(stretch) = agenda.next_instants()
            && agenda.released(&stretch).all(|task| lanes[task.0].strides_from(stretch.due().time))
        {
            return self.make_all(world, lanes, agenda, stretch, moment, served);
        }
        false
    }

    #[inline(never)] // a loop of its own
    fn make_all(
        &mut self,
        world: &'static World,
        lanes: &mut [Lane],
        agenda: &mut Agenda,
        mut stretch: Instants,
        moment: &mut Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> bool {
        self.tasks.clear();
        self.tasks.extend(agenda.released(&stretch).filter(|task| !lanes[task.0].failed.load(Relaxed)));
        for task in &self.tasks {
            let lane = &lanes[task.0];
            // The first one is where the thread begins to serve, if it has not.
            lane.serve(served);
            lane.host.enter(lane.site);
        }
        let Some(all) = usual_steps(lanes, &self.tasks) else {
            self.tasks.iter().for_each(|task| lanes[task.0].host.end());
            return false;
        };
        let (mut instants, unusual) = self.make_usual(world, all, &mut stretch, moment);
        if let Some((first, unusual)) = unusual {
            *served = Some(lanes[self.tasks[first].0].host);
            self.make_rest(world, lanes, first, unusual, &stretch, moment, served);
            instants += 1;
        }
        for task in &self.tasks {
            lanes[task.0].host.returned_from_fmu();
            lanes[task.0].host.end();
        }
        agenda.pass(&stretch, instants);
        self.beside.drain(..).for_each(|(task, point)| agenda.beside(task, point));
        true
    }

    /// Makes usual steps, of `all` tasks at each instant, until the stretch is at its end, or somebody asks for the end of the run, or
    /// a step is not usual. How many whole instants that were; and by its place the task whose step was not, and what it has answered.
    fn make_usual(
        &self,
        world: &World,
        mut all: Vec<UsualSteps>,
        stretch: &mut Instants,
        moment: &mut Moment,
    ) -> (u64, Option<(usize, Unusual)>) {
        let (mut striding, mut instants, mut unusual) = (Striding::begin(), 0, None);
        while self.stop_request.load(Relaxed) == 0 && world.ending() != Ending::Discard {
            let end = stretch.next();
            moment.come_to(&stretch.due().time, self.begin, self.complete);
            unusual = all.iter_mut().position(|own| {
                let is_usual = own.step(&mut striding, &stretch.due().time, moment.seconds, end);
                self.reached.store(moment.since_start, Relaxed);
                !is_usual
            });
            if unusual.is_some() {
                break;
            }
            instants += 1;
            if !stretch.go_on(end) {
                break;
            }
        }
        for (place, own) in all.into_iter().enumerate() {
            let is_ahead = unusual.is_some_and(|unusual| place < unusual);
            if is_ahead || instants > 0 {
                own.leave(if is_ahead { stretch.next() } else { stretch.due().time });
            }
        }
        (instants, unusual.zip(striding.unusual()))
    }

    /// Makes the steps of an instant from that of the `first` task on, which was made and is not usual.
    #[cold]
    #[expect(clippy::too_many_arguments, reason = "what a run is made of")]
    fn make_rest(
        &mut self,
        world: &'static World,
        lanes: &mut [Lane],
        first: usize,
        unusual: Unusual,
        stretch: &Instants,
        moment: &Moment,
        served: &mut Option<&'static PartitionHost>,
    ) {
        let mut unusual = Some(unusual);
        for task in &self.tasks[first..] {
            let lane = &mut lanes[task.0];
            if lane.failed.load(Relaxed) {
                continue;
            }
            if unusual.is_none() && world.ending() == Ending::Discard {
                break;
            }
            lane.serve(served);
            if lane.stride(*task, stretch.due(), moment.seconds, stretch.next(), unusual.take()) {
                self.beside.extend(lane.activation.take_point().map(|point| (*task, point)));
            }
            self.reached.store(moment.since_start, Relaxed);
        }
    }
}

/// What makes the usual steps of these tasks, in their order, which is that of their numbers; `None`: one can make none now.
fn usual_steps<'a>(lanes: &'a mut [Lane], tasks: &[TaskId]) -> Option<Vec<UsualSteps<'a>>> {
    let (mut rest, mut passed) = (lanes, 0);
    let own = |task: &TaskId| {
        let (lane, behind) = std::mem::take(&mut rest).split_at_mut(task.0 - passed).1.split_first_mut()?;
        (rest, passed) = (behind, task.0 + 1);
        lane.activation.usual_steps(lane.host, lane.site)
    };
    tasks.iter().map(own).collect()
}

impl Lane<'_> {
    /// Whether it makes nothing but usual steps for the releases from `time` on, but for the last one of the run.
    fn strides_from(&self, time: Instant) -> bool {
        self.can_stride && (self.failed.load(Relaxed) || self.activation.strides_from(time))
    }

    /// Makes the step of the release `due`, which is so many `seconds`, to its `end`, and counts it; or does and counts what is to be
    /// done where that was made and is `unusual`. Tells whether something else comes than the next one.
    #[cold]
    fn stride(&mut self, task: TaskId, due: &Due, seconds: f64, end: Instant, unusual: Option<Unusual>) -> bool {
        label_thread(task.0 as u64 + 1);
        self.site.begin(&due.time);
        let strode = self.activation.stride(due, seconds, end, unusual);
        self.host.returned_from_fmu();
        if let Err(halt) = &strode {
            self.activation.fail();
            halt.note(self.host);
        }
        self.site.end();
        label_thread(0);
        self.count();
        strode.unwrap_or(true)
    }
}
