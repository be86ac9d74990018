//! HdrHistogram's percentile text (`.hgrm`), which its plotter and many other tools read.
//!
//! Values are **microseconds** with three decimals (recorded in nanoseconds, scaled by 1000): the unit of every figure of
//! the report. The plotter only labels its axis, so choose "microseconds" there.

use super::Run;
use super::metrics::{METRICS, metrics};
use std::collections::HashSet;
use vecud_record::histogram::Histogram;

/// Steps of the percentile per halving of its distance to 100 %, as HdrHistogram's own tools have them.
const TICKS: u32 = 5;
/// Linux allows 255 bytes in a file name.
const LONGEST_NAME: usize = 240;

/// The percentiles of a histogram as text.
pub fn hgrm(histogram: &Histogram) -> String {
    let buckets = histogram.buckets();
    let mut text = format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut total = 0;
    for step in buckets.iter_quantiles(TICKS) {
        total += step.count_since_last_iteration();
        let value = micros(step.value_iterated_to().clamp(histogram.min(), histogram.max()) as f64);
        let quantile = step.quantile_iterated_to();
        text += &match quantile < 1.0 {
            true => format!("{value:12.3} {quantile:.12} {total:10} {:14.2}\n", 1.0 / (1.0 - quantile)),
            false => format!("{value:12.3} {quantile:.12} {total:10}\n"),
        };
    }
    let deviation = if buckets.is_empty() { 0.0 } else { buckets.stdev() };
    text += &format!("#[Mean    = {:12.3}, StdDeviation   = {:12.3}]\n", micros(histogram.mean()), micros(deviation));
    text +=
        &format!("#[Max     = {:12.3}, Total count    = {:12}]\n", micros(histogram.max() as f64), histogram.count());
    let sub_buckets = buckets.distinct_values() as u64 * 2 / (u64::from(buckets.buckets()) + 1);
    text += &format!("#[Buckets = {:12}, SubBuckets     = {sub_buckets:12}]\n", buckets.buckets());
    text
}

/// A `.hgrm` for each clock and metric with values: file name and content.
pub fn hgrms(run: &Run) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut taken = HashSet::new();
    for clock in &run.clocks {
        for (metric, histogram) in metrics(clock) {
            if histogram.count() > 0 {
                let name = file_name(&format!("{}.{}", clock.fmu, clock.clock), &format!(".{metric}.hgrm"), &mut taken);
                files.push((name, hgrm(histogram)));
            }
        }
    }
    files
}

/// Whether a file name may be one of [`hgrms`].
pub fn is_hgrm(name: &str) -> bool {
    let stem = name.strip_suffix(".hgrm");
    stem.is_some_and(|stem| METRICS.iter().any(|metric| stem.strip_suffix(metric).is_some_and(|s| s.ends_with('.'))))
}

/// A file name that stays in its directory, is not too long, and was not given before.
fn file_name(stem: &str, ending: &str, taken: &mut HashSet<String>) -> String {
    let mut stem: String = stem.chars().map(|c| if c == '/' || c.is_control() { '_' } else { c }).collect();
    if stem.starts_with('.') {
        stem.insert(0, '_');
    }
    let mut number = 1;
    loop {
        let ending = if number == 1 { ending.to_owned() } else { format!("~{number}{ending}") };
        let mut length = stem.len().min(LONGEST_NAME - ending.len());
        while !stem.is_char_boundary(length) {
            length -= 1;
        }
        let name = format!("{}{ending}", &stem[..length]);
        if taken.insert(name.clone()) {
            return name;
        }
        number += 1;
    }
}

fn micros(nanos: f64) -> f64 {
    nanos / 1000.0
}

#[cfg(test)]
mod tests {
    use super::super::{Distribution, sample};
    use super::*;

    /// Value, percentile and total of each line.
    fn rows(text: &str) -> Vec<(f64, f64, u64)> {
        let lines = text.lines().skip(2).filter(|line| !line.starts_with('#'));
        let cells = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
        cells.map(|c| (c[0].parse().unwrap(), c[1].parse().unwrap(), c[2].parse().unwrap())).collect()
    }

    #[test]
    fn the_totals_count_every_value_once() {
        let histogram = Histogram::of((1..=10_000).map(|i| i * 100));
        let text = hgrm(&histogram);
        let rows = rows(&text);
        assert!(rows.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1 && w[0].2 <= w[1].2));
        let (value, percentile, total) = *rows.last().unwrap();
        assert_eq!((value, percentile, total), (1000.0, 1.0, 10_000));
        assert!(text.contains("#[Max     =     1000.000, Total count    =        10000]"), "{text}");
        let median = rows.iter().find(|row| row.1 == 0.5).unwrap();
        assert!((median.0 - 500.0).abs() < 5.0, "{median:?}");
        assert!(text.contains("#[Buckets =           35, SubBuckets     =          256]"), "{text}");
    }

    #[test]
    fn no_values_and_one_value_have_a_footer_too() {
        let empty = hgrm(&Histogram::default());
        assert!(rows(&empty).is_empty() && empty.contains("Total count    =            0]"), "{empty}");
        let single = hgrm(&Histogram::of([1500]));
        assert_eq!(rows(&single).last(), Some(&(1.5, 1.0, 1)));
        assert!(!single.contains("NaN") && !single.contains("inf"));
    }

    #[test]
    fn every_clock_and_metric_with_values_has_its_file() {
        let mut run = sample(1);
        run.clocks[0].start_jitter = Distribution::default();
        let files = hgrms(&run);
        assert!(files.iter().all(|(name, _)| is_hgrm(name)));
        assert_eq!(files.len(), 10 * run.clocks.len() - 1);
        assert!(files.iter().any(|(name, _)| name == "ecu.task_10ms.wakeup_latency.hgrm"));
        run.clocks[0].arrival_latency = Some(Distribution::of([7]));
        let files = hgrms(&run);
        assert!(files.iter().any(|(name, _)| name == "ecu.crank_isr.arrival_latency.hgrm" && is_hgrm(name)));
    }

    #[test]
    fn file_names_stay_in_the_directory_and_are_unique() {
        let mut run = sample(1);
        run.clocks.truncate(3);
        for (clock, name) in run.clocks.iter_mut().zip(["../../etc/x", ".._.._etc_x", &"ü".repeat(300)]) {
            (clock.fmu, clock.clock) = ("..".into(), name.into());
        }
        let names: HashSet<String> = hgrms(&run).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), 30);
        assert!(names.iter().all(|name| !name.contains('/') && !name.starts_with('.') && name.len() <= LONGEST_NAME));
    }
}
