//! Where results go: folders that cannot take them, streams that nobody reads, disks that are full.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use crate::bad_input::bench::{Bench, Outcome, VECUD, as_nobody, finish, notes, skip, wait};
use crate::program::{problem_texts, shared_core, user};

const SHORT: &str = "--mode virtual --stop-time 0.02";

#[test]
fn output_folders_that_cannot_be() {
    let bench = Bench::with_fmu("a");
    bench.write("file", "mine");
    std::os::unix::fs::symlink("nowhere", bench.path("link")).unwrap();
    for (out, why) in [
        ("file", "it is no folder"),
        ("link", "it is a link to nothing"),
        ("file/deeper", "Not a directory (os error 20)"),
        ("/proc/nope", "No such file or directory (os error 2)"),
    ] {
        bench.refuses(
            &format!("run a {SHORT} --out {out}"),
            &format!("{out}: the output folder cannot be used: {why}; choose another one with --out DIR"),
        );
    }
    assert_eq!(fs::read_to_string(bench.path("file")).unwrap(), "mine");
    assert!(!bench.path("nowhere").exists());
    // What stands in the way of a file of ours is named.
    fs::create_dir_all(bench.path("o/report.json")).unwrap();
    bench.refuses(
        &format!("run a {SHORT} --out o"),
        "o/report.json: the output folder cannot be used: Is a directory (os error 21); choose another one with --out DIR",
    );
}

/// Found out before anything is removed, whichever file it is.
#[test]
fn a_folder_in_the_place_of_a_file_costs_no_earlier_report() {
    let bench = Bench::with_fmu("a");
    let run = format!("run a {SHORT} --out o");
    for name in ["junit.xml", "report.html.part", "run.log", "signals.csv", ".reserve.part"] {
        assert_eq!(bench.run(&run).code, Some(0));
        let before = fs::read_to_string(bench.path("o/report.json")).unwrap();
        let _ = fs::remove_file(bench.path("o").join(name));
        fs::create_dir(bench.path("o").join(name)).unwrap();
        bench.refuses(
            &run,
            &format!(
                "o/{name}: the output folder cannot be used: Is a directory (os error 21); choose another one with --out DIR"
            ),
        );
        assert_eq!(fs::read_to_string(bench.path("o/report.json")).unwrap(), before, "{name}");
        assert!(bench.path("o/report.html").is_file() && bench.path("o/histograms.hlog").is_file());
        fs::remove_dir(bench.path("o").join(name)).unwrap();
    }
}

/// The output folder may be a link. In it somebody could have put links under every name that a run uses: the files that they
/// lead to stay as they are, and are not read either.
#[test]
fn links_and_pipes_in_the_output_folder_are_replaced() {
    let bench = Bench::with_fmu("a");
    bench.write(
        "r.toml",
        format!("[rig]\nmode = \"virtual\"\nstop_time = 0.02\n[fmu.a]\npath = \"a\"\n[record]\nformat = [\"csv\", \"mcap\"]\n{TRACE}"),
    );
    const NAMES: [&str; 14] = [
        "report.json",
        "report.json.part",
        ".reserve.part",
        "report.html",
        "report.html.part",
        "histograms.hlog",
        "junit.xml",
        "junit.xml.part",
        "signals.csv",
        "signals.mcap",
        "signals.mcap.part",
        "trace.json",
        "run.log",
        "report.json.part.part",
    ];
    fs::create_dir(bench.path("real")).unwrap();
    std::os::unix::fs::symlink("real", bench.path("o")).unwrap();
    for kind in ["link", "dangling link", "hard link", "pipe"] {
        for name in NAMES {
            let path = bench.path("real").join(name);
            let _ = fs::remove_file(&path);
            bench.write(format!("precious-{name}"), "mine");
            let precious = bench.path(format!("precious-{name}"));
            match kind {
                "link" => std::os::unix::fs::symlink(&precious, &path).unwrap(),
                "dangling link" => std::os::unix::fs::symlink(bench.path(format!("new-{name}")), &path).unwrap(),
                "hard link" => fs::hard_link(&precious, &path).unwrap(),
                _ => nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap(),
            }
        }
        let outcome = bench.run("run r.toml --out o");
        assert_eq!(outcome.code, Some(0), "{kind}: {outcome:?}");
        for name in NAMES {
            let precious = fs::read_to_string(bench.path(format!("precious-{name}"))).unwrap();
            assert_eq!(precious, "mine", "{kind}: {name}");
            assert!(!bench.path(format!("new-{name}")).exists(), "{kind}: {name}");
            let found = bench.path("real").join(name).symlink_metadata();
            let whole = found.is_ok_and(|found| found.is_file() && found.len() > 0 && found.nlink() == 1);
            assert!(whole || name.ends_with(".part") || name == "run.log", "{kind}: {name}");
        }
    }
    // The folder of one of several runs is in the output folder.
    fs::create_dir(bench.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(bench.path("elsewhere"), bench.path("real/run-1")).unwrap();
    let outcome = bench.run("run r.toml --repeat 2 --out o");
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("o/run-1: the output folder cannot be used: is a link, which is not followed"));
    assert_eq!(bench.files("elsewhere"), [std::path::PathBuf::from("elsewhere")].into());
}

const TRACE: &str = "[trace]\nmode = \"all\"\n";

/// Under the name that a state has while it is written: what is there is replaced, whatever it is, and no link is followed.
#[test]
fn a_link_beside_a_saved_state_is_replaced_and_not_followed() {
    for kind in ["link", "dangling link", "hard link", "pipe"] {
        let bench = Bench::with_fmu("a");
        bench.write("precious", "mine");
        let (precious, partial) = (bench.path("precious"), bench.path("s.state.part"));
        match kind {
            "link" => std::os::unix::fs::symlink(&precious, &partial).unwrap(),
            "dangling link" => std::os::unix::fs::symlink(bench.path("new"), &partial).unwrap(),
            "hard link" => fs::hard_link(&precious, &partial).unwrap(),
            _ => nix::unistd::mkfifo(&partial, nix::sys::stat::Mode::S_IRWXU).unwrap(),
        }
        let outcome = bench.run(&format!("run a {SHORT} --save-state s.state"));
        assert_eq!(outcome.code, Some(0), "{kind}: {outcome:?}");
        let state = bench.path("s.state").symlink_metadata().unwrap();
        assert!(state.is_file() && state.len() > 0 && state.nlink() == 1, "{kind}");
        assert!(partial.symlink_metadata().is_err() && !bench.path("new").exists(), "{kind}: it is left");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "mine", "{kind}");
        let restored = bench.run("run a --mode virtual --stop-time 0.04 --restore-state s.state");
        assert_eq!(restored.code, Some(0), "{kind}: {restored:?}");
    }
}

/// What waits for somebody who never writes would wait for ever.
#[test]
fn pipes_in_the_place_of_files_are_refused_at_once() {
    let bench = Bench::with_fmu("a");
    assert_eq!(bench.run(&format!("run a {SHORT} --out o")).code, Some(0));
    nix::unistd::mkfifo(&bench.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let kind = "is no ordinary file (but a pipe, a socket or a device), and only such are read";
    bench.refuses_to_plan("pipe", &format!("pipe: {kind}"));
    bench.refuses("inspect pipe", "pipe: neither a .fmu file nor a folder");
    bench.refuses("report o --against pipe", &format!("pipe: {kind}"));
    let outcome = bench.run("report o --out pipe");
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("pipe: the page cannot be written: No such device or address"), "{outcome:?}");
    for name in ["o/report.json", "o/histograms.hlog"] {
        let kept = fs::read(bench.path(name)).unwrap();
        fs::remove_file(bench.path(name)).unwrap();
        nix::unistd::mkfifo(&bench.path(name), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(bench.run("report o").code, Some(2), "{name}");
        fs::remove_file(bench.path(name)).unwrap();
        bench.write(name, kept);
    }
    bench.write("r.toml", "[fmu.a]\npath = \"a\"\n[[stimulus]]\nfile = \"pipe\"\n");
    assert_eq!(bench.run("check r.toml").code, Some(2));
    assert_eq!(bench.run(&format!("run a {SHORT} --restore-state pipe")).code, Some(2));
    fs::remove_file(bench.path("a/modelDescription.xml")).unwrap();
    nix::unistd::mkfifo(&bench.path("a/modelDescription.xml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(bench.run("check a").code, Some(2));
    bench.source_fmu("s");
    fs::remove_file(bench.path("s/sources/buildDescription.xml")).unwrap();
    nix::unistd::mkfifo(&bench.path("s/sources/buildDescription.xml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(bench.run("check s").code, Some(2));
}

/// Whoever may change the folder could put links where root is about to write.
#[test]
fn root_writes_to_no_folder_that_a_third_user_may_change_as_this_user() {
    let test = "root_writes_to_no_folder_that_a_third_user_may_change_as_this_user";
    if !user::is_root() {
        return skip(test, "needs root");
    }
    let bench = Bench::with_fmu("a");
    let run = |out: &str, sudo: Option<&str>| {
        let mut command = bench.command(["run", "a", "--mode", "virtual", "--stop-time", "0.02", "--out", out]);
        command.env_remove("SUDO_UID");
        sudo.into_iter().for_each(|user| {
            command.env("SUDO_UID", user);
        });
        finish(&mut command)
    };
    fs::create_dir_all(bench.path("theirs/inner")).unwrap();
    std::os::unix::fs::chown(bench.path("theirs"), Some(4321), Some(4321)).unwrap();
    let refused = |outcome: Outcome, why: &str| {
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        assert!(
            outcome.stderr.contains(why) && outcome.stderr.contains("choose another one with --out"),
            "{outcome:?}"
        );
    };
    for out in ["theirs", "theirs/inner", "theirs/new"] {
        refused(
            run(out, None),
            "theirs belongs to another user (number 4321), who could have root write over any file",
        );
        refused(run(out, Some("1000")), "theirs belongs to another user (number 4321)");
    }
    assert_eq!(bench.files("theirs"), [std::path::PathBuf::from("theirs/inner")].into());
    // The one behind sudo may.
    assert_eq!(run("theirs/inner", Some("4321")).code, Some(0));
    // Everybody.
    fs::create_dir(bench.path("everybodys")).unwrap();
    let mode = |mode| fs::set_permissions(bench.path("everybodys"), std::os::unix::fs::PermissionsExt::from_mode(mode));
    mode(0o777).unwrap();
    refused(run("everybodys/o", None), "other users may write to ");
    let state = ["run", "a", "--mode", "virtual", "--stop-time", "0.02", "--save-state", "everybodys/s"];
    assert_eq!(finish(&mut bench.command(state)).code, Some(2));
    // As /tmp, where nobody moves what is another's.
    mode(0o1777).unwrap();
    assert_eq!(run("everybodys/o", None).code, Some(0));
}

#[test]
fn an_output_folder_of_somebody_else_as_this_user() {
    let Some(nobody) = as_nobody("an_output_folder_of_somebody_else_as_this_user") else { return };
    let bench = Bench::with_fmu("a");
    fs::create_dir(bench.path("theirs")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o555);
    fs::set_permissions(bench.path("theirs"), mode).unwrap();
    for out in ["theirs", "theirs/new"] {
        let mut command = bench.wrapped(nobody, ["run", "a", "--mode", "virtual", "--stop-time", "0.02", "--out", out]);
        let words = bench
            .refused({
                command.env("VECUD_CACHE", "theirs");
                command
            })
            .stderr;
        assert_eq!(
            words,
            format!(
                "{out}: the output folder cannot be used: Permission denied (os error 13); choose another one with --out DIR\n"
            )
        );
    }
}

/// Found out before anything is started: an earlier run could not be kept.
#[test]
fn a_folder_for_earlier_runs_that_is_somebody_elses_as_this_user() {
    let Some(nobody) = as_nobody("a_folder_for_earlier_runs_that_is_somebody_elses_as_this_user") else { return };
    let bench = Bench::with_fmu("a");
    fs::create_dir_all(bench.path("o/runs")).unwrap();
    let mode =
        |path: &str, mode| fs::set_permissions(bench.path(path), std::os::unix::fs::PermissionsExt::from_mode(mode));
    mode("o", 0o777).unwrap();
    mode("o/runs", 0o555).unwrap();
    let run = || bench.wrapped(nobody, ["run", "a", "--mode", "virtual", "--stop-time", "0.02", "--out", "o"]);
    let first = finish(&mut run());
    assert_eq!(first.code, Some(0), "there is nothing to be kept yet: {first:?}");
    let words = bench.refused(run()).stderr;
    let end = "o/runs: the output folder cannot be used: Permission denied (os error 13); choose another one with --out DIR\n";
    assert!(words.ends_with(end), "{words}");
    assert!(bench.path("o/report.json").is_file());
}

#[test]
fn two_runs_with_one_output_folder() {
    let bench = Bench::with_fmu("a");
    let arguments = ["run", "a", "--mode", "realtime", "--stop-time", "1", "--out", "o", "--quiet"];
    let mut first = bench.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !bench.path("o/signals.csv").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let second = finish(&mut bench.command(arguments));
    assert_eq!(
        (second.code, second.stdout.as_str(), second.stderr.as_str()),
        (
            Some(2),
            "",
            "o: another run is writing to this output folder; wait for its end, or choose another one with --out DIR\n"
        )
    );
    assert_eq!(wait(&mut first).code(), Some(0));
    let csv = fs::read_to_string(bench.path("o/signals.csv")).unwrap();
    let columns = |line: &str| line.split(',').count();
    assert!(csv.lines().count() > 100 && csv.lines().all(|line| columns(line) == columns(csv.lines().next().unwrap())));
    let left: Vec<_> = bench.files("o").into_iter().filter(|f| f.to_string_lossy().contains("/.")).collect();
    assert!(left.is_empty(), "{left:?}");
    // Then it is free again, and what a killed run has left goes.
    bench.write("o/.run-1.log", "x");
    bench.write("o/report.html.part", "x");
    assert_eq!(bench.run(&format!("run a {SHORT} --out o")).code, Some(0));
    assert!(!bench.path("o/.run-1.log").exists() && !bench.path("o/report.html.part").exists());
}

/// `script` with the program as `$V`.
fn shell(bench: &Bench, script: &str) -> Outcome {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(bench.path("")).env("VECUD_CACHE", bench.path("cache")).env("V", VECUD);
    finish(&mut command)
}

#[test]
fn streams_that_nobody_reads() {
    let bench = Bench::with_fmu("a");
    let run = format!("\"$V\" run a {SHORT}");
    for (script, code) in [
        (format!("{run} >&-"), 0),
        (format!("{run} 2>&-"), 0),
        (format!("{run} <&- >&- 2>&-"), 0),
        (format!("{run} >/dev/full 2>/dev/full"), 1),
        ("\"$V\" inspect a >/dev/full 2>/dev/full".to_owned(), 2),
        ("\"$V\" run nowhere 2>&-".to_owned(), 2),
        ("\"$V\" run nowhere 2>/dev/full".to_owned(), 2),
        ("\"$V\" frobnicate 2>/dev/full".to_owned(), 2),
        ("\"$V\" >&- 2>&-".to_owned(), 2),
    ] {
        let outcome = shell(&bench, &script);
        assert_eq!(outcome.code, Some(code), "{script}: {outcome:?}");
        assert!(!outcome.stderr.contains("panicked"), "{script}: {outcome:?}");
    }
    for command in ["inspect a", "check a", "help", &format!("run a {SHORT}")] {
        let script = format!("( \"$V\" {command}; echo $? >code ) | head -1");
        let outcome = shell(&bench, &script);
        assert_eq!(fs::read_to_string(bench.path("code")).unwrap(), "0\n", "{script}: {outcome:?}");
        assert_eq!(outcome.stdout.lines().count(), 1, "{outcome:?}");
    }
    // A reader of stderr that goes away in the middle of a run does not end it.
    let script = format!("( {run} --quiet; echo $? >code ) 2>&1 >out | true");
    shell(&bench, &script);
    assert_eq!(fs::read_to_string(bench.path("code")).unwrap(), "0\n");
    bench.no_process();
}

/// Exit code 0 tells a script that it has got everything. A run is over when its result is told, so that its report is there.
#[test]
fn results_that_cannot_be_written_are_errors() {
    let bench = Bench::with_fmu("a");
    let why = "to standard output: ENOSPC: No space left on device";
    let fix = "free some, or send it to another disk";
    for command in ["inspect a", "inspect a --json", "check a", "--help", "help run", "--version"] {
        let outcome = shell(&bench, &format!("\"$V\" {command} >/dev/full"));
        assert_eq!((outcome.code, outcome.stderr), (Some(2), format!("cannot write the result {why}; {fix}\n")));
    }
    let outcome = shell(&bench, &format!("\"$V\" run a {SHORT} >/dev/full"));
    let message = format!("cannot write the result {why}; the report is there: vecud-out/a/report.html\n");
    assert_eq!((outcome.code, outcome.stderr), (Some(1), notes("a") + &message));
    let report = fs::read(bench.path("vecud-out/a/report.json")).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&report).unwrap()["verdict"], "pass");
    // Said once, however often it runs, and a limit that was exceeded as well does not hide it.
    bench.write("r.toml", "[fmu.a]\npath = \"a\"\n[fmu.a.clock.fast]\nmax_latency_us = 0.001\n");
    let outcome = shell(&bench, "\"$V\" run r.toml --stop-time 0.02 --repeat 2 >/dev/full");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!(outcome.stderr.matches("cannot write the result").count(), 1, "{outcome:?}");
    assert!(outcome.stderr.ends_with("; the report is there: vecud-out/r/run-1/report.html\n"), "{outcome:?}");
    assert!(bench.path("vecud-out/r/run-2/report.html").is_file());
    // Whatever the reason is.
    for (script, why, fix) in [
        ("\"$V\" inspect a 1</dev/null", "EBADF: Bad file number", "send it to another place"),
        ("(ulimit -f 0; exec \"$V\" inspect a >x)", "EFBIG: File too large", "raise the limit: `ulimit -f unlimited`"),
    ] {
        let outcome = shell(&bench, script);
        let message = format!("cannot write the result to standard output: {why}; {fix}\n");
        assert_eq!((outcome.code, outcome.stderr), (Some(2), message), "{script}");
    }
}

/// `script` where `disk` is a small file system of its own with these options; `None` where that is impossible.
pub fn on_disk(bench: &Bench, test: &str, options: &str, script: &str) -> Option<Outcome> {
    fs::create_dir_all(bench.path("disk")).unwrap();
    let script = format!("mount -t tmpfs -o {options} none disk || exit 99; {script}");
    let mut command = Command::new("unshare");
    command.arg(if user::is_root() { "-m" } else { "-rm" }).args(["sh", "-c", &script]);
    command.current_dir(bench.path("")).env("VECUD_CACHE", bench.path("cache")).env("V", VECUD).env_remove("CC");
    let there = Command::new("unshare").arg("--version").output().is_ok();
    let outcome = there.then(|| finish(&mut command));
    match outcome {
        Some(outcome) if outcome.code != Some(99) && !outcome.stderr.contains("unshare failed") => Some(outcome),
        _ => {
            skip(test, "this user may not mount a small file system");
            None
        }
    }
}

#[test]
fn a_disk_that_fills_up_during_the_run_as_this_user() {
    let bench = Bench::with_fmu("a");
    let test = "a_disk_that_fills_up_during_the_run_as_this_user";
    let script = "\"$V\" run a --mode virtual --stop-time 10 --out disk/o; code=$?; cp -r disk/o kept; exit $code";
    let Some(outcome) = on_disk(&bench, test, "size=3m", script) else { return };
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    // What there was space for is whole rows, and the problem names the last one.
    let csv = fs::read_to_string(bench.path("kept/signals.csv")).unwrap();
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.len() > 1000 && columns.iter().all(|&n| n == columns[0]) && csv.ends_with('\n'));
    let last = csv.lines().last().unwrap().split(',').next().unwrap();
    let message = &format!("signals.csv ends at {last} s, the run goes on: No space left on device (os error 28)");
    // A run that takes longer than 10 s on this machine has nowhere to keep a checkpoint either.
    let said = outcome.stderr.split_inclusive('\n').filter(|line| !line.contains("checkpoint.json cannot be written"));
    assert_eq!(said.collect::<String>(), format!("{}vecud: error: {message}\n", notes("a")));
    assert!(outcome.stdout.contains(&format!("failure: {message}\n")), "{}", outcome.stdout);
    assert!(outcome.stdout.ends_with("report: disk/o/report.html\n"), "{}", outcome.stdout);
    // The run went on to its end, and the report says what is missing.
    let report: serde_json::Value = serde_json::from_slice(&fs::read(bench.path("kept/report.json")).unwrap()).unwrap();
    assert_eq!((&report["verdict"], &report["problems"][0]["text"]), (&"fail".into(), &message.as_str().into()));
    let fast = report["clocks"].as_array().unwrap().iter().find(|clock| clock["clock"] == "fast").unwrap();
    assert_eq!(fast["activations"], 10_000);
    assert!(bench.path("kept/report.html").is_file() && bench.path("kept/histograms.hlog").is_file());
    assert!(bench.files("kept").iter().all(|file| !file.to_string_lossy().ends_with(".part")));
}

const NO_ROOM: &str = "disk/o: the output folder cannot be used: there is no room for report.json (56 KiB): No space left on device (os error \
     28); choose another one with --out DIR\n";

#[test]
fn a_disk_that_fills_up_leaves_whole_files_of_messages_as_this_user() {
    let bench = Bench::with_fmu("a");
    let test = "a_disk_that_fills_up_leaves_whole_files_of_messages_as_this_user";
    let record = "[record]\nformat = [\"csv\", \"mcap\"]\nmcap = \"json\"\n[[record.rule]]\nsignals = [\"a.count_slow\"]\nevery = 2\n";
    bench.write("rig.toml", format!("[rig]\nmode = \"virtual\"\nstop_time = 10\n[fmu.a]\npath = \"a\"\n{record}"));
    let script = "\"$V\" run rig.toml --out disk/o; code=$?; cp -r disk/o kept; exit $code";
    let Some(outcome) = on_disk(&bench, test, "size=6m", script) else { return };
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(bench.path("kept/report.json")).unwrap()).unwrap();
    let fast = report["clocks"].as_array().unwrap().iter().find(|clock| clock["clock"] == "fast").unwrap();
    assert_eq!(fast["activations"], 10_000);
    for name in ["signals.csv", "signals.mcap"] {
        let file = std::io::BufReader::new(fs::File::open(bench.path(format!("kept/{name}"))).unwrap());
        let mut recording = vecud::recording::Recording::new(file).unwrap();
        let (mut last, mut row) = (0.0, vecud::recording::Row::default());
        while recording.read(&mut row).unwrap_or_else(|error| panic!("{name}: {error}")) {
            last = row.time;
        }
        assert!(last > 0.1, "{name}: {last}");
        let message = format!("{name} ends at {last} s, the run goes on: No space left on device (os error 28)");
        let problems = problem_texts(&report);
        assert!(problems.contains(&message), "{message}: {problems:?}");
        assert!(outcome.stderr.contains(&format!("vecud: error: {message}\n")), "{}", outcome.stderr);
    }
    let bytes = fs::read(bench.path("kept/signals.mcap")).unwrap();
    assert!(mcap::MessageStream::new(&bytes).unwrap().all(|message| message.is_ok()));
}

#[test]
fn a_disk_that_fills_up_in_real_time_ends_the_recording_and_not_the_run_as_this_user() {
    shared_core(|| {
        let test = "a_disk_that_fills_up_in_real_time_ends_the_recording_and_not_the_run_as_this_user";
        let bench = Bench::with_fmu("a");
        let record = "[record]\nformat = [\"csv\", \"mcap\"]\nmcap = \"json\"\n[trace]\nmode = \"off\"\n";
        // Three seconds: who waits for a core for half of one still writes in several pieces before the disk is full.
        bench.write("rig.toml", format!("[rig]\nstop_time = 3\noverrun = \"queue\"\n[fmu.a]\npath = \"a\"\n{record}"));
        let script = "\"$V\" run rig.toml --out disk/o; code=$?; cp -r disk/o kept; exit $code";
        let Some(outcome) = on_disk(&bench, test, "size=4m", script) else { return };
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        let report: serde_json::Value =
            serde_json::from_slice(&fs::read(bench.path("kept/report.json")).unwrap()).unwrap();
        assert_eq!(
            (&report["end"], &report["verdict"], &report["end_time"]),
            (&"stop_time".into(), &"fail".into(), &3.0.into())
        );
        // Whoever ran before the disk was full ran afterwards: each release is an activation, or counted as left out.
        let number = |clock: &str, key: &str| {
            let clocks = report["clocks"].as_array().unwrap();
            clocks.iter().find(|own| own["clock"] == clock).unwrap()[key].as_u64().unwrap()
        };
        assert_eq!(number("fast", "activations") + number("fast", "skipped"), 3000);
        let dropped = report["samples_dropped"].as_u64().unwrap();
        for name in ["signals.csv", "signals.mcap"] {
            let file = std::io::BufReader::new(fs::File::open(bench.path(format!("kept/{name}"))).unwrap());
            let mut recording = vecud::recording::Recording::new(file).unwrap();
            let (mut rows, mut last, mut row) = (0, 0.0, vecud::recording::Row::default());
            while recording.read(&mut row).unwrap_or_else(|error| panic!("{name}: {error}")) {
                (rows, last) = (rows + 1, row.time);
            }
            assert!((0.1..2.9).contains(&last), "{name}: {last}");
            // Up to there nothing is missing but what is counted.
            assert!(rows + dropped + number("fast", "skipped") > (last * 1000.0).round() as u64, "{name}: {rows} rows");
            let message = format!("{name} ends at {last} s, the run goes on: No space left on device (os error 28)");
            let problems = problem_texts(&report);
            assert!(problems.contains(&message), "{message}: {problems:?}");
            assert!(outcome.stderr.contains(&format!("vecud: error: {message}\n")), "{}", outcome.stderr);
        }
        let bytes = fs::read(bench.path("kept/signals.mcap")).unwrap();
        assert!(mcap::MessageStream::new(&bytes).unwrap().all(|message| message.is_ok()));
    });
}

#[test]
fn a_disk_that_fills_up_leaves_a_trace_of_whole_events_as_this_user() {
    let bench = Bench::with_fmu("a");
    let test = "a_disk_that_fills_up_leaves_a_trace_of_whole_events_as_this_user";
    let tables = "[record]\nsignals = []\n[trace]\nmode = \"all\"\n";
    bench.write("rig.toml", format!("[rig]\nmode = \"virtual\"\nstop_time = 10\n[fmu.a]\npath = \"a\"\n{tables}"));
    let script = "\"$V\" run rig.toml --out disk/o; code=$?; cp -r disk/o kept; exit $code";
    let Some(outcome) = on_disk(&bench, test, "size=2m", script) else { return };
    assert_eq!(outcome.code, Some(0), "the run is what it was about: {outcome:?}");
    let why = "trace.json ends early, the run goes on: No space left on device (os error 28)";
    assert!(outcome.stdout.contains(why), "{}", outcome.stdout);
    let trace = fs::read_to_string(bench.path("kept/trace.json")).unwrap();
    let events: Vec<serde_json::Value> = serde_json::from_str(&trace).expect("whole events and both brackets");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(bench.path("kept/report.json")).unwrap()).unwrap();
    let file = &report["trace"]["files"][0];
    let activations = events.iter().filter(|event| event["ph"] == "X" && !event["args"]["time_s"].is_null()).count();
    assert!(activations > 1000 && file["activations"] == activations, "{activations}: {file}");
    assert_eq!(file["why"], serde_json::json!(["the first part of the run"]));
}

/// What was written before that stays, in two whole files, and the report says of which part of the run they are.
#[test]
fn a_disk_that_fills_up_after_the_trace_was_begun_anew_leaves_both_files_as_this_user() {
    let bench = Bench::with_fmu("a");
    let test = "a_disk_that_fills_up_after_the_trace_was_begun_anew_leaves_both_files_as_this_user";
    let tables = "[record]\nsignals = []\n[trace]\nmode = \"all\"\nlimit_mib = 4\n";
    bench.write("rig.toml", format!("[rig]\nmode = \"virtual\"\nstop_time = 40\n[fmu.a]\npath = \"a\"\n{tables}"));
    let script = "\"$V\" run rig.toml --out disk/o; code=$?; cp -r disk/o kept; exit $code";
    let Some(outcome) = on_disk(&bench, test, "size=4m", script) else { return };
    assert_eq!(outcome.code, Some(0), "the run is what it was about: {outcome:?}");
    let why = "trace.json ends early, the run goes on: No space left on device (os error 28)";
    assert!(outcome.stdout.contains(why), "{}", outcome.stdout);
    let report: serde_json::Value = serde_json::from_slice(&fs::read(bench.path("kept/report.json")).unwrap()).unwrap();
    let files = report["trace"]["files"].as_array().unwrap();
    let names: Vec<&str> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["trace-earlier.json", "trace.json"]);
    for file in files {
        let trace = fs::read_to_string(bench.path("kept").join(file["name"].as_str().unwrap())).unwrap();
        let events: Vec<serde_json::Value> = serde_json::from_str(&trace).expect("whole events and both brackets");
        let activations =
            events.iter().filter(|event| event["ph"] == "X" && !event["args"]["time_s"].is_null()).count();
        assert!(activations > 1000 && file["activations"] == activations, "{activations}: {file}");
    }
    assert_eq!(files[0]["why"], serde_json::json!(["what was before the newest part"]));
    assert_eq!(files[1]["why"], serde_json::json!(["the last part that could be written"]));
}

/// Who records for weeks loses no more than the hour in which the disk was full.
#[test]
fn a_rotated_recording_goes_on_when_a_full_disk_has_room_again_as_this_user() {
    shared_core(|| {
        let bench = Bench::with_fmu("a");
        let test = "a_rotated_recording_goes_on_when_a_full_disk_has_room_again_as_this_user";
        let record = "[record]\nsignals = [\"*.out_*\"]\nrotate = \"100ms\"\n";
        bench.write("r.toml", format!("[rig]\nstop_time = 60\n[fmu.a]\npath = \"a\"\n{record}"));
        let ended = "while kill -0 $run && ! grep -q 'its recording at' said; do sleep 0.01; done";
        let full = format!("dd if=/dev/zero of=disk/full bs=1k 2>/dev/null; {ended}; rm disk/full");
        let during = format!("until test -s disk/o/signals-000002.csv; do sleep 0.01; done; {full}");
        // The run is ended in the second file that was begun after there was room again; the first may have been begun just before.
        let newest = "newest() { ls disk/o/signals-*.csv | tail -n 1; }";
        let newer = "while kill -0 $run && test \"$(newest)\" = \"$before\"; do sleep 0.01; done";
        let twice = format!("before=$(newest); {newer}; before=$(newest); {newer}");
        let end = "sleep 0.2; kill -INT $run; wait $run; code=$?; cp -r disk/o kept; exit $code";
        let script = format!("{newest}; \"$V\" run r.toml --out disk/o 2>said & run=$!; {during}; {twice}; {end}");
        let Some(outcome) = on_disk(&bench, test, "size=8m", &script) else { return };
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        let ends = "s, the run goes on, and its recording at ";
        assert!(outcome.stdout.contains("signals-0000") && outcome.stdout.contains(ends), "{}", outcome.stdout);
        let report: serde_json::Value =
            serde_json::from_slice(&fs::read(bench.path("kept/report.json")).unwrap()).unwrap();
        let (end, last) = (report["end_time"].as_f64().unwrap(), report["recordings"][0]["last"].as_str().unwrap());
        let csv = fs::read_to_string(bench.path("kept").join(last)).unwrap();
        let time: f64 = csv.lines().next_back().unwrap().split(',').next().unwrap().parse().unwrap();
        assert!(end < 59.0 && time > end - 0.1 && csv.ends_with('\n'), "{last} ends at {time} s, the run at {end} s");
    });
}

#[test]
fn a_disk_without_room_for_report_json_is_refused_before_the_run_as_this_user() {
    let bench = Bench::with_fmu("a");
    let test = "a_disk_without_room_for_report_json_is_refused_before_the_run_as_this_user";
    let run = format!("\"$V\" run a {SHORT} --out disk/o");
    let full = "dd if=/dev/zero of=disk/full bs=1k 2>/dev/null";
    for (size, before) in [("8k", "true"), ("64k", full), ("1m", full)] {
        let script = format!("{before}; {run}; code=$?; ls -A disk >left; exit $code");
        let Some(outcome) = on_disk(&bench, test, &format!("size={size}"), &script) else { return };
        let said = (outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str());
        assert_eq!(said, (Some(2), "", NO_ROOM), "{size}");
        let left = if before == full { "full\n" } else { "" };
        assert_eq!(fs::read_to_string(bench.path("left")).unwrap(), left, "nothing is left behind");
    }
    // Of an earlier run nothing is lost then.
    let script =
        format!("{run} >out && cp disk/o/report.json before; rm disk/o/*.h* disk/o/*.csv; {full}; {run}; code=$?");
    let script = format!("{script}; cmp before disk/o/report.json && exit $code");
    let Some(outcome) = on_disk(&bench, test, "size=1m", &script) else { return };
    let left = outcome.stderr.strip_prefix(&notes("a"));
    assert_eq!((outcome.code, left), (Some(2), Some(NO_ROOM)), "{outcome:?}");
}

/// A disk that has no room for another run beside the one that is to be kept: nothing is run, and nothing of the earlier one is
/// lost. Where it has too many of them, the oldest make room.
#[test]
fn a_disk_without_room_for_two_runs_costs_the_oldest_kept_one_and_never_the_last_as_this_user() {
    let bench = Bench::with_fmu("a");
    let test = "a_disk_without_room_for_two_runs_costs_the_oldest_kept_one_and_never_the_last_as_this_user";
    let rig = |stop: f64| {
        format!(
            "[rig]\nmode = \"virtual\"\nstop_time = {stop}\n[fmu.a]\npath = \"a\"\n[record]\n[report]\nkeep_runs = 1\n"
        )
    };
    bench.write("long.toml", rig(10.0));
    bench.write("short.toml", rig(0.02));
    let run = |rig: &str| format!("\"$V\" run {rig}.toml --out disk/o");
    // The first one fills the disk with its recording, but for what its report needs.
    let before = format!("{}; cp disk/o/report.json before", run("long"));
    let script =
        format!("{before}; {}; code=$?; ls -A disk/o >left; cmp before disk/o/report.json && exit $code", run("short"));
    let Some(outcome) = on_disk(&bench, test, "size=116k", &script) else { return };
    let left = fs::read_to_string(bench.path("left")).unwrap();
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.ends_with(NO_ROOM) && !left.contains("runs"), "{left}{outcome:?}");
    // Of two short runs the first is kept, and goes when a third one needs its room.
    let script = format!("for i in 1 2 3 4; do {} || exit 9; done; ls -A disk/o disk/o/runs >left", run("short"));
    let Some(outcome) = on_disk(&bench, test, "size=1m", &script) else { return };
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let left = fs::read_to_string(bench.path("left")).unwrap();
    assert!(left.contains("report.json") && left.lines().filter(|line| line.starts_with("20")).count() == 1, "{left}");
}

#[test]
fn what_is_left_of_a_small_disk_goes_to_report_json_first_as_this_user() {
    let bench = Bench::with_fmu("a");
    let test = "what_is_left_of_a_small_disk_goes_to_report_json_first_as_this_user";
    // Earlier runs are not kept, or they would have their space for themselves.
    let tables = "[record]\n[report]\nkeep_runs = 0\n";
    bench.write("a.toml", format!("[rig]\nmode = \"virtual\"\nstop_time = 10\n[fmu.a]\npath = \"a\"\n{tables}"));
    let run = "\"$V\" run a.toml --out disk/o";
    // The second run has the space that the first one's recording took.
    for (size, before) in [("64k", "true"), ("88k", "true"), ("88k", &format!("{run} >first 2>&1"))] {
        let script = format!("{before}; {run}; code=$?; ls -A disk/o >left; cp disk/o/report.json kept; exit $code");
        let Some(outcome) = on_disk(&bench, test, &format!("size={size}"), &script) else { return };
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        let report: serde_json::Value = serde_json::from_slice(&fs::read(bench.path("kept")).unwrap()).unwrap();
        assert_eq!(report["verdict"], "fail");
        assert!(report["problems"][0]["text"].as_str().unwrap().contains("No space left on device"), "{report:#}");
        let left = fs::read_to_string(bench.path("left")).unwrap();
        assert!(!left.contains(".part"), "{left}");
        // What it was not enough for is said. (In virtual time there are no latencies, and no .hgrm of them.)
        let whole = left.contains("report.html") && left.contains("histograms.hlog");
        let incomplete = outcome.stdout.contains("failure: the report is incomplete: disk/o: cannot write");
        assert!(whole || incomplete, "{left}{}", outcome.stdout);
        let place = if left.contains("report.html") { "report.html" } else { "report.json" };
        assert!(outcome.stdout.ends_with(&format!("report: disk/o/{place}\n")), "{}", outcome.stdout);
    }
}
