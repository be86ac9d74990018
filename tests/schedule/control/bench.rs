//! A run that is controlled from this process.

use super::program;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use vecud::plan::Mode;
use vecud::supervisor::{self, Control, EventSink, Finished, Options, Session, SessionEvent};
use vecud::time::Instant;

pub const SOON: Duration = Duration::from_secs(10);

/// Prints what people are told.
fn told() -> EventSink {
    EventSink::new(|event| {
        if let SessionEvent::Message(_, line) = event {
            eprintln!("{line}");
        }
    })
}

/// A rig file in a folder of its own.
pub struct Bench {
    pub folder: TempDir,
    options: Options,
}

/// A run under way.
pub struct Running {
    pub control: Control,
    session: Session,
}

/// What a run left.
pub struct Left {
    pub run: Finished,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Bench {
    /// One `fmus/structural` by the name of `x`, with these keys, and further tables.
    pub fn new(keys: &str, more: &str) -> Bench {
        Bench::of("structural", keys, more)
    }

    /// One of another FMU of this project by the name of `x`.
    pub fn of(fmu: &str, keys: &str, more: &str) -> Bench {
        let folder = crate::program::tempdir().unwrap();
        let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(fmu);
        let record = if more.contains("[record]") { "" } else { "[record]\nformat = ['csv', 'mcap']\n" };
        let text = format!("[fmu.x]\npath = '{}'\n{keys}\n{record}{more}\n", fmu.display());
        std::fs::write(folder.path().join("rig.toml"), text).unwrap();
        let options = Options {
            file: folder.path().join("rig.toml"),
            mode: Some(Mode::Virtual),
            out: Some(folder.path().join("out")),
            control: true,
            cache: Some(program::cache()),
            runner: Some(PathBuf::from(env!("CARGO_BIN_EXE_vecud"))),
            ..Options::default()
        };
        Bench { folder, options }
    }

    /// The FMU is a copy in which a file has `after` instead of `before`.
    pub fn with_changes(self, changes: &[(&str, &str, &str)]) -> Bench {
        self.with_changes_of("structural", changes)
    }

    /// [`Bench::with_changes`] of the FMU that it [has](Bench::of).
    pub fn with_changes_of(self, fmu: &str, changes: &[(&str, &str, &str)]) -> Bench {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(fmu);
        let to = self.folder.path().join("changed");
        for part in ["", "sources"] {
            std::fs::create_dir(to.join(part)).unwrap();
            let files = std::fs::read_dir(from.join(part)).unwrap().map(|entry| entry.unwrap().path());
            for file in files.filter(|file| file.is_file()) {
                std::fs::copy(&file, to.join(part).join(file.file_name().unwrap())).unwrap();
            }
        }
        let edit = |file: &Path, before: &str, after: &str| {
            let text = std::fs::read_to_string(file).unwrap();
            assert!(text.contains(before), "{} has no {before}", file.display());
            std::fs::write(file, text.replace(before, after)).unwrap();
        };
        for (file, before, after) in changes {
            edit(&to.join(file), before, after);
        }
        edit(&self.options.file, from.to_str().unwrap(), to.to_str().unwrap());
        self
    }

    pub fn in_real_time(mut self) -> Bench {
        self.options.mode = Some(Mode::RealTime);
        self
    }

    pub fn until(mut self, stop: f64) -> Bench {
        self.options.stop_time = Instant::from_f64(stop);
        self
    }

    pub fn uncontrolled(mut self) -> Bench {
        self.options.control = false;
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Options)) -> Bench {
        change(&mut self.options);
        self
    }

    /// The runner is started by this shell command, which ends in `"$@"`.
    pub fn with_runner(mut self, words: &str) -> Bench {
        let script = self.folder.path().join("runner");
        let program = env!("CARGO_BIN_EXE_vecud");
        std::fs::write(&script, format!("#!/bin/sh\n{}\n", words.replace("PROGRAM", program))).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.options.runner = Some(script);
        self
    }

    /// Why there is no plan.
    pub fn refusal(&self) -> String {
        supervisor::plan(&self.options, &EventSink::default()).unwrap_err().to_string()
    }

    /// Starts it; `before` is told before the first activation.
    pub fn start(&self, before: impl FnOnce(&Control) + Send + 'static) -> Running {
        let prepared = supervisor::plan(&self.options, &told()).unwrap();
        let session = Session::start(prepared, told(), before).unwrap();
        Running { control: session.control().clone(), session }
    }

    /// Runs it to its end; `before` is told before the first activation.
    pub fn run(&self, before: impl FnOnce(&Control) + Send + 'static) -> Left {
        self.start(before).finish()
    }

    pub fn report(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.folder.path().join("out/report.json")).unwrap()).unwrap()
    }

    pub fn is_recording(&self) -> bool {
        self.folder.path().join("out/signals.csv").exists()
    }
}

impl Running {
    pub fn finish(self) -> Left {
        let run = self.session.wait().unwrap().remove(0);
        let text = std::fs::read_to_string(run.out.join("signals.csv")).unwrap();
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        lines.next().unwrap();
        // Names of elements of matrices are quoted, for their comma.
        let quoted = text.lines().next().unwrap().split('"').enumerate();
        let header = quoted.map(|(i, part)| if i % 2 == 1 { part.replace(',', ";") } else { part.to_owned() });
        let header = header.collect::<String>();
        let header = header.split(',').map(|name| name.replace(';', ",")).collect();
        let [csv, mcap] = ["signals.csv", "signals.mcap"].map(|name| recorded(&run.out.join(name)));
        assert!(mcap.is_empty() || csv == mcap, "the formats differ");
        Left { run, header, rows: lines.collect() }
    }
}

/// The rows of a file, if it is there.
fn recorded(file: &Path) -> Vec<(f64, Vec<String>)> {
    let Ok(file) = std::fs::File::open(file) else { return Vec::new() };
    let mut recording = vecud::recording::Recording::new(std::io::BufReader::new(file)).unwrap();
    let (mut rows, mut row) = (Vec::new(), vecud::recording::Row::default());
    while recording.read(&mut row).unwrap() {
        rows.push((row.time, row.values().map(str::to_owned).collect()));
    }
    rows
}

impl Left {
    /// The report names no problem.
    #[track_caller]
    pub fn passed(self) -> Left {
        assert_eq!(self.run.exit_code(), 0, "{:#?}", self.run.run.problems);
        self
    }

    #[track_caller]
    fn column(&self, name: &str) -> usize {
        self.header.iter().position(|header| header == name).unwrap_or_else(|| panic!("no {name} in {:?}", self.header))
    }

    /// What `signals.csv` has at this time.
    #[track_caller]
    pub fn at(&self, time: f64, name: &str) -> &str {
        let column = self.column(name);
        let row = self.rows.iter().find(|row| row[0].parse::<f64>().unwrap() == time);
        &row.unwrap_or_else(|| panic!("no row at {time}"))[column]
    }

    /// The last value.
    #[track_caller]
    pub fn last(&self, name: &str) -> &str {
        &self.rows.last().unwrap()[self.column(name)]
    }

    /// Time and value wherever the column gets another value, the first one included.
    #[track_caller]
    pub fn changes(&self, name: &str) -> Vec<(f64, &str)> {
        let column = self.column(name);
        let mut all: Vec<(f64, &str)> = Vec::new();
        for row in &self.rows {
            if all.last().is_none_or(|(_, value)| *value != row[column]) {
                all.push((row[0].parse().unwrap(), &row[column]));
            }
        }
        all
    }

    /// The FMU saw nothing that an importer may not do.
    #[track_caller]
    pub fn was_lawful(self) -> Left {
        assert_eq!((self.last("x.breaches"), self.last("x.apart")), ("0", "0"));
        self
    }
}

/// An instant of so many seconds.
pub fn at(seconds: f64) -> Option<Instant> {
    Some(Instant::from_f64(seconds).unwrap())
}
