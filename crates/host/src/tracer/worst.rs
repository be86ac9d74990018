//! Selects the incidents of a run that have a file: the first one, and the worst of each clock.
//!
//! An incident is rated for a clock by the longest response that the clock had in it. To be among the worst it must
//! exceed the last of these by a hundredth: a response that grows a little each time, for a month, is not written each
//! time. The total size and number of all files is limited; at the limit, the least of the worst is removed, never the
//! first one, and its clock remembers the rating.
//!
//! Pure: numbers in, numbers out.

use std::collections::BTreeMap;
use vecud_plan::UnitId;

/// Greatest number of files, whatever their size.
const FILES: usize = 64;

/// The longest response of each clock in an incident, ns.
pub type Responses = BTreeMap<UnitId, i64>;

/// The files with their ratings.
pub struct Ledger {
    /// Number of incidents to keep for each clock.
    keep: usize,
    /// Greatest total size, bytes.
    room: u64,
    /// The worst incidents of each clock, the worst first.
    worst: BTreeMap<UnitId, Vec<Place>>,
    /// Size of each file by number, bytes.
    files: BTreeMap<u32, u64>,
    /// The file of the first incident.
    first: Option<u32>,
}

/// One of the worst incidents of a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    response: i64,
    /// File of the incident; `None`: it was removed.
    file: Option<u32>,
}

impl Ledger {
    /// Begins without files. `keep`: incidents for each clock; `room`: total size in bytes.
    pub fn new(keep: usize, room: u64) -> Ledger {
        Ledger { keep, room, worst: BTreeMap::new(), files: BTreeMap::new(), first: None }
    }

    /// Whether an incident deserves a file.
    pub fn wants(&self, responses: &Responses) -> bool {
        self.first.is_none() || responses.iter().any(|(unit, response)| self.is_worse(*unit, *response))
    }

    fn is_worse(&self, unit: UnitId, response: i64) -> bool {
        let places = self.worst.get(&unit).map_or(&[][..], Vec::as_slice);
        match places.get(self.keep.wrapping_sub(1)) {
            _ if self.keep == 0 => false,
            None => true,
            Some(last) => response > last.response.saturating_add(last.response / 100),
        }
    }

    /// Adds a written file of this size. Returns the files to remove in its favour, which may include it.
    pub fn put(&mut self, file: u32, length: u64, responses: &Responses) -> Vec<u32> {
        self.first.get_or_insert(file);
        self.files.insert(file, length);
        for (&unit, &response) in responses {
            if self.is_worse(unit, response) {
                let places = self.worst.entry(unit).or_default();
                let at = places.partition_point(|place| place.response >= response);
                places.insert(at, Place { response, file: Some(file) });
                places.truncate(self.keep);
            }
        }
        let mut gone: Vec<u32> = self.files.keys().copied().filter(|file| self.rank(*file).is_none()).collect();
        self.files.retain(|file, _| !gone.contains(file));
        while self.files.values().sum::<u64>() > self.room || self.files.len() > FILES {
            // The least of the worst; among equals the oldest.
            let ranked = self.files.keys().filter(|file| self.first != Some(**file));
            let Some(least) = ranked.copied().max_by_key(|file| (self.rank(*file), std::cmp::Reverse(*file))) else {
                break;
            };
            self.files.remove(&least);
            let places = self.worst.values_mut().flatten();
            places.filter(|place| place.file == Some(least)).for_each(|place| place.file = None);
            gone.push(least);
        }
        gone
    }

    /// The best place of a file in any list, 0 for the worst incident of a clock; `None`: it is in no list.
    fn rank(&self, file: u32) -> Option<usize> {
        let ranks = self.worst.values().filter_map(|places| places.iter().position(|place| place.file == Some(file)));
        let first = (self.first == Some(file)).then_some(0);
        ranks.chain(first).min()
    }

    /// Whether a file is that of the first incident.
    pub fn is_first(&self, file: u32) -> bool {
        self.first == Some(file)
    }

    /// The clocks that a file is kept for: its place among their worst, counted from 0, and the response, ns.
    pub fn places(&self, file: u32) -> impl Iterator<Item = (UnitId, usize, i64)> {
        self.worst.iter().filter_map(move |(unit, places)| {
            let at = places.iter().position(|place| place.file == Some(file))?;
            Some((*unit, at, places[at].response))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn of(responses: &[(usize, i64)]) -> Responses {
        responses.iter().map(|(unit, response)| (UnitId(*unit), *response)).collect()
    }

    /// The files that are there after incidents with these responses, by number; each file has `length` bytes.
    fn kept(ledger: &mut Ledger, incidents: &[Responses], length: u64) -> (BTreeSet<u32>, usize) {
        let (mut there, mut written) = (BTreeSet::new(), 0);
        for (number, responses) in (1..).zip(incidents) {
            if ledger.wants(responses) {
                written += 1;
                there.insert(number);
                for gone in ledger.put(number, length, responses) {
                    assert!(there.remove(&gone), "{gone} goes once");
                }
            }
        }
        assert!(there.iter().eq(ledger.files.keys()));
        (there, written)
    }

    #[test]
    fn the_first_and_the_worst_of_each_clock_are_kept() {
        let one = [3, 1, 9, 4, 8, 2, 7].map(|response| of(&[(0, response * 1_000_000)]));
        assert_eq!(kept(&mut Ledger::new(2, 1000), &one, 1).0, BTreeSet::from([1, 3, 5]));
        assert_eq!(kept(&mut Ledger::new(0, 1000), &one, 1).0, BTreeSet::from([1]));
        // One file for two clocks, and a clock that is never late is nobody's loss.
        let two = [of(&[(0, 500)]), of(&[(0, 900), (1, 900)]), of(&[(1, 300)]), of(&[(0, 800)])];
        let mut ledger = Ledger::new(1, 1000);
        assert_eq!(kept(&mut ledger, &two, 1).0, BTreeSet::from([1, 2]));
        assert_eq!(ledger.places(2).collect::<Vec<_>>(), [(UnitId(0), 0, 900), (UnitId(1), 0, 900)]);
        assert!(ledger.is_first(1) && ledger.places(1).next().is_none());
    }

    #[test]
    fn the_least_of_the_worst_makes_room_and_the_first_stays() {
        let all = [500, 600, 700, 800].map(|response| of(&[(0, response)]));
        // Room for two: the first one, and the worst.
        assert_eq!(kept(&mut Ledger::new(3, 20), &all, 10).0, BTreeSet::from([1, 4]));
        // What was once kept is not written again and again, though its file is gone.
        let mut ledger = Ledger::new(2, 10);
        assert_eq!(kept(&mut ledger, &all, 10), (BTreeSet::from([1]), 4));
        assert!(!ledger.wants(&of(&[(0, 700)])));
    }

    #[test]
    fn what_grows_a_little_each_time_is_not_written_each_time() {
        let growing: Vec<Responses> = std::iter::successors(Some(1000.0), |last| Some(last * 1.0005))
            .take(30_000)
            .map(|ns| of(&[(0, ns as i64)]))
            .collect();
        let (there, written) = kept(&mut Ledger::new(2, u64::MAX), &growing, 1);
        assert!(there.len() == 3 && written < 3200, "{written} files were written");
    }

    #[test]
    fn a_thousand_clocks_have_few_files() {
        let storm: Vec<Responses> = (0..50).map(|n| (0..1000).map(|unit| (UnitId(unit), 1000 + n)).collect()).collect();
        let (there, written) = kept(&mut Ledger::new(2, u64::MAX), &storm, 1);
        assert!(there.len() <= 3 && written <= 12, "{there:?} {written}");
        let one_by_one: Vec<Responses> = (0..1000).map(|unit| of(&[(unit, 1000)])).collect();
        assert_eq!(kept(&mut Ledger::new(2, u64::MAX), &one_by_one, 1).0.len(), FILES);
    }

    proptest! {
        /// The kept incidents of a clock are at most a hundredth below those of a full sort.
        #[test]
        fn the_worst_are_those_of_all(
            all in prop::collection::vec(prop::collection::btree_map(0usize..3, 1_000i64..1_000_000, 1..3), 1..80),
            keep in 1usize..4,
        ) {
            let incidents: Vec<Responses> =
                all.iter().map(|own| own.iter().map(|(unit, response)| (UnitId(*unit), *response)).collect()).collect();
            let mut ledger = Ledger::new(keep, u64::MAX);
            let (there, _) = kept(&mut ledger, &incidents, 1);
            prop_assert!(there.contains(&1) && there.len() <= 1 + 3 * keep);
            for unit in (0..3).map(UnitId) {
                let mut sorted: Vec<i64> = incidents.iter().filter_map(|own| own.get(&unit)).copied().collect();
                sorted.sort_unstable_by(|a, b| b.cmp(a));
                let places = ledger.worst.get(&unit).cloned().unwrap_or_default();
                prop_assert_eq!(places.len(), keep.min(sorted.len()));
                for (place, best) in places.iter().zip(&sorted) {
                    prop_assert!(place.response + place.response / 100 + 1 >= *best, "{:?} {:?}", places, sorted);
                    prop_assert!(place.file.is_some_and(|file| there.contains(&file)));
                }
            }
        }
    }
}
