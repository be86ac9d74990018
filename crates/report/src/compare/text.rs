//! Tolerances, values and ratios of a comparison, for people.

use super::value::Tolerance;

/// No deviation is admitted.
pub(crate) const EXACT: &str = "exact";

/// `1e-6`, `0.1 %`, `1e-6 or 0.1 %`, `exact`, `any`
pub(crate) fn tolerance_text(tolerance: &Tolerance) -> String {
    let (absolute, relative) = (tolerance.absolute, tolerance.relative);
    let share = || format!("{} %", round(relative * 100.0));
    match (absolute > 0.0, relative > 0.0) {
        (false, false) => EXACT.to_owned(),
        _ if absolute.is_infinite() || relative.is_infinite() => "any".to_owned(),
        (true, false) => round(absolute),
        (false, true) => share(),
        (true, true) => format!("{} or {}", round(absolute), share()),
    }
}

/// A cell for people.
pub(crate) fn shown(cell: &str) -> &str {
    if cell.is_empty() { "no value" } else { cell }
}

/// Two cells, with no more digits than show that they differ.
pub(crate) fn shown_pair(a: &str, b: &str) -> (String, String) {
    let long = |cell: &str| cell.len() > 8;
    let short = |value: f64, digits: usize| match format!("{value:.digits$e}").parse::<f64>() {
        Ok(value) if (1e-4..1e7).contains(&value.abs()) || value == 0.0 => format!("{value}"),
        Ok(value) => format!("{value:e}"),
        Err(_) => format!("{value}"),
    };
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) if long(a) || long(b) => {
            let digits = (4..17).find(|&digits| format!("{x:.digits$e}") != format!("{y:.digits$e}")).unwrap_or(17);
            (short(x, digits), short(y, digits))
        }
        (Ok(x), Err(_)) if long(a) => (short(x, 4), shown(b).to_owned()),
        (Err(_), Ok(y)) if long(b) => (shown(a).to_owned(), short(y, 4)),
        _ => (shown(a).to_owned(), shown(b).to_owned()),
    }
}

/// A number with three significant digits: `0.00123`, `1.23e-7`, `12300`.
pub(crate) fn round(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "∞".to_owned() };
    }
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    match rounded.abs() {
        1e-4..1e7 => format!("{rounded}"),
        _ => format!("{rounded:e}"),
    }
}

/// `1.25`, `12.5`, `125`, `∞`
pub(crate) fn ratio_text(ratio: f64) -> String {
    match ratio {
        ratio if !ratio.is_finite() => "∞".to_owned(),
        ratio if ratio < 9.995 => format!("{ratio:.2}"),
        ratio if ratio < 99.95 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.0}"),
    }
}
