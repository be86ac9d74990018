//! What becomes of a simulation when an FMU for Model Exchange answers a call with something else than OK: every function that is called
//! of it, in every mode in which it is called, with every status, in each version of FMI. The FMUs (`fmus/failing*`) answer one
//! call so, and say so where they are called as the standards do not allow then.
//!
//! Left out is what an FMU answers before it knows which call that is to be: the start values themselves.

use super::{Place, Simulated, copy, fmu};
use Mode::{Before, Continuous, Event, Initialization};
use Rule::{Computed, Read, Told};

/// Where a call is made, as the parameter `mode` says it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Before = 1,
    Initialization = 4,
    Event = 8,
    /// FMI 1.0, which has no modes: between events, and in them.
    Continuous = 16,
}

/// What a Discard leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    /// The solver asks for it on its way: a smaller step is tried.
    Computed,
    /// It is asked for where the FMU stands: nothing else can be tried.
    Read,
    /// The FMU is told something that it must be able to take.
    Told,
}

struct Version {
    fmu: &'static str,
    /// Of the names of statuses.
    prefix: &'static str,
    functions: &'static [(&'static str, Mode, Rule)],
    terminate: &'static str,
    free: &'static str,
    /// Calls that no row is about.
    others: &'static [&'static str],
}

const FMI_3: Version = Version {
    fmu: "failing",
    prefix: "fmi3",
    functions: &[
        ("fmi3EnterInitializationMode", Before, Told),
        ("fmi3GetFloat64", Initialization, Read),
        ("fmi3GetInt32", Initialization, Read),
        ("fmi3ExitInitializationMode", Initialization, Told),
        ("fmi3SetFloat64", Event, Told),
        ("fmi3GetInt32", Event, Read),
        ("fmi3UpdateDiscreteStates", Event, Told),
        ("fmi3EnterContinuousTimeMode", Event, Told),
        ("fmi3GetNumberOfContinuousStates", Event, Read),
        ("fmi3GetNumberOfEventIndicators", Event, Read),
        ("fmi3GetContinuousStates", Continuous, Read),
        ("fmi3GetNominalsOfContinuousStates", Continuous, Read),
        ("fmi3SetFloat64", Continuous, Computed),
        ("fmi3SetTime", Continuous, Computed),
        ("fmi3SetContinuousStates", Continuous, Computed),
        ("fmi3GetContinuousStateDerivatives", Continuous, Computed),
        ("fmi3GetDirectionalDerivative", Continuous, Computed),
        ("fmi3GetEventIndicators", Continuous, Computed),
        ("fmi3CompletedIntegratorStep", Continuous, Told),
        ("fmi3EnterEventMode", Continuous, Told),
        ("fmi3GetFloat64", Continuous, Read),
        ("fmi3GetInt32", Continuous, Read),
        ("fmi3GetFMUState", Continuous, Told),
        ("fmi3SerializedFMUStateSize", Continuous, Told),
        ("fmi3SerializeFMUState", Continuous, Told),
        ("fmi3FreeFMUState", Continuous, Told),
        ("fmi3Terminate", Continuous, Told),
    ],
    terminate: "fmi3Terminate",
    free: "fmi3FreeInstance",
    others: &["fmi3InstantiateModelExchange", "fmi3SetString", "fmi3SetInt32", "fmi3FreeInstance"],
};

const FMI_2: Version = Version {
    fmu: "failing_fmi2",
    prefix: "fmi2",
    functions: &[
        ("fmi2SetupExperiment", Before, Told),
        ("fmi2EnterInitializationMode", Before, Told),
        ("fmi2GetReal", Initialization, Read),
        ("fmi2GetInteger", Initialization, Read),
        ("fmi2ExitInitializationMode", Initialization, Told),
        ("fmi2SetReal", Event, Told),
        ("fmi2GetInteger", Event, Read),
        ("fmi2NewDiscreteStates", Event, Told),
        ("fmi2EnterContinuousTimeMode", Event, Told),
        ("fmi2GetContinuousStates", Continuous, Read),
        ("fmi2GetNominalsOfContinuousStates", Continuous, Read),
        ("fmi2SetReal", Continuous, Computed),
        ("fmi2SetTime", Continuous, Computed),
        ("fmi2SetContinuousStates", Continuous, Computed),
        ("fmi2GetDerivatives", Continuous, Computed),
        ("fmi2GetDirectionalDerivative", Continuous, Computed),
        ("fmi2GetEventIndicators", Continuous, Computed),
        ("fmi2CompletedIntegratorStep", Continuous, Told),
        ("fmi2EnterEventMode", Continuous, Told),
        ("fmi2GetReal", Continuous, Read),
        ("fmi2GetInteger", Continuous, Read),
        ("fmi2Terminate", Continuous, Told),
    ],
    terminate: "fmi2Terminate",
    free: "fmi2FreeInstance",
    others: &["fmi2Instantiate", "fmi2SetString", "fmi2SetInteger", "fmi2FreeInstance"],
};

const FMI_1: Version = Version {
    fmu: "failing_fmi1",
    prefix: "fmi",
    functions: &[
        ("fmiInitialize", Before, Told),
        ("fmiGetContinuousStates", Continuous, Read),
        ("fmiGetNominalContinuousStates", Continuous, Read),
        ("fmiSetReal", Continuous, Computed),
        ("fmiSetTime", Continuous, Computed),
        ("fmiSetContinuousStates", Continuous, Computed),
        ("fmiGetDerivatives", Continuous, Computed),
        ("fmiGetEventIndicators", Continuous, Computed),
        ("fmiCompletedIntegratorStep", Continuous, Told),
        ("fmiEventUpdate", Continuous, Told),
        ("fmiGetReal", Continuous, Read),
        ("fmiGetInteger", Continuous, Read),
        ("fmiTerminate", Continuous, Told),
    ],
    terminate: "fmiTerminate",
    free: "fmiFreeModelInstance",
    others: &["fmiInstantiateModel", "fmiSetString", "fmiSetInteger", "fmiFreeModelInstance"],
};

/// A call of the log.
#[derive(Debug)]
struct Call {
    function: String,
    mode: Mode,
    status: String,
    /// What the FMU was told last: where a failure is.
    time: Option<f64>,
    /// How often the function was called in this mode until then, this time included.
    number: usize,
    /// How far the FMU had come before.
    stands: f64,
}

/// The calls of a log, in their order.
fn calls(log: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let (mut mode, mut time, mut stands) = (Before, None, 0.0);
    for line in log.lines() {
        let Some((_, call)) = line.split_once(": [call] ") else { continue };
        let (function, rest) = call.split_once('(').unwrap();
        let (arguments, status) = rest.rsplit_once(") -> ").unwrap();
        time = arguments.split(", ").next().and_then(|first| first.parse().ok()).or(time);
        let number = 1 + calls.iter().filter(|call| call.function == function && call.mode == mode).count();
        calls.push(Call { function: function.to_owned(), mode, status: status.to_owned(), time, number, stands });
        match function.trim_start_matches(|c: char| !c.is_ascii_uppercase()) {
            "EnterInitializationMode" => mode = Initialization,
            "ExitInitializationMode" | "EnterEventMode" => mode = Event,
            "EnterContinuousTimeMode" | "Initialize" => mode = Continuous,
            "CompletedIntegratorStep" => stands = time.unwrap(),
            _ => (),
        }
    }
    calls
}

/// A simulation in which everything happens that leads to a call: a state event, time events and step events, an input that jumps and one
/// that changes all the time, and a state that is kept in the end. The method is the one that wants directional derivatives.
struct Setting {
    version: &'static Version,
    place: Place,
}

/// So many calls of a function in a mode are answered with a status, from one of them on.
struct Answer {
    function: &'static str,
    mode: Mode,
    status: i32,
    call: usize,
    times: usize,
}

/// What has come of it.
struct Seen {
    simulated: Simulated,
    calls: Vec<Call>,
    log: String,
}

impl Seen {
    /// Rows without the number of calls that may be answered otherwise.
    fn rows(&self) -> Vec<Vec<&str>> {
        let place = self.simulated.header().split(',').position(|column| column == "calls").unwrap();
        let mut rows = self.simulated.rows();
        for row in &mut rows {
            row.remove(place);
        }
        rows
    }

    /// How often a function was called, by `--show-stats`.
    fn count(&self, function: &str) -> u64 {
        let line = self.simulated.stderr.lines().find(|line| line.split_whitespace().next() == Some(function));
        line.map_or(0, |line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
    }
}

impl Setting {
    /// By its description, the derivative of the state depends on the state, so that there is something to differentiate.
    fn new(version: &'static Version) -> Setting {
        let place = Place::new().with("in.csv", "time,u,d\n0,0.5,0\n0.35,0.5,1\n1,0,1\n");
        copy(&fmu(version.fmu), &place.path(version.fmu));
        copy(&fmu("common"), &place.path("common"));
        let derivative = match version.prefix {
            "fmi3" => Some("<ContinuousStateDerivative valueReference=\"2\" dependencies=\""),
            "fmi2" => Some("<Derivatives><Unknown index=\"2\" dependencies=\""),
            _ => None,
        };
        if let Some(begin) = derivative {
            let file = place.path(version.fmu).join("modelDescription.xml");
            let text = std::fs::read_to_string(&file).unwrap();
            let (before, after) = text.split_once(begin).unwrap();
            std::fs::write(file, format!("{before}{begin}1 {after}")).unwrap();
        }
        Setting { version, place }
    }

    fn run(&self, answer: Option<&Answer>) -> Seen {
        let mut arguments: Vec<String> =
            "--solver bdf --stop-time 0.6 --output-interval 0.1 --input-file in.csv --start-value x=0.8 \
                                          --log-fmi-calls --log-file log --show-stats"
                .split_whitespace()
                .map(str::to_owned)
                .collect();
        if self.version.prefix == "fmi3" {
            arguments.extend(["--final-fmu-state-file", "state"].map(str::to_owned));
        }
        if let Some(Answer { function, mode, status, call, times }) = answer {
            let start = [("status", *status), ("mode", *mode as i32), ("call", *call as i32), ("times", *times as i32)];
            arguments.extend(["--start-value".to_owned(), format!("function={function}")]);
            for (name, value) in start {
                arguments.extend(["--start-value".to_owned(), format!("{name}={value}")]);
            }
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let simulated = self.place.simulate(self.version.fmu, &arguments);
        let log = std::fs::read_to_string(self.place.path("log")).unwrap();
        Seen { simulated, calls: calls(&log), log }
    }

    /// Does something with each row of the table and the number of the call that is answered otherwise.
    fn each(&self, mut check: impl FnMut(&Seen, Row)) {
        let undisturbed = self.run(None);
        assert_eq!(undisturbed.simulated.code, 0, "{}", undisturbed.simulated.stderr);
        for &(function, mode, rule) in self.version.functions {
            let is_it = |call: &&Call| call.function == function && call.mode == mode;
            let mut of = undisturbed.calls.iter().filter(is_it);
            let call = match rule {
                // One with which the solver looks ahead. Inputs change for the first time where it looks how long its first step may be.
                Computed => of
                    .clone()
                    .filter(|call| call.stands > 0.0 && call.time > Some(call.stands))
                    .nth(usize::from(function.ends_with("SetFloat64") || function.ends_with("SetReal")))
                    .or_else(|| of.next_back()),
                Read | Told => of.next_back(),
            };
            let (number, time) = match call {
                Some(call) => (call.number, call.time),
                // It has no line of its own.
                None if function == "fmi2SetupExperiment" => (1, None),
                None => panic!("{function} is not called in {mode:?}"),
            };
            check(&undisturbed, Row { function, mode, rule, number, time });
        }
    }

    fn checked(&self, row: &Row, status: i32, times: usize) -> Seen {
        let Row { function, mode, number: call, .. } = *row;
        let seen = self.run(Some(&Answer { function, mode, status, call, times }));
        let name = ["Ok", "Warning", "Discard", "Error", "Fatal", "5"][status as usize];
        assert!(seen.calls.iter().any(|call| call.status == name), "{row:?}: {}", seen.log);
        for wrong in ["is not allowed", "cannot be", "lies before"] {
            assert!(!seen.log.contains(wrong), "{row:?}: {}", seen.log);
        }
        seen
    }

    /// The run has ended there and then, in good order as far as that may be.
    fn has_ended(&self, undisturbed: &Seen, seen: &Seen, row: &Row, status: &str, is_freed: bool) {
        let Row { function, mode, time, .. } = *row;
        let stderr = &seen.simulated.stderr;
        assert_eq!(seen.simulated.code, 1, "{row:?}, {status}: {stderr}");
        let returned = match (status, self.version.prefix) {
            ("5", "fmi3") => "5 (no status of the released FMI 3.0)".to_owned(),
            ("5", prefix) => format!("5 ({prefix}Pending, a status of {prefix}DoStep alone)"),
            (status, prefix) => format!("{prefix}{status}"),
        };
        let mut words = format!("error: fmu `{}`: {function} returned {returned}", self.version.fmu);
        let at_end = ["State", "StateSize", "Terminate"].iter().any(|end| function.ends_with(end));
        assert!(stderr.contains(&words), "{row:?}, {status}: no {words} in {stderr}");
        // They are asked before the run begins.
        let at_begin = function.contains("GetNumberOf");
        if matches!(mode, Event | Continuous) && !at_end && !at_begin {
            words += " at ";
            let told: f64 = stderr.split(&words).nth(1).unwrap().split(" s;").next().unwrap().parse().unwrap();
            assert!((told - time.unwrap()).abs() < 1e-15, "{row:?}, {status}: {told} s");
        }
        // Whoever cannot give its state now, or how many it has, is ended as any other; what it has given is freed, whatever followed.
        let keeps_state = function.contains("State") && at_end;
        let goes_on = status == "Discard" && (keeps_state || at_begin);
        let last = seen.calls.iter().rposition(|call| call.function == function && call.mode == mode).unwrap();
        let may_follow = |call: &Call| match &*call.function {
            "fmi3FreeFMUState" => keeps_state,
            function => goes_on && function == self.version.terminate,
        };
        assert!(seen.calls[last + 1..].iter().all(may_follow), "{row:?}, {status}: {:?}", &seen.calls[last..]);
        let (rows, all) = (seen.rows(), undisturbed.rows());
        assert!(rows.len() <= all.len() && rows == all[..rows.len()], "{row:?}, {status}: {rows:?}");
        let ends = u64::from(function == self.version.terminate || goes_on);
        assert_eq!(seen.count(self.version.terminate), ends, "{row:?}, {status}: {stderr}");
        assert_eq!(seen.count(self.version.free), u64::from(is_freed), "{row:?}, {status}: {stderr}");
    }
}

/// What is answered otherwise.
#[derive(Debug)]
struct Row {
    function: &'static str,
    mode: Mode,
    rule: Rule,
    number: usize,
    time: Option<f64>,
}

const VERSIONS: [&Version; 3] = [&FMI_3, &FMI_2, &FMI_1];

/// So that none is forgotten.
#[test]
fn every_function_that_is_called_has_its_row() {
    for version in VERSIONS {
        let seen = Setting::new(version).run(None);
        let table = seen.simulated.stderr.lines().skip_while(|line| !line.starts_with("function"));
        for line in table.skip(1).filter(|line| !line.contains("simulated in")) {
            let function = line.split_whitespace().next().unwrap();
            let has_row = version.functions.iter().any(|(own, _, _)| *own == function);
            assert!(has_row || version.others.contains(&function), "{function}");
        }
    }
}

/// Nothing but the count of it.
#[test]
fn warnings_change_nothing() {
    for version in VERSIONS {
        let setting = Setting::new(version);
        setting.each(|undisturbed, row| {
            let seen = setting.checked(&row, 1, 1);
            assert_eq!(seen.simulated.code, 0, "{row:?}: {}", seen.simulated.stderr);
            let words = format!("warning: fmu `{}`: 1 call returned {}Warning", version.fmu, version.prefix);
            assert!(seen.simulated.stderr.contains(&words), "{row:?}: {}", seen.simulated.stderr);
            assert_eq!(seen.rows(), undisturbed.rows(), "{row:?}");
            assert_eq!(seen.count(version.free), 1, "{row:?}");
        });
    }
}

/// Where there is none to be made smaller, it is an error.
#[test]
fn a_discard_asks_for_a_smaller_step() {
    for version in VERSIONS {
        let setting = Setting::new(version);
        setting.each(|undisturbed, row| {
            let seen = setting.checked(&row, 2, 1);
            if row.rule != Computed {
                setting.has_ended(undisturbed, &seen, &row, "Discard", true);
                return;
            }
            assert_eq!(seen.simulated.code, 0, "{row:?}: {}", seen.simulated.stderr);
            let refused = seen.calls.iter().position(|call| call.status == "Discard").unwrap();
            let next = seen.calls[refused + 1..].iter().find(|call| call.function.ends_with("SetTime")).unwrap();
            assert!(next.time < seen.calls[refused].time, "{row:?}: {:?}, {next:?}", seen.calls[refused]);
            let last = |seen: &Seen, name: &str| *seen.simulated.column(name).last().unwrap();
            assert!((last(&seen, "x") - last(undisturbed, "x")).abs() < 1e-5, "{row:?}");
            assert_eq!(last(&seen, "falls"), last(undisturbed, "falls"), "{row:?}");
        });
    }
}

/// It was halved ten times then; the first step is found by one look more.
#[test]
fn discards_without_end_are_an_error() {
    for version in VERSIONS {
        let setting = Setting::new(version);
        setting.each(|_, row| {
            if row.rule != Computed {
                return;
            }
            let seen = setting.checked(&row, 2, 1000);
            let refused = seen.calls.iter().filter(|call| call.status == "Discard").count();
            assert!((11..=12).contains(&refused), "{row:?}: {refused}");
            assert_eq!(seen.simulated.code, 1, "{row:?}");
            let words = format!("{} returned {}Discard at ", row.function, version.prefix);
            assert!(seen.simulated.stderr.contains(&words), "{row:?}: {}", seen.simulated.stderr);
            assert_eq!((seen.count(version.terminate), seen.count(version.free)), (0, 1), "{row:?}");
        });
    }
}

/// The instance is freed, and nothing else is called.
#[test]
fn an_error_ends_the_run_where_it_is() {
    for version in VERSIONS {
        let setting = Setting::new(version);
        setting.each(|undisturbed, row| {
            let seen = setting.checked(&row, 3, 1);
            setting.has_ended(undisturbed, &seen, &row, "Error", true);
        });
    }
}

/// As `fmi2Pending`, which is for steps of Co-Simulation alone.
#[test]
fn what_is_no_status_counts_as_an_error_and_is_told_as_what_it_is() {
    for version in VERSIONS {
        let setting = Setting::new(version);
        setting.each(|undisturbed, row| {
            let seen = setting.checked(&row, 5, 1);
            setting.has_ended(undisturbed, &seen, &row, "5", true);
        });
    }
}

/// Not even to free the instance.
#[test]
fn after_fatal_nothing_is_called() {
    for version in VERSIONS {
        let setting = Setting::new(version);
        setting.each(|undisturbed, row| {
            let seen = setting.checked(&row, 4, 1);
            setting.has_ended(undisturbed, &seen, &row, "Fatal", false);
        });
    }
}
