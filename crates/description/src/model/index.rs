//! Look-ups by name and by value reference, without copies of the names: a table of places by keyed hashes of the names,
//! and a sorted list of references.

use super::value_reference::ValueReference;
use super::variable::{Variable, VariableType};
use super::variable_key::VariableKey;
use hashbrown::HashTable;
use hashbrown::hash_table;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// The index of each variable in the list. `parse` fills it; an [`Index::default`] fills itself at the first look-up, so
/// a description that is put together by hand works too. Precondition: the variables do not change afterwards.
#[derive(Clone, Debug, Default)]
pub struct Index(OnceLock<Tables>);

#[derive(Clone, Debug)]
struct Tables {
    hasher: RandomState,
    /// By the hash of the name at the place; the first place of each name.
    names: HashTable<NamePlace>,
    /// The first name or alias that an earlier one equals: earlier and later place.
    twins: Option<(NamePlace, NamePlace)>,
    /// Sorted by reference, then base type, then position.
    references: Vec<Entry>,
}

/// The types that share value references: their variables are got and set by the same functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BaseType {
    Real,
    /// Enumerations too.
    Integer,
    Boolean,
    String,
    /// Types of FMI 3.0 alone, where no two variables have the same reference.
    Other,
}

impl BaseType {
    fn of(variable_type: VariableType) -> BaseType {
        match variable_type {
            VariableType::Float64 => BaseType::Real,
            VariableType::Int32 | VariableType::Enumeration => BaseType::Integer,
            VariableType::Boolean => BaseType::Boolean,
            VariableType::String => BaseType::String,
            _ => BaseType::Other,
        }
    }
}

/// The place of the variable with a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    reference: ValueReference,
    base: BaseType,
    position: u32,
}

/// The variable, or the alias of one, that a name belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamePlace {
    /// Position of the variable.
    position: u32,
    /// 0 for its name, n for its n-th alias.
    number: u32,
}

impl NamePlace {
    pub(crate) fn variable(self) -> usize {
        self.position as usize
    }

    /// Which alias (0-based), unless it is the variable's own name.
    pub(crate) fn alias(self) -> Option<usize> {
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

/// Compares as equal always: the content follows from the variables, so it never makes two descriptions differ.
impl PartialEq for Index {
    fn eq(&self, _: &Index) -> bool {
        true
    }
}

impl Index {
    pub(crate) fn of(variables: &[Variable]) -> Index {
        let index = Index::default();
        index.tables(variables);
        index
    }

    pub(crate) fn by_name(&self, variables: &[Variable], name: &str) -> Option<usize> {
        let tables = self.tables(variables);
        let hash = tables.hasher.hash_one(name);
        tables.names.find(hash, |place| place.name(variables) == Some(name)).map(|place| place.variable())
    }

    pub(crate) fn by_reference(&self, variables: &[Variable], key: impl Into<VariableKey>) -> Option<usize> {
        let VariableKey { variable_type, reference } = key.into();
        let references = &self.tables(variables).references;
        // Most descriptions count their references, so that each stands where its number says.
        let counted = reference.0.wrapping_sub(references.first()?.reference.0) as usize;
        let is_first = |at: usize| at == 0 || references[at - 1].reference < reference;
        let mut found = match references.get(counted) {
            Some(other) if other.reference == reference && is_first(counted) => counted,
            _ => references.partition_point(|other| other.reference < reference),
        };
        let is_it = |entry: &&Entry| entry.reference == reference;
        let first = references.get(found).filter(is_it)?;
        let next = references.get(found + 1).filter(is_it);
        match (variable_type.map(BaseType::of), next) {
            (None, None) => {}
            (None, Some(_)) => {
                let end = references.partition_point(|other| other.reference <= reference);
                if references[end - 1].base != first.base {
                    return None;
                }
            }
            // Unique: whatever type it has, the reference says all.
            (Some(_), None) => {}
            (Some(base), Some(_)) => {
                found = references.partition_point(|other| (other.reference, other.base) < (reference, base));
            }
        }
        let of_base = |entry: &&Entry| variable_type.is_none_or(|other| BaseType::of(other) == entry.base);
        references.get(found).filter(is_it).filter(of_base).map(|entry| entry.position as usize)
    }

    /// The first variable with a value reference that an earlier one has: earlier and later position.
    pub(crate) fn duplicate_reference(&self, variables: &[Variable]) -> Option<(usize, usize)> {
        let references = &self.tables(variables).references;
        let twins = references.windows(2).filter(|pair| pair[0].reference == pair[1].reference);
        let positions = |pair: &[Entry]| {
            let (a, b) = (pair[0].position as usize, pair[1].position as usize);
            (a.min(b), a.max(b))
        };
        twins.map(positions).min_by_key(|(_, later)| *later)
    }

    /// The first name or alias that an earlier one equals: earlier and later place.
    pub(crate) fn duplicate_name(&self, variables: &[Variable]) -> Option<(NamePlace, NamePlace)> {
        self.tables(variables).twins
    }

    fn tables(&self, variables: &[Variable]) -> &Tables {
        self.0.get_or_init(|| {
            let hasher = RandomState::new();
            let hash_at = |place: &NamePlace| place.name(variables).map_or(0, |name| hasher.hash_one(name));
            let mut names = HashTable::with_capacity(variables.len());
            let mut references = Vec::with_capacity(variables.len());
            let mut twins = None;
            for (position, variable) in (0..).zip(variables) {
                let base = BaseType::of(variable.variable_type);
                references.push(Entry { reference: variable.value_reference, base, position });
                for (number, name) in (0..).zip(variable.names()) {
                    let place = NamePlace { position, number };
                    let is_same = |other: &NamePlace| other.name(variables) == Some(name);
                    match names.entry(hasher.hash_one(name), is_same, hash_at) {
                        hash_table::Entry::Occupied(earlier) => _ = twins.get_or_insert((*earlier.get(), place)),
                        hash_table::Entry::Vacant(free) => _ = free.insert(place),
                    }
                }
            }
            references.sort_unstable();
            Tables { hasher, names, twins, references }
        })
    }
}
