//! The values that an activation gets: for each column the value at its time.

use super::feed::{Feed, FeedState};
use std::ops::Range;
use vecud_description::VariableType;
#[cfg(test)]
use vecud_plan::FedValue;
use vecud_plan::{Interpolation, StimulusPlan};

/// The result of a search for the row of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLookup {
    /// The row is there, or there is none so early.
    Found,
    /// Rows up to that time are missing, or the row is gone: the values are the nearest ones.
    Starved,
    /// Rows after [`Feed::until`] cannot be read.
    Broken,
}

/// The most seconds beyond an activation for which rows must be there: two seconds of them are read ahead, within limits.
const SOON: f64 = 0.5;

/// Follows a stimulus through activations whose times increase.
pub struct Follower<'a> {
    feed: Feed<'a>,
    linear: bool,
    /// The row after that of an activation is wanted too: what activations get is on lines from then on. By how much, s, a row may be
    /// after an activation and is at it.
    on_lines: Option<f64>,
    /// Rows are needed this long, s, beyond an activation: its step ends where held values change.
    holds_for: Option<f64>,
    /// The row of the activation.
    row: Option<u64>,
    time: f64,
}

/// The course of a number from one row to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearSegment {
    begin: f64,
    end: f64,
    from: f64,
    to: f64,
    is_single: bool,
}

impl LinearSegment {
    /// Whether it has one value alone.
    pub fn is_level(&self) -> bool {
        self.from == self.to
    }

    /// The word of the number at a time, s; before and after the line that of its end there.
    pub fn word(&self, time: f64) -> u64 {
        let share = ((time - self.begin) / (self.end - self.begin)).clamp(0.0, 1.0);
        let value = line(self.from, self.to, share);
        if self.is_single { u64::from((value as f32).to_bits()) } else { value.to_bits() }
    }
}

impl<'a> Follower<'a> {
    /// A follower at the beginning.
    pub fn new(feed: Feed<'a>, plan: &StimulusPlan) -> Follower<'a> {
        let linear = plan.interpolation == Interpolation::Linear;
        Follower { feed, linear, on_lines: None, holds_for: None, row: None, time: f64::NEG_INFINITY }
    }

    /// A follower with lines from each activation on; `rounding`, s: a row that is after one by no more counts as at it.
    pub fn on_lines(self, rounding: Option<f64>) -> Follower<'a> {
        Follower { on_lines: rounding, ..self }
    }

    /// A follower with the rows that come within this number of seconds of each activation; [`Follower::next_change`].
    pub fn holding_for(self, seconds: Option<f64>) -> Follower<'a> {
        Follower { holds_for: seconds, ..self }
    }

    /// The feed.
    pub fn feed(&self) -> Feed<'a> {
        self.feed
    }

    /// Goes to the row of an activation at `time`, s.
    #[inline]
    pub fn look(&mut self, time: f64) -> RowLookup {
        // Before the rows: whatever it covers is there, then.
        let until = self.feed.until();
        let is_followed = |rounding: f64| until > time + rounding || self.feed.state() != FeedState::Reading;
        let fed = until >= time
            && self.on_lines.is_none_or(is_followed)
            && self.holds_for.is_none_or(|seconds| is_known_for(&self.feed, time, seconds.min(SOON)));
        // An activation can be earlier than the one before, when ticks are late.
        let from = self.row.filter(|_| time >= self.time).unwrap_or(0);
        let mut found = self.feed.newest(time, from);
        (self.row, self.time) = (found.map(|(row, _)| row), time);
        if let Some(next) = self.on_lines.and_then(|rounding| self.next_row().filter(|next| *next <= time + rounding)) {
            found = self.feed.newest(next, self.row.unwrap_or(0));
            (self.row, self.time) = (found.map(|(row, _)| row), next);
        }
        match found {
            _ if !fed && self.feed.state() == FeedState::Broken => RowLookup::Broken,
            Some((_, false)) => RowLookup::Starved,
            _ if fed => RowLookup::Found,
            _ => RowLookup::Starved,
        }
    }

    /// The time, s, of the row after the activation, if that is there.
    pub fn next_row(&self) -> Option<f64> {
        let next = self.row.map_or(0, |row| row + 1);
        self.feed.has(next).then(|| self.feed.time(next))
    }

    /// The time, s, of the next row within [`Follower::holding_for`] that has other words at these places than the row of the activation; the
    /// last row that there is room for, if none of as many has.
    pub fn next_change(&self, places: &[Range<usize>]) -> Option<f64> {
        let end = self.time + self.holds_for?;
        let is_known = |row: u64, place: usize| self.feed.known_from(place) <= self.feed.time(row);
        let word = |row: Option<u64>, place: usize| {
            let row = row.filter(|row| is_known(*row, place))?;
            Some(self.feed.value(row, place))
        };
        let mut next = self.row.map_or(0, |row| row + 1);
        let first = next;
        while self.feed.has(next) && self.feed.time(next) < end {
            if places.iter().cloned().flatten().any(|place| word(Some(next), place) != word(self.row, place)) {
                return Some(self.feed.time(next));
            }
            next += 1;
        }
        let is_last = next > first && !self.feed.has(next) && self.feed.is_full_at(self.time);
        is_last.then(|| self.feed.time(next - 1))
    }

    /// The line that a number is on from the activation to the next row, whose word is at this place in a row; `None`: it is on none.
    pub fn line(&self, value: usize, fed: VariableType) -> Option<LinearSegment> {
        let row = self.row.filter(|_| self.feed.known_from(value) <= self.time)?;
        if !self.linear || !self.feed.has(row + 1) {
            return None;
        }
        let number = |word: u64| match fed {
            VariableType::Float32 => Some(f64::from(f32::from_bits(word as u32))),
            VariableType::Float64 => Some(f64::from_bits(word)),
            _ => None,
        };
        Some(LinearSegment {
            begin: self.feed.time(row),
            end: self.feed.time(row + 1),
            from: number(self.feed.value(row, value))?,
            to: number(self.feed.value(row + 1, value))?,
            is_single: fed == VariableType::Float32,
        })
    }

    /// The words of a string or binary whose first one is at this place in a row; `None`: there was none so far.
    pub fn bytes(&self, first: usize) -> Option<impl Fn(usize) -> u64> {
        let row = self.row.filter(|_| self.feed.known_from(first) <= self.time)?;
        Some(move |word| self.feed.value(row, first + word))
    }

    /// The number there whose word is at this place in a row; `None`: there was none so far.
    #[inline]
    pub fn value(&self, value: usize, fed: VariableType) -> Option<u64> {
        let row = self.row?;
        if self.feed.known_from(value) > self.time {
            return None;
        }
        Some(match self.line(value, fed) {
            Some(line) => line.word(self.time),
            None => self.feed.value(row, value),
        })
    }
}

/// Whether all rows are there that come within this number of seconds of a time, s, or as many as there is room for.
pub fn is_known_for(feed: &Feed, time: f64, seconds: f64) -> bool {
    feed.until() >= time + seconds || feed.state() != FeedState::Reading || feed.is_full_at(time)
}

/// The point on the line from `a` to `b`; at 0 and between equal values exactly `a`.
fn line(a: f64, b: f64, share: f64) -> f64 {
    let whole = b - a;
    match () {
        () if share == 0.0 || a == b => a,
        () if whole.is_finite() => a + whole * share,
        // Too far apart for their difference.
        () => a * (1.0 - share) + b * share,
    }
}

/// A plain model of [`Follower`], from values and times as a file has them.
#[cfg(test)]
pub(super) fn model(rows: &[super::StimulusRow], value: usize, fed: &FedValue, linear: bool, time: f64) -> Option<u64> {
    let at = |row: &super::StimulusRow| {
        let before = rows.iter().filter(|other| other.time <= row.time);
        before.filter_map(|row| row.values[value]).next_back()
    };
    let row = rows.iter().rfind(|row| row.time <= time)?;
    let word = at(row)?;
    let Some(next) = rows.iter().find(|row| row.time > time).filter(|_| linear) else { return Some(word) };
    let share = (time - row.time) / (next.time - row.time);
    let next = at(next)?;
    Some(match fed.variable_type {
        VariableType::Float64 => line(f64::from_bits(word), f64::from_bits(next), share).to_bits(),
        _ => word,
    })
}
