//! The floating-point control words, as they are in a fresh process.
//!
//! A library built with `-ffast-math` sets flush-to-zero for the thread that loads it and so for every thread that this
//! one makes later; FMU code may change the rounding. Results would then depend on who ran before. Every FMI call
//! starts with the default words: checking costs a few nanoseconds, writing only happens when something differs.

/// Sets the control words to their defaults, if they are not; true when they were not. Exception *flags* are left alone.
#[inline]
pub fn default_fp_control() -> bool {
    imp::reset()
}

#[cfg(target_arch = "x86_64")]
mod imp {
    use std::arch::asm;

    /// All exceptions masked, round to nearest, neither flush-to-zero nor denormals-are-zero.
    pub(super) const MXCSR: u32 = 0x1f80;
    /// The six flags that record exceptions.
    const MXCSR_FLAGS: u32 = 0x3f;
    /// All exceptions masked, 64 bits of mantissa, round to nearest.
    pub(super) const X87: u16 = 0x037f;

    #[inline]
    pub(super) fn reset() -> bool {
        let (mxcsr, x87) = read();
        let changed = mxcsr & !MXCSR_FLAGS != MXCSR || x87 != X87;
        if changed {
            write(MXCSR | mxcsr & MXCSR_FLAGS, X87);
        }
        changed
    }

    #[inline]
    pub(super) fn read() -> (u32, u16) {
        let (mut mxcsr, mut x87) = (0_u32, 0_u16);
        // SAFETY: both instructions store the control word to the place that they are given, 4 and 2 bytes, which are
        // locals of that size; SSE and x87 are part of x86-64.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags));
            asm!("fnstcw word ptr [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags));
        }
        (mxcsr, x87)
    }

    #[cold]
    pub(super) fn write(mxcsr: u32, x87: u16) {
        // SAFETY: both load from locals of the right size. Rust assumes the default words, which is what callers set
        // here (a test that sets others does no arithmetic until it has set them back). Bits that are reserved in MXCSR
        // are zero, so no fault; a pending x87 exception cannot fire, since all are masked.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack, preserves_flags, readonly));
            asm!("fldcw word ptr [{}]", in(reg) &raw const x87, options(nostack, preserves_flags, readonly));
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod imp {
    use std::arch::asm;

    #[inline]
    pub(super) fn reset() -> bool {
        let control: u64;
        // SAFETY: reads the floating-point control register; no memory.
        unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags)) };
        if control != 0 {
            // SAFETY: zero is the architecture's and Linux's default, which Rust assumes; no memory.
            unsafe { asm!("msr fpcr, {}", in(reg) 0_u64, options(nomem, nostack, preserves_flags)) };
        }
        control != 0
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod imp {
    #[inline]
    pub(super) fn reset() -> bool {
        false
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn flush_to_zero_and_precision_are_put_back() {
        default_fp_control();
        assert!(!default_fp_control());
        imp::write(0x9fc0, 0x027f);
        assert!(default_fp_control());
        assert_eq!(imp::read(), (imp::MXCSR, imp::X87));
    }

    #[test]
    fn exception_flags_are_no_difference_and_survive() {
        imp::write(imp::MXCSR | 0x20, imp::X87);
        assert!(!default_fp_control());
        imp::write(0x9fc0 | 0x20, imp::X87);
        assert!(default_fp_control());
        assert_eq!(imp::read().0, imp::MXCSR | 0x20);
        imp::write(imp::MXCSR, imp::X87);
    }
}
