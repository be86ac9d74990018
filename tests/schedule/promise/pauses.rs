//! A run that pauses now and then records what one does that does not (semantics S26): simulation time stands meanwhile, goes on
//! where it stood, and no release is left out, or late by the pause.

use super::program::{Random, Rig, cache, real_time};
use super::{all_kinds, difference, run, trials};
use std::io::Write as _;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;
use vecud::plan::Mode;
use vecud::supervisor::{self, EventSink, Finished, Options, PauseError, Session, SessionState};

fn start(rig: &Rig) -> Session {
    let options = Options {
        file: rig.file(),
        out: Some(rig.out()),
        mode: Some(Mode::RealTime),
        cache: Some(cache()),
        runner: Some(PathBuf::from(env!("CARGO_BIN_EXE_vecud"))),
        ..Options::default()
    };
    let prepared = supervisor::plan(&options, &EventSink::default()).unwrap();
    Session::start(prepared, EventSink::default(), |_| ()).unwrap()
}

/// A run with pauses, and how many there were.
fn paused(rig: &Rig, random: &mut Random) -> (Finished, u64) {
    let (session, mut pauses) = (start(rig), 0);
    while session.state() < SessionState::Running {
        sleep(Duration::from_millis(1));
    }
    loop {
        sleep(Duration::from_millis(random.below(150)));
        match session.pause() {
            Ok(()) => pauses += 1,
            Err(PauseError::Ended | PauseError::NotRunning(_)) => break,
            Err(error) => panic!("{error}"),
        }
        let before = session.clocks();
        sleep(Duration::from_millis(random.below(120)));
        let activations = |clocks: &[vecud::report::ClockResult]| -> Vec<u64> {
            clocks.iter().map(|clock| clock.activations).collect()
        };
        assert_eq!(activations(&before), activations(&session.clocks()), "nothing is released");
        session.resume().unwrap();
    }
    (session.wait().unwrap().remove(0), pauses)
}

fn seed(seed: u64) {
    let rig = all_kinds::drawn(seed);
    let expected = run(&rig, "virtual", &[]).file("signals.csv");
    real_time("a run that pauses", || {
        let mut random = Random(seed);
        for _ in 0..trials() {
            let (finished, pauses) = paused(&rig, &mut random);
            let (run, promise) = (&finished.run, &finished.run.promise);
            assert_eq!(finished.exit_code(), 0, "{:#?}", run.problems);
            assert!(pauses > 3 && run.pauses.number == pauses && run.pauses.first.len() as u64 == pauses);
            assert!(run.pauses.seconds > 0.0 && run.wall_seconds > run.pauses.seconds + 1.9, "{:?}", run.pauses);
            assert!(run.notes.iter().any(|note| note.contains("has paused")), "{:?}", run.notes);
            let recorded = std::fs::read_to_string(finished.out.join("signals.csv")).unwrap();
            let until = promise.until_s.filter(|_| !promise.holds);
            assert_eq!(difference(&expected, &recorded, until), None, "{:?}", run.pauses);
            if promise.holds {
                return assert!(expected == recorded);
            }
            let _ = writeln!(std::io::stderr(), "REPEATED: {promise:?}");
        }
        panic!("something was too late in every trial");
    });
}

#[test]
fn a_run_that_pauses_records_the_bytes_of_virtual_time_seed_1() {
    seed(1);
}

#[test]
fn a_run_that_pauses_records_the_bytes_of_virtual_time_seed_2() {
    seed(2);
}
