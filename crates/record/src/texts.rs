//! Strings and binaries on their way to the files: each different one is kept once, and a number stands for it wherever a number
//! would have its word. Numbers are given once, so equal ones mean equal values.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Represents no value: one that was longer than its room.
pub(super) const NOTHING: u64 = 0;

/// Number of texts up to which unused ones are not searched for.
const FEW: usize = 1024;

/// The values, shared by all who ask for them.
#[derive(Clone, Default)]
pub(super) struct Texts(Rc<RefCell<Pool>>);

#[derive(Default)]
struct Pool {
    numbers: HashMap<Rc<[u8]>, u64>,
    values: HashMap<u64, Rc<[u8]>>,
    /// The number that was given last.
    last: u64,
    /// Number of texts that were in use at the last look.
    needed: usize,
}

impl Texts {
    /// The number of a value.
    pub(super) fn number(&self, value: &[u8]) -> u64 {
        let mut pool = self.0.borrow_mut();
        if let Some(number) = pool.numbers.get(value) {
            return *number;
        }
        pool.last += 1;
        let (value, number): (Rc<[u8]>, u64) = (value.into(), pool.last);
        pool.numbers.insert(value.clone(), number);
        pool.values.insert(number, value);
        number
    }

    /// The value of a number; of one that stands for none an empty one.
    pub(super) fn value(&self, number: u64) -> Rc<[u8]> {
        self.0.borrow().values.get(&number).cloned().unwrap_or_default()
    }

    /// Whether there may be many that nobody needs.
    pub(super) fn is_full(&self) -> bool {
        let pool = self.0.borrow();
        pool.values.len() > 2 * pool.needed + FEW
    }

    /// Forgets all others.
    pub(super) fn keep(&self, needed: &HashSet<u64>) {
        let mut pool = self.0.borrow_mut();
        pool.values.retain(|number, _| needed.contains(number));
        pool.numbers.retain(|_, number| needed.contains(number));
        pool.needed = pool.values.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_needs_is_forgotten_and_numbers_are_given_once() {
        let texts = Texts::default();
        let [a, b] = ["a", "b"].map(|text| texts.number(text.as_bytes()));
        assert_eq!((texts.number(b"a"), &*texts.value(b), &*texts.value(NOTHING)), (a, &b"b"[..], &b""[..]));
        let others: Vec<u64> = (0..FEW).map(|n| texts.number(n.to_string().as_bytes())).collect();
        assert!(texts.is_full());
        texts.keep(&HashSet::from([b]));
        assert!(!texts.is_full());
        assert_eq!((&*texts.value(a), &*texts.value(b)), (&b""[..], &b"b"[..]));
        assert!(texts.number(b"a") > others[FEW - 1]);
    }
}
