//! The overruns: the releases that found their clocks still running, and the reasons why.

use super::names::name;
use super::table::{Cell, Table, cells, html};
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
    let cells = rows[..shown].iter().map(|(clock, row)| {
        let release = Cell::from(format!("{} s", row.release_s)).titled(format!("{} s", row.release));
        let budget = row.budget.map_or("–".to_owned(), short_duration);
        let response = Cell::from(duration(row.predecessor.response)).class("alarm");
        cells![html(name(&clock.fmu, &clock.clock)), release, row.releases, budget, response, row.cause.as_str()]
    });
    let mut out = format!(
        "<h3>Overruns</h3>\n<p>Activations that were still running when the next one was due: that release, the time that \
         they had (the interval), how long they took, and what for.</p>\n{}",
        Table::new("Clock|#release|#releases|#budget|#response|Cause").rows(cells)
    );
    if total > shown as u64 {
        out += &format!(
            "<p class=\"note\">{} of {}: of each clock the first ones and the last ones are kept.</p>\n",
            count(shown as u64),
            count(total)
        );
    }
    out
}
