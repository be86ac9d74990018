//! The input of a library: source files with the conditions under which they are compiled, and libraries.

use std::path::{Component, Path, PathBuf};

use super::language::SourceLanguage;

/// The description of the build of one library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BuildConfiguration {
    /// The file that says so, by its path in the FMU: errors name it.
    pub described_in: &'static str,
    pub platform: Option<String>,
    pub sets: Vec<SourceFileSet>,
    pub libraries: Vec<LinkedLibrary>,
}

/// Files that are compiled alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceFileSet {
    /// `None`: by each file's extension.
    pub language: Option<SourceLanguage>,
    pub compiler: Option<String>,
    pub options: Vec<String>,
    pub sources: Vec<TranslationUnit>,
    /// `NAME` or `NAME=VALUE`.
    pub definitions: Vec<String>,
    pub includes: Vec<PathBuf>,
}

/// A file to compile, and where the file that says so names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TranslationUnit {
    pub path: PathBuf,
    /// Line and column, where it is named.
    pub at: Option<(u32, u32)>,
}

/// A library to link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkedLibrary {
    pub name: String,
    /// Found by the linker; otherwise contained in the FMU's `binaries`.
    pub external: bool,
    pub at: (u32, u32),
}

/// The path in the FMU of the file that FMI names `name`, relative to `sources/`: known not to leave the FMU. An error says why
/// it is none.
pub(super) fn inside(name: &str) -> Result<PathBuf, String> {
    if name.contains('\\') {
        return Err(format!("{name:?} has a backslash; paths are separated by `/`"));
    }
    let mut path = PathBuf::from("sources");
    for part in Path::new(name).components() {
        let stays = match part {
            Component::Normal(part) => {
                path.push(part);
                true
            }
            Component::CurDir => true,
            Component::ParentDir => path.pop(),
            Component::RootDir | Component::Prefix(_) => false,
        };
        if !stays {
            return Err(format!("{name:?} is outside of the FMU; paths are relative to sources/"));
        }
    }
    Ok(path)
}
