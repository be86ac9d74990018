//! The FIFO priorities for the levels of a rig on a core: those of its band, from the top, without those that other rigs hold
//! there (semantics S26).
//!
//! Guarantees: as long as the free priorities are enough for each FMU, no level gets a priority that another rig holds. If one FMU needs
//! more, held priorities are added, the lowest first: a level that shares one with another rig does least harm there. A core without a
//! free priority gives none, and the rig is refused on it.

use crate::host::Held;
use vecud_base::priority::FifoPriority;

/// Lowest and highest priority.
pub type Band = (FifoPriority, FifoPriority);

/// The priorities of a band on each core.
#[derive(Clone, Copy)]
pub struct PrioritySlots<'a> {
    pub band: Band,
    /// The priorities that other rigs hold, by core.
    pub held: &'a Held,
}

impl PrioritySlots<'_> {
    /// The priorities of a core, the most urgent first; `needed`: the number that one FMU needs. Empty: other rigs hold all of
    /// them.
    pub fn on(&self, cpu: usize, needed: usize) -> Vec<FifoPriority> {
        let mut slots: Vec<u8> = self.free_on(cpu).collect();
        if !slots.is_empty() && slots.len() < needed {
            let held = self.all().filter(|priority| self.is_held(cpu, *priority));
            slots.extend(held.take(needed - slots.len()));
            slots.sort_unstable();
        }
        slots.into_iter().rev().filter_map(FifoPriority::new).collect()
    }

    /// The number of free priorities on this core.
    pub fn count_free(&self, cpu: usize) -> usize {
        self.free_on(cpu).count()
    }

    fn free_on(&self, cpu: usize) -> impl Iterator<Item = u8> {
        self.all().filter(move |priority| !self.is_held(cpu, *priority))
    }

    /// All priorities of the band, the least urgent first.
    fn all(&self) -> std::ops::RangeInclusive<u8> {
        self.band.0.get()..=self.band.1.get()
    }

    fn is_held(&self, cpu: usize, priority: u8) -> bool {
        self.held.get(&cpu).is_some_and(|held| held.contains(&priority))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(held: &[u8], (low, high): (u8, u8), needed: usize) -> Vec<u8> {
        let held = Held::from([(1, held.iter().copied().collect())]);
        let band = (FifoPriority::new(low).unwrap(), FifoPriority::new(high).unwrap());
        let slots = PrioritySlots { band, held: &held };
        assert_eq!(slots.on(0, needed).len(), usize::from(high - low + 1), "nobody is on core 0");
        slots.on(1, needed).iter().map(|rung| rung.get()).collect()
    }

    #[test]
    fn what_others_hold_is_left_out_above_between_and_below() {
        assert_eq!(on(&[], (80, 83), 2), [83, 82, 81, 80]);
        assert_eq!(on(&[81, 83, 99], (80, 83), 2), [82, 80]);
    }

    #[test]
    fn the_least_urgent_that_are_held_are_taken_only_if_need_be() {
        assert_eq!(on(&[80, 81, 83], (80, 83), 1), [82]);
        assert_eq!(on(&[80, 81, 83], (80, 83), 3), [82, 81, 80]);
        assert_eq!(on(&[80, 81, 83], (80, 83), 9), [83, 82, 81, 80]);
    }

    #[test]
    fn of_a_band_that_is_held_as_a_whole_nothing_is_left() {
        assert_eq!(on(&[80, 81, 82, 83], (80, 83), 1), [0_u8; 0]);
    }
}
