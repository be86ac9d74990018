//! The preemption lock under real threads with `SCHED_FIFO` on one core: the mechanism of `vecud` without a violation,
//! the known-wrong ones each with theirs, so that the stress is known to be able to see.

mod mechanism;
mod stress;

use mechanism::Kind;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stress::{Found, TOP, run};
use vecud::sys::preemption::{Partition, PreemptionLock, Unlocked};
use vecud::sys::scheduling::{Policy, scheduling};
use vecud::sys::wake::{WakeWord, monotonic_now};
use vecud::sys::{affinity, cycles, scheduling as fifo, thread};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The core for this test alone, or a visible word that it cannot be run.
fn real_time(test: &str) -> Option<MutexGuard<'static, ()>> {
    match fifo::probe_fifo(TOP) {
        Ok(()) => Some(ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)),
        Err(error) => {
            // Not by a macro: the test harness would keep its output to itself.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {error}");
            None
        }
    }
}

fn holds(test: &str, sleeps: bool) {
    let Some(_core) = real_time(test) else { return };
    // Another seed each time; the counts that are printed say more than a seed could repeat.
    let found = run(Kind::Right, std::process::id(), sleeps, Duration::from_secs(6), |f| f.violations() > 0);
    println!("{test}: {found:?}");
    assert_eq!(found.violations(), 0, "{found:?}");
    assert!(found.activations.load(SeqCst) > 1000, "{found:?}");
    assert!(found.ticks.load(SeqCst) > 100, "{found:?}");
}

/// Runs with one seed after the other until `count` has seen `wanted`.
fn violates(test: &str, kind: Kind, sleeps: bool, count: fn(&Found) -> &AtomicU64) {
    let Some(_core) = real_time(test) else { return };
    for seed in 1..=10 {
        let seen = |f: &Found| count(f).load(SeqCst) > 0;
        let found = run(kind, seed, sleeps, Duration::from_secs(3), seen);
        if seen(&found) {
            println!("{test}, seed {seed}: {found:?}");
            return;
        }
    }
    panic!("{kind:?} shows no violation: the stress does not see");
}

#[test]
fn the_mechanism_holds() {
    holds("the_mechanism_holds", false);
}

#[test]
fn the_mechanism_holds_with_code_that_sleeps() {
    holds("the_mechanism_holds_with_code_that_sleeps", true);
}

#[test]
fn a_plain_pi_mutex_lets_others_start_inside() {
    let test = "a_plain_pi_mutex_lets_others_start_inside";
    violates(test, Kind::PlainPiMutex, false, |f| &f.starts_inside_section);
}

#[test]
fn a_gate_alone_interleaves_equals() {
    let test = "a_gate_alone_interleaves_equals";
    violates(test, Kind::GateAlone, false, |f| &f.interleaves_with_equal);
}

#[test]
fn gate_and_token_start_inside_a_sleeping_higher_one() {
    let test = "gate_and_token_start_inside_a_sleeping_higher_one";
    violates(test, Kind::GateAndToken, true, |f| &f.starts_inside_higher);
}

fn burn(nanos: i64) {
    let end = monotonic_now() + nanos;
    while monotonic_now() < end {
        std::hint::spin_loop();
    }
}

/// A higher partition that sleeps inside FMU code wakes up while a lower one is inside its section.
#[test]
fn a_sleeper_does_not_go_on_inside_a_section() {
    let Some(_core) = real_time("a_sleeper_does_not_go_on_inside_a_section") else {
        return;
    };
    let cpu = *affinity::allowed_cpus().unwrap().last().unwrap();
    let lock = Arc::new(PreemptionLock::new(2, Some(40)).unwrap());
    let start = Arc::new(WakeWord::new());
    let (sleeping, awake) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let high = {
        let (lock, start) = (Arc::clone(&lock), Arc::clone(&start));
        let (sleeping, awake) = (Arc::clone(&sleeping), Arc::clone(&awake));
        std::thread::spawn(move || {
            affinity::pin_to(cpu).unwrap();
            fifo::set_fifo(40).unwrap();
            let me = Partition::new(0, Some(40));
            start.wait_until(0, None);
            lock.enter(&me, || {});
            sleeping.store(true, SeqCst);
            std::thread::sleep(Duration::from_millis(5));
            awake.store(true, SeqCst);
            lock.leave(&me);
        })
    };
    let low = std::thread::spawn(move || {
        affinity::pin_to(cpu).unwrap();
        thread::minimize_timer_slack().unwrap();
        fifo::set_fifo(30).unwrap();
        let me = Partition::new(1, Some(30));
        std::thread::sleep(Duration::from_millis(20));
        lock.enter(&me, || {});
        start.wake();
        assert!(sleeping.load(SeqCst), "the higher one preempts at once and sleeps");
        lock.lock(&me);
        assert_eq!(scheduling().unwrap().priority, 40, "the ceiling");
        burn(10_000_000);
        assert!(!awake.load(SeqCst), "goes on inside the section");
        assert!(matches!(lock.unlock(&me), Unlocked::Outermost { .. }));
        assert!(awake.load(SeqCst), "goes on before the unlock returns");
        assert_eq!(scheduling().unwrap().priority, 30);
        lock.leave(&me);
        assert_eq!(me.counts().raised, 1);
    });
    low.join().unwrap();
    high.join().unwrap();
}

/// A watchdog's demotion is not undone by the lock.
#[test]
fn a_demoted_partition_stays_demoted() {
    let Some(_core) = real_time("a_demoted_partition_stays_demoted") else {
        return;
    };
    std::thread::spawn(|| {
        let lock = PreemptionLock::new(2, Some(40)).unwrap();
        fifo::set_fifo(30).unwrap();
        // One thread plays both: a higher level that is active, and the lower one that locks.
        let (high, me) = (Partition::new(0, Some(40)), Partition::new(1, Some(30)));
        lock.enter(&me, || {});
        lock.enter(&high, || {});
        lock.lock(&me);
        assert_eq!(scheduling().unwrap().priority, 40);
        let demotion = me.demotion();
        std::thread::spawn(move || demotion.demote().unwrap()).join().unwrap();
        assert_eq!(scheduling().unwrap().policy, Policy::Other);
        lock.unlock(&me);
        assert_eq!(scheduling().unwrap().policy, Policy::Other);
        lock.lock(&me);
        assert_eq!(scheduling().unwrap().policy, Policy::Other);
        lock.unlock(&me);
        lock.leave(&high);
        lock.leave(&me);
    })
    .join()
    .unwrap();
}

#[test]
#[ignore = "prints figures, asserts none: `cargo test --release --test preemption_real -- --ignored --nocapture`"]
fn what_it_costs_uncontended() {
    const ROUNDS: u64 = 2_000_000;
    let scale = cycles::Scale::calibrate(50_000_000);
    let show = |what: &str, body: &dyn Fn()| {
        let fastest = (0..5)
            .map(|_| {
                let before = cycles::ticks();
                (0..ROUNDS).for_each(|_| body());
                scale.nanos(cycles::ticks() - before)
            })
            .min()
            .unwrap();
        println!("{what:<36} {:6.1} ns", fastest as f64 / ROUNDS as f64);
    };
    let lock = PreemptionLock::new(8, None).unwrap();
    let (me, tid) = (Partition::new(3, None), thread::current_tid());
    let word = vecud::sys::pi::PiWord::new();
    show("bare PI word, lock + unlock", &|| {
        std::hint::black_box(&word).lock(tid);
        std::hint::black_box(&word).unlock(tid);
    });
    show("ticks", &|| {
        std::hint::black_box(cycles::ticks());
    });
    show("enter + leave", &|| {
        lock.enter(&me, || {});
        lock.leave(&me);
    });
    lock.enter(&me, || {});
    show("lock + unlock, with its hold time", &|| {
        std::hint::black_box(lock.lock(&me));
        std::hint::black_box(lock.unlock(&me));
    });
    lock.leave(&me);
    show("default floating-point control", &|| {
        std::hint::black_box(vecud::sys::float_control::default_fp_control());
    });
    show("current core", &|| {
        std::hint::black_box(affinity::current_cpu());
    });
}
