//! Strings and binaries in recordings.

use super::foxglove::{reads, reads_binary};
use super::program::{Outcome, Rig, shared_core};
use super::rotated::{files, joined};
use super::{messages, rows};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What stands in both of these columns needs quotes, and is empty.
const START: &str = "String_in = [\"say \\\"hi\\\",\\nähm\", ''], Binary_in = ['0x00ff80', '0x'], moving = true";

const COLUMNS: [&str; 6] =
    ["a.String_out[1]", "a.String_out[2]", "a.Binary_out[1]", "a.Binary_out[2]", "a.text", "a.blob"];

fn rig(rig: &str, start: &str, record: &str) -> Rig {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/all_types");
    Rig::new(rig).more(&format!(
        "[fmu.a]\npath = '{}'\nstart = {{ {start} }}\n[record]\nsignals = ['a.String_out', 'a.Binary_out', 'a.text', 'a.slow_text', 'a.blob', 'a.fast', 'a.slow']\n{record}",
        path.display()
    ))
}

fn both(mode: &str) -> Rig {
    rig(&format!("stop_time = 0.3\n{mode}"), START, "text_size = 2000\nformat = ['csv', 'mcap']\n")
}

#[test]
fn strings_and_binaries_are_the_same_in_all_formats() {
    let run = both("mode = 'virtual'").run().exits(0);
    let csv = rows(&run.out.join("signals.csv"));
    assert_eq!(csv.0[..6], COLUMNS);
    assert_eq!(csv.1.len(), 300);
    for (row, (_, cells)) in csv.1.iter().enumerate() {
        let n = row + 1;
        let expected =
            [format!("say \"hi\",\nähm+{n}"), format!("+{n}"), format!("0x{:02x}ff80", n as u8), "0x".to_owned()];
        assert_eq!(cells[..4], expected, "row {row}");
    }
    let text = fs::read_to_string(run.out.join("signals.csv")).unwrap();
    assert!(text.contains("\n0.001,\"say \"\"hi\"\",\nähm+2\",\"+2\",0x02ff80,0x,"), "{}", &text[..600]);
    assert!(rows(&run.out.join("signals.mcap")) == csv);
    let json = rig("stop_time = 0.3\nmode = 'virtual'", START, "text_size = 2000\nformat = 'mcap'\nmcap = 'json'\n")
        .run()
        .exits(0);
    let file = json.out.join("signals.mcap");
    assert!(rows(&file) == csv);
    // And a report is made of it.
    assert!(fs::read_to_string(run.out.join("report.html")).unwrap().contains("a.text"));
    let test = "strings_and_binaries_are_the_same_in_all_formats";
    reads(&file, test);
    if let Some((lines, _)) = reads_binary(&run.out.join("signals.mcap"), test) {
        let own = messages(&file);
        assert_eq!(lines.len(), own.len());
        for (theirs, (topic, .., text)) in lines.iter().zip(own) {
            let ours: Value = serde_json::from_str(&text).unwrap();
            for column in ["String_out[1]", "Binary_out[1]", "Binary_out[2]"] {
                assert_eq!((&theirs[0], &theirs[4][column]), (&topic.as_str().into(), &ours[column]));
            }
        }
    }
}

#[test]
fn real_time_records_the_bytes_of_virtual_time() {
    shared_core(|| {
        let csv = |run: &Outcome| fs::read_to_string(run.out.join("signals.csv")).unwrap();
        let (real, virtual_time) = (both("overrun = 'queue'").run().exits(0), both("mode = 'virtual'").run().exits(0));
        // slow_text is always the same, and of clocks at one instant the most urgent one comes first.
        assert!(csv(&real) == csv(&virtual_time));
    });
}

/// Each file begins with the strings and binaries that were there, and with no tick.
#[test]
fn files_that_rotate_have_strings_binaries_and_ticks_as_one_has() {
    let record = "text_size = 2000\nclocks = true\nformat = ['csv', 'mcap']\n";
    let of = |more: &str| rig("stop_time = 0.3\nmode = 'virtual'", START, &format!("{record}{more}")).run().exits(0);
    let (whole, rotated) = (of(""), of("rotate = '47ms'\n"));
    let expected = rows(&whole.out.join("signals.csv"));
    assert_eq!(expected.0[..2], ["a.fast", "a.slow"]);
    let ticks = expected.1.iter().filter(|(_, cells)| cells[1] == "1").count();
    assert_eq!((expected.1.len(), ticks), (300, 30));
    for extension in ["csv", "mcap"] {
        let files = files(&rotated.out, extension);
        assert_eq!(files.len(), 7);
        assert!(joined(&files) == expected, "{extension}");
        // What comes every 10 ms is there before it comes again, in a file that is read alone.
        let (names, alone) = rows(&files[1]);
        let text = names.iter().position(|name| name.starts_with("a.slow_text")).unwrap();
        assert!(alone[0].0 == 0.047 && !alone[0].1[text].is_empty(), "{:?}", alone[0]);
        assert_eq!(alone[0].1[..2], ["1", "0"]);
    }
}

/// From its 100th activation on the FMU has 3000 bytes.
#[test]
fn what_is_longer_than_its_room_is_left_out_and_counted() {
    let start = "long_from = 100";
    let short =
        rig("stop_time = 0.3\nmode = 'virtual'", start, "text_size = 2000\nformat = ['csv', 'mcap']\n").run().exits(0);
    let (names, all) = rows(&short.out.join("signals.csv"));
    let column = |name: &str| names.iter().position(|own| own == name).unwrap();
    let (text, blob) = (column("a.text"), column("a.blob"));
    for (row, (_, cells)) in all.iter().enumerate() {
        let is_long = row + 1 >= 100;
        assert_eq!((cells[text].is_empty(), cells[blob].is_empty()), (is_long, is_long), "row {row}");
    }
    assert!(rows(&short.out.join("signals.mcap")).1 == all);
    assert_eq!(short.finding("a", "oversized_value"), Some(402));
    short.problem(&["402 values longer than there is room for (maxSize, max_size or text_size)"]);
    // With more room the strings are there; the binaries are longer than their maxSize says.
    let long = rig("stop_time = 0.3\nmode = 'virtual'", start, "text_size = 3000\n").run().exits(0);
    let (_, all) = rows(&long.out.join("signals.csv"));
    assert!(all.iter().skip(99).all(|(_, cells)| cells[text].len() == 3000 && cells[blob].is_empty()));
}

#[test]
fn a_rule_keeps_strings_that_change() {
    let record = "text_size = 2000\n[[record.rule]]\nsignals = ['*']\nchange = true\n\
                  [[record.rule]]\nsignals = ['a.text', 'a.blob']\nevery = 1000\n";
    let run = rig("stop_time = 0.05\nmode = 'virtual'", "", record).run().exits(0);
    let kept = rows(&run.out.join("signals.csv")).1.len();
    let moving = rig("stop_time = 0.05\nmode = 'virtual'", "moving = true", record).run().exits(0);
    assert_eq!((kept <= 2, rows(&moving.out.join("signals.csv")).1.len()), (true, 50));
}
