//! Finds the operating system's permissions of this run, by trying, and acts on them (semantics S8).
//!
//! No refusal ends a run: it goes on with less, and one line for each refusal tells the operation, the error, the consequence,
//! and the command that changes it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::Ordering::SeqCst;
use vecud_linux::resident::{self, Extent, LockingOrder};
use vecud_linux::{SysError, affinity, confine, memory, scheduling, stack};
use vecud_plan::{Mode, Plan};
use vecud_record::board::{Board, Global, Scheduling};
use vecud_record::log::kind;

/// Tells the supervisor: status, [kind] and text of a problem.
pub type Say<'a> = &'a dyn Fn(u8, &str, &str);

/// Priority of the kernel's interrupt threads.
const INTERRUPTS: u8 = 50;

/// How partitions are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Real-time or cooperative scheduling.
    pub scheduling: Scheduling,
    /// Threads stay on the cores that the plan gives them.
    pub pinned: bool,
}

/// Finds out the kernel's permissions, and reports the missing ones.
pub fn granted(plan: &Plan, say: Say) -> Granted {
    if plan.mode == Mode::Virtual {
        return Granted { scheduling: Scheduling::Virtual, pinned: false };
    }
    let fifo = match no_real_time(plan) {
        Some(refusal) => {
            say(1, kind::NOT_REAL_TIME, &refusal);
            false
        }
        None => true,
    };
    let cpus = BTreeSet::from_iter(plan.cores());
    let unpinned = cpus.into_iter().find_map(|cpu| affinity::probe_pin(cpu).err());
    let pinned = unpinned.is_none();
    if let Some(error) = unpinned {
        // Under SCHED_FIFO on several cores partitions of one FMU would run side by side (semantics S6).
        let so = if fifo { ", so this run is cooperative: one partition of an FMU at a time" } else { "" };
        say(1, kind::NOT_REAL_TIME, &format!("PARTITIONS ARE NOT BOUND TO THEIR CORES{so}: {error}"));
    }
    if !fifo || !pinned {
        return Granted { scheduling: Scheduling::Cooperative, pinned };
    }
    if let Some(limited) = limited(plan) {
        say(1, kind::NOT_REAL_TIME, &limited);
    }
    if let Err(error) = scheduling::lift_time_limit() {
        say(
            1,
            kind::NOT_REAL_TIME,
            &format!(
                "A PARTITION THAT COMPUTES FOR LONGER WITHOUT A PAUSE ENDS THE RUN (by SIGXCPU or SIGKILL): {error}"
            ),
        );
    }
    Granted { scheduling: Scheduling::Fifo, pinned }
}

/// Limits the machine's memory that FMU code may take.
pub fn limit_memory(plan: &Plan, say: Say) {
    let bytes = memory::data_limit(plan.host.memory_limit_mib);
    let each = stack::size(plan.host.stack_kib * 1024) as u64;
    // In virtual time there is one from the beginning.
    let (own, later) = (if plan.mode == Mode::Virtual { each } else { 0 }, plan.units.len() as u64 * each);
    if let Some(Err(error)) = bytes.map(|bytes| memory::limit_data(bytes.saturating_add(own), later)) {
        say(1, kind::UNPROTECTED, &format!("FMU CODE MAY TAKE ALL MEMORY: {error}"));
    }
}

/// Gives up the privileges that FMU code does not need, for good. To be called while there is one thread: capabilities belong to
/// threads.
pub fn give_away(plan: &Plan, granted: Granted, say: Say) {
    let fifo = if granted.scheduling == Scheduling::Fifo { plan.host.fifo_band.1.get() } else { 0 };
    if let Err(error) = confine::confine(fifo) {
        say(
            1,
            kind::UNPROTECTED,
            &format!("FMU CODE HAS PRIVILEGES THAT IT DOES NOT NEED, or could get them: {error}"),
        );
    }
}

/// Why this run is cooperative, with the consequence and the command that changes it; `None`: it need not be.
fn no_real_time(plan: &Plan) -> Option<String> {
    let (asked, band) = (plan.host.fifo_asked.1.get(), plan.host.fifo_band.1.get());
    let error = scheduling::probe_fifo(if plan.host.cooperative.is_some() { asked } else { band }).err()?;
    let too_few = match (&plan.host.cooperative, scheduling::highest_fifo(asked)) {
        (Some(reason), (Some(highest), _)) => format!(", only up to {highest}, and {reason}"),
        _ => String::new(),
    };
    Some(format!(
        "NO REAL-TIME PRIORITY: {}{too_few}. This run is cooperative: one partition of an FMU at a time, the most urgent one \
         first; results are right, latencies are those of an ordinary process. To get it: {}",
        error.cause(),
        error.fix
    ))
}

/// The consequence of partitions that run below the priorities of the rig; `None`: they do not.
fn limited(plan: &Plan) -> Option<String> {
    let (asked, band) = (plan.host.fifo_asked, plan.host.fifo_band);
    if asked == band {
        return None;
    }
    let used = plan.tasks.iter().map(|task| task.fifo.get());
    let (low, high) = (used.clone().min()?, used.max()?);
    let refused = scheduling::probe_fifo(asked.1.get()).err();
    let (cause, fix) = refused.map_or_else(Default::default, |error| {
        (format!(" ({})", error.cause()), format!(". To get what the rig asks for: {}", error.fix))
    });
    let interrupts = match low <= INTERRUPTS {
        true => format!("threads of the kernel for interrupts ({INTERRUPTS}) and "),
        false => String::new(),
    };
    Some(format!(
        "REAL-TIME PRIORITIES ARE LIMITED: the rig asks for {} to {}{cause}; partitions run at {low} to {high}, in the same \
         order. {interrupts}real-time threads of others above {low} come before some of them{fix}",
        asked.0.get(),
        asked.1.get()
    ))
}

/// Locks everything, now and in future, if the kernel lets us; before FMUs are loaded.
pub fn lock_memory(plan: &Plan, board: Board, say: Say) {
    if plan.mode == Mode::Virtual || !plan.host.lock_memory {
        return;
    }
    if let Err(error) = memory::keep_heap(plan.units.len() + 2) {
        say(1, kind::MEMORY_NOT_LOCKED, &error.to_string());
    }
    if memory::lock_all().is_ok() {
        board.global(Global::MemoryLocked).store(1, SeqCst);
    }
}

/// Notes the amount of locked memory once everything is allocated that a run needs. Where not all could be locked, locks as much
/// as the kernel permits, the prefaulted parts of the partitions' `stacks` first.
pub fn settle_memory(plan: &Plan, board: Board, stacks: Vec<Range<usize>>, say: Say) {
    if !plan.host.lock_memory {
        return;
    }
    let all = board.global(Global::MemoryLocked).load(SeqCst) == 1;
    let refused = if all { None } else { memory::lock_all().err() };
    let extent = match &refused {
        None => {
            // Looked at once: the look itself may make the heap grow, and that is locked too.
            let wanted = resident::wanted(&stacks);
            Extent { locked: wanted, wanted }
        }
        Some(_) => {
            resident::populate_files();
            let library =
                |fmu: &vecud_plan::FmuPlan| fmu.library.canonicalize().unwrap_or_else(|_| fmu.library.clone());
            let libraries = plan.fmus.iter().map(library).collect();
            let shared = std::ptr::from_ref(board.global(Global::Phase)).addr();
            resident::lock(&LockingOrder { stacks, shared, libraries })
        }
    };
    for (word, value) in [
        (Global::MemoryLocked, u64::from(extent.locked == extent.wanted)),
        (Global::MemoryLockedBytes, extent.locked as u64),
        (Global::MemoryWantedBytes, extent.wanted as u64),
    ] {
        board.global(word).store(value, SeqCst);
    }
    if let Some(error) = refused {
        let status = u8::from(extent.locked < extent.wanted);
        say(status, kind::MEMORY_NOT_LOCKED, &partly_locked(extent, &error));
    }
}

fn partly_locked(extent: Extent, error: &SysError) -> String {
    let kib = |bytes: usize| bytes / 1024;
    match extent {
        Extent { locked: 0, .. } => {
            format!(
                "MEMORY IS NOT LOCKED: the kernel may take pages away, and partitions wait for their return: {error}"
            )
        }
        Extent { locked, wanted } if locked < wanted => format!(
            "MEMORY IS LOCKED IN PART: {} of {} KiB, partitions' stacks and FMU code first; the kernel may take the other \
             pages away, and partitions wait for their return: {error}",
            kib(locked),
            kib(wanted)
        ),
        Extent { locked, .. } => {
            format!("the {} KiB of memory are locked, what is mapped from now on is not: {error}", kib(locked))
        }
    }
}
