//! A file in MCAP format that is complete after each flush, and at every instant in between: whoever kills the process,
//! what was flushed is there, and readers take it for a whole file.
//!
//! An MCAP file ends with a *tail*: the end of the data, a footer, the magic bytes. Readers expect one at the end of the
//! file and read up to the first one. A flush puts new records in the place of the old tail, and the kernel may cut a write
//! short if the process is killed in it. So a flush takes several steps, each of which leaves a file with both:
//!
//! 1. a footer where the file will end; readers still find the old tail first,
//! 2. all between that and the old tail,
//! 3. the old tail becomes the first of the new records: from now on they are read,
//! 4. at the regular end, the footer that knows of the summary instead of the one of step 1.
//!
//! Steps 1, 3 and 4 write fewer than [`TAIL`] bytes; the kernel cuts at the border of a page at the earliest. That holds for
//! a process that is killed, not for a machine that loses power: nothing is forced to the disk.

use super::written::{self, Written};
use std::fs::File;
use std::io::{self, Error};
use std::os::unix::fs::FileExt;

/// End of data (without checksum), footer (without summary), magic.
const TAIL: [u8; 50] = *b"\x0f\x04\0\0\0\0\0\0\0\0\0\0\0\x02\x14\0\0\0\0\0\0\0\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x89MCAP0\r\n";
/// The part of the tail behind the end of data.
const FOOTER: usize = 37;

/// The destination of the bytes.
pub(super) trait Medium {
    /// Writes all bytes, from `at` on.
    fn put(&self, bytes: &[u8], at: u64) -> io::Result<()>;
    /// Whether the file has this length: nobody has cut it.
    fn is_whole(&self, _length: u64) -> io::Result<()> {
        Ok(())
    }
    /// Takes away what is behind.
    fn cut(&self, length: u64) -> io::Result<()>;
}

impl Medium for File {
    fn put(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.write_all_at(bytes, at)
    }

    fn is_whole(&self, length: u64) -> io::Result<()> {
        written::is_whole(self, length)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// A file that ends with a tail. What is appended is kept until [`Tailed::flush`]. After one that fails nothing is written any more:
/// whatever came next would not follow what is there.
pub(super) struct Tailed<M> {
    file: M,
    /// The begin of the tail; 0: there is nothing yet.
    end: u64,
    records: Vec<u8>,
    broken: bool,
}

impl Tailed<File> {
    /// The file, with the flushed data.
    pub(super) fn into_written(self) -> Written {
        Written { file: self.file, length: self.end }
    }
}

impl<M: Medium> Tailed<M> {
    /// Data for an empty file.
    pub(super) fn new(file: M) -> Tailed<M> {
        Tailed { file, end: 0, records: Vec::new(), broken: false }
    }

    /// Puts the records in the place of the old tail. Their last `tail` bytes are to be replaced by the next ones.
    fn put(&mut self, tail: usize) -> io::Result<()> {
        let records = std::mem::take(&mut self.records);
        let whole = self.file.is_whole(self.end);
        let mut steps = steps(self.end, &records).into_iter();
        match whole.and_then(|()| steps.try_for_each(|(at, bytes)| self.file.put(bytes, at))) {
            Ok(()) => self.end += (records.len() - tail) as u64,
            Err(error) => {
                self.broken = true;
                if self.end > 0 {
                    // Back to the old tail, which needs no space.
                    let _as_far_as_it_works = self.file.cut(self.end + TAIL.len() as u64);
                }
                return Err(error);
            }
        }
        // Its room is used again.
        self.records = records;
        self.records.clear();
        Ok(())
    }
}

/// The writes, in order, that put records in the place of the tail at `end`.
fn steps(end: u64, records: &[u8]) -> Vec<(u64, &[u8])> {
    // No record that follows data is so short; before the first flush there is nothing to be kept.
    if end == 0 || records.len() < TAIL.len() + FOOTER {
        return vec![(end, records)];
    }
    let (first, rest) = records.split_at(TAIL.len());
    let (middle, footer) = rest.split_at(rest.len() - FOOTER);
    let footer_at = end + (records.len() - FOOTER) as u64;
    let plain = &TAIL[TAIL.len() - FOOTER..];
    let mut steps = vec![(footer_at, plain), (end + TAIL.len() as u64, middle), (end, first)];
    if footer != plain {
        steps.push((footer_at, footer));
    }
    steps
}

impl<M: Medium> Tailed<M> {
    /// Appends records, or a part of one.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.broken {
            return Err(Error::other("an earlier write has failed"));
        }
        self.records.extend_from_slice(bytes);
        Ok(())
    }

    /// The place of the next record in the file.
    pub(super) fn position(&self) -> u64 {
        self.end + self.records.len() as u64
    }

    /// Completes the file with the data so far.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.broken {
            return Err(Error::other("an earlier write has failed"));
        }
        if self.records.is_empty() {
            return Ok(());
        }
        // The writer's own end. Nothing else ends like this: an index with the offset of a message, metadata with a version.
        if self.records.ends_with(mcap::MAGIC) {
            return self.put(0);
        }
        self.records.extend_from_slice(&TAIL);
        self.put(TAIL.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::MessageHead;
    use crate::container::{ChannelAbout, Container};
    use std::sync::{Arc, Mutex};

    /// Keeps in mind what is written where, as long as there is space.
    #[derive(Clone, Default)]
    struct Steps {
        taken: Arc<Mutex<Vec<Step>>>,
        space: Arc<Mutex<Option<usize>>>,
    }

    /// Place and bytes of a write; no bytes: the file is cut there.
    type Step = (u64, Vec<u8>);

    impl Medium for Steps {
        fn put(&self, bytes: &[u8], at: u64) -> io::Result<()> {
            if self.space.lock().unwrap().is_some_and(|space| bytes.len() > space) {
                return Err(Error::from(io::ErrorKind::StorageFull));
            }
            self.taken.lock().unwrap().push((at, bytes.to_vec()));
            Ok(())
        }

        fn cut(&self, length: u64) -> io::Result<()> {
            self.taken.lock().unwrap().push((length, Vec::new()));
            Ok(())
        }
    }

    fn writer(steps: &Steps) -> Container<Steps> {
        let mut writer = Container::new(steps.clone(), false).unwrap();
        let about = ChannelAbout {
            topic: "/a",
            schema: "a",
            schema_encoding: "",
            schema_data: &[],
            message_encoding: "json",
            metadata: &[],
        };
        writer.channel(&about).unwrap();
        writer
    }

    fn write(writer: &mut Container<Steps>, data: &[u8]) -> io::Result<()> {
        writer.message(MessageHead { channel: 0, sequence: 0, time: 0 }, |bytes| bytes.extend_from_slice(data));
        writer.flush()?;
        writer.settle();
        writer.look()
    }

    /// The data of all messages, as the reader of the crate finds them.
    fn messages(file: &[u8]) -> Vec<u8> {
        let all = mcap::MessageStream::new(file).unwrap();
        all.map(|message| message.unwrap().data[0]).collect()
    }

    /// What may be on the disk while these are written: each step may be cut at the border of a page.
    fn states(file: &mut Vec<u8>, steps: &Steps) -> Vec<Vec<u8>> {
        const PAGE: usize = 4096;
        let mut states = vec![file.clone()];
        for (at, bytes) in std::mem::take(&mut *steps.taken.lock().unwrap()) {
            if bytes.is_empty() {
                file.truncate(at as usize);
                states.push(file.clone());
            }
            let mut put = 0;
            while put < bytes.len() {
                let from = at as usize + put;
                // Small ones are not cut, wherever they are.
                let part = if bytes.len() <= TAIL.len() { bytes.len() } else { PAGE - from % PAGE };
                let part = part.min(bytes.len() - put);
                file.resize(file.len().max(from + part), 0);
                file[from..from + part].copy_from_slice(&bytes[put..put + part]);
                put += part;
                states.push(file.clone());
            }
        }
        states.retain(|state| !state.is_empty());
        states
    }

    #[test]
    fn whoever_is_killed_while_he_writes_leaves_a_whole_file() {
        let steps = Steps::default();
        let mut writer = writer(&steps);
        let (mut file, mut expected) = (Vec::new(), Vec::new());
        for (round, length) in [1, 20, 5000, 3, 100_000, 60, 8192].into_iter().enumerate() {
            write(&mut writer, &vec![round as u8; length]).unwrap();
            let before = expected.clone();
            expected.push(round as u8);
            for state in states(&mut file, &steps) {
                let seen = messages(&state);
                assert!(seen == before || seen == expected, "{seen:?}");
            }
            assert_eq!(messages(&file), expected);
            assert!(mcap::Summary::read(&file).unwrap().is_none());
        }
        drop(writer.finish().unwrap());
        for state in states(&mut file, &steps) {
            assert_eq!(messages(&state), expected);
        }
        let summary = mcap::Summary::read(&file).unwrap().expect("there is one at the regular end");
        assert_eq!((summary.stats.unwrap().message_count, summary.chunk_indexes.len()), (7, 7));
    }

    #[test]
    fn what_finds_no_space_leaves_what_was_there() {
        let steps = Steps::default();
        let mut writer = writer(&steps);
        let mut file = Vec::new();
        write(&mut writer, &[1; 100]).unwrap();
        states(&mut file, &steps);
        let whole = file.clone();
        *steps.space.lock().unwrap() = Some(4096);
        write(&mut writer, &[2; 5000]).unwrap_err();
        states(&mut file, &steps);
        assert!(file == whole && messages(&file) == [1]);
        // There is space again, but what was lost leaves no hole.
        *steps.space.lock().unwrap() = None;
        assert!(writer.finish().is_err());
        states(&mut file, &steps);
        assert!(file == whole);
    }
}
