//! The strict FMUs, and what is left of a run of them.

use crate::program::Rig;
use crate::simulated::Place;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// An interface type of an FMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strict {
    folder: &'static str,
    pub version: u8,
    pub equations: bool,
    /// Whether the importer sees its events: in Model Exchange, and in Event Mode.
    pub shows_events: bool,
}

pub const ME3: Strict = Strict { folder: "fmi3", version: 3, equations: true, shows_events: true };
pub const CS3: Strict = Strict { equations: false, ..ME3 };
/// Without Event Mode and early return.
pub const PLAIN3: Strict = Strict { folder: "fmi3_plain", version: 3, equations: false, shows_events: false };
pub const ME2: Strict = Strict { folder: "fmi2", version: 2, ..ME3 };
pub const CS2: Strict = Strict { folder: "fmi2", version: 2, ..PLAIN3 };
pub const ME1: Strict = Strict { folder: "fmi1", version: 1, ..ME3 };
pub const CS1: Strict = Strict { folder: "fmi1_steps", version: 1, ..PLAIN3 };
pub const ALL: [Strict; 7] = [ME3, CS3, PLAIN3, ME2, CS2, ME1, CS1];

impl Strict {
    pub fn path(self) -> PathBuf {
        FMUS.join(self.folder)
    }

    /// The interface type, as command lines have it.
    pub fn short(self) -> &'static str {
        if self.equations { "me" } else { "cs" }
    }

    /// Its table of a rig, with steps of 10 ms of its own.
    pub fn table(self, name: &str, start: &str, keys: &str) -> String {
        let interface = if self.equations { "model-exchange" } else { "co-simulation" };
        let path = self.path();
        format!("[fmu.{name}]\npath = '{}'\ninterface = '{interface}'\nstart = {{ {start} }}\n{keys}\n", path.display())
    }
}

/// What makes the importer see events in the description, and what stands there without.
const EVENTS: (&str, &str) = (" hasEventMode=\"true\" mightReturnEarlyFromDoStep=\"true\"", "");
const STEPS: (&str, &str) = (
    "<!-- Co-Simulation -->",
    "<Implementation><CoSimulation_StandAlone><Capabilities canHandleVariableCommunicationStepSize=\"true\" \
     canHandleEvents=\"true\" canRejectSteps=\"true\"/></CoSimulation_StandAlone></Implementation>",
);

/// The folder of all of them, compiled once for each run of this program.
static FMUS: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("strict");
    let fmus = [
        ("fmi3", "fmi3", "", None),
        ("fmi3_plain", "fmi3", "", Some(EVENTS)),
        ("fmi2", "fmi2", "", None),
        ("fmi1", "fmi1", "", None),
        ("fmi1_steps", "fmi1", "-DCO_SIMULATION", Some(STEPS)),
    ];
    for (name, source, define, change) in fmus {
        let from = |ending: &str| root.join("tests/strict/fmu").join(format!("{source}.{ending}"));
        // The last one is what FMI 2.0 and 1.0 call it.
        let platforms = vecud::fmu::platform::of_this_machine();
        let platform = &platforms[if source == "fmi3" { 0 } else { platforms.len() - 1 }];
        let binaries = all.join(name).join("binaries").join(platform);
        fs::create_dir_all(&binaries).unwrap();
        let mut description = fs::read_to_string(from("xml")).unwrap();
        if let Some((before, after)) = change {
            assert!(description.contains(before));
            description = description.replace(before, after);
        }
        fs::write(all.join(name).join("modelDescription.xml"), description).unwrap();
        let options: &[&str] = if define.is_empty() { &["-shared"] } else { &["-shared", define] };
        compile(&from("c"), &binaries.join("strict.so"), options);
    }
    all
});

/// Compiles a source that may include those of `fmu/`.
pub fn compile(source: &Path, to: &Path, options: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-O1", "-fPIC", "-Wall", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function"]);
    compiler.arg("-I").arg(root.join("tests/strict/fmu")).arg("-I").arg(root.join("crates/fmu/src/headers"));
    let output = compiler.args(options).arg(source).arg("-o").arg(to).arg("-lm").output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// How FMUs are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Simulate,
    Virtual,
    RealTime,
}

/// What a run has left.
pub struct Ran {
    what: String,
    code: i32,
    words: String,
    /// What each instance has written down.
    books: BTreeMap<String, String>,
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Ran {
    fn new(what: String, (code, words): (i32, String), results: &Path, table: &str) -> Ran {
        let mut lines = table.lines().map(|line| line.split(',').map(|cell| cell.trim_matches('"')));
        let names = lines.next().into_iter().flatten().map(str::to_owned).collect();
        let number = |cell: &str| cell.parse().unwrap_or(f64::NAN);
        let rows = lines.map(|line| line.map(number).collect()).collect();
        Ran { what, code, words, books: books(results), names, rows }
    }

    pub fn times(&self) -> Vec<f64> {
        self.rows.iter().map(|row| row[0]).collect()
    }

    /// What a variable has in the last row of a time.
    pub fn at(&self, time: f64, name: &str) -> f64 {
        let column = self.names.iter().position(|own| own == name || own.strip_prefix("s.") == Some(name));
        let row = self.rows.iter().rfind(|row| (row[0] - time).abs() < 1e-9);
        match (column, row) {
            (Some(column), Some(row)) => row[column],
            _ => f64::NAN,
        }
    }
}

/// What instances have written down in a folder.
pub fn books(results: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(results).unwrap().map(|entry| entry.unwrap());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read_to_string(file.path()).unwrap())).collect()
}

/// Runs one FMU with steps of 10 ms, for a tenth of a second, and records everything. `more` are arguments of `simulate`, or tables of a rig.
pub fn alone(way: Way, fmu: Strict, start: &str, more: &str) -> Ran {
    if way != Way::Simulate {
        let table = fmu.table("s", start, "step = '1/100'");
        return rig(way, &format!("{fmu:?}, {start}"), &format!("{table}[record]\nsignals = ['*']\n{more}"));
    }
    let place = Place::new();
    let results = place.path("results");
    fs::create_dir(&results).unwrap();
    let mut arguments = vec!["--interface-type", fmu.short(), "--output-interval", "0.01", "--output-variable", "*"];
    for value in start.split(", ").filter(|value| !value.is_empty()) {
        arguments.extend(["--start-value", value]);
    }
    arguments.extend(more.split_whitespace());
    let output = place.command(&fmu.path(), &arguments).env("STRICT_RESULTS", &results).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let end = (output.status.code().unwrap_or(-1), text(output.stderr));
    Ran::new(format!("simulate {fmu:?}, {start}"), end, &results, &text(output.stdout))
}

/// Runs a rig for a tenth of a second.
pub fn rig(way: Way, what: &str, tables: &str) -> Ran {
    rig_until(0.1, way, what, tables, &[])
}

/// The same with another stop time and further arguments.
pub fn rig_until(stop: f64, way: Way, what: &str, tables: &str, arguments: &[&str]) -> Ran {
    let mode = if way == Way::RealTime { "realtime" } else { "virtual" };
    let rig = Rig::of_text(&format!("[rig]\nmode = '{mode}'\nstop_time = {stop}\noverrun = 'queue'\n{tables}\n"));
    let results = rig.folder().join("results");
    fs::create_dir(&results).unwrap();
    let mut command = rig.command();
    command.args(arguments).env("STRICT_RESULTS", &results);
    let outcome = rig.finish(rig.start(command));
    let table = fs::read_to_string(outcome.out.join("signals.csv")).unwrap_or_default();
    let end = (outcome.code, outcome.stderr.clone() + &outcome.stdout);
    Ran::new(format!("{mode}: {what}"), end, &results, &table)
}

/// What was wrong with runs, all of it told together.
#[derive(Default)]
pub struct Wrong(Vec<String>);

impl Wrong {
    /// A run passes if no instance has refused a call, all were terminated, and `also` finds nothing.
    pub fn look(&mut self, ran: &Ran, also: impl FnOnce(&mut Found)) {
        let mut found = Found(Vec::new());
        if ran.code != 0 {
            found.0.push(format!("exit code {}", ran.code));
        }
        if ran.books.is_empty() {
            found.0.push("nothing was freed".to_owned());
        }
        for (name, book) in &ran.books {
            found.0.extend(
                book.lines().filter(|line| *line != "freed in Terminated").map(|line| format!("{name}: {line}")),
            );
        }
        if found.0.is_empty() {
            also(&mut found);
        }
        if !found.0.is_empty() {
            self.0.push(format!("{}\n    {}\n{}", ran.what, found.0.join("\n    "), ran.words));
        }
    }

    #[track_caller]
    pub fn none(self) {
        assert!(self.0.is_empty(), "{} wrong:\n{}", self.0.len(), self.0.join("\n"));
    }
}

/// What is wrong with one run.
pub struct Found(Vec<String>);

impl Found {
    /// A number is what was worked out by hand, but for rounding.
    pub fn same(&mut self, what: &str, own: f64, wanted: f64) {
        if (own - wanted).abs() > 1e-9 || own.is_nan() {
            self.0.push(format!("{what} is {own}, and {wanted} by hand"));
        }
    }
}
