//! Calls that the C interfaces express otherwise, or not at all.

use super::birth::Birth;
use super::c_interface::TextFunction;
use super::functions::{Functions, VersionFunctions};
use super::tables::{DraftFunctions, Fmi3Functions};
use super::{adapter, fmi2};
use crate::types::*;
use vecud_description::{Abi, Interface};
use vecud_linux::prefetch::prefetch;

impl Functions {
    /// The version of FMI.
    pub fn abi(&self) -> Abi {
        match self.own {
            VersionFunctions::Fmi1(_) => Abi::Fmi1,
            VersionFunctions::Fmi2(_) => Abi::Fmi2,
            VersionFunctions::Fmi3(_) => Abi::Fmi3,
            VersionFunctions::Draft(_) => Abi::Draft,
        }
    }

    /// The functions of FMI 3.0 alone, of an FMU that speaks it.
    #[inline]
    pub fn fmi3(&self) -> Option<&Fmi3Functions> {
        if let VersionFunctions::Fmi3(own) = &self.own { Some(own) } else { None }
    }

    /// The functions of the draft alone, of an FMU that speaks it.
    #[inline]
    pub fn draft(&self) -> Option<&DraftFunctions> {
        if let VersionFunctions::Draft(own) = &self.own { Some(own) } else { None }
    }

    /// Whether adapters stand between a call and the FMU: only these answer [`NOT_CALLED`] and are believed.
    pub(crate) fn adapts(&self) -> bool {
        matches!(self.own, VersionFunctions::Fmi1(_) | VersionFunctions::Fmi2(_))
    }

    /// Makes an instance, or NULL.
    ///
    /// # Safety
    /// The strings are null or NUL-terminated and live until this returns; the environment lives until the library is
    /// unloaded; no instance of the FMU was fatal.
    pub(crate) unsafe fn instantiate(&self, birth: &Birth) -> RawInstance {
        // SAFETY: this function's contract.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi1(own) => own.instantiate(birth),
                VersionFunctions::Fmi2(own) => own.instantiate(birth),
                VersionFunctions::Fmi3(own) => own.instantiate(birth),
                VersionFunctions::Draft(own) => own.instantiate(birth),
            }
        }
    }

    /// Asks for the longest step of a slave from its present time.
    ///
    /// # Safety
    /// The instance is alive and may be stepped; the place can be written to.
    pub(crate) unsafe fn get_max_step_size(&self, i: RawInstance, size: &mut f64) -> RawStatus {
        match &self.own {
            VersionFunctions::Fmi2(own) => {
                // SAFETY: this function's contract.
                adapter::status(unsafe { (own.get_max_step_size)(fmi2::Component::behind(i).raw, size) })
            }
            VersionFunctions::Fmi1(_) | VersionFunctions::Fmi3(_) | VersionFunctions::Draft(_) => NOT_CALLED,
        }
    }

    /// Activates the model partition of a clock, or of an element of an array clock.
    ///
    /// # Safety
    /// The instance is alive and in Clock Activation Mode, and that partition of it is not active.
    #[inline(always)] // as `visit`
    pub(crate) unsafe fn activate(&self, i: RawInstance, clock: RawReference, element: usize, time: f64) -> RawStatus {
        // SAFETY: this function's contract.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi3(own) => (own.activate_model_partition)(i, clock, time),
                VersionFunctions::Draft(own) => (own.activate_model_partition)(i, clock, element, time),
                VersionFunctions::Fmi1(_) | VersionFunctions::Fmi2(_) => NOT_CALLED,
            }
        }
    }

    /// Reads whether clocks are active: into bytes, or, where there are array clocks, into integers.
    ///
    /// # Safety
    /// The instance is alive, and in a callback or in Event Mode; `bytes` has room for one value of each clock, `integers` for each element.
    #[inline]
    pub(crate) unsafe fn get_clocks(
        &self,
        i: RawInstance,
        clocks: &[RawReference],
        bytes: &mut [RawBool],
        integers: &mut [RawDraftClock],
    ) -> RawStatus {
        let (references, n) = (clocks.as_ptr(), clocks.len());
        // SAFETY: this function's contract; any value of a byte and an integer is fine.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi3(own) => (own.get_clock)(i, references, n, bytes.as_mut_ptr()),
                VersionFunctions::Draft(own) => {
                    (own.get_clock)(i, references, n, integers.as_mut_ptr(), integers.len())
                }
                VersionFunctions::Fmi1(_) | VersionFunctions::Fmi2(_) => NOT_CALLED,
            }
        }
    }

    /// Sets whether clocks are active: from bytes, or, where there are array clocks, from integers. No partition is subactive.
    ///
    /// # Safety
    /// The instance is alive and in Event Mode; `bytes` has a value of each clock, `integers` of each element.
    pub(crate) unsafe fn set_clocks(
        &self,
        i: RawInstance,
        clocks: &[RawReference],
        bytes: &[RawBool],
        integers: &[RawDraftClock],
    ) -> RawStatus {
        let (references, n) = (clocks.as_ptr(), clocks.len());
        // SAFETY: this function's contract; `subactive` may be NULL.
        unsafe {
            match &self.own {
                VersionFunctions::Fmi3(own) => (own.set_clock)(i, references, n, bytes.as_ptr()),
                VersionFunctions::Draft(own) => {
                    (own.set_clock)(i, references, n, integers.as_ptr(), std::ptr::null(), integers.len())
                }
                VersionFunctions::Fmi1(_) | VersionFunctions::Fmi2(_) => NOT_CALLED,
            }
        }
    }

    /// The types of the platform that the FMU must have, and the function that tells its types.
    pub(crate) fn types_platform(&self, interface: Interface) -> Option<(&'static str, TextFunction)> {
        match &self.own {
            VersionFunctions::Fmi1(own) => Some(("standard32", own.types_platform(interface))),
            VersionFunctions::Fmi2(own) => Some(("default", own.get_types_platform)),
            VersionFunctions::Fmi3(_) | VersionFunctions::Draft(_) => None,
        }
    }

    /// Asks for the memory that the calls of activations look at.
    #[inline]
    pub(crate) fn prefetch(&self) {
        let Functions { set_float64, get_float64, own, .. } = self;
        prefetch(set_float64);
        prefetch(get_float64);
        prefetch(own);
    }
}
