//! The overruns: which release found its clock still running, and why that took so long.

use super::{escape, name};
use crate::ClockResult;
use crate::format::{count, duration, short_duration};

/// Rows at most.
const ROWS: usize = 60;

/// The table; nothing when there was no overrun.
pub fn table(clocks: &[&ClockResult]) -> String {
    let total: u64 = clocks.iter().map(|clock| clock.causes.overran_total).sum();
    if total == 0 {
        return String::new();
    }
    let mut rows: Vec<_> =
        clocks.iter().flat_map(|clock| clock.causes.overran.iter().map(move |row| (clock, row))).collect();
    rows.sort_by(|(_, a), (_, b)| a.release_s.total_cmp(&b.release_s));
    let shown = rows.len().min(ROWS);
    let mut out = String::from(
        "<h3>Overruns</h3>\n<p>Activations that were still running when the next one was due: that release, the time that \
         they had (the interval), how long they took, and what for.</p>\n<div class=\"scroll\"><table>\n<thead><tr>\
         <th>Clock</th><th class=\"n\">release</th><th class=\"n\">releases</th><th class=\"n\">budget</th>\
         <th class=\"n\">response</th><th>Cause</th></tr></thead>\n<tbody>\n",
    );
    for (clock, row) in &rows[..shown] {
        out += &format!(
            "<tr><th scope=\"row\">{}</th><td class=\"n\" title=\"{} s\">{} s</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n alarm\">{}</td><td>{}</td></tr>\n",
            name(&clock.fmu, &clock.clock),
            escape(&row.release),
            row.release_s,
            count(row.releases),
            row.budget.map_or("–".to_owned(), short_duration),
            duration(row.predecessor.response),
            escape(&row.cause)
        );
    }
    out += "</tbody>\n</table></div>\n";
    if total > shown as u64 {
        out += &format!(
            "<p class=\"note\">{} of {}: of each clock the first ones and the last ones are kept.</p>\n",
            count(shown as u64),
            count(total)
        );
    }
    out
}
