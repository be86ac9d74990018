//! HdrHistogram's interval log, version 1.3 (`.hlog`): one line per clock and metric, the whole run as one interval.
//!
//! Values are nanoseconds, compressed as HdrHistogram's other implementations write them (V2, deflated); `Interval_Max`
//! is milliseconds, by their convention. The tag of a line is `<fmu>.<clock>.<metric>`, or `<fmu>.lock.hold` and
//! `<fmu>.lock.wait` for the preemption lock. What a tag must not contain is written as in a URL (`%20` for a space), so
//! that different names stay different. [`super::ReportFile::rebuild`] reads it back.

use super::{Distribution, Run, metrics};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use jiff::Timestamp;
use std::time::Duration;

/// The histograms of a run as an interval log. Those without values are left out: readers choke on them.
pub fn hlog(run: &Run) -> String {
    let mut log = header(run).into_bytes();
    let mut serializer = V2DeflateSerializer::new();
    let length = Duration::try_from_secs_f64(run.wall_seconds).unwrap_or_default();
    let mut writer = IntervalLogWriterBuilder::new()
        .with_max_value_divisor(1e6)
        .begin_log_with(&mut log, &mut serializer)
        .expect("writing to memory");
    for (tag, histogram) in lines(run) {
        let tag = Some(Tag::new(&tag).expect("encoded"));
        writer.write_histogram(histogram.buckets(), Duration::ZERO, length, tag).expect("writing to memory");
    }
    String::from_utf8(log).expect("text and base64")
}

/// Tag and histogram of each line.
fn lines(run: &Run) -> impl Iterator<Item = (String, &Distribution)> {
    let clocks = run.clocks.iter().flat_map(|clock| {
        let named = move |(metric, histogram)| (tag(&format!("{}.{}.{metric}", clock.fmu, clock.clock)), histogram);
        metrics(clock).into_iter().map(named)
    });
    let locks = run.fmus.iter().flat_map(|fmu| {
        [("hold", &fmu.lock.hold), ("wait", &fmu.lock.wait)]
            .map(|(metric, histogram)| (tag(&format!("{}.lock.{metric}", fmu.name)), histogram))
    });
    clocks.chain(locks).filter(|(_, histogram)| histogram.count() > 0)
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
    use super::super::read::base64;
    use super::super::sample;
    use super::*;
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
        let mut expected = clocks.chain(locks);
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
        assert_eq!(
            lines,
            10 * run.clocks.len() - 1 + run.fmus.iter().filter(|fmu| fmu.lock.hold.count() > 0).count() * 2
        );
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
