//! Whether the machine stood still: a hypervisor that gives the cores to somebody else cannot be told from a host that is late,
//! by looking at a run alone.
//!
//! So somebody else looks as well: a thread on each core, more urgent than every partition, which does nothing but sleep and see
//! how late it wakes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, Once, PoisonError};
use std::time::Duration;
use vecud::sys::wake::monotonic_now;
use vecud::sys::{affinity, scheduling, thread};

/// More urgent than every partition of a rig that does not say otherwise.
const PRIORITY: u8 = 98;
const PERIOD: Duration = Duration::from_micros(250);
/// What is later than this was no scheduling of the kernel's: a stall of the machine (ns).
const STALL: i64 = 250_000;

/// There are no privileges to look with.
pub struct Unseen;

/// When each stall ended, and how long it was (ns).
static STALLS: Mutex<Vec<(i64, i64)>> = Mutex::new(Vec::new());
static UNSEEN: AtomicBool = AtomicBool::new(false);

/// How many want to know.
static WATCHES: AtomicUsize = AtomicUsize::new(0);
static IDLE: Mutex<()> = Mutex::new(());
static WANTED: Condvar = Condvar::new();

/// As long as there is one, somebody looks: each look costs some microseconds, 4,000 times a second on each core.
pub struct Watch(());

impl Watch {
    pub fn begin() -> Watch {
        static WITNESSES: Once = Once::new();
        {
            let _idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            WATCHES.fetch_add(1, Relaxed);
            WANTED.notify_all();
        }
        WITNESSES.call_once(|| {
            for cpu in affinity::allowed_cpus().unwrap_or_default() {
                std::thread::spawn(move || witness(cpu));
            }
        });
        Watch(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHES.fetch_sub(1, Relaxed);
    }
}

/// The longest time by which a core has been away since `began` (ns), if it was for too long.
pub fn longest_since(began: i64) -> Result<Option<i64>, Unseen> {
    if UNSEEN.load(Relaxed) {
        return Err(Unseen);
    }
    let stalls = STALLS.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(stalls.iter().filter(|(ended, _)| *ended >= began).map(|(_, length)| *length).max())
}

fn witness(cpu: usize) {
    let placed = affinity::pin_to(cpu).and_then(|()| thread::minimize_timer_slack());
    if placed.and_then(|()| scheduling::set_fifo(PRIORITY)).is_err() {
        UNSEEN.store(true, Relaxed);
        return;
    }
    loop {
        if WATCHES.load(Relaxed) == 0 {
            let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            drop(WANTED.wait_while(idle, |()| WATCHES.load(Relaxed) == 0));
        }
        let due = monotonic_now() + PERIOD.as_nanos() as i64;
        std::thread::sleep(PERIOD);
        let now = monotonic_now();
        if now - due > STALL {
            STALLS.lock().unwrap_or_else(PoisonError::into_inner).push((now, now - due));
        }
    }
}
