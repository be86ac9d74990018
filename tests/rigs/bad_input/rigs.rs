//! Rigs that say something wrong: the list, and what else slips from tired fingers.

use std::fs;

use crate::bad_input::bench::Bench;
use crate::program::has_real_time;

const HEAD: &str = "[rig]\nmode = \"virtual\"\nstop_time = 0.02\n[fmu.plant]\npath = \"a\"\n[fmu.ecu]\npath = \"a\"\n";

fn bench() -> Bench {
    Bench::with_fmu("a")
}

/// `more` begins in line 8 of a rig with two FMUs.
#[track_caller]
fn refuses(bench: &Bench, more: &str, message: &str) {
    bench.write("rig.toml", format!("{HEAD}{more}"));
    bench.refuses_to_plan("rig.toml", message);
}

#[test]
fn unknown_keys() {
    let bench = bench();
    refuses(&bench, "[recrod]\n", "rig.toml:8:2: unknown key \"recrod\" in the rig file; did you mean \"record\"?");
    refuses(&bench, "[host]\ncpu = [1]\n", "rig.toml:9:1: unknown key \"cpu\" in [host]; did you mean \"cpus\"?");
    refuses(
        &bench,
        "[record]\nfiles = 1\n",
        "rig.toml:9:1: unknown key \"files\" in [record]; known are signals, format, mcap, text_size, clocks, rule, rotate, max_size, keep",
    );
}

#[test]
fn connections_that_do_not_fit() {
    let bench = bench();
    let connect = |from: &str, to: &str| format!("[[connect]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    for (from, to, message) in [
        (
            "plant.out_f46",
            "ecu.in_f64",
            "9:8: plant has no variable \"out_f46\"; did you mean \"out_f64\", \"out_f32\" or \"out_i16\"?",
        ),
        (
            "plant.out_f64",
            "ecu.inn_f64",
            "10:6: ecu has no variable \"inn_f64\"; did you mean \"in_f64\", \"in_i64\" or \"in_u64\"?",
        ),
        (
            "plant.torque_limiter",
            "ecu.in_f64",
            "9:8: plant has no variable \"torque_limiter\"; vecud inspect lists them",
        ),
        (
            "plant.out_f64",
            "ecu.in_i32",
            "10:6: plant.out_f64 is Float64, but ecu.in_i32 is Int32; not every Float64 is an Int32 (only from Int32 to Float64 nothing gets lost)",
        ),
        (
            "plant.out_f64",
            "ecu.in_array",
            "10:6: plant.out_f64 is Float64, but ecu.in_array is Float64[64]; one of its elements is written ecu.in_array[1]",
        ),
        ("plant.out_f64", "ecu.out_f64", "10:6: ecu.out_f64 is an output; to must name an input"),
        ("plant.in_f64", "ecu.in_f64", "9:8: plant.in_f64 is an input; from must name an output"),
        (
            "plant.out_high",
            "ecu.high",
            "9:8: plant.out_high is a clock: clocks are connected by [[trigger]]\nrig.toml:10:6: ecu.high is a clock: clocks are connected by [[trigger]]",
        ),
        ("plnt.out_f64", "ecu.in_f64", "9:8: the rig has no FMU \"plnt\"; did you mean \"plant\"?"),
        ("out_f64", "ecu.in_f64", "9:8: from = \"out_f64\" must be written fmu.variable"),
        ("", "ecu.in_f64", "9:8: from = \"\" must be written fmu.variable"),
    ] {
        refuses(&bench, &connect(from, to), &format!("rig.toml:{message}"));
    }
    refuses(
        &bench,
        &(connect("plant.out_f64", "ecu.in_f64") + &connect("ecu.out_f64", "ecu.in_f64")),
        "rig.toml:13:6: ecu.in_f64 already has the source plant.out_f64 (line 10): an input has one",
    );
    refuses(
        &bench,
        "[[connect]]\nto = 3\n",
        "rig.toml:8:1: [[connect]] has no from\nrig.toml:9:6: to must be a string, not 3",
    );
    refuses(
        &bench,
        "[connect]\n",
        "rig.toml:8:2: write [[connect]] with two brackets: it is a list of tables, not a table",
    );
}

#[test]
fn triggers_that_do_not_fit() {
    let bench = bench();
    refuses(
        &bench,
        "[[trigger]]\nclock = \"ecu.hihg\"\nfrom = \"plant.out_high\"\n",
        "rig.toml:9:9: ecu has no clock \"hihg\"; did you mean \"high\"?",
    );
    refuses(
        &bench,
        "[[trigger]]\nclock = \"ecu.high\"\nat = [0.5, 0.25]\n",
        "rig.toml:10:12: the times of at must increase strictly",
    );
    refuses(
        &bench,
        "[[trigger]]\nclock = \"ecu.high\"\nat = [-1]\n",
        "rig.toml:10:7: ecu.high is triggered at -1 s, before the run starts at 0 s",
    );
}

#[test]
fn intervals_in_a_rig() {
    let bench = bench();
    for (interval, message) in [
        ("0", "interval must be above 0"),
        ("0.0", "interval must be above 0"),
        ("\"0/5\"", "interval must be above 0"),
        ("-1", "interval = -1 is negative"),
        ("\"1/0\"", "interval = \"1/0\" has the resolution 0"),
        ("nan", "interval = NaN is not finite"),
        ("\"fast\"", "interval = \"fast\" is neither a number nor counter/resolution"),
        ("[1]", "interval must be a number of seconds or a fraction as \"1/100\", not a list"),
    ] {
        refuses(
            &bench,
            &format!("[fmu.ecu.clock.fast]\ninterval = {interval}\n"),
            &format!("rig.toml:9:12: {message}"),
        );
    }
}

#[test]
fn cores_and_priorities() {
    let bench = bench();
    let refuses = |more: &str, message: &str| {
        bench.write("rig.toml", format!("{HEAD}{more}").replace("virtual", "realtime"));
        bench.refuses_to_plan("rig.toml", message);
    };
    let own = fs::read_to_string("/proc/self/status").unwrap();
    let allowed = own.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned();
    bench.write("rig.toml", format!("{HEAD}[host]\ncpus = [9999]\n").replace("virtual", "realtime"));
    let words = bench.refused(bench.command(["run", "rig.toml"])).stderr;
    let message =
        "rig.toml:9:9: cpus: core 9999 does not exist on this machine or is not open to this process; usable are ";
    let usable = words.trim_end().strip_prefix(message).unwrap_or_else(|| panic!("{words}"));
    let last = allowed.rsplit([',', '-']).next().unwrap();
    assert!(usable.split(", ").any(|cpu| cpu == last), "{usable}, but allowed are {allowed}");
    // Without any FIFO priority there is no limit on levels.
    let narrow = |fmu: &str| {
        format!(
            "rig.toml:10:21: strict_priorities = true: {fmu} has 6 priority levels, but fifo_priorities = [60, 61] has 2, so that \
             some would share a FIFO priority: make it wider (at most [1, 99]), or allow that by leaving strict_priorities out"
        )
    };
    if has_real_time("strict_priorities of cores_and_priorities") {
        let narrow = format!("{}\n{}", narrow("ecu"), narrow("plant"));
        refuses("[host]\nfifo_priorities = [60, 61]\nstrict_priorities = true\n", &narrow);
    }
    refuses(
        "[host]\nfifo_priorities = [0, 99]\n",
        "rig.toml:9:19: fifo_priorities must be [lowest, highest] with both from 1 to 99, not [0, 99]",
    );
    refuses("[host]\ncpus = [-1]\n", "rig.toml:9:9: cpus must be a list of core numbers, as [2, 3]");
    refuses("[host]\ncpus = 1\n", "rig.toml:9:8: cpus must be a list, not 1");
    // A rig for a larger machine can be tried in virtual time.
    bench.write("rig.toml", format!("{HEAD}[host]\ncpus = [9999]\n"));
    let outcome = bench.run("run rig.toml");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("note: cpus: core 9999 does not exist"), "{}", outcome.stderr);
}

#[test]
fn fmus_that_cannot_be_opened_have_their_place_in_the_rig() {
    let bench = bench();
    bench.write("no.zip", "hello");
    bench.write("x/modelDescription.xml", "<x/>");
    for (path, message) in [
        (
            "no/such.fmu",
            "no/such.fmu: No such file or directory (os error 2); relative paths count from the rig file's folder; there is no \
             folder no",
        ),
        ("no.zip", "no.zip: not an FMU (no ZIP archive); give a .fmu file or the folder of an unpacked FMU"),
        ("x", "x/modelDescription.xml:1:1: the root element is <x>, not <fmiModelDescription>"),
        (
            ".",
            ".: not an FMU (no modelDescription.xml); give a .fmu file, the folder of an unpacked FMU, or a rig file",
        ),
        ("", "path is empty"),
    ] {
        refuses(&bench, &format!("[fmu.c]\npath = \"{path}\"\n"), &format!("rig.toml:9:8: {message}"));
    }
    refuses(&bench, "[fmu.c]\n", "rig.toml:8:6: [fmu.c] has no path");
    // The folder of the rig counts, and messages say which one that is.
    bench.write("rigs/rig.toml", "[fmu.c]\npath = \"a\"\n");
    bench.refuses_to_plan(
        "rigs/rig.toml",
        "rigs/rig.toml:2:8: rigs/a: No such file or directory (os error 2); relative paths count from the rig file's folder",
    );
}

/// The key that makes an FMU be read as of the other dialect is the culprit, not the FMU.
#[test]
fn a_dialect_that_is_not_the_fmus() {
    let bench = bench();
    refuses(
        &bench,
        "[fmu.d]\npath = \"a\"\ndialect = \"draft\"\n",
        "rig.toml:10:11: dialect = \"draft\" has d read as an FMU of the draft: a/modelDescription.xml:30:5: <Clock> \"fast\": \
         attribute `clockType` is missing (Scheduled Execution: communicationPoint); its own words are those of released \
         FMI 3.0: leave dialect out",
    );
    let draft = concat!(env!("CARGO_MANIFEST_DIR"), "/fmus/draft_clocks");
    bench.write("draft/modelDescription.xml", fs::read(format!("{draft}/modelDescription.xml")).unwrap());
    refuses(
        &bench,
        "[fmu.d]\npath = \"draft\"\ndialect = \"released\"\n",
        "rig.toml:10:11: dialect = \"released\" has d read as an FMU of released FMI 3.0: draft/modelDescription.xml:18:61: \
         <Clock> \"base\": variability=\"clock\" is none of constant, fixed, tunable, discrete, continuous; its own words are \
         those of the draft: leave dialect out",
    );
    // What is wrong in either dialect is the FMU's.
    bench.write("broken/modelDescription.xml", "<x/>");
    refuses(
        &bench,
        "[fmu.d]\npath = \"broken\"\ndialect = \"draft\"\n",
        "rig.toml:9:8: broken/modelDescription.xml:1:1: the root element is <x>, not <fmiModelDescription>",
    );
}

#[test]
fn rigs_without_fmus() {
    let bench = Bench::new();
    let none = "rig.toml:1:1: the rig has no FMU: add a table [fmu.NAME] with a path";
    for text in ["# nothing yet\n", "[rig]\nname = \"x\"\n", "[fmu]\n", "\u{feff}"] {
        bench.write("rig.toml", text);
        bench.refuses_to_plan("rig.toml", none);
    }
    bench.write("rig.toml", "fmu = 3\n");
    bench.refuses_to_plan("rig.toml", &format!("{none}\nrig.toml:1:7: fmu must be a table, not 3"));
}

#[test]
fn names_of_fmus() {
    let bench = bench();
    for name in ["c d", "a/b", "..", "x\\\\y", "a,b", "\\u001b[31m", ""] {
        bench.write("rig.toml", format!("[fmu.\"{name}\"]\npath = \"a\"\n"));
        let words = bench.refused(bench.command(["run", "rig.toml"])).stderr;
        assert!(words.starts_with("rig.toml:1:6: \"") && words.contains("cannot name an FMU: use letters"), "{words}");
        assert!(!words.contains('\u{1b}'), "commands the terminal: {words:?}");
        assert_eq!(words.lines().count(), 1, "{words}");
    }
    refuses(&bench, "[fmu.ecu]\npath = \"a\"\n", "rig.toml:8:6: duplicate key: \"ecu\" is given twice");
}

#[test]
fn patterns_that_match_nothing() {
    let bench = bench();
    refuses(
        &bench,
        "[record]\nsignals = [\"*\", \"out_f64\"]\n",
        "rig.toml:9:17: no variable matches \"out_f64\"; did you mean \"ecu.out_f64\"?",
    );
    refuses(
        &bench,
        "[record]\nsignals = [\"x.*\"]\n",
        "rig.toml:9:12: no variable matches \"x.*\"; patterns are matched with fmu.variable, as in \"plant.*\" or \"ecu.*\"",
    );
}

#[test]
fn start_values() {
    let bench = bench();
    for (start, message) in [
        ("fast_burn = 1", "10:1: ecu has no variable"),
        (
            "fast_burn_us = \"much\"",
            "10:16: the start value of ecu.fast_burn_us must be a whole number, not the string \"much\"",
        ),
        ("fast_burn_us = 1.5", "10:16: the start value of ecu.fast_burn_us must be a whole number, not 1.5"),
        (
            "fast_burn_us = 3000000000",
            "10:16: the start value of ecu.fast_burn_us is 3000000000, but Int32 holds -2147483648 to 2147483647",
        ),
        ("out_f64 = 1.0", "10:1: ecu.out_f64 "),
    ] {
        bench.write("rig.toml", format!("{HEAD}\n[fmu.ecu.start]\n{start}\n"));
        let words = bench.refused(bench.command(["check", "rig.toml"])).stderr;
        assert!(words.starts_with(&format!("rig.toml:{message}")), "{words}");
        assert_eq!(words.lines().count(), 1, "{words}");
    }
}

#[test]
fn all_problems_at_once() {
    let bench = bench();
    refuses(
        &bench,
        "[[connect]]\nfrom = \"plant.x\"\nto = \"ecu.out_f64\"\n[record]\nsignals = [\"nobody.*\"]\n",
        "rig.toml:9:8: plant has no variable \"x\"; vecud inspect lists them\nrig.toml:10:6: ecu.out_f64 is an output; to must \
         name an input\nrig.toml:12:12: no variable matches \"nobody.*\"; patterns are matched with fmu.variable, as in \
         \"plant.*\" or \"ecu.*\"",
    );
}
