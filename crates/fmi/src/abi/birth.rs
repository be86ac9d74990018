//! The arguments of the call that makes an instance.

use crate::interface::MadeFor;
use crate::types::*;

/// The arguments for making an instance.
#[derive(Clone, Copy)]
pub(crate) struct Birth<'a> {
    pub(crate) made_for: &'a MadeFor,
    pub(crate) name: RawString,
    pub(crate) token: RawString,
    /// The resources; null if there are none.
    pub(crate) resources: RawString,
    pub(crate) logging_on: RawBool,
    pub(crate) environment: RawEnvironment,
    pub(crate) lock: PreemptionCallback,
    pub(crate) unlock: PreemptionCallback,
}
