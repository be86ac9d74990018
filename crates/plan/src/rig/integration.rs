//! Keys for the integration of Model Exchange FMUs: `solver`, `internal_step`, `tolerance`, `max_events`.

use super::document::{TableReader, number};
use super::seconds::read_positive;
use super::{At, Place};
use serde::{Deserialize, Serialize};
use toml_edit::Item;
use vecud_base::time::Fraction;

pub(super) const KEYS: [&str; 4] = ["solver", "internal_step", "tolerance", "max_events"];

/// The integration method (semantics S25).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Solver {
    /// Explicit Euler, with a fixed step.
    Euler,
    /// The classical Runge-Kutta method of order 4, with a fixed step.
    Rk4,
    /// Dormand and Prince, orders 5 and 4, for non-stiff systems; adaptive by the tolerance.
    Dopri5,
    /// Backward differentiation, orders 1 to 5, for stiff systems; adaptive by the tolerance.
    Bdf,
    /// [`Solver::Dopri5`] until it finds that the equations are stiff, then [`Solver::Bdf`].
    Auto,
}

impl Solver {
    /// Their names.
    pub const WORDS: [(&str, Solver); 5] = [
        ("euler", Solver::Euler),
        ("rk4", Solver::Rk4),
        ("dopri5", Solver::Dopri5),
        ("bdf", Solver::Bdf),
        ("auto", Solver::Auto),
    ];

    /// The method's name in a rig.
    pub fn word(self) -> &'static str {
        Solver::WORDS.iter().find(|(_, solver)| *solver == self).map_or("", |(word, _)| word)
    }

    /// Whether the number of steps depends on the tolerance, so that it is not known in advance.
    pub fn is_adaptive(self) -> bool {
        matches!(self, Solver::Dopri5 | Solver::Bdf | Solver::Auto)
    }
}

/// Settings for the integration of Model Exchange FMUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Integration {
    /// `solver`.
    pub solver: Option<At<Solver>>,
    /// `internal_step`, s: the step of a solver with a fixed one.
    pub internal_step: Option<At<Fraction>>,
    /// `tolerance`, relative.
    pub tolerance: Option<At<f64>>,
    /// `max_events`: how many events are located within a step.
    pub max_events: Option<At<u32>>,
}

impl Integration {
    /// The first setting that is for Model Exchange alone: its key, and its place.
    pub fn first(&self) -> Option<(&'static str, Place)> {
        let solver = self.solver.as_ref().map(|at| ("solver", at.place));
        let internal_step = self.internal_step.as_ref().map(|at| ("internal_step", at.place));
        let max_events = self.max_events.as_ref().map(|at| ("max_events", at.place));
        solver.or(internal_step).or(max_events)
    }
}

pub(super) fn read(section: &TableReader) -> Integration {
    let solver = section.choice("solver", &Solver::WORDS).zip(section.get("solver"));
    let tolerance = |item: &Item| number(item).filter(|tolerance| (1e-15..1.0).contains(tolerance));
    let count = |item: &Item| item.as_integer().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
    Integration {
        solver: solver.map(|(value, item)| At { value, place: section.place_of(item) }),
        internal_step: read_positive(section, "internal_step"),
        tolerance: section.read("tolerance", "a number from 1e-15 to below 1", tolerance),
        max_events: section.read("max_events", "a number of events from 1 to 4294967295", count),
    }
}
