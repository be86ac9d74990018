//! `--input-file`: what inputs get, and when.

use super::{Place, fmu};

/// On the line between two rows; where two rows have one time it jumps, which is an event. What `sum` adds up is the input at the
/// begin of each step.
#[test]
fn a_continuous_input_is_on_lines_and_jumps_where_a_time_is_doubled() {
    let place = Place::new().with("in.csv", "time,u\n0,1\n0.02,3\n0.035,3\n0.035,10\n");
    let arguments = ["--input-file=in.csv", "--stop-time=0.05", "--output-variable=u", "--output-variable=sum"];
    let simulated = place.simulate(fmu("events"), &arguments).exits(0);
    assert_eq!(simulated.column("time"), [0.0, 0.01, 0.02, 0.03, 0.035, 0.035, 0.04, 0.05]);
    assert_eq!(simulated.column("u"), [1.0, 2.0, 3.0, 3.0, 3.0, 10.0, 10.0, 10.0]);
    let sum = simulated.column("sum");
    let expected = [0.0, 0.01, 0.03, 0.06, 0.075, 0.075, 0.125, 0.225];
    assert!(sum.iter().zip(expected).all(|(sum, expected)| (sum - expected).abs() < 1e-12), "{sum:?}");
}

/// A discrete input keeps the value of the row before; where it changes is an event, in which it is set: the FMU refuses it elsewhere.
#[test]
fn a_discrete_input_changes_in_event_mode_at_the_time_of_its_row() {
    let place = Place::new().with("in.csv", "time,d\n0,4\n0.015,4\n0.025,5\n0.03,6\n");
    let arguments = ["--input-file=in.csv", "--stop-time=0.04", "--output-variable=d", "--output-variable=d_seen"];
    let simulated = place.simulate(fmu("events"), &arguments).exits(0);
    let rows: Vec<_> = simulated.stdout.lines().skip(1).collect();
    let expected = ["0.0,4,4", "0.01,4,4", "0.02,4,4", "0.025,4,4", "0.025,5,5", "0.03,5,5", "0.03,6,6", "0.04,6,6"];
    assert_eq!(rows, expected);
}

/// What an input has at the start it has while the FMU is initialised, in the midst of a line too.
#[test]
fn values_at_the_start_are_there_from_the_beginning() {
    let place = Place::new().with("in.csv", "time,u\n0,0\n1,10\n");
    let arguments = ["--input-file=in.csv", "--start-time=0.5", "--stop-time=0.52", "--output-variable=u"];
    let simulated = place.simulate(fmu("events"), &arguments).exits(0);
    assert_eq!(simulated.rows()[0], ["0.5", "5.0"]);
}

/// A row whose time is an instant of the steps but for rounding, as sums and quotients of decimals are, is at that instant: no step goes
/// from one to the other, and where steps may not vary nothing comes a step late.
#[test]
fn a_row_at_an_instant_of_the_steps_but_for_rounding_is_at_it() {
    let constant = Place::new();
    let copy = constant.path("constant");
    crate::simulated::copy(&fmu("step_tracer"), &copy);
    let description = copy.join("modelDescription.xml");
    let text = std::fs::read_to_string(&description).unwrap();
    let varies = "canHandleVariableCommunicationStepSize=\"true\"";
    assert!(text.contains(varies));
    std::fs::write(description, text.replace(varies, "")).unwrap();
    let kinds: [(_, &[&str]); 2] = [(fmu("events"), &[]), (copy, &["--start-value", "varies=false"])];
    for (time, interval, stop, rows) in [
        ("0.30000000000000004", "0.1", "0.6", 8),
        ("0.29999999999999993", "0.1", "0.6", 8),
        ("1.666666666666667", "1/3", "3", 11),
    ] {
        for (fmu, more) in &kinds {
            let place = Place::new().with("in.csv", &format!("time,d\n0,4\n{time},5\n3,5\n"));
            let arguments =
                ["--input-file=in.csv", "--stop-time", stop, "--output-interval", interval, "--output-variable=d"];
            let simulated = place.simulate(fmu, &[&arguments[..], more].concat()).exits(0);
            let (times, d) = (simulated.column("time"), simulated.column("d"));
            let jump = d.iter().position(|d| *d == 5.0).unwrap();
            // The jump has two rows, each other instant has one.
            assert_eq!((times.len(), times[jump], d[jump - 1]), (rows, times[jump - 1], 4.0), "{times:?} {d:?}");
            assert!((times[jump] - time.parse::<f64>().unwrap()).abs() < 1e-9, "{times:?}");
        }
    }
    let text = "[rig]\nstop_time = 0.6\n[fmu.s]\npath = 'STEP_CLOCKS'\nstep = 0.1\n[[trigger]]\nclock = 's.called'\nat = [0.30000000000000004]\n\
                [record]\nsignals = ['*']\n";
    let text = text.replace("STEP_CLOCKS", &fmu("step_clocks").display().to_string());
    let outcome = crate::program::Rig::of_text(&text).run_virtual().exits(0);
    let times: Vec<f64> = outcome.signals().column("time").iter().map(|time| time.parse().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] > 1e-6), "{times:?}");
}

/// Before its first row an input has its start value; what changes there, or jumps, is an event. The last row has what was set before it.
#[test]
fn the_first_row_after_the_start_is_an_event() {
    let place = Place::new().with("in.csv", "time,d,u\n0.015,4,1\n0.025,4,2\n");
    let arguments = ["--input-file=in.csv", "--stop-time=0.03", "--output-variable=u", "--output-variable=d_seen"];
    let simulated = place.simulate(fmu("events"), &arguments).exits(0);
    let rows: Vec<_> = simulated.stdout.lines().skip(1).collect();
    assert_eq!(rows, ["0.0,0.0,0", "0.01,0.0,0", "0.015,0.0,0", "0.015,1.0,4", "0.02,1.5,4", "0.03,1.5,4"]);
}

/// What a file has for the start time an input starts with, elements of arrays too, unless a start value is given; before the first row it
/// is as its description says. `all_types` tells in `initial_digest` with what it was initialised.
#[test]
fn inputs_start_alike_in_a_rig_and_in_a_simulation() {
    const VALUES: [(&str, &str); 5] = [
        ("Float64_in[1]", "2.5"),
        ("Int32_in[1]", "7"),
        ("String_in[1]", "\"x y\""),
        ("Binary_in[2]", "\"0x01\""),
        ("pa_in", "1.5"),
    ];
    const COLUMN: &str = "--output-variable=initial_digest";
    let names = VALUES.map(|(name, _)| name);
    let simulated = |time: &str, more: &[&str]| {
        let place = Place::new();
        let mut arguments = vec!["--stop-time=0.01", COLUMN];
        let place = match time {
            "" => place,
            time => {
                arguments.push("--input-file=in.csv");
                let cells = VALUES.map(|(_, value)| value).join(",");
                place
                    .with("in.csv", &format!("time,{}\n-1,1,1,a,00,1\n{time},{cells}\n9,1,1,a,00,1\n", names.join(",")))
            }
        };
        arguments.extend(more);
        place.simulate(fmu("all_types"), &arguments).exits(0).rows()[1][1].to_owned()
    };
    let in_rig = |time: &str, start: &str| {
        let cells = VALUES.map(|(_, value)| value).join(",");
        let rows = format!("time,a.{}\n-1,1,1,a,00,1\n{time},{cells}\n9,1,1,a,00,1\n", names.join(",a."));
        let rig = format!(
            "[rig]\nmode = 'virtual'\nstop_time = 0.01\n[fmu.a]\npath = {:?}\n{start}\n[[stimulus]]\nfile = 'in.csv'\n\
             [record]\nsignals = ['a.initial_digest']\n",
            fmu("all_types")
        );
        let place = Place::new().with("in.csv", &rows).with("rig.toml", &rig);
        let run = place.command_of("run", "rig.toml".as_ref(), &["--out", "out", "--quiet"]).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let recorded = std::fs::read_to_string(place.path("out/signals.csv")).unwrap();
        recorded.lines().last().unwrap().split(',').nth(1).unwrap().to_owned()
    };
    let given: Vec<String> = VALUES.iter().map(|(name, value)| format!("--start-value={name}={value}")).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let at_start = simulated("", &given);
    assert_ne!(at_start, simulated("", &[]), "the digest tells them apart");
    assert_eq!((simulated("0", &[]), in_rig("0", "")), (at_start.clone(), at_start.clone()));
    // The row before the start, whose values are held.
    assert_eq!(simulated("0.005", &[]), in_rig("0.005", ""));
    assert_ne!(simulated("0.005", &[]), at_start);
    let other = simulated("0", &["--start-value=Int32_in=[9, 9]"]);
    assert_ne!(other, at_start);
    assert_eq!(in_rig("0", "start = { Int32_in = [9, 9] }"), other);
}

/// A line is cut at the start in both, and a start beyond `max` is refused with the place of its cell.
#[test]
fn a_start_on_a_line_or_out_of_bounds() {
    let place = Place::new().with("in.csv", "time,u\n-1,0\n1,10\n");
    let arguments = ["--input-file=in.csv", "--stop-time=0.02", "--output-variable=u", "--log-fmi-calls"];
    let simulated = place.simulate(fmu("events"), &arguments).exits(0);
    assert_eq!(simulated.rows()[0], ["0.0", "5.0"]);
    let place = Place::new().with("in.csv", "time,UInt8_in[1]\n0,256\n");
    let refused = place.simulate(fmu("all_types"), &["--input-file=in.csv"]).exits(2);
    assert!(refused.stderr.contains("in.csv:2:3: column 2 (\"UInt8_in[1]\")"), "{}", refused.stderr);
}

/// Without Event Mode a jump is a communication point.
#[test]
fn inputs_of_an_fmu_without_event_mode_jump_between_steps() {
    let place = Place::new().with("in.csv", "time,a\n0,1\n0.015,1\n0.015,2\n");
    let arguments = ["--input-file=in.csv", "--stop-time=0.03", "--output-variable=a", "--output-variable=n"];
    let simulated = place.simulate(fmu("stepper"), &arguments).exits(0);
    let rows: Vec<_> = simulated.stdout.lines().skip(1).collect();
    assert_eq!(rows, ["0.0,1.0,0", "0.01,1.0,1", "0.015,1.0,2", "0.015,2.0,2", "0.02,2.0,3", "0.03,2.0,4"]);
}

/// No step follows that could use it: with and without Event Mode the last row has what was there before.
#[test]
fn a_jump_at_the_stop_time_is_not_seen() {
    let place = Place::new()
        .with("events.csv", "time,u,d\n0,1,4\n0.02,1,4\n0.02,5,7\n")
        .with("stepper.csv", "time,a\n0,1\n0.02,1\n0.02,2\n");
    let columns = ["--output-variable=u", "--output-variable=d", "--output-variable=d_seen"];
    let arguments = [&["--input-file=events.csv", "--stop-time=0.02"], &columns[..]].concat();
    let simulated = place.simulate(fmu("events"), &arguments).exits(0);
    let rows: Vec<_> = simulated.stdout.lines().skip(1).collect();
    assert_eq!(rows, ["0.0,1.0,4,4", "0.01,1.0,4,4", "0.02,1.0,4,4"]);
    let longer =
        place.simulate(fmu("events"), &[&["--input-file=events.csv", "--stop-time=0.03"], &columns[..]].concat());
    let rows: Vec<_> = longer.stdout.lines().skip(3).collect();
    assert_eq!(rows, ["0.02,1.0,4,4", "0.02,5.0,7,7", "0.03,5.0,7,7"]);
    let arguments = ["--input-file=stepper.csv", "--stop-time=0.02", "--output-variable=a", "--output-variable=n"];
    let simulated = place.simulate(fmu("stepper"), &arguments).exits(0);
    let rows: Vec<_> = simulated.stdout.lines().skip(1).collect();
    assert_eq!(rows, ["0.0,1.0,0", "0.01,1.0,1", "0.02,1.0,2"]);
}

/// Longer than what is read ahead.
#[test]
fn a_file_may_have_more_rows_than_are_read_ahead() {
    let rows: String = (0..20_000).map(|row| format!("{:?},{}\n", f64::from(row) * 1e-5, row / 1000)).collect();
    let place = Place::new().with("in.csv", &format!("time,d\n{rows}"));
    let arguments = ["--input-file=in.csv", "--stop-time=0.2", "--output-interval=0.1", "--output-variable=d_seen"];
    let simulated = place.simulate(fmu("events"), &arguments).exits(0);
    let last = simulated.rows().last().unwrap().join(",");
    assert_eq!((last.as_str(), simulated.rows().len()), ("0.2,19", 3 + 2 * 19 - 1));
}

#[test]
fn what_does_not_fit_is_told_with_its_place() {
    for (text, words) in [
        ("time,uu\n0,1\n", "--input-file in.csv: events has no variable \"uu\"; did you mean \"u\"?"),
        ("time,sum\n0,1\n", "events.sum is an output"),
        ("zeit,u\n0,1\n", "in.csv:1:1: the first column must be \"time\""),
        ("time,u\n0,1\n1,x\n", "in.csv:3:3: column 2 (\"u\")"),
        ("time,u\n0,1,\n", "in.csv:2:4: this row has 3 cells, and the header has 2: leave out the ',' at its end"),
        ("time,u,\n0,1,\n", "in.csv:1:7: column 3 has no name: leave out the ',' at its end"),
        ("time,u\n1,1\n0,1\n", "in.csv:3:1: the time 0.0 s is before that of the row before, 1.0 s"),
    ] {
        let place = Place::new().with("in.csv", text);
        let refused = place.simulate(fmu("events"), &["--input-file=in.csv"]).exits(2);
        assert!(refused.stderr.contains(words), "{text}: {}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
}

/// Infinities are numbers.
#[test]
fn what_is_no_number_is_fed_and_told_with_its_place() {
    for (text, words) in [
        (
            "time,u,d\n0,1,0\n0.01,nan,0\n0.02,NaN,0\n0.03,2,1\n",
            Some(":3:6: column 2 (\"u\"): NaN is no number, and is what events.u gets; 2 cells are like that"),
        ),
        ("time,u\n0,NaN\n0.02,1\n", Some(":2:3: column 2 (\"u\"): NaN is no number, and is what events.u gets\n")),
        ("time,u\n0,1\n0.02,inf\n", None),
        ("time,u\n0,Infinity\n0.02,1\n", None),
        ("time,u\n0,.5\n0.02,1\n", None),
    ] {
        let place = Place::new().with("in.csv", text);
        let arguments = ["--input-file=in.csv", "--stop-time=0.04", "--output-variable=u"];
        let simulated = place.simulate(fmu("events"), &arguments).exits(0);
        let told = simulated.stderr.lines().filter(|line| line.contains("in.csv")).count();
        assert_eq!(told, usize::from(words.is_some()), "{}", simulated.stderr);
        let has_nan = simulated.rows().iter().any(|row| row[1] == "NaN");
        assert_eq!(has_nan, words.is_some(), "{}", simulated.stdout);
        let is_warned = |words: &str| simulated.stderr.contains("warning: ") && simulated.stderr.contains(words);
        assert!(words.is_none_or(is_warned), "{}", simulated.stderr);
    }
}

/// Files are read ahead of the run: what it does not come to was fed to nobody.
#[test]
fn what_is_no_number_after_the_end_is_not_told() {
    let place = Place::new().with("in.csv", "time,u\n0,1\n0.5,1\n0.6,NaN\n");
    let told = |stop: &str| {
        let arguments = ["--input-file=in.csv", stop, "--output-variable=u"];
        place.simulate(fmu("events"), &arguments).exits(0).stderr.contains("NaN")
    };
    assert!(!told("--stop-time=0.04"));
    // On the way to it there is nothing but NaN.
    assert!(told("--stop-time=0.55"));
}

/// What a file has for the start time is taken as in any other row, and what is wrong with it is told with its row.
#[test]
fn the_row_of_the_start_time_is_named() {
    let place = Place::new().with("in.csv", "time,u,d\n0,abc,1\n");
    let refused = place.simulate(fmu("events"), &["--input-file=in.csv", "--stop-time=0.02"]).exits(2);
    let words = "in.csv:2:3: column 2 (\"u\"): \"abc\" does not fit events.u, which is of type Float64";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    let place = Place::new().with("in.csv", "time,d\n0,7.\n");
    place.simulate(fmu("events"), &["--input-file=in.csv", "--stop-time=0.02"]).exits(0);
}

/// A column that cannot be read on feeds two stimuli, and is told once.
#[test]
fn a_row_that_is_broken_is_told_once() {
    let good: String = (0..1500).map(|row| format!("{},1,1\n", f64::from(row) / 10_000.0)).collect();
    let place = Place::new().with("in.csv", &format!("time,u,d\n{good}0.15,1\n"));
    let failed = place.simulate(fmu("events"), &["--input-file=in.csv", "--stop-time=0.2"]).exits(1);
    assert_eq!(failed.stderr.matches("in.csv:1502").count(), 1, "{}", failed.stderr);
}

/// The words of a simulation are about its file, not about a rig.
#[test]
fn a_file_that_cannot_be_used_is_told_as_what_it_is() {
    let place = Place::new().with("two.csv", "time,u,d,u\n0,1,2,3\n");
    for (file, words) in [
        ("none.csv", "none.csv: No such file or directory (os error 2)\n"),
        (".", ". is a folder, and no CSV file\n"),
        ("two.csv", "two.csv:1:10: columns 2 and 4 are both \"u\": nobody knows which\n"),
    ] {
        let refused = place.simulate(fmu("events"), &[&format!("--input-file={file}"), "--stop-time=0.02"]).exits(2);
        assert!(refused.stderr.ends_with(words) && refused.stderr.lines().count() == 1, "{}", refused.stderr);
    }
}

/// A column of a triggered clock ticks it, with the values of the row, between steps and in Scheduled Execution.
#[test]
fn a_column_of_a_clock_ticks_it() {
    let place = Place::new().with("in.csv", "time,called,message\n0,0,1\n0.0215,1,5\n0.03,,6\n0.05,1,7\n");
    let arguments = ["--input-file=in.csv", "--stop-time=0.06", "--output-interval=0.01"];
    let columns = ["--output-variable=n_called", "--output-variable=last_message"];
    let simulated = place.simulate(fmu("step_clocks"), &[&arguments[..], &columns].concat()).exits(0);
    let rows = simulated.rows();
    let has = |row: [&str; 3]| rows.iter().any(|own| own[..] == row);
    assert!(has(["0.0215", "0", "0.0"]) && has(["0.0215", "1", "5.0"]), "{rows:?}");
    assert!(has(["0.05", "1", "5.0"]) && has(["0.05", "2", "7.0"]) && has(["0.06", "2", "7.0"]), "{rows:?}");
    let place = Place::new().with("in.csv", "time,AperiodicClock,BIn\n0,0,1\n0.0215,1,5\n");
    let arguments = ["--input-file=in.csv", "--stop-time=0.05", "--output-variable=BOut"];
    let simulated = place.simulate(fmu("three_input_clocks"), &arguments).exits(0);
    assert!(simulated.column("time").contains(&0.0215));
}

/// What an FMU has got, as its rows show it, feeds it the same again: strings as they stand there, binaries in hexadecimal.
#[test]
fn strings_and_binaries_are_fed_and_an_output_is_an_input_again() {
    let rows = "time,String_in[1],String_in[2],Binary_in[1],Binary_in[2],Int32_in[1],UInt8_in[2]\n\
                0,\"a \"\"b\"\", c\",12,0x00ff,dead,1,2\n0.0025,\"\",[1],0x,,3,4\n0.004,\"x\ny\",0x12,AB,0x01,5,6\n";
    let place = Place::new().with("in.csv", rows);
    let columns = ["String_in", "Binary_in", "Int32_in", "UInt8_in"].map(|name| format!("--output-variable={name}"));
    let mut arguments = vec!["--stop-time=0.006", "--input-file=in.csv"];
    arguments.extend(columns.iter().map(String::as_str));
    let first = place.simulate(fmu("all_types"), &arguments).exits(0).stdout;
    for row in [
        "0.0,0,2,1,2147483647,\"a \"\"b\"\", c\",\"12\",0x00ff,0xdead",
        "0.003,0,4,3,2147483647,\"\",\"[1]\",0x,0xdead",
        "0.004,0,6,5,2147483647,\"x\ny\",\"0x12\",0xab,0x01",
    ] {
        assert!(first.contains(&format!("\n{row}\n")), "{row} is not in\n{first}");
    }
    let again = Place::new().with("in.csv", &first);
    assert_eq!(again.simulate(fmu("all_types"), &arguments).exits(0).stdout, first);
}

/// Scalars have what the file says while the FMU is initialised, whatever it looks like.
#[test]
fn a_string_that_looks_like_a_number_is_a_string() {
    let place = Place::new().with("in.csv", "time,in_string,in_binary\n0,1e3,0x12\n0.02,true,\n");
    let arguments =
        ["--input-file=in.csv", "--stop-time=0.03", "--output-variable=out_string", "--output-variable=out_binary"];
    let simulated = place.simulate(fmu("tracer"), &arguments).exits(0);
    assert!(simulated.stdout.contains("\n0.01,\"1e3\",0x12\n"), "{}", simulated.stdout);
    assert!(simulated.stdout.ends_with(",\"true\",0x12\n"), "{}", simulated.stdout);
}

/// FMI 3.0.2, 4.1.1: where two rows have one time, the input is set in Event Mode, before the iteration, and the step before has the left value.
#[test]
fn an_input_that_jumps_is_set_in_event_mode() {
    let place = Place::new().with("in.csv", "time,u\n0,1\n0.25,1\n0.25,3\n0.6,3\n0.6,2\n1,2\n");
    let simulated = place.simulate(fmu("events"), &["--input-file=in.csv", "--output-interval=0.1"]).exits(0);
    let last = |column: &str| *simulated.column(column).last().unwrap();
    assert_eq!(["entered", "u_seen", "changes"].map(last), [2.0, 2.0, 0.0], "{}", simulated.stdout);
    assert!((last("sum") - (0.25 + 0.35 * 3.0 + 0.4 * 2.0)).abs() < 1e-12);
}
