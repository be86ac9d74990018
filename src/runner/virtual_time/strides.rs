//! Usual steps, many instants in one go: while the tasks of one grid alone are released, and all of them make steps from one
//! instant to the next and nothing else, nobody has to be asked who comes next and what is to be done.
//!
//! What others see is the same as if each release had been taken from the agenda: marks, counts, the order of all calls. As soon
//! as a step is not usual (an early return, a failure), the stretch ends with its instant; a run that has ended, at once.

use super::super::stimuli::VirtualStimuli;
use super::super::thread_host::PartitionHost;
use super::super::world::{Ending, World};
use super::{Lane, Moment};
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
            self.make_all(world, lanes, agenda, stretch, moment, served);
            return true;
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
    ) {
        self.tasks.clear();
        self.tasks.extend(agenda.released(&stretch));
        self.tasks.iter().for_each(|task| lanes[task.0].host.enter(lanes[task.0].site));
        let (mut instants, mut goes_on) = (0, true);
        while goes_on && self.stop_request.load(Relaxed) == 0 && world.ending() != Ending::Discard {
            let end = stretch.next();
            moment.come_to(&stretch.due().time, self.begin, self.complete);
            for task in &self.tasks {
                let lane = &mut lanes[task.0];
                if lane.failed.load(Relaxed) {
                    continue;
                }
                if !goes_on && world.ending() == Ending::Discard {
                    break;
                }
                lane.serve(served);
                if lane.stride(*task, stretch.due(), moment.seconds, end) {
                    goes_on = false;
                    self.beside.extend(lane.activation.take_point().map(|point| (*task, point)));
                }
                self.reached.store(moment.since_start, Relaxed);
            }
            instants += 1;
            goes_on &= stretch.go_on(end);
        }
        self.tasks.iter().for_each(|task| lanes[task.0].host.end());
        agenda.pass(&stretch, instants);
        self.beside.drain(..).for_each(|(task, point)| agenda.beside(task, point));
    }
}

impl Lane<'_> {
    /// Whether it makes nothing but usual steps for the releases from `time` on, but for the last one of the run.
    fn strides_from(&self, time: Instant) -> bool {
        self.can_stride && (self.failed.load(Relaxed) || self.activation.strides_from(time))
    }

    /// Makes the usual step of the release `due`, which is so many `seconds`, to its `end`, and counts it. Tells whether
    /// something else comes than the next one.
    #[inline(always)] // in the one loop there is
    fn stride(&mut self, task: TaskId, due: &Due, seconds: f64, end: Instant) -> bool {
        label_thread(task.0 as u64 + 1);
        self.site.begin(&due.time);
        let strode = self.activation.stride(due, seconds, end);
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
