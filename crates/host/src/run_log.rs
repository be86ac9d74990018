//! `run.log`: output and log messages of a run's FMUs, and messages of the host. The newest part is kept, however long
//! the run.
//!
//! Two processes append to the file. When it reaches a third of the rig's limit, this process renames it to
//! `run-earlier.log`, in place of the previous one, and begins a new `run.log`; the runner follows at its next check,
//! and its output until then goes to the earlier file. Nothing is lost between them, and nothing is renamed again
//! before the runner has followed: otherwise it would write to a deleted file. Faster output is cut by the runner when
//! a file reaches half of the limit (`runner::printed`): both files together keep within it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;
use vecud_linux::files;
use vecud_record::board::{Board, Global};
use vecud_record::written::Written;

/// Name of the file that FMUs print to.
pub const NAME: &str = "run.log";
/// Name of the previous `run.log`.
pub const EARLIER: &str = "run-earlier.log";

/// Space after a cut of the runner: for its note, and lines of this process, bytes.
const ROOM: u64 = 1 << 16;

/// The log of a run.
pub struct RunLog<'a> {
    board: Board<'a>,
    path: PathBuf,
    /// Greatest size of a file, bytes.
    most: u64,
    /// File handle of this process, with the number of written bytes.
    file: File,
    length: u64,
    /// The previous `run.log`, with its size when it was renamed.
    earlier: Option<Written>,
    /// Number of rotations.
    number: u64,
    /// Bytes of deleted files.
    removed: u64,
    /// Changes that others have made to earlier files before those were replaced.
    lost: Vec<String>,
    /// Rotation is impossible, and was reported.
    is_stuck: bool,
}

impl<'a> RunLog<'a> {
    /// Opens the log in this folder, where the file may exist already; each of its two files may have `most` bytes.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn open(folder: &Path, board: Board<'a>, most: u64) -> io::Result<RunLog<'a>> {
        let path = folder.join(NAME);
        let file = files::open_to_append(&path)?;
        Ok(RunLog {
            board,
            path,
            most,
            file,
            length: 0,
            earlier: None,
            number: 0,
            removed: 0,
            lost: Vec::new(),
            is_stuck: false,
        })
    }

    /// Appends a line immediately: a user may be watching the file. `false`: there is no room for it; the last part is
    /// reserved for lines with `is_severe`.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn write(&mut self, line: &str, is_severe: bool) -> io::Result<bool> {
        // Normally the log is rotated long before this limit.
        let most = if is_severe { self.most } else { self.most / 8 * 7 };
        if self.length + line.len() as u64 >= most {
            return Ok(false);
        }
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.length += line.len() as u64 + 1;
        Ok(true)
    }

    /// Rotates the log if it is long; `alone`: the runner is gone. Reports a failure once.
    pub fn look(&mut self, alone: bool) -> Option<String> {
        let is_long = self.file.metadata().is_ok_and(|data| data.len() >= self.most / 3 * 2);
        let has_followed = alone || self.board.global(Global::LogFollowed).load(SeqCst) == self.number;
        if !is_long || !has_followed || self.is_stuck {
            return None;
        }
        let own = self.file.try_clone().map(|file| Written { file, length: self.length });
        let begun = own.map_err(|error| error.to_string()).and_then(|own| match own.gone_from(&self.path) {
            Some(gone) => Err(gone),
            None => self.begin_anew(own).map_err(|error| format!("{NAME} cannot be begun anew: {error}")),
        });
        self.is_stuck = begun.is_err();
        begun.err()
    }

    fn begin_anew(&mut self, own: Written) -> io::Result<()> {
        let (next, earlier) = (self.path.with_file_name(format!("{NAME}.part")), self.path.with_file_name(EARLIER));
        let file = files::create_to_append(&next)?;
        self.lost.extend(self.earlier.as_ref().and_then(|own| own.gone_from(&earlier)));
        let before = fs::symlink_metadata(&earlier).map_or(0, |data| data.len());
        let moved = fs::rename(&self.path, &earlier);
        self.removed += if moved.is_ok() { before } else { 0 };
        files::renamed(&next, &self.path, moved)?;
        (self.earlier, self.file, self.length) = (Some(own), file, 0);
        self.number += 1;
        self.board.global(Global::LogNumber).store(self.number, SeqCst);
        Ok(())
    }

    /// Number of rotations, and of bytes deleted by them.
    pub fn rotated(&self) -> (u64, u64) {
        (self.number, self.removed)
    }

    /// Cuts output that the runner had no time to cut, now that it is gone. Returns whether there was any, and the
    /// changes that other programs have made to the files.
    pub fn close(mut self) -> (bool, Vec<String>) {
        let earlier = self.earlier.as_mut().map(|own| &mut own.file);
        let is_cut = [Some(&mut self.file), earlier].into_iter().flatten().fold(false, |is_cut, file| {
            let is_long = file.metadata().is_ok_and(|data| data.len() > self.most + ROOM);
            if is_long {
                let _ = file.set_len(self.most).and_then(|()| file.write_all(b"\n(cut off here: log_limit)\n"));
            }
            is_cut | is_long
        });
        let now = Written { file: self.file, length: self.length };
        let earlier = self.earlier.and_then(|own| own.gone_from(&self.path.with_file_name(EARLIER)));
        // Changes found at a rotation were reported then.
        let now = if self.is_stuck { None } else { now.gone_from(&self.path) };
        (is_cut, self.lost.into_iter().chain(now).chain(earlier).collect())
    }
}
