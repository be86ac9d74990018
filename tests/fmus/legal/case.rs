//! One small FMU and what a run of it has to be: a description, a hook in C, and the activations worked out by hand.

use crate::program::{Outcome, Rig, real_time, shared_core, without_real_time};
use roxmltree::{Document, Node};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use tempfile::TempDir;

/// The base that all of these FMUs share, compiled once.
static BASE: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = crate::program::tempdir().unwrap();
    compile(
        folder.path(),
        &["-c".as_ref(), &sources().join("strict.c"), "-o".as_ref(), &folder.path().join("strict.o")],
    );
    folder
});

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fmus/legal/fmu")
}

fn compile(folder: &Path, arguments: &[&Path]) {
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/fmu/src/headers");
    let mut compiler = Command::new("cc");
    compiler.args([
        "-std=gnu11",
        "-O0",
        "-fPIC",
        "-Wall",
        "-Werror",
        "-Wno-unused-parameter",
        "-Wno-misleading-indentation",
    ]);
    compiler.arg("-I").arg(sources()).arg("-I").arg(headers).args(arguments).current_dir(folder);
    let output = compiler.output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What an FMU has noted itself, by instance.
type Activations = BTreeMap<u32, Vec<f64>>;

/// A legal FMU, and its run.
pub struct Legal {
    variables: String,
    hook: String,
    root: String,
    interface: String,
    elements: String,
    model: String,
    no_time: bool,
    resources: bool,
    states: bool,
    warns: bool,
    keys: String,
    rig: String,
    tables: String,
    instances: Vec<&'static str>,
    expected: Activations,
    saves: bool,
    findings: bool,
    note: Option<&'static str>,
    remark: Option<&'static str>,
    ends: End,
    repeats: u32,
}

/// How an instance ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Terminated,
    /// By fmi3Error or fmi3Discard.
    Error,
    Fatal,
}

/// How a case is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Virtual,
    RealTime,
    /// Real time without the privilege for SCHED_FIFO.
    Cooperative,
}

impl Legal {
    /// `variables`: the elements in `ModelVariables`, but for the independent variable, which has the reference 0;
    /// `hook`: what the FMU does, see `fmu/strict.h`.
    pub fn new(variables: &str, hook: &str) -> Legal {
        Legal {
            variables: variables.to_owned(),
            hook: hook.to_owned(),
            root: String::new(),
            interface: String::new(),
            elements: "<LogCategories><Category name='logStatusError'/></LogCategories>".to_owned(),
            model: "legal".to_owned(),
            no_time: false,
            resources: false,
            states: false,
            warns: false,
            keys: String::new(),
            rig: "stop_time = 0.1".to_owned(),
            tables: String::new(),
            instances: vec!["a"],
            expected: BTreeMap::new(),
            saves: false,
            findings: false,
            note: None,
            remark: None,
            ends: End::Terminated,
            repeats: 1,
        }
    }

    /// Attributes of `ScheduledExecution`.
    pub fn interface(mut self, attributes: &str) -> Legal {
        self.interface = attributes.to_owned();
        self
    }

    /// Attributes of the root.
    pub fn root(mut self, attributes: &str) -> Legal {
        self.root = attributes.to_owned();
        self
    }

    /// Elements between `ScheduledExecution` and `ModelVariables`: units, log categories, ...
    pub fn elements(mut self, elements: &str) -> Legal {
        self.elements = elements.to_owned();
        self
    }

    pub fn model(mut self, identifier: &str) -> Legal {
        self.model = identifier.to_owned();
        self
    }

    /// The independent variable is among `variables`, or there is none.
    pub fn own_time(mut self) -> Legal {
        self.no_time = true;
        self
    }

    pub fn with_resources(mut self) -> Legal {
        self.resources = true;
        self
    }

    pub fn with_states(mut self) -> Legal {
        self.states = true;
        self
    }

    /// Its state is saved at the end.
    pub fn saved(mut self) -> Legal {
        self.saves = true;
        self.with_states()
    }

    /// Every function answers fmi3Warning.
    pub fn warns(mut self) -> Legal {
        self.warns = true;
        self
    }

    /// Keys in the table of each instance.
    pub fn keys(mut self, keys: &str) -> Legal {
        self.keys = keys.to_owned();
        self
    }

    /// The keys of `[rig]`.
    pub fn rig(mut self, keys: &str) -> Legal {
        self.rig = keys.to_owned();
        self
    }

    /// Further tables.
    pub fn tables(mut self, tables: &str) -> Legal {
        self.tables = tables.to_owned();
        self
    }

    /// Names of the instances; every one of them has the same activations.
    pub fn instances(mut self, names: &[&'static str]) -> Legal {
        self.instances = names.to_vec();
        self
    }

    /// The run may have findings: what the FMU does is odd, though not forbidden.
    pub fn may_be_found_odd(mut self) -> Legal {
        self.findings = true;
        self
    }

    /// The program notes this.
    pub fn noted(mut self, words: &'static str) -> Legal {
        self.note = Some(words);
        self
    }

    /// Under SCHED_FIFO the last instance comes to this remark; elsewhere it may.
    pub fn remarks(mut self, what: &'static str) -> Legal {
        self.remark = Some(what);
        self
    }

    /// The run fails, since the FMU answers something else than fmi3OK and fmi3Warning.
    pub fn fails(mut self, end: End) -> Legal {
        self.ends = end;
        self
    }

    /// As many runs, in one process, with the same activations.
    pub fn repeated(mut self, runs: u32) -> Legal {
        self.repeats = runs;
        self
    }

    /// The clock with this reference is activated at these times and no others.
    pub fn at(mut self, clock: u32, times: &[f64]) -> Legal {
        self.expected.insert(clock, times.to_vec());
        self
    }

    /// The clock is activated `count` times, the first at `first`, then each `interval` later: decimals as one writes
    /// them, with `places` digits behind the point.
    pub fn every(self, clock: u32, count: u32, first: f64, interval: f64, places: usize) -> Legal {
        let times: Vec<f64> =
            (0..count).map(|k| format!("{:.places$}", first + f64::from(k) * interval).parse().unwrap()).collect();
        self.at(clock, &times)
    }

    /// Runs it in all three modes, and looks at what the FMU has noted and at what the report says.
    #[track_caller]
    pub fn runs(self) {
        let name = std::thread::current().name().unwrap_or("legal").to_owned();
        self.run_in(Mode::Virtual);
        real_time(&name, || self.run_in(Mode::RealTime));
        // Its releases wait, so that it disturbs nobody and nobody disturbs it.
        shared_core(|| self.run_in(Mode::Cooperative));
    }

    /// The rig is refused with these words, before any function of the FMU is called.
    #[track_caller]
    pub fn ends_refused(self, words: &str) {
        for mode in [Mode::Virtual, Mode::RealTime] {
            let rig = Rig::of_text("");
            let results = self.write(rig.folder());
            let mut command = rig.command();
            command.env("LEGAL_RESULTS", &results).args((mode == Mode::Virtual).then_some("--mode=virtual"));
            let run = rig.finish(rig.start(command)).exits(2);
            assert!(run.stderr.contains(words), "{mode:?}: {}", run.stderr);
            assert_eq!(fs::read_dir(results).unwrap().count(), 0, "{mode:?}: instances were made");
        }
    }

    /// Writes FMU and rig into a folder; returns the one in which instances leave what they note.
    fn write(&self, folder: &Path) -> PathBuf {
        self.write_fmu(&folder.join("fmu"));
        fs::write(folder.join("test.toml"), self.rig_text()).unwrap();
        let results = folder.join("results");
        fs::create_dir(&results).unwrap();
        results
    }

    #[track_caller]
    fn run_in(&self, mode: Mode) {
        let rig = Rig::of_text("");
        let folder = rig.folder();
        let results = self.write(folder);
        let mut command = rig.command();
        command.env("LEGAL_RESULTS", &results);
        if self.repeats > 1 {
            command.args(["--repeat", &self.repeats.to_string()]);
        }
        if self.saves {
            command.arg("--save-state").arg(folder.join("state"));
        }
        match mode {
            Mode::Virtual => drop(command.args(["--mode", "virtual"])),
            Mode::Cooperative if !without_real_time("a cooperative run of a legal FMU", &mut command) => return,
            Mode::RealTime | Mode::Cooperative => (),
        }
        let run = rig.finish(rig.start(command));
        let noted = |name: &str| fs::read_to_string(results.join(name)).unwrap_or_default();
        for name in &self.instances {
            let text = noted(name);
            let violations: Vec<&str> = text.lines().filter(|line| line.starts_with("violation")).collect();
            assert!(violations.is_empty(), "{mode:?}, {name}: {violations:#?}\n{}", run.stderr);
        }
        let run = run.exits(if self.ends == End::Terminated { 0 } else { 1 });
        let scheduling = match mode {
            Mode::Virtual => "virtual",
            Mode::RealTime => "fifo",
            Mode::Cooperative => "cooperative",
        };
        for report in self.reports(&run) {
            assert_eq!(report["host"]["scheduling"], scheduling, "{}", run.stderr);
            let problems = report["problems"].as_array().unwrap();
            assert_eq!(report["verdict"] == "fail", self.ends != End::Terminated, "{mode:?}: {problems:#?}");
            if mode == Mode::Virtual && !self.findings && self.ends == End::Terminated {
                assert!(problems.is_empty(), "{mode:?}: {problems:#?}");
            }
            let notes = report["notes"].to_string();
            assert_eq!(notes.contains("must not be activated"), self.note.is_some(), "{mode:?}: {notes}");
            let note = self.note.unwrap_or_default();
            assert!(notes.contains(note) && run.stderr.contains(note), "{mode:?}: {notes}\n{}", run.stderr);
        }
        for name in &self.instances {
            self.check(mode, name, &noted(name), &run);
        }
        if let (Some(remark), Mode::RealTime) = (self.remark, mode) {
            let text = noted(self.instances[self.instances.len() - 1]);
            assert!(text.lines().any(|line| line.strip_prefix("remark ") == Some(remark)), "{text}");
        }
    }

    /// The report of each run.
    fn reports(&self, run: &Outcome) -> Vec<Value> {
        match self.repeats {
            1 => vec![(*run.report()).clone()],
            runs => (1..=runs)
                .map(|number| serde_json::from_str(&run.file(&format!("run-{number}/report.json"))).unwrap())
                .collect(),
        }
    }

    /// What the FMU has noted is what was worked out, and so are the numbers of the report.
    #[track_caller]
    fn check(&self, mode: Mode, name: &str, text: &str, run: &Outcome) {
        let mut found = Activations::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("activation ")) {
            let (clock, time) = line.split_once(' ').unwrap();
            found.entry(clock.parse().unwrap()).or_default().push(time.parse().unwrap());
        }
        for clock in self.expected.keys() {
            found.entry(*clock).or_default();
        }
        let of_all_runs = |times: &Vec<f64>| times.repeat(self.repeats as usize);
        let expected: Activations = self.expected.iter().map(|(clock, times)| (*clock, of_all_runs(times))).collect();
        assert_eq!(found, expected, "{mode:?}, {name}:\n{}\n{text}", run.stderr);
        let (end, status) = match self.ends {
            End::Terminated => ("freed terminated\n", "terminated"),
            End::Error => ("freed ended\n", "error"),
            End::Fatal => ("died\n", "fatal"),
        };
        assert!(text.ends_with(end), "{mode:?}, {name}: {text}");
        let document = self.description();
        let parsed = Document::parse(&document).unwrap();
        let of = |report: &Value, list: &str, fits: &dyn Fn(&Value) -> bool| -> Value {
            report[list].as_array().unwrap().iter().find(|row| fits(row)).unwrap().clone()
        };
        for report in self.reports(run) {
            assert_eq!(of(&report, "fmus", &|fmu| fmu["name"] == name)["status"], status, "{mode:?}, {name}");
            for clock in
                parsed.descendants().filter(|node| node.has_tag_name("Clock") && is(node, "causality", "input"))
            {
                let vr: u32 = clock.attribute("valueReference").unwrap().parse().unwrap();
                let times = self.expected.get(&vr).map_or(0, Vec::len);
                let its_name = clock.attribute("name").unwrap();
                let row = of(&report, "clocks", &|row| row["fmu"] == name && row["clock"] == its_name);
                assert_eq!(row["activations"], times, "{mode:?}, {name}, {vr}: the report's number");
            }
        }
    }

    /// Compiles the FMU with a program of this C source, runs it, and returns what it prints.
    pub fn driven_by(&self, program: &str) -> String {
        let folder = crate::program::tempdir().unwrap();
        let source = folder.path().join("driver.c");
        fs::write(&source, self.c_source(&self.description()) + program).unwrap();
        let driver = folder.path().join("driver");
        compile(folder.path(), &["-o".as_ref(), &driver, &source, &BASE.path().join("strict.o")]);
        let output = Command::new(driver).env_remove("LEGAL_RESULTS").output().unwrap();
        assert!(output.status.code().is_some(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn rig_text(&self) -> String {
        let mut text = format!("[rig]\n{}\n", self.rig);
        if !self.rig.contains("overrun") {
            // However late the machine is, no release is left out.
            text += "overrun = \"queue\"\n";
        }
        for name in &self.instances {
            writeln!(text, "[fmu.{name}]\npath = \"fmu\"\n{}", self.keys).unwrap();
        }
        if !self.tables.contains("[record]") {
            text += "[record]\n";
        }
        text + &self.tables
    }

    fn write_fmu(&self, folder: &Path) {
        let binaries = folder.join(format!("binaries/{}", vecud::fmu::platform::of_this_machine()[0]));
        fs::create_dir_all(&binaries).unwrap();
        if self.resources {
            fs::create_dir(folder.join("resources")).unwrap();
            fs::write(folder.join("resources/word.txt"), "word").unwrap();
        }
        let description = self.description();
        fs::write(folder.join("modelDescription.xml"), &description).unwrap();
        let source = folder.join("case.c");
        fs::write(&source, self.c_source(&description)).unwrap();
        let library = binaries.join(format!("{}.so", self.model));
        compile(folder, &["-shared".as_ref(), "-o".as_ref(), &library, &source, &BASE.path().join("strict.o")]);
    }

    fn description(&self) -> String {
        let time = match self.no_time {
            true => "",
            false => {
                "<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>"
            }
        };
        let root = match self.root.contains("fmiVersion") {
            true => "",
            false => "fmiVersion=\"3.0\"",
        };
        let states = match self.states {
            true => "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"",
            false => "",
        };
        let variables = format!("<ModelVariables>{time}{}</ModelVariables>", self.variables);
        let parsed = Document::parse(&variables).unwrap();
        let of = |fits: &dyn Fn(&Node) -> bool, element: &str| -> String {
            let fitting = parsed.root_element().children().filter(|node| node.is_element() && fits(node));
            let reference = |node: Node| node.attribute("valueReference").unwrap().to_owned();
            fitting.map(|node| format!("<{element} valueReference=\"{}\"/>", reference(node))).collect()
        };
        let outputs = of(&|node| is(node, "causality", "output"), "Output");
        let unknown = |node: &Node| {
            let computed = matches!(initial(node), "CALCULATED" | "APPROX");
            let kind = is(node, "causality", "output") || is(node, "causality", "calculatedParameter");
            kind && computed && !node.has_tag_name("Clock") && node.attribute("clocks").is_none()
        };
        let unknowns = of(&unknown, "InitialUnknown");
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription {root} modelName=\"legal\" \
             instantiationToken=\"{{legal}}\" {}>\n<ScheduledExecution modelIdentifier=\"{}\" {states} {}/>\n\
             {}\n{variables}\n<ModelStructure>{outputs}{unknowns}</ModelStructure>\n</fmiModelDescription>\n",
            self.root, self.model, self.interface, self.elements
        )
    }

    /// The table of variables, and the hook.
    fn c_source(&self, description: &str) -> String {
        let document = Document::parse(description).unwrap();
        let list = document.descendants().find(|node| node.has_tag_name("ModelVariables")).unwrap();
        let rows: Vec<String> = list.children().filter(Node::is_element).map(|node| row(&node)).collect();
        let categories: String = document
            .descendants()
            .filter(|node| node.has_tag_name("Category"))
            .map(|node| format!("\"{}\", ", node.attribute("name").unwrap()))
            .collect();
        let success = if self.warns { "fmi3Warning" } else { "fmi3OK" };
        format!(
            "#include \"strict.h\"\n#include <math.h>\n#include <stdio.h>\n#include <time.h>\n#define INF INFINITY\n#define NaN NAN\n\
             const struct variable variables[] = {{\n{}}};\nconst uint32_t n_variables = {};\n\
             const char *const token = \"{{legal}}\";\nconst char *const categories[] = {{{categories}NULL}};\n\
             const bool has_resources = {}, can_get_and_set_state = {states}, can_serialize_state = {states};\n\
             const fmi3Status success = {success};\n\
             fmi3Status hook(struct model *m, enum event event, uint32_t vr, double t, uint64_t n)\n{{\n\
             {}\n    return fmi3OK;\n}}\n",
            rows.concat(),
            rows.len(),
            self.resources,
            self.hook,
            states = self.states,
        )
    }
}

fn is(node: &Node, attribute: &str, value: &str) -> bool {
    node.attribute(attribute).is_some_and(|found| found == value)
}

/// `initial` with the default of the standard's table (2.4.7.4), as the C base calls it.
fn initial(node: &Node) -> &'static str {
    match node.attribute("initial") {
        Some("exact") => return "EXACT",
        Some("approx") => return "APPROX",
        Some("calculated") => return "CALCULATED",
        Some(other) => panic!("initial={other}"),
        None => (),
    }
    match (node.attribute("causality"), node.attribute("variability")) {
        (Some("parameter" | "structuralParameter" | "input"), _) | (_, Some("constant")) => "EXACT",
        (Some("independent"), _) => "NO_INITIAL",
        _ => "CALCULATED",
    }
}

/// A variable's row of the table in C.
fn row(node: &Node) -> String {
    let get = |attribute: &str| node.attribute(attribute);
    let tag = node.tag_name().name();
    let float = tag.starts_with("Float");
    let kind = match get("intervalVariability") {
        None => "NO_CLOCK".to_owned(),
        Some(kind) => format!("CLOCK_{}", kind.to_uppercase()),
    };
    let causality = match get("causality").unwrap_or("local") {
        "calculatedParameter" => "CALCULATED_PARAMETER".to_owned(),
        "structuralParameter" => "STRUCTURAL_PARAMETER".to_owned(),
        other => other.to_uppercase(),
    };
    let parameter = causality.ends_with("PARAMETER");
    let default = if parameter {
        "fixed"
    } else if float {
        "continuous"
    } else {
        "discrete"
    };
    let clocks: Vec<&str> = get("clocks").unwrap_or_default().split_whitespace().collect();
    let dimensions: Vec<String> = node
        .children()
        .filter(|child| child.has_tag_name("Dimension"))
        .map(|child| match child.attribute("start") {
            Some(size) => format!("{{.size = {size}}}"),
            None => format!("{{.vr = {}, .by_reference = true}}", child.attribute("valueReference").unwrap()),
        })
        .collect();
    let text = node.children().find(|child| child.has_tag_name("Start")).and_then(|start| start.attribute("value"));
    let start: Vec<String> = get("start")
        .unwrap_or_default()
        .split_whitespace()
        .map(|number| number.replace("true", "1").replace("false", "0"))
        .collect();
    let list = |items: &[String]| if items.is_empty() { "0".to_owned() } else { items.join(", ") };
    format!(
        "    {{.vr = {}, .type = {}, .causality = {causality}, .variability = {}, .initial = {}, .clocks = {{{}}}, \
         .n_clocks = {}, .dimensions = {{{}}}, .n_dimensions = {}, .start = (const double[]){{{}}}, .n_start = {}, \
         .text = \"{}\", .kind = {kind}, .decimal = {}, .fraction = {}, .priority = {}u}},\n",
        get("valueReference").unwrap(),
        if tag == "Enumeration" { "INT64".to_owned() } else { tag.to_uppercase() },
        get("variability").unwrap_or(default).to_uppercase(),
        initial(node),
        if clocks.is_empty() { "0".to_owned() } else { clocks.join(", ") },
        clocks.len(),
        if dimensions.is_empty() { "{0}".to_owned() } else { dimensions.join(", ") },
        dimensions.len(),
        list(&start),
        start.len(),
        text.unwrap_or_default(),
        get("intervalDecimal").or(get("intervalCounter")).is_some(),
        is(node, "supportsFraction", "true"),
        get("priority").unwrap_or("0"),
    )
}
