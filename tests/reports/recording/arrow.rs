//! Recordings in columns (`format = "arrow"`): the rows of `signals.csv`, each value of its own type, whole for whoever reads them.

use super::program::{Rig, send, shared_core, skipped, wait_until};
use super::{rows, two};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, SchemaRef};
use nix::sys::signal::Signal::SIGKILL;
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

/// What only one clock has, in all three formats: messages have it, too.
const ALL: &str =
    "[record]\nformat = ['csv', 'mcap', 'arrow']\nsignals = ['?.in_*', '?.out_*', '?.count_*', '?.time_*', '?.*_ns']\n";

/// Everything that an FMU with variables of all types has.
fn all_types(rig: &str, start: &str, record: &str) -> Rig {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/all_types");
    let fmu = format!("[fmu.a]\npath = '{}'\nstart = {{ {start} }}\n", path.display());
    Rig::new(rig).more(&format!("{fmu}[record]\nformat = ['csv', 'arrow']\ntext_size = 2000\n{record}"))
}

const TEXTS: &str =
    "String_in = [\"say \\\"hi\\\",\\nähm\", ''], Binary_in = ['0x00ff80', '0x'], moving = true, long_from = 100";

/// The schema and all batches, as somebody else's reader finds them: it reads to the end, and nothing is wrong there.
fn batches(file: &Path) -> (SchemaRef, Vec<RecordBatch>) {
    let reader = StreamReader::try_new(File::open(file).unwrap(), None).unwrap();
    (reader.schema(), reader.map(|batch| batch.unwrap()).collect())
}

/// The times of all rows.
fn times(file: &Path) -> Vec<f64> {
    let (_, batches) = batches(file);
    batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Float64Type>().values().to_vec()).collect()
}

fn vecud(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vecud")).current_dir(folder).args(arguments).output().unwrap()
}

#[test]
fn columns_have_the_rows_of_the_other_formats() {
    let run = two("stop_time = 0.3\nmode = 'virtual'", ALL).run().exits(0);
    let csv = rows(&run.out.join("signals.csv"));
    assert!(csv.1.len() >= 300 && csv.0.len() > 20);
    assert!(rows(&run.out.join("signals.arrows")) == csv);
    assert!(rows(&run.out.join("signals.mcap")) == csv);
    let there = &run.report()["recordings"];
    assert_eq!(there[2]["first"], "signals.arrows");
    assert!(run.file("report.html").contains("<a href=\"signals.arrows\">"));
}

#[test]
fn each_column_has_the_type_of_its_variable_and_null_where_a_cell_is_empty() {
    let run = all_types("stop_time = 0.3\nmode = 'virtual'\nname = 'all of them'", TEXTS, "").run().exits(0);
    let csv = rows(&run.out.join("signals.csv"));
    assert!(rows(&run.out.join("signals.arrows")) == csv);
    let (schema, batches) = batches(&run.out.join("signals.arrows"));
    let field = |name: &str| schema.field_with_name(name).unwrap();
    for (name, data_type, fmi_type) in [
        ("a.Float32_out[1]", DataType::Float32, "Float32"),
        ("a.Float64_out[1]", DataType::Float64, "Float64"),
        ("a.Int8_out[1]", DataType::Int8, "Int8"),
        ("a.UInt8_out[1]", DataType::UInt8, "UInt8"),
        ("a.Int16_out[1]", DataType::Int16, "Int16"),
        ("a.UInt16_out[1]", DataType::UInt16, "UInt16"),
        ("a.Int32_out[1]", DataType::Int32, "Int32"),
        ("a.UInt32_out[1]", DataType::UInt32, "UInt32"),
        ("a.Int64_out[1]", DataType::Int64, "Int64"),
        ("a.UInt64_out[1]", DataType::UInt64, "UInt64"),
        ("a.Boolean_out[1,1]", DataType::Boolean, "Boolean"),
        ("a.String_out[1]", DataType::Utf8, "String"),
        ("a.Binary_out[1]", DataType::Binary, "Binary"),
        ("a.Enumeration_out", DataType::Int64, "Enumeration"),
    ] {
        assert_eq!(
            (field(name).data_type(), field(name).metadata()["fmi_type"].as_str()),
            (&data_type, fmi_type),
            "{name}"
        );
    }
    assert_eq!((field("time").data_type(), field("time").metadata()["unit"].as_str()), (&DataType::Float64, "s"));
    assert_eq!(&field("a.bar").metadata()["unit"], "bar");
    assert!(field("a.wide[1]").metadata().get("unit").is_none());
    let about = schema.metadata();
    for (key, value) in [("rig", "all of them"), ("mode", "virtual"), ("start_time", "0")] {
        assert_eq!(about[key], value);
    }
    let fmus: Value = serde_json::from_str(&about["fmus"]).unwrap();
    assert_eq!((&fmus[0]["name"], &fmus[0]["interface"]), (&"a".into(), &"ScheduledExecution".into()));
    assert!(fmus[0]["instantiationToken"].as_str().is_some_and(|token| !token.is_empty()));
    // Values themselves, as this reader has them: from the 100th activation on a text is longer than its room.
    let mut n = 0;
    for batch in batches {
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let (texts, blobs) =
            (column("a.String_out[1]").as_string::<i32>(), column("a.Binary_out[1]").as_binary::<i32>());
        let choice = column("a.Enumeration_out").as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            n += 1;
            assert_eq!(texts.value(row), format!("say \"hi\",\nähm+{n}"));
            assert_eq!(blobs.value(row), [n as u8, 0xFF, 0x80]);
            assert_eq!((column("a.text").is_null(row), choice.is_valid(row)), (n >= 100, true), "row {row}");
        }
    }
    assert_eq!(n, 300);
}

#[test]
fn files_that_rotate_are_whole_ones_and_readers_take_the_folder() {
    let rig = "stop_time = 0.3\nmode = 'virtual'";
    let record = "[record]\nformat = 'arrow'\nsignals = ['?.out_*', '?.count_*']\n";
    let whole = two(rig, record).run().exits(0);
    let rotated = two(rig, &format!("{record}rotate = '50ms'\nkeep = 4\n")).run().exits(0);
    let expected = rows(&whole.out.join("signals.arrows"));
    let mut all = Vec::new();
    for number in 3..=6 {
        let file = rotated.out.join(format!("signals-{number:06}.arrows"));
        assert_eq!(batches(&file).0, batches(&whole.out.join("signals.arrows")).0);
        let (names, more) = rows(&file);
        assert_eq!((names, more[0].0), (expected.0.clone(), f64::from(number - 1) / 20.0));
        all.extend(more);
    }
    assert!(all[..] == expected.1[expected.1.len() - all.len()..]);
    assert!(!rotated.out.join("signals-000002.arrows").exists());
    let kept = &rotated.report()["recordings"][0];
    assert_eq!((&kept["first"], &kept["removed"]), (&"signals-000003.arrows".into(), &2.into()));
    // Whoever reads recordings takes the folder, and draws what it draws of another format.
    let csv = two(rig, &record.replace("arrow", "csv")).run().exits(0);
    for (name, folder) in [("arrow.svg", &whole.out), ("csv.svg", &csv.out)] {
        assert_eq!(vecud(folder, &["plot", ".", "a.out_f64", "-o", name]).status.code(), Some(0));
    }
    let drawn = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(drawn(&whole.out, "arrow.svg"), drawn(&csv.out, "csv.svg"));
    let compared = vecud(&whole.out, &["report", ".", "--against", csv.out.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&compared.stdout).into_owned();
    assert!(compared.status.code() == Some(0) && text.contains(" signals equal at "), "{text}");
    fs::remove_file(whole.out.join("report.html")).unwrap();
    assert_eq!(vecud(&whole.out, &["report", "."]).status.code(), Some(0));
    assert!(whole.file("report.html").contains("a.out_f64"));
}

/// What one run has recorded feeds another one.
#[test]
fn columns_are_a_stimulus() {
    let record = "[record]\nformat = ['csv', 'arrow']\nsignals = ['a.in_f64']\n";
    let rig = || Rig::new("stop_time = 0.1\nmode = 'virtual'").tracer("a", "count_up = true");
    let first = rig().more("[record]\nformat = 'arrow'\nsignals = ['a.out_f64']\n").run().exits(0);
    let folder = first.out.display();
    let map = "columns = { 'a.in_f64' = 'a.out_f64' }";
    let fed = rig().more(&format!("[[stimulus]]\nrecording = '{folder}'\n{map}\n{record}")).run().exits(0);
    let source: Vec<String> =
        rows(&first.out.join("signals.arrows")).1.into_iter().map(|row| row.1[0].clone()).collect();
    let got: Vec<String> = rows(&fed.out.join("signals.arrows")).1.into_iter().map(|row| row.1[0].clone()).collect();
    assert!(source.len() == 100 && got == source, "{:?} {:?}", &got[..3], &source[..3]);
}

/// Real time: all but the last second, as of the other formats; its reader finds the end of a stream where it was killed.
#[test]
fn a_supervisor_that_is_killed_leaves_a_stream_that_ends() {
    shared_core(|| {
        let rig = two("stop_time = 10", &ALL.replace("'mcap', ", ""));
        let mut child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let seen = std::time::Instant::now();
        // Two seconds: the last of them may be missing, and the other one has to be there.
        std::thread::sleep(Duration::from_secs(2));
        let elapsed = seen.elapsed().as_secs_f64();
        send(child.id() as i32, SIGKILL);
        child.wait().unwrap();
        let times = times(&rig.out().join("signals.arrows"));
        let csv = rows(&rig.out().join("signals.csv")).1;
        let reached = times.last().copied().unwrap_or(f64::NEG_INFINITY);
        assert!(reached > elapsed - 1.0, "killed after {elapsed} s, recorded up to {reached} s");
        assert!(times.iter().zip(&csv).all(|(own, (time, _))| own == time));
        assert!(rows(&rig.out().join("signals.arrows")).1.iter().zip(&csv).all(|(own, row)| own == row));
    });
}

/// As much to write as there can be, in virtual time.
#[test]
fn at_whatever_instant_it_is_killed_the_stream_is_whole() {
    let rig = two("stop_time = 1000\nmode = 'virtual'", "[record]\nformat = 'arrow'\nsignals = ['?.out_*']\n");
    let file = rig.out().join("signals.arrows");
    let mut most = 0;
    for round in 0..12 {
        let _ = fs::remove_file(&file);
        let mut child = rig.start(rig.command());
        // However fast the machine is, there is more in each round.
        let least = round * 100_000;
        wait_until("there is so much", || fs::metadata(&file).is_ok_and(|file| file.len() >= least));
        std::thread::sleep(Duration::from_millis(13 * (round % 4)));
        send(child.id() as i32, SIGKILL);
        child.wait().unwrap();
        let times = times(&file);
        assert!(times.is_sorted_by(|a, b| a < b), "round {round}");
        most = most.max(times.len());
    }
    assert!(most > 100, "{most} rows at most");
}

#[test]
fn a_file_that_may_not_grow_ends_with_a_whole_batch_and_the_run_goes_on() {
    let rig =
        two("stop_time = 20\nmode = 'virtual'", "[record]\nformat = 'arrow'\nsignals = ['?.count_*', '?.out_array']\n");
    // 16 MiB, in blocks of 1 KiB: shared memory needs room, too. The signal that comes with it would end the program.
    let script = "trap '' XFSZ; ulimit -f 16384; exec \"$0\" \"$@\"";
    let mut command = Command::new("bash");
    let own = rig.command();
    command.args(["-c", script]).arg(own.get_program()).args(own.get_args()).current_dir(rig.folder());
    command.envs(own.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let child = rig.start(command);
    let run = rig.finish(child);
    run.problem(&["signals.arrows ends at", "the run goes on", "File too large"]);
    let file = run.out.join("signals.arrows");
    let (times, length) = (times(&file), fs::metadata(&file).unwrap().len());
    assert!(times.len() > 1000 && length <= 16 << 20, "{} rows, {length} bytes", times.len());
    assert!(run.problem(&["signals.arrows ends at"]).contains(&format!("ends at {} s", times.last().unwrap())));
}

/// Reads a stream with a package of Python: names, types and values of a row, and how many there are.
const SCRIPT: &str = r#"
import json, sys
name, file = sys.argv[1:]
if name == "pandas":
    import pandas, pyarrow
    frame = pyarrow.ipc.open_stream(file).read_pandas()
    rows, row = len(frame), frame.iloc[41].to_dict()
elif name == "pyarrow":
    import pyarrow
    table = pyarrow.ipc.open_stream(file).read_all()
    table.validate(full=True)
    rows, row = table.num_rows, table.slice(41, 1).to_pylist()[0]
elif name == "polars":
    import polars
    frame = polars.read_ipc_stream(file)
    rows, row = frame.height, frame.row(41, named=True)
else:
    import duckdb, pyarrow
    stream = pyarrow.ipc.open_stream(file)
    result = duckdb.sql("SELECT * FROM stream ORDER BY time")
    names, all = result.columns, result.fetchall()
    rows, row = len(all), dict(zip(names, all[41]))
row = {key: value for key, value in row.items() if key in ("time", "a.String_out[1]", "a.Binary_out[1]", "a.Int64_in[1]", "a.UInt64_in[2]", "a.Boolean_in[1,1]", "a.text")}
row["a.Binary_out[1]"] = row["a.Binary_out[1]"].hex()
print(json.dumps([rows, row], default=lambda value: value.item()))
"#;

#[test]
fn readers_of_others_find_the_same() {
    let run = all_types("stop_time = 0.3\nmode = 'virtual'", TEXTS, "").run().exits(0);
    let file = run.out.join("signals.arrows");
    let mut expected: Option<Value> = None;
    for package in ["pyarrow", "pandas", "polars", "duckdb"] {
        let python = |arguments: &[&str]| Command::new("python3").args(arguments).output();
        let import = format!("import {package}, {}", if package == "polars" { "polars" } else { "pyarrow" });
        if !python(&["-c", &import]).is_ok_and(|output| output.status.success()) {
            let test = "readers_of_others_find_the_same";
            skipped(test, &format!("python3 has no package {package} (pip install pyarrow pandas polars duckdb)"));
            continue;
        }
        let output = python(&["-c", SCRIPT, package, file.to_str().unwrap()]).unwrap();
        assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let row = &found[1];
        assert_eq!((&found[0], row["time"].as_f64()), (&300.into(), Some(0.041)), "{package}");
        assert_eq!(row["a.String_out[1]"], "say \"hi\",\nähm+42", "{package}");
        assert_eq!(row["a.Binary_out[1]"], "2aff80", "{package}");
        assert_eq!(row["a.Int64_in[1]"].as_i64(), Some(i64::MIN), "{package}");
        assert_eq!(row["a.UInt64_in[2]"].as_u64(), Some(u64::MAX), "{package}");
        assert!(expected.get_or_insert_with(|| found.clone()) == &found, "{package}: {found}");
    }
}
