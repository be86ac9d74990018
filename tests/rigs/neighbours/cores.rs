//! Runs in real time of several processes: each sees which cores the others have, and takes others.

use crate::program::{Outcome, Rig, own_core, skipped};
use std::process::Command;

/// A rig that is seen by those of this name.
fn command(rig: &Rig, name: &str, arguments: &[&str]) -> Command {
    let mut command = rig.command();
    command.args(arguments).env("VECUD_CORES", name);
    command
}

fn core(run: &Outcome) -> u64 {
    run.clock("a", "fast")["cpu"].as_u64().unwrap()
}

fn notes(run: &Outcome) -> String {
    run.report()["notes"].to_string()
}

/// The second one takes another core than the first, with a note; one that comes when the first is over has its core. One that
/// is under another name sees nobody.
#[test]
fn runs_at_once_take_different_cores_where_they_can() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return skipped("runs_at_once_take_different_cores_where_they_can", &"there is one core");
    }
    own_core(|| {
        let name = format!("cores {}", std::process::id());
        let rig = |stop: f64| Rig::new(&format!("stop_time = {stop}")).tracer("a", "");
        let first = rig(60.0);
        let running = first.start(command(&first, &name, &[]));
        first.wait_until_it_runs();
        let [second, other, third] = [rig(0.1), rig(0.1), rig(0.1)];
        let beside = second.finish(second.start(command(&second, &name, &[]))).exits(0);
        let unseen = other.finish(other.start(command(&other, &format!("{name}, too"), &[]))).exits(0);
        crate::program::send(running.id() as i32, nix::sys::signal::Signal::SIGINT);
        let process = running.id();
        let alone = first.finish(running).exits(0);
        let after = third.finish(third.start(command(&third, &name, &[]))).exits(0);
        assert_ne!(core(&beside), core(&alone));
        assert_eq!((core(&unseen), core(&after)), (core(&alone), core(&alone)));
        let words =
            format!("the run of process {process} uses core {}, so this run uses core {}", core(&alone), core(&beside));
        assert!(notes(&beside).contains(&words), "{words}: {}", notes(&beside));
        for run in [&alone, &unseen, &after] {
            assert!(!notes(run).contains("process"), "{}", notes(run));
        }
    });
}

/// Whoever plans at the same time sees nobody yet: a core is claimed once, and the other one looks again.
#[test]
fn runs_that_begin_at_the_same_time_take_different_cores() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return skipped("runs_that_begin_at_the_same_time_take_different_cores", &"there is one core");
    }
    own_core(|| {
        let name = format!("same time {}", std::process::id());
        let rigs = [(); 2].map(|()| Rig::new("stop_time = 60").tracer("a", ""));
        let running = rigs.each_ref().map(|rig| rig.start(command(rig, &name, &[])));
        rigs.iter().for_each(Rig::wait_until_it_runs);
        let cores: Vec<u64> = (rigs.iter().zip(running))
            .map(|(rig, child)| {
                crate::program::send(child.id() as i32, nix::sys::signal::Signal::SIGINT);
                core(&rig.finish(child).exits(0))
            })
            .collect();
        assert_ne!(cores[0], cores[1]);
    });
}

/// A rig that names its core has it, and is told with whom it shares it.
#[test]
fn a_core_that_is_named_is_shared_with_a_note() {
    own_core(|| {
        let name = format!("named core {}", std::process::id());
        let usual = Rig::new("stop_time = 0.02").tracer("a", "");
        let out = core(&usual.run().exits(0));
        let first = Rig::new("stop_time = 60").tracer("a", "");
        let running = first.start(command(&first, &name, &[]));
        first.wait_until_it_runs();
        let process = running.id();
        let second = Rig::new("stop_time = 0.1").tracer_with("a", "", &format!("cpu = {out}"));
        let beside = second.finish(second.start(command(&second, &name, &[]))).exits(0);
        crate::program::send(running.id() as i32, nix::sys::signal::Signal::SIGINT);
        first.finish(running).exits(0);
        let words = format!("core {out} is shared with the run of process {process}");
        assert!(notes(&beside).contains(&words), "{words}: {}", notes(&beside));
    });
}
