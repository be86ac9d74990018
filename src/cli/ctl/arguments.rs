//! The arguments of `vecud ctl`.

use crate::cli::numbers::finite;
use clap::Subcommand;
use std::path::PathBuf;
use vecud_daemon::RigName;

#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub struct Arguments {
    /// Socket of the daemon. Default: $VECUD_SOCKET, else vecud.sock in $RUNTIME_DIRECTORY, else in $XDG_RUNTIME_DIR. If that socket does not
    /// exist, the socket of the system's service, /run/vecud/vecud.sock
    #[arg(long, value_name = "PATH", global = true)]
    pub socket: Option<PathBuf>,
    /// Ask over TCP instead, at this address: http://127.0.0.1:8080
    #[arg(long, value_name = "URL", global = true)]
    pub url: Option<String>,
    /// File of the token for --url: mode 0600, owned by you
    #[arg(long, value_name = "F", global = true)]
    pub token_file: Option<PathBuf>,
    /// Print the daemon's answer unchanged, error answers too. Events are JSON, one per line
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub what: What,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  Done
  1  The request failed, there is no daemon, or (wait) the condition did not hold in time or the run was over
  2  The request is invalid: unknown names, mistakes in a rig, or not possible now

stop and report have the exit code of the run: 3 if it exceeded a limit.";

#[derive(Subcommand)]
pub enum What {
    /// List all rigs and their states
    List,
    /// Show the state of a rig, and why it could not start
    Show {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// Create or replace a rig, after the checks of vecud check
    Put {
        #[command(flatten)]
        rig: NamedRig,
        /// A rig file, an .fmu file, or the folder of an FMU. The daemon reads it itself, now and at each start. With --url, or if FILE is -
        /// (standard input), ctl sends the text of the rig. Relative paths in it then count from the daemon's --rigs
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// If the rig runs, end that run and start the new rig
        #[arg(long)]
        reload: bool,
    },
    /// Forget a rig. Its runs stay on the disk
    Delete {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// Start a rig and wait until it runs
    Start {
        #[command(flatten)]
        rig: NamedRig,
        /// Run in real time or as fast as possible. Default: the rig's mode
        #[arg(long, value_name = "MODE", value_parser = ["realtime", "virtual"])]
        mode: Option<String>,
        /// Simulation time at which the run ends, in seconds. Default: the rig's stop time
        #[arg(long, value_name = "S", value_parser = finite, allow_hyphen_values = true)]
        stop_time: Option<f64>,
    },
    /// End a run in good order and wait for its report
    Stop {
        #[command(flatten)]
        rig: NamedRig,
        /// End the run at once, by force, without waiting for FMU code that runs. The run counts as failed
        #[arg(long)]
        now: bool,
    },
    /// Pause a run: simulation time stands still
    Pause {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// Continue a run after a pause
    Resume {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// Make a rig idle, whatever it is doing
    Reset {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// Show what the clocks of a run have measured so far
    Clocks {
        #[command(flatten)]
        rig: NamedRig,
    },
    /// Show the newest values of recorded and watched signals
    Signals {
        #[command(flatten)]
        rig: NamedRig,
        /// Signals to show. Default: all
        #[arg(value_name = "GLOB")]
        globs: Vec<String>,
    },
    /// Set variables of a run: tunable parameters, and inputs that nothing else sets
    Set {
        #[command(flatten)]
        rig: NamedRig,
        /// Variables with their new values: ecu.gain=2, 'ecu.mode="idle"', ecu.map=[1,2]
        #[arg(value_name = "FMU.NAME=VALUE", required = true)]
        values: Vec<String>,
    },
    /// Tick a triggered clock that nothing else ticks
    Tick {
        #[command(flatten)]
        rig: NamedRig,
        /// The clock to tick
        #[arg(value_name = "FMU.CLOCK")]
        clock: String,
    },
    /// Wait until a condition on signals holds: 'ecu.speed > 900 and rising(ecu.key)'
    Wait {
        #[command(flatten)]
        rig: NamedRig,
        /// The condition to wait for
        #[arg(value_name = "CONDITION")]
        condition: String,
        /// Longest time to wait, in seconds
        #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = finite)]
        timeout: f64,
    },
    /// Show what happens to a rig, line by line, until you interrupt it
    Events {
        #[command(flatten)]
        rig: NamedRig,
        /// Also show the values of these signals, each second
        #[arg(value_name = "GLOB")]
        globs: Vec<String>,
    },
    /// List the newest runs of a rig, oldest first
    Runs {
        #[command(flatten)]
        rig: NamedRig,
        /// Number of runs, 1 to 1000
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// List only runs before this one
        #[arg(long, value_name = "RUN")]
        before: Option<String>,
    },
    /// Show the report of a run
    Report {
        #[command(flatten)]
        rig: NamedRig,
        /// Name of the run. Default: the last run
        #[arg(value_name = "RUN")]
        run: Option<String>,
        /// Write all files of the run into this folder. None of them may exist there yet
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// The rig that something is asked of.
#[derive(clap::Args)]
pub struct NamedRig {
    /// Name of the rig
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
