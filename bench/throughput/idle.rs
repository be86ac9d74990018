//! The FMU that does nothing, with as many clocks as wanted, and runs of it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Inputs, and outputs, of each clock, if nothing else is said.
pub const VALUES: usize = 10;
/// Periods of the clocks, ms, one after the other.
pub const PERIODS: [u64; 5] = [1, 2, 4, 5, 10];

/// The period of a clock, ms.
pub fn period(clock: usize) -> u64 {
    PERIODS[clock % PERIODS.len()]
}

/// Value references: of the clock, of its first input and of its first output.
pub fn references(clock: usize) -> (u32, u32, u32) {
    references_of(clock, VALUES)
}

/// The same where each clock has so many inputs, and outputs.
fn references_of(clock: usize, values: usize) -> (u32, u32, u32) {
    let first = (1 + clock * (1 + 2 * values)) as u32;
    (first, first + 1, first + 1 + values as u32)
}

/// What is recorded of a run.
#[derive(Clone, Copy, PartialEq)]
pub enum Recorded {
    Nothing,
    Csv,
    Mcap,
    #[cfg(feature = "arrow")]
    Arrow,
    /// One row in so many, in both formats.
    Some(u64),
}

/// The FMU, unpacked, with its rigs.
pub struct Idle {
    folder: PathBuf,
    clocks: usize,
    /// Inputs, and outputs, of each clock.
    values: usize,
    connected: bool,
}

impl Idle {
    /// Writes it into a folder of its own.
    pub fn new(folder: &Path, library: &Path, clocks: usize, connected: bool) -> Result<Idle, String> {
        Idle::write(
            Idle { folder: folder.join(format!("idle-{clocks}-{connected}")), clocks, values: VALUES, connected },
            library,
        )
    }

    /// Writes one with one connected clock of so many inputs, and outputs, into the folder of this name.
    pub fn with_values(folder: &Path, name: &str, library: &Path, values: usize) -> Result<Idle, String> {
        Idle::write(Idle { folder: folder.join(name), clocks: 1, values, connected: true }, library)
    }

    fn write(idle: Idle, library: &Path) -> Result<Idle, String> {
        let binaries = idle.folder.join("binaries").join(format!("{}-linux", std::env::consts::ARCH));
        let all = || -> std::io::Result<()> {
            std::fs::create_dir_all(&binaries)?;
            std::fs::copy(library, binaries.join("idle.so"))?;
            std::fs::write(idle.folder.join("modelDescription.xml"), description(idle.clocks, idle.values))
        };
        all().map_err(|error| format!("{}: {error}", idle.folder.display()))?;
        Ok(idle)
    }

    /// The time in which so many activations happen, s.
    fn stop_time(&self, activations: u64) -> f64 {
        let a_second: f64 = (0..self.clocks).map(|clock| 1000.0 / period(clock) as f64).sum();
        (activations as f64 / a_second).max(0.02)
    }

    /// Starts a run.
    pub fn start(&self, recorded: Recorded, activations: u64) -> Result<Child, String> {
        let mut rig = format!(
            "[rig]\nmode = \"virtual\"\nstop_time = {}\n[trace]\nmode = \"off\"\n[fmu.idle]\npath = \".\"\n",
            self.stop_time(activations)
        );
        match recorded {
            Recorded::Nothing => rig += "[record]\nsignals = []\n",
            Recorded::Csv => rig += "[record]\nsignals = [\"*\"]\nformat = \"csv\"\n",
            Recorded::Mcap => rig += "[record]\nsignals = [\"*\"]\nformat = \"mcap\"\n",
            #[cfg(feature = "arrow")]
            Recorded::Arrow => rig += "[record]\nsignals = [\"*\"]\nformat = \"arrow\"\n",
            Recorded::Some(every) => {
                rig += "[record]\nsignals = [\"*\"]\nformat = [\"csv\", \"mcap\"]\n";
                let _ = writeln!(rig, "[[record.rule]]\nsignals = [\"*\"]\nevery = {every}");
            }
        }
        for clock in (0..self.clocks).filter(|_| self.connected) {
            for value in 0..self.values {
                let _ = writeln!(rig, "[[connect]]\nfrom = \"idle.y{clock}_{value}\"\nto = \"idle.u{clock}_{value}\"");
            }
        }
        let file = self.folder.join("rig.toml");
        std::fs::write(&file, rig).map_err(|error| error.to_string())?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        command.arg("run").arg(file).args(["--quiet", "--out"]).arg(self.out());
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())
    }

    fn out(&self) -> PathBuf {
        self.folder.join("out")
    }

    /// Waits for its end: nanoseconds per activation.
    pub fn finish(&self, run: Child) -> Result<f64, String> {
        let run = run.wait_with_output().map_err(|error| error.to_string())?;
        if !run.status.success() {
            return Err(String::from_utf8_lossy(&run.stderr).into_owned());
        }
        let text = std::fs::read_to_string(self.out().join("report.json")).map_err(|error| error.to_string())?;
        let report: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let clocks = report["clocks"].as_array().ok_or("report.json without clocks")?;
        let activations: u64 = clocks.iter().filter_map(|clock| clock["activations"].as_u64()).sum();
        let seconds = report["wall_seconds"].as_f64().ok_or("report.json without wall_seconds")?;
        Ok(seconds * 1e9 / activations as f64)
    }

    /// Runs about so many activations: nanoseconds per activation.
    pub fn run(&self, recorded: Recorded, activations: u64) -> Result<f64, String> {
        self.finish(self.start(recorded, activations)?)
    }
}

fn description(clocks: usize, values: usize) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"3.0\" modelName=\"idle\" \
         instantiationToken=\"{vecud-idle}\">\n<ScheduledExecution modelIdentifier=\"idle\"/>\n<ModelVariables>\n\
         <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>\n",
    );
    for clock in 0..clocks {
        let (reference, input, output) = references_of(clock, values);
        let interval = period(clock) as f64 / 1000.0;
        let _ = writeln!(
            xml,
            "<Clock name=\"c{clock}\" valueReference=\"{reference}\" causality=\"input\" priority=\"{}\" \
             intervalVariability=\"constant\" intervalDecimal=\"{interval}\"/>",
            clock % PERIODS.len()
        );
        for value in 0..values {
            let (input, output) = (input + value as u32, output + value as u32);
            let _ = writeln!(
                xml,
                "<Float64 name=\"u{clock}_{value}\" valueReference=\"{input}\" causality=\"input\" \
                 variability=\"discrete\" clocks=\"{reference}\" start=\"0\"/>\n\
                 <Float64 name=\"y{clock}_{value}\" valueReference=\"{output}\" causality=\"output\" \
                 variability=\"discrete\" clocks=\"{reference}\"/>"
            );
        }
    }
    xml += "</ModelVariables>\n<ModelStructure>\n";
    for output in
        (0..clocks).flat_map(|clock| (0..values as u32).map(move |value| references_of(clock, values).2 + value))
    {
        let _ = writeln!(xml, "<Output valueReference=\"{output}\"/>");
    }
    xml + "</ModelStructure>\n</fmiModelDescription>\n"
}
