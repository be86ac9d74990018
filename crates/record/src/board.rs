//! The layout of the shared memory: both processes derive it from the plan.
//!
//! Every word has one writer at a time (the thread of its task, or the runner's main thread) unless said otherwise, so
//! plain loads and stores suffice; readers need each word whole, not several words at one instant.

mod call_counts;
mod calls;
pub mod causes;
mod cells;
mod damage;
mod layout;
mod named;
mod next_run;
mod phase;
pub mod promise;
mod stimuli;
mod telemetry_segment;
mod threads;
mod words;

pub use self::call_counts::{CallTimes, FunctionCalls};
pub use self::calls::OutsideCall;
pub use self::cells::{FmuCells, TaskCells};
pub use self::damage::SupervisorView;
pub use self::layout::Layout;
pub use self::phase::Phase;
pub use self::telemetry_segment::Board;
pub use self::threads::ThreadsState;
pub use self::words::{FailedCall, FmuWord, Global, Metric, Pause, Scheduling, TaskWord};
