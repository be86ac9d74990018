//! The arguments of `vecud report`.

use crate::cli::numbers::finite;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_long_help = COMPARED)]
pub struct Arguments {
    /// The run: its output folder, its report.json, or (with --against) its signals.mcap, its signals.arrows or any CSV file
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// More runs: vecud draws the figures of the clocks over all runs, in this order
    #[arg(value_name = "MORE", conflicts_with = "against")]
    pub others: Vec<PathBuf>,
    /// Reference to compare with: the output folder of another run, its report.json, its signals.mcap or signals.arrows, or any CSV file
    #[arg(long, value_name = "B")]
    pub against: Option<PathBuf>,
    /// Largest absolute deviation of signals, in their unit. Default: 0
    #[arg(long, value_name = "TOL", value_parser = tolerance, allow_hyphen_values = true, requires = "against")]
    pub abs: Option<f64>,
    /// Largest deviation of signals relative to the larger value (0.01 is 1 %). A signal passes if it keeps --abs or --rel
    #[arg(long, value_name = "TOL", value_parser = tolerance, allow_hyphen_values = true, requires = "against")]
    pub rel: Option<f64>,
    /// Tolerance for some signals, instead of --abs and --rel: 'plant.*=1e-6', '*.speed=0.1%', '*=1e-6,0.1%', 'ecu.x=inf'. May be given several
    /// times: the last one that names a signal counts
    #[arg(long, value_name = "PATTERN=TOL", requires = "against")]
    pub tolerance: Vec<vecud_report::compare::NamedTolerance>,
    /// Latencies and response times may be this many times as long as in the reference, in p50 and p99. Default: vecud does not judge them
    #[arg(long, value_name = "R", value_parser = ratio, allow_hyphen_values = true, requires = "against")]
    pub ratio: Option<f64>,
    /// Compare signals only at times where both recordings have a row (if one was thinned out)
    #[arg(long, requires = "against")]
    pub common_times: bool,
    /// Treat times as equal if they differ by no more than this, in seconds (for tools that round times). Default: 1e-9
    #[arg(long, value_name = "S", value_parser = tolerance, allow_hyphen_values = true, requires = "against")]
    pub time_tolerance: Option<f64>,
    /// Compare signals only before this time, in seconds
    #[arg(long, value_name = "S", value_parser = finite, allow_hyphen_values = true, requires = "against")]
    pub until: Option<f64>,
    /// File for the page. Default: report.html or comparison.html in DIR. With several runs: trends.html
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// With several runs: print the figures as JSON, and write a page only with --out
    #[arg(long, requires = "others")]
    pub json: bool,
    /// Show the page in the browser
    #[arg(long)]
    pub open: bool,
}

const COMPARED: &str = "\
Without --against, vecud writes DIR/report.html anew from report.json and histograms.hlog, and shows
the table. Without --out, it also writes junit.xml and cyclictest.json beside the page. The exit
code is 0, whatever the result of the run. If the run still goes on, or was cut off, vecud makes all
files of the report from checkpoint.json.

With --against, vecud shows two runs side by side, on the terminal and in comparison.html. The exit
code is 3 if something differs by more than you allow.

With several runs, vecud draws p50, p99, p99.9 and the maximum of each clock from run to run. The
exit code is 0, whatever the results of the runs.

vecud compares signals at every time at which one of the recordings has a row. The other recording
then has the value of its last row. NaN equals NaN. Integers (also enumerations and booleans) have
to be equal unless --tolerance names them. A CSV file of another tool needs the time in seconds in
its first column, and columns named fmu.variable. vecud lists signals and clocks that only one side
has, and does not judge them. A recording that ends before the reference is beyond every tolerance.";

fn tolerance(text: &str) -> Result<f64, String> {
    finite(text).ok().filter(|number| *number >= 0.0).ok_or_else(|| "must be a finite number, 0 or more".to_owned())
}

fn ratio(text: &str) -> Result<f64, String> {
    finite(text)
        .ok()
        .filter(|number| *number > 0.0)
        .ok_or_else(|| "must be a finite number above 0, like 1.5".to_owned())
}
