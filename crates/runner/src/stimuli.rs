//! Stimuli where partitions run: the values that activations get of them, their ticks, and how far they are read.
//!
//! In virtual time the run waits for the file; in real time an activation that comes before its row is there takes the
//! newest one and is counted. When a file cannot be read any more, the run ends at the first activation that would have
//! needed what is missing, in both modes.

mod between_steps;
mod column;
mod progress;
mod stimulated;
mod ticks;
mod virtual_time;

pub use between_steps::StepFeed;
pub use progress::{has_broken, set_floor, ticks_known_until};
pub use stimulated::Stimulated;
pub use ticks::{Fed, TickFeed};
pub use virtual_time::VirtualStimuli;
