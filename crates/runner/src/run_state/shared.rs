//! The state that all threads of a run share: built before the first of them starts, never moved or resized afterwards.

use super::core_state::CoreState;
use super::instance_state::InstanceState;
use super::task_state::{GRID, RETUNED, TaskState};
use crate::cells;
use crate::cooperative::Turns;
use crate::core_occupancy::CoreOccupancy;
use crate::exchange::{Deadline, Latest, TickQueue, Versions};
use crate::horizon::Horizon;
use crate::integration_buffers::BufferSwap;
use crate::job::Job;
use crate::privileges::Granted;
use crate::serial::Serial;
use crate::signal_bundles::SignalBundles;
use crate::task_telemetry::TaskTelemetry;
use crossbeam::utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use vecud_base::time::{Fraction, Instant, Nanos};
use vecud_fmi::Numbers;
use vecud_linux::clock::SystemClock;
use vecud_linux::cycles::TickScale;
use vecud_linux::pi::PiWord;
use vecud_linux::preemption::PreemptionLock;
use vecud_linux::wake::WakeWord;
use vecud_plan::{FmuId, Length, Mode, Plan, TaskId, UnitId, control};
use vecud_record::board::{Board, Scheduling};
use vecud_record::ring::Ring;
use vecud_record::trace::note::{Note, WIDTH};
use vecud_record::trace::notes;

/// Why partition threads leave their loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Ending {
    /// They stay: the run goes on.
    No = 0,
    /// The stop time has come and everything before it is done.
    Finished = 1,
    /// A signal or an error: pending activations are thrown away.
    Discard = 2,
}

/// The state that the threads of a run share.
pub struct RunState {
    /// The plan that is run.
    pub plan: Plan,
    /// Simulation time of the start instant: the plan's start, or where a run was left that this one goes on with.
    pub begin: Instant,
    /// [`RunState::begin`] in nanoseconds.
    pub(crate) begin_nanos: Nanos,
    /// The state is saved at the end, with all pending activations.
    pub saves: bool,
    /// The memory shared with the supervisor.
    pub board: Board<'static>,
    /// The shared state of each instance, by [`FmuId`].
    pub instances: Vec<InstanceState>,
    /// Per unit: its task. Apart from the plan, since every tick that is handed on looks here.
    pub task_of: Box<[TaskId]>,
    /// Per unit, each on cache lines of its own: threads on other cores write to them all the time.
    pub tasks: Vec<CachePadded<TaskState>>,
    /// Connections whose values travel together.
    pub bundles: SignalBundles,
    /// Per connection: its newest value; of a delayed one, and of one in a signal bundle, that of Initialization Mode.
    pub cells: Vec<Latest>,
    /// Per connection: the versions of a delayed one.
    pub versions: Vec<Option<Versions>>,
    /// Per core in use.
    pub cores: Vec<CoreState>,
    /// Per unit: its counters, histograms and note rings.
    pub telemetry: Vec<TaskTelemetry>,
    /// The words by which threads take turns, by [`Plan::serials`].
    pub serials: Box<[PiWord]>,
    /// Ticks and deadlines handed over since the start. Changes whenever work moves from one task to another, so that a thread
    /// that looks at several tasks can tell whether it missed something in between.
    pub dispatches: AtomicU64,
    /// Up to where external events are over.
    pub horizon: Horizon,
    /// How partitions are scheduled.
    pub scheduling: Scheduling,
    /// Partition threads stay on the cores that the plan gives them.
    pub pinned: bool,
    /// The clock of releases.
    pub clock: SystemClock,
    /// Converts time stamp differences of the lock.
    pub scale: TickScale,
    pub(super) ending: AtomicU64,
    /// [`RunState::until`].
    pub(super) ends_at: AtomicI64,
    /// Partition threads may end.
    pub(super) dismissed: AtomicBool,
    /// The common start instant by that clock; 0 while it is not known.
    pub(crate) start: AtomicI64,
    /// [`RunState::held_at`].
    pub(crate) held_at: AtomicI64,
    /// [`RunState::since`].
    pub(crate) since: AtomicI64,
    /// The simulation time, ns, at which the run was held last; `i64::MIN`: it never was.
    pub(crate) stood_at: AtomicI64,
}

impl RunState {
    /// The state of a run, before anything is initialised.
    pub fn new(job: &Job, board: Board<'static>, granted: Granted, scale: TickScale) -> Result<RunState, String> {
        let plan = job.plan.clone();
        let Granted { scheduling, pinned } = granted;
        let clock = SystemClock::tai_if(plan.keeps_tai());
        let mut cores: Vec<(usize, Vec<UnitId>)> = Vec::new();
        let mut places = Vec::new();
        for unit in (0..plan.units.len()).map(UnitId) {
            let own = plan.task_of(unit).cpu;
            let core = cores.iter().position(|(cpu, _)| *cpu == own).unwrap_or_else(|| {
                cores.push((own, Vec::new()));
                cores.len() - 1
            });
            places.push((core, cores[core].1.len()));
            cores[core].1.push(unit);
        }
        let fifo = scheduling == Scheduling::Fifo;
        let shared = if fifo { plan.shared() } else { Vec::new() };
        let shared_by = |fmu: FmuId| -> Vec<&Vec<UnitId>> {
            shared.iter().filter(|units| plan.units[units[0].0].fmu == fmu).collect()
        };
        let ahead = |index: usize| {
            let own = plan.task_of(UnitId(index));
            let equal = |id: &UnitId| plan.task_of(*id).cpu == own.cpu && plan.task_of(*id).fifo == own.fifo;
            (0..if fifo { index } else { 0 }).map(UnitId).filter(equal).collect()
        };
        let tasks = (places.into_iter().zip(&plan.units).enumerate())
            .map(|(index, ((core, place), unit))| {
                CachePadded::new(TaskState {
                    wake: WakeWord::on(clock),
                    ticks: TickQueue::default(),
                    armed: Latest::new(Deadline::WIDTH),
                    armed_seen: AtomicU64::new(0),
                    retuned: Latest::new(RETUNED),
                    retuned_seen: AtomicU64::new(0),
                    ticked_by: AtomicU64::new(0),
                    root: AtomicU64::new(0),
                    has_ticked: (0..plan.fmus[unit.fmu.0].output_clocks.len().div_ceil(64))
                        .map(|_| AtomicU64::new(0))
                        .collect(),
                    grid: Latest::new(GRID),
                    next: AtomicI64::new(job.begin.nanos().0),
                    finished: AtomicBool::new(false),
                    core,
                    place,
                    ahead: ahead(index),
                    shared: shared_by(unit.fmu).iter().position(|units| units.contains(&UnitId(index))),
                    kind: unit.partition().map(|partition| partition.kind),
                })
            })
            .collect();
        let instances = (0..plan.fmus.len())
            .map(|index| {
                let own = plan.units.iter().filter(|unit| unit.fmu == FmuId(index));
                let ceiling = own.map(|unit| plan.tasks[unit.task.0].fifo.get()).max().filter(|_| fifo);
                let lock = PreemptionLock::new(plan.fmus[index].levels, ceiling)
                    .map_err(|error| format!("fmu `{}`: {error}", plan.fmus[index].name))?
                    .with_shared(shared_by(FmuId(index)).len());
                Ok(InstanceState {
                    lock,
                    turns: Turns::new(plan.units.iter().map(|unit| (unit.fmu == FmuId(index)).then_some(unit.level))),
                    updates: OnceLock::new(),
                    failed: AtomicBool::new(false),
                    given_up: AtomicBool::new(false),
                    sizes: plan.fmus[index].sizes.iter().map(|size| AtomicU64::new(size.start)).collect(),
                    resized: AtomicU64::new(0),
                    steps: plan
                        .units
                        .iter()
                        .position(|unit| unit.fmu == FmuId(index) && unit.is_contiguous())
                        .map(UnitId),
                    ticks: match plan.fmus[index].output_clocks.as_slice() {
                        clocks if clocks.iter().any(|clock| clock.input.is_some()) => {
                            clocks.iter().map(|_| TickQueue::default()).collect()
                        }
                        _ => Box::default(),
                    },
                    buffer_swap: BufferSwap::default(),
                    between: Mutex::default(),
                })
            })
            .collect::<Result<_, String>>()?;
        let cells = plan.connections.iter().map(cells::cell).collect();
        let telemetry = (0..plan.units.len()).map(|unit| TaskTelemetry::new(board, &plan, UnitId(unit))).collect();
        let versions = plan.connections.iter().map(|connection| cells::versions(&plan, connection)).collect();
        let cores = cores
            .into_iter()
            .map(|(_, units)| CoreState {
                pending: (0..units.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
                units,
                executed: AtomicI64::new(0),
                occupancy: CoreOccupancy::new(),
            })
            .collect();
        Ok(RunState {
            begin: job.begin,
            begin_nanos: job.begin.nanos(),
            saves: job.save_state,
            board,
            instances,
            tasks,
            bundles: SignalBundles::lay(&plan),
            task_of: plan.units.iter().map(|unit| unit.task).collect(),
            serials: plan.serials.iter().map(|_| PiWord::new()).collect(),
            plan,
            cells,
            versions,
            cores,
            telemetry,
            dispatches: AtomicU64::new(0),
            horizon: Horizon::new(),
            scheduling,
            pinned,
            clock,
            scale,
            ending: AtomicU64::new(Ending::No as u64),
            ends_at: AtomicI64::new(i64::MAX),
            dismissed: AtomicBool::new(false),
            start: AtomicI64::new(0),
            held_at: AtomicI64::new(i64::MAX),
            since: AtomicI64::new(0),
            stood_at: AtomicI64::new(i64::MIN),
        })
    }

    /// Notes something for the trace. In virtual time nothing is lost: waits for the supervisor to read.
    #[inline(always)] // what a kind of note does not have is known where it is made
    pub fn trace_in(&self, ring: &Ring, note: Note) {
        if self.scheduling == Scheduling::Virtual {
            ring.wait_for_room(WIDTH);
        }
        notes::push(ring, [&note]);
    }

    /// By which the calling thread takes turns for the steps of `unit`; `None`: it takes none.
    pub fn serial(&self, unit: UnitId) -> Option<Serial<'_>> {
        self.plan.serial_of(unit).map(|serial| Serial::by(&self.serials[serial]))
    }

    /// The shortest period that there can be. A thread that leaves out releases faster than they come must get ahead of
    /// them.
    pub fn shortest_period(&self) -> Fraction {
        match self.plan.mode {
            Mode::RealTime => Fraction::MICROSECOND,
            Mode::Virtual => Fraction::ZERO,
        }
    }

    /// The number of elements of a variable of this instance now.
    pub fn elements(&self, fmu: FmuId, lengths: &[Length]) -> usize {
        let sizes = &self.instances[fmu.0].sizes;
        control::elements(lengths, |size| sizes[size].load(Relaxed))
    }

    /// How many states and event indicators this instance has by its description with the structural parameters that it has now.
    pub fn described_now(&self, fmu: FmuId) -> Numbers {
        let size = |size: usize| self.instances[fmu.0].sizes[size].load(Relaxed);
        let own = self.plan.fmus[fmu.0].model_exchange();
        let numbers = own.map(|own| own.numbers(size)).unwrap_or_default();
        Numbers { states: numbers.0, event_indicators: numbers.1 }
    }
}
