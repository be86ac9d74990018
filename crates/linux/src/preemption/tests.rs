//! The lock's bookkeeping, thread by thread. Its promises are shown by `tests/schedule/preemption_model.rs` and `preemption_real`.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn lock(levels: usize) -> PreemptionLock {
    PreemptionLock::new(levels, None).unwrap()
}

#[test]
fn nested_locks_are_one_section() {
    let (lock, me) = (lock(1), LockMember::new(0, None));
    lock.enter(&me, || {});
    assert_eq!(lock.lock(&me), Locked::Outermost { waited: None });
    assert_eq!(lock.lock(&me), Locked::Nested);
    assert_eq!(me.depth(), 2);
    assert_eq!(lock.unlock(&me), Unlocked::Nested);
    assert!(matches!(lock.unlock(&me), Unlocked::Outermost { .. }));
    assert_eq!(lock.leave(&me), None);
    assert_eq!(lock.word.owner(), 0);
}

#[test]
fn an_unlock_without_a_lock_has_no_effect_and_is_told() {
    let (lock, me) = (lock(1), LockMember::new(0, None));
    assert_eq!(lock.unlock(&me), Unlocked::NotHeld);
    lock.lock(&me);
    lock.unlock(&me);
    assert_eq!(lock.unlock(&me), Unlocked::NotHeld);
    assert_eq!(lock.lock(&me), Locked::Outermost { waited: None });
    lock.unlock(&me);
}

#[test]
fn a_leaked_lock_is_released_and_told() {
    let (lock, me) = (lock(2), LockMember::new(1, None));
    lock.enter(&me, || {});
    lock.lock(&me);
    lock.lock(&me);
    let leak = lock.leave(&me).expect("a leak");
    assert_eq!((leak.depth, me.depth()), (2, 0));
    assert_eq!(lock.word.owner(), 0);
    assert_eq!(lock.section.load(Ordering::SeqCst), 0);
    assert_eq!(lock.leave(&me), None);
}

#[test]
fn somebody_outside_locks_as_well_but_never_enters() {
    let (lock, me) = (lock(0), LockMember::outside());
    assert_eq!(lock.enter(&me, || panic!("not called")), 0);
    assert_eq!(lock.lock(&me), Locked::Outermost { waited: None });
    assert_eq!(lock.release_leaked(&me).map(|l| l.depth), Some(1));
    assert_eq!(lock.leave(&me), None);
}

#[test]
fn a_thread_that_ends_in_an_activation_keeps_nobody_waiting() {
    for locks in [false, true] {
        let lock = Arc::new(lock(2));
        let ends = Arc::clone(&lock);
        let thread = std::thread::spawn(move || {
            let me = LockMember::new(0, None);
            ends.enter(&me, || {});
            if locks {
                ends.lock(&me);
            }
        });
        thread.join().unwrap();
        let (me, mut looks) = (LockMember::new(1, None), 0);
        lock.enter(&me, || {
            looks += 1;
            assert!(looks < 10, "it waits for a thread that has ended");
        });
        assert!(lock.is_passed(&me));
        assert!(matches!(lock.lock(&me), Locked::Outermost { .. }));
        assert_eq!(lock.holder(), Some(me.tid));
        lock.unlock(&me);
        assert_eq!(lock.leave(&me), None);
    }
}

#[test]
fn there_is_room_for_any_number_of_levels() {
    let lock = PreemptionLock::new(500, Some(80)).unwrap();
    assert_eq!(lock.levels(), 500);
    let last = LockMember::new(499, None);
    assert_eq!(lock.enter(&last, || {}), 0);
    lock.leave(&last);
    let me = LockMember::new(100, None);
    assert_eq!(lock.enter(&me, || {}), 0);
    assert_eq!(lock.nearest_active_above(101), Some(100));
    assert_eq!(lock.nearest_active_above(127), Some(100));
    assert_eq!(lock.nearest_active_above(100), None);
    assert_eq!(lock.nearest_active_above(20), None);
    lock.active[0].store(1 << 63 | 1 << 3, Ordering::SeqCst);
    assert_eq!(lock.nearest_active_above(100), Some(63));
    assert_eq!(lock.nearest_active_above(64), Some(63));
    assert_eq!(lock.nearest_active_above(63), Some(3));
    assert_eq!(lock.nearest_active_above(3), None);
    assert_eq!(lock.nearest_active_above(0), None);
    lock.active[0].store(0, Ordering::SeqCst);
    lock.leave(&me);
    assert_eq!(lock.nearest_active_above(127), None);
}

/// Of two levels with one priority the more urgent does not begin while the other one is active.
#[test]
fn of_levels_that_share_a_priority_one_that_has_begun_ends_first() {
    let lock = PreemptionLock::new(3, None).unwrap().with_shared(1);
    let lower = LockMember::new(2, None).sharing(Some(0));
    assert_eq!(lock.enter(&lower, || {}), 0);
    let (begun, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let upper = LockMember::new(1, None).sharing(Some(0));
            assert_eq!(lock.enter(&upper, || begun.store(true, Ordering::SeqCst)), 1);
            assert!(ended.load(Ordering::SeqCst));
            lock.leave(&upper);
        });
        while lock.nearest_active_above(2) != Some(1) || !begun.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        // Another one of the same instance is not concerned.
        let other = LockMember::new(0, None);
        assert_eq!(lock.enter(&other, || {}), 0);
        lock.leave(&other);
        ended.store(true, Ordering::SeqCst);
        lock.leave(&lower);
    });
}

/// Who waits before its release inside of the gate has not begun: a more urgent one of its priority goes first.
#[test]
fn who_enters_again_lets_a_more_urgent_one_of_its_priority_go_first() {
    let lock = PreemptionLock::new(2, None).unwrap().with_shared(1);
    let lower = LockMember::new(1, None).sharing(Some(0));
    lock.enter(&lower, || {});
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let upper = LockMember::new(0, None).sharing(Some(0));
            lock.enter(&upper, || {});
            done.store(true, Ordering::SeqCst);
            lock.leave(&upper);
        });
        while lock.is_passed(&lower) {
            std::thread::yield_now();
        }
        // How often it waits is a matter of chance: the other one may be through before this one looks.
        lock.enter_again(&lower, || {});
        assert!(done.load(Ordering::SeqCst));
        lock.leave(&lower);
    });
}

#[test]
#[should_panic(expected = "enters again")]
fn entering_twice_is_a_bug() {
    let (lock, me) = (lock(1), LockMember::new(0, None));
    lock.enter(&me, || {});
    lock.enter(&me, || {});
}

/// Ordinary threads on any core: no promise about going on, but equal levels exclude each other, an entry waits for a
/// section and for a higher level, and nobody is stuck.
#[test]
fn ordinary_threads_make_progress_and_equals_exclude_each_other() {
    let lock = Arc::new(lock(3));
    let inside = Arc::new([const { AtomicUsize::new(0) }; 3]);
    let threads: Vec<_> = [0, 1, 1, 2, 2]
        .into_iter()
        .map(|level| {
            let (lock, inside) = (Arc::clone(&lock), Arc::clone(&inside));
            std::thread::spawn(move || {
                let me = LockMember::new(level, None);
                let mut helped = 0_u32;
                for round in 0..500 {
                    lock.enter(&me, || helped += 1);
                    assert_eq!(inside[level].fetch_add(1, Ordering::SeqCst), 0);
                    assert!(matches!(lock.lock(&me), Locked::Outermost { .. }));
                    std::hint::spin_loop();
                    assert!(matches!(lock.unlock(&me), Unlocked::Outermost { .. }));
                    if round % 50 == 0 {
                        std::thread::sleep(std::time::Duration::from_micros(50));
                    }
                    inside[level].fetch_sub(1, Ordering::SeqCst);
                    lock.leave(&me);
                }
                assert!(helped >= 500);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(lock.nearest_active_above(2), None);
}

/// Partitions of three levels come and go on one core while a thread that is none of them asks for rest.
#[test]
fn at_rest_nobody_is_active_and_nobody_begins() {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    let lock = PreemptionLock::new(3, None).unwrap();
    let (active, stop, rests) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for level in 0..3 {
            let (lock, active, stop) = (&lock, &active, &stop);
            scope.spawn(move || {
                let me = LockMember::new(level, None);
                while !stop.load(SeqCst) {
                    lock.enter(&me, || ());
                    active.fetch_add(1, SeqCst);
                    std::thread::yield_now();
                    active.fetch_sub(1, SeqCst);
                    lock.leave(&me);
                }
            });
        }
        for _ in 0..50 {
            let rest = lock.quiesce(crate::thread::current_tid());
            for _ in 0..20 {
                assert_eq!(active.load(SeqCst), 0);
                std::thread::yield_now();
            }
            drop(rest);
            rests.fetch_add(1, SeqCst);
            std::thread::yield_now();
        }
        stop.store(true, SeqCst);
    });
    assert_eq!(rests.load(SeqCst), 50);
}
