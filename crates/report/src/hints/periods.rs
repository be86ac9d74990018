//! Whether late wake-ups recur: "9 of the 10 worst wake-ups of core 1 lie 73 ms after the beginning of each 100 ms".
//!
//! The test. Points of time are late by chance, independently of each other: in how many periods is there one in an arc of a twentieth of the
//! period that begins at one of the points? In each other period that has points, at most `m` of them, there is one with a probability of
//! `m q` at most, so that `k` or more periods of `n` have a probability of the tail of a binomial distribution at most, times the number of arcs.
//! For releases on a grid `q` is the share of the grid's phases that an arc can have, which is 1 where the grid has only one phase
//! in a period, so that a clock of 100 ms shows nothing for 100 ms. The bound is corrected for the number of periods tried.
//!
//! A disturbance that makes ten releases in a row late is no evidence of its recurrence: they are in one period.

use std::collections::BTreeMap;

/// Probability above which a recurrence is not reported, since it may be chance.
const SIGNIFICANT: f64 = 1e-6;
/// Number of arcs in a period: an arc is this fraction of it.
pub(super) const ARCS: u64 = 20;

/// A release that was late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Late {
    /// Time since the start, ns.
    pub at: u64,
    /// The interval of its clock, ns; not 0.
    pub interval: u64,
}

/// Late releases that recur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recurrence {
    /// Period of the disturbance, ns.
    pub period: u64,
    /// Phase of the first release in the period, ns.
    pub phase: u64,
    /// Number of the points in the arc.
    pub number: usize,
    /// Number of periods with points.
    pub of: usize,
}

/// The longest of these periods, ns, in which the points recur; `None`: they recur in none more than by chance. The
/// longest one says most: a disturbance every 100 ms has the same phase in each 10 ms, too.
pub(super) fn recurrence(late: &[Late], periods: &[u64]) -> Option<Recurrence> {
    let mut tried: Vec<u64> = periods.iter().copied().filter(|period| *period > 0).collect();
    tried.sort_unstable();
    tried.dedup();
    let found = tried.iter().rev().map(|period| densest(late, *period));
    found.flatten().find(|(_, chance)| chance * (tried.len() as f64) < SIGNIFICANT).map(|(found, _)| found)
}

/// The arc that is least likely by chance, and a bound of that probability.
fn densest(late: &[Late], period: u64) -> Option<(Recurrence, f64)> {
    let (width, length) = ((period / ARCS) as i64, period as i64);
    let share = late.iter().map(|late| share(late.interval, period)).fold(0.0, f64::max);
    let arc = |first: &Late| {
        // By periods that begin with the arc: how many points there are in each, and whether one is in the arc.
        let mut periods: BTreeMap<i64, (u32, bool)> = BTreeMap::new();
        for late in late {
            let since = late.at as i64 - first.at as i64;
            let (points, inside) = periods.entry(since.div_euclid(length)).or_default();
            *points += 1;
            *inside |= since.rem_euclid(length) <= width;
        }
        let number = periods.values().filter(|(_, inside)| *inside).count();
        let most = periods.values().map(|(points, _)| *points).max().unwrap_or(0);
        let chance = tail(periods.len() - 1, number - 1, (f64::from(most) * share).min(1.0));
        let found = Recurrence { period, phase: first.at % period, number, of: periods.len() };
        (found, chance * late.len() as f64)
    };
    late.iter().map(arc).min_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// The greatest part of the phases of a clock's releases that an arc of this period can have.
fn share(interval: u64, period: u64) -> f64 {
    let (mut step, mut rest) = (interval, period);
    while rest > 0 {
        (step, rest) = (rest, step % rest);
    }
    let phases = period / step;
    ((period / ARCS / step + 1) as f64 / phases as f64).min(1.0)
}

/// The probability of `least` or more successes in this number of trials.
fn tail(trials: usize, least: usize, probability: f64) -> f64 {
    let term = |successes: usize| {
        let ways: f64 = (0..successes).map(|i| (trials - i) as f64 / (i + 1) as f64).product();
        ways * probability.powi(successes as i32) * (1.0 - probability).powi((trials - successes) as i32)
    };
    (least..=trials).map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const PERIODS: [u64; 5] = [MS, 4 * MS, 10 * MS, 100 * MS, 1000 * MS];

    /// Steele, Lea and Flood's SplitMix64.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn on_grid(at: u64, interval: u64) -> Late {
        Late { at: at / interval * interval, interval }
    }

    /// Releases at any time of ten minutes, of clocks of any of these intervals, recur in no period.
    #[test]
    fn chance_gives_no_hint() {
        let mut state = 1;
        for draw in 0..10_000 {
            let number = 2 + random(&mut state) % 29;
            let intervals = [MS, 10 * MS, 100 * MS, 7 * MS, 333_333];
            let late: Vec<Late> = (0..number)
                .map(|_| {
                    on_grid(
                        random(&mut state) % (600_000 * MS),
                        intervals[(draw + random(&mut state) % 2) as usize % 5],
                    )
                })
                .collect();
            assert_eq!(recurrence(&late, &PERIODS), None, "{late:?}");
        }
    }

    /// A disturbance 73 ms after the beginning of each 100 ms is found, despite an unrelated point.
    #[test]
    fn what_was_planted_is_found() {
        let mut state = 2;
        for _ in 0..1_000 {
            let mut cycle = random(&mut state) % 500;
            let mut planted = || {
                cycle += 1 + random(&mut state) % 7;
                on_grid(cycle * 100 * MS + 73 * MS, MS)
            };
            let mut late: Vec<Late> = (0..9).map(|_| planted()).collect();
            late.push(on_grid(90_000 * MS + 31 * MS, MS));
            let found = recurrence(&late, &[MS, 10 * MS, 100 * MS]).expect("it recurs");
            assert_eq!(found, Recurrence { period: 100 * MS, phase: 73 * MS, number: 9, of: 10 });
        }
    }

    /// Neither a clock's own grid nor a single disturbance is a recurrence.
    #[test]
    fn grids_and_bursts_give_no_hint() {
        let grid: Vec<Late> = (0..10).map(|i| on_grid(i * i * 100 * MS + 3 * MS, 100 * MS)).collect();
        assert_eq!(recurrence(&grid, &[10 * MS, 100 * MS]), None);
        let burst: Vec<Late> = (0..10).map(|i| on_grid(5_073 * MS + i * MS, MS)).collect();
        assert_eq!(recurrence(&burst, &[100 * MS, 1000 * MS]), None);
    }
}
