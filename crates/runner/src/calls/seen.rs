//! Finds changes of inputs against the values that were set last: a change of a discrete input is an event.

use std::hash::{DefaultHasher, Hash, Hasher};
use vecud_description::VariableType;
use vecud_fmi::Batch;

/// The values of a batch as they were set last. Nothing is allocated after [`LastSet::new`].
pub struct LastSet {
    /// Of each element its word, or of a string or binary a hash of it; `None`: it was not set yet.
    elements: Vec<Option<u64>>,
    /// Of each element whether it had another value when this was asked last than before.
    changed: Vec<bool>,
}

impl LastSet {
    /// Nothing of the batch was set yet.
    pub fn new(batch: &Batch) -> LastSet {
        let elements = (0..batch.items()).map(|item| batch.elements(item).end).max().unwrap_or(0);
        LastSet { elements: vec![None; elements], changed: vec![false; elements] }
    }

    /// The last set values of one item of the batch, by element.
    pub fn of_item(&self, batch: &Batch, item: usize) -> Vec<Option<u64>> {
        self.elements[batch.elements(item)].to_vec()
    }

    /// This was set last of the elements of one item of the batch, if there are as many.
    pub fn put_back(&mut self, batch: &Batch, item: usize, elements: &[Option<u64>]) {
        let own = &mut self.elements[batch.elements(item)];
        if own.len() == elements.len() {
            own.copy_from_slice(elements);
        }
    }

    /// Whether something that is enabled in the batch has another value than when this was asked last.
    pub fn has_changed(&mut self, batch: &Batch) -> bool {
        let is_text = matches!(batch.variable_type(), VariableType::String | VariableType::Binary);
        let mut changed = false;
        self.changed.fill(false);
        for item in (0..batch.items()).filter(|item| batch.is_enabled(*item)) {
            for element in batch.elements(item) {
                let value = if is_text { hash(batch, element) } else { batch.word(element) };
                let before = self.elements[element].replace(value);
                self.changed[element] = before.is_some_and(|before| before != value);
                changed |= before != Some(value);
            }
        }
        changed
    }

    /// Whether one of these elements, each with its item, that is enabled in the batch has another value than when this was asked last.
    pub fn has_changed_among(&mut self, batch: &Batch, among: &[(usize, usize)]) -> bool {
        let mut changed = false;
        for &(_, element) in among.iter().filter(|(item, _)| batch.is_enabled(*item)) {
            let value = batch.word(element);
            changed |= self.elements[element].replace(value) != Some(value);
        }
        changed
    }

    /// Whether an element had another value when that was asked last than when it was asked before.
    pub fn is_changed(&self, element: usize) -> bool {
        self.changed[element]
    }
}

fn hash(batch: &Batch, element: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    batch.bytes(element).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use vecud_description::ValueReference;

    #[test]
    fn the_first_value_and_every_other_one_is_a_change() {
        let variables = vec![(ValueReference(1), 1), (ValueReference(2), 2)];
        let mut batch = Batch::new(VariableType::Int32, variables);
        let mut seen = LastSet::new(&batch);
        assert!(seen.has_changed(&batch) && !seen.has_changed(&batch));
        batch.set_word(2, 7);
        assert!(seen.has_changed(&batch) && !seen.has_changed(&batch));
    }

    #[test]
    fn what_is_put_back_is_no_change() {
        let mut batch = Batch::new(VariableType::Int32, vec![(ValueReference(1), 1), (ValueReference(2), 2)]);
        batch.set_word(2, 7);
        let mut seen = LastSet::new(&batch);
        assert!(seen.has_changed(&batch));
        let mut other = LastSet::new(&batch);
        (0..2).for_each(|item| other.put_back(&batch, item, &seen.of_item(&batch, item)));
        assert!(!other.has_changed(&batch));
        // Of another size it is nothing.
        let mut other = LastSet::new(&batch);
        (0..2).for_each(|item| other.put_back(&batch, item, &[]));
        assert!(other.has_changed(&batch));
    }

    #[test]
    fn what_is_not_enabled_is_no_change() {
        let mut batch = Batch::awaiting(VariableType::Float64, vec![(ValueReference(1), 1)]);
        let mut seen = LastSet::new(&batch);
        assert!(!seen.has_changed(&batch));
        batch.enable(0);
        assert!(seen.has_changed(&batch));
    }

    #[test]
    fn texts_are_compared_as_a_whole() {
        let mut batch = Batch::awaiting_bytes(VariableType::String, &[(ValueReference(1), 1, 16)]).all_enabled();
        let mut seen = LastSet::new(&batch);
        batch.set_bytes(0, b"one");
        assert!(seen.has_changed(&batch) && !seen.has_changed(&batch));
        batch.set_bytes(0, b"two");
        assert!(seen.has_changed(&batch));
    }
}
