//! The recorded signals in a report: small figures side by side, those of one FMU together.

use super::course::range_text;
use super::figure::Drawing;
use super::names::breakable;
use super::page::fold;
use super::panel::{Panel, panels};
use crate::chart::Frame;
use crate::format::plural;
use crate::{ClockResult, Run};
use std::collections::{HashMap, HashSet};
use vecud_record::recording::envelope::Overview;

/// Names of columns that are not drawn.
const NAMED: usize = 200;

/// The section; nothing when nothing was recorded.
pub fn section(run: &Run) -> String {
    let Some(overview) = run.overview.as_ref() else { return String::new() };
    let Some((first, last)) = overview.times() else { return String::new() };
    let units: HashMap<&str, &str> =
        run.signals.iter().map(|signal| (signal.name.as_str(), signal.unit.as_str())).collect();
    // Reports may be edited, and recordings may continue.
    let from = if run.start_time < first { run.start_time } else { first };
    let to = if run.end_time > last { run.end_time } else { last };
    let mut out = String::from(
        "<section id=\"signals\">\n<h2>Signals</h2>\n<p>What was recorded, over simulation time. A value holds until the next one, as it \
         does for whoever reads it. Lines are thinned, but each reaches from the least to the greatest value of its intervals: no spike \
         is lost.",
    );
    if run.clocks.iter().any(|clock| !clock.causes.overran.is_empty()) {
        out += " Red marks at the bottom are overruns of the FMU’s clocks.";
    }
    if !overview.instants(usize::MAX).is_empty() {
        out += " Marks below an axis are the activations that were recorded, where they can be told apart.";
    }
    out += " <code>vecud plot DIR SIGNAL... --from S --to S</code> draws any of them, and any stretch of time.</p>\n";
    let (panels, constants) = panels(overview, &units, to);
    let mut fmus: Vec<&str> = Vec::new();
    for panel in panels.iter().chain(&constants) {
        if !fmus.contains(&panel.fmu) {
            fmus.push(panel.fmu);
        }
    }
    for fmu in fmus {
        let overruns = overruns(run, fmu);
        let own = panels.iter().filter(|panel| panel.fmu == fmu);
        let figure = |panel: &Panel| {
            let svg = panel.draw((from, to), &overruns, Frame::TINY);
            panel.figure(&Drawing { svg, notes: Vec::new() })
        };
        let figures: String = own.map(figure).collect();
        out += &format!("<h3>{}</h3>\n", breakable(fmu));
        if !figures.is_empty() {
            out += &format!("<div class=\"panels\">\n{figures}</div>\n");
        }
        out += &unchanged(constants.iter().filter(|panel| panel.fmu == fmu));
    }
    out += &left_out(run, overview);
    out + "</section>\n"
}

/// Lists the constant columns in words.
fn unchanged<'p>(constants: impl Iterator<Item = &'p Panel<'p>>) -> String {
    let all: Vec<String> = constants
        .map(|panel| {
            let line = panel.lines[0];
            format!("<code>{}</code> {}", breakable(line.label), range_text(line.envelope, panel.unit()))
        })
        .collect();
    match all.as_slice() {
        [] => String::new(),
        all => format!("<p class=\"note\">Not drawn, since it never changed: {}.</p>\n", all.join(", ")),
    }
}

/// Times of the overruns of an FMU's clocks, as far as they were kept, s.
fn overruns(run: &Run, fmu: &str) -> Vec<f64> {
    let own = |clock: &&ClockResult| clock.fmu == fmu;
    run.clocks.iter().filter(own).flat_map(|clock| &clock.causes.overran).map(|overran| overran.release_s).collect()
}

/// Notes on recorded columns that are not drawn.
fn left_out(run: &Run, overview: &Overview) -> String {
    let mut out = String::new();
    let without: Vec<&str> =
        overview.columns().filter(|(_, column)| column.range().is_none()).map(|(name, _)| name).collect();
    if !without.is_empty() {
        out += &format!(
            "<p class=\"note\">{} had no number that can be drawn: {}.</p>\n",
            plural(without.len() as u64, "variable"),
            list(&without)
        );
    }
    let drawn: HashSet<&str> = overview.columns().map(|(name, _)| name).collect();
    let others: Vec<&str> =
        run.signals.iter().map(|signal| signal.name.as_str()).filter(|name| !drawn.contains(name)).collect();
    if !others.is_empty() {
        let number = plural(others.len() as u64, "further variable");
        out += &fold(&format!("{number} recorded and not drawn"), &format!("<p>{}.</p>\n", list(&others)), false);
    }
    out
}

fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("<code>{}</code>", breakable(name))).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::tests::overview;
    use crate::{SignalResult, sample};

    #[test]
    fn of_a_recording_with_thousands_of_columns_the_page_has_some_and_names_others() {
        let mut run = sample(1);
        let names: Vec<String> = (0..10_000).map(|n| format!("ecu.x{n}")).collect();
        let mut overview = Overview::of_report(&names, |_| false);
        for row in 0..5_000 {
            overview.row(f64::from(row) * 1e-3, |place| Some(f64::sin(f64::from(row) * 1.7 + place as f64)));
        }
        run.signals = names
            .into_iter()
            .map(|name| SignalResult { name, unit: String::new(), variable_type: String::new() })
            .collect();
        run.overview = Some(overview);
        let section = section(&run);
        assert!(section.len() < 2_000_000, "{}", section.len());
        assert_eq!(section.matches("<figure").count(), 60);
        assert!(
            section.contains("9,940 further variables recorded and not drawn") && section.contains("and 9740 more")
        );
    }

    #[test]
    fn overruns_are_marked_in_the_figures_of_their_fmu() {
        let mut run = sample(1);
        run.overview = Some(overview(&run));
        assert!(!section(&run).contains("overran"));
        let overran = crate::OverrunResult { release_s: 2.5, ..Default::default() };
        run.clocks.iter_mut().find(|clock| clock.fmu == "ecu").unwrap().causes.overran.push(overran);
        let section = section(&run);
        let (plant, ecu) = section.split_once("<h3>ecu</h3>").unwrap();
        assert!(!plant.contains("class=\"overran\"") && ecu.contains("class=\"overran\""));
        run.overview = None;
        assert_eq!(super::section(&run), "");
    }
}
