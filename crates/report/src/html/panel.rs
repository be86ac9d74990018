//! Panels: the assignment of recorded columns to figures, and their labels.
//!
//! Variables of one FMU and one unit share a figure where none of them would look flat in it.

use super::course::{Line, course, range_text};
use super::figure::{Drawing, captioned, entry, legend};
use super::names::breakable;
use crate::chart::Frame;
use crate::format::plural;
use crate::markup::escape;
use std::collections::HashMap;
use vecud_record::recording::envelope::Overview;
use vecud_record::recording::names::split;

/// Lines in one figure at most.
const LINES: usize = 4;
/// A line takes up this share of the height of its figure at least.
const FLAT: f64 = 0.15;
/// Minimum share of the height beside a line that never changes, which serves only for comparison.
const FLAT_BESIDE_CONSTANT: f64 = 0.6;

/// Columns that are drawn into one figure.
pub struct Panel<'o> {
    pub fmu: &'o str,
    pub unit: &'o str,
    pub lines: Vec<Line<'o>>,
}

/// The panels of columns that change, by FMU in the order of the recording, each with the constant columns beside them; then the
/// other constant columns. Values hold up to `until`.
pub fn panels<'o>(
    overview: &'o Overview,
    units: &HashMap<&str, &'o str>,
    until: f64,
) -> (Vec<Panel<'o>>, Vec<Panel<'o>>) {
    let (mut panels, mut constants): (Vec<Panel>, Vec<Panel>) = (Vec::new(), Vec::new());
    let all = || {
        overview.columns().enumerate().filter_map(|(column, (name, envelope))| {
            let (unit, (fmu, label)) = (units.get(name).copied().unwrap_or_default(), split(name));
            let line = Line { overview, column, envelope, label, until };
            Some((Panel { fmu, unit, lines: vec![line] }, envelope.range()?))
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
    /// The unit in words; empty: there is none.
    pub fn unit(&self) -> &str {
        if self.unit == "1" { "" } else { self.unit }
    }

    /// Whether a variable with these values remains readable beside those of the panel, and they beside it.
    fn has_room_for(&self, other: &Panel, range: (f64, f64)) -> bool {
        // Variables without a unit have nothing in common with others.
        let is_alike = self.fmu == other.fmu && self.unit == other.unit && !self.unit().is_empty();
        if !is_alike || self.lines.len() == LINES {
            return false;
        }
        let own: Vec<(f64, f64)> = self.lines.iter().filter_map(|line| line.envelope.range()).collect();
        let (low, high) = own.iter().fold(range, |(low, high), own| (low.min(own.0), high.max(own.1)));
        let least = if range.0 < range.1 { FLAT } else { FLAT_BESIDE_CONSTANT };
        let mut changing = own.iter().chain([&range]).filter(|own| own.0 < own.1);
        (high - low).is_finite() && changing.all(|own| own.1 - own.0 >= least * (high - low))
    }

    /// The drawing, from one time to another, s.
    pub fn draw(&self, times: (f64, f64), marks: &[f64], frame: Frame) -> String {
        course(&self.lines, times, marks, frame)
    }

    /// The panel as a figure: the names and values of its columns surround the drawing.
    pub fn figure(&self, drawing: &Drawing) -> String {
        let names: Vec<String> = self.lines.iter().map(|line| breakable(line.label)).collect();
        match self.lines.as_slice() {
            [line] => captioned(&names[0], &range_text(line.envelope, self.unit()), drawing, ""),
            lines => {
                let sentence = format!("{} in {}", plural(lines.len() as u64, "variable"), escape(self.unit()));
                captioned(&names.join(", "), &sentence, drawing, &self.legend())
            }
        }
    }

    /// The legend: its lines with their names and values.
    pub fn legend(&self) -> String {
        let lines = self.lines.iter().enumerate();
        legend(lines.map(|(style, line)| entry(style, &breakable(line.label), Some(range_text(line.envelope, "")))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_one_unit_share_a_figure_unless_one_of_them_looked_flat_in_it() {
        let columns = [
            ("ecu.speed", "rpm", [800.0, 850.0, 900.0]),
            ("ecu.target", "rpm", [850.0; 3]),
            ("ecu.turbo", "rpm", [0.0, 90_000.0, 0.0]),
            ("plant.speed", "rpm", [800.0, 850.0, 900.0]),
            ("ecu.a", "1", [0.0, 1.0, 0.0]),
            ("ecu.b", "1", [0.0, 1.0, 0.0]),
            ("ecu.c", "", [0.0, 1.0, 0.0]),
            ("ecu.none", "rpm", [f64::NAN; 3]),
            ("ecu.limit", "rpm", [6000.0; 3]),
            ("ecu.flag", "", [1.0; 3]),
        ];
        let names: Vec<String> = columns.iter().map(|(name, ..)| (*name).to_owned()).collect();
        let mut overview = Overview::of_report(&names, |_| false);
        for row in 0..3 {
            overview.row(row as f64, |place| Some(columns[place].2[row]));
        }
        let units = columns.iter().map(|(name, unit, _)| (*name, *unit)).collect();
        let names = |panel: &Panel| {
            let labels: Vec<&str> = panel.lines.iter().map(|line| line.label).collect();
            format!("{}: {}", panel.fmu, labels.join(" "))
        };
        let (panels, constants) = panels(&overview, &units, 3.0);
        let shown: Vec<String> = panels.iter().map(names).collect();
        assert_eq!(shown, ["ecu: speed target", "ecu: turbo limit", "plant: speed", "ecu: a", "ecu: b", "ecu: c"]);
        assert_eq!(constants.iter().map(names).collect::<Vec<_>>(), ["ecu: flag"]);
    }
}
