//! The table of stimuli.

use super::names::breakable;
use super::table::{Cell, Table, cells, html, number};
use crate::format::{count, seconds};
use crate::markup::escape;
use crate::{Run, StimulusResult};
use vecud_plan::Interpolation;

/// The section on stimuli; empty for a rig without stimuli.
pub fn stimuli(run: &Run) -> String {
    if run.stimuli.is_empty() {
        return String::new();
    }
    let rows = run.stimuli.iter().map(|own| {
        let between = match own.interpolation {
            Interpolation::Hold => "the value before",
            Interpolation::Linear => "on the line",
        };
        cells![html(breakable(&own.file)), between, own.rows, own.columns, own.columns_left_out, starved(own)]
    });
    format!(
        "<h3>Stimuli</h3>\n<p>Files that fed inputs and ticked clocks. Starved: activations that came before their \
         row was read, and got an older one.</p>\n{}",
        Table::new("File|Between rows|>rows read|#columns|#left out|#starved").rows(rows)
    )
}

fn starved(own: &StimulusResult) -> Cell {
    let Some((clock, time)) = &own.first_starved else { return number(0, "") };
    let (starved, clock, time) = (count(own.starved), escape(clock), seconds(*time));
    html(format!("{starved}<br><small>first {clock} at {time}</small>")).class("alarm")
}
