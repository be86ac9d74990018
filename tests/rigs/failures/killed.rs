//! vecud that is killed, which it cannot help: no process of an FMU stays, and no compiler.

use crate::program::{Rig, cache, copied_tracer, send, shared_core, tempdir, wait_until};
use nix::sys::signal::Signal;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// An FMU whose library notes its process while it is loaded, and never gets further.
const HANG: &str = "
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void hang(void) {
    FILE *pids = fopen(\"PIDS\", \"a\");
    fprintf(pids, \"%d\\n\", getpid());
    fclose(pids);
    for (;;) pause();
}
";

/// Each way to run FMU code.
const WAYS: [(&str, &[&str]); 5] = [
    ("run", &[]),
    ("simulate", &["--stop-time=1"]),
    ("simulate", &["--stop-time=1", "--sweep=fail_at=1:4:1", "--jobs=2"]),
    ("call", &["-c", "Instantiate"]),
    ("validate", &[]),
];

/// One of these ways, with an FMU.
fn vecud(folder: &Path, fmu: &Path, (command, arguments): (&str, &[&str])) -> Command {
    let mut vecud = Command::new(env!("CARGO_BIN_EXE_vecud"));
    let rig = Rig::new("mode = 'virtual'\nstop_time = 1").fmu("a", fmu.to_owned(), "", "");
    match command {
        "run" => {
            std::fs::copy(rig.file(), folder.join("rig.toml")).unwrap();
            vecud.args(["run", "rig.toml", "--out", "out"])
        }
        _ => vecud.arg(command).arg(fmu).args(arguments),
    };
    vecud.current_dir(folder).env("VECUD_CACHE", cache());
    vecud.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    vecud
}

/// Starts it, kills it when something has come, and waits until something else has.
fn kill(mut command: Command, what: &str, when: impl FnMut() -> bool, until: impl FnMut() -> bool) {
    let mut child = command.spawn().unwrap();
    wait_until(&format!("{what}: it is at work"), when);
    send(child.id() as i32, Signal::SIGKILL);
    child.wait().unwrap();
    wait_until(&format!("{what}: nothing is left"), until);
}

#[test]
fn an_fmu_ends_with_a_vecud_that_is_killed() {
    shared_core(|| {
        for way in WAYS {
            let folder = tempdir().unwrap();
            let (fmu, pids) = (copied_tracer(&folder.path().join("fmu")), folder.path().join("pids"));
            let source = fmu.join("sources/fmu.c");
            let text = std::fs::read_to_string(&source).unwrap();
            std::fs::write(&source, text + &HANG.replace("PIDS", pids.to_str().unwrap())).unwrap();
            let started = || std::fs::read_to_string(&pids).unwrap_or_default();
            let running = || started().lines().any(|pid| Path::new("/proc").join(pid).join("exe").exists());
            let is_there = || started().contains('\n');
            kill(vecud(folder.path(), &fmu, way), &format!("{way:?}"), is_there, || !running());
        }
    });
}

/// Compilers are asked what they are before they compile. The folder that one has worked in goes with the next build.
#[test]
fn a_compiler_ends_with_a_vecud_that_is_killed_and_its_folder_with_the_next_build() {
    let stages = ["*--version*", "*-print-search-dirs*", "*.c*"].into_iter().cycle();
    for (way, stage) in WAYS.into_iter().zip(stages) {
        let folder = tempdir().unwrap();
        let (mark, compiler) = (folder.path().join("at-work"), folder.path().join("compiler"));
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in {stage}) sh -c 'sleep 1000; exit 1' {}; esac\nexec cc \"$@\"\n",
            mark.display()
        );
        std::fs::write(&compiler, script).unwrap();
        std::fs::set_permissions(&compiler, PermissionsExt::from_mode(0o755)).unwrap();
        let fmu = copied_tracer(&folder.path().join("fmu"));
        let mut command = vecud(folder.path(), &fmu, way);
        let own_cache = folder.path().join("cache");
        command.env("CC", &compiler).env("VECUD_CACHE", &own_cache);
        kill(command, &format!("{stage} {way:?}"), || at_work(&mark), || !at_work(&mark));
        let half_built = || {
            let entries = std::fs::read_dir(&own_cache).into_iter().flatten();
            let paths = entries.map(|entry| entry.unwrap().path());
            paths.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp")))
        };
        for path in half_built() {
            let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(120);
            std::fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
        }
        let mut next = vecud(folder.path(), &fmu, ("call", &["-c", "GetVersion"]));
        assert!(next.env("VECUD_CACHE", &own_cache).status().unwrap().success());
        assert_eq!(half_built().count(), 0);
    }
}

/// Whether a process runs whose last argument this is.
fn at_work(mark: &Path) -> bool {
    let end = [mark.as_os_str().as_encoded_bytes(), b"\0"].concat();
    let lines =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.ends_with(&end) && line.starts_with(b"sh\0-c\0sleep"))
}
