//! The connections of a rig whose ends are found, by either end: found without looking at all of them, since a rig may
//! have ten thousand.

use super::resolve::Link;
use std::collections::HashMap;
use std::ops::Deref;

/// A variable: (index of the FMU, index of the variable).
type End = (usize, usize);

/// All connections, in the rig's order.
pub struct Links {
    all: Vec<Link>,
    of_source: HashMap<End, Vec<usize>>,
    of_target: HashMap<End, Vec<usize>>,
}

impl Links {
    pub fn new(all: Vec<Link>) -> Links {
        let (mut of_source, mut of_target): (HashMap<End, Vec<usize>>, HashMap<End, Vec<usize>>) = Default::default();
        for (index, link) in all.iter().enumerate() {
            of_source.entry(link.source).or_default().push(index);
            of_target.entry(link.target).or_default().push(index);
        }
        Links { all, of_source, of_target }
    }

    /// Those that the variable feeds, by their places, in the rig's order.
    pub fn fed_by(&self, source: End) -> &[usize] {
        self.of_source.get(&source).map(Vec::as_slice).unwrap_or_default()
    }

    /// Those that feed the variable, by their places, in the rig's order.
    pub fn feeding(&self, target: End) -> &[usize] {
        self.of_target.get(&target).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Deref for Links {
    type Target = [Link];

    fn deref(&self) -> &[Link] {
        &self.all
    }
}
