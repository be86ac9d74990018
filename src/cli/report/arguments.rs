//! The arguments of `vecud report`.

use crate::cli::numbers::finite;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_long_help = COMPARED)]
pub struct Arguments {
    /// The run: its output folder, its report.json, or (with --against) its signals.mcap, signals.arrows or any CSV file
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// Further runs: figures of the clocks are drawn over all of them, in this order
    #[arg(value_name = "MORE", conflicts_with = "against")]
    pub others: Vec<PathBuf>,
    /// The reference: the output folder of another run, its report.json, its signals.mcap or signals.arrows, or any CSV file
    #[arg(long, value_name = "B")]
    pub against: Option<PathBuf>,
    /// Largest absolute deviation of signals, in their unit; default: none
    #[arg(long, value_name = "TOL", value_parser = tolerance, allow_hyphen_values = true, requires = "against")]
    pub abs: Option<f64>,
    /// Largest deviation of signals relative to the larger value (0.01 is 1 %); within --abs or --rel is enough
    #[arg(long, value_name = "TOL", value_parser = tolerance, allow_hyphen_values = true, requires = "against")]
    pub rel: Option<f64>,
    /// A tolerance for some signals, instead of --abs and --rel: 'plant.*=1e-6', '*.speed=0.1%', '*=1e-6,0.1%',
    /// 'ecu.x=inf'; may be given several times, the last one that names a signal counts
    #[arg(long, value_name = "PATTERN=TOL", requires = "against")]
    pub tolerance: Vec<vecud_report::compare::NamedTolerance>,
    /// How many times as long latencies and responses may be, in p50 and p99; default: they are not judged
    #[arg(long, value_name = "R", value_parser = ratio, allow_hyphen_values = true, requires = "against")]
    pub ratio: Option<f64>,
    /// Compares signals only where both recordings have a row (one was thinned out)
    #[arg(long, requires = "against")]
    pub common_times: bool,
    /// Times that differ by no more than this are the same (of a tool that rounds them); default: 1e-9
    #[arg(long, value_name = "S", value_parser = tolerance, allow_hyphen_values = true, requires = "against")]
    pub time_tolerance: Option<f64>,
    /// Compares signals only before this time
    #[arg(long, value_name = "S", value_parser = finite, allow_hyphen_values = true, requires = "against")]
    pub until: Option<f64>,
    /// Where the page goes; default: report.html or comparison.html in DIR, of several runs trends.html
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Of several runs: prints the figures as JSON, and makes a page only with --out
    #[arg(long, requires = "others")]
    pub json: bool,
    /// Shows the page in the browser
    #[arg(long)]
    pub open: bool,
}

const COMPARED: &str = "\
Without --against, DIR/report.html is written anew from report.json and histograms.hlog, junit.xml and cyclictest.json beside
it (not with --out), and the table is shown; the exit code is 0, whatever became of the run. Of a run that goes on, or was cut
off, all files of the report are made from checkpoint.json. With it, two runs are shown side by side, here and in comparison.html; the exit code
is 3 when something differs by more than is allowed. Of several runs p50, p99, p99.9 and the maximum of each clock are drawn from run to
run; the exit code is 0, whatever became of them.

Signals are compared at every time at which one of the recordings has a row; the other one has the value of its last row.
NaN equals NaN. Integers (enumerations and booleans, too) are compared exactly unless --tolerance names them. A CSV file of
another tool has the time in seconds in its first column, and columns named fmu.variable. Signals and clocks that only one
side has are listed and not judged; a recording that ends before the reference does is beyond every tolerance.";

fn tolerance(text: &str) -> Result<f64, String> {
    finite(text).ok().filter(|number| *number >= 0.0).ok_or_else(|| "must be a finite number, 0 or more".to_owned())
}

fn ratio(text: &str) -> Result<f64, String> {
    finite(text)
        .ok()
        .filter(|number| *number > 0.0)
        .ok_or_else(|| "must be a finite number above 0, like 1.5".to_owned())
}
