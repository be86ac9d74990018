//! The handle by which the C interface knows a variable.

use serde::{Deserialize, Serialize};

/// A value reference: the handle by which the C interface knows a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ValueReference(pub u32);

impl ValueReference {
    /// The bit that marks references of negated aliases of FMI 1.0; no FMU knows it.
    const NEGATED: u32 = 1 << 31;

    /// The reference of an alias of this variable whose values have the opposite sign; `None`: this reference has the mark already.
    pub fn negated(self) -> Option<ValueReference> {
        (self.0 & Self::NEGATED == 0).then_some(ValueReference(self.0 | Self::NEGATED))
    }

    /// Whether this reference, of FMI 1.0, stands for values with the opposite sign of those that the FMU gives and takes.
    pub fn is_negated(self) -> bool {
        self.0 & Self::NEGATED != 0
    }

    /// The reference by which an FMU of FMI 1.0 knows the variable.
    pub fn of_fmu(self) -> ValueReference {
        ValueReference(self.0 & !Self::NEGATED)
    }
}
