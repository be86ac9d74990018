//! `dependenciesKind` (FMI 2.0.5, 2.2.8; FMI 3.0, 2.4.8): as long as the list of dependencies.

use crate::model::{DependencyKind, DescriptionError};
use crate::xml::Element;

const KINDS: [(&str, DependencyKind); 5] = [
    ("dependent", DependencyKind::Dependent),
    ("constant", DependencyKind::Constant),
    ("fixed", DependencyKind::Fixed),
    ("tunable", DependencyKind::Tunable),
    ("discrete", DependencyKind::Discrete),
];

/// The kind of each of `count` dependencies, `dependent` where it is not written; `None`: the element lists none.
pub(super) fn kinds(element: Element<'_>, count: Option<usize>) -> Result<Vec<DependencyKind>, DescriptionError> {
    let Some(kinds) = element.attribute("dependenciesKind") else {
        return Ok(vec![DependencyKind::Dependent; count.unwrap_or(0)]);
    };
    let Some(count) = count else {
        return Err(kinds.error("needs the attribute `dependencies`"));
    };
    let words = kinds.value.split_ascii_whitespace();
    let kind = |word: &str| KINDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
    let list: Option<Vec<DependencyKind>> = words.map(kind).collect();
    let list =
        list.ok_or_else(|| kinds.error("has an item that is none of dependent, constant, fixed, tunable, discrete"))?;
    if list.len() != count {
        return Err(kinds.error(format!("has {} items, but `dependencies` has {count}", list.len())));
    }
    Ok(list)
}
