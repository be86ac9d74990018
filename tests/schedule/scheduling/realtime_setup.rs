//! What the operating system says of a run while it runs: as root, and as somebody without any privilege.

use crate::program::clock::{EQUAL_A, EQUAL_B, FAST, SLOW};
use crate::program::{Kind, Rig, check_threads, jail, real_time, runner_of, send, shared_core, skipped, user};
use crate::wait_until_recorded;
use nix::sys::signal::Signal::SIGINT;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn rig() -> Rig {
    Rig::new("stop_time = 100")
        .tracer("a", "equal_a_burn_us = 40, equal_b_burn_us = 60")
        .tracer("b", "equal_a_tick_low_every = 3")
        .trigger("a.out_high", "a.high")
        .trigger("b.out_high", "b.high")
        .trigger("a.out_low", "b.low")
        .trigger("b.out_low", "a.low")
        .connect("a.out_f64", "b.in_f64")
}

/// What the kernel says of one thread.
#[derive(Debug)]
struct Thread {
    policy: i32,
    priority: i32,
    allowed: String,
    blocked: u64,
}

fn threads(process: i32) -> BTreeMap<String, Thread> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    tasks
        .map(|task| {
            let path = task.unwrap().path();
            let name = fs::read_to_string(path.join("comm")).unwrap().trim_end().to_owned();
            let stat = fs::read_to_string(path.join("stat")).unwrap();
            // Behind the name: state is the third of all fields; rt_priority the 40th, policy the 41st.
            let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
            let status = fs::read_to_string(path.join("status")).unwrap();
            let field = |name: &str| line(&status, name).to_owned();
            let thread = Thread {
                policy: fields[38].parse().unwrap(),
                priority: fields[37].parse().unwrap(),
                allowed: field("Cpus_allowed_list:"),
                blocked: u64::from_str_radix(&field("SigBlk:"), 16).unwrap(),
            };
            (name, thread)
        })
        .collect()
}

fn line<'a>(text: &'a str, name: &str) -> &'a str {
    text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name} in {text}")).trim()
}

/// `sched_getscheduler` of a thread, with the flag that /proc does not show.
fn resets_on_fork(process: i32, name: &str) -> bool {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap().map(|task| task.unwrap().path());
    let of = |path: &Path| fs::read_to_string(path.join("comm")).unwrap().trim_end() == name;
    let path = tasks.into_iter().find(|path| of(path)).unwrap();
    let tid: u32 = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
    vecud::sys::scheduling::scheduling_of(tid).unwrap().reset_on_fork
}

/// The rows of `vecud check`: FIFO priority, core and thread of each task.
fn planned(rig: &Rig) -> Vec<(String, i32, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    let output = command.arg("check").arg(rig.file()).env("VECUD_CACHE", crate::program::cache()).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines().skip_while(|line| !line.contains("FIFO  core  thread"));
    let title = lines.next().expect("a table of tasks");
    let at = |name: &str| title.find(name).unwrap();
    // Columns of numbers are right-aligned: the word that ends where the title ends.
    let number = |line: &str, name: &str| {
        let end = at(name) + name.len();
        line.chars().take(end).collect::<String>().split_whitespace().last().unwrap().to_owned()
    };
    let thread = |line: &str| line.chars().skip(at("thread")).collect::<String>();
    lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let name = thread(line).split_whitespace().next().unwrap().to_owned();
            (name, number(line, "FIFO").parse().unwrap(), number(line, "core"))
        })
        .collect()
}

#[test]
fn threads_and_memory_are_what_check_promises() {
    real_time("threads_and_memory_are_what_check_promises", || {
        let rig = rig();
        let planned = planned(&rig);
        assert_eq!(planned.len(), 14);
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let runner = runner_of(&child);
        let threads = threads(runner);
        let status = fs::read_to_string(format!("/proc/{runner}/status")).unwrap();
        let files: Vec<String> = fs::read_dir(format!("/proc/{runner}/fd"))
            .unwrap()
            .filter_map(|entry| Some(fs::read_link(entry.ok()?.path()).ok()?.display().to_string()))
            .collect();
        let reset = planned.iter().all(|(name, ..)| resets_on_fork(runner, name));
        wait_until_recorded(&rig.out(), "time", 0.5);
        send(child.id() as i32, SIGINT);
        let run = rig.finish(child).exits(0);

        for (name, priority, core) in &planned {
            let thread = threads.get(name).unwrap_or_else(|| panic!("no thread {name}: {threads:#?}"));
            assert_eq!((thread.policy, thread.priority), (libc::SCHED_FIFO, *priority), "{name}");
            assert_eq!(thread.allowed, *core, "{name} is pinned");
            // SIGTERM and SIGINT, at least, are not for partitions.
            assert_eq!(thread.blocked >> (libc::SIGTERM - 1) & 1, 1, "{name}");
            assert_eq!(thread.blocked >> (libc::SIGINT - 1) & 1, 1, "{name}");
        }
        assert!(reset, "FMU-made threads do not inherit FIFO");
        let fifo = threads.values().filter(|thread| thread.policy == libc::SCHED_FIFO).count();
        assert_eq!(fifo, planned.len(), "nobody else is a real-time thread: {threads:#?}");
        let reported: Vec<(String, i32)> = run.report()["clocks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|clock| {
                (clock["thread"].as_str().unwrap().to_owned(), clock["fifo_priority"].as_i64().unwrap() as i32)
            })
            .collect();
        let expected: Vec<(String, i32)> = planned.iter().map(|(name, fifo, _)| (name.clone(), *fifo)).collect();
        assert_eq!(reported, expected, "the report says the same as check");
        for fmu in ["a", "b"] {
            let broken = check_threads(&run.trace(fmu));
            assert!(broken.is_empty(), "{broken:?}");
        }

        let host = &run.report()["host"];
        assert_eq!(host["scheduling"], "fifo");
        let kilobytes = |name: &str| line(&status, name).trim_end_matches(" kB").trim().parse::<u64>().unwrap();
        if host["memory_locked"] == true {
            assert!(kilobytes("VmLck:") > kilobytes("VmRSS:") / 2, "{status}");
        } else {
            skipped("threads_and_memory_are_what_check_promises", &"memory cannot be locked here");
        }
        if Path::new("/dev/cpu_dma_latency").exists() && host["dma_latency_held"] == true {
            assert!(files.iter().any(|file| file == "/dev/cpu_dma_latency"), "{files:?}");
        } else {
            skipped("threads_and_memory_are_what_check_promises", &"no /dev/cpu_dma_latency to be held");
        }
    });
}

/// The command as somebody without any privilege, by a program that nobody may read.
fn as_nobody(rig: &Rig) -> Command {
    let program = rig.folder().join("vecud");
    fs::copy(env!("CARGO_BIN_EXE_vecud"), &program).unwrap();
    // The FMUs are built by now, by whom may write there; nobody only uses them.
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(&program, 0o111);
    open(rig.folder(), 0o1777);
    let mut command = rig.command_of(&program);
    command.env("VECUD_CACHE", rig.folder().join("cache")).env("TMPDIR", rig.folder());
    if user::is_root() {
        jail::become_nobody(&mut command, None);
    }
    command
}

/// An ordinary user's run: what it says, and that its results are those of a privileged one.
#[test]
fn without_privileges_the_run_is_cooperative_loud_and_right_as_this_user() {
    shared_core(|| {
        // Nobody must be able to read the FMUs: a copy in the rig's folder.
        let folder = crate::program::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let path = crate::program::changed_tracer(folder.path(), "fmu.c", &[]);
        let rig = Rig::new("stop_time = 0.6")
            .fmu("a", path.clone(), "equal_a_burn_us = 40, equal_b_burn_us = 60, fast_tick_high_every = 4", "")
            .fmu("b", path, "equal_a_tick_low_every = 3", "")
            .trigger("a.out_high", "a.high")
            .trigger("b.out_high", "b.high")
            .trigger("a.out_low", "b.low")
            .trigger("b.out_low", "a.low")
            .connect("a.out_f64", "b.in_f64");
        if !user::can_do_without_real_time("without_privileges_the_run_is_cooperative_loud_and_right_as_this_user") {
            return;
        }
        let run = rig.finish(rig.start(as_nobody(&rig))).exits(0);

        let host = &run.report()["host"];
        assert_eq!((&host["scheduling"], &host["dma_latency_held"]), (&"cooperative".into(), &false.into()), "{host}");
        let first: String = run.stderr.lines().filter(|line| !line.starts_with("note: ")).take(3).collect();
        assert!(first.contains("NO REAL-TIME PRIORITY") && first.contains("cooperative"), "{}", run.stderr);
        assert!(first.contains("setcap") && first.contains("cap_sys_nice"), "one command: {}", run.stderr);
        run.problem(&["NO REAL-TIME PRIORITY"]);
        assert!(run.stdout.contains("ooperative"), "the summary too: {}", run.stdout);

        for fmu in ["a", "b"] {
            let trace = run.trace(fmu);
            let (seen, broken) = trace.check(Kind::OneAtATime);
            assert!(broken.is_empty(), "{broken:#?}");
            assert_eq!(seen.preemptions, 0);
            assert!(check_threads(&trace).is_empty());
            let broken = run.check_counts(fmu, 600);
            assert!(broken.is_empty(), "{broken:#?}");
            // The grid is the one of any run: k · period.
            for (clock, period) in [(FAST, 1), (EQUAL_A, 2), (EQUAL_B, 3), (SLOW, 10)] {
                let grid: Vec<f64> = (0..600u32.div_ceil(period)).map(|k| f64::from(k * period) / 1000.0).collect();
                let times = trace.activations(clock);
                assert!(times.iter().all(|time| grid.contains(time)), "{fmu} {clock}");
                assert_eq!(times[0], 0.0);
            }
            assert_eq!(run.signals().last(&format!("{fmu}.violations")), 0);
        }
    });
}
