//! Unusable values from an FMU, on their way to the report.

/// A reading that is of no use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unusable {
    /// An interval or shift, s.
    Decimal(f64),
    /// An interval or shift, counter and resolution.
    Fraction(u64, u64),
    /// An interval qualifier.
    Qualifier(i32),
    /// The derivative of a continuous state, or an event indicator, by its number from 0: it is not finite, or no number.
    Element(u64),
    /// Derivatives with which no step is short enough for the tolerance.
    NoStep,
    /// An algebraic loop is not solved: the number of one of its connections.
    Loop(u64),
    /// A contradiction to an assumption of a master algorithm, A0, A1 or A4: its number, and the reached time, s.
    Assumption(u64, f64),
    /// More events within a step than this limit.
    TooManyEvents(u64),
    /// The largest step of a slave by its own word, in its unit of time, is no step.
    MaxStep(f64),
    /// The number of continuous states or event indicators, and the number by the description.
    Number(u64, u64),
    /// An event without end: the number of iterations, and 1 if the values that an FMU gets from others have changed in
    /// the last one, 0 if an FMU asks for another one by itself.
    Restless(u64, u64),
}

impl Unusable {
    /// Number of kinds: the largest first word of [`Unusable::to_words`].
    pub(super) const KINDS: u64 = 11;

    /// The value as words; never three zeros.
    pub(super) fn to_words(self) -> [u64; 3] {
        match self {
            Unusable::Decimal(seconds) => [1, seconds.to_bits(), 0],
            Unusable::Fraction(counter, resolution) => [2, counter, resolution],
            Unusable::Qualifier(raw) => [3, raw as u64, 0],
            Unusable::Element(number) => [4, number, 0],
            Unusable::NoStep => [5, 0, 0],
            Unusable::Loop(connection) => [6, connection, 0],
            Unusable::Assumption(number, seconds) => [7, number, seconds.to_bits()],
            Unusable::TooManyEvents(most) => [8, most, 0],
            Unusable::MaxStep(size) => [9, size.to_bits(), 0],
            Unusable::Number(said, described) => [10, said, described],
            Unusable::Restless(iterations, by_others) => [11, iterations, by_others],
        }
    }

    /// The inverse of [`Unusable::to_words`].
    pub(super) fn from_words([kind, value, resolution]: [u64; 3]) -> Option<Unusable> {
        match kind {
            1 => Some(Unusable::Decimal(f64::from_bits(value))),
            2 => Some(Unusable::Fraction(value, resolution)),
            3 => Some(Unusable::Qualifier(value as i32)),
            4 => Some(Unusable::Element(value)),
            5 => Some(Unusable::NoStep),
            6 => Some(Unusable::Loop(value)),
            7 => Some(Unusable::Assumption(value, f64::from_bits(resolution))),
            8 => Some(Unusable::TooManyEvents(value)),
            9 => Some(Unusable::MaxStep(f64::from_bits(value))),
            10 => Some(Unusable::Number(value, resolution)),
            11 => Some(Unusable::Restless(value, resolution)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Unusable;

    #[test]
    fn all_kinds_are_known_and_come_back_as_they_were() {
        let all = [
            Unusable::Decimal(-0.5),
            Unusable::Fraction(3, 0),
            Unusable::Qualifier(-1),
            Unusable::Element(7),
            Unusable::NoStep,
            Unusable::Loop(2),
            Unusable::Assumption(4, 0.37),
            Unusable::TooManyEvents(100),
            Unusable::MaxStep(-0.25),
            Unusable::Number(8, 9),
            Unusable::Restless(100, 1),
        ];
        assert_eq!(all.len() as u64, Unusable::KINDS);
        for (number, kind) in all.into_iter().enumerate() {
            let words = kind.to_words();
            assert_eq!((words[0], Unusable::from_words(words)), (number as u64 + 1, Some(kind)));
        }
    }
}
