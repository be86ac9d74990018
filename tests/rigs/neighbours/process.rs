//! What all code of a process has together: the locale, the working directory, modes of files, blocked signals, the environment. An FMU that
//! changes it is named, and the others find it as it was.

use super::{last, rig, with};
use crate::program::{Rig, shared_core};
use std::process::Command;

/// A locale with a comma in numbers, made in the rig's folder for `LOCPATH`. `None`: this machine cannot make one.
fn with_a_comma(rig: &Rig) -> Option<&'static str> {
    const NAME: &str = "comma";
    let folder = rig.folder().join(NAME);
    let made = Command::new("localedef").args(["-f", "UTF-8", "-i", "de_DE"]).arg(&folder).output();
    made.is_ok_and(|made| made.status.success()).then_some(NAME)
}

const HEADS: &str = "#include <locale.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/stat.h>\n#include <unistd.h>\n";

/// Everything that can be changed, and what of that another FMU looks at: its gain is 1 if that is as it was, else 0.
const CHANGES: [(&str, &str, &str, &str); 5] = [
    (
        "locale",
        "setlocale(LC_ALL, \"C.UTF-8\");",
        "!strcmp(setlocale(LC_ALL, NULL), \"C\")",
        "changed the locale (setlocale)",
    ),
    ("directory", "chdir(\"/\");", "!access(\"here\", R_OK)", "changed the working directory (chdir)"),
    ("umask", "umask(0777);", "is_usual_umask()", "changed the modes of files that are made (umask)"),
    ("signal_mask", "block();", "!is_blocked()", "changed the signals that the thread blocks"),
    ("environment", "setenv(\"VECUD_TEST\", \"1\", 1);", "!getenv(\"VECUD_TEST\")", "changed the environment (setenv)"),
];

const HELPERS: &str = "
static int is_usual_umask(void) { mode_t own = umask(077); umask(own); return own != 0777; }
static void block(void) { sigset_t own; sigemptyset(&own); sigaddset(&own, SIGUSR2); pthread_sigmask(SIG_BLOCK, &own, NULL); }
static int is_blocked(void) { sigset_t own; pthread_sigmask(SIG_BLOCK, NULL, &own); return sigismember(&own, SIGUSR2); }
";

/// Where FMU code can do something: in its initialiser, when it is instantiated, when it is initialised, in a step, at its end.
const PLACES: [(&str, &str); 5] = [
    ("", "when its library was loaded"),
    ("    m->x = 1.0;\n", "when it was instantiated"),
    ("fmi2ExitInitializationMode(fmi2Component c) {", "when it was initialised"),
    ("    m->x += m->gain", "while the run went on"),
    ("fmi2Terminate(fmi2Component c) {", "when it was ended"),
];

/// `a` changes something at a place, and `b`, which comes after it, has the gain 1 in each step in which it finds it as it was.
fn changed(keys: &str, change: &str, (at, _): (&str, &str), found: &str) -> Rig {
    let (initialiser, edits) = match at {
        "" => (format!("__attribute__((constructor)) static void own(void) {{ {change} }}"), Vec::new()),
        "    m->x += m->gain" => (String::new(), vec![(at.to_owned(), format!("    {change}\n{at}"))]),
        _ => (String::new(), vec![(at.to_owned(), format!("{at} {change}\n"))]),
    };
    let edits: Vec<(&str, &str)> = edits.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
    let rig = with(rig(keys), "a", &format!("{HEADS}{HELPERS}{initialiser}"), &edits);
    let looks = format!("    m->gain = {found};\n    m->x += m->gain");
    with(rig, "b", &format!("{HEADS}{HELPERS}"), &[("    m->x += m->gain", &looks)])
}

fn run(rig: &Rig, mode: &str) -> crate::program::Outcome {
    std::fs::write(rig.folder().join("here"), "").unwrap();
    let mut command = rig.command();
    command.args(["--mode", mode]).current_dir(rig.folder());
    rig.finish(rig.start(command))
}

/// In virtual time each step of `b` finds everything as it was: 1 + 2 · 1 · 0.1. So it does in real time what has happened before it began.
#[test]
fn what_an_fmu_changes_for_all_is_a_finding_and_the_next_one_finds_it_as_it_was() {
    for (name, change, found, words) in CHANGES {
        for place in PLACES {
            let run = run(&changed("", change, place, found), "virtual").exits(0);
            assert_eq!(last(&run, "b"), 1.2, "{name} {place:?}");
            let kind = format!("changed_{name}");
            // Each step of it is one more.
            let count = if place.1.starts_with("while") { 10 } else { 1 };
            assert_eq!((run.finding("a", &kind), run.finding("b", &kind)), (Some(count), None), "{name} {place:?}");
            run.problem(&[&format!("fmu `a`: {words}"), place.1, "that was put back"]);
        }
    }
}

#[test]
fn in_real_time_what_has_changed_is_found_from_outside_and_put_back() {
    shared_core(|| {
        for (name, change, found, words) in CHANGES.into_iter().filter(|(name, ..)| !name.starts_with("signal")) {
            let at_load = run(&changed("", change, PLACES[0], found), "realtime").exits(0);
            assert_eq!(last(&at_load, "b"), 1.2, "{name}");
            // Once, in its first step. Who looks meanwhile is asked about the locale and the directory alone.
            let once = format!("static int done; if (!done++) {{ {change} }}");
            let changed = changed("stop_time = 0.5", &once, PLACES[3], "1");
            let run = run(&changed, "realtime").exits(0);
            let kind = format!("changed_{name}");
            assert_eq!(run.finding("a", &kind), Some(1), "{name}");
            run.problem(&[&format!("fmu `a`: {words}"), "while the run went on"]);
        }
    });
}

/// With a locale in which numbers have a comma, `strtod("0.5")` of another FMU would be 0.
#[test]
fn numbers_in_texts_of_an_fmu_are_read_as_they_are_alone() {
    let reads = |name: &str| {
        let sets = format!("setlocale(LC_ALL, \"{name}\");");
        let first = with(rig(""), "a", HEADS, &[("    m->x = 1.0;\n", &format!("    {sets}\n    m->x = 1.0;\n"))]);
        with(first, "b", &format!("{HEADS}#define GAIN strtod(\"0.5\", NULL)"), &[])
    };
    let Some(comma) = with_a_comma(&reads("C")) else {
        return crate::program::skipped("numbers_in_texts", &"localedef cannot make de_DE here");
    };
    let fmus = reads(comma);
    with_a_comma(&fmus);
    let mut command = fmus.command();
    command.args(["--mode", "virtual"]).env("LOCPATH", fmus.folder());
    let run = fmus.finish(fmus.start(command)).exits(0);
    assert_eq!(run.finding("a", "changed_locale"), Some(1));
    assert_eq!(last(&run, "b"), 1.1);
}

#[test]
fn an_fmu_that_does_not_find_a_file_is_told_where_relative_names_lead() {
    let opens = "FILE *own = fopen(\"table.csv\", \"r\");\n    if (!own) return NULL;\n    m->x = 1.0;\n";
    let fmus = with(rig(""), "a", HEADS, &[("    m->x = 1.0;\n", opens)]);
    let run = run(&fmus, "virtual").exits(2);
    let words = format!(
        "(the last file that it looked for does not exist; relative names start at {})",
        fmus.folder().display()
    );
    assert!(run.stderr.contains(&words), "{}", run.stderr);
}
