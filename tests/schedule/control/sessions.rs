//! Sessions that live side by side in this process (semantics S26): what becomes of one is nothing to another, nor to the thread
//! that has started it.

use super::program::{Kind, Rig, Trace, cache, real_time, shared_core, wait_until};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vecud::plan::RunningRig;
use vecud::report::{End, FmuStatus};
use vecud::supervisor::{self, EventSink, HostResources, Options, Prepared, Session, SessionEvent, SessionState};
use vecud::sys::affinity::allowed_cpus;

fn prepared(rig: &Rig, host: Option<HostResources>) -> Prepared {
    let options = Options {
        file: rig.file(),
        out: Some(rig.out()),
        figures: Some(Duration::from_millis(10)),
        cache: Some(cache()),
        host,
        runner: Some(PathBuf::from(env!("CARGO_BIN_EXE_vecud"))),
        ..Options::default()
    };
    supervisor::plan(&options, &EventSink::default()).unwrap()
}

fn start(prepared: Prepared) -> Session {
    Session::start(prepared, EventSink::default(), |_| ()).unwrap()
}

/// Each is given the cores that are left by the one before it, as far as there are any.
#[test]
fn a_crash_in_one_session_costs_another_nothing() {
    real_time("a_crash_in_one_session_costs_another_nothing", || {
        const CRASH: &str = "fail_kind = 5, fail_clock = 1, fail_at = 51";
        let tracer = |start| Rig::new("stop_time = 100").tracer("a", start).trigger("a.out_high", "a.high");
        let [bad, good] = [CRASH, ""].map(tracer);
        let crashing = prepared(&bad, None);
        let steady = prepared(&good, Some(crashing.host.clone().beside(RunningRig::of("crashing", &crashing.plan))));
        if allowed_cpus().unwrap().len() > 1 {
            assert_ne!(crashing.plan.cores()[0], steady.plan.cores()[0]);
        }
        let steady = start(steady);
        wait_until("the other one runs", || steady.state() == SessionState::Running);
        let crashed = start(crashing).wait().unwrap().remove(0);
        assert_eq!((crashed.exit_code(), crashed.run.fmus[0].status), (1, FmuStatus::Crashed));
        assert_eq!(steady.state(), SessionState::Running);
        steady.stop();
        let passed = steady.wait().unwrap().remove(0);
        assert_eq!((passed.exit_code(), passed.run.end), (0, End::Signal), "{:#?}", passed.run.problems);
        let text = std::fs::read_to_string(good.folder().join("a.trace.csv")).unwrap();
        let (seen, broken) = Trace { cut: true, ..Trace::parse("a", &text) }.check(Kind::Preemptive);
        assert!(seen.activations > 100 && broken.is_empty(), "{seen:?} {broken:#?}");
    });
}

#[test]
fn a_session_changes_nothing_of_the_thread_that_starts_it() {
    shared_core(|| {
        let rig = Rig::new("stop_time = 0.1").tracer("a", "");
        let before = allowed_cpus().unwrap();
        let session = start(prepared(&rig, None));
        assert_eq!(allowed_cpus().unwrap(), before);
        assert_eq!(session.wait().unwrap()[0].exit_code(), 0);
        assert_eq!(allowed_cpus().unwrap(), before);
        assert_eq!(prepared(&rig, None).host.cpus, before, "what comes after it has as many cores");
    });
}

/// The kernel ends the runner with the thread that has started it, which therefore is the session's own.
#[test]
fn a_session_goes_on_when_the_thread_that_has_started_it_ends() {
    shared_core(|| {
        let rig = Rig::new("stop_time = 0.3").tracer("a", "");
        let prepared = prepared(&rig, None);
        let session = std::thread::spawn(|| start(prepared)).join().unwrap();
        let run = session.wait().unwrap().remove(0);
        assert_eq!((run.exit_code(), run.run.end), (0, End::StopTime), "{:#?}", run.run.problems);
    });
}

#[test]
fn a_session_tells_how_far_it_is_and_ends_when_it_is_asked_to() {
    let rig = Rig::new("mode = 'virtual'\nstop_time = 1e6").tracer("a", "");
    let (states, figures) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
    let (told, counted) = (states.clone(), figures.clone());
    let events = EventSink::new(move |event| match event {
        SessionEvent::State(state) => told.lock().unwrap().push(state),
        SessionEvent::Figures(live) => *counted.lock().unwrap() += usize::from(live.clocks.len() == 7),
        _ => (),
    });
    let session = Session::start(prepared(&rig, None), events, |_| ()).unwrap();
    wait_until("figures are told", || *figures.lock().unwrap() > 2);
    let snapshot = session.snapshot();
    assert!(snapshot.elapsed > 0.0 && snapshot.clocks.iter().any(|clock| clock.activations > 0));
    session.stop();
    let run = session.wait().unwrap().remove(0);
    assert_eq!((run.exit_code(), run.run.end), (0, End::Signal));
    assert_eq!(*states.lock().unwrap(), [SessionState::Running, SessionState::Stopping, SessionState::Over]);
}
