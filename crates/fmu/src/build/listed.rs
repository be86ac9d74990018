//! Sources without a build description, as in FMI 2.0 and 1.0: the files that are compiled, and their languages.
//!
//! FMI 2.0 has a list in the model description (`<SourceFiles>`), which may be empty; FMI 1.0 has none. Without one it is the
//! file that by custom includes all others, else every C file of `sources/`.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::BuildError;
use super::language::SourceLanguage;
use super::sources::{self, BuildConfiguration, SourceFileSet, TranslationUnit};
use vecud_description::InterfaceType;

/// The file with the list, by its path in the FMU.
const FILE: &str = "modelDescription.xml";
/// The version that compilers are told: newer ones make words of C of names that such sources define (`bool`), and take `()` for
/// no arguments.
const C: SourceLanguage = SourceLanguage { cpp: false, version: Some("11") };

/// The configuration that builds the library of `interface` from the folder `sources`. `whole`: the names of files that
/// include all others, the likeliest first.
pub(super) fn configuration(
    sources: &Path,
    interface: &InterfaceType,
    whole: &[String],
) -> Result<BuildConfiguration, BuildError> {
    let mut files = listed(interface)?;
    if files.is_empty() {
        files = found(sources, whole)?;
    }
    let (cpp, c): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| SourceLanguage::of_file(&file.path).cpp);
    let of_language = |language, sources| SourceFileSet {
        language,
        compiler: None,
        options: Vec::new(),
        sources,
        definitions: Vec::new(),
        // Before ours, so that the FMU's own copies of FMI's headers are all of one make.
        includes: vec![PathBuf::from("sources")],
    };
    let sets = [of_language(Some(C), c), of_language(None, cpp)];
    Ok(BuildConfiguration {
        described_in: FILE,
        platform: None,
        sets: sets.into_iter().filter(|set| !set.sources.is_empty()).collect(),
        libraries: Vec::new(),
    })
}

/// The files that the model description lists, without headers.
fn listed(interface: &InterfaceType) -> Result<Vec<TranslationUnit>, BuildError> {
    let is_header =
        |path: &Path| path.extension().is_some_and(|end| ["h", "hh", "hpp", "hxx"].iter().any(|h| end == *h));
    let mut files = Vec::new();
    for file in &interface.source_files {
        let at = Some(file.at);
        let path = sources::inside(&file.name).map_err(|detail| BuildError::Description { file: FILE, at, detail })?;
        if !is_header(&path) {
            files.push(TranslationUnit { path, at });
        }
    }
    Ok(files)
}

/// The files in the folder: the first of `whole` that is there, else every C file.
fn found(sources: &Path, whole: &[String]) -> Result<Vec<TranslationUnit>, BuildError> {
    let file = |name: &str| TranslationUnit { path: Path::new("sources").join(name), at: None };
    if let Some(name) = whole.iter().find(|name| sources.join(name).is_file()) {
        return Ok(vec![file(name)]);
    }
    let failed = |source| BuildError::File { path: sources.to_path_buf(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(sources).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        // A name that is no UTF-8 is none that a tool for FMUs has written.
        let name = path.file_name().and_then(|name| name.to_str());
        names.extend(name.filter(|_| path.extension().is_some_and(|end| end == "c") && path.is_file()).map(file));
    }
    names.sort_by(|a, b| a.path.cmp(&b.path));
    match names.is_empty() {
        true => Err(BuildError::NoSources),
        false => Ok(names),
    }
}
