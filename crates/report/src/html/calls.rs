//! The number of calls of each function of an FMU, and their duration if it was measured.

use super::table::{Cell, Table};
use crate::FmuResult;
use crate::format::duration;

/// The table of an FMU; nothing in reports that do not have that yet.
pub fn table(fmu: &FmuResult) -> String {
    if fmu.calls.is_empty() {
        return String::new();
    }
    let is_timed = fmu.calls.iter().any(|own| own.total_ns.is_some());
    let rows = fmu.calls.iter().map(|own| {
        let time = |calls: u64| own.total_ns.map_or("–".to_owned(), |nanos| duration(nanos / calls.max(1)));
        [Cell::from(&*own.function), own.calls.into(), time(1).into(), time(own.calls).into()]
    });
    let columns = if is_timed { "Function|#calls|>Time, all|#mean" } else { "Function|#calls" };
    format!("<h4>Calls</h4>\n{}", Table::new(columns).rows(rows))
}
