//! Recorded signals alone, as wide as a page, of one recording or of two over each other: as a page, or as one drawing.

use super::course::{LONGEST_LABEL, Line, range_text};
use super::figure::{Drawing, captioned, wide_and_narrow};
use super::names::breakable;
use super::page::{STYLE, header, page};
use super::panel::{Panel, panels};
use crate::chart::Frame;
use crate::ellipsis::cut;
use crate::format::significant;
use crate::markup::escape;
use std::collections::HashMap;
use std::fmt::Write;
use vecud_record::recording::envelope::{Envelope, Overview};
use vecud_record::recording::names::split;

/// A frame as wide as a page, so that times of one figure stand below those of another.
const WIDE: Frame = Frame { width: 960.0, height: 200.0, left: 70.0, right: 24.0, top: 12.0, bottom: 28.0, labels: 8 };
const NARROW: Frame = Frame { width: 340.0, height: 170.0, left: 54.0, right: 14.0, ..WIDE };
/// Room in a drawing for the name of a panel, and for each line of its legend.
const TITLE: f64 = 26.0;
const LEGEND: f64 = 18.0;

/// Contents of a plot.
pub struct Plot {
    /// Title of the plot.
    pub title: String,
    /// One recording, or the run and its reference.
    pub recordings: Vec<Plotted>,
    /// Start and end of the drawn time, s.
    pub times: (f64, f64),
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// Drawn contents of one recording.
pub struct Plotted {
    /// The file or folder, for people.
    pub name: String,
    /// The columns of the recording.
    pub overview: Overview,
    /// Time up to which the last values hold, s.
    pub until: f64,
    /// Units by the names of columns.
    pub units: HashMap<String, String>,
    /// Overruns of clocks, as far as they were kept: FMU, and time in s.
    pub overruns: Vec<(String, f64)>,
}

impl Plot {
    /// Passes the panels of the plot, by FMU, to `show`; the second of two recordings gives the second line of a panel.
    fn with_panels<T>(&self, show: impl Fn(&[Panel]) -> T) -> T {
        let Some(run) = self.recordings.first() else { return show(&[]) };
        let units: HashMap<&str, &str> = run.units.iter().map(|(name, unit)| (name.as_str(), unit.as_str())).collect();
        let Some(reference) = self.recordings.get(1) else {
            let (mut shown, constants) = panels(&run.overview, &units, run.until);
            shown.extend(constants);
            return show(&shown);
        };
        let mut shown: Vec<Panel> = Vec::new();
        let names = |of: &'_ Plotted| of.overview.columns().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
        let (own, others) = (names(run), names(reference));
        let all: Vec<&String> = own.iter().chain(others.iter().filter(|name| !own.contains(name))).collect();
        for name in all {
            let lines: Vec<Line> = self.recordings.iter().filter_map(|recording| recording.line(name)).collect();
            if lines.iter().any(|line| line.envelope.range().is_some()) {
                let unit = units.get(name.as_str()).copied().unwrap_or_default();
                shown.push(Panel { fmu: split(name).0, unit, lines });
            }
        }
        show(&shown)
    }

    fn is_comparison(&self) -> bool {
        self.recordings.len() > 1
    }

    /// Overruns of the FMU's clocks in the (first) recording.
    fn marks(&self, fmu: &str) -> Vec<f64> {
        let own = self.recordings.iter().take(1).flat_map(|recording| &recording.overruns);
        own.filter(|(name, _)| name == fmu).map(|(_, time)| *time).collect()
    }

    /// Name of a panel: that of its variables; in a comparison they have the same.
    fn title(&self, panel: &Panel) -> String {
        let mut names: Vec<&str> = panel.lines.iter().map(Line::name).collect();
        names.dedup();
        names.join(", ")
    }

    /// Names of the recordings, and the drawn span of time.
    fn lead(&self) -> String {
        let names: Vec<String> =
            self.recordings.iter().map(|recording| format!("<code>{}</code>", escape(&recording.name))).collect();
        let span = format!("{} s to {} s", significant(self.times.0), significant(self.times.1));
        format!("{} · {span}", names.join(" against "))
    }
}

impl Plotted {
    fn line(&self, name: &str) -> Option<Line<'_>> {
        let (column, (_, envelope)): (usize, (&str, &Envelope)) =
            self.overview.columns().enumerate().find(|(_, (own, _))| *own == name)?;
        Some(Line { overview: &self.overview, column, envelope, label: &self.name, until: self.until })
    }
}

/// The plot as a page.
pub fn plot_html(plot: &Plot) -> String {
    let notes: Vec<String> = plot.notes.iter().map(|note| escape(note)).collect();
    let mut body =
        header("Recorded signals", &plot.title, &[plot.lead()]) + &super::page::notes("Worth knowing", &notes, "");
    body += "<section>\n<p>A value holds until the next one, as it does for whoever reads it; where there are more values than room, a \
             line reaches from the least to the greatest. Marks below an axis are the activations that were recorded, where they can be told \
             apart; red ones above it are overruns.</p>\n";
    body += &plot.with_panels(|panels| panels.iter().map(|panel| figure(plot, panel)).collect::<String>());
    body += "</section>\n";
    page(&format!("{} – vecud plot", plot.title), &body, env!("CARGO_PKG_VERSION"))
}

fn figure(plot: &Plot, panel: &Panel) -> String {
    let marks = plot.marks(panel.fmu);
    let drawing = wide_and_narrow(WIDE, NARROW, |frame| Drawing {
        svg: panel.draw(plot.times, &marks, frame),
        notes: Vec::new(),
    });
    let title = breakable(&plot.title(panel));
    let unit = if panel.unit().is_empty() { "no unit".to_owned() } else { format!("in {}", escape(panel.unit())) };
    match panel.lines.as_slice() {
        [line] if !plot.is_comparison() => captioned(&title, &range_text(line.envelope, panel.unit()), &drawing, ""),
        _ => captioned(&title, &unit, &drawing, &panel.legend()),
    }
}

/// The plot as one drawing, to be shown anywhere: an SVG file.
pub fn plot_svg(plot: &Plot) -> String {
    plot.with_panels(|panels| {
        let short = |name: &str| escape(&cut(name, LONGEST_LABEL));
        let mut content = String::new();
        let mut top = 14.0;
        let text = |class: &str, y: f64, text: &str| format!("<text class=\"{class}\" x=\"16\" y=\"{y:.1}\">{text}</text>\n");
        for panel in panels {
            top += TITLE;
            let unit = if panel.unit().is_empty() { String::new() } else { format!(" in {}", escape(panel.unit())) };
            content += &text("strong", top - 8.0, &(short(&plot.title(panel)) + &unit));
            let drawn = panel.draw(plot.times, &plot.marks(panel.fmu), WIDE);
            // A drawing within a drawing has a place and a size.
            let place = format!("<svg y=\"{top:.1}\" width=\"{}\" height=\"{}\"", WIDE.width, WIDE.height);
            content += &drawn.replacen("<svg", &place, 1);
            top += WIDE.height;
            if panel.lines.len() > 1 || plot.is_comparison() {
                for (style, line) in panel.lines.iter().enumerate() {
                    top += LEGEND;
                    let range = range_text(line.envelope, "");
                    let _ = writeln!(
                        content,
                        "<path class=\"line s{style}\" d=\"M{:.1} {:.1}h28\"/>",
                        WIDE.left,
                        top - 4.0
                    );
                    let (x, label) = (WIDE.left + 36.0, short(line.label));
                    let _ = writeln!(content, "<text x=\"{x:.1}\" y=\"{top:.1}\">{label}: {range}</text>");
                }
                top += 4.0;
            }
        }
        let (width, height) = (WIDE.width, top + 16.0);
        let title = escape(&plot.title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.1}\" width=\"{width}\" height=\"{height:.1}\">\n\
             <title>{title}</title>\n<style><![CDATA[\n{STYLE}]]></style>\n\
             <rect width=\"{width}\" height=\"{height:.1}\" style=\"fill: var(--card)\"/>\n{content}</svg>\n"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::tests::is_sound;

    fn plotted(name: &str, columns: &[&str], last: f64) -> Plotted {
        let names: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
        let mut overview = Overview::new(&names, (0..names.len()).collect(), 4096);
        for row in 0..=10 {
            overview.row(f64::from(row) * last / 10.0, |place| Some(f64::from(row) + place as f64));
        }
        let units = HashMap::from([("a.xxx".to_owned(), "m/s".to_owned()), ("a.yyy".to_owned(), "m/s".to_owned())]);
        Plotted {
            name: name.into(),
            overview,
            until: last,
            units,
            overruns: vec![("a".into(), 5.0), ("b".into(), 6.0)],
        }
    }

    fn plot(recordings: Vec<Plotted>) -> Plot {
        Plot { title: "one & <two>".into(), recordings, times: (0.0, 10.0), notes: vec!["a <note>".into()] }
    }

    #[test]
    fn a_plot_of_one_recording_has_its_units_together_and_marks_overruns() {
        let plot = plot(vec![plotted("out", &["a.xxx", "a.yyy", "b.zzz"], 10.0)]);
        let page = plot_html(&plot);
        is_sound(&page);
        assert_eq!(page.matches("<figure").count(), 2);
        assert!(page.contains("a.xxx, a.yyy") && page.contains("in m/s") && page.contains("a &lt;note&gt;"), "{page}");
        assert_eq!(page.matches("class=\"overran\"").count(), 4, "of each FMU its own, in both widths");
    }

    #[test]
    fn two_recordings_lie_over_each_other_by_name_and_each_ends_where_it_ends() {
        let plot = plot(vec![plotted("new", &["a.xxx", "a.yyy"], 10.0), plotted("old", &["a.xxx", "a.www"], 5.0)]);
        let page = plot_html(&plot);
        is_sound(&page);
        assert_eq!(page.matches("<figure").count(), 3, "a.xxx of both, a.yyy and a.www of one each");
        let first = page.split("<figure").nth(1).unwrap();
        let ends: Vec<f64> = first
            .split(" d=\"")
            .filter(|path| path.contains("M70.0"))
            .filter_map(|path| path.split('"').next()?.rsplit('H').next()?.parse().ok())
            .collect();
        assert!(ends.contains(&WIDE.x(1.0)) && ends.contains(&WIDE.x(0.5)), "{ends:?}");
        assert!(first.contains("<span>new</span>") && first.contains("<span>old</span>"), "{first}");
    }

    #[test]
    fn a_drawing_is_xml_that_needs_nothing_else() {
        let svg = plot_svg(&plot(vec![plotted("new", &["a.xxx"], 10.0), plotted("old", &["a.xxx"], 5.0)]));
        let document = roxmltree::Document::parse(&svg).unwrap();
        let lines =
            document.descendants().filter(|node| node.attribute("class").is_some_and(|own| own.starts_with("line")));
        assert_eq!(lines.count(), 4, "two lines, and their keys");
        let links = document.descendants().flat_map(|node| node.attributes()).filter(|own| own.name() == "href");
        assert_eq!(links.count(), 0);
        assert!(!svg.contains("url(") && svg.contains("prefers-color-scheme: dark"));
    }
}
