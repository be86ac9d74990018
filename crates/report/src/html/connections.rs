//! The table of connections, and whether the promise of virtual time was kept.

use super::{breakable, escape};
use crate::Run;
use crate::format::{count, seconds};

/// Nothing for a rig without connections.
pub fn connections(run: &Run) -> String {
    if run.connections.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<h3>Connections</h3>\n<p>Which value a consumer sees. Missed: not computed yet when it was to be seen; \
         overwritten: the consumer came too late for it.</p>\n<div class=\"scroll\"><table>\n<thead>\n<tr><th>From</th>\
         <th>To</th><th>Timing</th><th class=\"n first\">missed</th><th class=\"n\">overwritten</th></tr>\n</thead>\n<tbody>\n",
    );
    let number = |n: u64| match n {
        0 => "<td class=\"n\">0</td>".to_owned(),
        n => format!("<td class=\"n alarm\">{}</td>", count(n)),
    };
    for connection in &run.connections {
        out += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}: {}</td>{}{}</tr>\n",
            breakable(&connection.from),
            breakable(&connection.to),
            escape(&connection.timing),
            escape(&connection.delay),
            number(connection.missed),
            number(connection.overwritten)
        );
    }
    out += "</tbody>\n</table></div>\n";
    out += &format!("<p class=\"note\">{}</p>\n", escape(&promise(run)));
    out
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
