//! Reads a file until somebody asks for the end.

use std::fs::File;
use std::io::{self, Read};
use vecud_linux::stop::StopToken;

/// A file, which may be large and far away, that cannot be read any more once somebody asks for the end.
pub(super) struct Until<'a> {
    pub(super) file: &'a File,
    pub(super) stop: &'a StopToken,
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_asked() {
            return Err(io::Error::other("the end was asked for"));
        }
        self.file.read(buffer)
    }
}
