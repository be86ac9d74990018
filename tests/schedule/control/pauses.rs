//! Pause and resume of a session (semantics S26): whoever asks hears what came of it, and the run is none the worse for it.

use super::program::{PATIENCE, Rig, cache, real_time, send, shared_core, user, wait_until};
use nix::sys::signal::Signal::{SIGCONT, SIGSTOP};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};
use vecud::report::Scheduling;
use vecud::supervisor::{self, EventSink, Finished, Options, PauseError, Session, SessionState};
use vecud::time::Nanos;

fn start(rig: &Rig) -> Session {
    start_by(rig, PathBuf::from(env!("CARGO_BIN_EXE_vecud")))
}

fn start_by(rig: &Rig, runner: PathBuf) -> Session {
    let options = Options {
        file: rig.file(),
        out: Some(rig.out()),
        cache: Some(cache()),
        runner: Some(runner),
        ..Options::default()
    };
    let prepared = supervisor::plan(&options, &EventSink::default()).unwrap();
    let session = Session::start(prepared, EventSink::default(), |_| ()).unwrap();
    wait_until("it runs", || session.state() == SessionState::Running);
    session
}

fn stopped(session: Session) -> Finished {
    session.stop();
    session.wait().unwrap().remove(0)
}

fn activations(session: &Session) -> u64 {
    session.clocks().iter().map(|clock| clock.activations).sum()
}

/// Five hundred releases of the shortest clock would be missed, and each of the others would be late by that.
#[test]
fn a_pause_is_in_no_figure() {
    real_time("a_pause_is_in_no_figure", || {
        let rig = Rig::new("stop_time = 100").tracer("a", "").trigger("a.out_high", "a.high");
        let session = start(&rig);
        sleep(Duration::from_millis(100));
        assert_eq!(session.resume(), Err(PauseError::NotPaused(SessionState::Running)));
        session.pause().unwrap();
        wait_until("its state says so", || session.state() == SessionState::Paused);
        assert_eq!(session.pause(), Err(PauseError::NotRunning(SessionState::Paused)));
        let (before, reached) = (activations(&session), session.snapshot().elapsed);
        sleep(Duration::from_millis(500));
        assert_eq!((activations(&session), session.snapshot().elapsed), (before, reached), "time stands");
        session.resume().unwrap();
        wait_until("it goes on", || activations(&session) > before + 100);
        let run = stopped(session).run;
        assert_eq!(run.pauses.number, 1);
        assert!(run.pauses.first[0].seconds >= 0.5 && run.wall_seconds > run.end_time + 0.5, "{:?}", run.pauses);
        assert!((run.pauses.first[0].time_s - reached).abs() < 1e-6, "{reached}: {:?}", run.pauses);
        for clock in &run.clocks {
            assert!(clock.overruns < 100, "{} overruns of {}", clock.overruns, clock.clock);
            let latest = clock.start_latency.max();
            assert!(latest < 400_000_000, "{} was {latest} ns late", clock.clock);
        }
    });
}

#[test]
fn virtual_time_stands_as_well() {
    let rig = Rig::new("mode = 'virtual'\nstop_time = 1e6").tracer("a", "");
    let session = start(&rig);
    for _ in 0..3 {
        session.pause().unwrap();
        let before = activations(&session);
        sleep(Duration::from_millis(20));
        assert_eq!(activations(&session), before);
        session.resume().unwrap();
        wait_until("it goes on", || activations(&session) > before);
    }
    session.pause().unwrap();
    let run = stopped(session).run;
    assert_eq!((run.pauses.number, run.end), (4, vecud::report::End::Signal), "the last one lasts up to the end");
}

#[test]
fn a_run_that_pauses_can_be_stopped() {
    shared_core(|| {
        let rig = Rig::new("stop_time = 100").tracer("a", "");
        let session = start(&rig);
        session.pause().unwrap();
        let finished = stopped(session);
        assert_eq!((finished.exit_code(), finished.run.pauses.number), (0, 1), "{:#?}", finished.run.problems);
    });
}

/// What hangs keeps the run from resting: it is told so, and the others go on where they were held.
#[test]
fn a_pause_that_cannot_be_is_refused_and_the_run_goes_on() {
    real_time("a_pause_that_cannot_be_is_refused_and_the_run_goes_on", || {
        let hang = "fail_kind = 4, fail_clock = 1, fail_at = 20";
        let rig = Rig::new("stop_time = 100\nshutdown_timeout = 0.3").tracer("a", hang).tracer("b", "");
        let session = start(&rig);
        let of_b = || session.clocks().iter().filter(|clock| clock.fmu == "b").map(|clock| clock.activations).sum();
        wait_until("an activation hangs", || session.snapshot().clocks.iter().any(|clock| clock.under_way.is_some()));
        let asked = Instant::now();
        assert_eq!(session.pause(), Err(PauseError::NotQuiescent(Nanos(300_000_000))));
        assert!(asked.elapsed() >= Duration::from_millis(300));
        let before: u64 = of_b();
        wait_until("the others go on", || of_b() > before + 100);
        let run = stopped(session).run;
        assert_eq!(run.pauses.number, 0);
        let late = run.clocks.iter().filter(|clock| clock.fmu == "b").map(|clock| clock.overruns).max();
        assert!(late < Some(100), "what was held is not late: {late:?}");
    });
}

/// A runner that is stopped does not answer: whoever asks is told in time, and nothing of what was asked for comes later unless that is
/// said. A run that pauses goes on when its runner can.
#[test]
fn a_runner_that_does_not_answer_keeps_nobody_waiting() {
    shared_core(|| {
        let limit = Duration::from_millis(300);
        for mode in ["realtime", "virtual"] {
            let rig = Rig::new(&format!("mode = '{mode}'\nstop_time = 1e6\nshutdown_timeout = 0.3")).tracer("a", "");
            let session = start(&rig);
            let runner = session.runner().unwrap() as i32;
            let while_it_is_stopped = |ask: &dyn Fn() -> Result<(), PauseError>| {
                send(runner, SIGSTOP);
                let asked = Instant::now();
                let (answer, took) = (ask(), asked.elapsed());
                send(runner, SIGCONT);
                assert!((limit..PATIENCE).contains(&took), "{took:?}");
                answer
            };
            for _ in 0..2 {
                let before = activations(&session);
                wait_until("it goes on", || activations(&session) > before + 10);
                let answer = while_it_is_stopped(&|| session.pause());
                assert_eq!(answer, Err(PauseError::Withdrawn(Nanos(300_000_000))));
                let before = activations(&session);
                wait_until("it goes on", || activations(&session) > before + 100);
                assert_eq!(session.state(), SessionState::Running);
            }
            session.pause().unwrap();
            let before = activations(&session);
            let answer = while_it_is_stopped(&|| session.resume());
            assert_eq!(answer, Err(PauseError::NotAnswered(Nanos(300_000_000))));
            wait_until("it goes on", || session.state() == SessionState::Running && activations(&session) > before);
            let run = stopped(session).run;
            assert_eq!(run.pauses.number, 1, "{:#?}", run.problems);
        }
    });
}

/// Before it runs, and after.
#[test]
fn only_a_run_that_goes_on_can_pause() {
    let rig = Rig::new("mode = 'virtual'\nstop_time = 1e6").tracer("a", "");
    let session = start(&rig);
    let handle = session.handle();
    stopped(session);
    assert_eq!(handle.pause(), Err(PauseError::NotRunning(SessionState::Over)));
    assert_eq!(handle.resume(), Err(PauseError::NotPaused(SessionState::Over)));
}

/// One at a time, the highest-priority ready one next: nobody waits for the turn of one that is held.
#[test]
fn without_privileges_it_pauses_as_well_as_this_user() {
    shared_core(|| {
        let rig = Rig::new("stop_time = 100").tracer("a", "").trigger("a.out_high", "a.high");
        let runner = rig.folder().join("runner");
        let program = env!("CARGO_BIN_EXE_vecud");
        let test = "without_privileges_it_pauses_as_well_as_this_user";
        let Some(words) = user::words_without_real_time(test) else { return };
        std::fs::write(&runner, format!("#!/bin/sh\n{}\n", words.replace("PROGRAM", program))).unwrap();
        std::fs::set_permissions(&runner, PermissionsExt::from_mode(0o755)).unwrap();
        let session = start_by(&rig, runner);
        for _ in 0..5 {
            let before = activations(&session);
            wait_until("it goes on", || activations(&session) > before + 20);
            session.pause().unwrap();
            let before = activations(&session);
            sleep(Duration::from_millis(30));
            assert_eq!(activations(&session), before);
            session.resume().unwrap();
        }
        let run = stopped(session).run;
        assert_eq!((run.host.scheduling, run.pauses.number), (Scheduling::Cooperative, 5), "{:#?}", run.problems);
    });
}
