//! FMUs whose code has memory together make their steps one at a time (semantics S34): instances of one library, and those that the rig
//! names.

use super::description;
use crate::program::{Outcome, Rig, own_core, skipped};
use std::fs;
use vecud::sys::affinity::allowed_cpus;

/// A step of `urgent`, s, and one of `slow`: of two that `slow` makes, `urgent` is due in the midst of the second.
const STEPS: (f64, f64) = (0.02, 0.05);
/// How long a step of `slow` waits, at most, until somebody else has begun a step, ns.
const PATIENCE: u32 = 15_000_000;

/// x' = u, by way of a buffer that is not the instance's own. Between writing it and reading it back a step with u = 3 waits until another
/// one has begun one, which has written there.
const SHARED: &str = "
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
struct shared { volatile double scratch; _Atomic int begun; };
static struct shared own, *shared = &own;
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
static void share(void) {
#ifdef FILE_OF_BOTH
    int file = open(FILE_OF_BOTH, O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 4096) == 0) shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
#endif
}
static double through_the_buffer(double u) {
    shared->scratch = u;
    int begun = atomic_fetch_add(&shared->begun, 1) + 1;
    double until = now() + PATIENCE;
    while (u == 3 && shared->begun == begun && now() < until);
    return shared->scratch;
}
";

/// Writes an FMU of FMI 2.0 to a folder of the rig.
fn write(rig: &Rig, folder: &str, defines: &str) {
    let sources = rig.folder().join(folder).join("sources");
    fs::create_dir_all(&sources).unwrap();
    fs::write(rig.folder().join(folder).join("modelDescription.xml"), description("<File name=\"all.c\"/>")).unwrap();
    let changes = [
        ("    m->x += m->gain * m->u * step;", "    m->x += m->gain * through_the_buffer(m->u) * step;"),
        ("    m->x = 1.0;", "    m->x = 1.0;\n    share();"),
    ];
    let patience = if defines.contains("PATIENCE") { String::new() } else { format!("#define PATIENCE {PATIENCE}\n") };
    fs::write(sources.join("all.c"), super::integrator(&format!("{patience}{defines}\n{SHARED}"), &changes)).unwrap();
}

/// A rig of `urgent` and `slow` from these folders, on these cores.
fn rig(folders: [&str; 2], cpus: [usize; 2], keys: &str, of_fmus: &str) -> Rig {
    let fmu = |at: usize, name: &str, step: f64, u: f64| {
        let (folder, cpu) = (folders[at], cpus[at]);
        format!("[fmu.{name}]\npath = '{folder}'\ncpu = {cpu}\nstep = {step}\nstart = {{ u = {u} }}\n{of_fmus}\n")
    };
    let fmus = fmu(0, "urgent", STEPS.0, 2.0) + &fmu(1, "slow", STEPS.1, 3.0);
    Rig::of_text(&format!("[rig]\nstop_time = 0.5\nshutdown_timeout = 0.2\n{keys}\n[record]\n{fmus}"))
}

/// Two instances of one FMU.
fn instances(cpus: [usize; 2], keys: &str, of_fmus: &str) -> Rig {
    let rig = rig(["both", "both"], cpus, keys, of_fmus);
    write(&rig, "both", "");
    rig
}

/// All steps have read back what they have written.
fn is_right(run: &Outcome) -> bool {
    ["urgent", "slow"].map(|fmu| super::last(run, fmu)) == [2.0, 2.5]
}

/// One core on which both are, where the urgent one preempts the slow one, and two on which they run side by side, if there are two.
fn cores(test: &str) -> Vec<[usize; 2]> {
    let cpus: Vec<usize> = allowed_cpus().unwrap().into_iter().collect();
    let last = cpus[cpus.len() - 1];
    match cpus.len() {
        1 => {
            skipped(test, &"on two cores, as there is one");
            vec![[last; 2]]
        }
        _ => vec![[last; 2], [cpus[0], last]],
    }
}

/// The wait stands in the start latency: the slow one takes 15 ms from 50 ms on, and the urgent one is due at 60. In virtual time nobody is
/// in anybody's way.
#[test]
fn instances_of_one_library_make_their_steps_one_at_a_time() {
    for cpus in cores("instances_of_one_library_make_their_steps_one_at_a_time") {
        own_core(|| {
            let rig = instances(cpus, "", "");
            let run = rig.run().exits(0);
            let latest = run.clock("urgent", "step")["start_latency"]["max"].as_u64().unwrap();
            assert!(latest > 2_000_000, "{cpus:?}: {latest}");
            let hints = run.report()["hints"].to_string();
            assert!(hints.contains("while another FMU made steps that it takes turns with"), "{hints}");
            assert!(is_right(&run) && is_right(&rig.run_virtual().exits(0)), "{cpus:?}");
        });
    }
}

/// Without turns the buffer has what the other one has written, and nobody notices: what the turns are for.
#[test]
fn with_parallel_they_find_what_the_other_one_has_left() {
    for cpus in cores("with_parallel_they_find_what_the_other_one_has_left") {
        own_core(|| {
            let rig = instances(cpus, "", "parallel = true");
            let run = rig.run().exits(0);
            assert!(!is_right(&run), "{cpus:?}");
        });
    }
}

/// The step of a group is the first release of its thread to the last call of its last FMU: one turn.
#[test]
fn a_group_takes_turns_with_an_instance_outside_of_it() {
    for cpus in cores("a_group_takes_turns_with_an_instance_outside_of_it") {
        own_core(|| {
            let rig = instances(cpus, "", "");
            write(&rig, "third", "#define OTHER 1");
            let keys = format!("cpu = {}\nstep = {}", cpus[0], STEPS.0);
            let text = fs::read_to_string(rig.file()).unwrap().replace(&keys, "");
            let group = format!("[fmu.third]\npath = 'third'\n[master.g]\nfmus = ['third', 'urgent']\n{keys}\n");
            fs::write(rig.file(), text + &group).unwrap();
            let run = rig.run().exits(0);
            assert!(is_right(&run), "{cpus:?}");
        });
    }
}

/// Two libraries that write to one file: the rig knows.
#[test]
fn others_take_turns_where_the_rig_says_so() {
    let rig_of = |cpus, keys: &str| {
        let rig = rig(["one", "other"], cpus, keys, "");
        let file = rig.folder().join("together");
        for (folder, more) in [("one", ""), ("other", "#define OTHER 1\n")] {
            write(&rig, folder, &format!("{more}#define FILE_OF_BOTH \"{}\"", file.display()));
        }
        rig
    };
    for cpus in cores("others_take_turns_where_the_rig_says_so") {
        own_core(|| {
            let alone = rig_of(cpus, "");
            assert!(!is_right(&alone.run().exits(0)), "{cpus:?}");
            let rig = rig_of(cpus, "serialise = ['slow', 'urgent']");
            assert!(is_right(&rig.run().exits(0)), "{cpus:?}");
        });
    }
}

/// The linker loads a file once, whatever it is called: a link leads to the same library, a copy is another one with a memory of its own.
#[test]
fn a_link_is_the_same_library_and_a_copy_another_one() {
    let said = |rig: &Rig| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
        command.arg("check").arg(rig.file()).env("VECUD_CACHE", crate::program::cache());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let words = "urgent and slow make their steps one at a time: they are instances of one library";
    let both = rig(["both", "link"], [0; 2], "", "");
    write(&both, "both", "");
    super::compile(
        "cc",
        &both.folder().join("both"),
        &["-include", "fmi2Functions.h", "sources/all.c", "-o", "integrator.so"],
    );
    let place = both.folder().join("both/binaries/linux64");
    fs::create_dir_all(&place).unwrap();
    fs::rename(both.folder().join("both/integrator.so"), place.join("integrator.so")).unwrap();
    std::os::unix::fs::symlink(both.folder().join("both"), both.folder().join("link")).unwrap();
    assert!(said(&both).contains(words), "{}", said(&both));
    fs::remove_file(both.folder().join("link")).unwrap();
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .args([both.folder().join("both"), both.folder().join("link")])
        .status();
    assert!(copied.unwrap().success());
    assert!(!said(&both).contains("one at a time"), "{}", said(&both));
    own_core(|| assert!(is_right(&both.run().exits(0))));
}

/// An FMU that does not return keeps the others of its turn from going on, and it alone is to blame.
#[test]
fn an_fmu_that_hangs_in_its_turn_is_named_and_not_those_that_wait_for_it() {
    for cpus in cores("an_fmu_that_hangs_in_its_turn_is_named_and_not_those_that_wait_for_it") {
        own_core(|| {
            let rig = rig(["both", "both"], cpus, "", "");
            write(&rig, "both", "#define PATIENCE 1e18");
            let run = rig.run().exits(1);
            run.problem(&["slow.step was in fmi2DoStep", "the FMU's code hangs"]);
            assert_eq!((run.status("slow").as_str(), run.status("urgent") == "hung"), ("hung", false), "{cpus:?}");
        });
    }
}
