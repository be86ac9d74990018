//! The last log lines of an FMU, for the report.

use std::cmp::Reverse;
use std::collections::VecDeque;

/// Number of lines to keep.
const KEPT: usize = 20;
/// Number of newest lines that stay whatever their severity; of the older ones the least severe is removed first.
const NEWEST: usize = 10;

/// The last lines of an FMU by the time at which it has logged them, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct LastLines(VecDeque<LogLine>);

#[derive(Clone, Debug)]
struct LogLine {
    /// CLOCK_MONOTONIC, ns.
    at: i64,
    /// 0 OK to 4 Fatal.
    status: u8,
    line: String,
}

impl LastLines {
    /// Adds a line. Lines that had to wait for room in the log arrive late.
    pub fn push(&mut self, at: i64, status: u8, line: String) {
        let place = self.0.partition_point(|other| other.at <= at);
        self.0.insert(place, LogLine { at, status, line });
        if self.0.len() > KEPT {
            let older = self.0.iter().take(KEPT - NEWEST + 1).enumerate();
            let least = older.min_by_key(|(place, own)| (own.status, *place)).map_or(0, |(place, _)| place);
            self.0.remove(least);
        }
    }

    /// All kept lines.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|own| own.line.as_str())
    }

    /// The most severe lines, among equals the newest, in the order of the log; `most` limits their number.
    pub fn last_words(&self, most: usize) -> Vec<String> {
        let mut places: Vec<usize> = (0..self.0.len()).collect();
        places.sort_by_key(|place| Reverse((self.0[*place].status, *place)));
        places.truncate(most);
        places.sort_unstable();
        places.into_iter().map(|place| self.0[place].line.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_leaves_what_is_more_severe_and_the_newest() {
        let mut lines = LastLines::default();
        let mut at = 0;
        let mut push = |status: u8, line: String| {
            at += 1;
            lines.push(at, status, line);
        };
        push(3, "an error".to_owned());
        (0..100).for_each(|number| push(0, format!("flood {number}")));
        push(1, "a warning".to_owned());
        (0..100).for_each(|number| push(0, format!("trifle {number}")));
        let kept: Vec<&str> = lines.iter().collect();
        assert_eq!((kept.len(), kept[0], kept[1]), (KEPT, "an error", "a warning"));
        assert_eq!(kept[2..], std::array::from_fn::<_, 18, _>(|number| format!("trifle {}", 82 + number)));
        assert_eq!(lines.last_words(3), ["an error", "a warning", "trifle 99"]);
        // Also beside many that are as severe.
        (0..100).for_each(|number| lines.push(1000 + number, 3, format!("error {number}")));
        lines.push(2000, 0, "the end".to_owned());
        assert_eq!(lines.last_words(2), ["error 98", "error 99"]);
        assert_eq!(lines.iter().last(), Some("the end"));
        // One that comes late is where it belongs.
        lines.push(1098, 4, "the worst".to_owned());
        assert_eq!(lines.last_words(3), ["error 98", "the worst", "error 99"]);
    }
}
