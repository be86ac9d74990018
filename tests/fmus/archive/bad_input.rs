//! Archives that must be refused, each with its own words and with nothing left behind.

use crate::program::PATIENCE;
use std::fs;
use std::time::Instant;

use vecud::fmu::archive::{Cache, Unpacked};

use crate::archive::bench::Bench;
use crate::archive::raw_zip::{Entry, archive, description, stored, zeros};

#[test]
fn a_file_that_is_no_zip() {
    let bench = Bench::new();
    bench.refuses_bytes(b"<fmiModelDescription/>", &["no ZIP archive"]);
    bench.refuses_bytes(b"", &["no ZIP archive"]);
}

/// It would take hours to read: a sparse file of a terabyte.
#[test]
fn what_is_no_zip_is_not_read_to_its_end() {
    let bench = Bench::new();
    let path = bench.path("bad.fmu");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let error = Unpacked::open(&path, &bench.cache).expect_err("it must be refused").to_string();
    assert!(error.contains("no ZIP archive"), "{error}");
}

#[test]
fn a_zip_that_is_cut_off() {
    let bench = Bench::new();
    let whole = archive(&[description(), stored("resources/x", [7; 4000])]);
    for length in [5, 60, 2000, whole.len() - 22, whole.len() - 10] {
        bench.refuses_bytes(&whole[..length], &["cut off", "again"]);
    }
    bench.open_bytes(&whole).unwrap();
}

#[test]
fn a_zip_with_a_hole() {
    // Bytes lost in the middle: the directory is where the end record does not say.
    let bench = Bench::new();
    let mut bytes = archive(&[description(), stored("resources/x", [7; 4000])]);
    bytes.drain(1000..2000);
    bench.refuses_bytes(&bytes, &["damaged"]);
}

#[test]
fn no_model_description() {
    let bench = Bench::new();
    bench.refuses(&[stored("a.txt", "a")], &["no modelDescription.xml"]);
    bench.refuses(&[], &["no modelDescription.xml"]);
    let deeper = stored("engine/modelDescription.xml", "<x/>");
    bench.refuses(&[deeper], &["\"engine/modelDescription.xml\"", "pack its contents"]);
    let folder = stored("modelDescription.xml/", "");
    bench.refuses(&[folder], &["no modelDescription.xml"]);
}

#[test]
fn names_that_point_elsewhere() {
    let bench = Bench::new();
    for (name, words) in [
        ("../../x", "points outside of the archive; the file may be malicious"),
        ("resources/../../x", "points outside"),
        ("/tmp/vecud-absolute", "absolute name"),
        ("resources\\x", "backslash"),
        ("C:/x", "names a drive"),
        ("a\0b", "NUL byte"),
        ("a\x1b[2Jb", "control character"),
    ] {
        let quoted = format!("entry {name:?}");
        bench.refuses(&[description(), stored(name, "x")], &[words, &quoted]);
    }
    bench.refuses(&[description(), stored("x".repeat(300), "x")], &["too long"]);
    bench.refuses(&[description(), stored("d/".repeat(2000), "")], &["too long"]);
    bench.refuses(&[description(), stored("", "x")], &["without a name"]);
}

#[test]
fn links_and_devices() {
    let bench = Bench::new();
    for (mode, words) in [
        (0o120_777, "is a link"),
        (0o020_666, "character device"),
        (0o060_660, "block device"),
        (0o010_644, "pipe"),
        (0o140_644, "socket"),
    ] {
        let entry = Entry { mode, ..stored("resources/x", "/etc/passwd") };
        bench.refuses(&[description(), entry], &["entry \"resources/x\"", words]);
    }
}

#[test]
fn two_entries_at_one_place() {
    let bench = Bench::new();
    let twice = [description(), stored("a", "1"), stored("a", "2")];
    bench.refuses(&twice, &["entry \"a\" occurs twice"]);
    let spelled = [description(), stored("b/a", "1"), stored("b/./a", "2")];
    bench.refuses(&spelled, &["entry \"b/./a\" occurs twice"]);
    let nested = [description(), stored("a", "1"), stored("a/b", "2")];
    bench.refuses(&nested, &["entry \"a/b\" is used as a file and as a folder"]);
    let covered = [description(), stored("a/b", "1"), stored("a", "2")];
    bench.refuses(&covered, &["entry \"a\" is used as a file and as a folder"]);
    let resized = [description(), stored("a", "1"), Entry { size: 2, ..stored("a", "1") }];
    bench.refuses(&resized, &["entry \"a\" occurs twice"]);
    bench.open(&[description(), stored("a", "1"), stored("A", "2")]).unwrap();
}

#[test]
fn encryption_and_foreign_methods() {
    let bench = Bench::new();
    let secret = Entry { flags: 0x801, ..stored("a", "x") };
    bench.refuses(&[description(), secret], &["entry \"a\" is encrypted"]);
    for method in [12, 14, 93, 9999] {
        let entry = Entry { method, ..stored("a", "x") };
        bench.refuses(&[description(), entry], &["entry \"a\" is compressed by", "deflate"]);
    }
}

#[test]
fn wrong_checksums_and_sizes() {
    let bench = Bench::new();
    let crc = Entry { crc: 1, ..stored("a", "x") };
    bench.refuses(&[description(), crc], &["entry \"a\" does not match its checksum"]);
    let short = Entry { size: 9, ..stored("a", "four") };
    bench.refuses(&[description(), short], &["entry \"a\" holds 4 bytes instead of the 9"]);
    let long = Entry { size: 3, ..stored("a", "four") };
    bench.refuses(&[description(), long], &["entry \"a\" holds more than the 3 bytes"]);
    let noise = Entry { method: 8, ..stored("a", [0xFF; 100]) };
    bench.refuses(&[description(), noise], &["entry \"a\" cannot be unpacked"]);
}

#[test]
fn ten_gibibytes_of_zeros_in_one_mebibyte() {
    let bench = Bench::new();
    let start = Instant::now();
    // Said openly; said falsely; said in pieces; the same bytes many times over.
    let open = Entry { size: 10 << 30, ..zeros("a", 1 << 20) };
    bench.refuses(&[description(), open], &["entry \"a\" is 10 GiB when unpacked"]);
    let lie = Entry { size: 100, ..zeros("a", 1 << 20) };
    bench.refuses(&[description(), lie], &["entry \"a\" holds more than the 100 bytes"]);
    let pieces: Vec<Entry> = (0..10).map(|i| Entry { size: 1 << 30, ..zeros(&format!("p{i}"), 100 << 10) }).collect();
    let with_description = [vec![description()], pieces].concat();
    bench.refuses(&with_description, &["10 GiB when unpacked", "ZIP bomb"]);
    let shared = Entry { shares: Some(1), ..zeros("b", 1 << 10) };
    bench.refuses(&[description(), zeros("a", 1 << 10), shared], &["shares its bytes"]);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn a_ratio_that_no_model_has() {
    let bench = Bench::new();
    // 3.5 MiB that honestly become 550 MiB.
    bench.refuses(&[description(), zeros("a", 3_500 << 10)], &["when unpacked", "ZIP bomb"]);
}

#[test]
fn folders_that_only_names_of_others_imply_count() {
    let bench = Bench::new();
    let deep = |i: usize, depth: usize| stored(format!("{}/x", vec![format!("{i}"); depth].join("/")), "");
    for depth in [64, 1_000] {
        bench.refuses(&[description(), deep(0, depth)], &["is a path of more than 64 names"]);
    }
    bench.open(&[description(), deep(0, 63)]).unwrap();
    fs::remove_dir_all(bench.cache.folder()).unwrap();
    let many: Vec<Entry> = (0..2_000).map(|i| deep(i, 63)).collect();
    let start = Instant::now();
    bench.refuses(&[vec![description()], many].concat(), &["more than 100000 files and folders"]);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn more_entries_than_any_fmu_has() {
    // The end record holds 16 bits; ZIP64 archives of more are made by the zip crate.
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for i in 0..100_001 {
        writer.start_file(format!("{i}"), options).unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    Bench::new().refuses_bytes(&bytes, &["more than 100000"]);
}

#[test]
fn paths_that_are_no_fmu() {
    let bench = Bench::new();
    let missing = Unpacked::open(&bench.path("none.fmu"), &bench.cache).unwrap_err().to_string();
    assert!(missing.contains("none.fmu: No such file"), "{missing}");
    fs::create_dir(bench.path("folder")).unwrap();
    let empty = Unpacked::open(&bench.path("folder"), &bench.cache).unwrap_err().to_string();
    assert!(empty.contains("folder: not an FMU (no modelDescription.xml)"), "{empty}");
    let device = Unpacked::open("/dev/null".as_ref(), &bench.cache).unwrap_err().to_string();
    assert!(device.contains("/dev/null: neither"), "{device}");
    assert!(bench.in_cache().is_empty());
}

#[test]
fn a_cache_that_cannot_be_made_says_what_to_set() {
    let bench = Bench::new();
    let fmu = bench.write("good.fmu", archive(&[description()]));
    let file = bench.write("file", "");
    let error = Unpacked::open(&fmu, &Cache::at(file.join("cache"))).unwrap_err().to_string();
    assert!(error.contains("VECUD_CACHE"), "{error}");
}

/// Runs the ignored test below on a file system with `options`; says so where that is not allowed.
fn on_a_small_disk(options: &str) {
    let bench = Bench::new();
    let disk = bench.path("disk");
    fs::create_dir(&disk).unwrap();
    let script = format!(
        "mount -t tmpfs -o {options} none \"$0\" || exit 77; exec \"$1\" --exact archive::bad_input::on_the_small_disk --ignored"
    );
    let output = std::process::Command::new("unshare")
        .args(["-rm", "sh", "-c", &script])
        .args([disk.as_os_str(), std::env::current_exe().unwrap().as_os_str()])
        .env("VECUD_TEST_DISK", &disk)
        .output();
    let skipped = match &output {
        Err(_) => true,
        Ok(output) => output.status.code() == Some(77) || output.stderr.starts_with(b"unshare: "),
    };
    if skipped {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED disk-full test: this user may not mount a small file system");
        return;
    }
    let output = output.unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}");
    assert!(words.contains("1 passed"), "{words}");
}

#[test]
fn no_space_for_the_bytes_as_this_user() {
    on_a_small_disk("size=1m");
}

#[test]
fn no_space_for_the_files_as_this_user() {
    on_a_small_disk("size=64m,nr_inodes=12");
}

#[test]
#[ignore = "runs inside no_space_for_...: it needs a small disk"]
fn on_the_small_disk() {
    let bench = Bench::new();
    let disk = std::path::PathBuf::from(std::env::var_os("VECUD_TEST_DISK").unwrap());
    let cache = Cache::at(disk.join("cache"));
    let mut entries = vec![description()];
    entries.extend((0..20).map(|i| stored(format!("resources/{i}"), vec![i; 100_000])));
    let fmu = bench.write("big.fmu", archive(&entries));
    let error = Unpacked::open(&fmu, &cache).unwrap_err().to_string();
    assert!(error.contains("big.fmu: no space left in"), "{error}");
    assert!(error.contains("1.9 MiB needed"), "{error}");
    assert_eq!(fs::read_dir(cache.folder()).unwrap().count(), 0);
}
