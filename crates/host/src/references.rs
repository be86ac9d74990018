//! Variables in log messages: FMUs write value references between signs, `#1365#` in FMI 3.0 and, with the letter of the type,
//! `#r1365#` in FMI 2.0 and 1.0. People see names. `##` is a plain `#` in all versions; what is no reference of a variable stays as it is.

use vecud_description::{Abi, ValueReference, VariableKey, VariableType};

/// A message with the names of the variables that it refers to. `name`: that of a variable, if there is one.
pub(super) fn named<'n>(message: &str, abi: Abi, name: impl Fn(VariableKey) -> Option<&'n str>) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find('#') {
        out.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let Some(end) = after.find('#') else {
            out.push('#');
            rest = after;
            continue;
        };
        let inside = &after[..end];
        match (inside.is_empty(), key(inside, abi).and_then(&name)) {
            (true, _) => out.push('#'),
            (false, Some(name)) => out.push_str(name),
            (false, None) => {
                // The first # stands for itself, the second may begin a reference.
                out.push('#');
                out.push_str(inside);
                rest = &after[end..];
                continue;
            }
        }
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    out
}

/// The reference between two signs, in that interface.
fn key(inside: &str, abi: Abi) -> Option<VariableKey> {
    let number = |digits: &str| digits.parse().ok().map(ValueReference);
    if !abi.has_typed_references() {
        return Some(number(inside)?.into());
    }
    let (variable_type, digits) = match inside.split_at_checked(1)? {
        ("r", digits) => (VariableType::Float64, digits),
        ("i", digits) => (VariableType::Int32, digits),
        ("b", digits) => (VariableType::Boolean, digits),
        ("s", digits) => (VariableType::String, digits),
        _ => return None,
    };
    Some((variable_type, number(digits)?).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_become_names_and_double_signs_single_ones() {
        let mass = VariableKey::from(ValueReference(1365));
        let expand = |message| named(message, Abi::Fmi3, |key| (key == mass).then_some("body.m"));
        let message = "#1365# must be larger than zero (used in IO channel ##4)";
        assert_eq!(expand(message), "body.m must be larger than zero (used in IO channel #4)");
        assert_eq!(expand("#7# and # and #x#1365#"), "#7# and # and #xbody.m");
        assert_eq!(expand(""), "");
    }

    #[test]
    fn before_fmi_3_a_reference_has_the_letter_of_its_type() {
        let mass = VariableKey::from((VariableType::Float64, ValueReference(1365)));
        for abi in [Abi::Fmi1, Abi::Fmi2] {
            let expand = |message| named(message, abi, |key| (key == mass).then_some("body.m"));
            assert_eq!(expand("#r1365# in channel ##4"), "body.m in channel #4");
            assert_eq!(expand("#i1365# #1365# #r# #µ1# #r1365#"), "#i1365# #1365# #r# #µ1# body.m");
        }
    }
}
