//! What an endpoint has to do for the receiver.

use super::intake::Intake;
use crate::run_state::RunState;
use std::ops::RangeFrom;
use std::os::fd::BorrowedFd;
use std::time::Duration;
use vecud_base::time::Nanos;
use vecud_plan::schedule::ClockOffset;
use vecud_plan::{EndpointPlan, Plan};

/// A source of items. It is made before the run, where it may allocate; nothing else of it allocates, waits or takes a lock.
pub trait Endpoint: Send {
    /// What can be read once there is something to [take](Endpoint::take); `None`: nothing can, and the time that `take` returns says when
    /// to look.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Hands what has come to `intake`, item by item. `Some`: there may be more, to be looked at after this time.
    fn take(&mut self, look: &Look, intake: &mut Intake) -> Option<Duration>;

    /// How many items were lost before they could be taken, modulo 2^32.
    fn lost(&self) -> u32 {
        0
    }
}

/// One look of the receiver at an endpoint.
pub struct Look<'a> {
    /// The run.
    pub run: &'a RunState,
    /// From the kernel's stamps to the wall clock of the run.
    pub offset: ClockOffset,
    /// An end of the run came then: all that came before it is wanted, and nothing after it.
    pub end: Option<Nanos>,
}

/// Opens an endpoint of a plan: an [`OpenEndpoint`](vecud_plan::OpenEndpoint) for each kind.
pub struct Opener<'a> {
    /// The endpoint.
    pub own: &'a EndpointPlan,
    /// The plan.
    pub plan: &'a Plan,
    /// The sockets that the supervisor has made for the further endpoints, in the order of the plan.
    pub sockets: &'a mut RangeFrom<i32>,
}

/// Result of opening an endpoint.
pub type Opened = Result<Box<dyn Endpoint>, String>;
