//! Archives: what their entries state, and their bytes.

use std::fs;
use std::io::Write;
use std::path::Path;

use vecud::fmu::archive::{Cache, Unpacked};
use zip::write::SimpleFileOptions;

use crate::campaign;
use crate::chance::Chance;
use crate::raw_zip::{Entry, archive, description, stored, zeros};

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
        stored("binaries/x86_64-linux/m.so", b"\x7fELF"),
        stored("sources/m.c", "int x;"),
    ]
}

/// Deflated, and with the fields of ZIP64 and a comment, as another program writes them.
fn written() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, large) in [("modelDescription.xml", false), ("resources/a", true), ("resources/b/c", false)] {
        zip.start_file(name, SimpleFileOptions::default().large_file(large).unix_permissions(0o755)).unwrap();
        zip.write_all(format!("<{name}/>").repeat(30).as_bytes()).unwrap();
    }
    zip.add_directory("extra", SimpleFileOptions::default()).unwrap();
    zip.set_comment("a comment").unwrap();
    zip.finish().unwrap().into_inner()
}

fn change(entries: &mut Vec<Entry>, chance: &mut Chance) {
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
    campaign("archives_are_unpacked_as_a_whole_or_refused_without_a_trace", 600, |chance| {
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
        read(&bytes)
    });
}

/// Entries by the ten thousand, and a directory that states more than there are.
#[test]
fn huge_counts_are_read_or_refused_in_time() {
    let many: Vec<Entry> = (0..60_000).map(|i| stored(format!("resources/{i}"), "")).chain([description()]).collect();
    let mut bytes = archive(&many);
    for stated in [60_001u16, 0, 0xFFFF, 7] {
        let end = bytes.len() - 22;
        bytes[end + 8..end + 10].copy_from_slice(&stated.to_le_bytes());
        bytes[end + 10..end + 12].copy_from_slice(&stated.to_le_bytes());
        let accepted = read(&bytes).unwrap();
        assert!(accepted || stated != 60_001);
    }
}

/// Opens an archive of these bytes, and looks at what that has left.
fn read(bytes: &[u8]) -> Result<bool, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fmu");
    fs::write(&path, bytes).unwrap();
    let cache = Cache::at(folder.path().join("cache"));
    let opened = Unpacked::open(&path, &cache);
    let in_cache = names(cache.folder());
    let accepted = match opened {
        Ok(fmu) => {
            if in_cache.len() != 1 || !fmu.root.starts_with(cache.folder()) {
                return Err(format!("unpacked to {}, in the cache: {in_cache:?}", fmu.root.display()));
            }
            only_files_and_folders(&fmu.root)?;
            let _refused_or_not = fmu.model_description();
            fmu.library("m", &cache).map_err(|error| error.to_string()).map(drop).or_else(said)?;
            true
        }
        Err(error) => {
            said(error.to_string())?;
            if !in_cache.is_empty() {
                return Err(format!("{error}, and left {in_cache:?}"));
            }
            false
        }
    };
    match names(folder.path()).iter().filter(|name| !["a.fmu", "cache"].contains(&name.as_str())).collect::<Vec<_>>() {
        others if others.is_empty() => Ok(accepted),
        others => Err(format!("{others:?} beside the cache")),
    }
}

/// A message names the file.
fn said(message: String) -> Result<(), String> {
    if message.contains("a.fmu") { Ok(()) } else { Err(format!("a message without its culprit: {message:?}")) }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
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
