//! ZIP archive → files in an empty folder.
//!
//! Everything that the archive's directory states is checked before the first byte is written; while writing, the bytes
//! that really come out are counted against what was stated. Only plain files and folders are made, with modes of our
//! choice. Nothing is cleaned up here: the folder belongs to the cache, which removes it when this fails.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::directory::{self, damaged, read_error};
use super::error::{ArchiveError, EntryProblem};
use super::limits::ArchiveLimits;
use super::names::{self, EntryKind, TakenPlaces};
use crate::cache::Cache;
use vecud_linux::stop::StopToken;

/// One entry that is to be written.
struct Planned {
    index: usize,
    name: String,
    path: PathBuf,
    kind: EntryKind,
    size: u64,
    executable: bool,
}

/// Unpacks the archive `file`, which the user called `origin`, into the empty folder `target` of the cache `cache`, until that says stop.
pub(super) fn unpack(
    file: &File,
    origin: &Path,
    target: &Path,
    cache: &Cache,
    limits: &ArchiveLimits,
) -> Result<(), ArchiveError> {
    let mut zip = directory::read(file, origin, limits)?;
    let plan = plan(&mut zip, file, origin, limits)?;
    let total = check_totals(&plan, file, origin, limits)?;
    refuse_overlaps(&mut zip, &plan, origin)?;
    let full =
        |needed| ArchiveError::DiskFull { origin: origin.to_path_buf(), cache: cache.folder().to_path_buf(), needed };
    if let Ok(disk) = rustix::fs::statvfs(target)
        && disk.f_bavail.saturating_mul(disk.f_frsize) < total
    {
        return Err(full(Some(total)));
    }
    for entry in &plan {
        write_entry(&mut zip, entry, origin, target, cache.stop()).map_err(|error| match error {
            ArchiveError::Read { source, .. } if is_disk_full(&source) => full(Some(total)),
            other => other,
        })?;
    }
    Ok(())
}

fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Checks every entry as the directory states it.
fn plan<R: Read + Seek>(
    zip: &mut ZipArchive<R>,
    file: &File,
    origin: &Path,
    limits: &ArchiveLimits,
) -> Result<Vec<Planned>, ArchiveError> {
    if zip.has_duplicate_names() {
        let contradicted = directory::contradicted_name(file, zip.central_directory_start());
        if let Some(name) = contradicted.map_err(|source| read_error(origin, source))? {
            return Err(refused(origin, &name, EntryProblem::Duplicate));
        }
    }
    let mut layout = TakenPlaces::default();
    let mut plan = Vec::with_capacity(zip.len());
    for index in 0..zip.len() {
        let entry = zip.by_index_data(index).map_err(|e| damaged(origin, e))?;
        let name = entry.name().map_err(|e| damaged(origin, e))?.into_owned();
        let refuse = |problem| refused(origin, &name, problem);
        let parts = names::components(&name).map_err(refuse)?;
        let mode = entry.unix_mode().unwrap_or(0);
        let kind = kind_of(mode, name.ends_with('/')).map_err(refuse)?;
        let path = layout.add(&parts, kind).map_err(refuse)?;
        if layout.len() > limits.entries {
            return Err(ArchiveError::TooManyEntries { archive: origin.to_path_buf(), limit: limits.entries });
        }
        // Bit 13 hides names and sizes, bit 6 is strong encryption; both come with bit 0.
        if entry.flags().is_encrypted() {
            return Err(refuse(EntryProblem::Encrypted));
        }
        let method = entry.compression();
        if method != CompressionMethod::Stored && method != CompressionMethod::Deflated {
            return Err(refuse(EntryProblem::Method(method.to_string())));
        }
        let size = if kind == EntryKind::File { entry.size() } else { 0 };
        if size > limits.entry_size {
            let limit = limits.entry_size;
            return Err(refuse(EntryProblem::TooLarge { size, limit }));
        }
        plan.push(Planned { index, executable: mode & 0o111 != 0, path, kind, size, name });
    }
    let has = |entry: &Planned, path: &str| entry.kind == EntryKind::File && entry.path == Path::new(path);
    if !plan.iter().any(|entry| has(entry, "modelDescription.xml")) {
        let is_below = |e: &&Planned| e.kind == EntryKind::File && e.path.ends_with("modelDescription.xml");
        return Err(ArchiveError::NoModelDescription {
            origin: origin.to_path_buf(),
            elsewhere: plan.iter().find(is_below).map(|entry| entry.name.clone()),
        });
    }
    Ok(plan)
}

/// File or folder, by the name and by the Unix mode, where there is one.
fn kind_of(mode: u32, named_as_folder: bool) -> Result<EntryKind, EntryProblem> {
    match mode & 0o170_000 {
        0o120_000 => Err(EntryProblem::Link),
        0o020_000 => Err(EntryProblem::Special("character device")),
        0o060_000 => Err(EntryProblem::Special("block device")),
        0o010_000 => Err(EntryProblem::Special("pipe")),
        0o140_000 => Err(EntryProblem::Special("socket")),
        0o040_000 => Ok(EntryKind::Folder),
        0 | 0o100_000 if named_as_folder => Ok(EntryKind::Folder),
        0 | 0o100_000 => Ok(EntryKind::File),
        _ => Err(EntryProblem::Special("file of unknown kind")),
    }
}

/// The sum of the entries' stated sizes, if it is acceptable.
fn check_totals(plan: &[Planned], file: &File, origin: &Path, limits: &ArchiveLimits) -> Result<u64, ArchiveError> {
    let length = file.metadata().map_err(|e| read_error(origin, e))?.len();
    let by_ratio = length.saturating_mul(limits.ratio).max(limits.free_size);
    let limit = by_ratio.min(limits.total_size);
    let total = plan.iter().fold(0u64, |sum, entry| sum.saturating_add(entry.size));
    if total > limit {
        return Err(ArchiveError::TooLarge { archive: origin.to_path_buf(), size: total, limit });
    }
    Ok(total)
}

/// Entries that share bytes are how a small archive gets past limits on the ratio.
fn refuse_overlaps<R: Read + Seek>(
    zip: &mut ZipArchive<R>,
    plan: &[Planned],
    origin: &Path,
) -> Result<(), ArchiveError> {
    let end_of_data = zip.central_directory_start();
    let mut ranges = Vec::with_capacity(plan.len());
    for entry in plan {
        let refuse = |error| entry_error(origin, &entry.name, error);
        let raw = zip.by_index_raw(entry.index).map_err(refuse)?;
        let end = raw.data_start().unwrap_or(0).saturating_add(raw.compressed_size());
        if end > end_of_data {
            return Err(refused(origin, &entry.name, EntryProblem::CutOff));
        }
        ranges.push((raw.header_start(), end, entry));
    }
    ranges.sort_by_key(|(start, end, _)| (*start, *end));
    match ranges.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        Some(pair) => Err(refused(origin, &pair[1].2.name, EntryProblem::Overlap)),
        None => Ok(()),
    }
}

fn write_entry<R: Read + Seek>(
    zip: &mut ZipArchive<R>,
    entry: &Planned,
    origin: &Path,
    target: &Path,
    stop: &StopToken,
) -> Result<(), ArchiveError> {
    if stop.is_asked() {
        return Err(ArchiveError::Interrupted(origin.to_path_buf()));
    }
    let path = target.join(&entry.path);
    let failed = |source| ArchiveError::Read { path: path.clone(), source };
    if entry.kind == EntryKind::Folder {
        return fs::create_dir_all(&path).map_err(failed);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut out = File::options()
        .write(true)
        .create_new(true)
        .mode(if entry.executable { 0o755 } else { 0o644 })
        .open(&path)
        .map_err(failed)?;
    let refuse = |problem| refused(origin, &entry.name, problem);
    let mut data = zip.by_index(entry.index).map_err(|error| entry_error(origin, &entry.name, error))?;
    let mut buffer = vec![0; 64 << 10];
    let mut written = 0u64;
    loop {
        let got = match data.read(&mut buffer) {
            Ok(0) => break,
            Ok(got) => got as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(refuse(read_problem(&error, entry.size, written))),
        };
        if written + got > entry.size {
            return Err(refuse(EntryProblem::LargerThanStated { stated: entry.size }));
        }
        out.write_all(&buffer[..got as usize]).map_err(failed)?;
        written += got;
        if stop.is_asked() {
            return Err(ArchiveError::Interrupted(origin.to_path_buf()));
        }
    }
    if written != entry.size {
        let (stated, size) = (entry.size, written);
        return Err(refuse(EntryProblem::SmallerThanStated { stated, size }));
    }
    Ok(())
}

/// The meaning of a failed read of an entry; the zip crate tells its own findings apart by their words only.
fn read_problem(error: &io::Error, stated: u64, written: u64) -> EntryProblem {
    let words = error.to_string();
    match error.kind() {
        io::ErrorKind::UnexpectedEof => EntryProblem::CutOff,
        _ if words.contains("larger than its declared") => EntryProblem::LargerThanStated { stated },
        _ if words.contains("checksum") && written == stated => EntryProblem::Checksum,
        _ if words.contains("checksum") => EntryProblem::SmallerThanStated { stated, size: written },
        _ => EntryProblem::Corrupt(words),
    }
}

fn entry_error(origin: &Path, name: &str, error: ZipError) -> ArchiveError {
    match error {
        ZipError::Io(e) if e.kind() == io::ErrorKind::UnexpectedEof => refused(origin, name, EntryProblem::CutOff),
        ZipError::Io(source) => read_error(origin, source),
        other => refused(origin, name, EntryProblem::Corrupt(other.to_string())),
    }
}

fn refused(origin: &Path, name: &str, problem: EntryProblem) -> ArchiveError {
    ArchiveError::Entry { archive: origin.to_path_buf(), entry: name.to_owned(), problem }
}
