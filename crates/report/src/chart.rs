//! The chart on which every figure is drawn, as SVG: a [`Frame`], an [`Axis`] to the right and one upwards, and marks on them.
//!
//! | mark | for |
//! |---|---|
//! | [`Chart::line`] along a [`Path`] | a course: steps, slopes, gaps and needles |
//! | [`Chart::path`] | anything else along a path: bands, arrows, crosses |
//! | [`Chart::bar`] | a stretch of a row, or a column |
//! | [`Chart::mark`] | a single value, in the shape of its line |
//! | [`Chart::interval`] | least, median, most of them, greatest: of a distribution, in a row |
//! | [`Chart::upright`], [`Chart::level`] | what is a limit to everything |
//! | [`Chart::text`] | words |
//!
//! [`Chart::x`] and [`Chart::y`] turn values into coordinates of the drawing, which go to the right and down. A value outside of an
//! axis is drawn on its edge, and a value that is no number at its beginning: a chart is always finite. In a chart of rows
//! ([`Frame::with_rows`], [`Axis::bare`]) vertical coordinates are those of the drawing.
//!
//! Texts are text: the chart escapes them. Colours, dashes and shapes are classes of html/style.css; a style is an index into
//! them, and [`COLOURS`] of them can be told apart, in grey as well.
//!
//! Screen readers get the title of the chart ([`Chart::svg`]), and the spans of its axes as a description.
//!
//! ```
//! use vecud_report::chart::{Axis, Chart, Frame, Path};
//!
//! let (times, latencies) = (Axis::times(0.0, 10.0, 4), Axis::durations(5_000.0, 5).titled("latency"));
//! let mut chart = Chart::new(Frame::MEDIUM, &times, &latencies);
//! chart.level("limit", 4_500.0);
//! let mut path = Path::default();
//! for (time, latency) in [(0.0, 1_000.0), (4.0, 3_000.0), (5.0, 2_000.0)] {
//!     path.step(chart.x(time), chart.y(latency));
//! }
//! path.level(chart.x(10.0));
//! chart.line(0, &path, "a <clock>");
//! chart.mark(0, 4.0, 3_000.0);
//! let svg = chart.svg("Latency of a clock over ten seconds");
//!
//! assert!(svg.contains(">10 s</text>") && svg.contains(">5 µs</text>"));
//! assert!(svg.contains("class=\"line s0\"") && svg.contains("<title>a &lt;clock&gt;</title>"));
//! assert!(svg.contains("aria-label=\"Latency of a clock over ten seconds\""));
//! ```

mod axis;
mod drawing;
mod frame;
mod path;

pub use axis::{Axis, AxisTick, Scale};
pub use drawing::{BASELINE, COLOURS, Chart, class, marker};
pub use frame::Frame;
pub use path::Path;
