//! A recording of a loop, replayed to the control unit alone, gives what the loop gave.

use super::program::{Rig, changed_tracer};
use super::run;
use std::path::{Path, PathBuf};

#[test]
fn the_control_unit_computes_the_same_from_a_recording_as_in_the_loop() {
    ["csv", "mcap"].into_iter().for_each(|format| replays(format, false, false));
}

#[test]
fn a_recording_in_several_files_feeds_as_one_does() {
    ["csv", "mcap"].into_iter().for_each(|format| replays(format, true, false));
}

/// Ticks of a triggered clock that nothing else triggers; those of all other clocks are left out.
#[test]
fn a_recording_of_clocks_ticks_them_as_they_have_ticked() {
    ["csv", "mcap"].into_iter().for_each(|format| replays(format, false, true));
}

/// The folder of a run that has recorded in both formats, with one of them left.
fn recorded(rig: &Rig, format: &str) -> PathBuf {
    let other = if format == "csv" { "mcap" } else { "csv" };
    std::fs::remove_file(rig.out().join(format!("signals.{other}"))).unwrap();
    rig.out()
}

/// `ticks`: the recording has them; else a file of its own has.
fn replays(format: &str, rotated: bool, ticks: bool) {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fmus = manifest.join("fmus");
    let text = std::fs::read_to_string(manifest.join("examples/engine.toml")).unwrap();
    let text = text.replace("../fmus", fmus.to_str().unwrap());
    let rotated_rig;
    let clocks = if ticks { "clocks = true\n" } else { "" };
    let loop_rig = Rig::of_text(&text.replace("format = \"csv\"", &format!("{clocks}format = [\"csv\", \"mcap\"]")));
    let arguments = ["--mode", "virtual", "--stop-time", "3"];
    let original = run(&loop_rig, &arguments).exits(0);
    let signals = original.signals();
    let feeding = match rotated {
        false => recorded(&loop_rig, format),
        true => {
            let keys = format!("format = \"{format}\"\nrotate = \"400ms\"");
            let rig = Rig::of_text(&text.replace("format = \"csv\"", &keys));
            let out = run(&rig, &arguments).exits(0).out;
            assert!(out.join(format!("signals-000008.{format}")).exists() && !out.join("signals.csv").exists());
            // The folder of the test goes with the rig.
            rotated_rig = rig;
            rotated_rig.out()
        }
    };
    // Ticks are no signals: the teeth that the control unit has counted say when they were.
    let counted = signals.column("ecu.teeth");
    let mut teeth = "time,tooth\n".to_owned();
    for (row, time) in signals.column("time").iter().enumerate() {
        // Nothing before the first.
        let before = if row == 0 { "" } else { counted[row - 1] };
        if counted[row] != before {
            teeth += &format!("{time},1\n");
        }
    }
    assert!(teeth.lines().count() > 1000);
    let by_file = "[[stimulus]]\nfile = 'teeth.csv'\ncolumns = { 'ecu.crank_isr' = 'tooth' }\n";
    let by_file = if ticks { "" } else { by_file };
    let replay = Rig::of_text(&format!(
        "[rig]\nmode = 'virtual'\nstop_time = 3\n[fmu.ecu]\npath = '{}'\n[record]\nsignals = ['ecu.*']\n{clocks}\
         [[stimulus]]\nrecording = '{}'\n{by_file}",
        fmus.join("engine_ecu").display(),
        feeding.display()
    ));
    std::fs::write(replay.folder().join("teeth.csv"), teeth).unwrap();
    let replayed = run(&replay, &[]).exits(0);
    assert!(replayed.stderr.contains("feed nothing and are left out"), "{}", replayed.stderr);
    for clock in ["crank_isr", "task_1ms", "injection", "task_10ms", "task_100ms"] {
        let activations = |run: &super::Outcome| run.count("ecu", clock, "activations");
        assert_eq!(activations(&original), activations(&replayed), "{clock}");
    }
    let again = replayed.signals();
    // The loop has rows of the engine as well.
    let times = signals.column("time");
    let mut row = 0;
    let rows: Vec<usize> = again
        .column("time")
        .iter()
        .map(|time| {
            row += times[row..].iter().position(|other| other == time).expect("the loop has that row");
            row
        })
        .collect();
    for name in again.names.iter().filter(|name| name.starts_with("ecu.")) {
        let (one, two) = (signals.column(name), again.column(name));
        for (replayed, original) in rows.iter().enumerate() {
            assert_eq!(one[*original], two[replayed], "{name} at {} s", times[*original]);
        }
    }
}

/// Recorded is what was set, whatever the FMU makes of it: else a replay would be another run. Before there is a value the
/// column has what the input starts with.
#[test]
fn what_an_fmu_makes_of_its_inputs_is_not_recorded() {
    let rig = || Rig::new("mode = 'virtual'\nstop_time = 0.02").more("[record]\nsignals = ['a.in_*', 'a.out_*']");
    let before = "fmu->out.array[i] = fmu->in.array[i] + (double)n;";
    let used_up = format!("{before}\n    fmu->in.f64 = fmu->in.array[3] = -1;");
    let fmu = |rig: &Rig| changed_tracer(rig.folder(), "variables.c", &[(before, &used_up)]);
    let first = rig().more("[[stimulus]]\nfile = 'drive.csv'");
    let path = fmu(&first);
    let first = first.fmu("a", path, "", "");
    let drive = "time,a.in_f64,a.in_array[3],a.in_i32\n-1,2.5,7,\n0.0045,,8.25,5\n0.01,4,,\n";
    std::fs::write(first.folder().join("drive.csv"), drive).unwrap();
    let first = (run(&first, &[]).exits(0), first);
    let signals = first.0.signals();
    let expected = |time: f64| {
        let (f64, array) = (if time < 0.01 { "2.5" } else { "4.0" }, if time < 0.0045 { "7.0" } else { "8.25" });
        [f64, array, if time < 0.0045 { "0" } else { "5" }]
    };
    let columns = ["a.in_f64", "a.in_array[3]", "a.in_i32"].map(|name| signals.column(name));
    let times = signals.times();
    assert_eq!(times.len(), 20);
    for (row, time) in times.into_iter().enumerate() {
        assert_eq!(columns.each_ref().map(|column| column[row]), expected(time), "at {time} s");
    }

    let again = rig().more(&format!("[[stimulus]]\nrecording = '{}'", first.1.out().display()));
    let path = fmu(&again);
    let again = run(&again.fmu("a", path, "", ""), &[]).exits(0);
    assert_eq!(again.file("signals.csv"), first.0.file("signals.csv"));
}
