//! The histograms of `histograms.hlog`, for the figures that the report has of them.

use super::error::ReadError;
use crate::hlog::tag;
use crate::{Distribution, Slice};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogHistogram, IntervalLogIterator, LogEntry};
use std::collections::{HashMap, VecDeque};
use std::io::Read;
use std::time::Duration;
use vecud_record::histogram::{Histogram, SparseHistogram};

/// The entries of the log: one for each interval in which a histogram had values, in their order; of older versions one for each histogram.
pub(super) struct HistogramLog<'a> {
    entries: HashMap<String, VecDeque<IntervalLogHistogram<'a>>>,
    /// There is a line that is none.
    is_damaged: bool,
    /// Duration of the run.
    whole: Duration,
}

impl<'a> HistogramLog<'a> {
    pub(super) fn of(text: &'a str, whole: Duration) -> HistogramLog<'a> {
        let (mut entries, mut is_damaged) = (HashMap::<String, VecDeque<_>>::new(), false);
        for entry in IntervalLogIterator::new(text.as_bytes()) {
            match entry {
                Ok(LogEntry::Interval(line)) => {
                    let tag = line.tag().map_or_else(String::new, |tag| tag.as_str().to_owned());
                    entries.entry(tag).or_default().push_back(line);
                }
                Ok(_) => {}
                Err(_) => {
                    is_damaged = true;
                    break;
                }
            }
        }
        HistogramLog { entries, is_damaged, whole }
    }

    /// Puts the values in that the report has these figures of.
    pub(super) fn fill(&mut self, name: &str, distribution: &mut Distribution) -> Result<(), ReadError> {
        let figures = distribution.figures;
        if figures.count == 0 {
            return Ok(());
        }
        let wrong = |what: &str| {
            let message = format!(
                "{what} the histogram {name} of report.json; the two files are not of the same run, or this one is damaged or \
                 from another version of vecud: put the right one beside report.json, or run the rig again"
            );
            Err(ReadError { place: None, message, in_log: true })
        };
        if self.is_damaged {
            return wrong("has a line that cannot be read instead of");
        }
        let Some(entries) = self.entries.get_mut(&tag(name)).filter(|entries| !entries.is_empty()) else {
            return wrong("has no line of");
        };
        let (mut all, mut slices) = (Histogram::default().buckets().clone(), Vec::new());
        // Names with dots can have the same tag: each histogram has the next ones that are its own.
        while all.len() < figures.count {
            let Some(line) = entries.pop_front() else { break };
            let read = base64(line.encoded_histogram()).and_then(|bytes| histogram(&bytes));
            let Some(read) = read.filter(|read| all.add(read).is_ok()) else { return wrong("has other values than") };
            slices.push(Slice {
                begin: line.start_timestamp(),
                length: line.duration(),
                counts: SparseHistogram::of(&read),
            });
        }
        // One entry over the whole run says nothing of when its values came.
        slices.retain(|slice| slice.length.abs_diff(self.whole) > Duration::from_millis(1));
        match Histogram::from_parts(&all, figures.count, figures.min, figures.max, figures.mean) {
            Some(values) => {
                distribution.fill(values, slices);
                Ok(())
            }
            None => wrong("has other values than"),
        }
    }
}

/// The longest histogram of vecud in HdrHistogram's form V2, with as much again (bytes).
const LONGEST_HISTOGRAM: u64 = 1 << 17;

/// A histogram in HdrHistogram's compressed form V2; `None`: it is none.
fn histogram(bytes: &[u8]) -> Option<Hdr<u64>> {
    // Mark and length of what is compressed; then mark and length again, before the counts.
    let (_, packed) = bytes.split_at_checked(8)?;
    let mut plain = Vec::new();
    ZlibDecoder::new(packed).take(LONGEST_HISTOGRAM).read_to_end(&mut plain).ok()?;
    let (head, counts) = plain.split_at_checked(40)?;
    // Its reader makes room for as many counts as are stated, before it looks for them.
    let stated = u32::from_be_bytes(head[4..8].try_into().ok()?);
    (stated as usize == counts.len()).then(|| Deserializer::new().deserialize(&mut &plain[..]).ok()).flatten()
}

/// Bytes of base64; `None`: it is none.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
