//! What goes between the FMUs of a group, and what comes from outside of it: by names nothing is earlier or later.

use super::{last, numbers, succeeds};

/// `src` counts its time events, and `dst` gets the number as a discrete input: at once, whether its name comes before or after.
#[test]
fn a_discrete_value_is_there_in_the_event_that_makes_it() {
    let of = |dst: &str| {
        let text = format!(
            "[rig]\nstop_time = 0.2\n[record]\nsignals = ['*.time_events', '*.d', '*.d_seen']\n\
             [fmu.src]\npath = '@events'\nstart = {{ every = 0.03, in_group = 1 }}\n[fmu.{dst}]\npath = '@events'\nstart = {{ in_group = 1 }}\n\
             [master.g]\nfmus = ['src', '{dst}']\nstep = '1/10'\nalgorithm = 'rollback'\n\
             [[connect]]\nfrom = 'src.time_events'\nto = '{dst}.d'\n"
        );
        let outcome = succeeds(&text);
        let counted = last(&outcome, "src.time_events");
        assert_eq!(last(&outcome, &format!("{dst}.d")), counted, "{dst}");
        counted
    };
    assert_eq!((of("dst"), of("zdst")), (6.0, 6.0));
}

/// One output that feeds two inputs in Event Mode: both have the same in each row, wherever the events of their FMUs are.
#[test]
fn two_inputs_of_one_output_have_the_same() {
    let inside = "[fmu.s]\npath = '@stepper'\n[fmu.e]\npath = '@events'\nstart = { every = 0.002, in_group = 1 }\n[fmu.z]\npath = '@events'\nstart = { every = 0.002, in_group = 1 }\n\
                  [master.g]\nfmus = ['s', 'e', 'z']\nstep = '1/100'\nalgorithm = 'rollback'\n\
                  [[connect]]\nfrom = 's.n'\nto = 'e.d'\n[[connect]]\nfrom = 's.n'\nto = 'z.d'\n";
    let outside = "[fmu.tr]\npath = '@tracer'\n[fmu.e]\npath = '@events'\nstart = { every = 0.0035, in_group = 1 }\n[fmu.z]\npath = '@events'\nstart = { every = 0.0035, in_group = 1 }\n\
                   [master.g]\nfmus = ['z', 'e']\nstep = '1/100'\nalgorithm = 'rollback'\n\
                   [[connect]]\nfrom = 'tr.count_equal_a'\nto = 'e.d'\n[[connect]]\nfrom = 'tr.count_equal_a'\nto = 'z.d'\n\
                   [[trigger]]\nclock = 'tr.high'\nfrom = 'tr.out_high'\n[[trigger]]\nclock = 'tr.low'\nfrom = 'tr.out_low'\n";
    for text in [inside, outside] {
        let outcome = succeeds(&format!("[rig]\nstop_time = 0.0395\n[record]\nsignals = ['e.d', 'z.d']\n{text}"));
        assert_eq!(numbers(&outcome, "e.d"), numbers(&outcome, "z.d"), "{text}");
        assert!(last(&outcome, "e.d") >= 2.0, "{text}");
        assert!(!outcome.stdout.contains("warning"), "{}", outcome.stdout);
    }
}

/// What is watched is as what is not: that a clock of the group ticks somebody outside changes nothing inside.
#[test]
fn an_observer_changes_nothing() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("examples/drive.toml")).unwrap();
    let text =
        text.replace("../fmus/", "@").replace("stimulus/", &format!("{}/", root.join("examples/stimulus").display()));
    let begin = text.find("[[trigger]]").unwrap();
    let end = begin + text[begin..].find("[[connect]]").unwrap();
    let unwatched = format!("{}{}", &text[..begin], &text[end..]);
    let of = |text: &str| {
        let signals = succeeds(text).signals();
        let rows = signals.column("time").into_iter().zip(signals.column("engine.torque"));
        // On the grid of 10 ms, where both have rows.
        let on_grid = |time: &str| {
            ((time.parse::<f64>().unwrap() * 100.0).round() - time.parse::<f64>().unwrap() * 100.0).abs() < 1e-9
        };
        rows.filter(|(time, _)| on_grid(time)).map(|(time, torque)| format!("{time},{torque}")).collect::<Vec<_>>()
    };
    let (watched, unwatched) = (of(&text), of(&unwatched));
    assert!(watched.len() > 1000, "{}", watched.len());
    assert_eq!(watched, unwatched);
}
