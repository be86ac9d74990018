//! Clocks of FMUs for Model Exchange of the draft of FMI 3.0 (semantics S22, S25): `fmus/sampled_draft` is the plant of `fmus/sampled`, where
//! a countdown and a changing clock follow output clocks that say after which interval. It refuses a tick off its time, one that is left out,
//! an output clock that is not asked for its interval, and every call that is out of place. `fmus/bank_draft` has arrays of clocks.

use super::program::{Outcome, Rig, cache};
use super::sampled::{
    crossing, each, fmu, follows_the_closed_form, in_both_modes, off, records_the_same_when_cut, rig, rig_that_records,
    ticks,
};
use super::{numbers, run};
use std::process::Command;

/// What plants of both texts have: all but the output clocks that are of the draft alone.
const COMMON: &str = "signals = ['*.sample', '*.fixed', '*.tuned', '*.changing', '*.later', '*.called', '*.out', '*.crossed', '*.x', '*.y', \
                      '*.v', '*.z', '*.payload', '*.crossing', '*.n_*', '*.last_*']\n";

/// What is recorded of a rig with plants of the draft, in both modes, which is what is recorded with plants of FMI 3.0 in their place.
fn as_released(test: &str, seconds: &str, rest: &str) -> Outcome {
    let draft = in_both_modes(test, &rig_that_records(COMMON, seconds, rest));
    let released = rest.replace("@sampled_draft'", "@sampled'").replace("get_intervals = 'fraction'\n", "");
    let released = run(&rig_that_records(COMMON, seconds, &released), "virtual").exits(0);
    let (own, other) = (draft.file("signals.csv"), released.file("signals.csv"));
    let different = own.lines().zip(other.lines()).find(|(own, other)| own != other);
    assert_eq!(different, None);
    assert_eq!(own, other);
    draft
}

/// Strictly periodic, periodic and triggered clocks, and in the place of countdown and changing ones unions with an interval, as a decimal and
/// as a fraction: each tick is at its instant, and x where the closed form has it, with the bytes of FMI 3.0.
#[test]
fn clocks_of_the_draft_tick_where_those_of_fmi_3_do_and_record_the_same_bytes() {
    let test = "clocks_of_the_draft_tick_where_those_of_fmi_3_do_and_record_the_same_bytes";
    for keys in ["", "get_intervals = 'fraction'\n"] {
        let rest = format!(
            "[fmu.s]\npath = '@sampled_draft'\n{keys}start = {{ message = 0.5 }}\nSOLVER\n\
             [[trigger]]\nclock = 's.called'\nat = [0.002, 0.03, 0.0453, 0.09]\n"
        );
        let outcome = as_released(test, "0.1", &rest);
        let changing = [0.007, 0.018, 0.025, 0.036, 0.043, 0.054, 0.061, 0.072, 0.079, 0.09, 0.097];
        assert_eq!(ticks(&outcome, "s.sample"), each(15, 100));
        assert_eq!(ticks(&outcome, "s.out"), each(15, 100));
        assert_eq!(ticks(&outcome, "s.fixed"), each(20, 100));
        assert_eq!(ticks(&outcome, "s.tuned"), each(25, 100));
        assert_eq!(ticks(&outcome, "s.changing"), changing);
        assert_eq!(ticks(&outcome, "s.called"), [0.002, 0.03, 0.0453, 0.09]);
        assert_eq!(ticks(&outcome, "s.later"), [0.0063, 0.0343, 0.0496, 0.0943]);
        for (clock, count) in
            [("sample", 7), ("out", 7), ("fixed", 5), ("tuned", 4), ("changing", 11), ("called", 4), ("later", 4)]
        {
            assert_eq!(outcome.signals().last(&format!("s.n_{clock}")), count, "{clock}");
        }
        follows_the_closed_form(&outcome);
    }
}

/// The output clocks of a union tick when they set what follows, and are recorded.
#[test]
fn an_output_clock_ticks_when_it_says_after_which_interval_others_follow() {
    let text =
        "[fmu.s]\npath = '@sampled_draft'\nSOLVER\n[[trigger]]\nclock = 's.called'\nat = [0.002, 0.03, 0.0453]\n";
    let outcome = run(&rig("0.1", text), "virtual").exits(0);
    assert_eq!(ticks(&outcome, "s.later_set"), ticks(&outcome, "s.called"));
    let set = ticks(&outcome, "s.changing_set");
    assert_eq!((set[0], &set[1..]), (0.0, &ticks(&outcome, "s.changing")[..]));
}

/// Each tick of an output clock is followed by one: the second call at 33.3 ms does not take the place of the first, as it does for a
/// countdown of FMI 3.0.
#[test]
fn what_follows_a_tick_is_not_replaced_by_what_follows_the_next() {
    let text = "[fmu.s]\npath = '@sampled_draft'\nstart = { message = 0.5 }\nSOLVER\n\
                [[trigger]]\nclock = 's.called'\nat = [0.002, 0.03, 0.0333, 0.09]\n";
    let test = "what_follows_a_tick_is_not_replaced_by_what_follows_the_next";
    let outcome = in_both_modes(test, &rig("0.1", text));
    assert_eq!(ticks(&outcome, "s.later"), [0.0063, 0.0343, 0.0376, 0.0943]);
    follows_the_closed_form(&outcome);
}

#[test]
fn an_interval_of_nothing_is_a_further_iteration_of_the_same_event() {
    let rest = "[fmu.s]\npath = '@sampled_draft'\nstart = { message = 0.5, delay = 0 }\nSOLVER\n\
                [[trigger]]\nclock = 's.called'\nat = [0.0333, 0.045]\n";
    let outcome = as_released("an_interval_of_nothing_is_a_further_iteration_of_the_same_event", "0.1", rest);
    assert_eq!(ticks(&outcome, "s.later"), [0.0333, 0.045]);
    assert_eq!(outcome.signals().last("s.n_later"), 2);
}

/// A state event ticks an output clock, with it a partition, and that one the plant: all at the times that they have for FMI 3.0.
#[test]
fn an_output_clock_of_the_draft_activates_a_partition_at_the_time_of_a_state_event() {
    let rest = "[fmu.s]\npath = '@sampled_draft'\nstart = { gain = 0, u = 1, level = 0.5 }\nSOLVER\n[fmu.t]\npath = '@three_input_clocks'\n\
                [[trigger]]\nclock = 't.AperiodicClock'\nfrom = 's.crossed'\n[[trigger]]\nclock = 's.called'\nfrom = 't.OutClock'\n\
                [[connect]]\nfrom = 's.crossing'\nto = 't.BIn'\n";
    // Calls of the partition come more often than what follows them, which a countdown of FMI 3.0 replaces: nothing follows here.
    let rest = rest.replace("level = 0.5 }", "level = 0.5, delay = 0 }");
    let test = "an_output_clock_of_the_draft_activates_a_partition_at_the_time_of_a_state_event";
    let outcome = as_released(test, "0.12", &rest);
    let crossed = ticks(&outcome, "s.crossed");
    assert_eq!(crossed.len(), 1, "{crossed:?}");
    assert!(off(crossed[0], crossing(0.5)) < 1e-9, "{crossed:?}");
}

/// What an output clock ticks in other FMUs follows after its interval, too: a partition, and a plant of FMI 3.0 in the same group.
#[test]
fn partitions_and_clocks_of_other_fmus_follow_a_tick_of_the_draft_after_its_interval() {
    let text = "[fmu.s]\npath = '@sampled_draft'\nSOLVER\n[fmu.t]\npath = '@three_input_clocks'\n\
                [fmu.o]\npath = '@sampled'\nSOLVER\n\
                [[trigger]]\nclock = 's.called'\nat = [0.002, 0.03, 0.0453]\n\
                [[trigger]]\nclock = 't.AperiodicClock'\nfrom = 's.later_set'\n\
                [[trigger]]\nclock = 'o.called'\nfrom = 's.later_set'\n";
    let test = "partitions_and_clocks_of_other_fmus_follow_a_tick_of_the_draft_after_its_interval";
    let outcome = in_both_modes(test, &rig("0.1", text));
    let later = [0.0063, 0.0343, 0.0496];
    for clock in ["s.later", "t.AperiodicClock", "o.called"] {
        assert_eq!(ticks(&outcome, clock), later, "{clock}");
    }
}

/// Plants in a group, of the draft or of both texts, with each master: what one ticks the other has in the same instant.
#[test]
fn plants_of_both_texts_tick_one_another_in_a_group() {
    let test = "plants_of_both_texts_tick_one_another_in_a_group";
    let rest = "[fmu.a]\npath = '@sampled_draft'\nstart = { gain = 0, u = 1, level = 0.5 }\nKEYS[fmu.b]\npath = '@B'\nstart = { gain = 0 }\n\
                KEYS[[trigger]]\nclock = 'b.called'\nfrom = 'a.crossed'\n[[connect]]\nfrom = 'a.crossing'\nto = 'b.message'\n\
                [[trigger]]\nclock = 'a.called'\nfrom = 'b.out'\n";
    let rest = rest.replace("'b.out'", "'b.crossed'").replace("{ gain = 0 }", "{ gain = 0, level = 0.02 }");
    let alone = rest.replace("KEYS", "SOLVER\n");
    let mastered = |algorithm: &str| {
        format!("{}[master.g]\nfmus = ['a', 'b']\nalgorithm = '{algorithm}'\nSOLVER\n", rest.replace("KEYS", ""))
    };
    for text in [alone.clone(), mastered("jacobi"), mastered("rollback"), mastered("predictable")] {
        for b in ["sampled_draft", "sampled"] {
            let outcome = as_released(test, "0.12", &text.replace("@B", &format!("@{b}")));
            let last = |column: &str| *numbers(&outcome, column).last().unwrap();
            let (crossed, called) = (last("a.last_crossed"), last("b.last_called"));
            assert!(off(crossed, crossing(0.5)) < 1e-9 && called == crossed, "{crossed} {called}: {text}");
            assert!(outcome.signals().last("a.n_called") != 0, "{text}");
        }
    }
}

/// A state has what is still to follow.
#[test]
fn a_run_of_a_plant_of_the_draft_that_is_cut_anywhere_ticks_and_records_the_same() {
    let rig = rig(
        "0.2",
        "[fmu.s]\npath = '@sampled_draft'\nstart = { message = 0.1, level = 0.4, delay = 0.012 }\nSOLVER\n\
         [[trigger]]\nclock = 's.called'\nat = [0.025, 0.045, 0.1, 0.195]\n",
    );
    // At 30, 50 and 110 ms a tick is still to follow, at 80 ms none.
    records_the_same_when_cut(&rig, &["0.03", "0.05", "0.08", "0.11"]);
}

/// Before Initialization Mode, and in it no more: the FMU refuses that.
#[test]
fn intervals_of_the_rig_are_told_to_a_plant_of_the_draft_and_kept() {
    let keys = "[fmu.s]\npath = '@sampled_draft'\nSOLVER\n[fmu.s.clock.fixed]\ninterval = '1/80'\n[fmu.s.clock.tuned]\ninterval = '3/100'\n";
    let outcome = run(&rig("0.1", keys), "virtual").exits(0);
    assert_eq!(ticks(&outcome, "s.fixed"), (0..8).map(|k| f64::from(k) / 80.0).collect::<Vec<_>>());
    assert_eq!(ticks(&outcome, "s.tuned"), each(30, 100));
}

/// Each element of an array has times of its own, and is followed by its own one; of those that tick at once, the whole array is set in one
/// call.
#[test]
fn elements_of_arrays_of_clocks_tick_and_are_followed_each_by_its_own() {
    let text = "[fmu.b]\npath = '@bank_draft'\nsolver = 'rk4'\ninternal_step = '1/100'\n[fmu.b.clock.\"bank[2]\"]\ninterval = '3/200'\n";
    let test = "elements_of_arrays_of_clocks_tick_and_are_followed_each_by_its_own";
    let outcome = in_both_modes(test, &rig("0.1", text));
    for (element, interval, delay) in [(1, 10, 10), (2, 15, 25)] {
        let ticked = each(interval, 100);
        assert_eq!(ticks(&outcome, &format!("b.bank[{element}]")), ticked);
        assert_eq!(ticks(&outcome, &format!("b.out_each[{element}]")), ticked);
        let after = |time: &f64| ((time * 1e4).round() + f64::from(delay)) / 1e4;
        assert_eq!(ticks(&outcome, &format!("b.each[{element}]")), ticked.iter().map(after).collect::<Vec<_>>());
        assert_eq!(outcome.signals().last(&format!("b.n_each_{element}")), ticked.len() as u64);
    }
}

/// An FMU whose interval is none is told of, and what it ticks follows at once, which this one refuses.
#[test]
fn an_interval_that_is_none_is_a_finding() {
    let text = "[fmu.s]\npath = '@sampled_draft'\nstart = { delay = -1 }\nSOLVER\n[[trigger]]\nclock = 's.called'\nat = [0.002]\n";
    let outcome = run(&rig("0.1", text), "virtual").exits(1);
    assert_eq!(outcome.finding("s", "illegal_interval"), Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("fmi3SetClock") && outcome.stderr.contains("the clock 5 ticks at 0.002"),
        "{}",
        outcome.stderr
    );
}

/// The rig can leave the question out: an FMU that needs it says so, in Event Mode of the begin already.
#[test]
fn a_plant_of_the_draft_that_is_not_asked_for_intervals_refuses_to_go_on() {
    let text = "[fmu.s]\npath = '@sampled_draft'\nget_intervals = false\nSOLVER\n";
    let outcome = run(&rig("0.1", text), "virtual").exits(1);
    let words = "fmi3UpdateDiscreteStates: nobody has asked for the interval of the clock 51, which is active.";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
}

/// A copy of the plant in the folder of a rig, with other text in one of its files.
fn changed(rig: &Rig, file: &str, changes: &[(&str, &str)]) {
    let folder = rig.folder().join("sampled_draft");
    std::fs::create_dir_all(folder.join("sources")).unwrap();
    for name in std::iter::once("modelDescription.xml".to_owned()).chain(
        fmu("sampled_draft/sources")
            .read_dir()
            .unwrap()
            .map(|entry| format!("sources/{}", entry.unwrap().file_name().to_str().unwrap())),
    ) {
        let mut text = std::fs::read_to_string(fmu("sampled_draft").join(&name)).unwrap();
        for (from, to) in changes.iter().filter(|_| name == file) {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        std::fs::write(folder.join(&name), text).unwrap();
    }
}

fn check(rig: &Rig) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("check").arg(rig.file()).env("VECUD_CACHE", cache());
    rig.finish(rig.start(command))
}

/// The library need export what is called alone, and without that nothing runs.
#[test]
fn functions_of_clocks_that_a_library_of_the_draft_lacks_are_listed() {
    let rig = rig("0.1", "[fmu.s]\npath = 'sampled_draft'\nSOLVER\n");
    let names = ["fmi3SetClock", "fmi3GetClock", "fmi3GetIntervalDecimal", "fmi3GetIntervalFraction"];
    let other = names.map(|name| (format!("fmi3Status {name}("), format!("fmi3Status not_{name}(")));
    let other: Vec<(&str, &str)> = other.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    changed(&rig, "sources/draft_equations.c", &other);
    let outcome = run(&rig, "virtual").exits(2);
    assert!(outcome.stderr.contains("lacks functions that this rig needs: "), "{}", outcome.stderr);
    // Those that are called, and no other one.
    for (name, is_needed) in names.iter().zip([true, true, true, false]) {
        assert_eq!(outcome.stderr.contains(name), is_needed, "{name}: {}", outcome.stderr);
    }
}

#[test]
fn what_cannot_be_of_clocks_of_the_drafts_model_exchange_is_refused_with_its_place() {
    let plant = "[fmu.s]\npath = '@sampled_draft'\n";
    for (rest, place, words) in [
        ("[fmu.s.clock.sample]\ninterval = '1/10'\n", "8:12: ", "it is a strictly periodic clock, not a periodic one"),
        ("[fmu.s.clock.later]\ninterval = '1/10'\n", "8:12: ", "not a periodic one"),
        (
            "[[trigger]]\nclock = 's.later'\nat = [0.1]\n",
            "8:9: ",
            "is triggered by later_set of the FMU itself (triggeredBy)",
        ),
        ("[[trigger]]\nclock = 's.sample'\nat = [0.1]\n", "8:9: ", "only aperiodic clocks can have a trigger"),
    ] {
        let outcome = check(&rig("1", &format!("{plant}{rest}"))).exits(2);
        assert!(outcome.stderr.contains(place) && outcome.stderr.contains(words), "{rest}: {}", outcome.stderr);
    }
    // Clocks of communication points are those of Scheduled Execution.
    let rig = rig("1", "[fmu.s]\npath = 'sampled_draft'\n");
    changed(&rig, "modelDescription.xml", &[("synchronousTime", "communicationPoint")]);
    let outcome = check(&rig).exits(2);
    for words in ["modelDescription.xml:22:", "the clock \"sample\" is one of communication points", "synchronousTime"]
    {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
}
