//! Drives over problems whose solutions are known.

mod adaptive;
mod discard;
mod economy;
mod events;
mod fixed;
mod oracle;
mod problems;
mod properties;
mod stiff;
mod tolerance;

use self::problems::*;
use super::{Drive, Equations, Goal, Indicators, Method, ModelError, Reached, Stopped, WorkBudget, WorkCounts};
