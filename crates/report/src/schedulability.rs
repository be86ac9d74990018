//! The parts of a clock's record from which worst responses are computed, and the computed one; `report.json` has them in this
//! form.

use super::format::short_duration;
use serde::{Deserialize, Serialize};
use vecud_plan::schedulability::verdict::Basis;

/// Figures of a clock, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Schedulability {
    /// The longest locked section of the clock, those in the host's callbacks included.
    pub longest_lock: u64,
    /// The shortest time between two releases of a clock that is not periodic; `None`: there were no two.
    pub shortest_interval: Option<u64>,
    /// The worst response by computation; `None`: it is not known, or there is none.
    pub predicted_response: Option<u64>,
    /// Source of the figures for the computation.
    pub predicted_from: Option<PredictedFrom>,
}

/// The origin of the figures of a computed response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PredictedFrom {
    /// The rig gives all figures.
    Rig,
    /// The figures are the worst that this run has measured.
    Run,
    /// The rig gives some, the others were measured.
    Both,
}

impl From<Basis> for PredictedFrom {
    fn from(basis: Basis) -> PredictedFrom {
        match basis {
            Basis::Rig => PredictedFrom::Rig,
            Basis::Run => PredictedFrom::Run,
            Basis::Both => PredictedFrom::Both,
        }
    }
}

impl Schedulability {
    /// The worst response by computation, for people.
    pub(super) fn words(&self) -> Option<String> {
        let from = match self.predicted_from? {
            PredictedFrom::Rig => "from the rig’s figures",
            PredictedFrom::Run => "from the worst that was measured of all",
            PredictedFrom::Both => "from the rig’s figures and, where it has none, the worst that was measured",
        };
        let response = short_duration(self.predicted_response?);
        Some(format!("worst response by computation {response}, {from}"))
    }
}
