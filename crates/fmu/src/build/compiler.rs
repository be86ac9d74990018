//! Running the system's compilers: `$CC` or `cc`, `$CXX` or `c++`, or the one that a source file set names.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::error::{BuildError, Withheld};
use super::jail::{self, BOUNDS, Jail};
use super::language::SourceLanguage;
use nix::sys::signal::Signal;
use vecud_linux::process::{self, ResourceLimits};
use vecud_linux::stop::StopToken;

/// Length to which a compiler's output is cut for display, bytes.
const LONGEST_OUTPUT: usize = 8 << 10;
/// Length up to which a compiler's output is read, bytes: it contains the names of all headers that a source includes.
const MOST_WORDS: u64 = 16 << 20;
/// Free disk space below which a failure of a compiler is attributed to the full disk, bytes.
const LEAST_SPACE: u64 = 64 << 10;

/// Wall-clock limit of one compiler: it may wait for ever.
const LONGEST: Duration = Duration::from_secs(1800);
/// Interval between checks for its end.
const LOOK: Duration = Duration::from_millis(1);

/// The working folder of a compiler, and its conditions.
pub(super) struct Workplace<'a> {
    /// A folder for the build, with an empty one in it.
    pub folder: &'a Path,
    /// The compiler's access; `None`: that of this user, without limits.
    pub jail: Option<Jail>,
    /// The compiler is ended as soon as this is requested.
    pub stop: &'a StopToken,
}

/// A compiler's command: program and leading arguments (`CC="ccache gcc"`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compiler {
    command: Vec<OsString>,
    language: &'static str,
}

impl Compiler {
    /// The compiler that `named` asks for, else the system's for `language`.
    pub fn choose(named: Option<&str>, language: SourceLanguage) -> Compiler {
        let (variable, usual) = if language.cpp { ("CXX", "c++") } else { ("CC", "cc") };
        Compiler { command: command(named, std::env::var(variable).ok().as_deref(), usual), language: language.name() }
    }

    /// The compiler's own name, with its version: part of the cache's key.
    pub fn identity(&self, stop: &StopToken) -> Result<Vec<u8>, BuildError> {
        self.answer(&["--version"], false, stop)
    }

    /// The compiler's answer; `err`: on standard error too.
    fn answer(&self, arguments: &[&str], err: bool, stop: &StopToken) -> Result<Vec<u8>, BuildError> {
        let failed = |e| self.not_started(e);
        // In memory: a compiler can be asked where nothing can be written.
        let memory = rustix::fs::memfd_create("vecud-compiler", rustix::fs::MemfdFlags::CLOEXEC);
        let mut words = memory.map(File::from).map_err(|error| failed(error.into()))?;
        let copy = || words.try_clone().map(Stdio::from).map_err(failed);
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::null()).stdout(copy()?);
        command.stderr(if err { copy()? } else { Stdio::null() });
        // A compiler that answers without end is ended by its first byte beyond those that count.
        process::keep_together(&mut command, Some(ResourceLimits { file_size: MOST_WORDS, ..BOUNDS }));
        let child = command.spawn().map_err(failed)?;
        self.wait(child, arguments[0], LONGEST, stop)?;
        let mut bytes = Vec::new();
        words.rewind().and_then(|()| words.take(MOST_WORDS).read_to_end(&mut bytes)).map_err(failed)?;
        Ok(bytes)
    }

    /// The compiler itself, where it is named by its path, and where it searches for its programs, libraries and headers.
    pub fn search_folders(&self, stop: &StopToken) -> Vec<PathBuf> {
        let words = |arguments: &[&str]| {
            // Headers are told on standard error.
            let said = self.answer(arguments, true, stop).unwrap_or_default();
            String::from_utf8_lossy(&said).into_owned()
        };
        let language = self.language.to_ascii_lowercase();
        let headers = ["-x", &language, "-E", "-v", "-o", "/dev/null", "/dev/null"];
        let mut folders = jail::search_folders(&words(&["-print-search-dirs"]));
        folders.extend(jail::header_folders(&words(&headers)));
        folders.extend(self.command.iter().map(PathBuf::from));
        folders
    }

    /// Runs the compiler with `arguments`; `what` is the file that errors are about. Returns the command and the compiler's
    /// words, for the log.
    pub fn run(&self, what: &str, arguments: &[OsString], place: &Workplace) -> Result<String, BuildError> {
        let (work, jail) = (place.folder, place.jail.as_ref());
        let words = work.join("words");
        let failed = |source| BuildError::File { path: words.clone(), source };
        // To a file rather than a pipe: no amount of errors fills the memory.
        let out = File::create(&words).map_err(failed)?;
        let err = out.try_clone().map_err(failed)?;
        let mut command = self.command();
        command.args(arguments).current_dir(work.join("empty")).env("TMPDIR", work);
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        process::keep_together(&mut command, jail.map(|_| BOUNDS));
        // What a jail does to a thread is for good; and a compiler that is kept together ends with the thread that started it.
        let ended = thread::scope(|scope| {
            let guard = || -> Result<_, BuildError> {
                let is_locked = jail.map(Jail::lock_in);
                let child = command.spawn().map_err(|e| self.not_started(e))?;
                let longest = jail.map_or(Duration::MAX, |_| LONGEST);
                Ok((self.wait(child, what, longest, place.stop)?, is_locked))
            };
            let guarded = thread::Builder::new().name("vecud.compiler".to_owned()).spawn_scoped(scope, guard);
            guarded.map_err(|e| self.not_started(e))?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let (status, is_locked) = ended?;
        let (said, cut_off) = head(&words).map_err(failed)?;
        let _ = fs::remove_file(&words);
        let command = self.command.iter().chain(arguments).map(|a| quoted(a)).collect::<Vec<_>>().join(" ");
        if status.success() {
            return Ok(format!("{command}\n{}", shortened(&said, cut_off)));
        }
        // Compilers say so on stderr, and that goes to the same disk: they may have had no space for their words.
        if rustix::fs::statvfs(work).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < LEAST_SPACE) {
            return Err(BuildError::File { path: work.join("words"), source: io::ErrorKind::StorageFull.into() });
        }
        let withheld = withheld(status, &said, is_locked);
        let output = if withheld == Some(Withheld::Words) { String::new() } else { shortened(&said, cut_off) };
        Err(BuildError::Compiler { what: what.to_owned(), command, status: status.to_string(), output, withheld })
    }

    /// Waits for its end, or ends it with all that it has started.
    fn wait(
        &self,
        mut child: Child,
        what: &str,
        longest: Duration,
        stop: &StopToken,
    ) -> Result<ExitStatus, BuildError> {
        let begin = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(|e| self.not_started(e))? {
                return Ok(status);
            }
            let stopped = stop.is_asked();
            if stopped || begin.elapsed() > longest {
                process::end_together(&mut child);
                return Err(match stopped {
                    true => BuildError::Interrupted { what: what.to_owned() },
                    false => BuildError::Endless { what: what.to_owned(), seconds: LONGEST.as_secs() },
                });
            }
            thread::sleep(LOOK);
        }
    }

    /// A command without variables that have the compiler write files or start other programs, and with messages in English.
    fn command(&self) -> Command {
        const MEDDLING: [&str; 8] = [
            "CCC_OVERRIDE_OPTIONS",
            "COMPILER_PATH",
            "DEPENDENCIES_OUTPUT",
            "GCC_COMPARE_DEBUG",
            "GCC_EXEC_PREFIX",
            "LANGUAGE",
            "LD_RUN_PATH",
            "SUNPRO_DEPENDENCIES",
        ];
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).env("LC_ALL", "C");
        // What is built is kept anyway, and its cache is a folder elsewhere.
        command.env("CCACHE_DISABLE", "1");
        for variable in MEDDLING {
            command.env_remove(variable);
        }
        command
    }

    fn not_started(&self, source: io::Error) -> BuildError {
        let command = self.command[0].to_string_lossy().into_owned();
        match source.kind() {
            io::ErrorKind::NotFound => BuildError::NoCompiler { command, language: self.language },
            // What the search ends with when PATH has a folder that this user may not enter.
            io::ErrorKind::PermissionDenied if !command.contains('/') => {
                BuildError::NoCompiler { command, language: self.language }
            }
            _ => BuildError::File { path: command.into(), source },
        }
    }
}

fn command(named: Option<&str>, environment: Option<&str>, usual: &str) -> Vec<OsString> {
    if let Some(named) = named {
        return vec![named.into()];
    }
    let words = environment.unwrap_or("").split_whitespace().map(OsString::from);
    let words: Vec<OsString> = words.collect();
    if words.is_empty() { vec![usual.into()] } else { words }
}

/// A hint that a compiler may have failed for lack of files that were kept from it; `is_locked`: whether the kernel has
/// kept it from other files, `None` if nothing was kept from it.
fn withheld(status: ExitStatus, words: &str, is_locked: Option<bool>) -> Option<Withheld> {
    const OUT_OF_BOUNDS: [&str; 5] =
        ["out of memory", "memory exhausted", "Cannot allocate memory", "File too large", "limit exceeded"];
    const REFUSED: [&str; 4] = ["Permission denied", "file not found:", "can't open", "Could not find inc"];
    let says = |some: &[&str]| some.iter().any(|some| words.contains(some));
    match is_locked? {
        // First, since a source chooses what it has a compiler say.
        false => Some(Withheld::Words),
        true if says(&REFUSED) => Some(Withheld::Files),
        true if status.signal() == Some(Signal::SIGXCPU as i32) || says(&OUT_OF_BOUNDS) => Some(Withheld::Bounds),
        true => None,
    }
}

/// The beginning of a compiler's words, and the number of further bytes.
fn head(path: &Path) -> io::Result<(String, u64)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.take(MOST_WORDS).read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), length.saturating_sub(MOST_WORDS)))
}

/// Cuts a compiler's output for display: the first errors matter.
fn shortened(words: &str, cut_off: u64) -> String {
    let end = (0..=words.len().min(LONGEST_OUTPUT)).rev().find(|end| words.is_char_boundary(*end)).unwrap_or(0);
    match (words.len() - end) as u64 + cut_off {
        0 => words.to_owned(),
        more => format!("{}\n... ({more} more bytes)", &words[..end]),
    }
}

/// An argument as one would type it.
fn quoted(argument: &OsStr) -> String {
    let text = argument.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_=+./,:%@".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_may_name_a_command_with_arguments() {
        assert_eq!(command(None, Some("ccache gcc"), "cc"), ["ccache", "gcc"]);
        assert_eq!(command(None, Some(" "), "cc"), ["cc"]);
        assert_eq!(command(None, None, "cc"), ["cc"]);
        assert_eq!(command(Some("clang"), Some("gcc"), "cc"), ["clang"]);
    }

    /// Otherwise its words would fill the memory for half an hour.
    #[test]
    fn a_compiler_that_answers_without_end_is_ended() {
        let endless = Compiler { command: ["sh", "-c", "exec yes"].map(OsString::from).into(), language: "C" };
        let answer = endless.identity(&StopToken::default()).unwrap();
        assert_eq!(answer.len() as u64, MOST_WORDS);
    }

    #[test]
    fn a_compiler_that_is_missing_is_named_with_its_package() {
        let missing = Compiler { command: vec!["no-such-compiler-here".into()], language: "C++" };
        let words = missing.identity(&StopToken::default()).unwrap_err().to_string();
        assert!(words.contains("`no-such-compiler-here` is not installed"), "{words}");
        assert!(words.contains("apt install g++"), "{words}");
        assert!(words.contains("CXX"), "{words}");
    }

    /// A source can have a compiler say anything (`#warning`), so its words decide nothing where it could read any file.
    #[test]
    fn what_a_compiler_says_that_nothing_was_kept_from_is_not_shown() {
        let failed = ExitStatus::from_raw(256);
        let words = "m.c:1:2: warning: #warning out of memory\nm.c:2: error: secret";
        assert_eq!(withheld(failed, words, Some(false)), Some(Withheld::Words));
        assert_eq!(withheld(failed, words, Some(true)), Some(Withheld::Bounds));
        assert_eq!(withheld(failed, "x: Permission denied", Some(true)), Some(Withheld::Files));
        assert_eq!(withheld(failed, "m.c:1: error: no", Some(true)), None);
        assert_eq!(withheld(ExitStatus::from_raw(Signal::SIGXCPU as i32), "", Some(true)), Some(Withheld::Bounds));
        assert_eq!(withheld(failed, words, None), None);
    }

    #[test]
    fn arguments_are_shown_as_they_are_typed() {
        assert_eq!(quoted(OsStr::new("-DX=1")), "-DX=1");
        assert_eq!(quoted(OsStr::new("a b'c")), r"'a b'\''c'");
    }

    #[test]
    fn long_output_is_cut_at_its_head() {
        let text = shortened(&format!("first{}", "x".repeat(9000)), 7);
        assert!(text.starts_with("first"));
        assert!(text.ends_with("\n... (820 more bytes)"), "{}", &text[8190..]);
        assert_eq!(shortened("all", 0), "all");
        assert!(shortened(&"ü".repeat(5000), 0).ends_with("ü\n... (1808 more bytes)"));
    }
}
