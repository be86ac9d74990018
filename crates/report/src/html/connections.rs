//! The table of connections, and whether the promise of virtual time was kept.

use super::names::breakable;
use super::table::{Table, cells, html, number};
use crate::Run;
use crate::format::seconds;
use crate::markup::escape;

/// The section on connections; empty for a rig without connections.
pub fn connections(run: &Run) -> String {
    if run.connections.is_empty() {
        return String::new();
    }
    let rows = run.connections.iter().map(|own| {
        let timing = format!("{}: {}", own.timing, own.delay);
        let [missed, overwritten] = [own.missed, own.overwritten].map(|value| number(value, "alarm"));
        cells![html(breakable(&own.from)), html(breakable(&own.to)), timing, missed, overwritten]
    });
    format!(
        "<h3>Connections</h3>\n<p>Which value a consumer sees. Missed: not computed yet when it was to be seen; \
         overwritten: the consumer came too late for it.</p>\n{}<p class=\"note\">{}</p>\n",
        Table::new("From|To|Timing|>missed|#overwritten").rows(rows),
        escape(&promise(run))
    )
}

fn promise(run: &Run) -> String {
    let promise = &run.promise;
    let covered = match (promise.covered, promise.columns) {
        (0, _) => return "No recorded column is certain to be that of virtual time: vecud check says why.".to_owned(),
        (n, all) => format!("{n} of {all} recorded columns"),
    };
    match (&promise.broken_by, promise.until_s) {
        (None, _) => format!("{covered} are those of virtual time, to the byte."),
        (Some(what), Some(until)) => {
            format!(
                "{covered} are those of virtual time, to the byte, up to {} only: the cause is {what}.",
                seconds(until)
            )
        }
        (Some(what), None) => format!("{covered} may differ from virtual time: the cause is {what}."),
    }
}
