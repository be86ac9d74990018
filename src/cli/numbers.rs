//! Numbers on the command line.

use vecud_base::time::Fraction;

/// A duration that stands on the command line.
pub fn duration(text: &str) -> Result<Fraction, String> {
    let wrong = || "must be a number of seconds above 0, 1e-18 at least, as 0.01 or 1/100".to_owned();
    Fraction::parse_duration(text).ok().filter(|duration| !duration.is_zero()).ok_or_else(wrong)
}

/// A number that is neither infinite nor NaN.
pub fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "must be a finite number".to_owned())
}
