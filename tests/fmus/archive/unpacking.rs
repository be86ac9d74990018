//! Good archives, the cache that they share, and the libraries in them.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::time::{Duration, SystemTime};

use vecud::fmu::archive::{Cache, Unpacked};
use vecud::sys::stop::StopToken;
use zip::write::SimpleFileOptions;

use crate::archive::bench::{Bench, call, tuple, unpacked};
use crate::archive::raw_zip::{Entry, archive, description, stored, zeros};

#[test]
fn deflated_and_stored_entries_come_out_as_they_went_in() {
    let text = "<a/>\n".repeat(10_000);
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.add_directory("resources/empty", SimpleFileOptions::default()).unwrap();
    for (name, method) in [
        ("modelDescription.xml", zip::CompressionMethod::Deflated),
        ("resources/deep/er/b", zip::CompressionMethod::Stored),
    ] {
        let options = SimpleFileOptions::default().compression_method(method);
        writer.start_file(name, options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    let bench = Bench::new();
    let fmu = bench.open_bytes(&writer.finish().unwrap().into_inner()).unwrap();
    assert_eq!(fmu.model_description().unwrap(), text);
    assert_eq!(fs::read_to_string(fmu.root.join("resources/deep/er/b")).unwrap(), text);
    assert!(fmu.root.join("resources/empty").is_dir());
    assert_eq!(fmu.origin, bench.path("bad.fmu"));
}

/// The Reference FMU `Roberts` is such an archive.
#[test]
fn entries_that_are_only_repeated_are_unpacked_once() {
    let bench = Bench::new();
    let folder = || Entry { mode: 0o040_755, ..stored("extra/", "") };
    let entries = [folder(), description(), stored("extra/a", "1"), folder(), stored("extra/a", "1"), description()];
    let fmu = bench.open(&entries).unwrap();
    assert_eq!(fs::read_to_string(fmu.root.join("extra/a")).unwrap(), "1");
}

#[test]
fn modes_are_ours() {
    let bench = Bench::new();
    let entry = |name, mode| Entry { mode, ..stored(name, "x") };
    let modes = [("set-id", 0o106_777), ("secret", 0o100_000), ("none", 0)];
    let mut entries = vec![description()];
    entries.extend(modes.map(|(name, mode)| entry(name, mode)));
    let fmu = bench.open(&entries).unwrap();
    let mode = |name| fs::metadata(fmu.root.join(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("set-id") & 0o7700, 0o700);
    assert_eq!(mode("secret") & 0o7700, 0o600);
    assert_eq!(mode("none") & 0o7700, 0o600);
}

#[test]
fn the_same_archive_is_unpacked_once() {
    let bench = Bench::new();
    let first = bench.open(&[description()]).unwrap();
    let marker = first.root.join("still here");
    fs::write(&marker, "").unwrap();
    let again = bench.open(&[description()]).unwrap();
    assert_eq!(first.root, again.root);
    assert!(marker.exists());
    let other = bench.open(&[description(), stored("x", "")]).unwrap();
    assert_ne!(first.root, other.root);
    assert_eq!(bench.in_cache().len(), 2);
}

#[test]
fn an_incomplete_folder_is_made_anew() {
    let bench = Bench::new();
    let entries = [description(), stored("resources/table", "1 2 3")];
    let table = bench.open(&entries).unwrap().root.join("resources/table");
    let content = || fs::read_to_string(&table).unwrap();
    fs::remove_file(&table).unwrap();
    bench.open(&entries).unwrap();
    assert_eq!(content(), "1 2 3");
    fs::write(&table, "1").unwrap();
    bench.open(&entries).unwrap();
    assert_eq!(content(), "1 2 3");
    let list = bench.in_cache()[0].join("list");
    fs::write(&list, "").unwrap();
    fs::remove_file(&table).unwrap();
    bench.open(&entries).unwrap();
    assert_eq!(content(), "1 2 3");
    assert_eq!(bench.in_cache().len(), 1);
}

#[test]
fn several_runs_unpack_the_same_archive_at_once() {
    let bench = Bench::new();
    let mut entries = vec![description()];
    entries.extend((0..50).map(|i| stored(format!("resources/{i}"), vec![b'x'; 1000])));
    let fmu = bench.write("shared.fmu", archive(&entries));
    for round in 0..10 {
        let folder = bench.path(&format!("cache{round}"));
        let start = Barrier::new(4);
        let open = || {
            start.wait();
            let fmu = Unpacked::open(&fmu, &Cache::at(&folder)).unwrap();
            for i in 0..50 {
                let path = fmu.root.join(format!("resources/{i}"));
                assert_eq!(fs::metadata(path).unwrap().len(), 1000);
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|_| {
                scope.spawn(open);
            })
        });
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}

#[test]
fn leftovers_of_killed_runs_go_after_a_minute() {
    let bench = Bench::new();
    let age = |name: &str, seconds: u64| {
        let file = bench.write(&format!("cache/{name}/files/x"), "x");
        let folder = file.parent().unwrap().parent().unwrap().to_path_buf();
        let time = SystemTime::now() - Duration::from_secs(seconds);
        fs::File::open(&folder).unwrap().set_modified(time).unwrap();
        folder
    };
    let old = age(".tmp-old", 61);
    let young = age(".tmp-young", 10);
    let locked = age(".tmp-locked", 61);
    let ours = age("fmu-v1-0", 61);
    let lock = fs::File::open(&locked).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    bench.open(&[description()]).unwrap();
    assert!(!old.exists());
    assert!(young.exists() && locked.exists() && ours.exists());
}

#[test]
fn resources_have_an_absolute_path_that_ends_in_a_slash() {
    let bench = Bench::new();
    let path = bench.path("mit Leerzeichen/größe 日本");
    fs::create_dir_all(path.join("resources")).unwrap();
    fs::write(path.join("modelDescription.xml"), "<x/>").unwrap();
    let fmu = Unpacked::open(&path, &bench.cache).unwrap();
    let resources = fmu.resources().unwrap();
    assert!(resources.starts_with('/') && resources.ends_with("/größe 日本/resources/"), "{resources}");
    assert!(Path::new(&resources).is_dir());
    fs::remove_dir(path.join("resources")).unwrap();
    assert_eq!(fmu.resources(), None);

    let zipped = bench.open(&[description(), stored("resources/Kennfeld größe.csv", "1")]).unwrap();
    let table = zipped.resources().unwrap() + "Kennfeld größe.csv";
    assert_eq!(fs::read_to_string(table).unwrap(), "1");
}

#[test]
fn a_path_that_c_code_cannot_have_is_reached_through_a_link() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let path = bench.path("x").with_file_name(std::ffi::OsStr::from_bytes(b"gr\xf6\xdfe"));
    fs::create_dir(&path).unwrap();
    fs::write(path.join("modelDescription.xml"), "<x/>").unwrap();
    let fmu = Unpacked::open(&path, &bench.cache).unwrap();
    assert!(fmu.root.to_str().is_some(), "{fmu:?}");
    assert_eq!(fmu.model_description().unwrap(), "<x/>");
}

#[test]
fn the_model_description_is_text() {
    let bench = Bench::new();
    let text = |content: &[u8]| {
        let fmu = bench.open(&[stored("modelDescription.xml", content)]).unwrap();
        fmu.model_description().map_err(|e| e.to_string())
    };
    assert_eq!(text("\u{feff}<ä/>".as_bytes()).unwrap(), "<ä/>");
    let latin = text(b"<a>\n\xe4</a>").unwrap_err();
    assert!(latin.contains("bad.fmu/modelDescription.xml:2:1: not UTF-8"), "{latin}");
}

#[test]
fn a_folder_is_used_where_it_is() {
    let bench = Bench::new();
    let library = format!("binaries/{}/m.so", tuple());
    let fmu = unpacked(&bench, &[(&library, "ELF")]);
    assert_eq!(fmu.library("m", &bench.cache).unwrap(), fmu.root.join(&library));
    assert!(bench.in_cache().is_empty());
}

#[test]
fn the_plain_platform_is_preferred_and_variants_will_do() {
    let bench = Bench::new();
    let path = |abi: &str| format!("binaries/{}{abi}/m.so", tuple());
    let fmu = unpacked(&bench, &[(&path("-elf"), ""), (&path("-android"), "")]);
    let chosen = || fmu.library("m", &bench.cache).unwrap();
    assert_eq!(chosen(), fmu.root.join(path("-elf")));
    bench.write(&format!("fmu/{}", path("-gnu")), "");
    assert_eq!(chosen(), fmu.root.join(path("-gnu")));
    bench.write(&format!("fmu/{}", path("")), "");
    assert_eq!(chosen(), fmu.root.join(path("")));
}

#[test]
fn no_library_lists_the_platforms_that_there_are() {
    let bench = Bench::new();
    let other = format!("binaries/{}/other.so", tuple());
    let fmu = unpacked(&bench, &[("binaries/x86_64-windows/m.dll", ""), (&other, "")]);
    let error = fmu.library("m", &bench.cache).unwrap_err().to_string();
    for words in ["no m.so", "x86_64-windows", &tuple(), "other.so", "no sources"] {
        assert!(error.contains(words), "{words:?} is not in: {error}");
    }
    fs::remove_dir_all(fmu.root.join("binaries")).unwrap();
    let error = fmu.library("m", &bench.cache).unwrap_err().to_string();
    assert!(error.contains("neither binaries nor sources"), "{error}");
}

#[test]
fn a_model_identifier_is_no_path() {
    let bench = Bench::new();
    let fmu = unpacked(&bench, &[("evil.so", "")]);
    for identifier in ["", "..", ".evil", "../evil", "../../evil", "/evil", "a/b", "a\\b", "a\0", "a\n"] {
        let error = fmu.library(identifier, &bench.cache).unwrap_err().to_string();
        assert!(error.contains(&format!("modelIdentifier {identifier:?}")), "{error}");
    }
    // What is none of C can be the name of a file all the same.
    for identifier in ["a.b", "ä", "a b", "a-b"] {
        let error = fmu.library(identifier, &bench.cache).unwrap_err().to_string();
        assert!(error.contains(&format!("no {identifier}.so for this machine")), "{error}");
    }
}

#[test]
fn libraries_find_their_neighbours_by_origin() {
    let bench = Bench::new();
    let helper = bench.write("helper.c", "int helper(void) { return 42; }");
    let model = bench.write("model.c", "int helper(void); int answer(void) { return helper(); }");
    let cc = |arguments: &[&str]| {
        let status = Command::new("cc").args(["-shared", "-fPIC"]).args(arguments).status().unwrap();
        assert!(status.success());
    };
    let (helper_so, model_so) = (bench.path("libhelper.so"), bench.path("m.so"));
    cc(&["-o", helper_so.to_str().unwrap(), helper.to_str().unwrap()]);
    let folder = bench.path("");
    cc(&[
        "-o",
        model_so.to_str().unwrap(),
        model.to_str().unwrap(),
        "-Wl,-rpath,$ORIGIN",
        "-L",
        folder.to_str().unwrap(),
        "-lhelper",
    ]);
    let entry = |name: &str, path: &Path| stored(format!("binaries/{}/{name}", tuple()), fs::read(path).unwrap());
    let entries = [description(), entry("libhelper.so", &helper_so), entry("m.so", &model_so)];
    fs::remove_file(helper_so).unwrap();
    let fmu = bench.open(&entries).unwrap();
    assert_eq!(call(&fmu.library("m", &bench.cache).unwrap(), "answer"), 42);
}

/// A table of zeros is nothing malicious, although it takes next to no space in an archive.
#[test]
fn three_hundred_mebibytes_of_zeros_are_unpacked() {
    let bench = Bench::new();
    let zeros = zeros("resources/map.bin", 2 << 20);
    assert!(zeros.size > 300 << 20);
    let whole = Entry { crc: crc_of_zeros(zeros.size), ..zeros };
    let size = whole.size;
    let unpacked = bench.open(&[description(), whole]).unwrap();
    assert_eq!(fs::metadata(unpacked.root.join("resources/map.bin")).unwrap().len(), size);
}

/// By doubling: each byte of them by itself would take a while.
fn crc_of_zeros(mut length: u64) -> u32 {
    let (mut all, mut block) = (crc32fast::Hasher::new(), crc32fast::Hasher::new());
    block.update(&[0]);
    while length > 0 {
        if length % 2 == 1 {
            all.combine(&block);
        }
        let half = block.clone();
        block.combine(&half);
        length /= 2;
    }
    all.finalize()
}

/// Whoever asks for the end while an archive is being unpacked finds nothing of it afterwards.
#[test]
fn an_archive_is_left_in_the_midst_when_somebody_asks_for_the_end() {
    let bench = Bench::new();
    let path = bench.write("a.fmu", archive(&[description()]));
    let stop = StopToken::default();
    stop.ask();
    let error = Unpacked::open(&path, &bench.cache.clone().until(stop)).unwrap_err().to_string();
    assert!(error.contains("a.fmu: interrupted while it was being unpacked; nothing of it is kept"), "{error}");
    assert!(bench.in_cache().is_empty());
    Unpacked::open(&path, &bench.cache).unwrap();
    // Whether it lies in the cache already is known only when all of it was read, which is not waited for either.
    let stop = StopToken::default();
    stop.ask();
    let error = Unpacked::open(&path, &bench.cache.clone().until(stop)).unwrap_err().to_string();
    assert!(error.contains("a.fmu: interrupted"), "{error}");
}
