//! The name of a run's folder: the start of the run (UTC), and a number where several have started in that second.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::fmt;

/// The start of a run in the name of its folder: RFC 3339, but for the colons, which some file systems do not have.
const START: &str = "%Y-%m-%dT%H-%M-%SZ";

/// The name of a run's folder. Names have the order of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunName {
    /// Start of the run.
    start: Timestamp,
    /// Number of the run among those that have started in that second, counted from 1.
    number: u32,
}

impl RunName {
    /// The first name for a run that has started then, from 1970 on and to the second.
    pub fn of(start: Timestamp) -> RunName {
        RunName { start: Timestamp::from_second(start.as_second().max(0)).unwrap_or_default(), number: 1 }
    }

    /// The name that is written so; `None`: it is none.
    pub fn parse(text: &str) -> Option<RunName> {
        let (start, number) = match text.split_once('Z')? {
            (_, "") => (text, 1),
            (start, rest) => (&text[..=start.len()], rest.strip_prefix('-')?.parse().ok()?),
        };
        let start = TimeZone::UTC.to_timestamp(DateTime::strptime(START, start).ok()?).ok()?;
        // Numbers and dates can be written in several ways, of which one is ours.
        Some(RunName { start, number }).filter(|name| number > 0 && name.to_string() == text)
    }

    /// The name of the next run of the same second.
    pub fn next(self) -> RunName {
        RunName { number: self.number.saturating_add(1), ..self }
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.start.strftime(START))?;
        if self.number > 1 { write!(f, "-{}", self.number) } else { Ok(()) }
    }
}
