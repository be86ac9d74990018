//! The limit of events within a step of the grid (`max_events`, semantics S25).

/// State events of an FMU that is simulated by itself come together if all of them lie within this share of their time or of a
/// second, or within that share of the interval between two rows. Chattering within a narrow band makes any number of them.
const TOGETHER: f64 = 1e-9;
const TOGETHER_OF_A_ROW: f64 = 1e-6;

/// The events that count.
enum CountedEvents {
    /// Events of all kinds, except at the begin of a step.
    All,
    /// State events that come together ([`TOGETHER`]), from this time on, s: other events have rows of their own, and delay nothing.
    Together(f64),
}

/// The number of events that may still be handled.
pub struct EventLimit {
    most: u32,
    left: u32,
    counted: CountedEvents,
    /// The event that is handled next is counted already, or is not to be: a clock ticks there, which cannot be put off.
    is_counted: bool,
    /// The finding of too many events in this step is noted.
    is_noted: bool,
}

impl EventLimit {
    /// At most this number of events; `has_rows`: each event has rows of its own.
    pub fn new(most: u32, has_rows: bool) -> EventLimit {
        let counted = if has_rows { CountedEvents::Together(f64::NEG_INFINITY) } else { CountedEvents::All };
        EventLimit { most, left: most, counted, is_counted: false, is_noted: false }
    }

    /// A step of the grid begins.
    pub fn begin_step(&mut self) {
        self.is_noted = false;
        if matches!(self.counted, CountedEvents::All) {
            self.left = self.most;
        }
    }

    /// The drive goes on from `now`, s; `row`: the interval between two rows, s.
    pub fn go_on(&mut self, now: f64, row: f64) {
        let CountedEvents::Together(since) = &mut self.counted else { return };
        let together = (TOGETHER * now.abs().max(1.0)).max(TOGETHER_OF_A_ROW * row);
        if now - *since > together {
            (self.left, *since) = (self.most, now);
        }
    }

    /// Counts a state event that inputs have caused. `false`: there may be no more.
    pub fn take(&mut self) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        (self.left, self.is_counted) = (left, true);
        true
    }

    /// The number of events that the integration may still locate.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// The integration has left this number.
    pub fn set_left(&mut self, left: u32) {
        self.left = left;
    }

    /// The integration has stopped; `is_located`: at an event that it has located and counted.
    pub fn note_stop(&mut self, is_located: bool) {
        self.is_counted = is_located;
    }

    /// A clock ticks at the communication point whose events are handled next.
    pub fn note_tick(&mut self) {
        self.is_counted = true;
    }

    /// Events were handled; `is_within`: after the begin of the step.
    pub fn note_event(&mut self, is_within: bool) {
        if !std::mem::take(&mut self.is_counted) && matches!(self.counted, CountedEvents::All) && is_within {
            self.left = self.left.saturating_sub(1);
        }
    }

    /// Whether events up to the end of the step, also time events, are put off to its end.
    pub fn is_exhausted(&self) -> bool {
        matches!(self.counted, CountedEvents::All) && self.left == 0
    }

    /// Whether a finding of too many events is due: once per step.
    pub fn exceeds(&mut self) -> bool {
        !std::mem::replace(&mut self.is_noted, true)
    }
}
