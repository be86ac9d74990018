//! Categories of the host's lines that tell of problems; `report.json` has them as kinds. A number after a blank is that of the FMU
//! that the line is about.

/// Priorities, cores or punctual wake-ups are refused.
pub const NOT_REAL_TIME: &str = "not_real_time";
/// Memory is not locked.
pub const MEMORY_NOT_LOCKED: &str = "memory_not_locked";
/// The clock of the releases is not set.
pub const CLOCK_NOT_SET: &str = "clock_not_set";
/// A protection that keeps FMU code within bounds, or explains its harm, is missing.
pub const UNPROTECTED: &str = "unprotected";
/// A thread, or the run, did not start.
pub const NOT_STARTED: &str = "not_started";
/// An FMU does not log what it is asked for.
pub const LOGGING_REFUSED: &str = "logging_refused";
/// The state is not saved.
pub const STATE_NOT_SAVED: &str = "state_not_saved";
/// A file lacks something.
pub const FILE_INCOMPLETE: &str = "file_incomplete";
/// The trace is shorter than it should be.
pub const TRACE_SHORTENED: &str = "trace_shortened";

/// All categories.
pub const ALL: [&str; 9] = [
    NOT_REAL_TIME,
    MEMORY_NOT_LOCKED,
    CLOCK_NOT_SET,
    UNPROTECTED,
    NOT_STARTED,
    LOGGING_REFUSED,
    STATE_NOT_SAVED,
    FILE_INCOMPLETE,
    TRACE_SHORTENED,
];
