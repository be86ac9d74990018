//! The table of stimuli.

use super::{breakable, escape};
use crate::format::{count, seconds};
use crate::{Run, StimulusResult};
use vecud_plan::Interpolation;

/// Nothing for a rig without stimuli.
pub fn stimuli(run: &Run) -> String {
    if run.stimuli.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<h3>Stimuli</h3>\n<p>Files that fed inputs and ticked clocks. Starved: activations that came before their \
         row was read, and got an older one.</p>\n<div class=\"scroll\"><table>\n<thead>\n<tr><th>File</th>\
         <th>Between rows</th><th class=\"n first\">rows read</th><th class=\"n\">columns</th><th class=\"n\">left out</th>\
         <th class=\"n\">starved</th></tr>\n</thead>\n<tbody>\n",
    );
    for own in &run.stimuli {
        let between = match own.interpolation {
            Interpolation::Hold => "the value before",
            Interpolation::Linear => "on the line",
        };
        out += &format!(
            "<tr><th scope=\"row\">{}</th><td>{between}</td><td class=\"n first\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td>{}</tr>\n",
            breakable(&own.file),
            count(own.rows),
            own.columns,
            own.columns_left_out,
            starved(own)
        );
    }
    out + "</tbody>\n</table></div>\n"
}

fn starved(own: &StimulusResult) -> String {
    match &own.first_starved {
        None => "<td class=\"n zero\">0</td>".to_owned(),
        Some((clock, time)) => format!(
            "<td class=\"n alarm\">{}<br><small>first {} at {}</small></td>",
            count(own.starved),
            escape(clock),
            seconds(*time)
        ),
    }
}
