//! Recordings, `signals.csv` and `signals.mcap`, where they are read: to be compared, and as stimuli.

use lz4_flex::frame::FrameDecoder;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use crate::mutations::chance::Chance;
use crate::mutations::runs::Runs;
use crate::mutations::stimuli;
use crate::mutations::trial::words;
use crate::mutations::{Kind, campaign, nothing_more};

/// An MCAP record that holds others, and where in it they begin: times, size, checksum, compression, length.
const CHUNK: u8 = 6;
const CHUNK_HEAD: usize = 40;
/// Opcode and length of a record.
const HEAD: usize = 9;

/// The places of the records of an MCAP file, of the lengths that they state.
fn records(file: &[u8]) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut begin = mcap::MAGIC.len();
    while let Some(length) = file.get(begin + 1..begin + HEAD) {
        let end = begin + HEAD + u64::from_le_bytes(length.try_into().unwrap()) as usize;
        if end > file.len() {
            break;
        }
        all.push(begin..end);
        begin = end;
    }
    all
}

/// Makes a chunk that LZ4 has packed one that is not, where it is one.
fn unpack(content: &mut Vec<u8>) {
    const NAME: &[u8] = b"\x03\0\0\0lz4";
    let Some(packed) = content.get(28..).and_then(|rest| rest.strip_prefix(NAME)).and_then(|rest| rest.get(8..)) else {
        return;
    };
    let mut inner = Vec::new();
    if FrameDecoder::new(packed).read_to_end(&mut inner).is_ok() {
        content.truncate(28);
        content.extend(0u32.to_le_bytes());
        content.extend((inner.len() as u64).to_le_bytes());
        content.extend(inner);
    }
}

/// Damages what is in a record, and makes its lengths and its checksum those of what it has become.
fn change(file: &mut Vec<u8>, chance: &mut Chance) {
    let record = chance.pick(&records(file)).clone();
    let mut content = file[record.start + HEAD..record.end].to_vec();
    unpack(&mut content);
    if file[record.start] == CHUNK && content.len() > CHUNK_HEAD {
        let mut inner = content.split_off(CHUNK_HEAD);
        match chance.below(3) {
            0 => chance.damage(&mut inner),
            // Numbers in the text of messages, mostly.
            1 => {
                for _ in 0..=chance.below(20) {
                    let place = chance.below(inner.len());
                    if inner[place].is_ascii_digit() {
                        inner[place] = *chance.pick(b"0123456789.-e\"n{}");
                    }
                }
            }
            _ => {
                for _ in 0..=chance.below(3) {
                    let place = chance.below(inner.len());
                    inner[place] = chance.bits() as u8;
                }
            }
        }
        content[16..24].copy_from_slice(&(inner.len() as u64).to_le_bytes());
        content[24..28].copy_from_slice(&crc32fast::hash(&inner).to_le_bytes());
        content[32..40].copy_from_slice(&(inner.len() as u64).to_le_bytes());
        content.extend(inner);
    } else {
        chance.damage(&mut content);
    }
    let length = (content.len() as u64).to_le_bytes();
    file.splice(record.start + HEAD..record.end, content);
    file[record.start + 1..record.start + HEAD].copy_from_slice(&length);
}

fn mutate(name: &str, mut bytes: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    if name.ends_with(".csv") {
        let mut text = String::from_utf8(bytes).unwrap();
        stimuli::mutate(&mut text, chance);
        return text.into_bytes();
    }
    match chance.below(5) {
        0 => chance.damage(&mut bytes),
        // Records doubled, lost or elsewhere.
        1 => {
            let all = records(&bytes);
            let (one, other) = (chance.pick(&all).clone(), chance.pick(&all).clone());
            let copy = bytes[one.clone()].to_vec();
            bytes.splice(if chance.below(2) == 0 { other } else { other.start..other.start }, copy);
        }
        _ => (0..=chance.below(3)).for_each(|_| change(&mut bytes, chance)),
    }
    bytes
}

#[test]
fn recordings_are_compared_and_replayed_or_refused() {
    let runs = Runs::new();
    let good = ["signals.csv", "signals.mcap"].map(|name| (name, runs.file("virtual", name)));
    let tracer = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
    campaign(&Kind {
        test: "recordings_are_compared_and_replayed_or_refused",
        usually: 200,
        culprit: "foreign",
        lay: &|chance, folder| {
            let (name, bytes) = chance.pick(&good);
            let own = folder.join("foreign");
            fs::create_dir(&own).unwrap();
            fs::write(own.join(name), mutate(name, bytes.clone(), chance)).unwrap();
            fs::write(own.join("report.json"), runs.file("virtual", "report.json")).unwrap();
            let other = runs.out("virtual").display().to_string();
            let against =
                |left: &str, right: &str| format!("report {left} --against {right} --out foreign/comparison.html");
            let rig = format!(
                "[rig]\nmode = 'virtual'\nstop_time = 0.05\n[fmu.a]\npath = '{}'\n[[stimulus]]\nrecording = 'foreign'\n\
                 columns = {{ 'a.in_f64' = 'a.out_f64', 'a.in_i32' = 'a.out_i32' }}\n",
                tracer.display()
            );
            fs::write(folder.join("rig.toml"), rig).unwrap();
            words(&match chance.below(6) {
                0 | 1 => against("foreign", &other),
                2 => against(&other, &format!("foreign/{name}")),
                3 => against(&format!("foreign/{name}"), &other) + " --common-times --rel 0.5",
                4 => "check rig.toml".to_owned(),
                _ => "run rig.toml --out out --quiet".to_owned(),
            })
        },
        look: &nothing_more,
    });
}
