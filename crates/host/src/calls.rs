//! Calls that do not return (semantics S14): a message every ten seconds, and the end after the rig's `call_timeout`.
//!
//! Covers every call that is no activation in real time, and a runner stopped by a signal. Only time that the
//! supervisor was running counts, and none while a debugger holds the runner.

use vecud_fmi::Function;
use vecud_linux::process::{ProcessState, standing, standing_of_threads};
use vecud_plan::{FmuId, Mode, Plan, UnitId};
use vecud_record::board::{Board, OutsideCall, Phase, TaskWord};

/// Interval between two checks, ns.
const LOOK: i64 = 100_000_000;
/// A longer gap between two checks does not count: the supervisor itself was stopped, ns.
const SEEN: i64 = 1_000_000_000;
/// Interval between two messages about one call, ns.
const TOLD: i64 = 10_000_000_000;

/// Present place of the runner's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallLocation {
    /// The FMU is in a call that is no activation; the function as in [`OutsideCall`].
    Outside {
        /// FMU whose code is called; `None` if it may be one of several.
        fmu: Option<FmuId>,
        /// 1 + the function, or a special value of [`OutsideCall`].
        function: u64,
    },
    /// The FMU is in an activation in virtual time.
    Activation(UnitId),
    /// Stopped by a signal.
    Stopped,
}

/// Identity of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    place: CallLocation,
    mark: [u64; 5],
}

/// Consequence of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallAction {
    /// A call has lasted for this many seconds: report it.
    Tell(CallLocation, i64),
    /// A call has lasted for longer than the rig allows.
    Over(CallLocation),
}

/// Watches the runner's calls.
#[derive(Debug)]
pub struct CallWatcher {
    /// Time limit of a call, ns; `None`: none.
    limit: Option<i64>,
    looked: Option<i64>,
    call: Option<Call>,
    /// Duration of the present call, ns.
    lasted: i64,
}

impl CallWatcher {
    /// Watches calls from a state before the first check.
    pub fn new(plan: &Plan) -> CallWatcher {
        CallWatcher { limit: plan.call_timeout.map(|limit| limit.0), looked: None, call: None, lasted: 0 }
    }

    /// Checks the runner, process `pid`, in this phase, at the time `now` (CLOCK_MONOTONIC, ns).
    pub fn look(&mut self, plan: &Plan, board: Board, phase: Phase, pid: u32, now: i64) -> Option<CallAction> {
        if self.looked.is_some_and(|looked| now - looked < LOOK) {
            return None;
        }
        // In virtual time FMU code has a thread beside the main one.
        let standing = match plan.mode {
            Mode::RealTime => standing(pid),
            Mode::Virtual => standing_of_threads(pid),
        };
        self.seen(under_way(plan, board, phase, standing), standing.traced, now)
    }

    fn seen(&mut self, call: Option<Call>, traced: bool, now: i64) -> Option<CallAction> {
        let passed = self.looked.map_or(0, |looked| (now - looked).clamp(0, SEEN));
        self.looked = Some(now);
        if call != self.call {
            (self.call, self.lasted) = (call, 0);
            return None;
        }
        let place = call?.place;
        if traced {
            return None;
        }
        let before = self.lasted;
        self.lasted += passed;
        if self.limit.is_some_and(|limit| self.lasted >= limit) {
            return Some(CallAction::Over(place));
        }
        let told = self.lasted / TOLD;
        (told > before / TOLD).then_some(CallAction::Tell(place, told * (TOLD / 1_000_000_000)))
    }
}

/// Decodes a word of the board, 1 + the number of a function; `None`: no function.
pub fn function(word: u64) -> Option<Function> {
    word.checked_sub(1).and_then(|number| Function::from_u32(number as u32))
}

/// Whether the runner ends FMUs or itself in this phase. An instance whose initialisation fails is freed while the
/// phase is still that of its failure.
pub fn is_ending(board: Board, phase: Phase) -> bool {
    match phase {
        Phase::Loading | Phase::Initialising => function(board.outside_call().function) == Some(Function::FreeInstance),
        Phase::Running | Phase::Between => false,
        Phase::Stopping | Phase::Done | Phase::Refused => true,
    }
}

fn under_way(plan: &Plan, board: Board, phase: Phase, standing: ProcessState) -> Option<Call> {
    if standing.stopped {
        return Some(Call { place: CallLocation::Stopped, mark: [0; 5] });
    }
    let OutsideCall { fmu, function, count } = board.outside_call();
    if function != 0 && phase != Phase::Between {
        return Some(Call { place: CallLocation::Outside { fmu, function }, mark: [count, 0, 0, 0, 0] });
    }
    if plan.mode != Mode::Virtual {
        return None;
    }
    let unit = (0..plan.units.len()).map(UnitId).find(|unit| board.task(*unit).get(TaskWord::Function) != 0)?;
    let words = [TaskWord::Function, TaskWord::Activations, TaskWord::Time, TaskWord::Time1, TaskWord::Time2];
    Some(Call { place: CallLocation::Activation(unit), mark: words.map(|word| board.task(unit).get(word)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn call(mark: u64) -> Option<Call> {
        Some(Call { place: CallLocation::Stopped, mark: [mark; 5] })
    }

    fn watched(limit: Option<i64>) -> CallWatcher {
        CallWatcher { limit, looked: None, call: None, lasted: 0 }
    }

    /// Verdicts between `from` and `to` seconds, with ten checks per second; each with its second.
    fn told(calls: &mut CallWatcher, call: Option<Call>, traced: bool, from: i64, to: i64) -> Vec<(i64, CallAction)> {
        let instants = (from * 10 + 1..=to * 10).map(|tenth| tenth * LOOK);
        instants.filter_map(|now| Some((now / SECOND, calls.seen(call, traced, now)?))).collect()
    }

    #[test]
    fn a_call_is_told_of_each_ten_seconds_until_its_limit() {
        let mut calls = watched(Some(25 * SECOND));
        assert_eq!(calls.seen(call(1), false, 0), None);
        let (tell, over) =
            (|seconds| CallAction::Tell(CallLocation::Stopped, seconds), CallAction::Over(CallLocation::Stopped));
        assert_eq!(told(&mut calls, call(1), false, 0, 25), [(10, tell(10)), (20, tell(20)), (25, over)]);
    }

    #[test]
    fn another_call_begins_anew_and_no_call_takes_no_time() {
        let mut calls = watched(Some(5 * SECOND));
        for round in 0..10 {
            assert_eq!(told(&mut calls, call(round as u64), false, 4 * round, 4 * round + 4), []);
        }
        assert_eq!(told(&mut calls, None, false, 40, 100), []);
    }

    #[test]
    fn time_that_was_not_seen_to_pass_does_not_count() {
        let mut calls = watched(Some(5 * SECOND));
        assert_eq!(calls.seen(call(1), false, 0), None);
        assert_eq!(calls.seen(call(1), false, 1000 * SECOND), None, "the supervisor was stopped");
        assert_eq!(told(&mut calls, call(1), true, 1000, 2000), [], "a debugger has the runner");
        assert_eq!(told(&mut calls, call(1), false, 2000, 2003), []);
        assert_eq!(told(&mut calls, call(1), false, 2003, 2004), [(2004, CallAction::Over(CallLocation::Stopped))]);
    }

    #[test]
    fn without_a_limit_it_is_only_told() {
        let mut calls = watched(None);
        calls.seen(call(1), false, 0);
        assert_eq!(told(&mut calls, call(1), false, 0, 1000).len(), 100);
    }
}
