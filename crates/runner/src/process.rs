//! The life of the runner's process, from its three file descriptors to its exit code.

use super::job::Job;
use super::leave::leave;
use super::privileges::Granted;
use super::sequence::Sequence;
use super::{printed, privileges};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use vecud_linux::crash::{self, LastWords};
use vecud_linux::cycles::TickScale;
use vecud_linux::latency::CpuDmaLatency;
use vecud_linux::shared_memory::SharedMemory;
use vecud_linux::wake::monotonic_now;
use vecud_linux::{process, surroundings, thread};
use vecud_plan::Mode;
use vecud_plan::snapshot::Snapshot;
use vecud_record::board::{Board, Global, Layout, OutsideCall, Phase, Scheduling};
use vecud_record::log::kind;

/// Where the runner finds the shared memory.
pub const SHARED_MEMORY_FD: i32 = 3;
/// Where the runner finds the serialised job.
pub const JOB_FD: i32 = 4;
/// Where the runner finds the state to go on from, if there is one, and leaves the one that it saves.
pub const STATE_FD: i32 = 5;
/// Where the runner finds the output folder.
pub const FOLDER_FD: i32 = 6;

/// Runs the supervisor's job, and ends the process: with 0 when the last run came to its regular end, 1 when it failed, 2 when an
/// FMU could not be loaded. Returns 2 where it was not started properly.
pub fn main() -> i32 {
    match prepare() {
        Ok(prepared) => run(prepared),
        Err(message) => {
            eprintln!("vecud runner: {message}");
            2
        }
    }
}

/// The supervisor's job and the shared memory.
struct Prepared {
    job: Job,
    board: Board<'static>,
    resumed: Option<Snapshot>,
    state_file: File,
}

fn prepare() -> Result<Prepared, String> {
    const NOT_BY_HAND: &str = "this process is started by `vecud run`, not by hand";
    let bytes = process::inherited(JOB_FD)
        .and_then(process::read_to_end)
        .map_err(|error| format!("{NOT_BY_HAND} (no plan: {error})"))?;
    let job: Job = postcard::from_bytes(&bytes).map_err(|error| format!("the plan is unreadable: {error}"))?;
    let mut state_file: File = process::inherited(STATE_FD).map_err(|error| format!("{NOT_BY_HAND} ({error})"))?.into();
    let mut state = Vec::new();
    state_file.read_to_end(&mut state).map_err(|error| format!("the state is unreadable: {error}"))?;
    let resumed = match state.as_slice() {
        [] => None,
        bytes => Some(Snapshot::from_bytes(bytes).map_err(|error| format!("the state {error}"))?),
    };
    // From here on it is for the state that is saved.
    state_file.set_len(0).and_then(|()| state_file.rewind()).map_err(|error| error.to_string())?;
    let file = process::inherited(SHARED_MEMORY_FD).map_err(|error| format!("{NOT_BY_HAND} ({error})"))?;
    // Both live as long as the process: FMU code may call back until its very end.
    let shared: &'static SharedMemory = Box::leak(Box::new(SharedMemory::open(file).map_err(|e| e.to_string())?));
    let layout: &'static Layout = Box::leak(Box::new(Layout::of(&job.plan)));
    if shared.words().len() < layout.words() {
        return Err("the shared memory does not fit the plan".into());
    }
    shared.prefault();
    Ok(Prepared { job, board: Board::new(shared.words(), layout), resumed, state_file })
}

fn run(Prepared { job, board, resumed, state_file }: Prepared) -> ! {
    let set = |word: Global, value: u64| board.global(word).store(value, SeqCst);
    let say = sayer(board);
    let last_words = LastWords {
        signal: board.global(Global::CrashSignal),
        label: board.global(Global::CrashTask),
        foreign: board.global(Global::CrashForeign),
        sender: board.global(Global::CrashSender),
        code: board.global(Global::CrashCode),
        stack: board.global(Global::CrashStack),
        out_of_memory: board.global(Global::OutOfMemory),
        exit: board.global(Global::ExitCalled),
    };
    let _only_for_ps = thread::set_name("vecud-runner");
    if let Err(error) = crash::install(last_words) {
        say(1, kind::UNPROTECTED, &format!("A CRASH OF FMU CODE WOULD NOT BE EXPLAINED: {error}"));
    }
    if let Err(error) = crash::follow_parent(job.supervisor) {
        say(1, kind::UNPROTECTED, &format!("SHOULD VECUD BE KILLED, ITS RUNNER WOULD GO ON: {error}"));
    }
    let granted = privileges::granted(&job.plan, &say);
    set(Global::Scheduling, granted.scheduling as u64 + 1);
    let dma_latency = (granted.scheduling == Scheduling::Fifo).then(CpuDmaLatency::hold);
    match &dma_latency {
        Some(Ok(_)) => set(Global::DmaLatency, 1),
        Some(Err(error)) => {
            say(1, kind::NOT_REAL_TIME, &format!("CORES MAY SLEEP DEEPLY, and take long to wake: {error}"))
        }
        None => (),
    }
    let folder = process::inherited(FOLDER_FD);
    privileges::limit_memory(&job.plan, &say);
    surroundings::add_to_environment(&job.plan.host.environment);
    // No foreign code has run yet, and the threads that tried the privileges have ended.
    privileges::give_away(&job.plan, granted, &say);
    let prepared = Prepared { job, board, resumed, state_file };
    match prepared.job.plan.mode {
        Mode::RealTime => serve(prepared, granted, folder),
        // Partitions have the stack here that they have on threads of their own in real time, and all code of an FMU one thread.
        Mode::Virtual => {
            let ready = prepared.job.plan.host.stack_kib * 1024;
            thread::in_place("vecud-runner", ready, move || serve(prepared, granted, folder))
        }
    }
}

/// Tells the supervisor.
fn sayer(board: Board<'static>) -> impl Fn(u8, &str, &str) {
    move |status, kind, message| {
        board.log().push(None, status, monotonic_now(), kind.as_bytes(), message.as_bytes());
    }
}

/// Runs the job on the calling thread, and ends the process. `folder`: the output folder.
fn serve(
    Prepared { job, board, resumed, state_file }: Prepared,
    granted: Granted,
    folder: std::io::Result<OwnedFd>,
) -> ! {
    let set = |word: Global, value: u64| board.global(word).store(value, SeqCst);
    let say = sayer(board);
    surroundings::keep();
    let log = process::Log::of_this_process(job.log_of(1)).map(Arc::new);
    let limited = match &log {
        Ok(log) => {
            let folder = folder.as_ref().ok().and_then(|folder| folder.try_clone().ok());
            printed::limit(&job, board, Arc::clone(log), folder).map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = limited {
        say(1, kind::UNPROTECTED, &format!("what FMU code prints has no limit: {error}"));
    }
    // In virtual time no thread waits for a lock, and only its hold times are measured.
    let scale = TickScale::calibrate(if job.plan.mode == Mode::Virtual { 1_000_000 } else { 20_000_000 });
    let sequence = Sequence { job, board, granted, scale, folder, log: log.ok(), resumed, state_file, say: &say };
    let code = sequence.run();
    set(Global::Panicked, u64::from(vecud_fmi::host_panicked()));
    // The results of the run are complete from here on, whatever destructors do.
    let unloads = |label: u64| set(Global::OutsideCall, label << 32 | OutsideCall::UNLOADING);
    unloads(0);
    board.set_phase(if code == 2 { Phase::Refused } else { Phase::Done });
    leave(code, unloads)
}
