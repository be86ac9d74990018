//! Measures which share of an activation the FMU computes.

/// Measures the time in which the FMU computes. `()` measures nothing, at no cost: virtual time.
pub trait Meter {
    /// All inputs are set; the FMU computes from now on.
    fn enter(&mut self);
    /// The FMU has computed; outputs are read from now on.
    fn leave(&mut self);
}

impl Meter for () {
    #[inline]
    fn enter(&mut self) {}
    #[inline]
    fn leave(&mut self) {}
}
