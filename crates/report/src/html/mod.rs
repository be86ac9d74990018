//! `report.html`: one self-contained page. Problems first, then the run as a whole and the machine, then a page for each
//! FMU, then details; each figure has an explanation.
//!
//! Bounded: of a rig with a thousand clocks figures have the worst lines and say so, so the page stays small enough to be
//! opened and is written within a second or so.
//!
//! No script and nothing from elsewhere: a policy in the page forbids both. Everything that came from an FMU, a rig or
//! the machine is escaped.

mod calls;
mod clocks;
mod comparison;
mod connections;
mod contents;
mod cores;
mod course;
mod deviations;
mod figure;
mod files;
mod fmus;
mod gantt;
mod glossary;
mod head;
mod hints;
mod histogram;
mod machine;
mod names;
mod over_time;
mod overruns;
mod overview;
mod page;
mod panel;
mod parts;
mod percentiles;
mod plot;
mod problems;
mod report;
mod selection;
mod signals;
mod spread;
mod stimuli;
mod table;
mod tiles;
mod trends;
mod worst;

pub use comparison::comparison_html;
pub use plot::{Plot, Plotted, plot_html, plot_svg};
pub use report::html;
pub use trends::trends_html;

#[cfg(test)]
mod tests;
