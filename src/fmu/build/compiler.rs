//! Running the system's compilers: `$CC` or `cc`, `$CXX` or `c++`, or the one that a source file set names.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use super::error::BuildError;
use super::language::Language;

/// What is shown of a compiler's words.
const LONGEST_OUTPUT: usize = 8 << 10;
/// What is read of them: the names of all headers that a source includes are among them.
const MOST_WORDS: u64 = 16 << 20;
/// With less space than this on the disk, that is why a compiler failed.
const LEAST_SPACE: u64 = 64 << 10;

/// A compiler's command: program and leading arguments (`CC="ccache gcc"`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compiler {
    command: Vec<OsString>,
    language: &'static str,
}

impl Compiler {
    /// The compiler that `named` asks for, else the system's for `language`.
    pub fn choose(named: Option<&str>, language: Language) -> Compiler {
        let (variable, usual) = if language.cpp { ("CXX", "c++") } else { ("CC", "cc") };
        Compiler { command: command(named, std::env::var(variable).ok().as_deref(), usual), language: language.name() }
    }

    /// What the compiler calls itself, with its version: part of the cache's key.
    pub fn identity(&self) -> Result<Vec<u8>, BuildError> {
        let output = self.command().arg("--version").stdin(Stdio::null()).output();
        Ok(output.map_err(|e| self.not_started(e))?.stdout)
    }

    /// Runs the compiler with `arguments`; `what` is the file that errors are about, `work` a folder for the build with an
    /// empty one in it. Returns the command and what the compiler said, for the log.
    pub fn run(&self, what: &str, arguments: &[OsString], work: &Path) -> Result<String, BuildError> {
        let heard = self.listen(arguments, work)?;
        match heard.status.success() {
            true => Ok(format!("{}\n{}", heard.command, shortened(&heard.words, heard.cut_off))),
            false => Err(self.refusal(what, &heard, &heard.words, work)),
        }
    }

    /// Runs the compiler with `arguments` in the empty folder of `work`, and says what it said, however it ended.
    pub fn listen(&self, arguments: &[OsString], work: &Path) -> Result<Heard, BuildError> {
        let words = work.join("words");
        let failed = |source| BuildError::File { path: words.clone(), source };
        // To a file rather than a pipe: no amount of errors fills the memory.
        let out = File::create(&words).map_err(failed)?;
        let err = out.try_clone().map_err(failed)?;
        let mut command = self.command();
        command.args(arguments).current_dir(work.join("empty")).env("TMPDIR", work);
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        let status = command.status().map_err(|e| self.not_started(e))?;
        let (words_said, cut_off) = head(&words).map_err(failed)?;
        let _ = fs::remove_file(&words);
        let command = self.command.iter().chain(arguments).map(|a| quoted(a));
        let command = command.collect::<Vec<_>>().join(" ");
        Ok(Heard { command, status, words: words_said, cut_off })
    }

    /// The error for a file that does not build, of whose compiler's words `words` may be shown.
    pub fn refusal(&self, what: &str, heard: &Heard, words: &str, work: &Path) -> BuildError {
        // Compilers say so on stderr, and that goes to the same disk: they may have had no space for their words.
        if rustix::fs::statvfs(work).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < LEAST_SPACE) {
            return BuildError::File { path: work.join("words"), source: io::ErrorKind::StorageFull.into() };
        }
        BuildError::Compiler {
            what: what.to_owned(),
            command: heard.command.clone(),
            status: heard.status.to_string(),
            output: shortened(words, heard.cut_off),
        }
    }

    /// Without variables that have the compiler write files or start other programs, and in words that are read here too.
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

/// How a compiler has ended and what it has said.
pub(super) struct Heard {
    /// The whole command.
    pub command: String,
    pub status: ExitStatus,
    pub words: String,
    /// Bytes of its words that are left out of `words`.
    pub cut_off: u64,
}

/// The beginning of a compiler's words, and how many bytes of them follow.
fn head(path: &Path) -> io::Result<(String, u64)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.take(MOST_WORDS).read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), length.saturating_sub(MOST_WORDS)))
}

/// What is shown of a compiler's words: the first errors are those that count.
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

    #[test]
    fn a_compiler_that_is_missing_is_named_with_its_package() {
        let missing = Compiler { command: vec!["no-such-compiler-here".into()], language: "C++" };
        let words = missing.identity().unwrap_err().to_string();
        assert!(words.contains("`no-such-compiler-here` is not installed"), "{words}");
        assert!(words.contains("apt install g++"), "{words}");
        assert!(words.contains("CXX"), "{words}");
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
