//! `vecud plot`: recorded signals of any stretch of time, of one recording or of two over each other.

use super::numbers::finite;
use super::report::drawn::{self, TimeRange};
use super::report::{ComparisonInput, OUT, check_place, write};
use super::{browser, results};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vecud_host::Error;
use vecud_plan::glob;
use vecud_plan::rig::suggestion;
use vecud_record::recording::envelope::Overview;
use vecud_record::recording::series;
use vecud_report::{Plot, Plotted, ReportFile};

#[derive(clap::Args)]
pub struct Arguments {
    /// Recording: the output folder of a run, its signals.mcap or signals.arrows, or any CSV file
    recording: PathBuf,
    /// Signals to plot, as fmu.variable (* is any text and ? one character). Default: all signals, or the first ones of each FMU
    signals: Vec<String>,
    /// File for the plot: a page (.html) or a drawing (.svg). Default: plot.html beside the recording
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show nothing before this time, in seconds
    #[arg(long, value_name = "S", value_parser = finite, allow_hyphen_values = true)]
    from: Option<f64>,
    /// Show nothing after this time, in seconds
    #[arg(long, value_name = "S", value_parser = finite, allow_hyphen_values = true)]
    to: Option<f64>,
    /// Draw another recording of the same signals into the same figures, with dashed lines
    #[arg(long, value_name = "B")]
    against: Option<PathBuf>,
    /// Show the plot in the browser
    #[arg(long)]
    open: bool,
}

/// Figures that a plot has at most.
const DRAWN: usize = 100;
/// Signals of which the first ones are drawn when nobody says which.
const UNASKED: usize = 60;

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let stretch = TimeRange { from: arguments.from, to: arguments.to };
    if let (Some(from), Some(to)) = (arguments.from, arguments.to)
        && from >= to
    {
        return Err(Error::Command(format!("--from {from} is not before --to {to}")));
    }
    let inputs: Vec<ComparisonInput> = std::iter::once(&arguments.recording)
        .chain(&arguments.against)
        .map(|path| ComparisonInput::of_recording(path))
        .collect::<Result<_, _>>()?;
    let out = arguments.out.clone().unwrap_or_else(|| inputs[0].folder.join("plot.html"));
    let is_drawing =
        match out.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => true,
            Some("html" | "htm") => false,
            _ => {
                return Err(Error::Command(format!(
                    "--out {}: name it .html for a page, or .svg for a drawing",
                    out.display()
                )));
            }
        };
    check_place(&out, OUT)?;
    let mut notes = Vec::new();
    let mut recordings = Vec::new();
    for input in &inputs {
        recordings.push(plotted(input, &arguments.signals, stretch, &mut notes)?);
    }
    let begin = recordings.iter().filter_map(|own| own.overview.times()).map(|times| times.0).reduce(f64::min);
    let end = recordings.iter().map(|own| own.until).reduce(f64::max);
    let times = (stretch.from.or(begin).unwrap_or(0.0), stretch.to.or(end).unwrap_or(0.0));
    let title = title(&inputs[0]);
    let plot = Plot { title, recordings, times, notes };
    write(&out, OUT, &if is_drawing { vecud_report::plot_svg(&plot) } else { vecud_report::plot_html(&plot) })?;
    results::print(&format!("plot: {}\n", out.display()), None)?;
    if arguments.open {
        browser::show(&out);
    }
    Ok(ExitCode::SUCCESS)
}

/// The name of the rig, or of the file.
fn title(input: &ComparisonInput) -> String {
    match &input.report {
        Some(report) => report.rig().to_owned(),
        None => {
            Path::new(&input.name).file_name().map_or(input.name.clone(), |name| name.to_string_lossy().into_owned())
        }
    }
}

/// Prepares one recording for drawing.
fn plotted(
    input: &ComparisonInput,
    patterns: &[String],
    stretch: TimeRange,
    notes: &mut Vec<String>,
) -> Result<Plotted, Error> {
    let name = input.name.clone();
    let signals = input.signals.as_ref().ok_or_else(|| {
        let what = format!("there is no recording ({}); [record] in its rig makes one", series::ANY);
        Error::Report(PathBuf::from(&name), None, what)
    })?;
    let mut left_out = None;
    let choose = |names: &[String], is_clock: &dyn Fn(usize) -> bool| {
        let places = chosen(signals.path(), names, patterns)?;
        let most = if patterns.is_empty() { UNASKED } else { DRAWN };
        left_out = places.len().checked_sub(most).filter(|more| *more > 0);
        Ok(match patterns.is_empty() && places.len() > most {
            true => Overview::of_some(names, most, drawn::BUCKETS, is_clock),
            false => {
                Overview::new(names, places.into_iter().take(most).collect(), drawn::BUCKETS).with_clocks(is_clock)
            }
        })
    };
    let clocks = input.report.as_ref().map(ReportFile::recorded_clocks).unwrap_or_default();
    let drawn = drawn::of_stretch(signals, stretch, &clocks, choose)?;
    notes.extend(left_out.map(|more| format!("{name}: {more} further signals match and are not drawn; name fewer")));
    // The last values hold up to the end of the run.
    let end = input.report.as_ref().map(ReportFile::end_time).filter(|end| drawn.ends && *end >= drawn.until);
    let until = end.unwrap_or(drawn.until);
    notes.extend(drawn.failed.map(|error| format!("{name} is not drawn to its end: {error}")));
    let report = input.report.as_ref();
    Ok(Plotted {
        name,
        until: stretch.to.map_or(until, |to| until.min(to)),
        overview: drawn.overview,
        units: report.map_or(drawn.units, ReportFile::units),
        overruns: report.map(ReportFile::overruns).unwrap_or_default(),
    })
}

/// The places of the columns that some pattern names; all without any.
fn chosen(file: &Path, names: &[String], patterns: &[String]) -> Result<Vec<usize>, Error> {
    for pattern in patterns {
        if !names.iter().any(|name| glob::matches(pattern, name)) {
            let hint = match suggestion(pattern, names.iter().map(String::as_str)) {
                none if none.is_empty() => {
                    let some: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
                    format!("; it has {}", if some.is_empty() { "none".to_owned() } else { some.join(", ") })
                }
                hint => hint,
            };
            return Err(Error::Report(file.to_owned(), None, format!("no signal matches \"{pattern}\"{hint}")));
        }
    }
    let is_meant = |name: &String| patterns.is_empty() || patterns.iter().any(|pattern| glob::matches(pattern, name));
    Ok((0..names.len()).filter(|place| is_meant(&names[*place])).collect())
}
