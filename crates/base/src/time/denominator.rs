//! Denominators: their limit, and the common one of two.

/// The largest denominator that is kept exactly.
pub(super) const DENOMINATOR_LIMIT: u64 = 1 << 63;
/// The resolution to which finer instants are rounded: attoseconds.
pub(super) const ATTO: u64 = 1_000_000_000_000_000_000;

/// The binary algorithm: it runs for every interval that an FMU gives, and divisions are slow.
pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    if a == 0 || b == 0 {
        return (a | b).max(1);
    }
    let twos = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        (a, b) = (a.min(b), a.abs_diff(b));
    }
    a << twos
}
