//! What an FMU said of a clock and no clock can have, on its way to the report.

/// A reading of a clock that is of no use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unusable {
    /// An interval or shift, s.
    Decimal(f64),
    /// An interval or shift, counter and resolution.
    Fraction(u64, u64),
    /// An interval qualifier.
    Qualifier(i32),
}

impl Unusable {
    /// As words; never three zeros.
    pub(super) fn to_words(self) -> [u64; 3] {
        match self {
            Unusable::Decimal(seconds) => [1, seconds.to_bits(), 0],
            Unusable::Fraction(counter, resolution) => [2, counter, resolution],
            Unusable::Qualifier(raw) => [3, raw as u64, 0],
        }
    }

    /// The inverse of [`Unusable::to_words`].
    pub(super) fn from_words([kind, value, resolution]: [u64; 3]) -> Option<Unusable> {
        match kind {
            1 => Some(Unusable::Decimal(f64::from_bits(value))),
            2 => Some(Unusable::Fraction(value, resolution)),
            3 => Some(Unusable::Qualifier(value as i32)),
            _ => None,
        }
    }
}
