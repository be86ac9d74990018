//! Names on a page, which may be long.

use crate::markup::escape;

/// `fmu.clock` with the FMU's part in the background.
pub(super) fn name(fmu: &str, clock: &str) -> String {
    format!("<span class=\"fmu\">{}.</span>{}", breakable(fmu), breakable(clock))
}

/// A name as HTML. A long one may be broken where its words end, or else anywhere.
pub(super) fn breakable(name: &str) -> String {
    const WHOLE: usize = 16;
    if name.chars().count() <= WHOLE {
        return escape(name);
    }
    let mut out = String::new();
    let mut unbroken = 0;
    for c in name.chars() {
        out += &escape(c.encode_utf8(&mut [0; 4]));
        unbroken += 1;
        if matches!(c, '_' | '.') || unbroken == WHOLE {
            out += "<wbr>";
            unbroken = 0;
        }
    }
    out
}
