//! The reasons why sources did not become a library. Messages name the place in the FMU and the way out; the caller names the
//! FMU.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::jail::BOUNDS;
use crate::cache::CacheError;

/// Why an FMU's sources could not be built.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// `sources` lacks its `buildDescription.xml`.
    NoBuildDescription,
    /// There is neither a list of the sources nor a C file.
    NoSources,
    /// The build description, `buildDescription.xml` or `modelDescription.xml`, is malformed or asks for something impossible.
    Description {
        /// The file, by its path in the FMU.
        file: &'static str,
        /// Line and column, where the finding has a place.
        at: Option<(u32, u32)>,
        /// The error.
        detail: String,
    },
    /// A definition that the user chooses is none that the build description leaves open.
    Definition {
        /// The macro.
        name: String,
        /// The error, and the possible values.
        detail: String,
    },
    /// An option of `buildDescription.xml` that is not known to be harmless.
    Option {
        /// Line and column of its source file set.
        at: (u32, u32),
        /// The option.
        option: String,
    },
    /// A file of the FMU or of the build cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
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
        /// Exit status.
        status: String,
        /// Output, cut to a readable length.
        output: String,
        /// Resources withheld from the compiler, if they may be the cause.
        withheld: Option<Withheld>,
    },
    /// The compiler did not come to an end.
    Endless {
        /// The source file, or the library for the linker.
        what: String,
        /// The time limit.
        seconds: u64,
    },
    /// Somebody has asked for the end meanwhile.
    Interrupted {
        /// The source file, or the library for the linker.
        what: String,
    },
    /// The sources changed while they were being compiled.
    Changed,
    /// The cache cannot be used.
    Cache(CacheError),
}

/// Resources withheld from the compiler of an FMU that the user does not trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// Files that belong neither to the FMU nor to the system.
    Files,
    /// More time and memory than compilers get.
    Bounds,
    /// Nothing was kept from it, since the kernel has no means for that. So its words may have content of other files, and are
    /// not shown.
    Words,
}

/// The way out where an FMU wants more than it gets by itself.
const TRUST: &str = "if you trust the FMU, say so in a rig: compiler_options = \"trust\" in its [fmu.NAME]";

impl BuildError {
    /// Whether the sources are at fault, not the machine.
    pub fn is_of_the_sources(&self) -> bool {
        match self {
            BuildError::NoBuildDescription
            | BuildError::NoSources
            | BuildError::Description { .. }
            | BuildError::Option { .. }
            | BuildError::Compiler { .. }
            | BuildError::Endless { .. } => true,
            BuildError::Definition { .. }
            | BuildError::File { .. }
            | BuildError::NoCompiler { .. }
            | BuildError::Interrupted { .. }
            | BuildError::Changed
            | BuildError::Cache(_) => false,
        }
    }

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
            BuildError::NoSources => {
                write!(
                    f,
                    "no binary for this machine, and no C file in sources/ to build one from; ask for an FMU with either"
                )
            }
            BuildError::Description { file, at: Some((line, column)), detail } => {
                write!(f, "{file}:{line}:{column}: {detail}")
            }
            BuildError::Description { file, at: None, detail } => write!(f, "{file}: {detail}"),
            BuildError::Definition { name, detail } => write!(f, "define: {name} {detail}"),
            BuildError::Option { at: (line, column), option } => write!(
                f,
                "sources/buildDescription.xml:{line}:{column}: the compiler does not get the option {option:?}: it is not known \
                 to leave programs and files alone; {TRUST}"
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
            BuildError::Compiler { what, command, status, output, withheld } => {
                write!(f, "{what} does not build ({status}); ")?;
                match (withheld, output.trim_end()) {
                    (Some(Withheld::Words), _) => write!(
                        f,
                        "what the compiler says is not shown, since this kernel cannot keep it from reading files of others \
                         (it has no Landlock); {TRUST}"
                    )?,
                    (_, "") => f.write_str("the compiler says nothing")?,
                    (_, output) => write!(f, "the compiler says:\n{output}")?,
                }
                write!(f, "\ncommand: {command}")?;
                match withheld {
                    Some(Withheld::Files) => {
                        write!(f, "\nit can read files of the FMU and of the system, and no others; {TRUST}")
                    }
                    Some(Withheld::Bounds) => write!(
                        f,
                        "\nit may take {} GiB of memory, write files of {} GiB and compute for {} s; {TRUST}",
                        BOUNDS.memory >> 30,
                        BOUNDS.file_size >> 30,
                        BOUNDS.processor_seconds
                    ),
                    Some(Withheld::Words) | None => Ok(()),
                }
            }
            BuildError::Endless { what, seconds } => {
                write!(f, "{what} does not build: the compiler was ended after {seconds} s; {TRUST}")
            }
            BuildError::Interrupted { what } => {
                write!(f, "interrupted while {what} was being built; nothing of it is kept")
            }
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
