//! The recorded signals: small figures side by side, those of one FMU together, and variables of one unit in the same one where
//! neither would look flat in it.

use super::breakable;
use super::course::{Curve, course, range_text};
use super::figure::{Drawing, captioned, key};
use super::svg::Frame;
use crate::recording::envelope::{Envelope, Overview};
use crate::recording::names::split;
use crate::report::format::plural;
use crate::report::{ClockResult, Run};
use std::collections::{HashMap, HashSet};

/// Lines in one figure at most.
const LINES: usize = 4;
/// A line takes up this share of the height of its figure at least.
const FLAT: f64 = 0.15;
/// The same beside one that never changes, which is there to be compared with, and not to be seen.
const FLAT_BESIDE_CONSTANT: f64 = 0.6;
/// Names of columns that are not drawn.
const NAMED: usize = 200;

/// Columns that are drawn into one figure.
struct Panel<'o> {
    fmu: &'o str,
    unit: &'o str,
    /// Their places in the overview, their names there and what they showed.
    lines: Vec<(usize, &'o str, &'o Envelope)>,
}

/// The section; nothing when nothing was recorded.
pub fn section(run: &Run) -> String {
    let Some(overview) = run.overview.as_ref() else { return String::new() };
    let Some((first, last)) = overview.times() else { return String::new() };
    let units: HashMap<&str, &str> =
        run.signals.iter().map(|signal| (signal.name.as_str(), signal.unit.as_str())).collect();
    // Reports may be edited, and recordings go on.
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
    out += "</p>\n";
    let (panels, constants) = panels(overview, &units);
    let mut fmus: Vec<&str> = Vec::new();
    for panel in panels.iter().chain(&constants) {
        if !fmus.contains(&panel.fmu) {
            fmus.push(panel.fmu);
        }
    }
    for fmu in fmus {
        let overruns = overruns(run, fmu);
        let own = panels.iter().filter(|panel| panel.fmu == fmu);
        let figures: String = own.map(|panel| figure(panel, overview, (from, to), &overruns)).collect();
        out += &format!("<h3>{}</h3>\n<div class=\"panels\">\n{figures}</div>\n", breakable(fmu));
        out += &unchanged(constants.iter().filter(|panel| panel.fmu == fmu));
    }
    out += &left_out(run, overview);
    out + "</section>\n"
}

/// The columns that change, by FMU in the order of the recording, with what stays the same beside them; then what stays the same and
/// belongs to none of them.
fn panels<'o>(overview: &'o Overview, units: &HashMap<&str, &'o str>) -> (Vec<Panel<'o>>, Vec<Panel<'o>>) {
    let (mut panels, mut constants): (Vec<Panel>, Vec<Panel>) = (Vec::new(), Vec::new());
    let all = || {
        overview.columns().enumerate().filter_map(|(place, (name, column))| {
            let unit = units.get(name).copied().unwrap_or_default();
            Some((Panel { fmu: split(name).0, unit, lines: vec![(place, name, column)] }, column.range()?))
        })
    };
    for (own, range) in all().filter(|(_, range)| range.0 < range.1) {
        match panels.iter_mut().find(|panel| panel.has_room_for(&own, range)) {
            Some(panel) => panel.lines.extend(own.lines),
            None => panels.push(own),
        }
    }
    for (own, range) in all().filter(|(_, range)| range.0 == range.1) {
        match panels.iter_mut().find(|panel| panel.has_room_for(&own, range)) {
            Some(panel) => panel.lines.extend(own.lines),
            None => constants.push(own),
        }
    }
    (panels, constants)
}

impl Panel<'_> {
    /// The unit in words.
    fn unit(&self) -> &str {
        if self.unit == "1" { "" } else { self.unit }
    }

    /// Whether a variable with these values looks like something beside those in it, and they beside it.
    fn has_room_for(&self, other: &Panel, range: (f64, f64)) -> bool {
        // What has no unit has nothing in common with others.
        let is_alike = self.fmu == other.fmu && self.unit == other.unit && !["", "1"].contains(&self.unit);
        if !is_alike || self.lines.len() == LINES {
            return false;
        }
        let own: Vec<(f64, f64)> = self.lines.iter().filter_map(|line| line.2.range()).collect();
        let (low, high) = own.iter().fold(range, |(low, high), own| (low.min(own.0), high.max(own.1)));
        let least = if range.0 < range.1 { FLAT } else { FLAT_BESIDE_CONSTANT };
        let mut changing = own.iter().chain([&range]).filter(|own| own.0 < own.1);
        (high - low).is_finite() && changing.all(|own| own.1 - own.0 >= least * (high - low))
    }
}

/// What never changed, in words.
fn unchanged<'p>(constants: impl Iterator<Item = &'p Panel<'p>>) -> String {
    let all: Vec<String> = constants
        .map(|panel| {
            let (_, name, column) = panel.lines[0];
            format!("<code>{}</code> {}", short(name), range_text(column, panel.unit()))
        })
        .collect();
    match all.as_slice() {
        [] => String::new(),
        all => format!("<p class=\"note\">Not drawn, since it never changed: {}.</p>\n", all.join(", ")),
    }
}

/// When clocks of an FMU have overrun, as far as that was kept, s.
fn overruns(run: &Run, fmu: &str) -> Vec<f64> {
    let own = |clock: &&ClockResult| clock.fmu == fmu;
    run.clocks.iter().filter(own).flat_map(|clock| &clock.causes.overran).map(|overran| overran.release_s).collect()
}

/// The name of a variable without that of its FMU.
fn short(name: &str) -> String {
    breakable(split(name).1)
}

fn figure(panel: &Panel, overview: &Overview, times: (f64, f64), overruns: &[f64]) -> String {
    let curves: Vec<Curve> =
        panel.lines.iter().enumerate().map(|(style, (place, ..))| Curve { overview, column: *place, style }).collect();
    let drawing = Drawing { svg: course(&curves, times, overruns, Frame::TINY), notes: Vec::new() };
    let names: Vec<String> = panel.lines.iter().map(|(_, name, _)| short(name)).collect();
    match panel.lines.as_slice() {
        [(_, _, column)] => captioned(&names[0], &range_text(column, panel.unit()), &drawing, ""),
        lines => {
            let item = |(style, (_, name, column)): (usize, &(usize, &str, &Envelope))| {
                let (key, name, range) = (key(style), short(name), range_text(column, ""));
                format!("<li class=\"k{style}\">{key}<span>{name}</span><b>{range}</b></li>\n")
            };
            let items: String = lines.iter().enumerate().map(item).collect();
            let title = names.join(", ");
            let sentence = format!("{} in {}", plural(lines.len() as u64, "variable"), super::escape(panel.unit()));
            captioned(&title, &sentence, &drawing, &format!("<ul class=\"legend\">\n{items}</ul>\n"))
        }
    }
}

/// What was recorded and is not drawn.
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
        out += &format!(
            "<details>\n<summary>{} recorded and not drawn</summary>\n<p>{}.</p>\n</details>\n",
            plural(others.len() as u64, "further variable"),
            list(&others)
        );
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
    use crate::report::html::tests::overview;
    use crate::report::{SignalResult, sample};

    fn of(columns: &[(&str, &str, [f64; 3])]) -> (Overview, Vec<SignalResult>) {
        let names: Vec<String> = columns.iter().map(|(name, ..)| (*name).to_owned()).collect();
        let mut overview = Overview::of_report(&names);
        for row in 0..3 {
            overview.row(row as f64, |place| Some(columns[place].2[row]));
        }
        let signal = |(name, unit, _): &(&str, &str, _)| SignalResult { name: (*name).into(), unit: (*unit).into() };
        (overview, columns.iter().map(signal).collect())
    }

    #[test]
    fn variables_of_one_unit_share_a_figure_unless_one_of_them_looked_flat_in_it() {
        let (overview, signals) = of(&[
            ("ecu.speed", "rpm", [800.0, 850.0, 900.0]),
            ("ecu.target", "rpm", [850.0; 3]),
            ("ecu.turbo", "rpm", [0.0, 90_000.0, 0.0]),
            ("plant.speed", "rpm", [800.0, 850.0, 900.0]),
            ("ecu.a", "1", [0.0, 1.0, 0.0]),
            ("ecu.b", "1", [0.0, 1.0, 0.0]),
            ("ecu.c", "", [0.0, 1.0, 0.0]),
            ("ecu.none", "rpm", [f64::NAN; 3]),
            ("ecu.limit", "rpm", [6000.0; 3]),
        ]);
        let units = signals.iter().map(|signal| (signal.name.as_str(), signal.unit.as_str())).collect();
        let names = |panel: &Panel| panel.lines.iter().map(|line| line.1).collect::<Vec<_>>().join(" ");
        let (panels, constants) = panels(&overview, &units);
        let shown: Vec<String> = panels.iter().map(names).collect();
        assert_eq!(shown, ["ecu.speed ecu.target", "ecu.turbo ecu.limit", "plant.speed", "ecu.a", "ecu.b", "ecu.c"]);
        assert_eq!(constants.len(), 0);
    }

    #[test]
    fn of_a_recording_with_thousands_of_columns_the_page_has_some_and_names_others() {
        let mut run = sample(1);
        let names: Vec<String> = (0..10_000).map(|n| format!("ecu.x{n}")).collect();
        let mut overview = Overview::of_report(&names);
        for row in 0..5_000 {
            overview.row(f64::from(row) * 1e-3, |place| Some(f64::sin(f64::from(row) * 1.7 + place as f64)));
        }
        run.signals = names.into_iter().map(|name| SignalResult { name, unit: String::new() }).collect();
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
        let overran = crate::report::Overran { release_s: 2.5, ..Default::default() };
        run.clocks.iter_mut().find(|clock| clock.fmu == "ecu").unwrap().causes.overran.push(overran);
        let section = section(&run);
        let (plant, ecu) = section.split_once("<h3>ecu</h3>").unwrap();
        assert!(!plant.contains("class=\"overran\"") && ecu.contains("class=\"overran\""));
        run.overview = None;
        assert_eq!(super::section(&run), "");
    }
}
