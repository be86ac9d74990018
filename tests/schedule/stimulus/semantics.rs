//! An activation at `t` gets what the file says of `t`, whoever is late (semantics S15).

use super::program::{Event, Outcome, Rig, clock, jail, shared_core};
use super::{Drawn, Numbers, draw, drive, fed, run};

const HEADER: &str = "a.in_f64,a.in_i32,a.in_bool,a.in_array[3],a.in_u8,a.in_enum,a.high,a.low";

fn float(numbers: &mut Numbers) -> String {
    format!("{:?}", (numbers.below(2000) as f64 - 1000.0) / 8.0)
}

fn boolean(numbers: &mut Numbers) -> String {
    numbers.below(2).to_string()
}

fn drawn(seed: u64) -> Drawn {
    let kinds: [fn(&mut Numbers) -> String; 8] = [
        float,
        |numbers| (numbers.below(2000) as i64 - 1000).to_string(),
        boolean,
        float,
        |numbers| numbers.below(256).to_string(),
        |numbers| (1 + numbers.below(2)).to_string(),
        boolean,
        boolean,
    ];
    draw(seed, HEADER, &kinds)
}

/// The rows of a recording in which a clock with this period (µs) was activated.
fn activated(run: &Outcome, period: i64) -> Vec<(usize, i64)> {
    let micros = run.signals().times().into_iter().map(|time| (time * 1e6).round() as i64).enumerate();
    // Ticks are at whole microseconds as well, so a row may be there twice in one.
    micros.filter(|(_, time)| time % period == 0).collect()
}

fn check(run: &Outcome, drawn: &Drawn) {
    let signals = run.signals();
    let columns: Vec<&str> = HEADER.split(',').collect();
    for (column, name) in columns[..6].iter().enumerate() {
        let period = if column < 4 { 1000 } else { 10_000 };
        let shown = signals.column(name);
        let rows = activated(run, period);
        assert!(rows.len() >= 50, "{name}: {} rows", rows.len());
        for (row, micros) in rows {
            let expected = match (drawn.newest(column, micros), column) {
                (Some(value), _) => value,
                (None, 0 | 3) => "0.0",
                (None, 5) => "1",
                (None, _) => "0",
            };
            assert_eq!(shown[row], expected, "{name} at {micros} µs");
        }
    }
    for (column, clock) in [(6, "high"), (7, "low")] {
        let ticks = drawn
            .times
            .iter()
            .zip(&drawn.cells)
            .filter(|(time, row)| (0..500_000).contains(*time) && row[column].as_deref() == Some("1"));
        let ticks: Vec<f64> = ticks.map(|(time, _)| *time as f64 / 1e6).collect();
        assert!(ticks.len() > 20);
        let number = super::program::clock::NAMES.iter().position(|name| *name == clock).unwrap();
        assert_eq!(run.trace("a").activations(number as u32), ticks, "{clock}");
    }
}

fn both_modes(rig: &Rig, drawn: Option<&Drawn>) {
    let in_virtual_time = run(rig, &[]).exits(0);
    drawn.into_iter().for_each(|drawn| check(&in_virtual_time, drawn));
    let signals = in_virtual_time.file("signals.csv");
    shared_core(|| {
        let in_real_time = run(rig, &["--mode", "realtime"]).exits(0);
        assert_eq!(in_real_time.report()["stimuli"][0]["starved"], 0);
        assert!(in_real_time.file("signals.csv") == signals, "real time has recorded something else");
        drawn.into_iter().for_each(|drawn| check(&in_real_time, drawn));
    });
}

#[test]
fn every_type_is_held_from_its_row_on_in_both_modes() {
    for seed in 1..4 {
        let drawn = drawn(seed);
        both_modes(&fed("0.5", "", &drawn.text), Some(&drawn));
    }
}

#[test]
fn floats_are_on_the_line_between_rows_in_both_modes() {
    let drawn = draw(7, "a.in_f64,a.in_f32,a.high", &[float, float, boolean]);
    let rig = fed("0.5", "interpolation = 'linear'", &drawn.text);
    both_modes(&rig, None);
    let run = run(&rig, &[]).exits(0);
    let (signals, mut between) = (run.signals(), 0);
    let shown = signals.column("a.in_f64");
    for (row, micros) in activated(&run, 1000) {
        let after = drawn.times.iter().position(|time| *time > micros).unwrap();
        let value = |row: usize| drawn.newest(0, drawn.times[row]).map(|text| text.parse::<f64>().unwrap());
        let Some(first) = value(after - 1) else { continue };
        let (begin, end) = (drawn.times[after - 1], drawn.times[after]);
        let share = (micros - begin) as f64 / (end - begin) as f64;
        let expected = first + (value(after).unwrap() - first) * share;
        let got: f64 = shown[row].parse().unwrap();
        assert!((got - expected).abs() < 1e-6, "{got} instead of {expected} at {micros} µs");
        between += usize::from(share > 0.0 && got != first);
    }
    assert!(between > 100, "{between}");
}

#[test]
fn before_its_first_value_an_input_is_not_set_and_after_the_last_row_it_stays() {
    let rig = fed("0.1", "", "time,a.in_f64,a.in_array[1],a.in_array[2]\n0.0105,1.5,,\n0.02,,7,\n0.03,,,8\n");
    let outcome = run(&rig, &[]).exits(0);
    let signals = outcome.signals();
    let at = |name: &str, time: f64| {
        let row = signals.times().iter().position(|t| *t == time).unwrap();
        signals.column(name)[row].to_owned()
    };
    assert_eq!([at("a.in_f64", 0.01), at("a.in_f64", 0.011), at("a.in_f64", 0.099)], ["0.0", "1.5", "1.5"]);
    let arrays =
        [at("a.in_array[1]", 0.02), at("a.in_array[2]", 0.02), at("a.in_array[2]", 0.03), at("a.in_array[3]", 0.05)];
    assert_eq!(arrays, ["7.0", "0.0", "8.0", "0.0"]);
    let trace = outcome.trace("a");
    let first = trace.events.iter().position(|event| event.is("set", "begin") && event.vr == 20).expect("it is set");
    let fast = |event: &&Event| event.is("activate", "begin") && event.clock == clock::FAST;
    assert_eq!(trace.events[..first].iter().filter(fast).count(), 11, "activations of fast before it is set");
}

#[test]
fn rows_far_denser_than_activations_and_ticks_far_apart_hold_up_nobody() {
    let mut text = "time,a.in_f64,a.high\n-1,5,1\n0,6,1\n".to_owned();
    (0..100_000).for_each(|i| text += &format!("{:.9},{i},\n", 0.0005 + f64::from(i) * 1e-9));
    text += "0.45,1,1\n0.5,1,1\n0.6,1,1\n";
    let run = run(&fed("0.5", "", &text), &[]).exits(0);
    assert_eq!(run.count("a", "high", "activations"), 2);
    let signals = run.signals();
    assert_eq!(signals.column("a.in_f64")[..2], ["6.0", "99999.0"]);
    // The row at the stop time is the last that is looked at.
    assert_eq!(run.report()["stimuli"][0]["rows"], 100_004);
}

#[test]
fn columns_of_any_name_feed_what_the_rig_says() {
    let columns = "columns = { 'a.in_f64' = 'v [km/h]', 'a.in_f32' = 'v [km/h]', 'a.in_array[64]' = 'x,\"y\"' }";
    let rig = fed("0.05", columns, "\u{feff}time,unused,v [km/h],\"x,\"\"y\"\"\"\r\n0,text,2.5,\"4\"\r\n\r\n0.02,,3,5");
    let run = run(&rig, &[]).exits(0);
    let signals = run.signals();
    assert_eq!((signals.column("a.in_f64")[0], signals.column("a.in_array[64]")[0]), ("2.5", "4.0"));
    let last = |name: &str| signals.column(name).last().unwrap().to_string();
    assert_eq!([last("a.in_f64"), last("a.in_f32"), last("a.in_array[64]")], ["3.0", "3.0", "5.0"]);
    assert!(run.stderr.contains("1 of the 3 columns of"), "{}", run.stderr);
    let stimulus = &run.report()["stimuli"][0];
    assert_eq!(
        (&stimulus["columns"], &stimulus["columns_left_out"], &stimulus["rows"]),
        (&3.into(), &1.into(), &2.into())
    );
}

/// Whoever has both streams in one file reads it once; whoever has one of them alone reads it there.
#[test]
fn a_column_that_feeds_nothing_is_told_once_where_both_streams_are_one() {
    let rig = fed("0.05", "columns = { 'a.in_f64' = 'v' }", "time,unused,v\n0,1,2\n");
    let told = |text: &str| text.matches("1 of the 2 columns of").count();
    let apart = run(&rig, &[]).exits(0);
    assert_eq!((told(&apart.stdout), told(&apart.stderr)), (1, 1));
    let path = rig.folder().join("both");
    let both = std::fs::File::create(&path).unwrap();
    let mut command = rig.command();
    let ended = command.stdout(both.try_clone().unwrap()).stderr(both).status().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(ended.success() && told(&text) == 1, "{text}");
}

#[test]
fn repeated_runs_get_the_same_and_a_file_that_vanishes_was_read() {
    let drawn = drawn(11);
    let rig = fed("0.3", "", &drawn.text);
    let outcome = run(&rig, &["--repeat", "3"]).exits(0);
    let of = |run: u32| outcome.file(&format!("run-{run}/signals.csv"));
    assert!(of(1) == of(2) && of(2) == of(3) && of(1).lines().count() > 300);
    shared_core(|| {
        let rig = fed("0.3", "", &drawn.text);
        let mut command = rig.command();
        command.args(["--mode", "realtime"]);
        let child = rig.start(command);
        rig.wait_until_it_runs();
        std::fs::remove_file(drive(&rig)).unwrap();
        let outcome = rig.finish(child).exits(0);
        assert!(outcome.file("signals.csv") == of(1));
    });
}

#[test]
fn so_it_is_in_turns_without_privileges_as_this_user() {
    let test = "so_it_is_in_turns_without_privileges_as_this_user";
    for interpolation in ["hold", "linear"] {
        let drawn = draw(5, "a.in_f64,a.in_array[3],a.high,a.low", &[float, float, boolean, boolean]);
        let rig = fed("0.5", &format!("interpolation = '{interpolation}'"), &drawn.text);
        let expected = run(&rig, &[]).exits(0);
        let ticks = |run: &Outcome| [clock::HIGH, clock::LOW].map(|clock| run.trace("a").activations(clock));
        let (signals, expected_ticks) = (expected.file("signals.csv"), ticks(&expected));
        assert!(expected_ticks.iter().all(|ticks| ticks.len() > 20));
        shared_core(|| {
            let mut command = rig.command();
            command.args(["--mode", "realtime"]);
            if !jail::without_real_time(test, &mut command) {
                return;
            }
            let outcome = rig.finish(rig.start(command)).exits(0);
            let report = outcome.report();
            assert_eq!(report["host"]["scheduling"], "cooperative");
            assert_eq!(report["stimuli"][0]["starved"], 0);
            // None lost, each at its own time; and nobody was late beyond what the queue of 16 takes.
            assert_eq!(ticks(&outcome), expected_ticks);
            assert!(outcome.file("signals.csv") == signals, "in turns something else was recorded");
        });
    }
}

/// What is no number is fed all the same; who wants none has a failed run.
#[test]
fn what_is_no_number_is_told_with_its_place() {
    let file = "time,a.in_f64\n0,1\n0.01,nan\n0.02,3\n";
    for (nan, code) in [("note", 0), ("stop", 1)] {
        let rig = Rig::new(&format!("mode = 'virtual'\nstop_time = 0.05\nnan = '{nan}'"))
            .tracer("a", "")
            .more("[[stimulus]]\nfile = 'drive.csv'\n[record]\nsignals = ['a.in_f64']");
        std::fs::write(drive(&rig), file).unwrap();
        let run = run(&rig, &[]).exits(code);
        let words = ":3:6: column 2 (\"a.in_f64\"): NaN is no number, and is what a.in_f64 gets";
        run.problem(&["drive.csv", words]);
        assert_eq!(run.signals().column("a.in_f64").iter().filter(|value| **value == "NaN").count(), 10);
        assert_eq!(run.report()["verdict"], if code == 0 { "pass" } else { "fail" });
    }
}
