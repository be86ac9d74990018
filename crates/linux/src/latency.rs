//! Keeps the processor out of deep sleep states while real-time threads wait.

use super::SysError;
use std::fs::{File, OpenOptions};
use std::io::Write;

/// A wish for a wake-up latency of 0 µs, in force until it is dropped.
#[derive(Debug)]
pub struct CpuDmaLatency {
    _open: File,
}

impl CpuDmaLatency {
    const PATH: &str = "/dev/cpu_dma_latency";

    /// Opens `/dev/cpu_dma_latency` and asks for 0 µs.
    pub fn hold() -> Result<Self, SysError> {
        const FIX: &str = "make it writable for the group that runs vecud (udev rule in rt-config/), or run as root; in a \
             container pass the device in; under systemd do not set PrivateDevices";
        let error = |e: std::io::Error| {
            let what = format!("hold {}", Self::PATH);
            SysError::new(what, e.raw_os_error().unwrap_or(0), FIX)
        };
        let mut file = OpenOptions::new().write(true).open(Self::PATH).map_err(error)?;
        file.write_all(&0_i32.to_ne_bytes()).map_err(error)?;
        Ok(CpuDmaLatency { _open: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_or_refused_with_a_fix_as_this_user() {
        match CpuDmaLatency::hold() {
            Ok(held) => drop(held),
            Err(error) => assert!(error.to_string().contains("/dev/cpu_dma_latency"), "{error}"),
        }
    }
}
