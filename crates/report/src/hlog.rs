//! HdrHistogram's interval log, version 1.3 (`.hlog`): for each clock and metric a line for each interval of the run in which it has values,
//! one after the other, so that HdrHistogram's tools show latency over time. All lines of a tag together are the whole histogram.
//! A histogram without known intervals is one line over the whole run.
//!
//! Values are nanoseconds, compressed as HdrHistogram's other implementations write them (V2, deflated); `Interval_Max`
//! is milliseconds, by their convention. The tag of a line is `<fmu>.<clock>.<metric>`, or `<fmu>.lock.hold` and
//! `<fmu>.lock.wait` for the preemption lock. Characters that a tag must not contain are written as in a URL (`%20` for
//! a space), so that different names stay different. [`super::ReportFile::rebuild`] reads it back.

use super::metrics::metrics;
use super::{Distribution, ProbeResult, Run};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use jiff::Timestamp;
use std::collections::HashMap;
use std::time::Duration;
use vecud_record::histogram::SparseHistogram;

/// The histograms of a run as an interval log. Those without values are left out: readers choke on them.
pub fn hlog(run: &Run) -> String {
    let mut log = header(run).into_bytes();
    let mut serializer = V2DeflateSerializer::new();
    let length = Duration::try_from_secs_f64(run.wall_seconds).unwrap_or_default();
    let mut writer = IntervalLogWriterBuilder::new()
        .with_max_value_divisor(1e6)
        .begin_log_with(&mut log, &mut serializer)
        .expect("writing to memory");
    let histograms: Vec<(String, &Distribution)> = histograms(run).collect();
    let mut tags = HashMap::new();
    histograms.iter().for_each(|(tag, _)| *tags.entry(tag.as_str()).or_insert(0) += 1);
    // Names with dots can have the same tag; their lines are assigned by order alone.
    let by_intervals = |tag: &str, own: &Distribution| tags[tag] == 1 && !own.slices().is_empty();
    let mut entries: Vec<(&str, Duration, Duration, Option<&SparseHistogram>, &Distribution)> = Vec::new();
    for (tag, own) in &histograms {
        match by_intervals(tag, own) {
            true => {
                entries.extend(own.slices().iter().map(|s| (tag.as_str(), s.begin, s.length, Some(&s.counts), *own)))
            }
            false => entries.push((tag, Duration::ZERO, length, None, own)),
        }
    }
    entries.sort_by_key(|(_, begin, ..)| *begin);
    for (tag, begin, length, counts, whole) in entries {
        let tag = Some(Tag::new(tag).expect("encoded"));
        let part = counts.map(SparseHistogram::buckets);
        let buckets = part.as_ref().unwrap_or(whole.buckets());
        writer.write_histogram(buckets, begin, length, tag).expect("writing to memory");
    }
    String::from_utf8(log).expect("text and base64")
}

/// The histograms that have values, each with its tag.
fn histograms(run: &Run) -> impl Iterator<Item = (String, &Distribution)> {
    let clocks = run.clocks.iter().flat_map(|clock| {
        let named = move |(metric, histogram)| (tag(&format!("{}.{}.{metric}", clock.fmu, clock.clock)), histogram);
        metrics(clock).into_iter().map(named)
    });
    let locks = run.fmus.iter().flat_map(|fmu| {
        [("hold", &fmu.lock.hold), ("wait", &fmu.lock.wait)]
            .map(|(metric, histogram)| (tag(&format!("{}.lock.{metric}", fmu.name)), histogram))
    });
    let probe = run.host.doctor.iter().flat_map(|doctor| &doctor.probe);
    let probe = probe.map(|probe| (ProbeResult::TAG.to_owned(), &probe.latency));
    clocks.chain(locks).chain(probe).filter(|(_, histogram)| histogram.count() > 0)
}

fn header(run: &Run) -> String {
    let comment = |text: &str| text.replace(|c: char| c.is_control(), " ");
    let mut header = format!("#[Rig {}, recorded by vecud {}]\n", comment(&run.rig), comment(&run.version));
    header += "#[Histogram log format version 1.3]\n";
    if let Some(start) = unix_time(&run.started) {
        header += &format!("#[BaseTime: {start:.3} (seconds since epoch)]\n");
        header += &format!("#[StartTime: {start:.3} (seconds since epoch), {}]\n", comment(&run.started));
    }
    header += "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
    header
}

pub(super) fn tag(name: &str) -> String {
    let mut tag = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            ',' | '%' | ' ' => tag += &format!("%{:02X}", u32::from(c)),
            c if c.is_control() || c.is_whitespace() => {
                let mut bytes = [0; 4];
                tag.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
            }
            c => tag.push(c),
        }
    }
    tag
}

/// Seconds since 1970 of an RFC 3339 time.
fn unix_time(text: &str) -> Option<f64> {
    text.parse::<Timestamp>().ok().map(|time| time.as_duration().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::read::base64;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    #[test]
    fn the_log_reads_back() {
        let mut run = sample(1);
        run.clocks[1].response = Distribution::default();
        let log = hlog(&run);
        let clocks = run.clocks.iter().flat_map(|clock| {
            metrics(clock).into_iter().map(|(metric, h)| (format!("{}.{}.{metric}", clock.fmu, clock.clock), h))
        });
        let locks = run.fmus.iter().flat_map(|fmu| {
            [("hold", &fmu.lock.hold), ("wait", &fmu.lock.wait)]
                .map(|(metric, h)| (format!("{}.lock.{metric}", fmu.name), h))
        });
        let probe = &run.host.doctor.as_ref().unwrap().probe.as_ref().unwrap().latency;
        let mut expected = clocks.chain(locks).chain([("doctor.probe".to_owned(), probe)]);
        let mut lines = 0;
        for entry in IntervalLogIterator::new(log.as_bytes()) {
            let LogEntry::Interval(line) = entry.unwrap() else { continue };
            let (tag, histogram) = expected.find(|(_, histogram)| histogram.count() > 0).unwrap();
            assert_eq!(line.tag().unwrap().as_str(), tag);
            assert_eq!(line.duration().as_millis(), 10_002);
            let bytes = base64(line.encoded_histogram()).unwrap();
            let read: hdrhistogram::Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
            assert_eq!(&read, histogram.buckets());
            lines += 1;
        }
        assert_eq!(lines, 10 * run.clocks.len() + run.fmus.iter().filter(|fmu| fmu.lock.hold.count() > 0).count() * 2);
    }

    /// The entries of a tag follow each other in time and are the whole together, whatever lies between them; so they are after the log was
    /// read and written again.
    #[test]
    fn the_intervals_of_a_histogram_are_the_whole() {
        let mut run = sample(1);
        let parts = [vec![5, 7_000, 7_001], vec![], vec![9, 1 << 44], vec![3]];
        let so_far = |parts: &[Vec<u64>]| SparseHistogram::of(Distribution::of(parts.concat()).buckets());
        let marks: Vec<SparseHistogram> = (1..parts.len()).map(|end| so_far(&parts[..end])).collect();
        let times = [1_000, 2_000, 3_500].map(Duration::from_millis);
        let mut own = Distribution::of(parts.concat());
        let times_and_marks: Vec<_> = times.into_iter().zip(&marks).collect();
        own.split(&times_and_marks, Duration::from_millis(10_002));
        run.clocks[0].response = own;
        // What was less afterwards was written over: then it is one entry.
        run.clocks[1].response.split(&[(times[0], &so_far(&[vec![1 << 40]]))], times[2]);
        assert!(run.clocks[1].response.slices().is_empty());
        let log = hlog(&run);
        let (mut spans, mut sum) = (Vec::new(), vecud_record::histogram::Histogram::default().buckets().clone());
        let mut last = Duration::ZERO;
        for entry in IntervalLogIterator::new(log.as_bytes()) {
            let LogEntry::Interval(line) = entry.unwrap() else { continue };
            assert!(line.start_timestamp() >= last, "in the order of time");
            last = line.start_timestamp();
            if line.tag().unwrap().as_str() == "ecu.crank_isr.response" {
                spans.push((line.start_timestamp().as_millis(), line.duration().as_millis()));
                let bytes = base64(line.encoded_histogram()).unwrap();
                let part: hdrhistogram::Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
                sum.add(&part).unwrap();
            }
        }
        assert_eq!(spans, [(0, 1_000), (2_000, 1_500), (3_500, 6_502)], "what has no values has no entry");
        assert_eq!(&sum, run.clocks[0].response.buckets());
        let read = super::super::ReportFile::parse(&super::super::json(&run)).unwrap().rebuild(&log).unwrap();
        assert_eq!(hlog(&read), log);
    }

    /// Clock `b.c` of `a`, and clock `c` of `a.b`.
    #[test]
    fn histograms_with_one_tag_are_told_apart() {
        let mut run = sample(1);
        for (clock, (fmu, name)) in run.clocks.iter_mut().zip([("a", "b.c"), ("a.b", "c")]) {
            (clock.fmu, clock.clock) = (fmu.into(), name.into());
            let half = SparseHistogram::of(Distribution::of([]).buckets());
            clock.response.split(&[(Duration::from_secs(1), &half)], Duration::from_secs(10));
        }
        let log = hlog(&run);
        let read = super::super::ReportFile::parse(&super::super::json(&run)).unwrap().rebuild(&log).unwrap();
        assert_eq!(read.clocks[0].response.buckets(), run.clocks[0].response.buckets());
        assert_eq!(read.clocks[1].response.buckets(), run.clocks[1].response.buckets());
    }

    #[test]
    fn the_start_is_seconds_since_1970() {
        assert_eq!(unix_time("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(unix_time("2000-02-29T12:00:00Z"), Some(951_825_600.0));
        assert_eq!(unix_time("2026-03-01T00:00:00.500+01:00"), Some(1_772_319_600.5));
        assert_eq!(unix_time("1969-12-31T23:59:59Z"), Some(-1.0));
        for nonsense in ["", "yesterday", "2026-03-01", "2026-03-01T00:00", "2026-03-0äT00:00:00Z"] {
            assert_eq!(unix_time(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn tags_hold_no_separators_and_stay_different() {
        assert_eq!(tag("a b,c\n100%"), "a%20b%2Cc%0A100%25");
        let mut run = sample(1);
        (run.rig, run.clocks[0].clock) = ("two\nlines".into(), "two\nlines, and more".into());
        assert!(IntervalLogIterator::new(hlog(&run).as_bytes()).all(|entry| entry.is_ok()));
    }

    #[test]
    fn a_run_that_never_began_has_a_log_too() {
        let mut run = sample(1);
        (run.clocks, run.wall_seconds, run.started) = (vec![], f64::NAN, String::new());
        assert!(hlog(&run).contains("\"StartTimestamp\""));
    }
}
