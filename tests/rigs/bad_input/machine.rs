//! Surroundings that lack something: no home, a cache that cannot be written, is full, or holds no programs.

use std::fs;
use std::process::Stdio;

use crate::bad_input::bench::{Bench, as_nobody, finish, notes, wait};
use crate::bad_input::output::on_disk;

const SHORT: [&str; 5] = ["--mode", "virtual", "--stop-time", "0.02", "--quiet"];

fn run(file: &str) -> Vec<&str> {
    [["run", file].as_slice(), &SHORT].concat()
}

#[test]
fn without_a_home_as_this_user() {
    let bench = Bench::with_fmu("a");
    bench.pack("a", "a.fmu");
    fs::create_dir(bench.path("tmp")).unwrap();
    let mut command = bench.command(run("a.fmu"));
    command.env_remove("VECUD_CACHE").env_remove("XDG_CACHE_HOME").env_remove("HOME").env("TMPDIR", bench.path("tmp"));
    let outcome = finish(&mut command);
    assert_eq!((outcome.code, outcome.stderr), (Some(0), notes("a")));
    // A folder that somebody else could have put there is not trusted.
    let [cache] =
        fs::read_dir(bench.path("tmp")).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>().try_into().unwrap();
    fs::set_permissions(&cache, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let outcome = finish(&mut command);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert_eq!(
        outcome.stderr,
        format!(
            "no folder for the cache: {} is not a folder of this user alone; remove it, or set VECUD_CACHE to another folder\n",
            cache.display()
        )
    );
}

#[test]
fn caches_that_cannot_be_written_as_this_user() {
    let bench = Bench::with_fmu("a");
    bench.pack("a", "a.fmu");
    bench.write("file", "");
    let file = bench.path("file").display().to_string();
    for (cache, why) in
        [(file.as_str(), "File exists (os error 17)"), ("/proc/x", "No such file or directory (os error 2)")]
    {
        let mut command = bench.command(run("a.fmu"));
        command.env("VECUD_CACHE", cache);
        let words = bench.refused(command).stderr;
        assert_eq!(
            words,
            format!(
                "{cache}: cannot make the cache folder: {why}; set VECUD_CACHE to a folder that you may write to\n"
            )
        );
    }
    let Some(nobody) = as_nobody("caches_that_cannot_be_written_as_this_user") else { return };
    let mut command = bench.wrapped(nobody, ["check", "a.fmu"]);
    fs::create_dir(bench.path("locked")).unwrap();
    fs::set_permissions(bench.path("locked"), std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    let words = bench
        .refused({
            command.env("VECUD_CACHE", bench.path("locked"));
            command
        })
        .stderr;
    assert!(words.contains("locked: cannot write to the cache folder: Permission denied"), "{words}");
    assert!(words.ends_with("; set VECUD_CACHE to a folder that you may write to\n"), "{words}");
}

#[test]
fn a_full_cache_as_this_user() {
    let bench = Bench::with_fmu("a");
    bench.pack("a", "a.fmu");
    bench.source_fmu("s");
    for fmu in ["a.fmu", "s"] {
        let script = format!(
            "export VECUD_CACHE=$PWD/disk/c; \"$V\" check {fmu}; code=$?; ls -A disk/c | sed 's/^/left: /'; exit $code"
        );
        let Some(outcome) = on_disk(&bench, "a_full_cache_as_this_user", "size=64k", &script) else { return };
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        let words = outcome.stderr.replace(&format!("{}disk", bench.path("").display()), "disk");
        assert!(words.starts_with(&format!("{fmu}: no space left in disk/c")), "{words}");
        assert!(words.ends_with("; free some, or set VECUD_CACHE to a folder on another disk\n"), "{words}");
        assert_eq!(words.lines().count(), 1, "{words}");
    }
}

#[test]
fn a_cache_that_holds_no_programs_as_this_user() {
    let test = "a_cache_that_holds_no_programs_as_this_user";
    let bench = Bench::with_fmu("a");
    bench.pack("a", "a.fmu");
    for command in ["run", "check"] {
        let script = format!("VECUD_CACHE=$PWD/disk/c exec \"$V\" {command} a.fmu");
        let Some(outcome) = on_disk(&bench, test, "noexec", &script) else { return };
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        let start = "a.fmu: its library lies on a disk from which no code may run (mounted noexec): ";
        assert!(outcome.stderr.starts_with(start), "{}", outcome.stderr);
        assert!(outcome.stderr.ends_with("; set VECUD_CACHE to a folder on another disk\n"), "{}", outcome.stderr);
    }
    let script = "cp -r a disk/ && exec \"$V\" run disk/a";
    let Some(outcome) = on_disk(&bench, test, "noexec", script) else { return };
    assert!(outcome.stderr.ends_with("; copy the FMU to another one, or pack it (.fmu)\n"), "{}", outcome.stderr);
}

#[test]
fn two_runs_with_one_fresh_cache() {
    let bench = Bench::with_fmu("a");
    bench.pack("a", "a.fmu");
    bench.source_fmu("s");
    bench.write("rig.toml", "[fmu.a]\npath = \"a.fmu\"\n[fmu.s]\npath = \"s\"\n");
    let start = |out: &str| {
        let mut command = bench.command(run("rig.toml"));
        command.args(["--out", out]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut runs = [start("o1"), start("o2"), start("o3")];
    for run in &mut runs {
        assert_eq!(wait(run).code(), Some(0));
    }
    let mut entries: Vec<String> = fs::read_dir(bench.path("cache"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy()[..5].to_owned())
        .collect();
    entries.sort();
    assert_eq!(entries, ["fmu-v", "lib-v"]);
    let csv = |out: &str| fs::read(bench.path(out).join("report.json")).unwrap().len();
    assert!(csv("o1") > 0 && csv("o2") > 0 && csv("o3") > 0);
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_with_a_way_out_and_no_signal() {
    let bench = Bench::with_fmu("a");
    bench.pack("a", "a.fmu");
    finish(&mut bench.command(run("a.fmu"))); // So that the cache needs no more writing.
    let shell = ["sh", "-c", "ulimit -f 1; exec \"$0\" \"$@\""];
    let outcome = finish(&mut bench.wrapped(&shell, [run("a.fmu"), vec!["--out", "limited"]].concat()));
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("EFBIG"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("`ulimit -f unlimited`"), "{}", outcome.stderr);
    assert!(!bench.path("limited").exists());
}
