//! FMU code that writes over the memory which the host's processes share. The runner may come to any harm, since that is the
//! FMU's own process. The supervisor ends in good time, with a documented exit code, in bounded memory and without a panic,
//! and what it leaves is a report that reads.

use crate::program;

use nix::sys::signal::Signal;
use program::{Outcome, PATIENCE, Rig, copied_tracer, send, shared_core, wait_until};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use vecud::record::board::{Board, Global, Layout, Phase, Scheduling, SupervisorView};

/// What the supervisor may have of address space, KiB: far more than it needs, far less than what grows without bounds.
const ADDRESSES: u64 = 2 << 20;

/// A tracer that stores words over the shared memory when the environment has a seed for it.
fn stray_writer(folder: &std::path::Path) -> PathBuf {
    let fmu = copied_tracer(&folder.join("stray_writer"));
    let sources = fmu.join("sources");
    std::fs::write(sources.join("stores.c"), include_str!("stores.c")).unwrap();
    for (file, before, after) in [
        (
            "buildDescription.xml",
            "<SourceFile name=\"cost.c\"/>",
            "<SourceFile name=\"cost.c\"/><SourceFile name=\"stores.c\"/>",
        ),
        (
            "failures.c",
            "const struct activation *activation)\n{\n",
            "const struct activation *activation)\n{\n    extern void stray_writes(void);\n    stray_writes();\n",
        ),
    ] {
        let path = sources.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(before), "{file} has no {before}");
        std::fs::write(path, text.replace(before, after)).unwrap();
    }
    fmu
}

/// Runs it with this seed, and looks at what everybody may rely on.
fn survives(seed: u64) -> Outcome {
    // Of four seeds two are in real time; a file of events and a trace of everything come with some.
    let (real_time, traced) = (seed / 2 % 2 == 1, seed / 4 % 2 == 1);
    let mode = if real_time { "realtime" } else { "virtual" };
    let rig = Rig::new(&format!("mode = '{mode}'\nstop_time = 0.1\nshutdown_timeout = 0.3"));
    let fmu = stray_writer(rig.folder());
    std::fs::write(rig.folder().join("feed.csv"), "time,a.in_f64\n0,1\n0.02,2\n0.05,3\n").unwrap();
    let trace = if traced { "all" } else { "flight" };
    let start = "fast_tick_high_every = 2, slow_tick_low_every = 1, fast_lock_every = 1, arm_every = 1";
    let rig = rig.fmu("a", fmu, start, "").trigger("a.out_high", "a.high").trigger("a.out_low", "a.low").more(&format!(
        "[trace]\nmode = '{trace}'\n[record]\nsignals = ['*']\nformat = ['csv', 'mcap']\n[[stimulus]]\nfile = 'feed.csv'"
    ));
    let direct = rig.command();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {ADDRESSES}; exec \"$0\" \"$@\"")]);
    command.arg(direct.get_program()).args(direct.get_args()).env("STRAY_WRITES", seed.to_string());
    command.env("VECUD_CACHE", program::cache()).env("RUST_BACKTRACE", "1").stdin(std::process::Stdio::null());
    let run = rig.finish(rig.start(command));
    let said = format!("seed {seed}: exit code {}\n{}\n{}", run.code, run.stderr, run.stdout);
    assert!((0..=3).contains(&run.code), "{said}");
    assert!(!run.stderr.contains("panicked"), "{said}");
    assert!(run.out.join("report.json").exists(), "{said}");
    run.report();
    let again = Command::new(env!("CARGO_BIN_EXE_vecud")).arg("report").arg(&run.out).output().unwrap();
    let text = String::from_utf8_lossy(&again.stderr);
    assert!([0, 1, 3].contains(&again.status.code().unwrap_or(-1)) && !text.contains("panicked"), "{said}\n{text}");
    run
}

/// `VECUD_STRAY_WRITES=100..600` tries other seeds.
fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("VECUD_STRAY_WRITES").ok();
    let given =
        given.and_then(|text| text.split_once("..").map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap())));
    given.map_or(0..32, |(from, to)| from..to)
}

#[test]
fn words_stored_over_the_shared_memory_leave_a_report_that_reads() {
    shared_core(|| {
        let (mut failed, mut noticed) = (Vec::new(), 0);
        for seed in seeds() {
            match std::panic::catch_unwind(|| survives(seed)) {
                Ok(run) => {
                    let damaged =
                        run.problems().iter().any(|problem| problem.contains("shared memory was overwritten"));
                    assert!(!damaged || run.code == 1, "seed {seed}: {}", run.code);
                    noticed += u32::from(damaged);
                }
                Err(_) => failed.push(seed),
            }
        }
        assert!(failed.is_empty(), "seeds {failed:?}");
        assert!(noticed > 0, "no stray write was noticed");
    });
}

/// What cannot be true is taken away at once, so what is read afterwards is within bounds.
#[test]
fn what_cannot_be_true_is_found_and_gone() {
    for mode in ["virtual", "realtime"] {
        let rig = Rig::new(&format!("mode = '{mode}'\nstop_time = 1"))
            .tracer("a", "")
            .tracer("b", "")
            .connect("a.out_f64", "b.in_f64");
        let options =
            vecud::supervisor::Options { file: rig.file(), cache: Some(program::cache()), ..Default::default() };
        let plan = vecud::supervisor::plan(&options, &Default::default()).unwrap().plan;
        let layout = Layout::of(&plan);
        let known = SupervisorView { elapsed: 1_000_000_000, phase: Phase::Running, stop_requested: false };
        let examine = |fill: &dyn Fn(usize) -> u64| {
            let words: Vec<AtomicU64> = (0..layout.words()).map(|index| AtomicU64::new(fill(index))).collect();
            let copy: Vec<AtomicU64> = (0..layout.words()).map(|_| AtomicU64::new(0)).collect();
            let board = Board::new(&copy, &layout);
            Board::new(&words, &layout).copy_to(board);
            let found = board.examine(&plan, known);
            assert_eq!(board.examine(&plan, known), Vec::<String>::new(), "nothing is left");
            found
        };
        let scheduling = if mode == "virtual" { Scheduling::Virtual } else { Scheduling::Fifo };
        let said = |index: usize| match index {
            _ if index == Global::Phase as usize => Phase::Running as u64,
            _ if index == Global::Scheduling as usize => scheduling as u64 + 1,
            _ => 0,
        };
        assert_eq!(examine(&said), Vec::<String>::new());
        assert!(examine(&|_| 0).contains(&"Scheduling".to_owned()), "it was emptied");
        let mut random = program::Random(7);
        let noise: Vec<u64> = (0..layout.words()).map(|_| random.below(u64::MAX)).collect();
        for fill in
            [&|_| (-1.0f64).to_bits(), &|_| u64::MAX, &|index: usize| noise[index]] as [&dyn Fn(usize) -> u64; 3]
        {
            let found = examine(fill);
            for name in ["Start", "fmu b: Warnings", "clock a.fast: Activations", "clock b.low: response"] {
                assert!(found.iter().any(|found| found == name), "{name} is not among {found:#?}");
            }
        }
    }
}

/// Nobody reads what the program has to say, so it waits for ever, whatever it was doing before.
#[test]
fn a_second_signal_ends_the_supervisor_whatever_it_does() {
    let rig = Rig::new("mode = 'virtual'\nstop_time = 0.01").tracer("a", "");
    let (_reader, mut writer) = std::io::pipe().unwrap();
    nix::fcntl::fcntl(&writer, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK)).unwrap();
    while std::io::Write::write(&mut writer, &[b'x'; 1]).is_ok() {}
    nix::fcntl::fcntl(&writer, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::empty())).unwrap();
    let mut child = rig.command().stdout(writer).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_until("the report is there", || rig.out().join("junit.xml").exists());
    std::thread::sleep(Duration::from_millis(300));
    let (began, process) = (Instant::now(), child.id() as i32);
    send(process, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "one signal asks for the end of the run");
    send(process, Signal::SIGTERM);
    wait_until("it has ended", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(began.elapsed() < PATIENCE);
}

/// Each in a run of its own: the recording, the log, the trace of everything.
#[test]
fn a_recording_that_is_taken_away_fails_the_run() {
    shared_core(|| {
        let remove = |path: &std::path::Path| std::fs::remove_file(path).unwrap();
        let replace = |path: &std::path::Path| {
            std::fs::write(path.with_extension("other"), "").unwrap();
            std::fs::rename(path.with_extension("other"), path).unwrap();
        };
        let cut = |path: &std::path::Path| std::fs::File::options().write(true).open(path).unwrap().set_len(1).unwrap();
        type Harm<'a> = &'a dyn Fn(&std::path::Path);
        let ways: [(&str, Harm, &str); 5] = [
            ("signals.csv", &remove, "was removed"),
            ("signals.mcap", &replace, "was replaced"),
            ("signals.csv", &cut, "was cut"),
            ("run.log", &remove, "was removed"),
            ("trace.json", &remove, "was removed"),
        ];
        for (name, harm, word) in ways {
            let rig = Rig::new("stop_time = 1.0").tracer("a", "");
            let rig = rig.more("[trace]\nmode = 'all'\n[record]\nsignals = ['*']\nformat = ['csv', 'mcap']");
            let child = rig.start(rig.command());
            let file = rig.out().join(name);
            wait_until("it is there", || {
                std::fs::metadata(&file).is_ok_and(|file| file.len() > 100 || name == "run.log")
            });
            harm(&file);
            let run = rig.finish(child).exits(1);
            run.problem(&[name, word]);
            assert_eq!(run.report()["verdict"], "fail");
        }
    });
}
