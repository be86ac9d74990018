//! The master algorithms, by name.

use serde::{Deserialize, Serialize};

/// The algorithm by which a group steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MasterAlgorithm {
    /// All inputs are set from outputs at the beginning of the step; then all slaves step.
    #[default]
    Jacobi,
    /// One slave after the other gets its inputs and steps: a source that stepped before stands at the end of the step already.
    GaussSeidel,
    /// Algorithm 2: all slaves are taken back where one rejects the step, once. Contradicting A1 ends the run.
    Rollback,
    /// Algorithm 3: of each class what it can do. A rollback slave may contradict A1 as long as no legacy slave has stepped: the step is
    /// made shorter once more, and the violation told.
    Predictable,
}

impl MasterAlgorithm {
    /// Their names.
    pub const WORDS: [(&str, MasterAlgorithm); 4] = [
        ("jacobi", MasterAlgorithm::Jacobi),
        ("gauss-seidel", MasterAlgorithm::GaussSeidel),
        ("rollback", MasterAlgorithm::Rollback),
        ("predictable", MasterAlgorithm::Predictable),
    ];

    /// The algorithm's name.
    pub fn word(self) -> &'static str {
        MasterAlgorithm::WORDS.iter().find(|(_, algorithm)| *algorithm == self).map_or("", |(word, _)| word)
    }

    /// Whether slaves are taken back to the beginning of a step.
    pub fn takes_back(self) -> bool {
        matches!(self, MasterAlgorithm::Rollback | MasterAlgorithm::Predictable)
    }
}
