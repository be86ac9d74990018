//! Libraries of the FMUs that benchmarks run, built from `bench/NAME/NAME.c`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds it in this folder.
#[allow(dead_code)] // not every program has one without variants
pub fn build(folder: &Path, name: &str) -> Result<PathBuf, String> {
    variant(folder, name, "PLAIN")
}

/// Builds it in this folder as the variant that this macro names.
pub fn variant(folder: &Path, name: &str, variant: &str) -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (base, library) = (here.join("fmus/mixer/sources"), folder.join(format!("{name}-{variant}.so")));
    let built = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-D_GNU_SOURCE", &format!("-D{variant}"), "-I"])
        .arg(&base)
        .arg("-I")
        .arg(here.join("crates/fmu/src/headers"))
        .arg(here.join(format!("bench/{name}/{name}.c")))
        .arg(base.join("fmi3_base.c"))
        .arg("-o")
        .arg(&library)
        .status();
    match built {
        Ok(status) if status.success() => Ok(library),
        Ok(status) => Err(format!("cc: {status}")),
        Err(error) => Err(format!("cc: {error}")),
    }
}
