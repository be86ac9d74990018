//! The samples of a column that are kept (`[[record.rule]]`): each n-th, and of these the ones with something new. For a clock,
//! ticks are counted, each of which is new.
//!
//! The choice depends on the samples of one clock only, in the order of their times: the same in real and in virtual
//! time. A column's count begins with the run, so the second part of a run that was cut in two counts from zero.

use vecud_description::VariableType;
use vecud_plan::{Rule, SignalPlan};

/// One column of one clock.
pub(super) struct Thinning {
    rule: Rule,
    variable_type: VariableType,
    /// Number of samples to skip before the next one that may be kept.
    skip: u32,
    /// The last kept value.
    last: Option<Option<u64>>,
}

impl Thinning {
    pub(super) fn new(signal: &SignalPlan) -> Thinning {
        Thinning { rule: signal.rule, variable_type: signal.variable_type, skip: 0, last: None }
    }

    /// The last kept value.
    pub(super) fn last(&self) -> Option<u64> {
        self.last.flatten()
    }

    /// Whether everything is kept.
    pub(super) fn keeps_all(&self) -> bool {
        self.rule == Rule::ALL
    }

    /// Takes the next sample; `None`: an element that the array has not. Whether it is kept.
    pub(super) fn keeps(&mut self, value: Option<u64>) -> bool {
        let is_clock = self.variable_type == VariableType::Clock;
        if is_clock && value == Some(0) {
            return self.keeps_all();
        }
        if let Some(left) = self.skip.checked_sub(1) {
            self.skip = left;
            return false;
        }
        self.skip = self.rule.every - 1;
        let Some(band) = self.rule.change.filter(|_| !is_clock) else { return true };
        let new = match (self.last, value) {
            (Some(Some(last)), Some(value)) => differ(last, value, self.variable_type, band),
            (last, value) => last != Some(value),
        };
        if new {
            self.last = Some(value);
        }
        new
    }
}

/// Whether two values are further apart than `band`. What is not finite is apart from everything but itself.
fn differ(a: u64, b: u64, variable_type: VariableType, band: f64) -> bool {
    use VariableType::{Binary, Enumeration, Float32, Float64, Int8, Int16, Int32, Int64, String};
    let whole = |word: u64| match variable_type {
        Int8 | Int16 | Int32 | Int64 | Enumeration => i128::from(word as i64),
        _ => i128::from(word),
    };
    let real = |word: u64| match variable_type {
        Float32 => f64::from(f32::from_bits(word as u32)),
        _ => f64::from_bits(word),
    };
    match variable_type {
        // Their numbers differ when they do.
        String | Binary => a != b,
        Float32 | Float64 => match (real(a), real(b)) {
            (a, b) if a.is_nan() && b.is_nan() => false,
            (a, b) if a.is_finite() && b.is_finite() && band > 0.0 => (a - b).abs() > band,
            _ => a != b,
        },
        _ => (whole(a) - whole(b)).unsigned_abs() as f64 > band,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of the samples that are kept.
    fn kept(every: u32, change: Option<f64>, variable_type: VariableType, samples: &[Option<u64>]) -> Vec<usize> {
        let rule = Rule { every, change };
        let unit = String::new();
        let signal = SignalPlan { name: String::new(), variable_type, unit, capacity: None, start: None, rule };
        let mut thinning = Thinning::new(&signal);
        (0..samples.len()).filter(|&i| thinning.keeps(samples[i])).collect()
    }

    fn floats(values: &[f64]) -> Vec<Option<u64>> {
        values.iter().map(|value| Some(value.to_bits())).collect()
    }

    #[test]
    fn each_nth_sample_is_kept_the_first_included() {
        let samples = floats(&[0.0; 8]);
        assert_eq!(kept(3, None, VariableType::Float64, &samples), [0, 3, 6]);
        assert_eq!(kept(1, None, VariableType::Float64, &samples).len(), 8);
    }

    #[test]
    fn any_change_counts_and_a_dead_band_leaves_out_what_stays_within_it() {
        let samples = floats(&[1.0, 1.0, 1.5, 2.0, 1.5, f64::NAN, f64::NAN, f64::INFINITY, f64::INFINITY, 1.5]);
        assert_eq!(kept(1, Some(0.0), VariableType::Float64, &samples), [0, 2, 3, 4, 5, 7, 9]);
        // Against the last one kept, not the last one seen: a slow drift is not lost.
        let drift = floats(&[0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2]);
        assert_eq!(kept(1, Some(0.5), VariableType::Float64, &drift), [0, 3, 6]);
        assert_eq!(kept(1, Some(0.5), VariableType::Float64, &floats(&[0.0, 0.5, f64::NAN, 0.0])), [0, 2, 3]);
    }

    #[test]
    fn of_the_samples_that_decimation_leaves_the_changes_are_kept() {
        let samples = floats(&[1.0, 2.0, 1.0, 3.0, 4.0]);
        assert_eq!(kept(2, Some(0.0), VariableType::Float64, &samples), [0, 4]);
    }

    /// A tick is no value that could be the same as the one before.
    #[test]
    fn of_a_clock_ticks_are_counted_and_all_of_them_are_new() {
        let samples = [1, 0, 1, 1, 0, 1].map(Some);
        assert_eq!(kept(1, Some(0.0), VariableType::Clock, &samples), [0, 2, 3, 5]);
        assert_eq!(kept(2, None, VariableType::Clock, &samples), [0, 3]);
        assert_eq!(
            kept(1, None, VariableType::Clock, &samples).len(),
            6,
            "without a rule it is said where it did not tick, too"
        );
    }

    #[test]
    fn differences_of_integers_are_exact_and_elements_come_and_go() {
        let far = [Some(i64::MIN as u64), Some(i64::MAX as u64), None, None, Some(7)];
        assert_eq!(kept(1, Some(1e9), VariableType::Int64, &far), [0, 1, 2, 4]);
        let near = [Some(u64::MAX), Some(u64::MAX - 1), Some(u64::MAX - 3)];
        assert_eq!(kept(1, Some(2.0), VariableType::UInt64, &near), [0, 2]);
        assert_eq!(kept(1, Some(0.0), VariableType::UInt64, &near), [0, 1, 2]);
        assert_eq!(kept(1, Some(0.5), VariableType::Boolean, &[Some(0), Some(0), Some(1)]), [0, 2]);
        assert_eq!(kept(1, Some(10.0), VariableType::String, &[Some(1), Some(2), Some(2), None]), [0, 1, 3]);
    }
}
