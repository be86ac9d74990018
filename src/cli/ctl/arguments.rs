//! The arguments of `vecud ctl`.

use crate::cli::numbers::finite;
use clap::Subcommand;
use std::path::PathBuf;
use vecud_daemon::RigName;

#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Arguments {
    /// The daemon's socket; default: $VECUD_SOCKET, else vecud.sock in $RUNTIME_DIRECTORY, else in $XDG_RUNTIME_DIR; if there is none,
    /// that of the system's service, /run/vecud/vecud.sock
    #[arg(long, value_name = "PATH", global = true)]
    pub socket: Option<PathBuf>,
    /// Asks over TCP instead, at this address: http://127.0.0.1:8080
    #[arg(long, value_name = "URL", global = true)]
    pub url: Option<String>,
    /// The file of the token that is needed there: mode 0600, yours
    #[arg(long, value_name = "F", global = true)]
    pub token_file: Option<PathBuf>,
    /// Prints the answer as it came, also one that says what is wrong; events as JSON, one a line
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub what: What,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 it has failed, or there is no daemon, or (wait) the condition did not hold in time, or the \
                          run was over; 2 what is asked for is invalid: unknown names, mistakes in a rig, not possible now; stop and report: \
                          the exit code of the run, 3 if a limit was exceeded.";

#[derive(Subcommand)]
pub enum What {
    /// All rigs, and how far they are
    List,
    /// One rig: how far it is, and why it could not begin
    Show {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// Makes a rig, or makes it another one, after a check as by vecud check
    Put {
        #[command(flatten)]
        rig: NamedRig,
        /// A rig file, an .fmu file or the folder of an FMU, which the daemon reads itself, now and at each start; with --url, or as -
        /// (standard input), the text of a rig is sent, whose relative paths count from the daemon's --rigs
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// If it runs, its run ends, and the new one starts
        #[arg(long)]
        reload: bool,
    },
    /// Forgets a rig; its runs stay on the disk
    Delete {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// Starts a rig, and waits until it runs
    Start {
        #[command(flatten)]
        rig: NamedRig,
        /// In real time or as fast as possible; default: as the rig says
        #[arg(long, value_name = "MODE", value_parser = ["realtime", "virtual"])]
        mode: Option<String>,
        /// Ends at this simulation time (s); default: as the rig says
        #[arg(long, value_name = "S", value_parser = finite, allow_hyphen_values = true)]
        stop_time: Option<f64>,
    },
    /// Ends a run in good order, and waits for its report
    Stop {
        #[command(flatten)]
        rig: NamedRig,
        /// At once, by force: FMU code that runs is not waited for, and the run has failed
        #[arg(long)]
        now: bool,
    },
    /// Lets simulation time stand
    Pause {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// Goes on after a pause
    Resume {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// Has a rig be idle, whatever it is doing
    Reset {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// What the clocks of a run have measured so far
    Clocks {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// The newest values of recorded and watched signals
    Signals {
        #[command(flatten)]
        rig: NamedRig,
        /// Which of them; default: all
        #[arg(value_name = "GLOB")]
        globs: Vec<String>,
    },
    /// Sets variables of a run: tunable parameters and inputs that nothing else sets
    Set {
        #[command(flatten)]
        rig: NamedRig,
        /// ecu.gain=2, 'ecu.mode="idle"', ecu.map=[1,2]
        #[arg(value_name = "FMU.NAME=VALUE", required = true)]
        values: Vec<String>,
    },
    /// Ticks a triggered clock that nothing else ticks
    Tick {
        #[command(flatten)]
        rig: NamedRig,
        #[arg(value_name = "FMU.CLOCK")]
        clock: String,
    },
    /// Waits until a condition on signals holds: 'ecu.speed > 900 and rising(ecu.key)'
    Wait {
        #[command(flatten)]
        rig: NamedRig,
        #[arg(value_name = "CONDITION")]
        condition: String,
        /// For how long (s)
        #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = finite)]
        timeout: f64,
    },
    /// What happens to a rig, line by line, until it is interrupted
    Events {
        #[command(flatten)]
        rig: NamedRig,
        /// With the values of these signals, each second
        #[arg(value_name = "GLOB")]
        globs: Vec<String>,
    },
    /// The runs of a rig, oldest first
    Runs {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// The report of a run
    Report {
        #[command(flatten)]
        rig: NamedRig,
        /// Which run; default: the last one
        #[arg(value_name = "RUN")]
        run: Option<String>,
        /// Writes all files of the run into this folder, which has none of them yet
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// The rig that something is asked of.
#[derive(clap::Args)]
pub struct NamedRig {
    #[arg(value_name = "RIG", value_parser = name)]
    pub rig: RigName,
}

fn name(text: &str) -> Result<RigName, String> {
    RigName::new(text).ok_or_else(|| {
        "no rig is called that: up to 64 letters, digits, `_`, `-` and `.`, a letter, digit or `_` first".to_owned()
    })
}

impl NamedRig {
    /// A path below the rig's own.
    pub fn at(&self, below: &str) -> String {
        format!("/v1/rigs/{}{below}", self.rig)
    }
}
