//! The floating-point control words under which FMU code starts, and Rust code runs.
//!
//! A library built with `-ffast-math` sets flush-to-zero for the thread that loads it and so for every thread that this
//! one makes later; FMU code may change the rounding. Results would then depend on who ran before. So our own code always
//! runs under the defaults: they are established when a thread begins to serve FMU code, after a library was loaded, after
//! each call into an FMU and when FMU code calls back. Each call therefore starts from them.
//!
//! On x86-64 reading the SSE word takes 5 ns on current AMD processors and writing what it has already nothing that could be
//! measured, so around calls it is [written](establish_defaults); callbacks, which have to give FMU code its own word back,
//! [read](default_fp_control) it.

/// Control words, without the sticky exception flags; what they mean is the processor's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlWords(u64);

/// Sets the default control words. Exception *flags* are cleared where that costs nothing.
#[inline]
pub fn establish_defaults() {
    imp::establish();
}

/// Sets the default control words; returns those found when they were others. Exception *flags* are left alone.
#[inline]
pub fn default_fp_control() -> Option<ControlWords> {
    let found = imp::read();
    if found == imp::DEFAULT {
        return None;
    }
    imp::write(imp::DEFAULT);
    Some(ControlWords(found))
}

/// Puts back what [`default_fp_control`] returned.
#[inline]
pub fn restore(found: Option<ControlWords>) {
    if let Some(control) = found {
        imp::write(control.0);
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod imp {
    use std::arch::asm;
    use std::mem::MaybeUninit;

    /// MXCSR: all exceptions masked, round to nearest, neither flush-to-zero nor denormals-are-zero. The upper half is
    /// the x87 word: all exceptions masked, 64 bits of mantissa, round to nearest.
    pub(super) const DEFAULT: u64 = 0x037f << 32 | 0x1f80;
    static MXCSR: u32 = DEFAULT as u32;
    /// The six flags in MXCSR that record exceptions: set by nearly every calculation, of no influence on any.
    const FLAGS: u32 = 0x3f;

    #[inline]
    fn words() -> (u32, u16) {
        let (mut mxcsr, mut x87) = (0_u32, 0_u16);
        // SAFETY: both instructions store the control word to the place that they are given, 4 and 2 bytes, which are
        // locals of that size; SSE and x87 are part of x86-64.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags));
            asm!("fnstcw word ptr [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags));
        }
        (mxcsr, x87)
    }

    #[inline]
    pub(super) fn establish() {
        let mut x87 = MaybeUninit::<u16>::uninit();
        // SAFETY: the first loads the four bytes of a static, the word that the compiler assumes; the second stores two bytes
        // to a local of that size, which is initialised by that.
        let x87 = unsafe {
            asm!("ldmxcsr dword ptr [rip + {}]", sym MXCSR, options(nostack, preserves_flags, readonly));
            asm!("fnstcw word ptr [{}]", in(reg) x87.as_mut_ptr(), options(nostack, preserves_flags));
            x87.assume_init()
        };
        if x87 != (DEFAULT >> 32) as u16 {
            write(DEFAULT);
        }
    }

    #[inline]
    pub(super) fn read() -> u64 {
        let (mxcsr, x87) = words();
        u64::from(x87) << 32 | u64::from(mxcsr & !FLAGS)
    }

    #[cold]
    pub(super) fn write(control: u64) {
        let mxcsr = (control as u32 & !FLAGS) | (words().0 & FLAGS);
        let x87 = (control >> 32) as u16;
        // The compiler assumes the default words, and they are in effect whenever Rust code runs: others are put back only on
        // the way into the FMU code that had set them.
        //
        // SAFETY: both load from locals of the right size. No reserved bit is set, for the bits come from the registers or
        // from DEFAULT; a pending x87 exception cannot fire, since FMU code that unmasks one answers for it.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack, preserves_flags, readonly));
            asm!("fldcw word ptr [{}]", in(reg) &raw const x87, options(nostack, preserves_flags, readonly));
        }
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod imp {
    use std::arch::asm;

    /// FPCR as the architecture and Linux start with. It holds no flags; those are in FPSR.
    pub(super) const DEFAULT: u64 = 0;

    #[inline]
    pub(super) fn establish() {
        if read() != DEFAULT {
            write(DEFAULT);
        }
    }

    #[inline]
    pub(super) fn read() -> u64 {
        let word: u64;
        // SAFETY: reads a register that user code may read; no memory.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    #[cold]
    pub(super) fn write(control: u64) {
        // SAFETY: FPCR is user-writable; the value is the default or one read from it, see the x86-64 version.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nostack, preserves_flags)) };
    }
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod imp {
    pub(super) const DEFAULT: u64 = 0;
    pub(super) fn read() -> u64 {
        DEFAULT
    }
    pub(super) fn write(_: u64) {}
    pub(super) fn establish() {}
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    const FLUSH_AND_DOUBLE: u64 = 0x027f << 32 | 0x9fc0 & !0x3f;

    #[test]
    fn flush_to_zero_and_precision_are_replaced_and_can_be_put_back() {
        default_fp_control();
        assert_eq!(default_fp_control(), None);
        imp::write(FLUSH_AND_DOUBLE);
        let found = default_fp_control();
        assert_eq!(found, Some(ControlWords(FLUSH_AND_DOUBLE)));
        assert_eq!(imp::read(), imp::DEFAULT);
        restore(found);
        assert_eq!(imp::read(), FLUSH_AND_DOUBLE);
        imp::write(imp::DEFAULT);
    }

    #[test]
    fn the_defaults_are_established_whatever_was_there() {
        for words in [FLUSH_AND_DOUBLE, 0x0f7f << 32 | 0x1f80, 0x037f << 32 | 0x7f80, 0x037a << 32 | 0x1d00] {
            imp::write(words);
            assert_eq!(imp::read(), words);
            establish_defaults();
            assert_eq!(imp::read(), imp::DEFAULT);
        }
    }

    #[test]
    fn exception_flags_are_no_difference() {
        let inexact = std::hint::black_box(1.0) / std::hint::black_box(3.0);
        assert!(inexact > 0.0);
        default_fp_control();
        assert_eq!(default_fp_control(), None);
    }
}
