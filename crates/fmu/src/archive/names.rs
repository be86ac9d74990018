//! Which entry names may become files.
//!
//! A name that passes is a plain relative path: every component is an ordinary file name, so joining it to a folder
//! that holds no links stays inside that folder. [`Layout`] adds that no two files meet at one place.

use std::collections::HashMap;
use std::path::PathBuf;

use super::error::EntryProblem;

/// Linux' limit for one component of a path.
const LONGEST_COMPONENT: usize = 255;
/// Leaves room for the cache's own folders below Linux' limit of 4096 for a path.
const LONGEST_NAME: usize = 2048;

/// Names of a path, folders and file; FMUs have five or so.
const DEEPEST: usize = 64;

/// The form of an entry on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Folder,
}

/// The components of an entry's name, or the reason why it must not be unpacked. `.` and doubled slashes mean nothing and are
/// dropped.
pub(super) fn components(name: &str) -> Result<Vec<&str>, EntryProblem> {
    if name.contains('\0') {
        return Err(EntryProblem::Nul);
    }
    if name.contains('\\') {
        return Err(EntryProblem::Backslash);
    }
    if name.starts_with('/') {
        return Err(EntryProblem::Absolute);
    }
    let drive = name.as_bytes();
    if drive.len() >= 2 && drive[0].is_ascii_alphabetic() && drive[1] == b':' {
        return Err(EntryProblem::DriveLetter);
    }
    if name.contains(char::is_control) {
        return Err(EntryProblem::ControlCharacter);
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(EntryProblem::Outside);
    }
    if name.len() > LONGEST_NAME || parts.iter().any(|part| part.len() > LONGEST_COMPONENT) {
        return Err(EntryProblem::NameTooLong);
    }
    if parts.len() > DEEPEST {
        return Err(EntryProblem::TooDeep { limit: DEEPEST });
    }
    Ok(parts)
}

/// The places that entries have taken so far.
#[derive(Default)]
pub(super) struct TakenPlaces {
    taken: HashMap<PathBuf, EntryKind>,
}

impl TakenPlaces {
    /// The number of files and folders, including folders that only the names of their content show.
    pub(super) fn len(&self) -> usize {
        self.taken.len()
    }

    /// Takes the place of an entry and of the folders above it.
    pub(super) fn add(&mut self, parts: &[&str], kind: EntryKind) -> Result<PathBuf, EntryProblem> {
        let Some((last, above)) = parts.split_last() else {
            // "./": the root itself.
            return match kind {
                EntryKind::Folder => Ok(PathBuf::new()),
                EntryKind::File => Err(EntryProblem::NoName),
            };
        };
        let mut path = PathBuf::new();
        for part in above {
            path.push(part);
            if !self.taken.contains_key(&path) {
                self.taken.insert(path.clone(), EntryKind::Folder);
            } else if self.taken[&path] == EntryKind::File {
                return Err(EntryProblem::FileAsFolder);
            }
        }
        path.push(last);
        match (self.taken.get(&path), kind) {
            (None, _) => {
                self.taken.insert(path.clone(), kind);
                Ok(path)
            }
            // Named again, or at last: an archiver's habit, and nothing is unclear.
            (Some(EntryKind::Folder), EntryKind::Folder) => Ok(path),
            (Some(EntryKind::File), EntryKind::File) => Err(EntryProblem::Duplicate),
            (Some(_), _) => Err(EntryProblem::FileAsFolder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_pass() {
        assert_eq!(components("a/b c/ü.txt").unwrap(), ["a", "b c", "ü.txt"]);
        assert_eq!(components("./a//b/").unwrap(), ["a", "b"]);
        assert_eq!(components("a/..b/c..").unwrap(), ["a", "..b", "c.."]);
    }

    #[test]
    fn names_that_leave_the_target_do_not() {
        for name in ["../x", "../../x", "a/../b", "a/..", "..", "./../x"] {
            assert_eq!(components(name), Err(EntryProblem::Outside), "{name}");
        }
        for name in ["/etc/passwd", "//x", "/"] {
            assert_eq!(components(name), Err(EntryProblem::Absolute), "{name}");
        }
        for name in ["a\\b", "..\\x", "\\x", "C:\\x"] {
            assert_eq!(components(name), Err(EntryProblem::Backslash), "{name}");
        }
        for name in ["C:/x", "c:x", "Z:"] {
            assert_eq!(components(name), Err(EntryProblem::DriveLetter), "{name}");
        }
        assert_eq!(components("a\0b"), Err(EntryProblem::Nul));
        assert_eq!(components("a\nb"), Err(EntryProblem::ControlCharacter));
    }

    #[test]
    fn names_that_linux_cannot_hold_do_not() {
        assert!(components(&"x".repeat(255)).is_ok());
        let long = components(&"x".repeat(256)).map(|_| ());
        assert_eq!(long, Err(EntryProblem::NameTooLong));
        let deep = components(&"x/".repeat(1100)).map(|_| ());
        assert_eq!(deep, Err(EntryProblem::NameTooLong));
        assert!(components(&"x/".repeat(DEEPEST)).is_ok());
        let deep = components(&"x/".repeat(DEEPEST + 1)).map(|_| ());
        assert_eq!(deep, Err(EntryProblem::TooDeep { limit: DEEPEST }));
    }

    #[test]
    fn one_place_holds_one_file_or_a_folder() {
        let mut layout = TakenPlaces::default();
        layout.add(&["a", "b"], EntryKind::File).unwrap();
        layout.add(&["A", "b"], EntryKind::File).unwrap();
        layout.add(&["a"], EntryKind::Folder).unwrap();
        layout.add(&["a"], EntryKind::Folder).unwrap();
        let again = |layout: &mut TakenPlaces, parts: &[&str], kind| layout.add(parts, kind).unwrap_err();
        assert_eq!(again(&mut layout, &["a", "b"], EntryKind::File), EntryProblem::Duplicate);
        assert_eq!(again(&mut layout, &["a"], EntryKind::File), EntryProblem::FileAsFolder);
        assert_eq!(again(&mut layout, &["a", "b"], EntryKind::Folder), EntryProblem::FileAsFolder);
        assert_eq!(again(&mut layout, &["a", "b", "c"], EntryKind::File), EntryProblem::FileAsFolder);
        assert_eq!(again(&mut layout, &[], EntryKind::File), EntryProblem::NoName);
    }
}
