//! The state that the threads of a run share: of the whole run, and of each instance, task and core; and what is done with it by all of
//! them.

mod complete;
mod core_state;
mod dispatch;
mod ending;
mod instance_state;
mod precedence;
mod shared;
mod task_state;

pub use core_state::CoreState;
pub use instance_state::InstanceState;
pub use shared::{Ending, RunState};
pub use task_state::{GRID, TaskState};
