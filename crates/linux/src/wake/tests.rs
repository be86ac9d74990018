//! Every rule of the sleep, for both clocks.

use super::*;
use crate::clock::SystemClock;
use crate::thread::block_signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

const CLOCKS: [SystemClock; 2] = [SystemClock::Monotonic, SystemClock::Tai];

/// A thread that is set up as those of partitions.
fn sleeper<T: Send + 'static>(
    clock: SystemClock,
    body: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    std::thread::spawn(move || {
        block_signals().unwrap();
        prepare_to_sleep(clock).unwrap();
        body()
    })
}

fn on_each_clock(body: fn(SystemClock)) {
    for clock in CLOCKS {
        sleeper(clock, move || body(clock)).join().unwrap();
    }
}

#[test]
fn sleeps_until_the_deadline_and_not_less() {
    on_each_clock(|clock| {
        let word = WakeWord::on(clock);
        let deadline = clock.now() + 5_000_000;
        assert_eq!(word.wait_until(0, Some(deadline)), Wakening::TimedOut);
        assert!(clock.now() >= deadline);
        assert_eq!(word.wait_until(0, Some(-5)), Wakening::TimedOut);
    });
}

#[test]
fn a_wake_before_the_sleep_is_not_lost() {
    on_each_clock(|clock| {
        let word = WakeWord::on(clock);
        for deadline in [None, Some(i64::MAX)] {
            let seen = word.value();
            word.wake();
            assert_eq!(word.wait_until(seen, deadline), Wakening::Woken);
        }
    });
}

#[test]
fn a_word_that_was_changed_before_the_deadline_is_no_timeout() {
    on_each_clock(|clock| {
        let word = Arc::new(WakeWord::on(clock));
        let theirs = Arc::clone(&word);
        // A waker that is preempted between the two halves, by the sleeper whose deadline has come.
        let waker = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            theirs.mark();
        });
        let deadline = clock.now() + 1_000_000_000;
        assert_eq!(word.wait_until(0, Some(deadline)), Wakening::Woken);
        assert!(clock.now() >= deadline, "nobody has called it");
        waker.join().unwrap();
    });
}

#[test]
fn a_wake_during_the_sleep_ends_it() {
    for clock in CLOCKS {
        for deadline in [None, Some(clock.now() + 60_000_000_000)] {
            let word = Arc::new(WakeWord::on(clock));
            let theirs = Arc::clone(&word);
            let sleeper = sleeper(clock, move || theirs.wait_until(0, deadline));
            std::thread::sleep(Duration::from_millis(5));
            word.mark();
            word.wake_marked();
            assert_eq!(sleeper.join().unwrap(), Wakening::Woken);
        }
    }
}

#[test]
fn a_signal_between_the_last_look_and_the_system_call_is_not_lost() {
    sleeper(SystemClock::Tai, || {
        let word = WakeWord::on(SystemClock::Tai);
        let before = SystemClock::Tai.now();
        // A deadline that would be missed by a minute.
        assert_eq!(word.sleep_on_tai(0, before + 60_000_000_000, || word.wake()), Wakening::Woken);
        assert!(SystemClock::Tai.now() - before < 30_000_000_000);
    })
    .join()
    .unwrap();
}

#[test]
fn a_signal_that_comes_too_late_neither_ends_the_next_sleep_nor_disturbs() {
    sleeper(SystemClock::Tai, || {
        let word = WakeWord::on(SystemClock::Tai);
        let early = std::cell::Cell::new(true);
        let deadline = SystemClock::Tai.now() + 20_000_000;
        // A signal without a change: it was meant for the sleep before.
        let stray = || {
            if early.replace(false) {
                assert!(word.sleeper.signal());
            }
        };
        assert_eq!(word.sleep_on_tai(0, deadline, stray), Wakening::TimedOut);
        assert!(SystemClock::Tai.now() >= deadline);
        assert!(!word.sleeper.signal(), "nobody sleeps any more");
    })
    .join()
    .unwrap();
}

#[test]
fn no_wake_is_lost_however_it_falls() {
    const ROUNDS: u32 = 20_000;
    for clock in CLOCKS {
        let word = Arc::new(WakeWord::on(clock));
        let theirs = Arc::clone(&word);
        let answered = Arc::new(AtomicU32::new(0));
        let answers = Arc::clone(&answered);
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let sleeper = sleeper(clock, move || {
            let mut longest = 0;
            while !ends.load(Ordering::SeqCst) {
                let seen = theirs.value();
                answers.store(seen, Ordering::SeqCst);
                let before = monotonic_now();
                // Both ways to sleep of a run: with a deadline far away, and one that just passes.
                let ahead = if seen.is_multiple_of(2) { 20_000_000_000 } else { 2_000 };
                let _ = theirs.wait_until(seen, Some(clock.now() + ahead));
                longest = longest.max(monotonic_now() - before);
            }
            longest
        });
        for round in 0..ROUNDS {
            // Only one that sleeps, or is about to, is woken; what has to be hit is the moment around the system call.
            while answered.load(Ordering::SeqCst) != round {
                std::thread::yield_now();
            }
            (0..round % 512).for_each(|_| std::hint::spin_loop());
            word.wake();
        }
        over.store(true, Ordering::SeqCst);
        word.wake();
        let longest = sleeper.join().unwrap();
        assert!(longest < 15_000_000_000, "{clock:?}: a sleep of {longest} ns: a wake was lost");
    }
}

#[test]
fn polling_ends_at_the_instant_or_with_a_change() {
    on_each_clock(|clock| {
        let word = Arc::new(WakeWord::on(clock));
        let deadline = clock.now() + 2_000_000;
        let (wakening, now) = word.poll_until(0, deadline);
        assert!(wakening == Wakening::TimedOut && now >= deadline);
        let theirs = Arc::clone(&word);
        let waker = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            theirs.mark();
        });
        let (wakening, now) = word.poll_until(0, i64::MAX);
        assert!(wakening == Wakening::Woken && now > deadline);
        waker.join().unwrap();
    });
}
