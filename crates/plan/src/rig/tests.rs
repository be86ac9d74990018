use super::*;
use std::path::{Path, PathBuf};
use vecud_base::time::{Fraction, Instant, Nanos};

fn rig(text: &str) -> Rig {
    parse(text, Path::new("rigs/engine.toml")).unwrap()
}

/// Exactly one problem, which reads like this.
#[track_caller]
fn refused(text: &str, message: &str) {
    let error = parse(text, Path::new("rig.toml")).unwrap_err().to_string();
    assert_eq!(error, message);
}

const FMU: &str = "[fmu.ecu]\npath = \"ecu\"\n";

/// `more` starts in line 3, after an FMU `ecu`.
#[track_caller]
fn refused_with_fmu(more: &str, message: &str) {
    refused(&format!("{FMU}{more}"), message);
}

#[test]
fn a_rig_of_one_fmu_has_sensible_defaults() {
    let rig = rig(FMU);
    assert_eq!((rig.name.as_str(), rig.mode, rig.on_error), ("engine", Mode::RealTime, OnError::Stop));
    assert_eq!((rig.trigger_time, rig.shutdown_timeout), (TriggerTime::Source, Nanos(2_000_000_000)));
    assert_eq!((rig.nan, rig.shared_libraries), (OnNan::Note, SharedLibraries::Refuse));
    assert_eq!(rig.fmus[0].path.value, PathBuf::from("rigs/ecu"));
    assert_eq!((rig.fmus[0].on_warning, rig.fmus[0].lenient), (OnWarning::Log, false));
    assert_eq!(rig.host, RigHost::default());
    assert_eq!((rig.host.stack_kib, rig.host.lock_memory), (1024, true));
    assert_eq!((rig.start_time, rig.stop_time, rig.record), (None, None, None));
}

/// What FMUs log, and what is loaded before their libraries: a name without a folder is the linker's to find.
#[test]
fn logging_and_preloaded_libraries_are_read() {
    let log = |value: &str| rig(&format!("{FMU}log = {value}\n")).fmus.remove(0).log;
    assert_eq!([log("true"), log("false")], [Some(Logging::All), Some(Logging::Off)]);
    let Some(Logging::Categories(names)) = log("[\"a\", \"b\"]") else { panic!("categories") };
    assert_eq!(names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((rig(FMU).fmus[0].log.clone(), rig(FMU).fmus[0].preload.len()), (None, 0));
    refused_with_fmu("log = [1]\n", "rig.toml:3:8: log has the names of log categories, each a string");
    let preload = rig(&format!("{FMU}preload = [\"libx.so\", \"lib/libx.so\"]\n")).fmus.remove(0).preload;
    assert_eq!(preload, [PathBuf::from("libx.so"), PathBuf::from("rigs/lib/libx.so")]);
    refused_with_fmu(
        "preload = [\"\"]\n",
        "rig.toml:3:12: preload has the names of libraries, or their files, each a string",
    );
}

#[test]
fn every_table_of_the_design_is_read() {
    let rig = rig(r#"
[rig]
name = "demo"
mode = "virtual"
start_time = 0.5
stop_time = 10
overrun = "queue"
on_error = "continue"
nan = "stop"
shared_libraries = "trust"
trigger_time = "now"
shutdown_timeout = 0.25
[host]
fifo_priorities = [60, 70]
cpus = [1, 2]
exclusive = true
lock_memory = false
clock = "tai"
spin_us = 12.5
phase_us = 370
stack_kib = 512

[fmu.plant]
path = "/opt/plant.fmu"

[fmu.ecu]
path = "../ecu"
cpu = 1
lenient = true
on_warning = "error"
start = { idle_speed = 850.0, "a.b" = true, map = [[1, 2], [3, 4]], name = "x" }
[fmu.ecu.clock.task_10ms]
interval = "1/100"
shift = 0
overrun = "stop"
max_latency_us = 200
max_execution_us = 5000
max_overruns = 0

[[connect]]
from = "plant.engine.speed"
to = "ecu.speed"
timing = "immediate"

[[trigger]]
clock = "ecu.isr"
from = "plant.tooth"

[[trigger]]
clock = "ecu.wake"
at = [0.0, 1.5]

[record]
signals = ["ecu.*"]
format = "csv"
"#);
    assert_eq!((rig.mode, rig.on_error, rig.trigger_time), (Mode::Virtual, OnError::Continue, TriggerTime::Now));
    assert_eq!((rig.nan, rig.shared_libraries), (OnNan::Stop, SharedLibraries::Trust));
    assert_eq!(rig.start_time.as_ref().unwrap().value, Instant::from_f64(0.5).unwrap());
    assert_eq!(rig.fmus.iter().map(|fmu| fmu.name.value.as_str()).collect::<Vec<_>>(), ["plant", "ecu"]);
    assert_eq!(rig.fmus[0].path.value, PathBuf::from("/opt/plant.fmu"));
    let ecu = &rig.fmus[1];
    assert_eq!((ecu.path.value.clone(), ecu.cpu.as_ref().unwrap().value), (PathBuf::from("rigs/../ecu"), 1));
    let start: Vec<&str> = ecu.start.iter().map(|(name, _)| name.value.as_str()).collect();
    assert_eq!(start, ["idle_speed", "a.b", "map", "name"]);
    assert!(matches!(&ecu.start[2].1.value, RigValue::Array(flat) if flat.len() == 4));
    let clock = &ecu.clocks[0];
    assert_eq!(clock.interval.as_ref().unwrap().value, Fraction::new(1, 100).unwrap());
    assert_eq!(clock.shift.as_ref().unwrap().value, Fraction::ZERO);
    assert_eq!((rig.overrun, clock.task.overrun), (Overrun::Queue, Some(Overrun::Stop)));
    assert_eq!(clock.task.limits.max_execution, Some(Nanos(5_000_000)));
    assert_eq!(rig.connects[0].from.value.variable, "engine.speed");
    assert!(matches!(&rig.triggers[1].source, TriggerSource::Times(at) if at.len() == 2));
    assert_eq!(rig.record.unwrap().signals[0].value, "ecu.*");
    assert_eq!(rig.host.cpus[1].value, 2);
    assert_eq!(rig.host.exclusive, Some(Place { line: 16, column: 13 }));
}

#[test]
fn variables_of_the_environment_have_names_and_one_value_each() {
    let read = |text: &str| parse(text, Path::new("r.toml")).map_err(|error| error.to_string());
    let fmu = |name: &str, env: &str| format!("[fmu.{name}]\npath = \"a\"\nenv = {{ {env} }}\n");
    let rig = read(&(fmu("a", "A = \"1\", B = \"\"") + &fmu("b", "A = \"1\", C = \"x=y\""))).unwrap();
    let all: Vec<(&str, &str)> =
        rig.fmus.iter().flat_map(|fmu| &fmu.env).map(|(name, value)| (name.value.as_str(), value.as_str())).collect();
    assert_eq!(all, [("A", "1"), ("B", ""), ("A", "1"), ("C", "x=y")]);
    for (env, words) in [
        ("\"A=B\" = \"1\"", "r.toml:3:9: \"A=B\" cannot name a variable of the environment"),
        ("\"A\\u0000\" = \"1\"", "cannot name a variable of the environment"),
        ("\"\" = \"1\"", "a variable of env has no name"),
        ("A = 1", "A in env must be a text, not "),
        ("A = \"1\\u00002\"", "A in env has a zero in it"),
    ] {
        let error = read(&fmu("a", env)).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let error = read(&(fmu("a", "A = \"1\"") + &fmu("b", "A = \"2\""))).unwrap_err();
    assert!(error.contains("r.toml:6:9: env of `b` has another value of A than that of `a`"), "{error}");
}

#[test]
fn definitions_are_texts_whole_numbers_or_whether_there_is_one() {
    let read = |define: &str| {
        let rig = parse(&format!("[fmu.a]\npath = \"a\"\ndefine = {{ {define} }}\n"), Path::new("r.toml"));
        rig.map(|rig| {
            rig.fmus[0].define.iter().map(|(name, value)| (name.value.clone(), value.clone())).collect::<Vec<_>>()
        })
    };
    let expected = [("A", Some("x y")), ("B", Some("-2")), ("C", Some("")), ("D", None)];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned)));
    assert_eq!(read("A = 'x y', B = -2, C = true, D = false").unwrap(), expected);
    for wrong in ["1.5", "[1]", "\"a\\nb\"", "\"a\\u0000\""] {
        let error = read(&format!("A = {wrong}")).unwrap_err().to_string();
        assert!(error.starts_with("r.toml:3:12: A in define must be a text in one line, "), "{error}");
    }
}

#[test]
fn dots_in_a_start_table_belong_to_the_name() {
    let rig = rig("[fmu.ecu]\npath = \"x\"\nstart.engine.speed = 1\n");
    assert_eq!(rig.fmus[0].start[0].0.value, "engine.speed");
}

#[test]
fn unknown_keys_name_their_place_and_the_nearest_known_key() {
    refused_with_fmu("paht = 1\n", "rig.toml:3:1: unknown key \"paht\" in [fmu.ecu]; did you mean \"path\"?");
    refused_with_fmu(
        "[rig]\nstop_tiem = 1\n",
        "rig.toml:4:1: unknown key \"stop_tiem\" in [rig]; did you mean \"stop_time\"?",
    );
    refused_with_fmu("[recrod]\n", "rig.toml:3:2: unknown key \"recrod\" in the rig file; did you mean \"record\"?");
    refused_with_fmu(
        "[fmu.ecu.clock.a]\n  max_overrun = 1\n",
        "rig.toml:4:3: unknown key \"max_overrun\" in [fmu.ecu.clock.a]; did you mean \"max_overruns\"?",
    );
    refused_with_fmu(
        "[[trigger]]\nclock = \"ecu.a\"\nform = \"ecu.b\"\nat = []\n",
        "rig.toml:5:1: unknown key \"form\" in [[trigger]]; did you mean \"from\"?",
    );
    refused_with_fmu(
        "[host]\ncolour = 1\n",
        "rig.toml:4:1: unknown key \"colour\" in [host]; known are fifo_priorities, strict_priorities, cpus, exclusive, lock_memory, clock, spin_us, phase_us, stack_kib, memory_limit, log_limit, wakeup_us, overhead_us",
    );
}

#[test]
fn what_later_versions_do_is_refused_and_not_ignored() {
    let later = "is not supported yet by this version of vecud";
    refused_with_fmu("[record]\nformat = \"mf4\"", &format!("rig.toml:4:10: format = \"mf4\" {later}"));
}

#[test]
fn values_of_the_wrong_kind_say_what_is_expected() {
    for (more, message) in [
        ("[rig]\nmode = \"fast\"", "4:8: mode must be \"realtime\" or \"virtual\", not \"fast\""),
        (
            "[rig]\nstop_time = \"1 s\"",
            "4:13: stop_time must be a finite number of seconds, below 1e18, not the string \"1 s\"",
        ),
        ("[rig]\nstop_time = nan", "4:13: stop_time must be a finite number of seconds, below 1e18, not NaN"),
        ("[rig]\nstop_time = 1e300", "4:13: stop_time must be a finite number of seconds, below 1e18, not 1e300"),
        (
            "[rig]\nshutdown_timeout = 0",
            "4:20: shutdown_timeout must be a number of seconds above 0, at most 1e6, not 0",
        ),
        ("[rig]\nname = \"a/b\"", "4:8: name = \"a/b\" cannot be the name of a folder"),
        ("[host]\nlock_memory = 1", "4:15: lock_memory must be true or false, not 1"),
        ("[host]\nexclusive = [1]", "4:13: exclusive must be true or false, not a list"),
        ("[host]\ncpus = [1, -1]", "4:12: cpus must be a list of core numbers, as [2, 3]"),
        (
            "[host]\nfifo_priorities = [90, 80]",
            "4:19: fifo_priorities must be [lowest, highest] with both from 1 to 99, not [90, 80]: the lower one comes first",
        ),
        (
            "[host]\nfifo_priorities = [51]",
            "4:19: fifo_priorities must be [lowest, highest] with both from 1 to 99, not [51]",
        ),
        (
            "[host]\nfifo_priorities = [51, \"89\"]",
            "4:19: fifo_priorities must be [lowest, highest] with both from 1 to 99, not a list",
        ),
        ("[host]\nspin_us = -1", "4:11: spin_us must be a number of microseconds from 0 to 1e6, not -1"),
        (
            "[host]\nspin_us = \"30\"",
            "4:11: spin_us must be a number of microseconds from 0 to 1e6, not the string \"30\"",
        ),
        ("[host]\nphase_us = 10000", "4:12: phase_us must be a number of microseconds from 0 on, below 1e4, not 10000"),
        ("[host]\nclock = \"realtime\"", "4:9: clock must be \"monotonic\" or \"tai\", not \"realtime\""),
        (
            "[fmu.ecu.clock.a]\nmax_latency_us = -1",
            "4:18: max_latency_us must be a number of microseconds above 0, at most 1e12, not -1",
        ),
        ("[fmu.ecu.clock.a]\nmax_overruns = -1", "4:16: max_overruns must be a whole number from 0 on, not -1"),
        ("[fmu.ecu.clock.a]\ninterval = 0", "4:12: interval must be above 0"),
        ("[fmu.ecu.clock.a]\ninterval = -0.1", "4:12: interval = -0.1 is negative"),
        ("[fmu.ecu.clock.a]\ninterval = \"1/0\"", "4:12: interval = \"1/0\" has the resolution 0"),
        ("[fmu.ecu.clock.a]\nshift = \"-1/10\"", "4:9: shift = \"-1/10\" is neither a number nor counter/resolution"),
        ("[fmu.ecu.clock.a]\nshift = inf", "4:9: shift = inf is not finite"),
        (
            "[fmu.ecu.clock.a]\ninterval = \"1/18446744073709551616\"",
            "4:12: interval = \"1/18446744073709551616\" has more digits than can be represented exactly: in lowest terms the \
             counter must be below 2^64 and the resolution at most 2^63",
        ),
        (
            "[fmu.ecu.clock.a]\ninterval = 1e300",
            "4:12: interval = 1e300 has more digits than can be represented exactly: in lowest terms the counter must be \
             below 2^64 and the resolution at most 2^63",
        ),
        (
            "[fmu.ecu.clock.a]\noverrun = \"drop\"",
            "4:11: overrun must be \"skip\" or \"queue\" or \"stop\", not \"drop\"",
        ),
        ("[record]\nsignals = \"*\"", "4:11: signals must be a list, not the string \"*\""),
        ("[connect]\nfrom = 1", "3:2: write [[connect]] with two brackets: it is a list of tables, not a table"),
    ] {
        refused_with_fmu(more, &format!("rig.toml:{message}"));
    }
}

#[test]
fn the_ends_of_connections_and_triggers_name_fmus_of_the_rig() {
    refused_with_fmu(
        "[[connect]]\nfrom = \"ecu.a\"\nto = \"ecuu.b\"",
        "rig.toml:5:6: the rig has no FMU \"ecuu\"; did you mean \"ecu\"?",
    );
    refused_with_fmu(
        "[[connect]]\nfrom = \"ecu.a\"\nto = \"b\"",
        "rig.toml:5:6: to = \"b\" must be written fmu.variable",
    );
    refused_with_fmu("[[connect]]\nfrom = \"ecu.a\"", "rig.toml:3:1: [[connect]] has no to");
    refused_with_fmu(
        "[[trigger]]\nclock = \"ecu.a\"\nat = [1]\nfrom = \"ecu.b\"",
        "rig.toml:5:1: [[trigger]] has both from and at: one trigger has one source",
    );
    refused_with_fmu(
        "[[trigger]]\nclock = \"ecu.a\"\nat = [1, 2, 2]",
        "rig.toml:5:13: the times of at must increase strictly",
    );
    let none = "rig.toml:3:1: [[trigger]] has no source: from (an output clock), at (times), ";
    refused_with_fmu("[[trigger]]\nclock = \"ecu.a\"", &format!("{none}{}", super::endpoints::KEYS_IN_WORDS));
}

#[test]
fn fmus_need_a_name_for_files_and_a_path() {
    refused(
        "[fmu.'a/b']\npath = \"x\"",
        "rig.toml:1:6: \"a/b\" cannot name an FMU: use letters, digits, _ and - (the name becomes part of file names)",
    );
    refused("[fmu.ecu]\nlenient = true", "rig.toml:1:6: [fmu.ecu] has no path");
    refused("", "rig.toml:1:1: the rig has no FMU: add a table [fmu.NAME] with a path");
}

#[test]
fn broken_toml_has_its_place() {
    let error = parse("[fmu.ecu]\npath = \n", Path::new("rig.toml")).unwrap_err();
    assert_eq!(error.problems.len(), 1);
    assert_eq!(error.problems[0].place.line, 2);
    let error =
        parse("[rig]\nmode = \"virtual\"\nmode = \"virtual\"\n", Path::new("rig.toml")).unwrap_err().to_string();
    assert!(error.starts_with("rig.toml:3:1: ") && error.contains("duplicate"), "{error}");
}

#[test]
fn columns_count_characters_and_all_problems_are_reported() {
    let text = "[fmu.ecu]\npath = \"ü\"\n[rig]\nx = 1\n[host]\ny = 1\n[record]\nsignals = [\"ä\", 1]\n";
    let error = parse(text, Path::new("rig.toml")).unwrap_err();
    let places: Vec<_> = error.problems.iter().map(|problem| (problem.place.line, problem.place.column)).collect();
    assert_eq!(places, [(4, 1), (6, 1), (8, 17)]);
}

#[test]
fn the_rig_of_a_single_fmu_records_everything() {
    let rig = Rig::for_fmu(Path::new("dir/My FMU.v1.fmu"));
    assert_eq!(rig.name, "My_FMU_v1");
    assert!(rig.experiment_of_fmu && rig.record.is_some());
    assert_eq!(rig.fmus[0].path.value, PathBuf::from("dir/My FMU.v1.fmu"));
}

/// Processor time of this thread: what others do on the machine is not in it.
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[test]
fn the_time_to_read_one_line_grows_with_its_length_and_not_with_its_square() {
    let seconds = |count: usize| {
        let entries: Vec<String> = (0..count).map(|i| format!("x{i} = 1")).collect();
        let text = format!("[fmu.ecu]\npath = \"x\"\nstart = {{ {} }}\n", entries.join(", "));
        let start = processor_seconds();
        let rig = rig(&text);
        assert_eq!(rig.fmus[0].start.len(), count);
        assert_eq!(rig.fmus[0].start[count - 1].0.place.line, 3);
        processor_seconds() - start
    };
    let (few, many) = (seconds(2_500), seconds(20_000));
    assert!(many < 24.0 * few, "2,500 entries took {few} s, eight times as many {many} s");
}

#[test]
fn a_byte_order_mark_and_carriage_returns_do_not_move_places() {
    refused("\u{feff}rig = 3\r\n[fmu.a]\r\npath = \"x\"\r\n", "rig.toml:1:7: rig must be a table, not 3");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]a-z.=\"{}\n 0-9]{0,60}") {
        let _ = parse(&text, Path::new("rig.toml"));
        let _ = parse(&format!("{FMU}{text}"), Path::new("rig.toml"));
    }
}

#[test]
fn fmus_that_take_turns_are_named_and_those_that_need_not_say_so() {
    let two = "[fmu.pump]\npath = \"p\"\nparallel = true\n[fmu.valve]\npath = \"v\"\n[fmu.tank]\npath = \"t\"\nparallel = false\n";
    let rig = rig(&format!("[rig]\nserialise = [\"valve\", \"tank\"]\n{two}"));
    assert_eq!(rig.serialise.iter().map(|name| name.value.as_str()).collect::<Vec<_>>(), ["valve", "tank"]);
    let parallel: Vec<Option<bool>> = rig.fmus.iter().map(|fmu| fmu.parallel.as_ref().map(|own| own.value)).collect();
    assert_eq!(parallel, [Some(true), None, Some(false)]);
    let wrong = |names: &str, message: &str| refused(&format!("[rig]\nserialise = {names}\n{two}"), message);
    wrong("[\"pump\", \"valv\"]", "rig.toml:2:22: the rig has no FMU \"valv\"; did you mean \"valve\"?");
    wrong("[\"pump\", \"engine\"]", "rig.toml:2:22: the rig has no FMU \"engine\"; it has pump, valve, tank");
    wrong("[\"pump\", \"pump\"]", "rig.toml:2:22: pump stands in serialise already");
    for few in ["[]", "[\"pump\"]"] {
        wrong(few, "rig.toml:2:1: serialise needs at least two FMUs: these make their steps one at a time");
    }
    wrong("\"pump\"", "rig.toml:2:13: serialise must be a list, not the string \"pump\"");
    wrong("[\"pump\", 1]", "rig.toml:2:22: serialise must be a list of names of FMUs, as [\"pump\", \"valve\"]");
    refused(
        "[fmu.a]\npath = \"x\"\nparallel = \"yes\"\n",
        "rig.toml:3:12: parallel must be true or false, not the string \"yes\"",
    );
}

#[test]
fn figures_of_clocks_and_host_are_read_to_the_safe_side() {
    let rig = rig(
        "[host]\nwakeup_us = 30\noverhead_us = 0.3\n[fmu.ecu]\npath = \"ecu\"\n[fmu.ecu.clock.fast]\nexecution_us = 0.3\n\
         lock_us = 0.0001\nmin_interval_us = 1.0019\ndeadline_us = 1e3\n",
    );
    assert_eq!((rig.host.wakeup, rig.host.overhead), (Some(Nanos(30_000)), Some(Nanos(300))));
    let figures = &rig.fmus[0].clocks[0].task.figures;
    let nanos = [&figures.execution, &figures.lock, &figures.min_interval, &figures.deadline]
        .map(|figure| figure.as_ref().unwrap().value.0);
    assert_eq!(nanos, [300, 1, 1001, 1_000_000]);
}

#[test]
fn figures_that_cannot_be_are_refused() {
    let clock = |key: &str, message: &str| {
        refused_with_fmu(&format!("[fmu.ecu.clock.fast]\n{key}\n"), &format!("rig.toml:4:{message}"));
    };
    clock("execution_us = 0", "16: execution_us must be a number of microseconds from 0.001 to 1e12, not 0");
    clock("lock_us = -1", "11: lock_us must be a number of microseconds from 0 to 1e12, not -1");
    clock(
        "deadline_us = \"1 ms\"",
        "15: deadline_us must be a number of microseconds from 0.001 to 1e12, not the string \"1 ms\"",
    );
    clock("min_interval_us = nan", "19: min_interval_us must be a number of microseconds from 0.001 to 1e12, not NaN");
    clock(
        "lock_us = 300\nexecution_us = 200",
        "11: lock_us = 300 is more than execution_us = 200: a locked section is a part of the execution",
    );
    refused_with_fmu(
        "[host]\nwakeup_us = -5\n",
        "rig.toml:4:13: wakeup_us must be a number of microseconds from 0 to 1e6, not -5",
    );
}
