//! `--sweep`: one table of the simulations of all points.

use super::{Place, fmu, simulate};
use crate::program::forks::{Forks, OF_A_LIBRARY};
use crate::program::{PATIENCE, tempdir, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Whoever computes them, rows come in the order of the grid, and each point is as if it had been simulated alone.
#[test]
fn a_grid_is_one_table_of_single_simulations() {
    let sweep = ["--stop-time=0.02", "--sweep=salt=1:3:1", "--sweep=b=0.5,1.5"];
    let table = simulate(fmu("stepper"), &[&sweep[..], &["--jobs=3"]].concat()).exits(0);
    let mut expected = "salt,b,time,x,n,longest\n".to_owned();
    for salt in ["1", "2", "3"] {
        for b in ["0.5", "1.5"] {
            let values = [format!("--start-value=salt={salt}"), format!("--start-value=b={b}")];
            let alone = simulate(fmu("stepper"), &["--stop-time=0.02", &values[0], &values[1]]).exits(0);
            alone.stdout.lines().skip(1).for_each(|row| expected += &format!("{salt},{b},{row}\n"));
        }
    }
    assert_eq!(table.stdout, expected);
    let one = simulate(fmu("stepper"), &[&sweep[..], &["--jobs=1"]].concat()).exits(0);
    assert_eq!(one.stdout, expected);
}

/// A point that fails, even one that takes its process with it, costs the others nothing.
#[test]
fn a_point_that_fails_costs_no_other() {
    let arguments = ["--stop-time=0.03", "--sweep=fail_kind=0,3,7,0", "--start-value=fail_at=0.02", "--jobs=1"];
    let table = simulate(fmu("stepper"), &arguments).exits(1);
    let rows = |kind: &str| table.rows().iter().filter(|row| row[0] == kind).count();
    assert_eq!((rows("0"), rows("3"), rows("7")), (8, 3, 3));
    assert!(table.stderr.contains("error: fail_kind=3: "), "{}", table.stderr);
    assert!(table.stderr.contains("error: fail_kind=7: "), "{}", table.stderr);
    assert!(table.stderr.contains("2 of 4 simulations have failed"), "{}", table.stderr);
}

#[test]
fn more_points_than_one_process_makes() {
    let table = simulate(fmu("stepper"), &["--stop-time=0.01", "--sweep=salt=1:600:1", "--jobs=2"]).exits(0);
    let salts: Vec<f64> = table.column("salt");
    assert_eq!((salts.len(), salts.last()), (1200, Some(&600.0)));
    assert!(salts.is_sorted());
}

#[test]
fn what_is_no_sweep_says_why() {
    let place = Place::new();
    for (sweep, words) in [
        ("salt", "must be NAME=from:to:by"),
        ("salt=1:2", "is no range"),
        ("salz=1,2", "has no variable \"salz\"; did you mean \"salt\"?"),
        ("salt=1,x", "salt must be"),
        ("salt=0:1:0.25", "salt"),
        ("x=1,2", "x cannot be given a start value"),
        ("nothing=1:2:1", "--sweep nothing=1: "),
    ] {
        let refused = place.simulate(fmu("stepper"), &["--sweep", sweep]).exits(2);
        assert!(refused.stderr.contains(words), "{sweep}: {}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
    assert_eq!(place.names(), [""; 0]);
}

/// The table says nothing of what is not there.
#[test]
fn a_study_that_is_interrupted_says_what_there_is_of_it() {
    let arguments = ["--stop-time=1000", "--start-value=burn_us=100", "--sweep=salt=1,2,3,4", "--jobs=2"];
    let place = Place::new();
    // So that it is built.
    place.simulate(fmu("stepper"), &["--stop-time=0.01"]).exits(0);
    let child =
        place.command(&fmu("stepper"), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let runners = || {
        let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
        let children = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
        children.map(|children| children.split_whitespace().count()).sum::<usize>()
    };
    // Each of them takes at least ten seconds.
    wait_until("two are simulated", || runners() == 2);
    std::thread::sleep(Duration::from_millis(300));
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("ended when asked to: 0 of 4 simulations are whole"), "{said}");
    assert_eq!(output.status.code(), Some(0), "{said}");
}

/// Whatever ends a sweep, all processes that its FMUs have started end with it, and where there is an end to tell of they are named: all
/// points done, a runner that crashes, a reader that has seen enough, somebody who asks for the end.
#[test]
fn processes_that_fmus_of_a_sweep_start_end_with_it_and_are_named() {
    let place = Place::new();
    let sweep = |forks: &Forks, arguments: &[&str]| {
        let arguments = [&["--jobs=2"], arguments].concat();
        let mut command = place.command(&forks.fmu, &arguments);
        forks.noted(&mut command).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let named = |forks: &Forks, stderr: &[u8]| {
        let stderr = String::from_utf8_lossy(stderr);
        assert!(stderr.contains("its code has left processes behind, which were ended by force"), "{stderr}");
        assert!(forks.started().iter().all(|pid| stderr.contains(&format!(" {pid} ("))), "{stderr}");
    };
    let folder = tempdir().unwrap();
    let new = |name: &str| Forks::in_folder(&folder.path().join(name));

    let whole = new("whole");
    let output = sweep(&whole, &["--stop-time=0.01", "--sweep=fail_at=1:16:1"]).output().unwrap();
    assert_eq!((output.status.code(), whole.started().len()), (Some(0), 2 * OF_A_LIBRARY));
    assert_eq!(whole.running(), [0; 0]);
    named(&whole, &output.stderr);

    let crashing = new("crashing");
    let crash =
        ["--stop-time=0.01", "--start-value=fail_kind=5", "--start-value=fail_clock=1", "--sweep=fail_at=1,2,3"];
    let output = sweep(&crashing, &crash).output().unwrap();
    assert_eq!((output.status.code(), crashing.running()), (Some(1), vec![]));
    named(&crashing, &output.stderr);

    for (name, signal) in [("read", None), ("asked", Some(Signal::SIGTERM)), ("at once", Some(Signal::SIGINT))] {
        let forks = new(name);
        // The reader sees rows when points are done.
        let arguments = match signal {
            Some(_) => ["--stop-time=1e6", "--sweep=fail_at=1,2"],
            None => ["--stop-time=0.1", "--sweep=fail_at=1:100000:1"],
        };
        let mut child = sweep(&forks, &arguments).spawn().unwrap();
        wait_until("both processes have loaded the FMU", || forks.started().len() == 2 * OF_A_LIBRARY);
        match signal {
            Some(signal) => kill(Pid::from_raw(child.id() as i32), signal).unwrap(),
            None => drop(child.stdout.take()),
        }
        if name == "at once" {
            kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
        }
        let begun = Instant::now();
        child.wait_with_output().unwrap();
        assert!(begun.elapsed() < PATIENCE, "{name}");
        assert_eq!(forks.running(), [0; 0], "{name}");
    }
}

/// The rows of the first point are more than a pipe holds, so the sweep learns then that nobody reads: the second point alone would take
/// 300 s.
#[test]
fn a_sweep_that_nobody_reads_ends_amid_its_points() {
    let arguments = ["--stop-time=100", "--sweep=burn_us=0,30000", "--jobs=2"];
    let mut child = Place::new().command(&fmu("stepper"), &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut header = [0; 4];
    child.stdout.as_mut().unwrap().read_exact(&mut header).unwrap();
    let begun = Instant::now();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(begun.elapsed() < PATIENCE);
}

/// The file is one for all simulations, whichever process makes them, and has whole lines.
#[test]
fn what_fmus_of_a_sweep_log_goes_to_the_file_that_is_named() {
    let place = Place::new();
    let arguments = ["--stop-time=0.02", "--sweep=salt=1:6:1", "--jobs=3", "--log-fmi-calls", "--log-file=log"];
    let table = place.simulate(fmu("stepper"), &arguments).exits(0);
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    let steps: Vec<&str> = log.lines().filter(|line| line.contains("fmi3DoStep(")).collect();
    assert_eq!(steps.len(), 6 * 2, "{log}");
    assert!(steps.iter().all(|line| line.ends_with("-> Ok")), "{log}");
    assert!(!table.stderr.contains("fmi3"), "{}", table.stderr);
}
