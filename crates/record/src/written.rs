//! Checks at the end whether a file is as it was written: other programs of the same account can remove, cut or replace
//! it meanwhile.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether a file has all the data that was written to it, `length` bytes. Further data behind a cut would hide the cut.
///
/// # Errors
/// The file was cut.
pub(super) fn is_whole(file: &File, length: u64) -> io::Result<()> {
    match file.metadata()?.len() >= length {
        true => Ok(()),
        false => Err(io::Error::other("it was cut, by FMU code or by somebody else")),
    }
}

/// A file that is written to its end.
#[derive(Debug)]
pub struct Written {
    /// The file that is written, open.
    pub file: File,
    /// Number of its bytes that were written, at least.
    pub length: u64,
}

impl Written {
    /// Describes the loss, if the file of this name is another one by now, or is shorter.
    pub fn gone_from(&self, path: &Path) -> Option<String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let problem = |what: &str| {
            let who = "while the run went on, by FMU code or by somebody else";
            Some(format!("{name} {what} {who}: what was recorded is lost"))
        };
        // The same file or another one: not what a link in its place points at.
        let Ok(there) = fs::symlink_metadata(path) else { return problem("was removed") };
        let same = self.file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (there.dev(), there.ino()));
        match (same, there.len() < self.length) {
            (false, _) => problem("was replaced by another file"),
            (true, true) => problem("was cut"),
            (true, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_that_was_removed_replaced_or_cut_is_told_from_one_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let write = || {
            let mut file = File::create(&path).unwrap();
            file.write_all(b"time\n").unwrap();
            Written { file, length: 5 }
        };
        let written = write();
        assert_eq!(written.gone_from(&path), None);
        // Others append to a log.
        File::options().append(true).open(&path).unwrap().write_all(b"more").unwrap();
        assert_eq!(written.gone_from(&path), None);
        written.file.set_len(4).unwrap();
        assert!(written.gone_from(&path).unwrap().starts_with("a.csv was cut while"));
        fs::rename(&path, folder.path().join("b.csv")).unwrap();
        assert!(written.gone_from(&path).unwrap().starts_with("a.csv was removed while"));
        let _another = write();
        assert!(written.gone_from(&path).unwrap().starts_with("a.csv was replaced by another file while"));
    }
}
