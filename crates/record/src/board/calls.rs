//! Calls into FMU code that are no activations: by the main thread before and after partitions run, and by the thread that
//! reconfigures instances meanwhile. One word has the FMU and the function.

use super::telemetry_segment::Board;
use super::words::Global;
use std::sync::atomic::Ordering::SeqCst;
use vecud_plan::FmuId;

/// The content of [`Global::OutsideCall`]: in its lowest 16 bits the function, above them a count of calls, in its upper
/// half 1 + the index of the FMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutsideCall {
    /// The instance whose code is being called, or was last; `None`: none's so far.
    pub fmu: Option<FmuId>,
    /// The function, as `vecud_fmi` numbers them, plus one; [`OutsideCall::LOADING`]; [`OutsideCall::UNLOADING`]; 0:
    /// between two calls.
    pub function: u64,
    /// Number of the call: two calls nearly always have different ones.
    pub count: u64,
}

impl OutsideCall {
    /// Instead of a function: its library is being loaded, so its constructors run, and `fmi3GetVersion`.
    pub const LOADING: u64 = 0xFFFF;
    /// Instead of a function: the process ends, so the destructors of all libraries run.
    pub const UNLOADING: u64 = 0xFFFE;

    /// The content of the word beside the function.
    pub fn tag(fmu: FmuId) -> u64 {
        (fmu.0 as u64 + 1) << 32
    }
}

impl Board<'_> {
    /// The present content of the word.
    pub fn outside_call(&self) -> OutsideCall {
        let word = self.global(Global::OutsideCall).load(SeqCst);
        OutsideCall { fmu: self.named_fmu(word >> 32), function: word & 0xFFFF, count: word >> 16 & 0xFFFF }
    }
}
