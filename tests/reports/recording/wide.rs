//! Recordings of very many columns: memory bounds them, and no format does.

use super::rows;
use crate::program::{Outcome, Rig};
use std::fs;
use std::path::Path;

/// More than the first field numbers that protobuf keeps for itself (19,000 to 19,999).
const COLUMNS: usize = 21_000;

/// An FMU with so many names of its output, recorded in this format.
fn wide(format: &str) -> Outcome {
    let record = format!("[record]\nformat = ['{format}']\n");
    let rig = Rig::of_text(&format!(
        "[rig]\nmode = 'virtual'\nstop_time = 0.03\n{record}[fmu.m]\npath = 'm'\nstart = {{ u = 1.0, first = 1.0 }}\n"
    ));
    let (from, to) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/discarding_fmi2"), rig.folder().join("m"));
    fs::create_dir_all(to.join("sources")).unwrap();
    for file in ["sources/discarding.h", "sources/discarding_fmi2.c"] {
        fs::copy(from.join(file), to.join(file)).unwrap();
    }
    let text = fs::read_to_string(from.join("modelDescription.xml")).unwrap();
    let names: String = (0..COLUMNS)
        .map(|number| format!("<ScalarVariable name=\"y{number}\" valueReference=\"2\"><Real/></ScalarVariable>\n"))
        .collect();
    fs::write(to.join("modelDescription.xml"), text.replace("</ModelVariables>", &(names + "</ModelVariables>")))
        .unwrap();
    rig.run().exits(0)
}

#[test]
fn each_format_has_any_number_of_columns() {
    let csv = wide("csv");
    let (names, expected) = rows(&csv.out.join("signals.csv"));
    assert_eq!((names.len(), expected.len()), (COLUMNS + 6, 4));
    let last = &expected[3].1;
    let place = |name: String| names.iter().position(|own| *own == name).unwrap();
    for number in [0, 4090, 18_990, 18_995, 19_500, 19_999, COLUMNS - 1] {
        assert_eq!(last[place(format!("m.y{number}"))], last[place("m.y".to_owned())], "{number}");
    }
    let mcap = wide("mcap");
    assert_eq!(rows(&mcap.out.join("signals.mcap")), (names, expected));
}
