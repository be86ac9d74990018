//! When a value becomes visible, for every kind of clock that can produce it (semantics S11), in virtual time. The producer's
//! outputs are its activation times, and a consumer every millisecond shows which of them it has.

use super::engine::changed;
use super::program::Rig;
use super::run;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const KINDS: [&str; 6] = ["base", "fixed_given", "fixed_asked", "changing", "countdown", "triggered"];

fn rig(more: &str) -> Rig {
    let fmus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus");
    let mut text = format!(
        "[rig]\nstop_time = 0.5\n[record]\nsignals = ['*']\n[fmu.k]\npath = '{0}/clock_kinds'\n\
         start = {{ arm_every = 3, tick_every = 2, countdown_interval = 0.0047 }}\n\
         [[trigger]]\nclock = 'k.triggered'\nfrom = 'k.out'\n{more}\n",
        fmus.display()
    );
    for kind in KINDS {
        write!(
            text,
            "[fmu.{kind}]\npath = '{}/mixer'\nclock.step = {{ interval = '1/1000' }}\n\
             [[connect]]\nfrom = 'k.time_{kind}'\nto = '{kind}.a'\ntiming = 'delayed'\n",
            fmus.display()
        )
        .unwrap();
    }
    Rig::of_text(&text)
}

/// In whole microseconds, so that times compare.
fn micros(text: &str) -> Option<i64> {
    text.parse::<f64>().ok().map(|seconds| (seconds * 1e6).round() as i64)
}

#[test]
fn every_kind_of_clock_shows_its_values_from_its_own_instant_on() {
    let outcome = run(&rig(""), "virtual", &[]);
    assert_eq!(outcome.report()["promise"]["holds"], true, "{:#?}", outcome.problems());
    let signals = outcome.signals();
    let times: Vec<i64> = signals.column("time").into_iter().filter_map(micros).collect();
    for kind in KINDS {
        let column = |name: &str| -> Vec<Option<i64>> { signals.column(name).into_iter().map(micros).collect() };
        let (made, count) = (column(&format!("k.time_{kind}")), signals.column(&format!("k.count_{kind}")));
        // Activation times, by their number.
        let mut activations = BTreeMap::new();
        for (time, count) in made.iter().zip(count).filter(|(_, count)| !["", "0"].contains(count)) {
            activations.insert(count.parse::<u64>().unwrap(), time.unwrap());
        }
        let activations: Vec<i64> = activations.into_values().collect();
        assert!(activations.len() > 5, "{kind}: {activations:?}");
        let next_of_base = |time: i64| (time / 10_000 + 1) * 10_000;
        let visible = |index: usize| match kind {
            "countdown" | "triggered" => Some(next_of_base(activations[index])),
            // Its own next instant; of the last one nobody has heard.
            _ => activations.get(index + 1).copied(),
        };
        let mut seen = 0;
        for (time, has) in times.iter().zip(column(&format!("{kind}.a"))).filter(|(time, _)| *time % 1000 == 0) {
            let newest = (0..activations.len()).rev().find(|i| visible(*i).is_some_and(|visible| visible <= *time));
            if let Some(newest) = newest {
                assert_eq!(has, Some(activations[newest]), "{kind} at {time} µs");
                seen += 1;
            }
        }
        assert!(seen > 300, "{kind} was seen {seen} times");
    }
}

#[test]
fn check_says_when_that_is() {
    let rig = rig("");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_vecud")).arg("check").arg(rig.file()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "delayed: visible at the next release of k.base, 10 ms after",
        "delayed: visible at the next release of k.fixed_given, 20 ms after",
        "delayed: visible at the next release of k.fixed_asked, by the interval that the FMU says",
        "delayed: visible at the next release of k.changing, by its last interval",
        "delayed: visible at the next release of k.base, which causes k.countdown, up to 10 ms after",
        "delayed: visible at the next release of k.base, which causes k.triggered, up to 10 ms after",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
}

/// The first release strictly after the activation time (semantics S11) may be the first one of all.
#[test]
fn a_deadline_before_the_first_release_of_its_root_is_visible_at_that() {
    let folder = crate::program::tempdir().unwrap();
    let base = "priority=\"1\" intervalVariability=\"constant\" intervalDecimal=\"0.01\"";
    changed("clock_kinds", folder.path(), &[(base, &format!("{base} shiftDecimal=\"0.035\""))]);
    let mixer = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/mixer");
    let text = format!(
        "[rig]\nstop_time = 0.1\n[record]\nsignals = ['reader.a']\n[fmu.k]\npath = '{}/clock_kinds'\n\
         start = {{ known_at_start = true, countdown_interval = 0.012 }}\n\
         [fmu.reader]\npath = '{}'\nclock.step = {{ interval = '1/1000' }}\n\
         [[connect]]\nfrom = 'k.time_countdown'\nto = 'reader.a'\ntiming = 'delayed'\n",
        folder.path().display(),
        mixer.display()
    );
    let signals = run(&Rig::of_text(&text), "virtual", &[]).signals();
    let seen = signals.times().into_iter().zip(signals.column("reader.a")).find(|(_, value)| *value == "0.012");
    assert_eq!(seen.map(|(time, _)| time), Some(0.035));
}
