//! LIBRARY FMU: packs the library into an FMU.

use fmite::package::{Binary, package};
use std::path::PathBuf;

fn main() -> Result<(), fmite::Error> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [library, fmu] = &arguments[..] else {
        return Err(fmite::Error::new("usage: sampler LIBRARY FMU"));
    };
    package::<sampler::Sampler>(&[Binary::host(library)?], fmu)
}
