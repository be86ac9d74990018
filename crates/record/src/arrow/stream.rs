//! A file with an Arrow IPC stream that is whole after each message, and at every instant in between: whoever kills the process,
//! what was appended is there, and readers take it for a whole stream.
//!
//! A stream ends with a mark of eight bytes, and readers read up to the first mark. A message begins with eight bytes: the first
//! four bytes of the mark, and the length of its description. So a message is written in two steps:
//!
//! 1. all behind its first eight bytes, and a new mark behind it; readers still find the old mark first,
//! 2. its first eight bytes in the place of the old mark: from now on it is read.
//!
//! Messages have multiples of eight bytes, so those of step 2 lie in one page, and the kernel cuts a write at the border of a page at
//! the earliest. That holds for a process that is killed, not for a machine that loses power: nothing is forced to the disk.

use crate::tail::Medium;
use crate::written::Written;
use std::fs::File;
use std::io;

/// The end of a stream: a continuation, and no bytes that follow.
const END: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

/// The file.
pub(super) struct ArrowStream<M> {
    file: M,
    /// Bytes of the stream, its mark included; 0: there is nothing yet.
    length: u64,
}

impl ArrowStream<File> {
    /// The file, with the appended bytes.
    pub(super) fn into_written(self) -> Written {
        Written { file: self.file, length: self.length }
    }
}

impl<M: Medium> ArrowStream<M> {
    /// A stream in an empty file.
    pub(super) fn new(file: M) -> ArrowStream<M> {
        ArrowStream { file, length: 0 }
    }

    /// Bytes of the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Appends a message, and empties it.
    ///
    /// # Errors
    /// There is no space, or somebody has cut the file. It ends as before then.
    pub(super) fn append(&mut self, message: &mut Vec<u8>) -> io::Result<()> {
        message.extend_from_slice(&END);
        let begin = self.length.saturating_sub(END.len() as u64);
        let (first, rest) = message.split_at(END.len());
        self.file.is_whole(self.length)?;
        let put = self.file.put(rest, begin + END.len() as u64).and_then(|()| self.file.put(first, begin));
        match put {
            Ok(()) => self.length = begin + message.len() as u64,
            Err(_) => {
                let _as_far_as_it_works = self.file.cut(self.length);
            }
        }
        message.clear();
        put
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Array, Int64Array, RecordBatch};
    use arrow_ipc::reader::StreamReader;
    use arrow_ipc::writer::StreamWriter;
    use arrow_schema::{DataType, Field, Schema};
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::sync::Arc;

    const PAGE: usize = 4096;

    /// A file in memory, and what it was like after each step of writing, each of which may be cut at the border of a page.
    #[derive(Clone, Default)]
    struct States {
        now: Rc<RefCell<Vec<u8>>>,
        seen: Rc<RefCell<Vec<Vec<u8>>>>,
        /// The file cannot have more bytes.
        space: Rc<RefCell<Option<usize>>>,
    }

    impl Medium for States {
        fn put(&self, bytes: &[u8], at: u64) -> io::Result<()> {
            let (mut put, mut now) = (0, self.now.borrow_mut());
            while put < bytes.len() {
                let from = at as usize + put;
                let part = (PAGE - from % PAGE).min(bytes.len() - put);
                if self.space.borrow().is_some_and(|space| from + part > space) {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                let length = now.len().max(from + part);
                now.resize(length, 0);
                now[from..from + part].copy_from_slice(&bytes[put..put + part]);
                put += part;
                self.seen.borrow_mut().push(now.clone());
            }
            Ok(())
        }

        fn cut(&self, length: u64) -> io::Result<()> {
            self.now.borrow_mut().truncate(length as usize);
            Ok(())
        }
    }

    /// All values, as the reader of the crate finds them.
    fn values(file: &[u8]) -> Vec<i64> {
        let batches = StreamReader::try_new(file, None).unwrap();
        let column =
            |batch: RecordBatch| batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec();
        batches.flat_map(|batch| column(batch.unwrap())).collect()
    }

    /// A stream of values, and the crate's writer of its messages.
    struct IntegerStream {
        stream: ArrowStream<States>,
        writer: StreamWriter<Vec<u8>>,
        schema: Arc<Schema>,
    }

    impl IntegerStream {
        /// Begins a stream in this file.
        fn new(file: &States) -> IntegerStream {
            let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, false)]));
            let writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
            let mut values = IntegerStream { stream: ArrowStream::new(file.clone()), writer, schema };
            values.stream.append(values.writer.get_mut()).unwrap();
            values
        }

        fn write(&mut self, values: Vec<i64>) -> io::Result<()> {
            let column = Arc::new(Int64Array::from(values));
            let batch = RecordBatch::try_new(self.schema.clone(), vec![column]).unwrap();
            self.writer.write(&batch).unwrap();
            self.stream.append(self.writer.get_mut())
        }
    }

    #[test]
    fn whoever_is_killed_while_he_writes_leaves_a_whole_stream() {
        let states = States::default();
        let mut stream = IntegerStream::new(&states);
        states.seen.take();
        let mut expected = Vec::new();
        for length in [1, 20, 5000, 3, 100_000, 60, 8192] {
            let more: Vec<i64> = (0..length).collect();
            stream.write(more.clone()).unwrap();
            let before = expected.clone();
            expected.extend(more);
            for state in states.seen.take() {
                let seen = values(&state);
                assert!(seen == before || seen == expected, "{} of {} values", seen.len(), expected.len());
            }
            assert!(values(&states.now.borrow()) == expected);
            assert_eq!(states.now.borrow().len() as u64, stream.stream.length());
        }
    }

    #[test]
    fn what_finds_no_space_leaves_what_was_there() {
        let states = States::default();
        let mut stream = IntegerStream::new(&states);
        stream.write(vec![1, 2]).unwrap();
        let whole = states.now.borrow().clone();
        *states.space.borrow_mut() = Some(PAGE);
        stream.write(vec![3; 1000]).unwrap_err();
        assert!(*states.now.borrow() == whole && values(&whole) == [1, 2]);
    }
}
