//! How FMUs of all shapes get into the program, end to end: source FMUs with several sets, languages and libraries
//!, resources (FD-10), several instances of one FMU (IN-09), several interface types (FD-09),
//! FMUs that cannot be run here (FD-07);
//! values between clocks of different FMUs (CK: clock casts).

mod casts;
mod instances;
mod interfaces;
mod logging;
mod python;
mod resources;
mod sources;

use std::path::{Path, PathBuf};

/// An FMU of this repository.
pub fn ours(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// Copies a folder with everything in it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Replaces text in a file, which must be there.
#[track_caller]
pub fn edit(file: &Path, before: &str, after: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(before), "{} has no {before}", file.display());
    std::fs::write(file, text.replace(before, after)).unwrap();
}

/// Writes a file with its folders.
pub fn write(file: &Path, content: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}
