//! A queue of items by instant, the earliest first. Usually it is short, and callers look at its first item again and again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Numbers of things, each with its instant.
#[derive(Clone, Debug)]
pub(super) struct Queue<T> {
    /// Before all others.
    first: Option<(T, usize)>,
    others: BinaryHeap<Reverse<(T, usize)>>,
}

impl<T: Copy + Ord> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        Queue { first: None, others: BinaryHeap::new() }
    }

    /// The earliest one.
    #[inline]
    pub(super) fn first(&self) -> Option<&(T, usize)> {
        self.first.as_ref()
    }

    /// The instant of the second item.
    pub(super) fn second(&self) -> Option<&(T, usize)> {
        self.others.peek().map(|Reverse(next)| next)
    }

    #[inline]
    pub(super) fn push(&mut self, time: T, thing: usize) {
        match self.first {
            None => self.first = Some((time, thing)),
            Some((first, other)) if time < first => {
                self.first = Some((time, thing));
                self.others.push(Reverse((first, other)));
            }
            Some(_) => self.others.push(Reverse((time, thing))),
        }
    }

    /// Takes the earliest one out.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.first = self.others.pop().map(|Reverse(next)| next);
    }

    /// The earliest one is put off to this instant.
    #[inline]
    pub(super) fn put_off(&mut self, time: T) {
        let Some(first) = &mut self.first else { return };
        first.0 = time;
        if let Some(mut other) = self.others.peek_mut()
            && other.0.0 < time
        {
            std::mem::swap(&mut other.0, first);
        }
    }

    /// Takes out all that are not to be kept.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        self.others.retain(|Reverse((_, thing))| keep(*thing));
        if self.first.is_some_and(|(_, thing)| !keep(thing)) {
            self.pop();
        }
    }

    /// Number of items.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.others.len() + usize::from(self.first.is_some())
    }
}
