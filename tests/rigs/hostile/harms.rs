//! Each harm that the hostile FMU can do (fmu/sources/harm.c), at each place where it can do it.

use crate::hostile::judge;
use crate::program::{Random, shared_core};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A harm and what has to come of it.
struct Harm {
    name: &'static str,
    /// It keeps the function from returning a good status, so that the run fails wherever the harm is done before its end.
    fatal: bool,
}

const fn fatal(name: &'static str) -> Harm {
    Harm { name, fatal: true }
}

const fn bearable(name: &'static str) -> Harm {
    Harm { name, fatal: false }
}

const HARMS: &[Harm] = &[
    fatal("null_write"),
    fatal("null_call"),
    fatal("wild_write"),
    fatal("odd_write"),
    fatal("read_only_write"),
    fatal("division"),
    fatal("trap"),
    fatal("aborts"),
    fatal("past_the_file"),
    fatal("stack_overflow"),
    fatal("double_free"),
    fatal("heap_smash"),
    bearable("own_memory"),
    fatal("exit_0"),
    fatal("exit_2"),
    fatal("quick_exit_0"),
    fatal("exit_at_once"),
    fatal("thread_exit"),
    fatal("spin"),
    fatal("sleep_on"),
    fatal("lock_twice"),
    fatal("raise_stop"),
    bearable("raise_term"),
    bearable("raise_int"),
    fatal("raise_kill"),
    bearable("raise_pipe"),
    bearable("raise_quit"),
    bearable("raise_usr1"),
    bearable("parent_term"),
    bearable("parent_int"),
    bearable("alarm_rings"),
    bearable("block_signals"),
    bearable("ignore_signals"),
    fatal("ignore_then_crash"),
    bearable("closes_files"),
    bearable("closes_output"),
    bearable("changes_folder"),
    bearable("no_more_files"),
    bearable("no_more_memory"),
    bearable("no_file_size"),
    bearable("strict_umask"),
    bearable("child_that_ends"),
    bearable("child_that_stays"),
    bearable("child_that_spins"),
    bearable("daemon_that_stays"),
    bearable("prints_much"),
    bearable("prints_bytes"),
    bearable("unlocks_memory"),
    bearable("ordinary_thread"),
    bearable("urgent_thread"),
    bearable("other_core"),
    bearable("renames_thread"),
    bearable("not_dumpable"),
    bearable("log_null"),
    bearable("log_format"),
    bearable("log_odd"),
    bearable("log_long"),
    bearable("log_flood"),
    bearable("locks"),
    bearable("unlocks"),
    bearable("updates"),
    bearable("updates_nowhere"),
    bearable("logs_nowhere"),
    bearable("warning"),
    fatal("discard"),
    fatal("error"),
    fatal("fatal"),
    fatal("unknown_status"),
    fatal("negative_status"),
];

/// Where harm is done, in the order of a run. What comes back from `load`, `free` and `unload` is no status.
const PLACES: &[&str] = &[
    "load",
    "instantiate",
    "enter",
    "exit",
    "set",
    "get",
    "get_clock",
    "get_interval",
    "activate",
    "thread",
    "terminate",
    "free",
    "unload",
];

/// Runs the rig with this harm.
fn suffer(mode: &str, place: &str, harm: &Harm) {
    let rig = crate::hostile::rig(mode);
    let mut command = rig.command();
    command.env("VECUD_HOSTILE", format!("{place} {}", harm.name));
    let what = format!("{} in {place}, {mode}", harm.name);
    let judged = judge::start(&rig, command).judge(&what);
    let status = harm.name.ends_with("status") || ["discard", "error", "fatal"].contains(&harm.name);
    // A thread of the FMU's own may do what concerns only itself, and a run in virtual time may be over before it does anything.
    let alone = status || ["thread_exit", "spin", "sleep_on", "lock_twice"].contains(&harm.name);
    let own_thread = place == "thread" && (alone || mode == "virtual");
    let after_the_run = ["free", "unload"].contains(&place);
    let no_status = status && (place == "load" || place == "instantiate");
    if harm.fatal && !own_thread && !after_the_run && !no_status {
        assert_eq!(judged.code, Some(1), "{what}\n{}", judged.stderr);
        let problems = judged.report.unwrap()["problems"].to_string();
        // Whoever sends SIGKILL, the kernel tells nobody who it was; nor who sends SIGSTOP, and then no call of ours is under way.
        let unseen = harm.name == "raise_kill" || (harm.name == "raise_stop" && place == "thread");
        let nobody_knows = place == "load" || unseen;
        assert!(problems.contains("bad") || nobody_knows, "{what}: nobody is named in {problems}");
    }
}

/// Runs these in virtual time two at a time, then in real time one after the other.
fn suffer_all(choices: &[(usize, usize)]) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((place, harm)) = choices.get(next.fetch_add(1, SeqCst)) {
                    suffer("virtual", PLACES[*place], &HARMS[*harm]);
                }
            });
        }
    });
    shared_core(|| {
        for (place, harm) in choices {
            suffer("realtime", PLACES[*place], &HARMS[*harm]);
        }
    });
}

fn place(name: &str) -> usize {
    PLACES.iter().position(|place| *place == name).unwrap()
}

fn harm(name: &str) -> usize {
    HARMS.iter().position(|harm| harm.name == name).unwrap()
}

#[test]
fn whatever_an_activation_does_there_is_a_report_and_nothing_is_left() {
    let mut choices: Vec<_> = (0..HARMS.len()).map(|harm| (place("activate"), harm)).collect();
    if !crate::hostile::all() {
        let mut random = Random(14);
        choices.retain(|_| random.one_in(2));
    }
    suffer_all(&choices);
}

#[test]
fn wherever_an_fmu_crashes_hangs_or_exits_it_is_named() {
    for name in ["null_write", "exit_0", "spin"] {
        let choices: Vec<_> = (0..PLACES.len()).map(|place| (place, harm(name))).collect();
        suffer_all(&choices);
    }
}

/// Of a thread that an FMU has made nobody knows whose it is, and nothing tells which thread called `_exit`, or crashed
/// where our handlers were taken away.
#[test]
fn an_end_by_a_thread_of_an_fmus_own_is_not_put_on_another_fmu() {
    let place = place("thread");
    shared_core(|| {
        for name in ["exit_0", "quick_exit_0", "exit_at_once", "null_write", "ignore_then_crash"] {
            suffer("realtime", PLACES[place], &HARMS[harm(name)]);
        }
    });
}

#[test]
fn any_harm_at_any_place_ends_in_an_orderly_way() {
    let every = || (0..PLACES.len()).flat_map(|place| (0..HARMS.len()).map(move |harm| (place, harm)));
    let mut random = Random(1414);
    let choices: Vec<_> = every().filter(|_| crate::hostile::all() || random.one_in(24)).collect();
    suffer_all(&choices);
}
