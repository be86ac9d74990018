//! Errors of an FMU as a set of files. Every message names the file, the place in it, and a remedy.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::build::BuildError;
use crate::cache::CacheError;
use crate::platform;

/// Why an FMU cannot be opened or has no library for this machine.
#[derive(Debug)]
#[non_exhaustive]
pub enum ArchiveError {
    /// A file cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The path is neither a file nor a folder.
    NotAFile(PathBuf),
    /// The file is no ZIP archive at all.
    NotAZip(PathBuf),
    /// The file begins like a ZIP archive and lacks its end.
    Truncated(PathBuf),
    /// The archive's own structure is broken.
    Damaged {
        /// The archive.
        archive: PathBuf,
        /// Description of the damage.
        detail: String,
    },
    /// An entry must not or cannot be unpacked.
    Entry {
        /// The archive.
        archive: PathBuf,
        /// The entry's name.
        entry: String,
        /// Defect of the entry.
        problem: EntryProblem,
    },
    /// There are more files and folders than any FMU has, including folders that only the names of their content show.
    TooManyEntries {
        /// The archive.
        archive: PathBuf,
        /// The largest number that is accepted.
        limit: usize,
    },
    /// Unpacked, the archive would be larger than is accepted.
    TooLarge {
        /// The archive.
        archive: PathBuf,
        /// Bytes when unpacked.
        size: u64,
        /// The largest size that is accepted for an archive of this length.
        limit: u64,
    },
    /// The file changed between being hashed and being unpacked.
    Changed(PathBuf),
    /// Somebody has asked for the end while the archive was being unpacked.
    Interrupted(PathBuf),
    /// There is no space to unpack or build.
    DiskFull {
        /// The FMU.
        origin: PathBuf,
        /// The cache's folder.
        cache: PathBuf,
        /// Bytes that are needed, where known.
        needed: Option<u64>,
    },
    /// There is no `modelDescription.xml`.
    NoModelDescription {
        /// The FMU.
        origin: PathBuf,
        /// Another place that has one.
        elsewhere: Option<String>,
    },
    /// `modelDescription.xml` is no UTF-8 text or too long.
    ModelDescription {
        /// The FMU.
        origin: PathBuf,
        /// The error and its place.
        detail: String,
    },
    /// The path of the FMU's files cannot be handed to C code as UTF-8.
    PathNotUtf8(PathBuf),
    /// A `modelIdentifier` that can be the name of no file.
    ModelIdentifier {
        /// The FMU.
        origin: PathBuf,
        /// The identifier.
        identifier: String,
    },
    /// Neither a binary for this platform nor sources.
    NoLibrary {
        /// The FMU.
        origin: PathBuf,
        /// The library's name.
        library: String,
        /// The folders below `binaries`.
        found: Vec<String>,
        /// Folders of this platform that hold libraries of other names.
        others: Vec<String>,
    },
    /// The library lies on a disk from which no code may run.
    NoExec {
        /// The FMU.
        origin: PathBuf,
        /// The library.
        library: PathBuf,
        /// Whether it is our cache that lies there.
        in_cache: bool,
    },
    /// The cache cannot be used.
    Cache(CacheError),
    /// The sources could not be built.
    Build {
        /// The FMU.
        origin: PathBuf,
        /// Why.
        source: Box<BuildError>,
    },
}

/// Defect of one entry of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages below say what each of them means
pub enum EntryProblem {
    Outside,
    Absolute,
    Backslash,
    DriveLetter,
    Nul,
    ControlCharacter,
    NoName,
    NameTooLong,
    TooDeep { limit: usize },
    Link,
    Special(&'static str),
    Duplicate,
    FileAsFolder,
    Encrypted,
    Method(String),
    TooLarge { size: u64, limit: u64 },
    LargerThanStated { stated: u64 },
    SmallerThanStated { stated: u64, size: u64 },
    Checksum,
    CutOff,
    Overlap,
    Corrupt(String),
}

const MALICIOUS: &str = "the file may be malicious";
const AGAIN: &str = "fetch or export the FMU again";

impl fmt::Display for EntryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use EntryProblem::*;
        match self {
            Outside => write!(f, "points outside of the archive; {MALICIOUS}"),
            Absolute => write!(f, "has an absolute name; {MALICIOUS}"),
            Backslash => write!(
                f,
                "has a backslash in its name, which the ZIP format forbids; export the FMU with `/` as separator"
            ),
            DriveLetter => write!(f, "names a drive; {MALICIOUS}"),
            Nul => write!(f, "has a NUL byte in its name; {MALICIOUS}"),
            ControlCharacter => write!(f, "has a control character in its name; {MALICIOUS}"),
            NoName => write!(f, "is a file without a name; {MALICIOUS}"),
            NameTooLong => write!(f, "has a name that is too long for the file system; {AGAIN} with shorter names"),
            TooDeep { limit } => write!(f, "is a path of more than {limit} names; {MALICIOUS}"),
            Link => write!(f, "is a link, which FMUs must not hold; export the FMU with copies of linked files"),
            Special(kind) => write!(f, "is a {kind}, not a file or folder; {MALICIOUS}"),
            Duplicate => write!(f, "occurs twice, so it is unclear which one counts; {AGAIN}"),
            FileAsFolder => write!(f, "is used as a file and as a folder; {MALICIOUS}"),
            Encrypted => write!(f, "is encrypted; ask for the FMU without a password"),
            Method(method) => write!(
                f,
                "is compressed by {method}; FMUs use deflate, so repack it (unzip, then `zip -r x.fmu *` in its folder)"
            ),
            TooLarge { size, limit } => write!(
                f,
                "is {} when unpacked, and no more than {} are accepted; {MALICIOUS}",
                Bytes(*size),
                Bytes(*limit)
            ),
            LargerThanStated { stated } => {
                write!(f, "holds more than the {} that it states; {MALICIOUS}", Bytes(*stated))
            }
            SmallerThanStated { stated, size } => {
                write!(f, "holds {size} bytes instead of the {stated} that it states; {AGAIN}")
            }
            Checksum => write!(f, "does not match its checksum (CRC-32); {AGAIN}"),
            CutOff => write!(f, "is cut off; {AGAIN}"),
            Overlap => write!(f, "shares its bytes with another entry; {MALICIOUS}"),
            Corrupt(detail) => write!(f, "cannot be unpacked: {detail}; {AGAIN}"),
        }
    }
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ArchiveError::*;
        match self {
            Read { path, source } => write!(f, "{}: {source}", path.display()),
            NotAFile(path) => write!(f, "{}: neither a .fmu file nor a folder", path.display()),
            NotAZip(path) if path.extension().is_some_and(|extension| extension == "toml") => {
                write!(
                    f,
                    "{}: is a rig by its name, and an FMU is wanted here; vecud run and vecud check take rigs",
                    path.display()
                )
            }
            NotAZip(path) => write!(
                f,
                "{}: not an FMU (no ZIP archive); give a .fmu file or the folder of an unpacked FMU",
                path.display()
            ),
            Truncated(path) => {
                write!(f, "{}: the ZIP archive is cut off (its directory is missing); {AGAIN}", path.display())
            }
            Damaged { archive, detail } => {
                write!(f, "{}: the ZIP archive is damaged: {detail}; {AGAIN}", archive.display())
            }
            Entry { archive, entry, problem } => {
                write!(f, "{}: entry {entry:?} {problem}", archive.display())
            }
            TooManyEntries { archive, limit } => {
                write!(f, "{}: more than {limit} files and folders; {MALICIOUS}", archive.display())
            }
            TooLarge { archive, size, limit } => write!(
                f,
                "{}: {} when unpacked, and no more than {} are accepted for its length; {MALICIOUS} (a ZIP bomb); if you \
                 trust it, unpack it yourself and give the folder",
                archive.display(),
                Bytes(*size),
                Bytes(*limit)
            ),
            Interrupted(path) => {
                write!(f, "{}: interrupted while it was being unpacked; nothing of it is kept", path.display())
            }
            Changed(path) => {
                write!(f, "{}: changed while it was being read; try again when it is written", path.display())
            }
            DiskFull { origin, cache, needed } => {
                write!(f, "{}: no space left in {}", origin.display(), cache.display())?;
                if let Some(needed) = needed {
                    write!(f, " ({} needed)", Bytes(*needed))?;
                }
                write!(f, "; free some, or set VECUD_CACHE to a folder on another disk")
            }
            NoModelDescription { origin, elsewhere: None } => write!(
                f,
                "{}: not an FMU (no modelDescription.xml); give a .fmu file, the folder of an unpacked FMU, or a rig file",
                origin.display()
            ),
            NoModelDescription { origin, elsewhere: Some(place) } => write!(
                f,
                "{}: not an FMU (no modelDescription.xml); there is {place:?}, so the folder above was packed: pack its \
                 contents instead",
                origin.display()
            ),
            ModelDescription { origin, detail } => {
                write!(f, "{}:{detail}", origin.join("modelDescription.xml").display())
            }
            PathNotUtf8(path) => write!(
                f,
                "{}: the path is no UTF-8, and no link to it can be made in a temporary folder, so the FMU cannot be told where its resources \
                 are; use another folder",
                path.display()
            ),
            ModelIdentifier { origin, identifier } => write!(
                f,
                "{}: modelIdentifier {identifier:?} cannot be the name of a library's file; the FMU is to be exported again",
                origin.display()
            ),
            NoLibrary { origin, library, found, others } => {
                write!(
                    f,
                    "{}: no {library} for this machine ({})",
                    origin.display(),
                    platform::of_this_machine().join(", ")
                )?;
                if !others.is_empty() {
                    write!(f, "; its platform's folder has {}", others.join(", "))?;
                }
                match found.as_slice() {
                    [] => write!(f, "; the FMU has neither binaries nor sources; ask for one that has"),
                    found => write!(
                        f,
                        "; the FMU has binaries for {} and no sources; ask for one with a binary for this machine or with \
                         sources",
                        found.join(", ")
                    ),
                }
            }
            NoExec { origin, library, in_cache } => {
                let folder = library.parent().unwrap_or(library).display();
                let way_out = match in_cache {
                    true => "set VECUD_CACHE to a folder on another disk",
                    false => "copy the FMU to another one, or pack it (.fmu)",
                };
                write!(
                    f,
                    "{}: its library lies on a disk from which no code may run (mounted noexec): {folder}; {way_out}",
                    origin.display()
                )
            }
            Cache(error) => error.fmt(f),
            Build { origin, source } => write!(f, "{}: {source}", origin.display()),
        }
    }
}

impl ArchiveError {
    /// Whether the FMU exists, and cannot be used for its own fault, not that of the machine.
    pub fn is_of_the_fmu(&self) -> bool {
        match self {
            ArchiveError::Truncated(_)
            | ArchiveError::Damaged { .. }
            | ArchiveError::Entry { .. }
            | ArchiveError::TooManyEntries { .. }
            | ArchiveError::TooLarge { .. }
            | ArchiveError::ModelDescription { .. }
            | ArchiveError::ModelIdentifier { .. }
            | ArchiveError::NoLibrary { .. } => true,
            // What was packed is an FMU, with a folder too many around it.
            ArchiveError::NoModelDescription { elsewhere, .. } => elsewhere.is_some(),
            ArchiveError::Build { source, .. } => source.is_of_the_sources(),
            ArchiveError::Read { .. }
            | ArchiveError::NotAFile(_)
            | ArchiveError::NotAZip(_)
            | ArchiveError::Changed(_)
            | ArchiveError::Interrupted(_)
            | ArchiveError::DiskFull { .. }
            | ArchiveError::PathNotUtf8(_)
            | ArchiveError::NoExec { .. }
            | ArchiveError::Cache(_) => false,
        }
    }
}

impl std::error::Error for ArchiveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ArchiveError::Read { source, .. } => Some(source),
            ArchiveError::Cache(error) => Some(error),
            ArchiveError::Build { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}

impl From<CacheError> for ArchiveError {
    fn from(error: CacheError) -> ArchiveError {
        ArchiveError::Cache(error)
    }
}

/// A size as people write it.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
        if self.0 < 1024 {
            return write!(f, "{} bytes", self.0);
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        let text = format!("{value:.1}");
        write!(f, "{} {}", text.strip_suffix(".0").unwrap_or(&text), UNITS[unit])
    }
}
