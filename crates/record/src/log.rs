//! Log lines of FMUs and of the host, from any thread, without ever blocking it.
//!
//! A bounded ring of fixed slots in shared words. A producer takes as many slots as its text needs by one compare-and-swap, copies, and
//! marks them as written, the first one last. A line of an FMU finds the less room the less severe it is: a flood of information leaves
//! room for warnings, these for errors, and all of them for the host. What finds no room is put [over](overflow) the FMU's own older lines
//! of that kind, or is counted as lost. Text that is longer than `MOST` slots is cut (and says so). A producer that is preempted in
//! between delays the consumer, not other producers; after a crash the consumer steps over what was left unwritten.

pub mod kind;
mod line;
mod line_ring;
pub mod overflow;

pub use self::line::{CALL, LONGEST, LogRecord};
pub use self::line_ring::{HEADER, LogRing, SLOTS, WORDS};
