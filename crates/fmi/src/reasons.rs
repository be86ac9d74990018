//! Why Event Mode is entered.

/// The reasons for entering Event Mode. Several may come together; inputs that jump are none, for the FMU sees these itself.
///
/// Only the draft of FMI 3.0 hands them over (`fmi3EnterEventMode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasons<'a> {
    /// `stepEvent`: the FMU asked for it when an integrator step was completed.
    pub step_event: bool,
    /// `rootsFound`, one for each event indicator: 1 if it has become positive, -1 if it no longer is, else 0. Empty: it is not known
    /// which.
    pub roots_found: &'a [i32],
    /// `timeEvent`: the time is that of the FMU's next event by its own word.
    pub time_event: bool,
}
