//! The arguments of the call that makes an instance.

use crate::interface::MadeFor;
use crate::types::*;

/// What an instance is made with.
#[derive(Clone, Copy)]
pub(crate) struct Birth<'a> {
    pub(crate) made_for: &'a MadeFor,
    pub(crate) name: RawString,
    pub(crate) token: RawString,
    /// Null when there are none.
    pub(crate) resources: RawString,
    pub(crate) logging_on: RawBool,
    pub(crate) environment: RawEnvironment,
    pub(crate) lock: PreemptionCallback,
    pub(crate) unlock: PreemptionCallback,
}
