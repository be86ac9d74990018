//! Look-ups by name and by value reference in constant time.

use super::model::{ValueReference, Variable};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Where each variable stands in the list. `parse` fills it; an [`Index::default`] fills itself at the first look-up, so
/// a description that is put together by hand works too. The variables must not change afterwards.
#[derive(Clone, Debug, Default)]
pub struct Index(OnceLock<Maps>);

#[derive(Clone, Debug, Default)]
struct Maps {
    names: HashMap<String, u32>,
    references: HashMap<ValueReference, u32>,
}

/// What it says follows from the variables, so that it never makes two descriptions differ.
impl PartialEq for Index {
    fn eq(&self, _: &Index) -> bool {
        true
    }
}

impl Index {
    pub(super) fn with_capacity(variables: usize) -> Index {
        let maps = Maps { names: HashMap::with_capacity(variables), references: HashMap::with_capacity(variables) };
        Index(OnceLock::from(maps))
    }

    /// Adds a value reference; the position of the variable that has it already wins and is returned.
    pub(super) fn insert_reference(&mut self, reference: ValueReference, position: usize) -> Option<usize> {
        let maps = self.0.get_mut()?;
        insert(maps.references.entry(reference), position)
    }

    /// Adds a name or alias; the position of the variable that has it already wins and is returned.
    pub(super) fn insert_name(&mut self, name: &str, position: usize) -> Option<usize> {
        let maps = self.0.get_mut()?;
        insert(maps.names.entry(name.to_owned()), position)
    }

    pub(super) fn by_reference(&self, reference: ValueReference) -> Option<usize> {
        Some(*self.0.get()?.references.get(&reference)? as usize)
    }

    pub(super) fn find_name<'a>(&self, variables: &'a [Variable], name: &str) -> Option<&'a Variable> {
        variables.get(*self.maps(variables).names.get(name)? as usize)
    }

    pub(super) fn find_reference<'a>(
        &self,
        variables: &'a [Variable],
        reference: ValueReference,
    ) -> Option<&'a Variable> {
        variables.get(*self.maps(variables).references.get(&reference)? as usize)
    }

    fn maps(&self, variables: &[Variable]) -> &Maps {
        self.0.get_or_init(|| {
            let mut index = Index::with_capacity(variables.len());
            for (position, variable) in variables.iter().enumerate() {
                index.insert_reference(variable.value_reference, position);
                index.insert_name(&variable.name, position);
                for alias in &variable.aliases {
                    index.insert_name(&alias.name, position);
                }
            }
            index.0.into_inner().unwrap_or_default()
        })
    }
}

fn insert<K>(entry: std::collections::hash_map::Entry<'_, K, u32>, position: usize) -> Option<usize> {
    match entry {
        std::collections::hash_map::Entry::Occupied(other) => Some(*other.get() as usize),
        std::collections::hash_map::Entry::Vacant(place) => {
            place.insert(position as u32);
            None
        }
    }
}
