//! What the host adds to every activation and every lock, in nanoseconds: `cargo bench --bench hot_path`.
//!
//! The lock is measured by an FMU inside its partition, so that everything in the callbacks counts; the rest here, in a
//! child process whose kernel kills it at the first system call. Each figure is the least of several repetitions:
//! interrupts only ever add. Exit code 1 when the lock costs more than twice a bare word.

#[path = "results.rs"]
mod results;

use results::Results;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicU64;
use vecud::exchange::{LaneShape, Latest, Stamp, Versions};
use vecud::record::ring::RingPlace;
use vecud::record::trace::note::WIDTH;
use vecud::record::trace::{Note, notes};
use vecud::sys::cycles::{TickScale, ticks};
use vecud::sys::pi::PiWord;
use vecud::sys::preemption::{LockMember, PreemptionLock};
use vecud::sys::thread::current_tid;
use vecud::time::{Fraction, Instant};

const ROUNDS: u64 = 1_000_000;
const REPETITIONS: usize = 7;
/// What the lock may cost, in bare pairs.
const AT_MOST: f64 = 2.0;

fn main() -> ExitCode {
    results::run(measure)
}

fn measure() -> Result<bool, String> {
    let scale = TickScale::calibrate(50_000_000);
    let lock = PreemptionLock::new(8, None).expect("eight levels");
    let cell = Latest::new(1);
    // A thread's id is its own, so all of it happens in the child.
    let mut results = Results::new("hot_path");
    let mut show = |what: &str, body: &mut dyn FnMut(u32, &LockMember)| {
        let nanos = without_system_calls(|| {
            let (tid, me) = (current_tid(), LockMember::new(3, None));
            move || {
                let once = |_| {
                    let before = ticks();
                    (0..ROUNDS).for_each(|_| body(tid, &me));
                    scale.nanos(ticks() - before)
                };
                (0..REPETITIONS).map(once).min().unwrap_or(0) as f64 / ROUNDS as f64
            }
        });
        match nanos {
            Some(nanos) => {
                println!("{what:<52} {nanos:7.1} ns");
                results.note(what, nanos, "ns", None);
            }
            None => {
                println!("{what:<52} made a system call");
                results.broken();
            }
        }
    };
    let word = PiWord::new();
    show("bare PI word: lock + unlock", &mut |tid, _| {
        black_box(&word).lock(tid);
        black_box(&word).unlock(tid);
    });
    show("gate of an activation: enter + leave", &mut |_, me| {
        black_box(&lock).enter(me, || {});
        black_box(&lock).leave(me);
    });
    let mut value = 0;
    show("exchange of a scalar: write + read", &mut |_, _| {
        value += 1;
        black_box(&cell).write(|_| value);
        black_box(&cell).read(|_, word| value = black_box(word));
    });
    // Producer and consumer of a millisecond, as a rig would have them.
    let millisecond = Fraction::new(1, 1000).expect("it is one");
    let shape = LaneShape { positions: 103, releases: vec![(Instant::ZERO, millisecond)] };
    let (versions, mut k) = (Versions::new(1, &[shape], 1), 0);
    let mut reader = versions.reader(0);
    let mut activation = Instant::ZERO;
    show("delayed exchange of a scalar: write + read", &mut |_, _| {
        k += 1;
        let visible = Instant::ZERO.after_many(millisecond, k);
        black_box(&versions).write_with(0, Stamp { visible, activation }, |words| words.set(0, k));
        black_box(&versions).read_with(visible, &mut reader, |words| value = black_box(words.get(0)));
        black_box(versions.missed_before(&reader));
        activation = visible;
    });
    // What real time adds to each activation to tell where its time went: two stamps, two notes, two comparisons. The
    // supervisor's part, reading them, is in it.
    let mut end = 0;
    let place = RingPlace::after(&mut end, 8192, 2 * WIDTH);
    let words: Vec<AtomicU64> = (0..end).map(|_| AtomicU64::new(0)).collect();
    let ring = place.ring(&words);
    let mut worst = [0, 0];
    show("where the time went: stamps and notes, read", &mut |_, _| {
        let before = black_box(ticks());
        let inside = scale.nanos(black_box(ticks()).wrapping_sub(before)) as i64;
        let [start, end] = [black_box(before as i64), black_box(before as i64 + inside)];
        let (time, flow, retimed) = (start, 0, false);
        let activated =
            Note::Activated { time, release: start, woken: start, start, end, execution: inside, flow, retimed };
        let spent = Note::Spent {
            jitter: Some(inside),
            preempted: 0,
            blocked: 0,
            set_get: 400,
            host: Some(inside),
            machine: 0,
        };
        black_box(notes::push(&ring, [&activated, &spent]));
        for note in notes::take(&ring) {
            black_box(note);
        }
        for worst in &mut worst {
            *worst = inside.max(black_box(*worst));
        }
    });
    show("note for the trace: write + read", &mut |_, _| {
        value += 1;
        notes::push(&ring, [&Note::Locked { since: value, until: value, waited: 0, nested: 0, leaked: false }]);
        for note in notes::take(&ring) {
            black_box(note);
        }
    });
    match lock_in_an_fmu("lock.toml") {
        Ok((pair, bare)) => {
            println!("{:<52} {bare:7.1} ns", "in an FMU, bare PI word: lock + unlock");
            println!("{:<52} {pair:7.1} ns", "in an FMU, lockPreemption + unlockPreemption");
            println!("{:<52} {:7.2}    (at most {AT_MOST})", "ratio", pair / bare);
            results.note("bare pair of lock and unlock in an FMU", bare, "ns", None);
            results.note("pair of lock and unlock in an FMU, in bare pairs", pair / bare, "", Some(AT_MOST));
        }
        Err(why) => {
            println!("the lock was not measured: {why}");
            results.broken();
        }
    }
    match lock_in_an_fmu("lock_traced.toml") {
        Ok((pair, _)) => println!("{:<52} {pair:7.1} ns", "the same, noted for the trace"),
        Err(why) => println!("the lock with a trace was not measured: {why}"),
    }
    results.write()
}

/// Lock and bare pair as the tracer measured them in a run of a rig in `bench/`.
fn lock_in_an_fmu(rig: &str) -> Result<(f64, f64), String> {
    let out = std::env::temp_dir().join(format!("vecud-bench-{}", std::process::id()));
    let rig = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("bench").join(rig);
    let run =
        Command::new(env!("CARGO_BIN_EXE_vecud")).arg("run").arg(rig).args(["--quiet", "--out"]).arg(&out).output();
    let run = run.map_err(|error| error.to_string())?;
    let signals = std::fs::read_to_string(out.join("signals.csv")).map_err(|error| error.to_string());
    let _ = std::fs::remove_dir_all(&out);
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned());
    }
    let signals = signals?;
    let last = signals.lines().last().unwrap_or_default();
    let values: Vec<f64> = last.split(',').filter_map(|value| value.parse().ok()).collect();
    match values[..] {
        [_, pair, bare] => Ok((pair, bare)),
        _ => Err(format!("signals.csv ends in {last:?}")),
    }
}

/// From here on the kernel kills this process at any system call but `write` and `exit`.
fn forbid_system_calls() -> bool {
    // Not the strict mode, which forbids reading the time stamp counter as well.
    let load_number =
        libc::sock_filter { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: 0 };
    let allow = |number: i64, jt| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt,
        jf: 0,
        k: number as u32,
    };
    let answer = |k| libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k };
    let mut filter = [
        load_number,
        allow(libc::SYS_write, 2),
        allow(libc::SYS_exit, 1),
        answer(libc::SECCOMP_RET_KILL_PROCESS),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its instructions live until the call returns; the kernel copies them.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}

/// What `prepare` makes is run in a process that may do nothing but compute and write its result; `None` when it did
/// something else.
fn without_system_calls<F: FnOnce() -> f64>(prepare: impl FnOnce() -> F) -> Option<f64> {
    let mut pipe = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0, "a pipe");
    // SAFETY: this program has one thread, so the child may do whatever this one may.
    match unsafe { libc::fork() } {
        0 => {
            let work = prepare();
            let nanos = if forbid_system_calls() { work() } else { f64::NAN };
            let bytes = nanos.to_ne_bytes();
            // SAFETY: writes eight bytes that live here; then ends the only thread, and with it the process.
            unsafe {
                libc::write(pipe[1], bytes.as_ptr().cast(), bytes.len());
                libc::syscall(libc::SYS_exit, 0);
            }
            unreachable!("the process has ended");
        }
        -1 => panic!("no child process"),
        child => {
            let mut bytes = [0; 8];
            // SAFETY: closes a descriptor that is ours, reads into a buffer of that size, and reaps the child.
            let read = unsafe {
                libc::close(pipe[1]);
                let read = libc::read(pipe[0], bytes.as_mut_ptr().cast(), bytes.len());
                libc::close(pipe[0]);
                libc::waitpid(child, std::ptr::null_mut(), 0);
                read
            };
            let nanos = f64::from_ne_bytes(bytes);
            (read == 8 && nanos.is_finite()).then_some(nanos)
        }
    }
}
