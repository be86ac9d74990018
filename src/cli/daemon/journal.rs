//! systemd's journal, by its native protocol: each line with fields that it can be found by.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the journal listens.
const SOCKET: &str = "/run/systemd/journal/socket";
/// How long to wait for a journal that is busy.
const PATIENCE: Duration = Duration::from_secs(1);

/// The journal.
#[derive(Debug)]
pub struct Journal {
    socket: UnixDatagram,
    to: PathBuf,
}

impl Journal {
    /// The journal, if standard error goes there: whoever has it elsewhere wants to read it there.
    pub fn of_stderr() -> Option<Journal> {
        let stderr = rustix::fs::fstat(io::stderr().as_fd()).ok()?;
        let named = std::env::var("JOURNAL_STREAM").ok()?;
        is_named(&named, stderr.st_dev, stderr.st_ino).then(|| Journal::at(Path::new(SOCKET)))?.ok()
    }

    fn at(to: &Path) -> io::Result<Journal> {
        let socket = UnixDatagram::unbound()?;
        socket.set_write_timeout(Some(PATIENCE))?;
        Ok(Journal { socket, to: to.to_owned() })
    }

    /// Sends an entry of these fields, none of which has a `=` or a line break in its name. An entry that is larger than a datagram
    /// may be is an error.
    pub fn send(&self, fields: &[(&str, &str)]) -> io::Result<()> {
        self.socket.send_to(&entry(fields), &self.to).map(drop)
    }
}

/// Whether `$JOURNAL_STREAM` names this file.
fn is_named(stream: &str, device: u64, inode: u64) -> bool {
    let parts = stream.split_once(':');
    parts.is_some_and(|(first, second)| first.parse() == Ok(device) && second.parse() == Ok(inode))
}

/// An entry as it travels: `NAME=value`, or with a length before a value of several lines.
fn entry(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in fields {
        bytes.extend(name.as_bytes());
        if value.contains('\n') {
            bytes.push(b'\n');
            bytes.extend((value.len() as u64).to_le_bytes());
        } else {
            bytes.push(b'=');
        }
        bytes.extend(value.as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_several_lines_has_its_length_before_it() {
        assert_eq!(entry(&[("PRIORITY", "4"), ("MESSAGE", "a=b")]), b"PRIORITY=4\nMESSAGE=a=b\n");
        let lines = entry(&[("MESSAGE", "one\nPRIORITY=0"), ("VECUD_RIG", "a")]);
        assert_eq!(lines, b"MESSAGE\n\x0e\0\0\0\0\0\0\0one\nPRIORITY=0\nVECUD_RIG=a\n");
    }

    #[test]
    fn the_stream_is_the_one_that_is_named() {
        assert!(is_named("8:12345", 8, 12345));
        for other in ["8:12346", "9:12345", "8", "", ":", "8:x"] {
            assert!(!is_named(other, 8, 12345), "{other}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        assert!(Journal::at(&path).unwrap().send(&[("MESSAGE", "a")]).is_err(), "nobody is there");
        let journal = UnixDatagram::bind(&path).unwrap();
        let own = Journal::at(&path).unwrap();
        own.send(&[("MESSAGE", "a")]).unwrap();
        let mut buffer = [0; 32];
        let length = journal.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"MESSAGE=a\n");
        assert!(own.send(&[("MESSAGE", &"x".repeat(64 << 20))]).is_err(), "larger than a datagram may be");
    }
}
