//! The life of the runner's process, from its two file descriptors to its exit code.

use super::activation::Activation;
use super::initialise::{self, Ready, Refusal};
use super::thread_host::{Dispatch, PartitionHost};
use super::world::World;
use super::{shutdown, threads, virtual_time};
use crate::ffi::{Partition, set_thread_host};
use crate::plan::{FmuId, Mode, Plan, TaskId};
use crate::record::board::{Board, Global, Layout, Phase, Scheduling};
use crate::record::log::LONGEST;
use crate::sys::crash::{self, LastWords};
use crate::sys::cycles::Scale;
use crate::sys::latency::CpuDmaLatency;
use crate::sys::preemption::Partition as LockMember;
use crate::sys::shared_memory::SharedMemory;
use crate::sys::wake::monotonic_now;
use crate::sys::{SysError, memory, process, scheduling, thread};
use crate::time::{Instant, Nanos};
use std::cell::RefCell;
use std::sync::atomic::Ordering::SeqCst;

/// Where the runner finds the shared memory.
pub const SHARED_MEMORY_FD: i32 = 3;
/// Where the runner finds the serialised plan.
pub const PLAN_FD: i32 = 4;

/// Runs what the supervisor has prepared. Returns the exit code: 0 when the run came to its end in the regular way, 1
/// when it failed, 2 when an FMU could not be loaded.
pub fn main() -> i32 {
    match prepare() {
        Ok((plan, board)) => run(plan, board),
        Err(message) => {
            eprintln!("vecud runner: {message}");
            2
        }
    }
}

fn prepare() -> Result<(Plan, Board<'static>), String> {
    const NOT_BY_HAND: &str = "this process is started by `vecud run`, not by hand";
    let bytes = process::inherited(PLAN_FD)
        .and_then(process::read_to_end)
        .map_err(|error| format!("{NOT_BY_HAND} (no plan: {error})"))?;
    let plan: Plan = postcard::from_bytes(&bytes).map_err(|error| format!("the plan is unreadable: {error}"))?;
    let file = process::inherited(SHARED_MEMORY_FD).map_err(|error| format!("{NOT_BY_HAND} ({error})"))?;
    // Both live as long as the process: FMU code may call back until its very end.
    let shared: &'static SharedMemory = Box::leak(Box::new(SharedMemory::open(file).map_err(|e| e.to_string())?));
    let layout: &'static Layout = Box::leak(Box::new(Layout::of(&plan)));
    if shared.words().len() < layout.words() {
        return Err("the shared memory does not fit the plan".into());
    }
    shared.prefault();
    Ok((plan, Board::new(shared.words(), layout)))
}

fn run(plan: Plan, board: Board<'static>) -> i32 {
    let set = |word: Global, value: u64| board.global(word).store(value, SeqCst);
    let say = |status: u8, message: &str| board.log().push(None, status, monotonic_now(), b"", message.as_bytes());
    let last_words = LastWords {
        signal: board.global(Global::CrashSignal),
        label: board.global(Global::CrashTask),
        sender: board.global(Global::CrashSender),
        exit: board.global(Global::ExitCalled),
    };
    let _only_for_ps = thread::set_name("vecud-runner");
    for result in [crash::install(last_words), crash::follow_parent()] {
        if let Err(error) = result {
            say(1, &error.to_string());
        }
    }
    let scheduling = scheduling_of(&plan, &say);
    set(Global::Scheduling, scheduling as u64 + 1);
    let dma_latency = (scheduling == Scheduling::Fifo).then(CpuDmaLatency::hold);
    match &dma_latency {
        Some(Ok(_)) => set(Global::DmaLatency, 1),
        Some(Err(error)) => say(1, &error.to_string()),
        None => (),
    }
    let scale = Scale::calibrate(20_000_000);
    let world: &'static World = match World::new(plan, board, scheduling, scale) {
        Ok(world) => Box::leak(Box::new(world)),
        Err(message) => {
            say_all(&message, &say);
            board.set_phase(Phase::Refused);
            return 2;
        }
    };
    let code = simulate(world, &say);
    set(Global::ForeignCalls, crate::ffi::foreign_calls());
    set(Global::Panicked, u64::from(crate::ffi::host_panicked()));
    board.set_phase(if code == 2 { Phase::Refused } else { Phase::Done });
    crash::expect_exit();
    code
}

/// Finds out by trying what the kernel lets us do (design S8).
fn scheduling_of(plan: &Plan, say: &dyn Fn(u8, &str)) -> Scheduling {
    if plan.mode == Mode::Virtual {
        return Scheduling::Virtual;
    }
    match scheduling::probe_fifo(plan.host.fifo_band.1.get()) {
        Ok(()) => Scheduling::Fifo,
        Err(error) => {
            say(1, &no_real_time(&error));
            Scheduling::Cooperative
        }
    }
}

/// What a user without privileges has to know: what is missing, what that means, and the one command that gives it.
fn no_real_time(error: &SysError) -> String {
    let program = std::env::current_exe().map_or_else(|_| "vecud".to_owned(), |path| path.display().to_string());
    let way_out = match error.fix == scheduling::PRIVILEGE_FIX {
        true => format!("sudo setcap cap_sys_nice,cap_ipc_lock=ep '{program}'   (or run as root)"),
        false => error.fix.to_owned(),
    };
    format!(
        "NO REAL-TIME PRIORITY: {}. This run is cooperative: one partition of an FMU at a time, the most urgent one first; \
         results are right, latencies are those of an ordinary process. To get it: {way_out}",
        error.cause()
    )
}

fn lock_memory(world: &World, say: &dyn Fn(u8, &str)) {
    if world.scheduling == Scheduling::Virtual || !world.plan.host.lock_memory {
        return;
    }
    if let Err(error) = memory::keep_heap(world.plan.tasks.len() + 2) {
        say(1, &error.to_string());
    }
    match memory::lock_all() {
        Ok(()) => world.board.global(Global::MemoryLocked).store(1, SeqCst),
        Err(error) => say(1, &format!("MEMORY IS NOT LOCKED: {error}")),
    }
}

fn simulate(world: &'static World, say: &dyn Fn(u8, &str)) -> i32 {
    lock_memory(world, say);
    world.board.set_phase(Phase::Loading);
    let libraries = match initialise::load(world) {
        Ok(libraries) => libraries,
        Err(refusal) => return refused(refusal, say),
    };
    world.board.set_phase(Phase::Initialising);
    let virtual_time = world.scheduling == Scheduling::Virtual;
    let hosts: Vec<&'static PartitionHost> = (0..world.plan.fmus.len())
        .map(|fmu| {
            let dispatch = match virtual_time {
                true => Dispatch::Events(RefCell::new(Vec::with_capacity(64))),
                false => Dispatch::Threads,
            };
            let host = PartitionHost::new(world, FmuId(fmu), LockMember::outside(), dispatch);
            // As long as the process: FMU code may call back until its very end.
            &*Box::leak(Box::new(host))
        })
        .collect();
    let (ready, armed) = match initialise::initialise(world, &libraries, &hosts) {
        Ok(initialised) => initialised,
        Err(refusal) => return refused(refusal, say),
    };
    let mut controls = Vec::new();
    let mut partitions: Vec<(TaskId, Partition)> = Vec::new();
    for Ready { control, partitions: own } in ready {
        controls.push(control);
        partitions.extend(own);
    }
    partitions.sort_by_key(|(task, _)| *task);
    let activations: Vec<Activation> =
        partitions.into_iter().map(|(task, partition)| Activation::new(world, task, partition)).collect();
    set_thread_host(None);
    let (activations, ran) = match virtual_time {
        true => (run_virtual(world, activations, &hosts, &armed), true),
        false => match threads::run(world, activations, &armed, say) {
            Ok(activations) => (activations, true),
            Err(activations) => (activations, false),
        },
    };
    world.board.set_phase(Phase::Stopping);
    world.board.global(Global::Complete).store(i64::MAX as u64, SeqCst);
    shutdown::end_instances(world, controls, activations, &hosts);
    drop(libraries);
    let failed = world.instances.iter().any(|instance| instance.failed.load(SeqCst));
    i32::from(failed || !ran)
}

fn run_virtual(
    world: &'static World,
    mut activations: Vec<Activation>,
    hosts: &[&'static PartitionHost],
    armed: &[Option<Instant>],
) -> Vec<Activation> {
    world.set_start(Nanos(monotonic_now()));
    world.board.set_phase(Phase::Running);
    virtual_time::run(world, &mut activations, hosts, armed);
    world.board.global(Global::Ended).store(monotonic_now() as u64, SeqCst);
    activations
}

fn refused(refusal: Refusal, say: &dyn Fn(u8, &str)) -> i32 {
    match refusal {
        Refusal::Invalid(message) => {
            say_all(&message, say);
            2
        }
        Refusal::Failed => 1,
    }
}

/// Why there is no run, in as many log lines as it takes: a list of missing functions is longer than one. The supervisor
/// puts them together again.
fn say_all(message: &str, say: &dyn Fn(u8, &str)) {
    let mut rest = message;
    while !rest.is_empty() {
        let end = (0..=LONGEST.min(rest.len())).rev().find(|&at| rest.is_char_boundary(at));
        let (piece, more) = rest.split_at(end.unwrap_or(rest.len()));
        say(3, piece);
        rest = more;
    }
}
