//! Look-ups by name and by value reference, without copies of the names: sorted lists of keyed hashes and of references.

use super::model::{ValueReference, Variable};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// Where each variable stands in the list. `parse` fills it; an [`Index::default`] fills itself at the first look-up, so
/// a description that is put together by hand works too. The variables must not change afterwards.
#[derive(Clone, Debug, Default)]
pub struct Index(OnceLock<Sorted>);

#[derive(Clone, Debug)]
struct Sorted {
    hasher: RandomState,
    /// By hash, then place.
    names: Vec<(u64, Place)>,
    /// By reference, then position.
    references: Vec<(ValueReference, u32)>,
}

/// Whose name it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Position of the variable.
    position: u32,
    /// 0 for its name, n for its n-th alias.
    number: u32,
}

impl Place {
    pub(super) fn variable(self) -> usize {
        self.position as usize
    }

    /// Which alias (0-based), unless it is the variable's own name.
    pub(super) fn alias(self) -> Option<usize> {
        self.number.checked_sub(1).map(|number| number as usize)
    }

    fn name(self, variables: &[Variable]) -> Option<&str> {
        let variable = variables.get(self.variable())?;
        match self.alias() {
            None => Some(&variable.name),
            Some(alias) => variable.aliases.get(alias).map(|alias| alias.name.as_str()),
        }
    }
}

/// What it says follows from the variables, so that it never makes two descriptions differ.
impl PartialEq for Index {
    fn eq(&self, _: &Index) -> bool {
        true
    }
}

impl Index {
    pub(super) fn of(variables: &[Variable]) -> Index {
        let index = Index::default();
        index.sorted(variables);
        index
    }

    pub(super) fn by_name(&self, variables: &[Variable], name: &str) -> Option<usize> {
        let sorted = self.sorted(variables);
        let hash = sorted.hasher.hash_one(name);
        let first = sorted.names.partition_point(|(other, _)| *other < hash);
        let same = sorted.names[first..].iter().take_while(|(other, _)| *other == hash);
        same.map(|(_, place)| *place).find(|place| place.name(variables) == Some(name)).map(Place::variable)
    }

    pub(super) fn by_reference(&self, variables: &[Variable], reference: ValueReference) -> Option<usize> {
        let references = &self.sorted(variables).references;
        let found = references.partition_point(|(other, _)| *other < reference);
        references.get(found).filter(|(other, _)| *other == reference).map(|(_, position)| *position as usize)
    }

    /// The first variable with a value reference that an earlier one has: earlier and later position.
    pub(super) fn duplicate_reference(&self, variables: &[Variable]) -> Option<(usize, usize)> {
        let references = &self.sorted(variables).references;
        let twins = references.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        twins.map(|pair| (pair[0].1 as usize, pair[1].1 as usize)).min_by_key(|(_, later)| *later)
    }

    /// The first name or alias that an earlier one equals: earlier and later place.
    pub(super) fn duplicate_name(&self, variables: &[Variable]) -> Option<(Place, Place)> {
        let groups = self.sorted(variables).names.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
        let twins = groups.filter_map(|group| {
            let name = |at: usize| group[at].1.name(variables);
            (1..group.len())
                .find_map(|later| (0..later).find(|&earlier| name(earlier) == name(later)).map(|e| (e, later)))
                .map(|(earlier, later)| (group[earlier].1, group[later].1))
        });
        twins.min_by_key(|(_, later)| *later)
    }

    fn sorted(&self, variables: &[Variable]) -> &Sorted {
        self.0.get_or_init(|| {
            let hasher = RandomState::new();
            let mut names = Vec::with_capacity(variables.len());
            let mut references = Vec::with_capacity(variables.len());
            for (position, variable) in (0..).zip(variables) {
                references.push((variable.value_reference, position));
                let aliases = variable.aliases.iter().map(|alias| &alias.name);
                for (number, name) in (0..).zip(std::iter::once(&variable.name).chain(aliases)) {
                    names.push((hasher.hash_one(name.as_str()), Place { position, number }));
                }
            }
            names.sort_unstable();
            references.sort_unstable();
            Sorted { hasher, names, references }
        })
    }
}
