//! Events of preparing and running a rig, for any listener: a terminal, a service, a test.

use std::fmt;
use std::sync::Arc;
use vecud_report::Live;

/// Something that has happened.
#[derive(Clone, Debug)]
pub enum SessionEvent {
    /// Long work has begun, such as a build of an FMU: its description, for people.
    Begun(String),
    /// The work is over, with or without success.
    Over,
    /// A line for people: a note, a warning, or a message logged by an FMU.
    Message(LineWeight, String),
    /// The session has entered another state.
    State(SessionState),
    /// The figures of the clocks, as often as [`Options::figures`](super::Options::figures) says.
    Figures(Live),
}

/// Importance of a line for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineWeight {
    /// Worth knowing.
    Note,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
}

impl LineWeight {
    /// Word for the weight, which may begin a line for people.
    pub fn word(self) -> &'static str {
        match self {
            LineWeight::Note => "note",
            LineWeight::Warning => "warning",
            LineWeight::Error => "error",
        }
    }

    /// A line of this weight without the word.
    pub fn of_itself(self, line: &str) -> &str {
        line.strip_prefix(self.word()).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(line)
    }

    /// Weight of a line with this status of FMI (0 OK, 1 warning, 2 discard, and worse).
    pub fn of_status(status: u8) -> LineWeight {
        match status {
            0 => LineWeight::Note,
            1 | 2 => LineWeight::Warning,
            _ => LineWeight::Error,
        }
    }
}

/// Progress of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum SessionState {
    /// Libraries are loaded and FMUs initialised.
    Starting = 0,
    /// Partitions are activated.
    Running = 1,
    /// All released activations have completed, no others are released, and simulation time stands still.
    Paused = 2,
    /// No new activation begins; FMUs are terminated.
    Stopping = 3,
    /// The run is over and its report is being written; another run may follow.
    Over = 4,
}

impl SessionState {
    /// The state in words, for people.
    pub fn word(self) -> &'static str {
        match self {
            SessionState::Starting => "starting",
            SessionState::Running => "running",
            SessionState::Paused => "paused",
            SessionState::Stopping => "stopping",
            SessionState::Over => "over",
        }
    }
}

/// The listener for events. The default has none.
#[derive(Clone, Default)]
pub struct EventSink(Option<Arc<dyn Fn(SessionEvent) + Send + Sync>>);

impl EventSink {
    /// A sink that calls `hear` on the thread that collects the data of partitions. Precondition: `hear` does not block.
    pub fn new(hear: impl Fn(SessionEvent) + Send + Sync + 'static) -> EventSink {
        EventSink(Some(Arc::new(hear)))
    }

    /// Reports an event.
    pub fn tell(&self, event: SessionEvent) {
        if let EventSink(Some(hear)) = self {
            hear(event);
        }
    }

    /// Reports a note for people.
    pub fn say(&self, line: impl Into<String>) {
        self.tell(SessionEvent::Message(LineWeight::Note, line.into()));
    }

    /// Reports a warning for people, in a line that begins with that word.
    pub fn warn(&self, line: impl fmt::Display) {
        self.tell(SessionEvent::Message(LineWeight::Warning, format!("warning: {line}")));
    }

    /// Reports an error for people, in a line that begins with that word.
    pub fn complain(&self, line: impl fmt::Display) {
        self.tell(SessionEvent::Message(LineWeight::Error, format!("error: {line}")));
    }

    /// Reports a line with this status of FMI.
    pub fn say_as(&self, status: u8, line: String) {
        self.tell(SessionEvent::Message(LineWeight::of_status(status), line));
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "EventSink(somebody)" } else { "EventSink(nobody)" })
    }
}
