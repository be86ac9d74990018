//! Virtual time: FMUs whose steps meet nobody make many of them in one go. All calls, their order among all FMUs, the counts and
//! what the report says are those of a run in which somebody who is fed from a file makes the schedule ask for each step.

use super::earlier::integrator;
use super::program::random::Random;
use super::program::{Outcome, Rig};
use super::random::rigs::copied_step_tracer;
use super::{run, stepper};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// From one to four step tracers on grids of which some are the same, some of which return early now and then.
fn rig(seed: u64) -> (Rig, Vec<String>) {
    let random = &mut Random(seed);
    let stop = random.of(&["0.2", "0.1234", "0.3"]);
    let mut rig = Rig::new(&format!("mode = 'virtual'\nstop_time = {stop}")).more("[record]\nsignals = ['fed.x']");
    let names: Vec<String> = (0..1 + random.below(4)).map(|number| format!("s{number}")).collect();
    for name in &names {
        let path = copied_step_tracer(&rig.folder().join(name), true, false);
        let early = random.of(&[0, 0, 0, 7, 50]);
        let step = random.of(&["1/1000", "1/1000", "1/300", "7/2000", "1/96"]);
        rig = rig.fmu(name, path, &format!("varies = true, early_every = {early}"), &format!("step = '{step}'"));
    }
    let file = rig.folder().join("fed.csv");
    fs::write(file, "time,fed.a\n0,1\n").unwrap();
    (rig.more(&format!("[fmu.fed]\npath = '{}'\nstep = '1/10'", stepper().display())), names)
}

/// The steps of all in the order in which they were made: whose, what, at which time, over how much, with which status.
fn steps(outcome: &Outcome, names: &[String]) -> Vec<(String, String, String, u64, u64, i32)> {
    let all = names.iter().flat_map(|name| outcome.trace(name).events.into_iter().map(move |event| (name, event)));
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(_, event)| event.ns);
    let told = |(name, event): (&String, super::program::Event)| {
        (name.clone(), event.what, event.phase, event.time.to_bits(), event.hash, event.status)
    };
    all.into_iter().map(told).collect()
}

#[test]
fn steps_in_one_go_are_those_that_are_asked_for_one_by_one() {
    let mut early = 0;
    for seed in 1..25 {
        let (rig, names) = rig(seed);
        let in_one_go = rig.run();
        let (rig, _) = self::rig(seed);
        let one_by_one = rig.more("[[stimulus]]\nfile = 'fed.csv'").run();
        for outcome in [&in_one_go, &one_by_one] {
            assert_eq!(outcome.code, 0, "seed {seed}: {}", outcome.stderr);
        }
        assert!(steps(&in_one_go, &names) == steps(&one_by_one, &names), "seed {seed}: other calls");
        for name in &names {
            for what in ["activations", "steps", "early_returns", "discarded"] {
                let [own, expected] = [&in_one_go, &one_by_one].map(|outcome| outcome.count(name, "step", what));
                assert_eq!(own, expected, "seed {seed}: {what} of {name}");
                early += if what == "early_returns" { own } else { 0 };
            }
        }
    }
    assert!(early > 50, "{early} early returns are too few to show anything");
}

/// What goes wrong ends the run, or the instance, where it does in a run that is asked for each step.
#[test]
fn what_goes_wrong_in_one_go_ends_the_run_where_it_would_anyway() {
    let stepper = stepper();
    for (fails, kind) in ["a", "b", "c"].into_iter().flat_map(|name| [1, 2, 3, 4].map(|kind| (name, kind))) {
        for (keys, own) in [("", ""), ("on_error = 'continue'", ""), ("", "on_warning = 'error'")] {
            let run = |stimulus: &str| {
                let mut rig = Rig::new(&format!("mode = 'virtual'\nstop_time = 0.1\n{keys}"));
                std::fs::write(rig.folder().join("fed.csv"), "time,fed.a\n0,1\n").unwrap();
                rig = rig.more("[record]\nsignals = ['fed.x']");
                for name in ["a", "b", "c"] {
                    let start =
                        if name == fails { format!("fail_kind = {kind}, fail_at = 0.04") } else { String::new() };
                    let path = stepper.display();
                    let fmu = format!("[fmu.{name}]\npath = '{path}'\nstep = '1/1000'\n{own}\nstart = {{ {start} }}");
                    rig = rig.more(&fmu);
                }
                rig.more(&format!("[fmu.fed]\npath = '{}'\nstep = '1/10'\n{stimulus}", stepper.display())).run()
            };
            let [in_one_go, one_by_one] = ["", "[[stimulus]]\nfile = 'fed.csv'"].map(run);
            let case = format!("kind {kind} of {fails}, {keys}{own}");
            assert_eq!(in_one_go.code, one_by_one.code, "{case}: {}", in_one_go.stderr);
            let [own, expected] = [&in_one_go, &one_by_one].map(|outcome| outcome.report()["end_time"].clone());
            assert_eq!(own, expected, "{case}: the end");
            for name in ["a", "b", "c"] {
                for what in ["activations", "steps", "rejected_steps", "discarded"] {
                    let [own, expected] = [&in_one_go, &one_by_one].map(|outcome| outcome.count(name, "step", what));
                    assert_eq!(own, expected, "{case}: {what} of {name}");
                }
            }
        }
    }
}

/// What is to be the same of a run whose steps are made in one go, and of one that is asked for each.
fn told(outcome: &Outcome) -> [Value; 2] {
    let report = outcome.report();
    [report["end_time"].clone(), report["problems"].clone()]
}

/// An FMU that crashes when it is asked how far it came has not made its step.
#[test]
fn an_instant_is_reached_when_its_step_is_made() {
    let run = |fed: &str| {
        let rig = integrator(2, "if (time > 0.0305) return fmi2Discard;", "");
        let source = rig.folder().join("m/sources/all.c");
        let crash = "#include <stdlib.h>\nfmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind k, fmi2Real *v) \
                     { abort(); }\n";
        fs::write(&source, fs::read_to_string(&source).unwrap() + crash).unwrap();
        fs::write(rig.folder().join("fed.csv"), "time,fed.a\n0,1\n").unwrap();
        let (path, rig_file) = (stepper(), rig.file());
        let text = format!(
            "[rig]\nstop_time = 0.1\n[record]\nsignals = ['fed.x']\n[fmu.m]\npath = 'm'\nstep = '1/1000'\n\
             [fmu.fed]\npath = '{}'\nstep = '1/10'\n{fed}",
            path.display()
        );
        fs::write(rig_file, text).unwrap();
        run(&rig, "virtual").exits(1)
    };
    let [in_one_go, one_by_one] = ["", "[[stimulus]]\nfile = 'fed.csv'\n"].map(run);
    assert_eq!(told(&in_one_go), told(&one_by_one));
    assert_eq!(in_one_go.report()["end_time"], 0.03, "the step from 0.031 s on was not made");
}

/// A library that is told of the preemption lock for another instance can take it in a step: whoever has it when the step is over
/// gives it back then, each time.
#[test]
fn a_lock_is_not_held_beyond_its_step() {
    let changed = |folder: &Path| {
        fs::create_dir_all(folder.join("sources")).unwrap();
        for file in fs::read_dir(stepper().join("sources")).unwrap().map(Result::unwrap) {
            fs::copy(file.path(), folder.join("sources").join(file.file_name())).unwrap();
        }
        let change = |file: &str, changes: &[(&str, &str)]| {
            let from = if folder.join(file).exists() { folder.join(file) } else { stepper().join(file) };
            let text = changes.iter().fold(fs::read_to_string(from).unwrap(), |text, (before, after)| {
                assert!(text.contains(before), "{file} has no {before}");
                text.replacen(before, after, 1)
            });
            fs::write(folder.join(file), text).unwrap();
        };
        let life = "    (void)resourcePath, (void)visible;\n    struct fmu_base *base = calloc(1, model_size);";
        let keeps = format!("    extern fmi3LockPreemptionCallback locks;\n    locks = lockPreemption;\n{life}");
        change("sources/fmi3_model.c", &[(life, &keeps)]);
        let burns = "    if (stepper->burn_us > 0)";
        let locks = format!("    if (locks && stepper->steps % 4 == 1) locks();\n{burns}");
        let place = "#include <stdlib.h>";
        let own = format!("{place}\n#include \"fmi3FunctionTypes.h\"\nfmi3LockPreemptionCallback locks;");
        change("sources/stepper.c", &[(place, &own), (burns, &locks)]);
        let clock = "<Clock name=\"tick\" valueReference=\"2\" causality=\"input\" priority=\"1\" \
                     intervalVariability=\"constant\" intervalDecimal=\"0.05\"/>";
        let input = "<Float64 name=\"a\"";
        change(
            "modelDescription.xml",
            &[
                ("  <CoSimulation", "  <ScheduledExecution modelIdentifier=\"stepper\"/>\n  <CoSimulation"),
                (input, &format!("{clock}\n    {input}")),
            ],
        );
    };
    let run = |fed: &str| {
        let rig = Rig::new("mode = 'virtual'\nstop_time = 0.2\non_error = 'continue'");
        let both = rig.folder().join("both");
        changed(&both);
        fs::write(rig.folder().join("fed.csv"), "time,fed.a\n0,1\n").unwrap();
        let (path, both) = (stepper(), both.display().to_string());
        let text = format!(
            "[record]\nsignals = ['fed.x']\n[fmu.se]\npath = '{both}'\ninterface = 'scheduled-execution'\n\
             [fmu.cs]\npath = '{both}'\ninterface = 'co-simulation'\nstep = '1/1000'\n\
             [fmu.fed]\npath = '{}'\nstep = '1/10'\n{fed}",
            path.display()
        );
        rig.more(&text).run()
    };
    let [in_one_go, one_by_one] = ["", "[[stimulus]]\nfile = 'fed.csv'\n"].map(run);
    in_one_go.problem(&["50 times a partition returned with the preemption lock held"]);
    assert_eq!(told(&in_one_go), told(&one_by_one));
}
