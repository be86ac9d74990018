//! The preemption lock under real threads with `SCHED_FIFO` on one core: the mechanism of `vecud` without a violation,
//! the known-wrong ones each with theirs, so that the stress is known to be able to see.

mod mechanism;
mod stress;

use crate::program::permit::Alone;
use crate::program::{has_real_time, wait_until};
use mechanism::Kind;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use stress::{Found, run};
use vecud::sys::preemption::{LockMember, PreemptionLock, Unlocked};
use vecud::sys::scheduling::{Policy, scheduling};
use vecud::sys::wake::{WakeWord, monotonic_now};
use vecud::sys::{affinity, scheduling as fifo, thread};

/// The core for this test alone, or a visible word that it cannot be run.
fn real_time(test: &str) -> Option<Alone> {
    has_real_time(test).then(Alone::take)
}

/// How many activations the mechanism has to bear; some 20,000 take a second.
fn activations() -> u64 {
    let given = std::env::var("VECUD_STRESS_ACTIVATIONS").ok();
    given.map_or(40_000, |number| number.parse().expect("VECUD_STRESS_ACTIVATIONS is a number"))
}

/// Activations after which a known-wrong mechanism must have shown itself.
const SHOWN_AFTER: u64 = 20_000;

/// Says past the test harness, which would keep it to itself, what a mechanism has shown.
fn say(name: &str, sleeps: bool, seed: u32, found: &Found) {
    let sleeps = if sleeps { "code that sleeps" } else { "code that does not sleep" };
    let _ = writeln!(std::io::stderr(), "STRESS: {name}, {sleeps}, seed {seed}: {found}");
}

fn holds(name: &str, test: &str, sleeps: bool) {
    let Some(_core) = real_time(test) else { return };
    // Another seed each time; the counts that are printed say more than a seed could repeat.
    let seed = std::process::id();
    let found = run(Kind::Right, seed, sleeps, Duration::from_secs(600), |f| {
        f.violations() > 0 || f.activations.load(SeqCst) >= activations()
    });
    say(name, sleeps, seed, &found);
    assert_eq!(found.violations(), 0, "{found:?}");
    assert_eq!(found.raise_refused.load(SeqCst), 0, "{found:?}");
    // Nothing here lets a thread sleep in its section but the kernel, for a page of memory.
    assert!(found.goes_on_inside_sleeper.load(SeqCst) <= 3, "{found:?}");
    assert!(found.activations.load(SeqCst) >= activations(), "{found:?}");
    assert!(found.ticks.load(SeqCst) > 100, "{found:?}");
}

/// Runs with one seed after the other until `count` has seen something.
fn violates(name: &str, test: &str, kind: Kind, sleeps: bool, count: fn(&Found) -> &AtomicU64) {
    let Some(_core) = real_time(test) else { return };
    for seed in 1..=3 {
        let enough = |f: &Found| f.activations.load(SeqCst) >= SHOWN_AFTER;
        let found = run(kind, seed, sleeps, Duration::from_secs(10), enough);
        say(name, sleeps, seed, &found);
        if count(&found).load(SeqCst) > 0 {
            return;
        }
    }
    panic!("{kind:?} shows no violation: the stress does not see");
}

#[test]
fn the_mechanism_holds() {
    holds("the mechanism of vecud", "the_mechanism_holds", false);
}

#[test]
fn the_mechanism_holds_with_code_that_sleeps() {
    holds("the mechanism of vecud", "the_mechanism_holds_with_code_that_sleeps", true);
}

#[test]
fn a_plain_pi_mutex_lets_others_start_inside() {
    let test = "a_plain_pi_mutex_lets_others_start_inside";
    violates("a plain PI mutex", test, Kind::PlainPiMutex, false, |f| &f.starts_inside_section);
}

#[test]
fn a_gate_alone_interleaves_equals() {
    let test = "a_gate_alone_interleaves_equals";
    violates("the gate alone", test, Kind::GateAlone, false, |f| &f.interleaves_with_equal);
}

#[test]
fn gate_and_token_start_inside_a_sleeping_higher_one() {
    let test = "gate_and_token_start_inside_a_sleeping_higher_one";
    violates("gate and token, no bitmap", test, Kind::GateAndToken, true, |f| &f.starts_inside_higher);
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
    let [ready, sleeping, awake] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
    let high = {
        let (lock, start) = (Arc::clone(&lock), Arc::clone(&start));
        let [ready, sleeping, awake] = [&ready, &sleeping, &awake].map(Arc::clone);
        std::thread::spawn(move || {
            affinity::pin_to(cpu).unwrap();
            fifo::set_fifo(40).unwrap();
            let me = LockMember::new(0, Some(40));
            ready.store(true, SeqCst);
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
        let me = LockMember::new(1, Some(30));
        // It has the core only when the higher one waits.
        wait_until("the higher one waits", || ready.load(SeqCst));
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
        let (high, me) = (LockMember::new(0, Some(40)), LockMember::new(1, Some(30)));
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
