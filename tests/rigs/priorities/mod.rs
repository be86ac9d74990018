//! An FMU may have any number of different priorities (FMI 3.0.2, 2.4.4): without FIFO priorities there is no limit, with them
//! neighbouring levels share one, from the least urgent up, and what remains of the order is kept (semantics S5).

mod fmu;

use crate::program;
use fmu::{count, releases};
use program::{Outcome, Rig, cache, jail, real_time, shared_core};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const STOP_MS: u64 = 400;

/// A rig of one FMU, `big`, with so many clocks. `host` are the keys of `[host]`.
fn rig(clocks: usize, host: &str) -> Rig {
    rig_until(STOP_MS, clocks, host)
}

fn rig_until(stop_ms: u64, clocks: usize, host: &str) -> Rig {
    let rig = Rig::of_text(&format!(
        "[rig]\nstop_time = {}\noverrun = 'queue'\n[host]\n{host}\n[fmu.big]\npath = 'big'\n[record]\n",
        stop_ms as f64 / 1e3
    ));
    fmu::write(&rig.folder().join("big"), clocks);
    rig
}

/// `vecud check` of a rig: exit code, standard output, standard error.
fn check(rig: &Rig) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    let output = command.arg("check").arg(rig.file()).env("VECUD_CACHE", cache()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The last of each of the FMU's counters.
fn counters(run: &Outcome, what: &str, clocks: usize) -> Vec<u64> {
    let signals = run.signals();
    (0..clocks).map(|clock| signals.last(&format!("big.{what}_{clock}")) as u64).collect()
}

/// Every clock was activated at each of its releases, and none before a more urgent one of the same instant.
fn check_order(run: &Outcome, clocks: usize) {
    check_order_until(STOP_MS, run, clocks);
}

fn check_order_until(stop_ms: u64, run: &Outcome, clocks: usize) {
    let expected: Vec<u64> = releases(clocks).into_iter().map(|release| count(release, stop_ms)).collect();
    assert_eq!(counters(run, "n", clocks), expected);
    assert_eq!(counters(run, "early", clocks), vec![0; clocks]);
}

/// By clock, most urgent first.
fn fifo_priorities(run: &Outcome, clocks: usize) -> Vec<u64> {
    (0..clocks).map(|clock| run.count("big", &format!("c{clock}"), "fifo_priority")).collect()
}

/// The priorities that several clocks have, and how many have them.
fn shared(fifo: &[u64]) -> BTreeMap<u64, usize> {
    let mut number = BTreeMap::new();
    fifo.iter().for_each(|fifo| *number.entry(*fifo).or_default() += 1);
    number.retain(|_, number| *number > 1);
    number
}

#[test]
fn virtual_time_knows_no_limit() {
    for clocks in [61, 500] {
        let run = rig(clocks, "").run_virtual().exits(0);
        check_order(&run, clocks);
        assert!(!run.problems().iter().any(|problem| problem.contains("share")), "{:#?}", run.problems());
    }
}

/// As root without CAP_SYS_NICE; who is no root has no such priorities anyway, or the test says so.
#[test]
fn a_cooperative_run_knows_no_limit_as_this_user() {
    shared_core(|| {
        // Many threads take turns slowly, and leave many files: each has one.
        for (clocks, stop_ms, host) in [(61, STOP_MS, ""), (130, 20, ""), (61, STOP_MS, "strict_priorities = true")] {
            let rig = rig_until(stop_ms, clocks, host);
            let mut command = rig.command();
            if !jail::without_real_time("a_cooperative_run_knows_no_limit_as_this_user", &mut command) {
                return;
            }
            let run = rig.finish(rig.start(command)).exits(0);
            assert_eq!(run.report()["host"]["scheduling"], "cooperative");
            check_order_until(stop_ms, &run, clocks);
            assert_eq!(counters(&run, "over", clocks), vec![0; clocks], "one at a time");
            assert!(!run.problems().iter().any(|problem| problem.contains("share")), "{:#?}", run.problems());
        }
    });
}

/// Of an FMU with more levels than there are priorities, in real time: which share, that those do not interrupt each other,
/// and that all else is as it was.
fn in_real_time(clocks: usize, [low, high]: [u64; 2]) {
    let rig = rig(clocks, &format!("fifo_priorities = [{low}, {high}]"));
    let run = rig.run().exits(0);
    assert_eq!(run.report()["host"]["scheduling"], "fifo");
    check_order(&run, clocks);
    let fifo = fifo_priorities(&run, clocks);
    assert!(fifo.windows(2).all(|pair| pair[0] >= pair[1]), "{fifo:?}");
    assert_eq!((fifo[0], fifo[clocks - 1]), (high, low), "the band is filled");
    let excess = clocks as u64 - (high - low + 1);
    let expected: BTreeMap<u64, usize> = (low..low + excess).map(|fifo| (fifo, 2)).collect();
    assert_eq!(shared(&fifo), expected, "pairs, from the least urgent up");
    let over_next = counters(&run, "over_next", clocks);
    for clock in (0..clocks - 1).filter(|clock| fifo[*clock] == fifo[clock + 1]) {
        assert_eq!(over_next[clock], 0, "c{clock} began in the midst of c{}, which shares its priority", clock + 1);
    }
    let [band, levels] = [format!("[{low}, {high}]"), format!("{clocks} priority levels")];
    let warning = run.problem(&["fmu `big`", &levels, &band, "share a FIFO priority"]);
    let (a, b) = (clocks - 2, clocks - 1);
    let of_last = format!("FIFO {low}: big.c{a}, big.c{b}; big.c{a} responds up to ");
    let line = warning.lines().find(|line| line.contains(&of_last)).unwrap_or_else(|| panic!("{warning}"));
    // The last one sleeps for 8 ms in each activation.
    let later: f64 = line.split("up to ").nth(1).unwrap().split(" ms").next().unwrap().parse().unwrap();
    assert!(later >= 8.0, "{line}");
    let report = run.report();
    let place = run.problems().iter().position(|problem| *problem == warning).unwrap();
    assert_eq!(report["problems"][place]["severity"], "warning");
    assert_eq!(report["verdict"], "pass");
    assert!(run.stdout.contains("share a FIFO priority"), "{}", run.stdout);
    assert!(run.file("report.html").contains("share a FIFO priority"));
    let (code, text, _) = check(&rig);
    assert_eq!(code, 0);
    assert!(
        text.contains("WARNING: fmu `big`") && text.contains(&of_last.replace("responds up to ", "later by up to an "))
    );
}

#[test]
fn sixty_one_levels_fold_into_the_usual_band() {
    real_time("sixty_one_levels_fold_into_the_usual_band", || in_real_time(61, [51, 89]));
}

#[test]
fn a_hundred_and_twenty_one_levels_fold_into_all_priorities_there_are() {
    real_time("a_hundred_and_twenty_one_levels_fold_into_all_priorities_there_are", || in_real_time(121, [1, 98]));
}

/// The more urgent of two levels that have priorities of their own does interrupt the other one.
#[test]
fn levels_that_share_nothing_interrupt_each_other() {
    real_time("levels_that_share_nothing_interrupt_each_other", || {
        let run = rig(10, "").run().exits(0);
        check_order(&run, 10);
        assert_eq!(shared(&fifo_priorities(&run, 10)), BTreeMap::new());
        assert!(counters(&run, "over_next", 10)[8] > 0, "c8 is released while c9 sleeps in its activation");
    });
}

#[test]
fn strict_priorities_refuses() {
    real_time("strict_priorities_refuses", || {
        let rig = rig(61, "strict_priorities = true");
        let words = ["big has 61 priority levels", "fifo_priorities = [51, 89] has 39", "strict_priorities"];
        let (code, _, error) = check(&rig);
        assert!(code == 2 && words.iter().all(|word| error.contains(word)), "{code}: {error}");
        let run = rig.run().exits(2);
        assert!(words.iter().all(|word| run.stderr.contains(word)), "{}", run.stderr);
        assert!(!Path::new(&rig.out()).join("report.json").exists());
        rig.run_virtual().exits(0);
    });
}
