//! A model without states and event indicators: the thesis's `inc.fmu`.

use super::calls;
use crate::thesis::simulated::{fmu, simulate};

/// It ends at 13, twelve seconds after the start, and is asked for nothing that it does not have.
#[test]
fn a_counter_ends_itself_at_thirteen_by_time_events_alone() {
    let of_fmi_3 =
        ["SetContinuousStates", "GetContinuousStates", "GetContinuousStateDerivatives", "GetEventIndicators"];
    let of_fmi_1 = ["SetContinuousStates", "GetContinuousStates", "GetDerivatives", "GetEventIndicators"];
    for (name, prefix, update, of_states) in
        [("inc", "fmi3", "fmi3UpdateDiscreteStates", of_fmi_3), ("inc_fmi1", "fmi", "fmiEventUpdate", of_fmi_1)]
    {
        for solver in ["auto", "bdf", "rk4"] {
            let simulated = simulate(fmu(name), &["--solver", solver, "--show-stats"]).exits(0);
            let [times, counted] = ["time", "counter"].map(|name| simulated.column(name));
            assert_eq!((times.last(), counted.last()), (Some(&12.0), Some(&13.0)), "{name}, {solver}");
            // In FMI 1.0 the first one is what the initialisation has said.
            let updates = calls(&simulated, update) + u64::from(prefix == "fmi");
            assert_eq!(updates, 13, "{name}, {solver}");
            for function in of_states {
                assert_eq!(calls(&simulated, &format!("{prefix}{function}")), 0, "{name}, {solver}: {function}");
            }
        }
    }
}
