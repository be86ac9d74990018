//! A run goes on without the privileges that it asks for, with the same results, and says what was refused (semantics S8).

mod cooperative;
use crate::program;
mod refusals;
mod threads;

use program::{Outcome, Random, Rig, jail, shared_core, user};
use std::process::Child;

const STOP_MS: u64 = 1200;

/// Two instances whose partitions share nothing, with random intervals between 50 and 150 ms.
fn independent(seed: u64) -> Rig {
    let mut random = Random(seed);
    let mut keys = || {
        let mut keys = String::new();
        for clock in ["a", "b", "c", "d"] {
            let resolution = [1000, 900, 1024][random.below(3) as usize];
            let counter = resolution / 20 + random.below(resolution / 10);
            keys += &format!("clock.{clock} = {{ interval = \"{counter}/{resolution}\" }}\n");
        }
        keys
    };
    let (of_x, of_y) = (keys(), keys());
    let text = format!(
        "[rig]\nstop_time = {}\n[fmu.x]\npath = '{path}'\n{of_x}[fmu.y]\npath = '{path}'\n{of_y}[record]\n",
        STOP_MS as f64 / 1000.0,
        path = jail::fmu("own_state").display()
    );
    let triggers =
        [("x.out_high", "x.event"), ("y.out_high", "y.event"), ("x.out_low", "y.later"), ("y.out_low", "x.later")];
    let trigger = |(from, clock): &(&str, &str)| format!("[[trigger]]\nclock = \"{clock}\"\nfrom = \"{from}\"\n");
    Rig::of_text(&(text + &triggers.iter().map(trigger).collect::<String>()))
}

/// A run in which the machine let nothing fall behind: the others are tried again, since a core that is taken away for
/// 50 ms makes an overrun, which is another result by right.
fn undisturbed(rig: &Rig, start: impl Fn(&Rig) -> Child) -> Outcome {
    for _ in 0..20 {
        let run = rig.finish(start(rig)).exits(0);
        let clocks = run.report()["clocks"].as_array().unwrap().clone();
        let lost = |name: &str| clocks.iter().map(|clock| clock[name].as_u64().unwrap()).sum::<u64>();
        if lost("overruns") + lost("retimed") + lost("discarded") == 0 {
            return run;
        }
    }
    panic!("twenty runs in a row were disturbed");
}

#[test]
fn the_same_rig_as_root_and_as_an_ordinary_user_gives_the_same_signals_as_this_user() {
    if !user::root("the_same_rig_as_root_and_as_an_ordinary_user_gives_the_same_signals_as_this_user") {
        return;
    }
    shared_core(|| {
        for seed in 1..=3 {
            let rig = independent(seed);
            let expected = {
                let mut command = jail::as_root(&rig);
                command.args(["--mode", "virtual"]);
                rig.finish(rig.start(command)).exits(0).signals()
            };
            assert!(expected.rows.len() > 60, "{} rows", expected.rows.len());
            let limited = |rig: &Rig, limit| jail::start_with_rtprio(rig, jail::as_root(rig), limit);
            type Start<'a> = &'a dyn Fn(&Rig) -> Child;
            let everybody: [(&str, Start, Option<[u8; 2]>); 5] = [
                ("root", &|rig| rig.start(jail::as_root(rig)), Some([80, 89])),
                ("nobody", &|rig| rig.start(jail::as_nobody(rig, 1 << 20)), None),
                ("up to 60", &|rig| limited(rig, 60), Some([51, 60])),
                ("up to 5", &|rig| limited(rig, 5), Some([1, 5])),
                ("up to 3", &|rig| limited(rig, 3), None),
            ];
            for (who, start, band) in everybody {
                let run = undisturbed(&rig, start);
                let host = &run.report()["host"];
                let scheduling = if band.is_some() { "fifo" } else { "cooperative" };
                assert_eq!(host["scheduling"], scheduling, "{who}: {:#?}", run.problems());
                assert_eq!(host["fifo_band_used"], serde_json::json!(band), "{who}");
                let signals = run.signals();
                assert_eq!(signals.names, expected.names);
                for (row, other) in expected.rows.iter().zip(&signals.rows) {
                    assert_eq!(row, other, "seed {seed}, {who}, against virtual time");
                }
                assert_eq!(signals.rows.len(), expected.rows.len(), "seed {seed}, {who}");
                for clock in run.report()["clocks"].as_array().unwrap() {
                    let recorded = signals.last(&format!(
                        "{}.n_{}",
                        clock["fmu"].as_str().unwrap(),
                        clock["clock"].as_str().unwrap()
                    ));
                    assert_eq!(clock["activations"], recorded, "{who}: {clock}");
                }
            }
        }
    });
}
