//! The load of a processor, exactly.
//!
//! A task on a processor that is loaded beyond 1 has no worst response: the waiting work grows for ever (C. L. Liu, J. W.
//! Layland, Journal of the ACM 20 (1973)). At exactly 1 it still has one, and sums of `f64` do not tell the two apart.

use super::{ArrivalPattern, Demand};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The part of a processor's time that tasks need in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The share compared with 1, exactly: less than all of the processor's time, all, or more.
    pub against_one: Ordering,
    /// The load as a number, rounded.
    pub share: f64,
}

/// The load by these tasks together. Listed times end, and are nothing in the long run.
pub fn load<'a>(tasks: impl IntoIterator<Item = &'a Demand<'a>>) -> Load {
    let mut work_by_interval: BTreeMap<i128, u128> = BTreeMap::new();
    for task in tasks {
        for stream in &task.streams {
            if let ArrivalPattern::Grid { interval, .. } = stream.pattern {
                *work_by_interval.entry(*interval).or_default() += task.execution as u128;
            }
        }
    }
    let (mut work, mut time) = (Big::of(0), Big::of(1));
    let mut share = 0.0;
    for (&interval, &execution) in &work_by_interval {
        let interval_big = Big::of(interval as u128);
        work = work.times(&interval_big).plus(&time.times(&Big::of(execution)));
        time = time.times(&interval_big);
        share += execution as f64 / interval as f64;
    }
    Load { against_one: work.cmp(&time), share }
}

/// A whole number of any size, from 0 on: sums of fractions need them. Digits of 32 bits, the least first, no zeros at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Big(Vec<u32>);

impl Big {
    /// The number that a machine's word has.
    fn of(mut value: u128) -> Big {
        let mut digits = Vec::new();
        while value > 0 {
            digits.push(value as u32);
            value >>= 32;
        }
        Big(digits)
    }

    /// The product.
    fn times(&self, other: &Big) -> Big {
        let mut digits = vec![0u32; self.0.len() + other.0.len()];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0u64;
            for (j, &b) in other.0.iter().enumerate() {
                let sum = u64::from(a) * u64::from(b) + u64::from(digits[i + j]) + carry;
                digits[i + j] = sum as u32;
                carry = sum >> 32;
            }
            digits[i + other.0.len()] = carry as u32;
        }
        Big::trimmed(digits)
    }

    /// The sum.
    fn plus(&self, other: &Big) -> Big {
        let digit = |big: &Big, i: usize| u64::from(big.0.get(i).copied().unwrap_or(0));
        let mut carry = 0u64;
        let mut digits = Vec::with_capacity(self.0.len().max(other.0.len()) + 1);
        for i in 0..=self.0.len().max(other.0.len()) {
            let sum = digit(self, i) + digit(other, i) + carry;
            digits.push(sum as u32);
            carry = sum >> 32;
        }
        Big::trimmed(digits)
    }

    fn trimmed(mut digits: Vec<u32>) -> Big {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Big(digits)
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Big) -> std::cmp::Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Big) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_reckons_as_numbers_that_fit_do(a: u64, b: u64, c: u64) {
            let [x, y, z] = [a, b, c].map(u128::from);
            prop_assert_eq!(Big::of(x).times(&Big::of(y)), Big::of(x * y));
            prop_assert_eq!(Big::of(x * y).plus(&Big::of(z)), Big::of(x * y + z));
            prop_assert_eq!(Big::of(x * y).cmp(&Big::of(y * z)), (x * y).cmp(&(y * z)));
        }
    }

    #[test]
    fn it_goes_on_where_they_do_not() {
        let power = (0..10).fold(Big::of(1), |power, _| power.times(&Big::of(u128::MAX)));
        assert!(power < power.plus(&Big::of(1)) && power.times(&Big::of(0)) == Big::of(0));
    }
}
