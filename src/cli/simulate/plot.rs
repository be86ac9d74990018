//! `--plot` and `--show-plot`: a page with the courses of the computed variables, and of a reference.

use super::super::browser;
use super::super::report::drawn::{self, TimeRange};
use super::super::report::{ComparisonInput, check_place, write};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use vecud_host::Error;
use vecud_record::recording::envelope::Overview;
use vecud_report::{Plot, Plotted, Run};

/// The option that gives the place of the page.
const PLOT: &str = "--plot";

/// Where the page goes.
pub struct PlotPage {
    path: PathBuf,
    /// The page is shown in the browser.
    shows: bool,
}

impl PlotPage {
    /// The page of this name, or one for `fmu` in the folder for temporary files; `None`: none was requested.
    pub fn wanted(path: Option<&Path>, shows: bool, fmu: &Path) -> Result<Option<PlotPage>, Error> {
        let path = match path {
            Some(path) => path.to_owned(),
            None if shows => {
                let stem = fmu.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                std::env::temp_dir().join(format!("vecud-{stem}-{}.html", std::process::id()))
            }
            None => return Ok(None),
        };
        check_place(&path, PLOT)?;
        Ok(Some(PlotPage { path, shows }))
    }

    /// Writes it, and shows it.
    pub fn write(&self, run: &Run, reference: Option<&Path>) -> Result<(), Error> {
        let Some(overview) = run.overview.clone() else { return Ok(()) };
        let times = overview.times().unwrap_or_default();
        let mut recordings = vec![Plotted {
            name: run.rig.clone(),
            overview,
            until: times.1,
            units: run.signals.iter().map(|signal| (signal.name.clone(), signal.unit.clone())).collect(),
            overruns: Vec::new(),
        }];
        recordings.extend(reference.map(plotted).transpose()?.flatten());
        let plot = Plot { title: run.rig.clone(), recordings, times, notes: Vec::new() };
        write(&self.path, PLOT, &vecud_report::plot_html(&plot))?;
        if self.shows {
            browser::show(&self.path);
        }
        Ok(())
    }
}

/// Prepares a reference for drawing.
fn plotted(reference: &Path) -> Result<Option<Plotted>, Error> {
    let input = ComparisonInput::of(reference)?;
    let Some(signals) = &input.signals else { return Ok(None) };
    let choose = |names: &[String], is_clock: &dyn Fn(usize) -> bool| {
        Ok(Overview::new(names, (0..names.len()).collect(), drawn::BUCKETS).with_clocks(is_clock))
    };
    let drawn = drawn::of_stretch(signals, TimeRange { from: None, to: None }, &HashSet::new(), choose)?;
    Ok(Some(Plotted {
        name: input.name,
        overview: drawn.overview,
        until: drawn.until,
        units: drawn.units,
        overruns: Vec::new(),
    }))
}
