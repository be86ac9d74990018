//! The tables of FMI 3.0, 2.4.7.4: which `variability` goes with which `causality`, and which `initial` with both.

use super::model::{Causality, Initial, Variability, VariableType};

/// Whether a model identifier can be the name of a library's file: neither hidden nor a path.
pub fn names_file(identifier: &str) -> bool {
    let is_odd = |c: char| matches!(c, '/' | '\\') || c.is_control();
    !identifier.is_empty() && !identifier.starts_with('.') && !identifier.contains(is_odd)
}

/// Whether a model identifier can be a part of a name in C, as the standard wants it.
pub fn is_word_of_c(identifier: &str) -> bool {
    !identifier.is_empty() && identifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The words of `causality`.
pub(super) const CAUSALITIES: [(&str, Causality); 7] = [
    ("structuralParameter", Causality::StructuralParameter),
    ("parameter", Causality::Parameter),
    ("calculatedParameter", Causality::CalculatedParameter),
    ("input", Causality::Input),
    ("output", Causality::Output),
    ("local", Causality::Local),
    ("independent", Causality::Independent),
];

/// The words of `variability`.
pub(super) const VARIABILITIES: [(&str, Variability); 5] = [
    ("constant", Variability::Constant),
    ("fixed", Variability::Fixed),
    ("tunable", Variability::Tunable),
    ("discrete", Variability::Discrete),
    ("continuous", Variability::Continuous),
];

/// The words of `initial`.
pub(super) const INITIALS: [(&str, Initial); 3] =
    [("exact", Initial::Exact), ("approx", Initial::Approx), ("calculated", Initial::Calculated)];

/// The word for one of the values above.
pub(super) fn word<T: PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, other)| *other == value).map_or("?", |(word, _)| word)
}

/// `variability` where it is not written.
pub(super) fn default_variability(causality: Causality, variable_type: VariableType) -> Variability {
    match causality {
        Causality::StructuralParameter | Causality::Parameter | Causality::CalculatedParameter => Variability::Fixed,
        _ if is_float(variable_type) => Variability::Continuous,
        _ => Variability::Discrete,
    }
}

/// Why a combination is not allowed; `None` if it is.
pub(super) fn objection(causality: Causality, variability: Variability) -> Option<&'static str> {
    use Causality as C;
    use Variability as V;
    match (causality, variability) {
        (C::Independent, V::Continuous) => None,
        (C::Independent, _) => Some("the independent variable is continuous"),
        (C::StructuralParameter | C::Parameter | C::CalculatedParameter, V::Fixed | V::Tunable) => None,
        (C::StructuralParameter | C::Parameter | C::CalculatedParameter, V::Discrete | V::Continuous) => {
            Some("a parameter does not depend on time: fixed or tunable")
        }
        (C::StructuralParameter | C::Parameter | C::CalculatedParameter | C::Input, V::Constant) => {
            Some("what the importer may set, or computes from that, is not constant")
        }
        (C::Input, V::Fixed | V::Tunable) => Some("that would be a parameter"),
        (C::Output, V::Fixed | V::Tunable) => Some("that would be a calculatedParameter"),
        (C::Input, V::Discrete | V::Continuous) => None,
        (C::Output, V::Constant | V::Discrete | V::Continuous) => None,
        (C::Local, _) => None,
    }
}

/// The values of `initial` that a combination allows, its default first; none for the independent variable and for a
/// combination that [`objection`] refuses.
pub(super) fn initials(causality: Causality, variability: Variability) -> &'static [Initial] {
    use Causality as C;
    use Variability as V;
    if objection(causality, variability).is_some() {
        return &[];
    }
    match (causality, variability) {
        (C::Independent, _) => &[],
        (_, V::Constant) | (C::StructuralParameter | C::Parameter | C::Input, _) => &[Initial::Exact],
        (_, V::Fixed | V::Tunable) => &[Initial::Calculated, Initial::Approx],
        (_, V::Discrete | V::Continuous) => &[Initial::Calculated, Initial::Exact, Initial::Approx],
    }
}

/// Whether variables of this type can be continuous, have a unit, be a state.
pub(super) fn is_float(variable_type: VariableType) -> bool {
    matches!(variable_type, VariableType::Float32 | VariableType::Float64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard's table, row by row: the allowed values of `initial`, the default first; `-` not allowed;
    /// `none` allowed without `initial`.
    const TABLE: [(&str, [&str; 7]); 5] = [
        ("constant", ["-", "-", "-", "-", "exact", "exact", "-"]),
        ("fixed", ["exact", "exact", "calculated approx", "-", "-", "calculated approx", "-"]),
        ("tunable", ["exact", "exact", "calculated approx", "-", "-", "calculated approx", "-"]),
        ("discrete", ["-", "-", "-", "exact", "calculated exact approx", "calculated exact approx", "-"]),
        ("continuous", ["-", "-", "-", "exact", "calculated exact approx", "calculated exact approx", "none"]),
    ];

    #[test]
    fn the_table_of_the_standard() {
        for (row, (variability, cells)) in TABLE.iter().enumerate() {
            assert_eq!(VARIABILITIES[row].0, *variability);
            for (column, cell) in cells.iter().enumerate() {
                let (causality, variability) = (CAUSALITIES[column].1, VARIABILITIES[row].1);
                let place = format!("{causality:?} {variability:?}");
                assert_eq!(objection(causality, variability).is_some(), *cell == "-", "{place}");
                let allowed: Vec<&str> =
                    initials(causality, variability).iter().map(|initial| word(&INITIALS, *initial)).collect();
                let expected = if matches!(*cell, "-" | "none") { "" } else { cell };
                assert_eq!(allowed.join(" "), expected, "{place}");
            }
        }
    }

    #[test]
    fn default_variability_depends_on_causality_then_type() {
        use Causality as C;
        for causality in [C::StructuralParameter, C::Parameter, C::CalculatedParameter] {
            assert_eq!(default_variability(causality, VariableType::Float64), Variability::Fixed);
        }
        for causality in [C::Input, C::Output, C::Local, C::Independent] {
            assert_eq!(default_variability(causality, VariableType::Float32), Variability::Continuous);
            assert_eq!(default_variability(causality, VariableType::UInt64), Variability::Discrete);
        }
    }
}
