//! How often each function of an FMU was called, and how long that took where it was measured.

use super::escape;
use crate::FmuResult;
use crate::format::{count, duration};

/// The table of an FMU; nothing in reports that do not have that yet.
pub fn table(fmu: &FmuResult) -> String {
    if fmu.calls.is_empty() {
        return String::new();
    }
    let is_timed = fmu.calls.iter().any(|own| own.total_ns.is_some());
    let columns = if is_timed { "<th class=\"n first\">Time, all</th><th class=\"n\">mean</th>" } else { "" };
    let mut out = format!(
        "<h4>Calls</h4>\n<div class=\"scroll\"><table>\n<thead>\n<tr><th>Function</th><th class=\"n\">calls</th>{columns}</tr>\n\
         </thead>\n<tbody>\n"
    );
    for own in &fmu.calls {
        let times = match own.total_ns {
            _ if !is_timed => String::new(),
            None => "<td class=\"n first\">–</td><td class=\"n\">–</td>".to_owned(),
            Some(nanos) => {
                let mean = nanos / own.calls.max(1);
                format!("<td class=\"n first\">{}</td><td class=\"n\">{}</td>", duration(nanos), duration(mean))
            }
        };
        let (function, calls) = (escape(&own.function), count(own.calls));
        out += &format!("<tr><th scope=\"row\">{function}</th><td class=\"n\">{calls}</td>{times}</tr>\n");
    }
    out + "</tbody>\n</table></div>\n"
}
