//! Why the cache cannot be used.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// The cache's own folder cannot be used.
#[derive(Debug)]
pub struct CacheError {
    /// The folder or file that failed.
    pub path: PathBuf,
    pub(super) doing: &'static str,
    pub(super) source: io::Error,
}

impl CacheError {
    pub(crate) fn new(doing: &'static str, path: &Path, source: io::Error) -> CacheError {
        CacheError { path: path.to_path_buf(), doing, source }
    }
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CacheError { path, doing, source } = self;
        write!(f, "{}: {doing}: {source}; set VECUD_CACHE to a folder that you may write to", path.display())
    }
}

impl std::error::Error for CacheError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
