//! An FMU whose files lie in a folder that nobody changes while it is used.

use super::directory::{self, read_error};
use super::error::ArchiveError;
use super::executed::is_executed;
use super::limits::ArchiveLimits;
use super::until::Until;
use super::{copy, unzip};
use crate::build::{self, BuildChoices, BuildError};
use crate::cache::{Cache, CacheKey, plain_path};
use crate::platform;
use rustix::fs::StatVfsMountFlags;
use std::fs;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use vecud_base::places::LineIndex;
use vecud_description::{Abi, InterfaceOffer, InterfaceType, names_file};
use vecud_linux::files;

/// Part of the cache's keys: increased when the same archive would be unpacked differently.
const FORMAT: u32 = 2;
/// Longer descriptions than this (some 500,000 variables) are refused.
const LONGEST_DESCRIPTION: u64 = 256 << 20;

/// An FMU whose files lie in a folder that nobody changes while it is used.
#[derive(Debug, Clone)]
pub struct Unpacked {
    /// The folder that holds `modelDescription.xml`; an absolute path.
    pub root: PathBuf,
    /// The path that the user named.
    pub origin: PathBuf,
}

impl Unpacked {
    /// Opens a `.fmu` file, unpacking it into `cache` unless it is there already, or the folder of an unpacked FMU.
    pub fn open(path: &Path, cache: &Cache) -> Result<Unpacked, ArchiveError> {
        Unpacked::open_within(path, cache, &ArchiveLimits::default())
    }

    fn open_within(path: &Path, cache: &Cache, limits: &ArchiveLimits) -> Result<Unpacked, ArchiveError> {
        let rights = cache.rights();
        let kind = rights.at(path, |way| fs::metadata(way)).map_err(|source| read_error(path, source))?;
        let root = if kind.is_dir() {
            let root = match rights.are_own() {
                true => fs::canonicalize(path).map_err(|source| read_error(path, source))?,
                false => path.to_path_buf(),
            };
            let description = root.join("modelDescription.xml");
            match rights.at(&description, |way| fs::metadata(way)) {
                Ok(found) if found.is_file() && rights.are_own() => root,
                Ok(found) if found.is_file() => copy::copied_folder(path, cache, limits)?,
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(read_error(&description, source));
                }
                _ => return Err(ArchiveError::NoModelDescription { origin: path.to_path_buf(), elsewhere: None }),
            }
        } else if kind.is_file() {
            unpack(path, cache, limits)?
        } else {
            return Err(ArchiveError::NotAFile(path.to_path_buf()));
        };
        Ok(Unpacked { root: utf8_path(root)?, origin: path.to_path_buf() })
    }

    /// The text of `modelDescription.xml`, without a byte-order mark.
    pub fn model_description(&self) -> Result<String, ArchiveError> {
        let path = self.root.join("modelDescription.xml");
        let refuse = |detail: String| ArchiveError::ModelDescription { origin: self.origin.clone(), detail };
        let mut bytes = Vec::new();
        files::open(&path)
            .and_then(|file| file.take(LONGEST_DESCRIPTION + 1).read_to_end(&mut bytes))
            .map_err(|source| read_error(&path, source))?;
        if bytes.len() as u64 > LONGEST_DESCRIPTION {
            return Err(refuse(" longer than 256 MiB, which no FMU needs".into()));
        }
        if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) {
            bytes.drain(..3);
        }
        String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            // What is before the bad byte is good.
            let (line, column) = std::str::from_utf8(good).map_or((1, 1), |good| LineIndex::new(good).of(good.len()));
            let way_out = "convert the file (iconv -f LATIN1 -t UTF-8, if it is that), and its encoding=\"...\"";
            refuse(format!("{line}:{column}: not UTF-8, the encoding that FMI requires; {way_out}"))
        })
    }

    /// The absolute path of the folder that the FMU is unpacked in.
    pub fn folder(&self) -> String {
        // `open` has made sure that the path is UTF-8.
        self.root.to_string_lossy().into_owned()
    }

    /// The absolute path of the FMU's resources with a final `/`, or `None` when it has none.
    pub fn resources(&self) -> Option<String> {
        let folder = self.root.join("resources");
        // `open` has made sure that the path is UTF-8.
        let text = folder.to_str().filter(|_| folder.is_dir())?;
        Some(format!("{text}/"))
    }

    /// Opens the FMU by a path that `is_plain`: through a link if its own path is not.
    ///
    /// # Errors
    /// No link can be made.
    pub fn at_plain_path(&self, is_plain: impl Fn(&Path) -> bool) -> io::Result<Unpacked> {
        Ok(Unpacked { root: plain_path(&self.root, is_plain)?, origin: self.origin.clone() })
    }

    /// [`Unpacked::library_of`] Scheduled Execution in the released dialect.
    pub fn library(&self, model_identifier: &str, cache: &Cache) -> Result<PathBuf, ArchiveError> {
        let common = InterfaceType { model_identifier: model_identifier.to_owned(), ..InterfaceType::default() };
        self.library_of(Abi::Fmi3, &InterfaceOffer::ScheduledExecution(common), &BuildChoices::default(), cache)
    }

    /// The shared library of the interface type `offer` for this machine: the FMU's own binary where it lies, else one that is
    /// built from the FMU's sources, with our headers of its dialect, and kept in `cache`. With definitions to be chosen the
    /// sources come first: a binary is as it is.
    pub fn library_of(
        &self,
        abi: Abi,
        offer: &InterfaceOffer,
        choices: &BuildChoices,
        cache: &Cache,
    ) -> Result<PathBuf, ArchiveError> {
        let library = self.find_library(abi, offer, choices, cache)?;
        // Found out now, with a way out, instead of by the loader, without one.
        if rustix::fs::statvfs(&library).is_ok_and(|disk| disk.f_flag.contains(StatVfsMountFlags::NOEXEC)) {
            let in_cache = library.starts_with(cache.folder());
            return Err(ArchiveError::NoExec { origin: self.origin.clone(), library, in_cache });
        }
        match (library.parent(), library.file_name()) {
            // What was built may lie in a cache with such a path.
            (Some(folder), Some(file)) => Ok(utf8_path(folder.to_path_buf())?.join(file)),
            _ => Ok(library),
        }
    }

    fn find_library(
        &self,
        abi: Abi,
        offer: &InterfaceOffer,
        choices: &BuildChoices,
        cache: &Cache,
    ) -> Result<PathBuf, ArchiveError> {
        let model_identifier = &offer.common().model_identifier;
        if !names_file(model_identifier) {
            return Err(ArchiveError::ModelIdentifier {
                origin: self.origin.clone(),
                identifier: model_identifier.clone(),
            });
        }
        let file = format!("{model_identifier}.so");
        let found = self.platforms()?;
        let ours = found.iter().filter(|tuple| platform::rank(tuple).is_some());
        for tuple in ours.clone().filter(|_| choices.definitions.is_empty()) {
            let library = self.root.join("binaries").join(tuple).join(&file);
            match fs::metadata(&library) {
                Ok(found) if found.is_file() => return Ok(library),
                Err(source) if source.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(read_error(&library, source));
                }
                _ => {}
            }
        }
        let sources = self.root.join("sources");
        if sources.is_dir() {
            return build::build(&sources, abi, offer, choices, cache).map_err(|source| match source.disk_full() {
                true => ArchiveError::DiskFull {
                    origin: self.origin.clone(),
                    cache: cache.folder().to_path_buf(),
                    needed: None,
                },
                false => ArchiveError::Build { origin: self.origin.clone(), source: Box::new(source) },
            });
        }
        if let Some(name) = choices.definitions.keys().next() {
            let detail = "is for FMUs that are built, and this one has no sources".to_owned();
            let source = Box::new(BuildError::Definition { name: name.clone(), detail });
            return Err(ArchiveError::Build { origin: self.origin.clone(), source });
        }
        let others: Result<Vec<Vec<String>>, ArchiveError> = ours.map(|tuple| self.libraries(tuple)).collect();
        let others = others?.concat();
        Err(ArchiveError::NoLibrary { origin: self.origin.clone(), library: file, found, others })
    }

    /// The folders below `binaries`, those of this machine first, best first.
    fn platforms(&self) -> Result<Vec<String>, ArchiveError> {
        let mut names = names_in(&self.root.join("binaries"), |path| path.is_dir())?;
        names.sort_by_cached_key(|name| (platform::rank(name).unwrap_or(usize::MAX), name.clone()));
        Ok(names)
    }

    fn libraries(&self, tuple: &str) -> Result<Vec<String>, ArchiveError> {
        let is_library = |path: &Path| path.extension().is_some_and(|end| end == "so");
        names_in(&self.root.join("binaries").join(tuple), is_library)
    }
}

/// A path to a folder that is UTF-8, as functions of FMI and the plan want it: through a link where the folder's own path is not.
fn utf8_path(folder: PathBuf) -> Result<PathBuf, ArchiveError> {
    plain_path(&folder, |path| path.to_str().is_some()).map_err(|_| ArchiveError::PathNotUtf8(folder))
}

/// Sorted names of the entries of a folder; none if there is no folder.
pub(super) fn names_in(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<String>, ArchiveError> {
    let failed = |source| read_error(folder, source);
    let entries = match fs::read_dir(folder) {
        Err(source) if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        other => other.map_err(failed)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if wanted(&entry.path()) {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The folder of the cache that holds the archive's files.
fn unpack(path: &Path, cache: &Cache, limits: &ArchiveLimits) -> Result<PathBuf, ArchiveError> {
    let failed = |source| read_error(path, source);
    let file = cache.rights().at(path, files::open).map_err(failed)?;
    let before = file.metadata().map_err(failed)?;
    // What is no archive is not read to its end, which may be far away.
    directory::read(&file, path, limits)?;
    (&file).rewind().map_err(failed)?;
    let mut key = CacheKey::new();
    key.add_content(Until { file: &file, stop: cache.stop() }).map_err(|source| match cache.stop().is_asked() {
        true => ArchiveError::Interrupted(path.to_path_buf()),
        false => failed(source),
    })?;
    let name = format!("fmu-v{FORMAT}-{}", key.finish());
    cache.get_or_make(&name, is_executed, |target| {
        unzip::unpack(&file, path, target, cache, limits)?;
        let after = file.metadata().map_err(failed)?;
        let same = (before.len(), before.modified().ok()) == (after.len(), after.modified().ok());
        match same {
            true => Ok(()),
            false => Err(ArchiveError::Changed(path.to_path_buf())),
        }
    })
}
