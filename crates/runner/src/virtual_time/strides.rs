//! Batch stepping: regular steps of many instants in one go. While only the tasks of one grid are released, and all of them make
//! steps from one instant to the next and nothing else, the order and the work of the next instants are known.
//!
//! Others see the same as if each release had been taken from the agenda: telemetry, counts, the order of all calls. As soon as a
//! step is not regular (an early return, a failure), the batch ends with its instant; a run that has ended, at once.

use super::super::halt::Halt;
use super::super::stimuli::VirtualStimuli;
use super::super::thread_host::PartitionHost;
use super::super::unit::UsualSteps;
use super::super::world::{Ending, World};
use super::{Lane, Moment};
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
pub(super) struct Strides {
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

impl Strides {
    /// For a run with these tasks and stimuli; nothing was made yet.
    pub(super) fn new(world: &'static World, lanes: &[Lane], stimuli: &VirtualStimuli) -> Strides {
        let word = |global| world.board.global(global);
        Strides {
            are_possible: stimuli.are_none() && lanes.iter().any(|lane| lane.can_stride),
            begin: world.plan.start.nanos(),
            complete: word(Global::Complete),
            reached: word(Global::Reached),
            requests: [Global::StopRequest, Global::PauseRequest].map(word),
            tasks: Vec::with_capacity(lanes.len()),
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
        world: &'static World,
        lanes: &mut [Lane],
        agenda: &mut Agenda,
        moment: &mut Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> bool {
        if !self.are_possible {
            return false;
        }
        // Borrowed instead of moved: moving it takes a while.
        let mut next = agenda.next_instants();
        let Some(stretch) = &mut next else { return false };
        let time = stretch.due().time;
        let all_stride = agenda.released(stretch).all(|task| lanes[task.0].strides_from(time));
        all_stride && self.make_all(world, lanes, agenda, stretch, moment, served)
    }

    #[inline(never)] // loops of their own
    fn make_all(
        &mut self,
        world: &'static World,
        lanes: &mut [Lane],
        agenda: &mut Agenda,
        stretch: &mut Instants,
        moment: &mut Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> bool {
        self.tasks.clear();
        self.tasks.extend(agenda.released(stretch));
        self.tasks.retain(|task| !lanes[task.0].failed.load(Relaxed));
        self.tasks.iter().for_each(|task| lanes[task.0].host.enter(lanes[task.0].site));
        let instants = match self.apart == 0 && stretch.left() >= FEW {
            true => self.make_at_once(world, lanes, stretch, moment, served),
            false => Some(self.make_one_by_one(world, lanes, stretch, moment, served)),
        };
        self.tasks.iter().for_each(|task| lanes[task.0].host.end());
        let Some(instants) = instants else { return false };
        agenda.pass(stretch, instants);
        self.beside.drain(..).for_each(|(task, point)| agenda.beside(task, point));
        true
    }

    /// Makes the steps of a batch up to its end, or to the instant of a step that is not regular. Returns the number of instants;
    /// `None`: a task can make none now.
    fn make_at_once(
        &mut self,
        world: &'static World,
        lanes: &mut [Lane],
        stretch: &mut Instants,
        moment: &mut Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> Option<u64> {
        if let Some(task) = self.tasks.first() {
            // The thread begins to serve, if it has not; the host that is served last is known afterwards.
            lanes[task.0].serve(served);
        }
        let all = usual_steps(lanes, &self.tasks)?;
        let (instants, unusual) = self.make_usual(world, all, stretch, moment);
        let last = unusual.as_ref().map(|(place, _)| *place).or(if instants > 0 {
            self.tasks.len().checked_sub(1)
        } else {
            None
        });
        *served = last.map_or(*served, |last| Some(lanes[self.tasks[last].0].host));
        let Some((place, unusual)) = unusual else { return Some(instants) };
        self.apart = AFTERWARDS;
        let (task, end) = (self.tasks[place], stretch.next());
        let lane = &mut lanes[task.0];
        lane.settle_step(unusual, stretch.due(), moment.seconds, end);
        self.reached.store(moment.since_start, Relaxed);
        self.beside.extend(lane.activation.take_point().map(|point| (task, point)));
        self.make_instant(world, lanes, place + 1, stretch.due(), end, moment, served);
        Some(instants + 1)
    }

    /// Makes regular steps, of `all` tasks at each instant, until the batch is at its end, the end of the run is requested, or a
    /// step is not regular. Returns the number of whole instants, and the place and the exit of the task whose step was not
    /// regular.
    fn make_usual(
        &self,
        world: &World,
        mut all: Vec<UsualSteps>,
        stretch: &mut Instants,
        moment: &mut Moment,
    ) -> (u64, Option<(usize, FastPathExit)>) {
        let (mut striding, mut instants, mut unusual) = (FastPath::begin(), 0, None);
        while !self.is_asked() && world.ending() != Ending::Discard {
            let end = stretch.next();
            moment.come_to(&stretch.due().time, self.begin, self.complete);
            let seconds = (moment.seconds, end.seconds());
            unusual = all.iter_mut().position(|own| {
                let is_usual = own.step(&mut striding, &stretch.due().time, seconds, end);
                if is_usual {
                    self.reached.store(moment.since_start, Relaxed);
                }
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

    /// Makes the steps of a batch one by one, up to its end, or to where a batch is worth while again. Returns the number of
    /// instants.
    fn make_one_by_one(
        &mut self,
        world: &'static World,
        lanes: &mut [Lane],
        stretch: &mut Instants,
        moment: &mut Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> u64 {
        let (mut instants, mut goes_on) = (0, true);
        while goes_on && !self.is_asked() && world.ending() != Ending::Discard {
            let end = stretch.next();
            moment.come_to(&stretch.due().time, self.begin, self.complete);
            goes_on = self.make_instant(world, lanes, 0, stretch.due(), end, moment, served);
            instants += 1;
            self.apart = self.apart.saturating_sub(1);
            goes_on &= stretch.go_on(end) && (self.apart > 0 || stretch.left() < FEW);
        }
        instants
    }

    /// Makes the steps of the instant `due`, to its `end`, from the task at this place on. Tells whether the next ones follow.
    #[inline(always)] // in two loops
    #[expect(clippy::too_many_arguments, reason = "what a run is made of")]
    fn make_instant(
        &mut self,
        world: &'static World,
        lanes: &mut [Lane],
        first: usize,
        due: &Due,
        end: Instant,
        moment: &Moment,
        served: &mut Option<&'static PartitionHost>,
    ) -> bool {
        let mut goes_on = true;
        for task in &self.tasks[first..] {
            let lane = &mut lanes[task.0];
            if lane.failed.load(Relaxed) {
                continue;
            }
            if (first > 0 || !goes_on) && world.ending() == Ending::Discard {
                // The task was released at the last instant of the run.
                lane.site.cells.count(TaskWord::Discarded, 1);
                continue;
            }
            lane.serve(served);
            if lane.stride(due, moment.seconds, end) {
                goes_on = false;
                self.beside.extend(lane.activation.take_point().map(|point| (*task, point)));
            }
            self.reached.store(moment.since_start, Relaxed);
        }
        goes_on
    }
}

/// The fast paths of these tasks, in the order of their numbers; `None`: one can make no step now.
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
    /// Whether all releases from `time` on are regular, but for the last one of the run.
    fn strides_from(&self, time: Instant) -> bool {
        self.can_stride && (self.failed.load(Relaxed) || self.activation.strides_from(time))
    }

    /// Makes the regular step of the release `due`, whose time is `seconds`, to its `end`, and counts it. Returns whether the
    /// next release is another one than the next regular step.
    #[inline(always)] // in the one loop there is
    fn stride(&mut self, due: &Due, seconds: f64, end: Instant) -> bool {
        label_thread(self.unit.0 as u64 + 1);
        self.site.begin(&due.time);
        let strode = self.activation.stride(due, seconds, end);
        self.strode(strode)
    }

    /// Completes and counts the release whose step has left the fast path by `exit`.
    #[cold]
    fn settle_step(&mut self, unusual: FastPathExit, due: &Due, seconds: f64, end: Instant) {
        label_thread(self.unit.0 as u64 + 1);
        let strode = self.activation.settle_step(unusual, due, seconds, end);
        self.strode(strode);
    }

    #[inline(always)] // as what calls it
    fn strode(&mut self, strode: Result<bool, Halt>) -> bool {
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
