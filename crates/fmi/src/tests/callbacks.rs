//! What C may call, when, and from where. `foreign_calls` is one counter for the process, so only its growth is looked at.

use super::stub::*;
use crate::Function as F;
use crate::*;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use vecud_description::ValueReference;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// This is shown now.
    Shown(u64),
    Warned(F),
    ClockUpdate,
    Lock,
    Unlock,
}

thread_local! {
    static EVENTS: RefCell<Vec<Event>> = const { RefCell::new(Vec::new()) };
    static UPDATE: RefCell<Option<ClockUpdate>> = const { RefCell::new(None) };
    static READ: Cell<Option<Result<Outcome, Failure>>> = const { Cell::new(None) };
    static ACTIVE: Cell<[u8; 2]> = const { Cell::new([0; 2]) };
    static WORD: &'static AtomicU64 = Box::leak(Box::default());
    static CALLS: &'static CallCounts = Box::leak(Box::new([const { AtomicU64::new(0) }; 128]));
    static SHOWN: &'static CallIndicator = Box::leak(Box::new(CallIndicator::new(place(TAG))));
}

/// Who calls, in the upper half.
const TAG: u64 = 7 << 32;

struct Thread;
static THREAD: Thread = Thread;
fn note(event: Event) {
    EVENTS.with_borrow_mut(|e| e.push(event));
}
impl ThreadHost for Thread {
    fn clock_update(&self, _: Option<f64>) {
        note(Event::ClockUpdate);
        if let Some(update) = UPDATE.with_borrow(Clone::clone) {
            let mut clocks = two_clocks();
            READ.set(Some(update.get_clocks(&mut clocks)));
            ACTIVE.set(clocks.active().try_into().unwrap());
        }
    }
    fn lock_preemption(&self) {
        note(Event::Lock);
    }
    fn unlock_preemption(&self) {
        note(Event::Unlock);
    }
    fn warned(&self, function: F) {
        note_shown();
        note(Event::Warned(function));
    }
    fn shown(&'static self) -> Option<&'static CallIndicator> {
        Some(SHOWN.with(|shown| *shown))
    }
}

fn place(tag: u64) -> CallProbe {
    CallProbe { word: WORD.with(|word| *word), tag, calls: CALLS.with(|calls| *calls) }
}

/// How often a function was called on this thread.
fn count(function: F) -> u64 {
    CALLS.with(|calls| calls[function as usize].load(Relaxed))
}

fn shown() -> u64 {
    let count = 0xFFFF << 16;
    WORD.with(|word| word.load(Relaxed) & !count)
}
fn note_shown() {
    note(Event::Shown(shown()));
}
/// What is shown inside of a function.
fn inside(function: F) -> Event {
    Event::Shown(TAG | (function as u64 + 1))
}

fn two_clocks() -> OutputClocks {
    OutputClocks::new(&[(ValueReference(7), 1), (ValueReference(8), 1)])
}

/// A running instance on a thread with a host.
fn hosted() -> (InstanceControl, Partition, std::sync::Arc<super::stub::Notes>) {
    let running = running();
    set_thread_host(Some(&THREAD));
    running
}

#[test]
fn a_clock_update_reads_the_clocks_of_its_instance() {
    let (control, mut partition, notes) = hosted();
    UPDATE.set(Some(control.clock_update()));
    during(F::ActivateModelPartition, |given| {
        next_get(&[0, 0xf0]);
        note_shown();
        given.update_clocks();
        note_shown();
    });
    during(F::GetClock, |_| note_shown());
    partition.begin().activate(1.0).unwrap();
    assert_eq!(READ.get(), Some(Ok(Outcome::Ok)));
    assert_eq!(ACTIVE.get(), [0, 1]);
    let events = [
        inside(F::ActivateModelPartition),
        Event::ClockUpdate,
        inside(F::GetClock),
        // The function around it is the innermost one again.
        inside(F::ActivateModelPartition),
    ];
    assert_eq!(EVENTS.take(), events);
    // Between calls it is still shown whose code was called last.
    assert_eq!(shown(), TAG);
    assert_eq!([F::ActivateModelPartition, F::GetClock, F::SetClock].map(count), [1, 1, 0]);
    assert_eq!(*notes.foreign.lock().unwrap(), []);
    // Outside a callback the same handle is refused.
    let update = UPDATE.take().unwrap();
    assert!(update.get_clocks(&mut two_clocks()).unwrap_err().refused);
}

#[test]
fn a_clock_update_inside_get_clock_is_refused() {
    let (control, mut partition, notes) = hosted();
    UPDATE.set(Some(control.clock_update()));
    during(F::ActivateModelPartition, |given| given.update_clocks());
    during(F::GetClock, |given| given.update_clocks());
    partition.begin().activate(1.0).unwrap();
    assert_eq!(calls(), [F::ActivateModelPartition, F::GetClock]);
    assert_eq!(*notes.foreign.lock().unwrap(), [ForeignCall::ClockUpdateInsideGetClock]);
    UPDATE.take();
}

#[test]
fn a_clock_update_from_elsewhere_is_refused() {
    let (_control, mut partition, notes) = hosted();
    let first = given();
    // Between calls:
    first.update_clocks();
    // Before Clock Activation Mode:
    let (other, other_notes) = instance();
    during(F::EnterInitializationMode, |given| given.update_clocks());
    let _other = other.enter_initialization_mode(0.0, None, None).unwrap();
    // Inside a call to another instance (the stub's `given` is now that of the other one):
    during(F::ActivateModelPartition, |given| given.update_clocks());
    partition.begin().activate(0.0).unwrap();
    assert_eq!(*notes.foreign.lock().unwrap(), [ForeignCall::ClockUpdateOutsideCall]);
    let of_other = [ForeignCall::ClockUpdateOutsideClockActivation, ForeignCall::ClockUpdateOutsideCall];
    assert_eq!(*other_notes.foreign.lock().unwrap(), of_other);
    assert!(!EVENTS.take().contains(&Event::ClockUpdate));
}

#[test]
fn after_an_error_callbacks_make_no_call() {
    let (control, mut partition, _) = hosted();
    UPDATE.set(Some(control.clock_update()));
    during(F::ActivateModelPartition, |given| {
        UPDATE.with_borrow(|u| u.as_ref().unwrap().fail());
        given.update_clocks()
    });
    partition.begin().activate(1.0).unwrap();
    assert!(READ.get().unwrap().unwrap_err().refused);
    assert_eq!(calls(), [F::ActivateModelPartition]);
    UPDATE.take();
}

#[test]
fn a_call_is_shown_where_the_host_says() {
    let (_control, mut partition, _) = hosted();
    // Nothing has been called for this host.
    assert_eq!(shown(), 0);
    let elsewhere: &'static AtomicU64 = Box::leak(Box::default());
    SHOWN.with(|shown| shown.set(CallProbe { word: elsewhere, ..place(0) }));
    during(F::ActivateModelPartition, |given| {
        note_shown();
        given.update_clocks();
    });
    partition.begin().activate(0.0).unwrap();
    assert_eq!(EVENTS.take(), [Event::Shown(0), Event::ClockUpdate]);
    assert_eq!(elsewhere.load(Relaxed), 0);
    SHOWN.with(|shown| shown.set(place(TAG)));
    partition.begin().activate(0.0).unwrap();
    assert_eq!(EVENTS.take(), [inside(F::ActivateModelPartition), Event::ClockUpdate]);
    // Nobody serves the thread: nothing is shown of it, and what was stays.
    set_thread_host(None);
    during(F::ActivateModelPartition, |_| note_shown());
    partition.begin().activate(0.0).unwrap();
    assert_eq!(EVENTS.take(), [Event::Shown(TAG)]);
    assert_eq!(count(F::ActivateModelPartition), 2, "nor is it counted");
}

#[test]
fn the_host_hears_of_warnings_when_the_call_is_over() {
    let (_control, mut partition, _) = hosted();
    for (raw, events) in [(0, vec![]), (1, vec![Event::Shown(TAG), Event::Warned(F::ActivateModelPartition)])] {
        answer(F::ActivateModelPartition, raw);
        assert!(partition.begin().activate(0.0).is_ok());
        assert_eq!(EVENTS.take(), events);
    }
    // What has failed is the caller's to say.
    answer(F::ActivateModelPartition, 3);
    assert_eq!(partition.begin().activate(0.0).err().map(|failure| failure.status), Some(Status::Error));
    assert_eq!((EVENTS.take(), shown()), (vec![], TAG));
}

#[test]
fn preemption_locks_reach_the_host_of_the_thread() {
    let (_control, mut partition, _) = hosted();
    during(F::ActivateModelPartition, Given::lock_and_unlock);
    partition.begin().activate(0.0).unwrap();
    assert_eq!(EVENTS.take(), [Event::Lock, Event::Unlock]);
}

#[test]
fn a_preemption_lock_on_a_foreign_thread_is_told_to_its_instance() {
    let (_control, _partition, notes) = hosted();
    let (given, before) = (given(), foreign_calls());
    std::thread::spawn(move || given.lock_and_unlock()).join().unwrap();
    let told = *notes.foreign.lock().unwrap() == [ForeignCall::LockOnForeignThread; 2];
    // All tests share the pairs of one process; who comes late has none of its own.
    assert!(told || foreign_calls() >= before + 2);
    assert_eq!(EVENTS.take(), []);
}

#[test]
fn null_is_survived_everywhere() {
    let (_instance, notes) = instance();
    let given = given();
    let before = foreign_calls();
    given.log(1, None, Some(c"no category"));
    given.log(99, Some(c"logAll"), None);
    given.without_environment().log(0, None, None);
    given.without_environment().update_clocks();
    let logged =
        [(Status::Warning, None, "no category".to_owned()), (Status::Error, Some("logAll".to_owned()), String::new())];
    assert_eq!(*notes.logged.lock().unwrap(), logged);
    assert!(foreign_calls() >= before + 2);
}

#[test]
fn a_panic_in_a_callback_stays_there() {
    let (control, mut partition, _) = hosted();
    during(F::ActivateModelPartition, |given| given.log(0, None, Some(c"panic")));
    assert!(partition.begin().activate(0.0).is_ok());
    assert!(host_panicked());
    assert_eq!(control.terminate(vec![partition]), Ok(Outcome::Ok));
}

#[test]
fn logging_works_on_any_thread_and_beyond_the_end_of_the_instance() {
    let notes = std::sync::Arc::default();
    let library = library();
    drop(instantiate_in(&library, &notes).unwrap());
    let given = given();
    std::thread::spawn(move || given.log(0, None, Some(c"late"))).join().unwrap();
    assert_eq!(notes.logged.lock().unwrap().len(), 1);
}

/// An FMU that flushes denormals to zero does so for itself alone.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[test]
fn every_call_starts_with_the_default_control_word() {
    fn mxcsr() -> u32 {
        let mut word = 0u32;
        // SAFETY: stores four bytes to a live u32.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word) };
        word & !0x3f
    }
    fn set_mxcsr(word: u32) {
        // SAFETY: loads four bytes from a live u32; put back by the code under test.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const word) };
    }
    let (_control, mut partition, _) = hosted();
    during(F::ActivateModelPartition, |given| {
        assert_eq!(mxcsr(), 0x1f80);
        set_mxcsr(0x9fc0);
        given.lock_and_unlock();
        assert_eq!(mxcsr(), 0x9fc0);
    });
    partition.begin().activate(0.0).unwrap();
    assert_eq!(mxcsr(), 0x1f80);
    // A thread that has got another one from whoever made it.
    set_mxcsr(0x9fc0);
    set_thread_host(crate::thread::thread_host());
    partition.begin().activate(0.1).unwrap();
}
