//! The machine's files, below a root: `/` for the machine itself, a folder for a made-up one.
//!
//! Nothing here fails: what cannot be read is told apart from what is not there, and a file of any length or content is
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

/// What became of an attempt to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading<T> {
    /// Read.
    Is(T),
    /// There is no such file.
    Missing,
    /// The file is there, or hidden, and this user may not read it.
    Refused,
}

impl<T> Reading<T> {
    /// What was read.
    pub fn get(self) -> Option<T> {
        match self {
            Reading::Is(value) => Some(value),
            _ => None,
        }
    }
}

impl Tree {
    /// This machine.
    pub fn of_this_machine() -> Tree {
        Tree::at("/")
    }

    /// Another root, which need not have everything.
    pub fn at(root: impl Into<PathBuf>) -> Tree {
        Tree { root: root.into() }
    }

    /// Where a path that begins with `/` is.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// A file's text without white space around it.
    pub fn read(&self, path: &str) -> Reading<String> {
        let mut bytes = Vec::new();
        match File::open(self.path(path)).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes)) {
            Ok(_) => Reading::Is(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Reading::Refused,
            Err(_) => Reading::Missing,
        }
    }

    /// The text of a file, where it does not matter why there is none.
    pub fn text(&self, path: &str) -> Option<String> {
        self.read(path).get()
    }

    /// A number that stands alone in a file.
    pub fn number(&self, path: &str) -> Option<i64> {
        self.text(path)?.parse().ok()
    }

    /// Whether something is there.
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Names in a folder, sorted; of numbers, by their value.
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

    /// The numbers among the names in a folder, with what stands before them taken off: `cpu3` → 3.
    pub fn numbered(&self, path: &str, prefix: &str) -> Vec<usize> {
        let names = self.names(path).get().unwrap_or_default();
        let mut numbers: Vec<usize> = names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}
