//! The floating-point control word under which FMU code starts (and Rust code runs).
//!
//! A library built with `-ffast-math` sets flush-to-zero for the thread that loads it, and every thread made later inherits
//! that, which changes the results of other FMUs. So each call into an FMU starts from the default. Reading the word costs a
//! nanosecond or two, writing several times that, so it is written only when it differs.

/// A control word, without the sticky exception flags.
pub(super) type Control = u64;

/// Round to nearest, no flush to zero, all exceptions masked.
#[cfg(target_arch = "x86_64")]
const DEFAULT: Control = 0x1f80;
#[cfg(not(target_arch = "x86_64"))]
const DEFAULT: Control = 0;

/// Sets the default control word; returns the one found when it was another.
#[inline]
pub(super) fn default_fp_control() -> Option<Control> {
    let found = read();
    if found == DEFAULT {
        return None;
    }
    write(DEFAULT);
    Some(found)
}

/// Puts back what [`default_fp_control`] returned.
#[inline]
pub(super) fn restore(found: Option<Control>) {
    if let Some(control) = found {
        write(control);
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod arch {
    use super::Control;
    use std::arch::asm;

    /// The exception flags in MXCSR: set by nearly every calculation, of no influence on any.
    const FLAGS: u32 = 0x3f;

    fn mxcsr() -> u32 {
        let mut word = 0u32;
        // SAFETY: stmxcsr stores four bytes at the address given, which is that of a live u32.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }

    #[inline]
    pub(super) fn read() -> Control {
        u64::from(mxcsr() & !FLAGS)
    }

    #[inline]
    pub(super) fn write(control: Control) {
        let word = (control as u32 & !FLAGS) | (mxcsr() & FLAGS);
        // SAFETY: ldmxcsr loads four bytes from a live u32; no reserved bit is set, for the bits come from MXCSR or from
        // DEFAULT. The compiler assumes the default word, and it is in effect whenever Rust code is entered from or
        // left for an FMU; a word that differs is put back only on the way into the FMU code that had set it.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags, readonly)) };
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod arch {
    use super::Control;
    use std::arch::asm;

    #[inline]
    pub(super) fn read() -> Control {
        let word: u64;
        // SAFETY: reads a register that user code may read. (FPCR holds no flags; those are in FPSR.)
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    #[inline]
    pub(super) fn write(control: Control) {
        // SAFETY: FPCR is user-writable; the value is the default (0) or one read from it, see the x86-64 version.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nostack, preserves_flags)) };
    }
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod arch {
    pub(super) fn read() -> super::Control {
        super::DEFAULT
    }
    pub(super) fn write(_: super::Control) {}
}

use arch::{read, write};
