//! Why sources did not become a library. Messages name the place in the FMU and the way out; the caller names the FMU.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::fmu::cache::CacheError;

/// Why an FMU's sources could not be built.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// `sources` lacks its `buildDescription.xml`.
    NoBuildDescription,
    /// `buildDescription.xml` is malformed or asks for something impossible.
    Description {
        /// Line and column, where the finding has a place.
        at: Option<(u32, u32)>,
        /// What is wrong.
        detail: String,
    },
    /// A definition that the user chooses is none that the build description leaves open.
    Definition {
        /// The macro.
        name: String,
        /// What is wrong, and what could be chosen.
        detail: String,
    },
    /// An option of `buildDescription.xml` that is not known to be harmless.
    Option {
        /// Line and column of its source file set.
        at: (u32, u32),
        /// The option.
        option: String,
    },
    /// A source includes a file that is neither the FMU's nor a header of the system.
    Outside {
        /// The source, relative to the FMU's root.
        source: PathBuf,
        /// The file.
        file: PathBuf,
    },
    /// A file of the FMU or of the build cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The compiler is not installed.
    NoCompiler {
        /// The command that was tried.
        command: String,
        /// The language that it is for.
        language: &'static str,
    },
    /// The compiler or linker refused.
    Compiler {
        /// The source file, or the library for the linker.
        what: String,
        /// The whole command.
        command: String,
        /// How it ended.
        status: String,
        /// What it said, cut to a readable length.
        output: String,
    },
    /// The sources changed while they were being compiled.
    Changed,
    /// The cache cannot be used.
    Cache(CacheError),
}

/// The way out where an FMU wants more than it gets by itself.
const TRUST: &str = "if you trust the FMU, say so in a rig: compiler_options = \"trust\" in its [fmu.NAME]";

impl BuildError {
    /// Whether the disk being full is the reason.
    pub fn disk_full(&self) -> bool {
        match self {
            BuildError::File { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            BuildError::Compiler { output, .. } => output.contains("No space left on device"),
            _ => false,
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoBuildDescription => write!(
                f,
                "no binary for this machine, and sources/ has no buildDescription.xml that says how to build one; ask for \
                 an FMU with either"
            ),
            BuildError::Description { at: Some((line, column)), detail } => {
                write!(f, "sources/buildDescription.xml:{line}:{column}: {detail}")
            }
            BuildError::Description { at: None, detail } => {
                write!(f, "sources/buildDescription.xml: {detail}")
            }
            BuildError::Definition { name, detail } => write!(f, "define: {name} {detail}"),
            BuildError::Option { at: (line, column), option } => write!(
                f,
                "sources/buildDescription.xml:{line}:{column}: the compiler does not get the option {option:?}: it is not known \
                 to leave programs and files alone; {TRUST}"
            ),
            BuildError::Outside { source, file } => write!(
                f,
                "{} includes {}, which is neither a file of the FMU nor a header of the system; {TRUST}",
                source.display(),
                file.display()
            ),
            BuildError::File { path, source } => write!(f, "{}: {source}", path.display()),
            BuildError::NoCompiler { command, language } => {
                let (debian, fedora, variable) = match *language {
                    "C++" => ("g++", "gcc-c++", "CXX"),
                    _ => ("gcc libc6-dev", "gcc", "CC"),
                };
                write!(
                    f,
                    "its sources need a {language} compiler, and `{command}` is not installed; install one (Debian, \
                     Ubuntu: apt install {debian}; Fedora: dnf install {fedora}), or set {variable} to yours"
                )
            }
            BuildError::Compiler { what, command, status, output } if output.trim().is_empty() => {
                write!(f, "{what} does not build ({status}); the compiler says nothing\ncommand: {command}")
            }
            BuildError::Compiler { what, command, status, output } => write!(
                f,
                "{what} does not build ({status}); the compiler says:\n{}\ncommand: {command}",
                output.trim_end()
            ),
            BuildError::Changed => {
                write!(f, "sources/ changed while being compiled; run again")
            }
            BuildError::Cache(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::File { source, .. } => Some(source),
            BuildError::Cache(error) => Some(error),
            _ => None,
        }
    }
}

impl From<CacheError> for BuildError {
    fn from(error: CacheError) -> BuildError {
        BuildError::Cache(error)
    }
}
