//! The files that decide what a build gives, for the key under which its library is kept.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::BuildError;
use crate::cache::CacheKey;
use vecud_linux::files;

/// Bounds for trees that the user's own links make endless.
const MOST_FILES: usize = 100_000;
const DEEPEST: usize = 64;

/// Adds to `key` every file in the folders (and single files) `roots`, by its path relative to `base` and its content.
pub(super) fn add_files(key: &mut CacheKey, base: &Path, roots: &BTreeSet<PathBuf>) -> Result<(), BuildError> {
    for path in files(roots)? {
        let failed = |source| file_error(&path, source);
        let name = path.strip_prefix(base).unwrap_or(&path);
        key.add("file", name.as_os_str().as_encoded_bytes());
        let file = files::open(&path).map_err(failed)?;
        key.add_content(file).map_err(failed)?;
    }
    Ok(())
}

/// Every regular file in the folders (and single files) `roots`, links followed.
pub(super) fn files(roots: &BTreeSet<PathBuf>) -> Result<BTreeSet<PathBuf>, BuildError> {
    let mut files = BTreeSet::new();
    for root in roots {
        collect(root, 0, &mut files)?;
    }
    Ok(files)
}

/// The regular files in `path`, links followed.
fn collect(path: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) -> Result<(), BuildError> {
    let failed = |source| file_error(path, source);
    let kind = match fs::metadata(path) {
        Ok(kind) => kind,
        // A dangling link (an editor's lock file, for one) is no input.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(failed(e)),
    };
    if kind.is_file() {
        files.insert(path.to_path_buf());
        if files.len() > MOST_FILES {
            return Err(failed(io::Error::other("more than 100,000 source files")));
        }
    } else if kind.is_dir() {
        if depth > DEEPEST {
            return Err(failed(io::Error::other("folders are nested too deep; do links form a ring?")));
        }
        for entry in fs::read_dir(path).map_err(failed)? {
            collect(&entry.map_err(failed)?.path(), depth + 1, files)?;
        }
    }
    Ok(())
}

fn file_error(path: &Path, source: io::Error) -> BuildError {
    BuildError::File { path: path.to_path_buf(), source }
}
