//! Copies in the cache of files that another user has named: read once, with that user's rights. Later changes to the
//! files are not read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::directory::read_error;
use super::error::ArchiveError;
use super::executed::is_executed;
use super::limits::ArchiveLimits;
use super::until::Until;
use crate::cache::{Cache, CacheKey};
use vecud_linux::files;

/// Part of the cache's keys: increased when the same folder would be copied differently.
const FORMAT: u32 = 1;
/// A bound for trees that links make endless.
const DEEPEST: usize = 64;

/// A part of a folder to copy, by its path in it.
enum Part {
    Folder(PathBuf),
    File { path: PathBuf, executable: bool },
}

/// Folder of the cache with a copy of a folder's content; links are followed.
pub(super) fn copied_folder(folder: &Path, cache: &Cache, limits: &ArchiveLimits) -> Result<PathBuf, ArchiveError> {
    let parts = parts(folder, cache, limits)?;
    copied(folder, &parts, cache, limits, is_executed)
}

/// A copy of a file in the cache, under its own name.
pub fn copied_file(file: &Path, cache: &Cache) -> Result<PathBuf, ArchiveError> {
    copied_within(file, cache, &ArchiveLimits::default())
}

fn copied_within(file: &Path, cache: &Cache, limits: &ArchiveLimits) -> Result<PathBuf, ArchiveError> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(ArchiveError::NotAFile(file.to_path_buf()));
    };
    let part = Part::File { path: name.into(), executable: true };
    Ok(copied(folder, &[part], cache, limits, |_| true)?.join(name))
}

fn copied(
    from: &Path,
    parts: &[Part],
    cache: &Cache,
    limits: &ArchiveLimits,
    checked: impl Fn(&str) -> bool,
) -> Result<PathBuf, ArchiveError> {
    let theirs = |path: &Path| cache.rights().at(path, files::open);
    let key = key(from, parts, cache, limits, theirs)?;
    cache.get_or_make(&format!("copy-v{FORMAT}-{key}"), checked, |target| {
        let mut left = limits.total_size;
        for part in parts {
            match part {
                Part::Folder(path) => {
                    let path = target.join(path);
                    fs::create_dir_all(&path).map_err(|source| read_error(&path, source))?;
                }
                Part::File { path, executable } => {
                    let (from, to) = (from.join(path), target.join(path));
                    let file = theirs(&from).map_err(|source| read_error(&from, source))?;
                    let mode = if *executable { 0o755 } else { 0o644 };
                    let made = File::options().write(true).create_new(true).mode(mode).open(&to);
                    made.and_then(|mut made| {
                        io::copy(&mut Bounded { content: until(&file, cache), left: &mut left }, &mut made)
                    })
                    .map_err(|source| failed(&to, source, cache))?;
                }
            }
        }
        // Somebody may have written to it since it was looked at, and the copy counts for all that have this content.
        match self::key(target, parts, cache, limits, files::open)? == key {
            true => Ok(()),
            false => Err(ArchiveError::Changed(from.to_path_buf())),
        }
    })
}

/// A hash of everything that a copy is made of.
fn key(
    from: &Path,
    parts: &[Part],
    cache: &Cache,
    limits: &ArchiveLimits,
    open: impl Fn(&Path) -> io::Result<File>,
) -> Result<String, ArchiveError> {
    let (mut key, mut left) = (CacheKey::new(), limits.total_size);
    for part in parts {
        match part {
            Part::Folder(path) => key.add("folder", path.as_os_str().as_encoded_bytes()),
            Part::File { path, executable } => {
                key.add("file", path.as_os_str().as_encoded_bytes());
                key.add("executable", [u8::from(*executable)]);
                let path = from.join(path);
                let file = open(&path).map_err(|source| read_error(&path, source))?;
                let content = Bounded { content: until(&file, cache), left: &mut left };
                key.add_content(content).map_err(|source| failed(&path, source, cache))?;
            }
        }
    }
    Ok(key.finish())
}

fn until<'a>(file: &'a File, cache: &'a Cache) -> Until<'a> {
    Until { file, stop: cache.stop() }
}

/// A file; all files together may have no more than `left` bytes, since they may have grown since they were measured.
struct Bounded<'a> {
    content: Until<'a>,
    left: &'a mut u64,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.content.read(buffer)?;
        let left = self.left.checked_sub(got as u64);
        *self.left = left.ok_or_else(|| io::Error::other("more bytes than an FMU may have"))?;
        Ok(got)
    }
}

fn failed(path: &Path, source: io::Error, cache: &Cache) -> ArchiveError {
    match cache.stop().is_asked() {
        true => ArchiveError::Interrupted(path.to_path_buf()),
        false => read_error(path, source),
    }
}

/// The folders and files in a folder, each folder before what is in it.
fn parts(folder: &Path, cache: &Cache, limits: &ArchiveLimits) -> Result<Vec<Part>, ArchiveError> {
    let (mut parts, mut bytes, mut open) = (Vec::new(), 0_u64, vec![(PathBuf::new(), 0)]);
    while let Some((inner, depth)) = open.pop() {
        let path = folder.join(&inner);
        let refuse = |source| read_error(&path, source);
        let names = |way: &Path| fs::read_dir(way)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>();
        let mut names = cache.rights().at(&path, names).map_err(refuse)?;
        names.sort();
        for name in names {
            let (path, inner) = (path.join(&name), inner.join(&name));
            let found = match cache.rights().at(&path, |way| fs::metadata(way)) {
                // A dangling link (an editor's lock file, for one) is no part of it.
                Err(source) if source.kind() == io::ErrorKind::NotFound => continue,
                found => found.map_err(|source| read_error(&path, source))?,
            };
            if found.is_dir() && depth < DEEPEST {
                parts.push(Part::Folder(inner.clone()));
                open.push((inner, depth + 1));
            } else if found.is_file() {
                bytes = bytes.saturating_add(found.len());
                parts.push(Part::File { path: inner, executable: found.permissions().mode() & 0o111 != 0 });
            }
            if bytes > limits.total_size {
                let (archive, limit) = (folder.to_path_buf(), limits.total_size);
                return Err(ArchiveError::TooLarge { archive, size: bytes, limit });
            }
            if parts.len() > limits.entries || depth >= DEEPEST {
                let words = "more files than FMUs may have, or folders that are nested too deep; do links form a ring?";
                return Err(read_error(&path, io::Error::other(words)));
            }
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that says it has 8 EiB, and has none of them, would be read for years.
    #[test]
    fn a_file_that_is_longer_than_an_fmu_may_be_is_refused_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, file) = (Cache::at(folder.path().join("cache")), folder.path().join("long.so"));
        let limits = ArchiveLimits { total_size: 1 << 20, ..ArchiveLimits::default() };
        File::create(&file).unwrap().set_len(limits.total_size).unwrap();
        assert!(copied_within(&file, &cache, &limits).is_ok());
        File::create(&file).unwrap().set_len(1 << 40).unwrap();
        let error = copied_within(&file, &cache, &limits).unwrap_err().to_string();
        assert!(error.contains("long.so") && error.contains("more bytes than an FMU may have"), "{error}");
        let names = fs::read_dir(folder.path().join("cache")).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with(".tmp")));
    }
}
