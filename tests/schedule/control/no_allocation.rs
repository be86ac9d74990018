//! Partition threads do not touch the allocator for values that are set while they run, of whatever type (semantics S17).

use super::bench::{Bench, Left, SOON};
use super::program::{real_time, skipped};
use crate::wait_until_recorded;
use std::path::Path;
use std::process::Command;
use vecud::fmu::description::Values;
use vecud::supervisor::Control;
use vecud::time::Instant;

/// Runs an FMU in real time while `work` sets values in it, which says when it has done that, and counts what its threads ask of the
/// allocator meanwhile; `check` looks at what the run has left.
fn counted(
    test: &str,
    bench: impl Fn() -> Bench + Sync,
    threads: &[&str],
    work: impl Fn(&Control) -> Instant + Sync,
    check: impl Fn(Left) + Sync,
) {
    if !cfg!(target_env = "gnu") {
        return skipped(test, &"the counter is written for glibc");
    }
    real_time(test, || {
        let bench = bench().in_real_time();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (counter, notes) = (bench.folder.path().join("count.so"), bench.folder.path().join("notes"));
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-shared", "-fPIC", "-o"]).args([&counter, &here.join("tests/no_allocation/count.c")]);
        match compiler.output() {
            Err(error) => return skipped(test, &format!("there is no C compiler: {error}")),
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        }
        let preload = format!(
            "export LD_PRELOAD='{}' VECUD_ALLOCATIONS='{}'; exec PROGRAM \"$@\"",
            counter.display(),
            notes.display()
        );
        let bench = bench.with_runner(&preload);
        let running = bench.start(|_| ());
        wait_until_recorded(&bench.folder.path().join("out"), "time", 0.1);
        let last = work(&running.control);
        running.control.end();
        check(running.finish().passed());
        let report = bench.report();
        let start = report["start_monotonic_ns"].as_i64().unwrap();
        let window = start + 50_000_000..start + last.nanos().0;
        assert!(window.end - window.start > 100_000_000, "values came all the while");
        let files = std::fs::read_dir(bench.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.file_stem().is_some_and(|stem| stem == "notes"));
        let calls: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        assert!(!calls.contains("FULL"), "the counter has room for more calls than a run makes");
        for thread in threads {
            let own = calls.lines().filter_map(|call| call.strip_prefix(thread)?.strip_prefix(' '));
            let times = || own.clone().map(|call| call.split(' ').next().unwrap().parse::<i64>().unwrap());
            assert!(times().any(|at| at < start), "{thread}: nothing was counted before the start");
            let late = times().filter(|at| window.contains(at)).count();
            assert_eq!(late, 0, "{thread}: calls of the allocator while values were set");
        }
    });
}

#[test]
fn setting_values_allocates_nothing_on_partition_threads() {
    const TEST: &str = "setting_values_allocates_nothing_on_partition_threads";
    counted(
        TEST,
        || Bench::new("", ""),
        &["x.fast", "x.middle", "x.slow"],
        |control| {
            let mut last = None;
            for round in 0..100u8 {
                let text = Values::String(vec![String::from(char::from(b'a' + round % 26)).repeat(round.into())]);
                last = Some(control.set("x", "label", text).unwrap().wait(SOON).unwrap());
                control.set("x", "blob", Values::Binary(vec![vec![round; usize::from(round) % 32]])).unwrap();
                control.set("x", "table", Values::Float32(vec![round.into(); 7])).unwrap();
                control.set("x", "add_slow", Values::UInt64(vec![1])).unwrap();
                control.set("x", "on", Values::Boolean(vec![round % 2 == 0])).unwrap().wait(SOON).unwrap();
            }
            last.unwrap().time
        },
        |left| drop(left.was_lawful()),
    );
}

/// The memory for other numbers of states is taken, and given up, by whoever sets the structural parameters.
#[test]
fn numbers_of_states_change_without_allocation_where_they_are_integrated() {
    const TEST: &str = "numbers_of_states_change_without_allocation_where_they_are_integrated";
    let keys = "step = '1/100'\ninternal_step = '1/1000'\nsolver = 'rk4'";
    counted(
        TEST,
        || Bench::of("scale", keys, ""),
        &["x.step"],
        |control| {
            let mut last = None;
            for round in 0..20u64 {
                let numbers = [("states", 4 + 2 * (round % 9)), ("indicators", round % 5)];
                let numbers = numbers.map(|(name, number)| (name, Values::UInt64(vec![number])));
                last = Some(control.reconfigure("x", &numbers, None).unwrap().wait(SOON).unwrap());
                // The next release follows it.
                std::thread::sleep(std::time::Duration::from_millis(25));
            }
            last.unwrap().time
        },
        |left| assert_eq!(left.last("x.resized"), "20"),
    );
}
