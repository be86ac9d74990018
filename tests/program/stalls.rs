//! Tests in real time on machines that stop for milliseconds now and then: a hypervisor that gives the cores to somebody
//! else cannot be told from a host that is late, by looking at the run alone.
//!
//! So somebody else looks as well: a thread on each core, more urgent than every partition, which does nothing but sleep
//! and see how late it wakes. A test that fails while it woke late has proved nothing and is repeated, visibly; one that
//! fails while the machine was there fails. Without real-time privileges nobody can look, and a test has to pass once.

use std::io::Write as _;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::time::Duration;
use vecud::sys::wake::monotonic_now;
use vecud::sys::{affinity, scheduling, thread};

/// How often a test is begun.
const TRIALS: u32 = 10;
/// More urgent than every partition of a rig that does not say otherwise.
const PRIORITY: u8 = 98;
const PERIOD: Duration = Duration::from_micros(250);
/// What is later than this was no scheduling of the kernel's: a stall of the machine (ns).
const STALL: i64 = 250_000;
/// Nobody could look.
const UNKNOWN: i64 = i64::MAX;

/// Runs a test that can fail for a stall of the machine.
pub fn through_stalls<T: Send>(test: impl Fn() -> T + Sync) -> T {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let mut trial = 1;
    loop {
        let (result, stall) = with_witnesses(&name, &test);
        match result {
            Ok(result) => return result,
            Err(_) if stall > STALL && trial < TRIALS => {
                let why = match stall {
                    UNKNOWN => "there are no privileges to see whether the machine stopped".to_owned(),
                    stall => format!("the machine stopped for {:.1} ms", stall as f64 / 1e6),
                };
                // Past the test harness, which would keep it to itself.
                let _ = writeln!(std::io::stderr(), "REPEATED: {name}: failed, and {why} (trial {trial} of {TRIALS})");
                trial += 1;
            }
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// What the test said, and the longest time by which a core was away meanwhile (ns).
fn with_witnesses<T: Send>(name: &str, test: &(impl Fn() -> T + Sync)) -> (std::thread::Result<T>, i64) {
    let (over, longest) = (AtomicBool::new(false), AtomicI64::new(0));
    let result = std::thread::scope(|scope| {
        for cpu in affinity::allowed_cpus().unwrap_or_default() {
            let (over, longest) = (&over, &longest);
            scope.spawn(move || witness(cpu, over, longest));
        }
        // In a thread of its own: some tests bind theirs to a core, and a repetition is to begin without that.
        let test = std::thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, test);
        let result = test.expect("a thread for the test").join();
        over.store(true, SeqCst);
        result
    });
    (result, longest.into_inner())
}

fn witness(cpu: usize, over: &AtomicBool, longest: &AtomicI64) {
    let placed = affinity::pin_to(cpu).and_then(|()| thread::minimize_timer_slack());
    if placed.and_then(|()| scheduling::set_fifo(PRIORITY)).is_err() {
        longest.store(UNKNOWN, SeqCst);
        return;
    }
    while !over.load(SeqCst) {
        let due = monotonic_now() + PERIOD.as_nanos() as i64;
        std::thread::sleep(PERIOD);
        longest.fetch_max(monotonic_now() - due, SeqCst);
    }
}
