//! `run.log`: what the FMUs of a run print, and what they and the host log. Whoever is looking after a month finds the newest of it.
//!
//! Two processes append to the file. When it has a third of what the rig allows, this one calls it `run-earlier.log`, in place of
//! the one before, and begins a new `run.log`; the runner follows at its next look, and what it prints until then goes to the
//! earlier one. Nothing is lost between them, and nothing is renamed again before the runner has followed: it would print to a
//! file that is gone. What is printed faster than that, the runner cuts when a file has half of what the rig allows
//! (`runner::printed`): both together keep within it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;
use vecud_linux::files;
use vecud_record::board::{Board, Global};
use vecud_record::written::Written;

/// The file that FMUs print to.
pub const NAME: &str = "run.log";
/// What `run.log` was before.
pub const EARLIER: &str = "run-earlier.log";

/// What may stand behind a place at which the runner has cut: that it has, and lines of this process, bytes.
const ROOM: u64 = 1 << 16;

/// The log of a run.
pub struct RunLog<'a> {
    board: Board<'a>,
    path: PathBuf,
    /// Bytes that a file may have.
    most: u64,
    /// What this process writes, and how much of it is in the file.
    file: File,
    length: u64,
    /// The file that was `run.log` before, with the bytes that it had then.
    earlier: Option<Written>,
    /// How often it was begun anew.
    number: u64,
    /// Bytes of files that are gone.
    removed: u64,
    /// What has become of earlier files that others have changed, before they made way for the next.
    lost: Vec<String>,
    /// It cannot be begun anew, and somebody was told.
    is_stuck: bool,
}

impl<'a> RunLog<'a> {
    /// The log in this folder, whose file may be there already; each of its two files may have `most` bytes.
    ///
    /// # Errors
    /// The operating system's.
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

    /// Appends a line, at once: somebody may be watching the file. `false`: there is no room for it, which others leave to one that
    /// `is_severe`.
    ///
    /// # Errors
    /// The operating system's.
    pub fn write(&mut self, line: &str, is_severe: bool) -> io::Result<bool> {
        // It is begun anew long before, where that is possible.
        let most = if is_severe { self.most } else { self.most / 8 * 7 };
        if self.length + line.len() as u64 >= most {
            return Ok(false);
        }
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.length += line.len() as u64 + 1;
        Ok(true)
    }

    /// Begins it anew if it is long; `alone`: the runner is gone. Says why that was not possible, once.
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

    /// How often it was begun anew, and how many bytes are gone therefore.
    pub fn rotated(&self) -> (u64, u64) {
        (self.number, self.removed)
    }

    /// Cuts what the runner has had no time to cut, now that it is gone. Whether there was something, and what has become of the files
    /// if others than this program have changed them.
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
        // What was found when it was to be begun anew was told then.
        let now = if self.is_stuck { None } else { now.gone_from(&self.path) };
        (is_cut, self.lost.into_iter().chain(now).chain(earlier).collect())
    }
}
