//! What travels on connections and in start values, through the whole program and the test FMU `fmus/all_types`
//! (TF-15; semantics S10, S11).

use crate::program;

mod initial;
mod parts;
mod sizes;
mod torn;
mod types;

use program::Rig;
use std::path::Path;

/// A rig with such FMUs: name, start values, further keys.
pub fn rig(rig: &str, fmus: &[(&str, &str, &str)]) -> Rig {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/all_types");
    fmus.iter().fold(Rig::new(rig), |rig, (name, start, keys)| {
        rig.more(&format!("[fmu.{name}]\npath = '{}'\n{keys}\n[fmu.{name}.start]\n{start}", path.display()))
    })
}

/// The FNV-1a sum that the FMU takes of these values.
pub fn digest<T: AsRef<[u8]>>(values: &[T]) -> u64 {
    let bytes = values.iter().flat_map(|value| value.as_ref().iter().chain(&[0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
