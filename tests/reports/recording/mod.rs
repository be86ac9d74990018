//! What is recorded, in any format: the same values, thinned out by rules, on a disk that fills up, by a supervisor that
//! keeps away from the partitions' cores. What is left by processes that are killed is in `killed.rs`, what a reader of
//! messages can do to a recording in `unread.rs`; recordings of several files are in `rotated.rs`, those in
//! columns in `arrow.rs`.

use crate::program;

#[cfg(feature = "arrow")]
mod arrow;
mod foxglove;
mod killed;
mod rotated;
mod texts;
mod ticks;
mod unread;
mod wide;

use program::{Outcome, Rig, real_time};
use serde_json::Value;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use vecud::recording::{Recording, Row};

/// In both formats, what only one clock has: of several values for one cell at one time the row of the CSV file has the one
/// that was completed last, and messages have all.
const BOTH: &str =
    "[record]\nformat = ['csv', 'mcap']\nsignals = ['?.in_*', '?.out_*', '?.count_*', '?.time_*', '?.*_ns']\n";

/// The same with messages in JSON.
const WITH_JSON: &str = "[record]\nformat = ['csv', 'mcap']\nmcap = 'json'\nsignals = ['?.in_*', '?.out_*', '?.count_*', '?.time_*', '?.*_ns']\n";

/// The columns of a recording, and all its rows as text.
fn rows(file: &Path) -> (Vec<String>, Vec<(f64, Vec<String>)>) {
    let mut recording = Recording::new(BufReader::new(File::open(file).unwrap())).unwrap();
    let (mut rows, mut row) = (Vec::new(), Row::default());
    while recording.read(&mut row).unwrap_or_else(|error| panic!("{}: {error}", file.display())) {
        rows.push((row.time, row.values().map(str::to_owned).collect()));
    }
    (recording.names().to_vec(), rows)
}

/// The same file up to its first footer, as readers take it, whose chunks are not compressed, for the crate's reader. Its indexes are
/// those of the other one.
fn uncompressed(file: &[u8]) -> Vec<u8> {
    let mut out = file[..mcap::MAGIC.len()].to_vec();
    let mut rest = &file[out.len()..];
    while rest.len() > mcap::MAGIC.len() {
        let length = 9 + u64::from_le_bytes(rest[1..9].try_into().unwrap()) as usize;
        let (record, behind) = rest.split_at(length);
        rest = behind;
        match mcap::parse_record(record[0], &record[9..]).unwrap() {
            mcap::records::Record::Chunk { header, data } if header.compression == "lz4" => {
                let mut plain = Vec::new();
                lz4_flex::frame::FrameDecoder::new(&*data).read_to_end(&mut plain).unwrap();
                let size = (plain.len() as u64).to_le_bytes();
                let length = (40 + plain.len() as u64).to_le_bytes();
                out.extend([&record[..1], &length, &record[9..37], &[0; 4], &size, &plain].concat());
            }
            mcap::records::Record::Footer(_) => {
                // A process that was killed while it put a chunk in the place of this end has left a part of that behind it.
                out.extend([record, &rest[..mcap::MAGIC.len()]].concat());
                break;
            }
            _ => out.extend_from_slice(record),
        }
    }
    out
}

/// Topic, sequence, both times and text of each message; no text where it is none.
fn messages(file: &Path) -> Vec<(String, u32, u64, u64, String)> {
    let bytes = uncompressed(&std::fs::read(file).unwrap());
    let all = mcap::MessageStream::new(&bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    all.map(|message| {
        let message = message.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let is_text = message.channel.message_encoding == "json";
        let text = if is_text { String::from_utf8(message.data.to_vec()).unwrap() } else { String::new() };
        (message.channel.topic.clone(), message.sequence, message.log_time, message.publish_time, text)
    })
    .collect()
}

fn messages_of(run: &Outcome) -> Vec<(String, u32, u64, u64, String)> {
    messages(&run.out.join("signals.mcap"))
}

/// Two FMUs with all types of variables, ticks, and clocks that share instants.
fn two(rig: &str, record: &str) -> Rig {
    Rig::new(rig)
        .tracer("a", "count_up = true, fast_tick_high_every = 7")
        .tracer("b", "count_up = true, in_f64 = -0.0, in_f32 = 1e-40, in_i64 = -9223372036854775808")
        .trigger("a.out_high", "a.high")
        .connect("a.out_f64", "b.in_f64")
        .more(record)
}

#[test]
fn all_formats_have_the_same_rows() {
    let run = two("stop_time = 0.3\nmode = 'virtual'", BOTH).run().exits(0);
    let (csv, mcap) = (rows(&run.out.join("signals.csv")), rows(&run.out.join("signals.mcap")));
    assert_eq!(csv.0, mcap.0);
    assert!(csv.1.len() >= 300 && csv.1 == mcap.1);
    let with_json = two("stop_time = 0.3\nmode = 'virtual'", WITH_JSON).run().exits(0);
    assert!(rows(&with_json.out.join("signals.mcap")) == csv);
    // And those are what the file says.
    let signals = run.signals();
    assert_eq!(csv.1.iter().map(|(time, _)| *time).collect::<Vec<_>>(), signals.times());
    let last = csv.0.iter().position(|name| name == "b.out_i64").unwrap();
    assert!(csv.1.iter().map(|(_, cells)| cells[last].as_str()).eq(signals.column("b.out_i64")));
}

#[test]
fn a_rig_chooses_its_files_and_what_is_left_of_others_goes() {
    let rig = |record: &str| two("stop_time = 0.02\nmode = 'virtual'", record);
    let there = |run: &Outcome| ["csv", "mcap"].map(|ending| run.out.join(format!("signals.{ending}")).exists());
    let run = rig("[record]\nformat = 'mcap'").run().exits(0);
    assert_eq!(there(&run), [false, true]);
    assert_eq!(there(&rig("[record]").run().exits(0)), [true, false]);
    // A second run in the same folder.
    let rig = two("stop_time = 0.02\nmode = 'virtual'", "[record]\nformat = 'csv'");
    std::fs::create_dir_all(rig.out()).unwrap();
    for left in ["signals.mcap", "signals.mcap.part"] {
        std::fs::write(rig.out().join(left), "old").unwrap();
    }
    let run = rig.run().exits(0);
    assert_eq!(there(&run), [true, false]);
    assert!(!run.out.join("signals.mcap.part").exists());
}

#[test]
fn a_regular_end_leaves_statistics_and_indexes() {
    let run = two("stop_time = 0.3\nmode = 'virtual'\nname = 'two of them'", BOTH).run().exits(0);
    let bytes = std::fs::read(run.out.join("signals.mcap")).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().expect("a summary");
    let statistics = summary.stats.clone().unwrap();
    let counted: u64 =
        run.report()["clocks"].as_array().unwrap().iter().map(|c| c["activations"].as_u64().unwrap()).sum();
    assert_eq!((statistics.message_count, statistics.metadata_count), (counted, 2));
    assert_eq!(statistics.message_end_time, 299_000_000);
    assert!(!summary.chunk_indexes.is_empty());
    let indexed: usize = summary
        .chunk_indexes
        .iter()
        .map(|chunk| summary.read_message_indexes(&bytes, chunk).unwrap().values().map(Vec::len).sum::<usize>())
        .sum();
    assert_eq!(indexed as u64, counted);
    let about =
        mcap::read::metadata(&bytes, summary.metadata_indexes.iter().find(|m| m.name == "vecud").unwrap()).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for (key, value) in [("rig", "two of them"), ("mode", "virtual"), ("version", version), ("start_time", "0")] {
        assert_eq!(about.metadata[key], value);
    }
}

#[test]
fn times_of_a_run_that_starts_before_zero_count_from_its_start() {
    let run = two("start_time = -0.01\nstop_time = 0.02\nmode = 'virtual'", WITH_JSON).run().exits(0);
    let messages = messages_of(&run);
    let fast: Vec<_> = messages.iter().filter(|message| message.0 == "/a/fast").collect();
    assert_eq!(fast.len(), 30);
    for (i, (_, _, log_time, publish_time, text)) in fast.into_iter().enumerate() {
        assert_eq!((*log_time, *publish_time), (i as u64 * 1_000_000, i as u64 * 1_000_000));
        let time = serde_json::from_str::<Value>(text).unwrap()["time"].as_f64().unwrap();
        assert!((time - (i as f64 / 1e3 - 0.01)).abs() < 1e-12, "{time}");
    }
}

#[test]
fn the_messages_of_real_time_are_those_of_virtual_time() {
    // What depends on nothing but its partition's own state (semantics S15), in an order that no thread decides.
    let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/own_state");
    let rig = |mode: &str| {
        let (path, record) = (fmu.display(), "[[record.rule]]\nsignals = ['two.x_*']\nevery = 3\n");
        let fmus = format!("[fmu.one]\npath = '{path}'\n[fmu.two]\npath = '{path}'\n");
        let triggers = "[[trigger]]\nclock = 'one.event'\nat = [0.015, 0.25, 0.6]\n";
        // Late or not, each of its releases comes.
        let rig = format!("[rig]\nstop_time = 1\noverrun = 'queue'\nmode = '{mode}'\n");
        Rig::of_text(&format!(
            "{rig}{fmus}{triggers}[record]\nformat = 'mcap'\nmcap = 'json'\nsignals = ['*.x_*', '*.n_*']\n{record}"
        ))
    };
    let expected = messages_of(&rig("virtual").run().exits(0));
    assert!(expected.len() > 250, "{}", expected.len());
    real_time("the_messages_of_real_time_are_those_of_virtual_time", || {
        let run = rig("realtime").run().exits(0);
        let messages = messages_of(&run);
        let first = messages.iter().zip(&expected).find(|(a, b)| a != b);
        assert!(first.is_none() && messages.len() == expected.len(), "{first:?} {}", messages.len());
    });
}

/// The times of the rows in which a column is another than before.
fn updates(run: &Outcome, name: &str) -> Vec<f64> {
    let (names, rows) = rows(&run.out.join("signals.mcap"));
    let column = names.iter().position(|n| n == name).unwrap();
    let (mut last, mut times) = ("", Vec::new());
    for (time, cells) in &rows {
        if last != cells[column] {
            last = &cells[column];
            times.push(*time);
        }
    }
    times
}

#[test]
fn rules_thin_out_both_files() {
    // out_f64 grows by 1 with each activation (1 ms), out_i32 as well, count_slow every 10 ms; lock_pair_ns stays.
    let record = "[record]\nformat = ['mcap', 'csv']\nmcap = 'json'\n\
        signals = ['a.out_f64', 'a.out_i32', 'a.lock_pair_ns', 'a.count_slow']\n\
        [[record.rule]]\nsignals = ['a.*']\nchange = true\n\
        [[record.rule]]\nsignals = ['a.out_f64']\nevery = 10\n\
        [[record.rule]]\nsignals = ['a.out_i32']\nevery = 2\nchange = 39.5\n";
    let run = Rig::new("stop_time = 0.1\nmode = 'virtual'").tracer("a", "count_up = true").more(record).run().exits(0);
    let (csv, mcap) = (rows(&run.out.join("signals.csv")), rows(&run.out.join("signals.mcap")));
    assert!(csv == mcap);
    let times = |step: u32| (0..100).step_by(step as usize).map(|ms| f64::from(ms) / 1e3).collect::<Vec<_>>();
    assert_eq!(updates(&run, "a.out_f64"), times(10));
    assert_eq!(updates(&run, "a.out_i32"), times(40));
    assert_eq!(updates(&run, "a.count_slow"), times(10));
    // Rows and messages are there only where something is kept.
    assert_eq!(csv.1.iter().map(|(time, _)| *time).collect::<Vec<_>>(), times(10));
    let fast: Vec<String> = messages_of(&run).into_iter().filter(|m| m.0 == "/a/fast").map(|m| m.4).collect();
    assert_eq!(fast[1], "{\"time\":0.01,\"out_f64\":11.0}");
    assert_eq!(fast[4], "{\"time\":0.04,\"out_f64\":41.0,\"out_i32\":41}");
    let slow: Vec<String> = messages_of(&run).into_iter().filter(|m| m.0 == "/a/slow").map(|m| m.4).collect();
    assert_eq!(slow[0], "{\"time\":0.0,\"lock_pair_ns\":0.0,\"count_slow\":1}");
    assert_eq!((fast.len(), slow[1].as_str()), (10, "{\"time\":0.01,\"count_slow\":2}"));
}

#[test]
fn a_rule_may_be_for_one_element_of_an_array() {
    let record = "[record]\nformat = ['mcap', 'csv']\nsignals = ['a.out_array']\n\
        [[record.rule]]\nsignals = ['a.out_array']\nevery = 50\n\
        [[record.rule]]\nsignals = ['a.out_array[3]', 'a.out_array[6?]']\nevery = 20\n";
    let run = Rig::new("stop_time = 0.1\nmode = 'virtual'").tracer("a", "count_up = true").more(record).run().exits(0);
    assert_eq!(updates(&run, "a.out_array[1]"), [0.0, 0.05]);
    assert_eq!(updates(&run, "a.out_array[3]"), [0.0, 0.02, 0.04, 0.06, 0.08]);
    assert_eq!(updates(&run, "a.out_array[64]"), [0.0, 0.02, 0.04, 0.06, 0.08]);
    // One that is not there is an error, which names what is.
    let rule = "[record]\nsignals = ['a.out_array']\n[[record.rule]]\nsignals = ['a.out_array[65]']\nevery = 2\n";
    let run = Rig::new("stop_time = 0.1\nmode = 'virtual'").tracer("a", "").more(rule).run().exits(2);
    assert!(run.stderr.contains("no recorded variable matches \"a.out_array[65]\""), "{}", run.stderr);
    let rule = "[record]\nsignals = ['a.out_array[3]']\n";
    let run = Rig::new("stop_time = 0.1\nmode = 'virtual'").tracer("a", "").more(rule).run().exits(2);
    let message = "no variable matches \"a.out_array[3]\": an array is recorded as a whole, as \"a.out_array\"";
    assert!(run.stderr.contains(message), "{}", run.stderr);
}

#[test]
fn samples_that_nobody_fetches_in_time_are_counted_for_both_files() {
    use nix::sys::signal::Signal::{SIGCONT, SIGINT, SIGSTOP};
    real_time("samples_that_nobody_fetches_in_time_are_counted_for_both_files", || {
        // Some 1000 samples of `fast` find room: of 1.7 s more than 500 are lost.
        let record = "[record]\nformat = ['csv', 'mcap']\nsignals = ['a.out_array', 'a.count_fast']\n";
        let rig = Rig::new("").tracer("a", "").more(record);
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        program::send(child.id() as i32, SIGSTOP);
        std::thread::sleep(std::time::Duration::from_millis(1700));
        program::send(child.id() as i32, SIGCONT);
        program::send(child.id() as i32, SIGINT);
        let run = rig.finish(child).exits(0);
        let dropped = run.report()["samples_dropped"].as_u64().unwrap();
        assert!(dropped > 500, "{dropped}");
        run.problem(&["could not be recorded: the recording has gaps"]);
        let kept = run.count("a", "fast", "activations") - dropped;
        assert_eq!((messages_of(&run).len() as u64, run.signals().rows.len() as u64), (kept, kept));
        assert!(rows(&run.out.join("signals.csv")) == rows(&run.out.join("signals.mcap")));
    });
}

#[test]
fn the_supervisor_writes_on_other_cores_than_the_partitions() {
    let cpus = vecud::sys::affinity::allowed_cpus().unwrap();
    if cpus.len() < 2 {
        return program::skipped("the_supervisor_writes_on_other_cores_than_the_partitions", &"there is one core");
    }
    let cpu = *cpus.last().unwrap();
    real_time("the_supervisor_writes_on_other_cores_than_the_partitions", || {
        let rig = Rig::new("stop_time = 1").tracer_with("a", "", &format!("cpu = {cpu}")).more(BOTH);
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let own = vecud::sys::affinity::allowed_cpus_of(child.id()).unwrap();
        rig.finish(child).exits(0);
        assert!(!own.is_empty() && !own.contains(&cpu), "{own:?}");
    });
}

/// No activation has a value of such an input: its rows have what it starts with.
#[test]
fn inputs_that_nobody_sets_have_a_row_at_each_activation() {
    let recorded = |signals: &str| {
        let rig = Rig::new("stop_time = 0.1").tracer("a", "").more(&format!("[record]\nsignals = [{signals}]"));
        let run = rig.run_virtual().exits(0);
        rows(&run.out.join("signals.csv"))
    };
    let (names, alone) = recorded("'a.in_f64'");
    let (_, all) = recorded("'*'");
    let times = |rows: &[(f64, Vec<String>)]| rows.iter().map(|(time, _)| *time).collect::<Vec<f64>>();
    assert_eq!(names, ["a.in_f64"]);
    assert!(alone.len() > 10 && times(&alone) == times(&all), "{alone:?}");
    assert!(alone.iter().all(|(_, values)| *values == alone[0].1), "{alone:?}");
}
