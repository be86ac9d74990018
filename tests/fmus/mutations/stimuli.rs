//! Files of stimuli: cells, rows, quotes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::mutations::chance::Chance;
use crate::mutations::trial::words;
use crate::mutations::{Kind, campaign, nothing_more, text};

const HEADER: &str = "time,a.in_f64,a.in_i32,a.in_bool,a.in_u8,a.in_enum,a.in_f32,a.in_u64,a.in_array[3],a.high";

/// A good file.
fn rows() -> String {
    let mut text = format!("{HEADER}\n");
    for row in 0..60 {
        let time = f64::from(row) / 1000.0 - 0.002;
        let tick = if row % 7 == 0 { "1" } else { "" };
        writeln!(text, "{time},{row}.5,-{row},{},{row},{},0.25,{row},1e-{row},{tick}", row % 2, 1 + row % 3).unwrap();
    }
    text
}

/// The places of what lies between separators.
fn cells(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut all = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices([',', '\n']) {
        all.push(start..at);
        start = at + 1;
    }
    all
}

/// What may become of a table of numbers in text.
pub fn mutate(text: &mut String, chance: &mut Chance) {
    for _ in 0..=chance.below(3) {
        match chance.below(10) {
            0..=3 => text::replace(text, &cells(text), chance),
            4 => text::rearrange(text, &cells(text), chance),
            5 | 6 => text::rearrange(text, &text::lines(text), chance),
            7 => {
                let place = chance.pick(&text::lines(text)).start;
                let odd = ["\"", "\"\"", "\r", "\u{feff}", "\0", ";", "\t", ",,,,", "1e9,", "\n\n\n"];
                text.insert_str(place, chance.word(&odd));
            }
            8 => {
                // Rows by the ten thousand; of a row that has become long as many as this program has memory for.
                let last = text.lines().last().unwrap_or_default().to_owned();
                let rest = last.split_once(',').map_or("", |(_, rest)| rest).to_owned();
                for row in 0..chance.below(20_000).min((64 << 20) / (rest.len() + 1)) {
                    writeln!(text, "{},{rest}", 1.0 + row as f64 * 1e-6).unwrap();
                }
            }
            _ => text::damage(text, chance),
        }
        if text.is_empty() {
            return;
        }
    }
}

#[test]
fn stimuli_feed_a_run_or_are_refused() {
    let rows = rows();
    let tracer = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
    campaign(&Kind {
        test: "stimuli_feed_a_run_or_are_refused",
        usually: 200,
        culprit: "drive.csv",
        lay: &|chance, folder| {
            let mut text = rows.clone();
            mutate(&mut text, chance);
            fs::write(folder.join("drive.csv"), text).unwrap();
            // Without a table of columns each column has to feed something.
            let how = match chance.below(4) {
                0 => "columns = { 'a.in_f64' = 'a.in_f32', 'a.in_i32' = 'a.in_i32', 'a.high' = 'a.high' }\n",
                1 => "interpolation = 'linear'\ncolumns = { 'a.in_f64' = 'a.in_f64', 'a.in_f32' = 'a.in_f32' }\n",
                _ => "",
            };
            let rig = format!(
                "[rig]\nmode = 'virtual'\nstop_time = 0.05\n[fmu.a]\npath = '{}'\n[[stimulus]]\nfile = 'drive.csv'\n{how}",
                tracer.display()
            );
            fs::write(folder.join("rig.toml"), rig).unwrap();
            words(chance.word(&["check rig.toml", "run rig.toml --out out --quiet"]))
        },
        look: &nothing_more,
    });
}
