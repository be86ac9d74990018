//! The trace as text: the newest events that its file has room for.

use super::instance::TraceInstance;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use vecud_linux::files;
use vecud_record::trace::kernel::{instant, lost};
use vecud_record::written::Written;
use vecud_report::format::plural;

/// Name of the file in the output folder.
pub(crate) const NAME: &str = "kernel-trace.txt";

/// Result of writing the trace.
pub(super) type Done = io::Result<Kept>;

/// The written file.
pub(super) struct Kept {
    pub(super) written: Written,
    /// Instants of the first and the last event in it.
    pub(super) from: Option<i64>,
    pub(super) to: Option<i64>,
    /// Number of lost events.
    pub(super) lost: u64,
    /// Explanation of a truncation for lack of space.
    pub(super) cut: Option<String>,
}

/// Writes the text of an instance, which is removed afterwards.
pub(super) struct TraceText {
    pub(super) path: PathBuf,
    /// Events before this instant are left out.
    pub(super) since: i64,
    /// Greatest size of the file, bytes.
    pub(super) limit: u64,
    pub(super) head: String,
    pub(super) instance: TraceInstance,
}

impl TraceText {
    pub(super) fn write(self) -> Done {
        let file = files::create(&self.path)?;
        // The trace is stopped, so each reading gives the same text.
        let mut wanted = 0;
        self.lines(|line, _| {
            wanted += line.len() as u64;
            Ok(())
        })?;
        let mut head = self.head.clone();
        let is_cut = head.len() as u64 + wanted > self.limit;
        if is_cut {
            head += &format!("# vecud: older events are left out: {}\n", may_have(self.limit));
        }
        let mut newest = Newest::of(wanted, self.limit.saturating_sub(head.len() as u64));
        let written = Written { file, length: head.len() as u64 };
        let mut kept = Kept { written, from: None, to: None, lost: 0, cut: None };
        let mut out = BufWriter::new(kept.written.file.try_clone()?);
        out.write_all(head.as_bytes())?;
        let mut left_out = 0;
        self.lines(|line, at| {
            if !newest.has(line.len() as u64) {
                left_out += u64::from(at.is_some());
                return Ok(());
            }
            out.write_all(line)?;
            kept.written.length += line.len() as u64;
            kept.from = kept.from.or(at);
            kept.to = at.or(kept.to);
            kept.lost += lost(String::from_utf8_lossy(line).trim_end()).unwrap_or(0);
            Ok(())
        })?;
        out.flush()?;
        kept.cut = is_cut.then(|| {
            format!("{NAME} lacks {} before those in it: {}", plural(left_out, "event"), may_have(self.limit))
        });
        Ok(kept)
    }

    /// Passes on each line that is not too old, in the order of time, with the time of its event; `None`: the line is
    /// no event.
    fn lines(&self, mut show: impl FnMut(&[u8], Option<i64>) -> io::Result<()>) -> io::Result<()> {
        let mut text = BufReader::with_capacity(1 << 16, self.instance.text()?);
        let mut line = Vec::new();
        while text.by_ref().take(1 << 16).read_until(b'\n', &mut line)? > 0 {
            let at = instant(String::from_utf8_lossy(&line).trim_end());
            if at.is_none_or(|at| at >= self.since) {
                show(&line, at)?;
            }
            line.clear();
        }
        Ok(())
    }
}

/// Describes the greatest size of the file.
fn may_have(limit: u64) -> String {
    format!("it may have {} MiB (rig: limit_mib in [trace])", limit >> 20)
}

/// Selects the newest whole lines of a text that is too long: the end of the text shows the cause.
struct Newest {
    /// Bytes still to skip.
    excess: u64,
}

impl Newest {
    /// Selection from a text of `length` bytes to fit into `room` bytes.
    fn of(length: u64, room: u64) -> Newest {
        Newest { excess: length.saturating_sub(room) }
    }

    /// Whether the next line, of this many bytes, is kept.
    fn has(&mut self, length: u64) -> bool {
        let is_kept = self.excess == 0;
        self.excess = self.excess.saturating_sub(length);
        is_kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events before an exceeded limit are at the end of the trace.
    #[test]
    fn of_a_text_that_is_too_long_the_last_lines_are_kept_whole() {
        let lengths = [10, 20, 30, 5, 5];
        let kept = |room: u64| {
            let mut newest = Newest::of(lengths.iter().sum(), room);
            lengths.into_iter().filter(|length| newest.has(*length)).collect::<Vec<u64>>()
        };
        assert_eq!(kept(70), lengths);
        assert_eq!(kept(69), [20, 30, 5, 5]);
        assert_eq!(kept(60), [20, 30, 5, 5]);
        assert_eq!(kept(59), [30, 5, 5]);
        assert_eq!(kept(9), [5]);
        assert_eq!(kept(0), [0; 0]);
    }
}
