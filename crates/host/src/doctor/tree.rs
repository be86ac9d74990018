//! The machine's files, below a root: `/` for the machine itself, a folder for a made-up one.
//!
//! Nothing here fails: unreadable files are distinguished from missing ones, and a file of any length or content is
//! read as text up to a bound.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

/// More of one file than this is nonsense (`/proc/interrupts` of a thousand cores has some megabytes).
const LONGEST: u64 = 16 << 20;

/// A root of `/proc`, `/sys` and `/dev`.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

/// Outcome of reading a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading<T> {
    /// The content.
    Is(T),
    /// The file does not exist.
    Missing,
    /// The file exists, or is hidden, but this user may not read it.
    Refused,
}

impl<T> Reading<T> {
    /// The content, if it was read.
    pub fn get(self) -> Option<T> {
        match self {
            Reading::Is(value) => Some(value),
            _ => None,
        }
    }
}

impl Tree {
    /// The files of this machine.
    pub fn of_this_machine() -> Tree {
        Tree::at("/")
    }

    /// The files below another root, which need not be complete.
    pub fn at(root: impl Into<PathBuf>) -> Tree {
        Tree { root: root.into() }
    }

    /// Location of a path that begins with `/`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Text of a file without surrounding white space.
    pub fn read(&self, path: &str) -> Reading<String> {
        let mut bytes = Vec::new();
        match File::open(self.path(path)).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes)) {
            Ok(_) => Reading::Is(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Reading::Refused,
            Err(_) => Reading::Missing,
        }
    }

    /// Text of a file, if it can be read.
    pub fn text(&self, path: &str) -> Option<String> {
        self.read(path).get()
    }

    /// The number in a file, if it contains nothing else.
    pub fn number(&self, path: &str) -> Option<i64> {
        self.text(path)?.parse().ok()
    }

    /// Whether a path exists.
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Names in a folder, sorted; numbers by their value.
    pub fn names(&self, path: &str) -> Reading<Vec<String>> {
        let entries = match fs::read_dir(self.path(path)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Reading::Refused,
            Err(_) => return Reading::Missing,
        };
        let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_by_cached_key(|name| (name.parse::<u64>().unwrap_or(u64::MAX), name.clone()));
        Reading::Is(names)
    }

    /// Numbers of the names in a folder that begin with `prefix`: `cpu3` → 3.
    pub fn numbered(&self, path: &str, prefix: &str) -> Vec<usize> {
        let names = self.names(path).get().unwrap_or_default();
        let mut numbers: Vec<usize> = names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}
