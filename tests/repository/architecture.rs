//! The shape of the program (the crate's documentation) as a test over its source text.
//!
//! The table below is the whole dependency rule: what is not in a module's line, that module may not name. Crates come in the order
//! in which they build on each other, which the compiler holds; the table says more: which modules of a lower crate a module may
//! name. Entries are paths with the crate first, `plan::rig` for `vecud_plan::rig`, and `cli` for that of the program itself; an entry
//! allows everything under it that has no line of its own. A module may always name what is under its own path.

use crate::source::{Source, folder, sources};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Module → what it may import, lowest first. Data flows down the list; only `runner` joins FMU code (`fmi`) and the
/// operating system (`linux`) with a plan. The supervisor prepares and watches: it asks `linux` for processes and memory,
/// and reads from `fmi` the names of functions and status values, nothing else.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("linux::files", &[]),
    ("base::places", &[]),
    ("base::priority", &[]),
    ("base::plain", &[]),
    ("base::columns", &["base::plain"]),
    ("base::time", &[]),
    ("base::graph", &[]),
    ("solver::master", &["base::graph", "base::time"]),
    ("solver", &[]),
    ("linux", &[]),
    ("fmu::platform", &[]),
    ("fmu::cache", &["linux::files", "linux::stop", "linux::permits", "linux::rights"]),
    ("description::guard", &[]),
    ("fmu::binary", &["linux::files"]),
    ("fmu::linking", &["linux::files", "fmu::binary"]),
    ("fmu::python", &["fmu::binary", "fmu::linking"]),
    ("fmu::related", &["description::guard", "base::places"]),
    ("description", &["description::guard", "base::places", "base::plain", "base::priority", "base::time"]),
    // Each dialect has headers of its own, and before FMI 3.0 the model description lists the sources.
    (
        "fmu::build",
        &[
            "linux::files",
            "fmu::cache",
            "description",
            "description::guard",
            "fmu::platform",
            "base::places",
            "linux::process",
            "linux::stop",
        ],
    ),
    (
        "fmu::archive",
        &["linux::files", "fmu::build", "fmu::cache", "description", "fmu::platform", "base::places", "linux::stop"],
    ),
    ("fmi", &["description", "linux::float_control", "linux::prefetch"]),
    // A rig may say which dialect an FMU is of, and with which interface type it runs.
    (
        "plan::rig",
        &[
            "description::Abi",
            "description::Interface",
            "solver::master",
            "base::places",
            "base::plain",
            "base::priority",
            "base::time",
        ],
    ),
    ("description::word", &["description"]),
    ("description::bytes", &["description::word", "description"]),
    ("record::ring", &[]),
    ("record::items", &["record::ring", "base::time"]),
    ("record::control", &["record::ring", "record::items", "description::bytes", "description", "base::time"]),
    (
        "plan",
        &[
            "base::columns",
            "description::bytes",
            "description::word",
            "description",
            "base::graph",
            "solver::master",
            "base::priority",
            "plan::rig",
            "base::plain",
            "base::time",
        ],
    ),
    ("plan::schedule", &["plan", "base::time"]),
    ("plan::snapshot", &["plan", "plan::schedule", "base::time"]),
    ("runner::exchange", &["description::bytes", "plan", "plan::schedule", "base::time"]),
    ("record::recording", &["description::word", "description"]),
    (
        "record::stimulus",
        &[
            "record::ring",
            "record::items",
            "description::bytes",
            "description::word",
            "description",
            "plan",
            "record::recording",
            "plan::rig",
            "base::time",
        ],
    ),
    (
        "record",
        &[
            "record::ring",
            "record::items",
            "record::control",
            "linux::files",
            "description::bytes",
            "description::word",
            "description",
            "plan",
            "record::recording",
            "record::stimulus",
            "base::time",
            "plan::rig::parse",
        ],
    ),
    (
        "report",
        &[
            "base::columns",
            "description",
            "plan",
            "base::priority",
            "record::board::Scheduling",
            "record::histogram",
            "record::trace",
            "record::recording",
            "base::plain",
        ],
    ),
    ("host::doctor::finding", &["base::plain"]),
    (
        "host::doctor",
        &[
            "record::histogram",
            "linux::SysError",
            "linux::affinity",
            "linux::latency",
            "linux::memory",
            "linux::scheduling",
            "linux::stop",
            "linux::thread",
            "linux::wake",
        ],
    ),
    // Pure: what is known comes in, findings and text go out.
    (
        "host::doctor::rules",
        &["host::doctor", "report::format", "linux::affinity::parse_list", "host::doctor::finding"],
    ),
    ("host::doctor::show", &["host::doctor", "report::format", "base::plain", "host::doctor::rules"]),
    (
        "runner",
        &[
            "record::ring",
            "record::items",
            "record::control",
            "runner::exchange",
            "fmi",
            "description",
            "solver::master",
            "plan",
            "record",
            "plan::schedule",
            "plan::snapshot",
            "solver",
            "record::stimulus",
            "linux",
            "base::time",
            "description::bytes",
            "description::word",
        ],
    ),
    (
        "host",
        &[
            "record::ring",
            "record::items",
            "record::control",
            "host::doctor",
            "description::bytes",
            "description::word",
            "fmi::Function",
            "fmi::get_function",
            "fmi::set_function",
            "linux::files",
            "fmi::Status",
            // What a library has to export, and what it may export beside that, by name.
            "fmi::symbol_of_max_step",
            "fmi::symbols",
            "fmi::symbols_of_all",
            "fmu::archive",
            "fmu::binary",
            "description",
            "fmu::linking",
            "fmu::python",
            "fmu::related",
            "base::places",
            "base::plain",
            "plan",
            "base::priority",
            "record",
            "record::recording::Dialect",
            "record::recording::RecordingError",
            "record::recording::Recording",
            "record::recording::Row",
            "record::recording::envelope",
            "record::recording::series",
            "record::recording::text",
            "report",
            "plan::rig",
            "runner::FIRST_SOCKET_FD",
            "runner::FOLDER_FD",
            "runner::JOB_FD",
            "runner::Job",
            "runner::SHARED_MEMORY_FD",
            "runner::STATE_FD",
            "runner::by_hand",
            "plan::schedule::QuietPoint",
            "plan::schedule::Passed",
            "plan::snapshot",
            "record::stimulus",
            "linux::SysError",
            "linux::affinity",
            "linux::clock::SystemClock",
            "linux::core_claims",
            "linux::crash::FAULTS",
            "linux::crash::ask_where_it_is",
            "linux::cycles::Ruler",
            "linux::datagram",
            "linux::memory",
            "linux::offspring",
            "linux::permits",
            "linux::process",
            "linux::scheduling",
            "linux::shared_memory",
            "linux::stop",
            "linux::thread",
            "linux::wake",
            "linux::zeroed",
            "base::time",
            "host::doctor::rules",
            "record::recording::WITHOUT_ARROW",
            "linux::rights",
        ],
    ),
    (
        "daemon",
        &[
            "description::word",
            "linux::files",
            "description",
            "base::plain",
            "plan",
            "record::RowWatcher",
            "report",
            "plan::rig",
            "host",
            "linux::affinity",
            "linux::heap",
            "linux::offspring",
            "linux::permits",
            "linux::process",
            "linux::stop",
            "linux::wake",
            "base::time",
            "linux::rights",
        ],
    ),
    (
        "cli",
        &[
            "base::columns",
            "daemon",
            "host::doctor",
            "linux::files",
            "fmu::archive",
            "description",
            "plan",
            "record::recording",
            "report",
            "runner::by_hand::main",
            "runner::main",
            "base::plain",
            "plan::rig",
            "host",
            "linux::SysError",
            "linux::affinity",
            "linux::confine",
            "linux::heap",
            "linux::offspring",
            "linux::process",
            "linux::stop",
            "base::time",
            "host::doctor::rules",
            "host::doctor::show",
        ],
    ),
];

/// No unsafe code, no threads, no clock, no files. The histogram belongs to them: `report` reads it.
const PURE: &[&str] = &[
    "base::places",
    "base::priority",
    "base::plain",
    "base::columns",
    "base::time",
    "base::graph",
    "solver::master",
    "solver",
    "plan::rig",
    "description::guard",
    "description",
    "fmu::related",
    "plan",
    "plan::schedule",
    "plan::snapshot",
    "record::items",
    "record::control",
    "record::stimulus",
    "report",
    "host::doctor::finding",
    "host::doctor::rules",
    "host::doctor::show",
    "description::bytes",
    "description::word",
    "record::histogram",
    "record::recording",
];

/// Where unsafe code may be. (The exchange primitive has come to need none.)
const UNSAFE: &[&str] = &["fmi", "linux"];

/// Who may ask which C interface an FMU has, and for what. Whoever only calls functions need not.
const ASK_ABI: &[(&str, &str)] = &[
    ("fmi::abi", "the tables of the interfaces"),
    ("description", "each version has XML of its own"),
    ("fmu::build", "sources include the headers of their version, and how they are built is told in its way"),
    ("fmu::archive", "an archive opened without a description is taken for one of FMI 3.0"),
    ("plan::rig::tables", "a rig may name the dialect"),
    ("plan::dialect", "what a plan does otherwise for the draft"),
    ("plan::clocks::candidates", "who says and who is told the interval of a clock"),
    ("plan::clocks::clocked_clocks", "in the draft clocks may depend on others"),
    ("plan::tasks::batches", "the draft reads variables of output clocks when these tick"),
    ("record::trace::chrome", "kinds of clocks in words"),
    ("host::fmus", "what mends a failed call"),
    ("host::error", "which key of the rig overrides a description"),
    ("host::by_hand::settable", "the table of the states in which variables are set, as each version has it"),
    ("cli::inspect::render", "shows it"),
];

/// Who may ask what kind of task it is, and for what. Whoever only releases and runs tasks need not.
const ASK_WORK: &[(&str, &str)] = &[
    ("plan::model", "what only tasks of that kind have"),
    ("plan::tasks", "makes the tasks"),
    ("runner::unit", "what a task calls"),
    ("runner::clocks", "what is told and asked of clocks in Initialization Mode"),
    ("runner::run_state", "only some kinds of clocks are armed, or get another interval"),
    ("runner::thread_host", "the callbacks of Scheduled Execution"),
];

/// Who may ask with which interface type an FMU runs, and for what.
const ASK_INTERFACE: &[(&str, &str)] = &[
    ("plan::model", "what only an instance of that interface type has"),
    ("plan::instances", "makes the instances"),
    ("runner::initialise", "what is set before Initialization Mode"),
];

fn below(path: &str, module: &str) -> bool {
    path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"))
}

/// The line of the table for a module: the one with the longest path.
fn line_of(module: &str) -> Option<&'static (&'static str, &'static [&'static str])> {
    MAY_IMPORT.iter().filter(|(name, _)| below(module, name)).max_by_key(|(name, _)| name.len())
}

/// Whether an entry of a line allows an import: of what has a line of its own, only an entry in that line's name does.
fn allows(entry: &str, import: &str) -> bool {
    below(import, entry) && line_of(import).is_none_or(|(line, _)| below(entry, line))
}

fn complain(what: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{what}:\n{}", findings.join("\n"));
}

fn program() -> Vec<Source> {
    let all = crate::source::program();
    assert!(all.len() > 100 && all.iter().any(|source| source.module == "plan"), "{} files", all.len());
    all.into_iter().filter(|source| !["lib", "main"].contains(&source.module.as_str())).collect()
}

#[test]
fn imports_point_downward() {
    let mut findings = Vec::new();
    for source in program() {
        // These two hold nothing but their modules.
        if ["base", "fmu"].contains(&source.module.as_str()) {
            continue;
        }
        let Some((name, allowed)) = line_of(&source.module) else {
            findings.push(format!("{}: module {} is not in the table", source.path, source.module));
            continue;
        };
        for import in source.imports() {
            let own = below(&import.path, name) && line_of(&import.path).is_none_or(|(other, _)| other == name);
            if !own && !allowed.iter().any(|allowed| allows(allowed, &import.path)) {
                findings.push(format!("{}:{}: {name} may not import {}", source.path, import.line, import.path));
            }
        }
    }
    complain("imports that the table in this file does not allow", &findings);
}

#[test]
fn the_table_has_no_cycle_and_nothing_superfluous() {
    let mut used: BTreeMap<(&str, &str), bool> =
        MAY_IMPORT.iter().flat_map(|(name, allowed)| allowed.iter().map(move |a| ((*name, *a), false))).collect();
    for source in program() {
        let Some((name, allowed)) = line_of(&source.module) else { continue };
        for import in source.imports() {
            for entry in allowed.iter().filter(|entry| allows(entry, &import.path)) {
                used.insert((*name, *entry), true);
            }
        }
    }
    let idle: Vec<String> = used.iter().filter(|(_, used)| !**used).map(|(key, _)| format!("{key:?}")).collect();
    complain("permissions that nobody needs", &idle);
    for (place, (name, allowed)) in MAY_IMPORT.iter().enumerate() {
        for entry in *allowed {
            let target = line_of(entry).unwrap_or_else(|| panic!("{name} may import {entry}, which is no module"));
            let height = MAY_IMPORT.iter().position(|line| line == target).expect("it is from the table");
            assert!(height < place, "{name} stands above {entry} in the table but imports it");
        }
    }
}

#[test]
fn pure_modules_touch_nothing_but_their_arguments() {
    const OUTSIDE: &[&str] = &[
        "std::fs",
        "std::io::stdin",
        "std::io::stdout",
        "std::io::stderr",
        "std::net",
        "std::os",
        "std::process",
        "std::thread",
        "std::env",
        "std::time::Instant",
        "std::time::SystemTime",
        "libc",
        "nix",
        "rustix",
        "crossbeam",
        "core_affinity",
        "thread_priority",
        "libloading",
    ];
    let mut findings = Vec::new();
    for source in program().iter().filter(|source| PURE.iter().any(|pure| below(&source.module, pure))) {
        // Tests may make folders and threads.
        for path in source.outside_tests().paths() {
            if OUTSIDE.iter().any(|outside| below(&path.path, outside)) {
                findings.push(format!("{}:{}: {}", source.path, path.line, path.path));
            }
        }
        for macro_name in source.outside_tests().words(&["println", "eprintln", "print", "eprint", "dbg"]) {
            findings.push(format!("{}:{macro_name}: prints", source.path));
        }
    }
    complain("pure modules that reach out", &findings);
}

/// Sessions live side by side in one process, so nothing of that is theirs. The runner has a process of its own, and so has the daemon,
/// which has no terminal.
#[test]
fn only_the_command_line_has_a_terminal_and_listens_to_signals() {
    const PRINTS: &[&str] = &["println", "eprintln", "print", "eprint", "dbg"];
    const OF_THE_PROCESS: &[&str] = &[
        "adopt",
        "by_signals",
        "close_memory",
        "count_interrupts",
        "end_at_signals",
        "few_pools",
        "keep_process_off",
        "keep_process_on",
        "outlive_file_size_limit",
        "reap",
        "reap_orphans",
        "reload_by_signal",
        "reload_is_asked",
        "report_by_signal",
        "report_is_asked",
        "sigaction",
        "terminal_size",
        "while_held",
    ];
    let mut findings = Vec::new();
    for source in
        program().iter().filter(|source| !["cli", "runner", "linux"].iter().any(|own| below(&source.module, own)))
    {
        let source = source.outside_tests();
        let streams = ["stdin", "stdout", "stderr"].map(|stream| source.sequence(&[stream, "(", ")"])).concat();
        let of_the_process: &[&str] = if below(&source.module, "daemon") { &[] } else { OF_THE_PROCESS };
        let words = source.words(PRINTS).chain(source.words(of_the_process));
        findings.extend(words.chain(streams).map(|line| format!("{}:{line}", source.path)));
    }
    complain("what belongs to a process, outside of the command line", &findings);
}

/// Where the system has no further thread to give, `spawn` of a scope and of `std::thread` panic; those of a `Builder` say so.
#[test]
fn threads_are_started_where_it_can_be_said_that_there_are_none() {
    let mut findings = Vec::new();
    for source in program() {
        let outside = source.outside_tests();
        let scoped = outside.sequence(&["scope", ".", "spawn"]);
        let own = outside.sequence(&["std", "::", "thread", "::", "spawn"]);
        findings.extend(scoped.into_iter().chain(own).map(|line| format!("{}:{line}", source.path)));
    }
    complain("threads whose start panics", &findings);
}

#[test]
fn unsafe_code_is_forbidden_outside_of_fmi_and_linux() {
    let mut findings = Vec::new();
    for source in program() {
        let allowed = UNSAFE.iter().any(|folder| below(&source.module, folder));
        // The inner attribute of a module holds for everything under it.
        let top = !source.module.contains("::") && !allowed;
        let pure = PURE.contains(&source.module.as_str()) && source.module != "record::histogram";
        if (top || pure) && !source.text.contains("\n#![forbid(unsafe_code)]\n") {
            findings.push(format!("{}: has no #![forbid(unsafe_code)]", source.path));
        }
        if !allowed {
            findings.extend(source.words(&["unsafe"]).map(|line| format!("{}:{line}: unsafe", source.path)));
        }
    }
    complain("unsafe code outside of fmi and linux", &findings);
}

/// A further version of FMI is two further files in `crates/fmi/src/abi`, and a further arm in few other places.
#[test]
fn only_those_named_here_ask_which_c_interface_an_fmu_has() {
    named_ask("C interface", ASK_ABI, |source| {
        let own = ["Fmi1", "Fmi2", "Fmi3", "Draft"].map(|variant| source.sequence(&["Own", "::", variant])).concat();
        [source.sequence(&["Abi", "::"]), own].concat()
    });
}

/// A further kind of task is a further variant in `crates/runner/src/unit`, and a further arm in few other places.
#[test]
fn only_those_named_here_ask_what_kind_of_task_it_is() {
    named_ask("kind of task", ASK_WORK, |source| {
        let unit = ["Partition", "Step"].map(|kind| source.sequence(&["Unit", "::", kind])).concat();
        [source.sequence(&["Work", "::"]), source.sequence(&[".", "partition", "(", ")"]), unit].concat()
    });
}

#[test]
fn only_those_named_here_ask_which_interface_type_an_fmu_runs_with() {
    named_ask("interface type", ASK_INTERFACE, |source| {
        [source.sequence(&["InterfacePlan", "::"]), source.sequence(&[".", "scheduled_execution", "("])].concat()
    });
}

/// Complains of lines that ask outside of the places in the table, and of places that do not ask.
fn named_ask(what: &str, table: &[(&str, &str)], asks: impl Fn(&Source) -> Vec<usize>) {
    let mut findings = Vec::new();
    let mut asking = BTreeMap::from_iter(table.iter().map(|(module, _)| (*module, false)));
    for source in program() {
        let source = source.outside_tests();
        for line in asks(&source) {
            match table.iter().find(|(module, _)| below(&source.module, module)) {
                Some((module, _)) => {
                    asking.insert(module, true);
                }
                None => findings.push(format!("{}:{line}", source.path)),
            }
        }
    }
    findings.extend(asking.iter().filter(|(_, asks)| !**asks).map(|(module, _)| format!("{module} does not ask")));
    complain(&format!("a question for the {what} outside of the places for it"), &findings);
}

#[test]
fn unsafe_code_argues_why_it_is_sound() {
    let mut findings = Vec::new();
    for source in crate::source::program().into_iter().chain(sources("tests")) {
        findings.extend(source.unargued().map(|line| format!("{}:{line}", source.path)));
    }
    complain("unsafe without a SAFETY comment (blocks, impls) or a Safety section (functions)", &findings);
}

/// What several FMUs are made of lies in `fmus/common`, and each has links to it, so that it is whole when packed.
#[test]
fn what_several_fmus_share_stands_once() {
    let files = folder("fmus");
    let own = files.iter().filter(|file| !file.is_symlink());
    let mut seen: BTreeMap<Vec<u8>, &Path> = BTreeMap::new();
    let twice: Vec<String> = own
        .filter_map(|file| {
            let first = seen.insert(fs::read(file).unwrap(), file)?;
            Some(format!("{} and {}", first.display(), file.display()))
        })
        .collect();
    complain("files that are the same", &twice);
    for link in files.iter().filter(|file| file.is_symlink()) {
        let target = fs::read_link(link).unwrap();
        assert!(target.starts_with("../../common") && link.is_file(), "{} -> {}", link.display(), target.display());
    }
}

#[test]
fn nothing_names_the_machine_it_was_written_on() {
    // Written in pieces, so that this file does not name them.
    let machine = [["/", "home/"], ["/", "root/"], ["/", "Users/"], ["/", "work/"]].map(|pieces| pieces.concat());
    let mut findings = Vec::new();
    for file in folder(".") {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for (line, content) in text.lines().enumerate() {
            // A longer path that has such a folder inside (a URL, a relative path) is none of a machine.
            let start = |at: usize| !content[..at].ends_with(|c: char| c.is_alphanumeric() || "._-*/".contains(c));
            if machine.iter().any(|path| content.match_indices(path.as_str()).any(|(at, _)| start(at))) {
                findings.push(format!("{}:{}: {content}", file.display(), line + 1));
            }
        }
    }
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock")).unwrap();
    for line in lock.lines().filter(|line| line.starts_with("source = ")) {
        if line != "source = \"registry+https://github.com/rust-lang/crates.io-index\"" {
            findings.push(format!("Cargo.lock: {line}"));
        }
    }
    complain("paths of a machine, or packages from elsewhere than crates.io", &findings);
}
