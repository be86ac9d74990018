//! Archives: what their entries state, and their bytes.

use std::fs;
use std::io::Write;
use std::path::Path;

use zip::write::SimpleFileOptions;

use crate::mutations::chance::Chance;
use crate::mutations::raw_zip::{Entry, archive, stored, zeros};
use crate::mutations::trial::{Outcome, words};
use crate::mutations::{Kind, LONGEST, MOST_MEMORY, campaign, try_one};

/// A description that can be planned, of an FMU whose library is `m`.
const DESCRIPTION: &str = r#"<?xml version="1.0"?>
<fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="{m}">
  <ScheduledExecution modelIdentifier="m"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    <Clock name="c" valueReference="1" causality="input" intervalVariability="constant" intervalDecimal="0.01"/>
  </ModelVariables>
  <ModelStructure/>
</fmiModelDescription>
"#;

fn description() -> Entry {
    stored("modelDescription.xml", DESCRIPTION)
}

const NAMES: [&[u8]; 26] = [
    b"../x",
    b"../../../../x",
    b"resources/../../x",
    b"..",
    b".",
    b"./",
    b"/",
    b"//x",
    b"/tmp/x",
    b"a\0b",
    b"\0",
    b"",
    b"a\\b",
    b"..\\x",
    b"C:/x",
    b"\xff\xfe",
    b"\xc3\x28",
    b"a\nb",
    b"\x1b[2J",
    b"modelDescription.xml",
    b"MODELDESCRIPTION.XML",
    b"modelDescription.xml/",
    b"modelDescription.xml/x",
    b"resources",
    b"resources/data.bin",
    b"a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z",
];

fn entries() -> Vec<Entry> {
    vec![
        description(),
        stored("resources/", ""),
        stored("resources/data.bin", [7; 300]),
        stored("documentation/index.html", "<html/>"),
        zeros("resources/zeros", 60),
        stored(format!("binaries/{}-linux/m.so", std::env::consts::ARCH), b"\x7fELF"),
        stored("sources/m.c", "int x;"),
    ]
}

/// Deflated, and with the fields of ZIP64 and a comment, as another program writes them.
fn written() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let library = format!("binaries/{}-linux/m.so", std::env::consts::ARCH);
    let data = "data".repeat(80);
    let files =
        [("modelDescription.xml", DESCRIPTION), (&library, "\x7fELF"), ("resources/a", &data), ("resources/b/c", "c")];
    for (name, content) in files {
        let options = SimpleFileOptions::default().large_file(name == "resources/a").unix_permissions(0o755);
        zip.start_file(name, options).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.add_directory("extra", SimpleFileOptions::default()).unwrap();
    zip.set_comment("a comment").unwrap();
    zip.finish().unwrap().into_inner()
}

pub fn change(entries: &mut Vec<Entry>, chance: &mut Chance) {
    let place = chance.below(entries.len());
    match chance.below(12) {
        0..=2 => entries[place].name = chance.pick(&NAMES).to_vec(),
        3 => entries[place].name = vec![*chance.pick(b"a/\xc3."); [255, 256, 1025, 4097, 65_000][chance.below(5)]],
        4 => {
            let copy = entries[place].clone();
            entries.push(copy);
        }
        5 => {
            let mut twin = entries[place].clone();
            twin.name.make_ascii_uppercase();
            twin.data = b"another".to_vec();
            twin.size = 7;
            entries.push(twin);
        }
        6 => {
            let kind = [0o120_000, 0o020_000, 0o060_000, 0o010_000, 0o140_000, 0o040_000, 0o170_000, 0];
            entries[place].mode = *chance.pick(&kind) | 0o777;
        }
        7 => entries[place].size = *chance.pick(&[0, 1, 6, 0xFFFF_FFFE, 0xFFFF_FFFF, 1 << 32, 1 << 62, u64::MAX]),
        8 => entries[place].crc = chance.bits() as u32,
        9 => entries[place].method = *chance.pick(&[0, 8, 1, 9, 12, 14, 93, 99, 0xFFFF]),
        10 => entries[place].flags = chance.bits() as u16,
        _ => entries[place].shares = (place > 0).then(|| chance.below(place)),
    }
}

#[test]
fn archives_are_unpacked_as_a_whole_or_refused_without_a_trace() {
    let written = written();
    campaign(&Kind {
        test: "archives_are_unpacked_as_a_whole_or_refused_without_a_trace",
        usually: 600,
        culprit: "a.fmu",
        lay: &|chance, folder| {
            let mut bytes = match chance.below(3) {
                0 => written.clone(),
                _ => {
                    let mut entries = entries();
                    for _ in 0..chance.below(4) {
                        change(&mut entries, chance);
                    }
                    archive(&entries)
                }
            };
            if chance.below(3) > 0 {
                chance.damage(&mut bytes);
            }
            lay(&bytes, folder, chance.word(&["inspect", "inspect --json", "check"]))
        },
        look: &unpacked,
    });
}

/// Entries by the ten thousand, and a directory that states more than there are.
#[test]
fn huge_counts_are_read_or_refused_in_time() {
    let many: Vec<Entry> = (0..60_000).map(|i| stored(format!("resources/{i}"), "")).chain([description()]).collect();
    let bytes = archive(&many);
    for stated in [60_001u16, 0, 0xFFFF, 7] {
        let kind = Kind {
            test: "huge_counts_are_read_or_refused_in_time",
            usually: 1,
            culprit: "a.fmu",
            lay: &|_, folder| {
                let mut bytes = bytes.clone();
                let end = bytes.len() - 22;
                bytes[end + 8..end + 10].copy_from_slice(&stated.to_le_bytes());
                bytes[end + 10..end + 12].copy_from_slice(&stated.to_le_bytes());
                lay(&bytes, folder, "inspect")
            },
            look: &unpacked,
        };
        // As many files take the disk of a busy machine their time.
        let outcome = try_one(&kind, 0, 4 * LONGEST, MOST_MEMORY).unwrap();
        assert!(outcome.accepted() || stated != 60_001, "{outcome:?}");
    }
}

/// An archive of these bytes, with a cache of its own.
fn lay(bytes: &[u8], folder: &Path, command: &str) -> Vec<String> {
    fs::write(folder.join("a.fmu"), bytes).unwrap();
    fs::create_dir(folder.join("cache")).unwrap();
    words(&format!("{command} a.fmu"))
}

/// An archive is in the cache as a whole, as files and folders, or not at all.
pub fn unpacked(folder: &Path, outcome: &Outcome) -> Result<(), String> {
    let cache = folder.join("cache");
    let there: Vec<_> = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let fmus = there.iter().filter(|name| name.to_string_lossy().starts_with("fmu-v")).count();
    // What was unpacked as a whole, and refused for what is in it, may stay.
    if fmus > 1 || (fmus == 0 && outcome.accepted()) {
        return Err(format!("in the cache: {there:?}"));
    }
    only_files_and_folders(&cache)
}

fn only_files_and_folders(folder: &Path) -> Result<(), String> {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        match (kind.is_dir(), kind.is_file()) {
            (true, _) => only_files_and_folders(&entry.path())?,
            (_, true) => {}
            _ => return Err(format!("{} is {kind:?}", entry.path().display())),
        }
    }
    Ok(())
}
