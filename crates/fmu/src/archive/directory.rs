//! The directory at the end of a ZIP archive, read without trusting it: the zip crate parses, and gets to see no more of
//! the file than a sensible directory has, so a directory of millions of entries cannot fill the memory.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;

use super::error::ArchiveError;
use super::limits::ArchiveLimits;

/// Reads the archive's directory, and no more of the file than a sensible directory has.
pub(super) fn read<'f>(
    file: &'f File,
    origin: &Path,
    limits: &ArchiveLimits,
) -> Result<ZipArchive<Metered<&'f File>>, ArchiveError> {
    let mut head = Vec::new();
    let mut from_start = file;
    from_start
        .rewind()
        .and_then(|()| from_start.take(4).read_to_end(&mut head))
        .map_err(|source| read_error(origin, source))?;
    // An archive begins with a local header, or, if it has no entries, with the end record.
    if head != b"PK\x03\x04" && head != b"PK\x05\x06" {
        return Err(ArchiveError::NotAZip(origin.to_path_buf()));
    }
    let left = Rc::new(Cell::new(Some(limits.directory)));
    let metered = Metered { inner: BufReader::new(file), left: Rc::clone(&left) };
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let zip = ZipArchive::with_config(config, metered).map_err(|error| {
        if left.get() == Some(0) {
            return damaged(origin, "its directory is longer than any FMU's");
        }
        match error {
            ZipError::Io(source) if source.kind() != io::ErrorKind::UnexpectedEof => read_error(origin, source),
            ZipError::InvalidArchive(_) if !has_end_record(file) => ArchiveError::Truncated(origin.to_path_buf()),
            other => damaged(origin, other),
        }
    })?;
    left.set(None);
    if zip.len() > limits.entries {
        return Err(ArchiveError::TooManyEntries { archive: origin.to_path_buf(), limit: limits.entries });
    }
    Ok(zip)
}

/// Whether the record that ends an archive (22 bytes and a comment) is anywhere in the file's last 64 KiB.
fn has_end_record(mut file: &File) -> bool {
    let mut tail = Vec::new();
    let read = file.seek(SeekFrom::End(0)).and_then(|length| {
        file.seek(SeekFrom::Start(length.saturating_sub((1 << 16) + 22)))?;
        file.read_to_end(&mut tail)
    });
    read.is_ok() && tail.windows(22).any(|bytes| bytes.starts_with(b"PK\x05\x06"))
}

/// The statements of the directory about an entry.
pub(super) struct Header {
    pub(super) name: String,
    /// The version of ZIP that is needed to unpack it, times ten, in the lower byte.
    pub(super) version_needed: u16,
    /// General purpose bits.
    pub(super) flags: u16,
    /// Method of compression; 0: none.
    pub(super) method: u16,
    /// The checksum and the length of the content, packed and unpacked.
    content: [u8; 12],
    raw_name: Vec<u8>,
}

/// All headers, repeated ones too: the zip crate keeps only the last of entries with one name, so this reads the directory itself:
/// headers of 46 bytes, with the version at 6, bits and method behind it, the checksum and both sizes from 16 on, and the lengths
/// of the following parts at 28, 30 and 32.
pub(super) fn headers(file: &File, start: u64) -> io::Result<Vec<Header>> {
    let mut reader = BufReader::new(file);
    reader.seek(SeekFrom::Start(start))?;
    let mut headers = Vec::new();
    loop {
        let mut signature = [0; 4];
        reader.read_exact(&mut signature)?;
        if signature != *b"PK\x01\x02" {
            return Ok(headers);
        }
        let mut header = [0; 46];
        reader.read_exact(&mut header[4..])?;
        let number = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let mut name = vec![0; usize::from(number(28)) + usize::from(number(30)) + usize::from(number(32))];
        reader.read_exact(&mut name)?;
        name.truncate(number(28).into());
        headers.push(Header {
            name: String::from_utf8_lossy(&name).into_owned(),
            version_needed: number(6),
            flags: number(8),
            method: number(10),
            content: header[16..28].try_into().expect("twelve bytes"),
            raw_name: name,
        });
    }
}

/// The first name that the directory states twice with different content. An entry that is only repeated (as
/// `cmake -E tar` does with a folder named twice, and the Reference FMUs with it) leaves nothing open, and a folder has
/// no content.
pub(super) fn contradicted_name(file: &File, start: u64) -> io::Result<Option<String>> {
    let mut seen: HashMap<Vec<u8>, [u8; 12]> = HashMap::new();
    let mut contradicts =
        |header: &Header| *seen.entry(header.raw_name.clone()).or_insert(header.content) != header.content;
    Ok(headers(file, start)?.into_iter().find(|header| contradicts(header)).map(|header| header.name))
}

/// A reader that fails once it has given out `left` bytes; `None` lifts the limit.
pub(super) struct Metered<R> {
    inner: BufReader<R>,
    left: Rc<Cell<Option<u64>>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        if let Some(left) = self.left.get() {
            self.left.set(Some(left.saturating_sub(got as u64)));
            if left < got as u64 {
                return Err(io::Error::other("read too much"));
            }
        }
        Ok(got)
    }
}

impl<R: Read + Seek> Seek for Metered<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

pub(super) fn damaged(origin: &Path, detail: impl ToString) -> ArchiveError {
    ArchiveError::Damaged { archive: origin.to_path_buf(), detail: detail.to_string() }
}

pub(super) fn read_error(path: &Path, source: io::Error) -> ArchiveError {
    ArchiveError::Read { path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_directory_without_end_is_not_read() {
        let mut writer = zip::ZipWriter::new(tempfile::tempfile().unwrap());
        for i in 0..200 {
            let options = zip::write::SimpleFileOptions::default();
            writer.start_file(format!("{i:0>200}"), options).unwrap();
            writer.write_all(b"x").unwrap();
        }
        let file = writer.finish().unwrap();
        let read_within = |directory| {
            let limits = ArchiveLimits { directory, ..ArchiveLimits::default() };
            read(&file, Path::new("x.fmu"), &limits).map(|zip| zip.len())
        };
        // 200 headers of some 250 bytes; the search for the end record reads up to 64 KiB more.
        assert_eq!(read_within(200_000).unwrap(), 200);
        let error = read_within(30_000).unwrap_err().to_string();
        assert!(error.contains("longer than any FMU's"), "{error}");
    }
}
