//! What cannot be simulated is refused with exit code 2 and a word on the way out, and nothing is written.

use super::{Place, copy, fmu, simulate};

#[test]
fn options_that_do_not_fit_the_fmu_are_named() {
    for (arguments, words) in [
        (
            &["--start-value", "salz=1"][..],
            "--start-value salz=1: stepper has no variable \"salz\"; did you mean \"salt\"?",
        ),
        (&["--start-value", "salt=x"], "--start-value salt=x: the start value of stepper.salt must be"),
        (&["--start-value", "salt"], "--start-value salt: must be written NAME=VALUE"),
        (&["--output-variable", "longes"], "has no such variable; did you mean \"longest\"?"),
        (&["--interface-type", "se"], "has no Scheduled Execution: it offers Co-Simulation"),
        (&["--interface-type", "me"], "has no Model Exchange: it offers Co-Simulation"),
        (&["--stop-time", "-1"], "the stop time, -1 s, is not after the start time, 0 s"),
        (&["--output-interval", "0"], "must be a number of seconds above 0"),
        (&["--fixed-step-size", "-0.1"], "must be a number of seconds above 0"),
        (&["--output-interval", "1e-20"], "must be a number of seconds above 0, 1e-18 at least"),
        (&["--fixed-step-size", "0.3", "--output-interval", "0.5"], "is no multiple of --fixed-step-size 0.3"),
        (&["--tolerance", "no"], "must be a number above 0"),
        (&["--input-file", "nowhere.csv"], "nowhere.csv: No such file"),
        (&["--stop-time", "0"], "is not after the start time, 0 s: nothing would run; give a later --stop-time"),
        (&["--reference-file", "nowhere.csv"], "nowhere.csv: there is no such file"),
        (&["--output-file", "no/where.csv"], "no/where.csv: No such file"),
        (&["--log-file", "no/where.txt"], "no/where.txt: No such file"),
        (&["--initial-fmu-state-file", "nowhere"], "nowhere: No such file"),
    ] {
        let refused = simulate(fmu("stepper"), arguments).exits(2);
        assert!(refused.stderr.contains(words), "{arguments:?}: {}", refused.stderr);
        assert_eq!(refused.stdout, "", "{arguments:?}");
    }
}

#[test]
fn what_is_no_fmu_is_refused() {
    let place = Place::new().with("a.fmu", "no archive").with("b.csv", "time\n");
    for (file, words) in [("nowhere.fmu", "No such file"), ("a.fmu", "a.fmu"), ("b.csv", "b.csv")] {
        let refused = place.simulate(file, &[]).exits(2);
        assert!(refused.stderr.contains(words), "{file}: {}", refused.stderr);
    }
}

/// What is read is never written over.
#[test]
fn an_output_file_takes_the_place_of_nothing_that_is_read() {
    let place = Place::new().with("in.csv", "time,a\n0,1\n");
    let refused = place.simulate(fmu("stepper"), &["--input-file", "in.csv", "-o", "in.csv"]).exits(2);
    assert!(refused.stderr.contains("that is what is simulated, or its input"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(place.path("in.csv")).unwrap(), "time,a\n0,1\n");
}

/// Of a simulation that was refused there is no table, not even a header, wherever it would have gone; of one that has failed there is one.
#[test]
fn a_refusal_prints_nothing() {
    let folder = crate::program::tempdir().unwrap();
    let other = folder.path().join("spring");
    copy(&fmu("spring"), &other);
    let description = other.join("modelDescription.xml");
    let text = std::fs::read_to_string(&description).unwrap();
    std::fs::write(&description, text.replace("{8c4e810f", "{9c4e810f")).unwrap();
    let refused = simulate(&other, &[]).exits(2);
    assert!(refused.stderr.contains("fmi3InstantiateModelExchange returned NULL"), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    let fails = ["--start-value", "function=fmi3EnterInitializationMode", "--start-value", "status=3"];
    let failed = simulate(fmu("failing"), &fails).exits(1);
    assert_eq!(failed.stdout, "time,x,calls,events,falls\n");
}
