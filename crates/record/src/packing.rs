//! Writes chunks: at first on the thread that fills them; from the first large one on a thread of its own, so that
//! messages are assembled while others are compressed and written. Where the system cannot start another thread, the
//! filling thread goes on writing.
//!
//! There are at most [`CHUNKS`] of them: after filling the last one, the filling thread waits until another one is
//! written. They are written in the order in which they were handed over, each as the whole file's new end; after a
//! failure none is written.

use super::chunk::{Chunk, ChunkFile};
use super::tail::Medium;
use std::io::{self, Error};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// Number of chunks in existence, each with its own memory: one that is filled, and those that are written.
const CHUNKS: usize = 3;
/// Smaller chunks are written in less time than it takes to wake a thread twice.
const LARGE: usize = 1 << 16;

/// Writes chunks.
pub(super) struct Packing<M> {
    place: Place<M>,
    /// Chunks that are written and can be filled again.
    free: Vec<Chunk>,
    /// Chunks that the thread has, and the bytes of their records.
    away: usize,
    away_bytes: u64,
    /// Chunks that came and are not written: not yet, or not at all.
    unwritten: usize,
    /// Bytes of the file.
    position: u64,
    /// Why a chunk was not written, until somebody is told.
    failed: Option<Error>,
    /// There was no thread to be had.
    is_alone: bool,
}

/// The place of the file.
enum Place<M> {
    Here(Box<ChunkFile<M>>),
    Away(Thread<M>),
    /// The thread was lost, which is a defect.
    Lost,
}

/// The thread.
struct Thread<M> {
    to_write: Sender<Chunk>,
    done: Receiver<Done>,
    handle: JoinHandle<Option<Box<ChunkFile<M>>>>,
}

/// Result of writing a chunk.
struct Done {
    /// The chunk, empty if it was written.
    chunk: Chunk,
    /// Size of the chunk, bytes.
    bytes: u64,
    result: io::Result<()>,
    /// Size of the file afterwards, bytes.
    position: u64,
}

impl<M: Medium + Send + 'static> Packing<M> {
    /// Writes chunks to this file.
    pub(super) fn new(file: ChunkFile<M>) -> Packing<M> {
        Packing {
            position: file.file.position(),
            place: Place::Here(Box::new(file)),
            free: Vec::new(),
            away: 0,
            away_bytes: 0,
            unwritten: 0,
            failed: None,
            is_alone: false,
        }
    }

    /// Writes a chunk, now or soon, and gives another one to be filled. An error may be that of a chunk before it.
    pub(super) fn write(&mut self, mut chunk: Chunk) -> io::Result<Chunk> {
        if chunk.len() >= LARGE {
            self.send_away();
        }
        self.unwritten += 1;
        match &mut self.place {
            Place::Here(file) => {
                file.write(&mut chunk)?;
                self.position = file.file.position();
                self.unwritten -= 1;
                return Ok(chunk);
            }
            Place::Away(thread) => {
                self.away += 1;
                self.away_bytes += chunk.len() as u64;
                // Where nobody takes it, nobody answers either.
                let _found_when_it_is_waited_for = thread.to_write.send(chunk);
            }
            Place::Lost => return Err(lost()),
        }
        self.look()?;
        while self.free.is_empty() && self.away >= CHUNKS - 1 {
            self.wait();
            self.look()?;
        }
        Ok(self.free.pop().unwrap_or_default())
    }

    /// Takes the results of chunks.
    pub(super) fn look(&mut self) -> io::Result<()> {
        while let Place::Away(thread) = &self.place
            && let Ok(done) = thread.done.try_recv()
        {
            self.take(done);
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Waits until all chunks are written, or cannot be: [`Packing::look`] tells.
    pub(super) fn settle(&mut self) {
        while self.away > 0 {
            self.wait();
        }
    }

    /// Waits for one.
    fn wait(&mut self) {
        let Place::Away(thread) = &self.place else { return };
        match thread.done.recv() {
            Ok(done) => self.take(done),
            Err(_) => {
                (self.place, self.away, self.away_bytes) = (Place::Lost, 0, 0);
                self.failed.get_or_insert_with(lost);
            }
        }
    }

    fn take(&mut self, Done { chunk, bytes, result, position }: Done) {
        self.away -= 1;
        self.away_bytes -= bytes;
        self.position = position;
        match result {
            Ok(()) => {
                self.unwritten -= 1;
                self.free.push(chunk);
            }
            Err(error) => drop(self.failed.get_or_insert(error)),
        }
    }

    /// Chunks that came and are not known to be written.
    pub(super) fn unwritten(&self) -> usize {
        self.unwritten
    }

    /// Bytes of the file, as far as that is known.
    pub(super) fn written(&self) -> u64 {
        self.position
    }

    /// Bytes of the file, and of the chunks that it does not have yet.
    pub(super) fn size(&self) -> u64 {
        self.position + self.away_bytes
    }

    /// The file, with all chunks.
    pub(super) fn here(&mut self) -> io::Result<&mut ChunkFile<M>> {
        self.settle();
        self.look()?;
        if let Place::Away(_) = self.place
            && let Place::Away(Thread { to_write, handle, .. }) = std::mem::replace(&mut self.place, Place::Lost)
        {
            // It ends when nothing more can come.
            drop(to_write);
            self.place = handle.join().ok().flatten().map_or(Place::Lost, Place::Here);
        }
        match &mut self.place {
            Place::Here(file) => Ok(file),
            _ => Err(lost()),
        }
    }

    /// The file, with all chunks, for good.
    pub(super) fn into_file(mut self) -> io::Result<ChunkFile<M>> {
        self.here()?;
        match self.place {
            Place::Here(file) => Ok(*file),
            _ => Err(lost()),
        }
    }

    /// Gives the file to a thread, if there is one.
    fn send_away(&mut self) {
        if self.is_alone || !matches!(self.place, Place::Here(_)) {
            return;
        }
        let (give, given) = channel();
        let (to_write, written) = channel();
        let (tell, done) = channel();
        let body = move || given.recv().ok().map(|file| work(file, &written, &tell));
        match thread::Builder::new().name("vecud.mcap".to_owned()).spawn(body) {
            Ok(handle) => {
                let thread = Place::Away(Thread { to_write, done, handle });
                if let Place::Here(file) = std::mem::replace(&mut self.place, thread) {
                    let _it_waits_for_it = give.send(file);
                }
            }
            Err(_) => self.is_alone = true,
        }
    }
}

/// The work of the thread.
fn work<M: Medium>(mut file: Box<ChunkFile<M>>, chunks: &Receiver<Chunk>, tell: &Sender<Done>) -> Box<ChunkFile<M>> {
    while let Ok(mut chunk) = chunks.recv() {
        let bytes = chunk.len() as u64;
        let result = file.write(&mut chunk);
        let _somebody_may_have_given_up = tell.send(Done { chunk, bytes, result, position: file.file.position() });
    }
    file
}

fn lost() -> Error {
    Error::other("the thread that writes it has ended")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::MessageHead;
    use crate::tail::Tailed;
    use std::sync::{Arc, Condvar, Mutex};

    /// A disk that has so much space, and writes nothing while it is held.
    #[derive(Clone, Default)]
    struct Disk(Arc<(Mutex<State>, Condvar)>);

    #[derive(Default)]
    struct State {
        bytes: Vec<u8>,
        space: Option<usize>,
        is_held: bool,
    }

    impl Disk {
        fn change(&self, what: impl FnOnce(&mut State)) {
            what(&mut self.0.0.lock().unwrap());
            self.0.1.notify_all();
        }
    }

    impl Medium for Disk {
        fn put(&self, bytes: &[u8], at: u64) -> io::Result<()> {
            let mut state = self.0.1.wait_while(self.0.0.lock().unwrap(), |state| state.is_held).unwrap();
            let end = at as usize + bytes.len();
            if state.space.is_some_and(|space| end > space) {
                return Err(Error::from(io::ErrorKind::StorageFull));
            }
            let length = state.bytes.len().max(end);
            state.bytes.resize(length, 0);
            state.bytes[at as usize..end].copy_from_slice(bytes);
            Ok(())
        }

        fn cut(&self, length: u64) -> io::Result<()> {
            self.change(|state| state.bytes.truncate(length as usize));
            Ok(())
        }
    }

    fn packing(disk: &Disk) -> Packing<Disk> {
        Packing::new(ChunkFile::new(Tailed::new(disk.clone()), false).unwrap())
    }

    /// One that is large, with a message.
    fn filled(mut chunk: Chunk, number: u8) -> Chunk {
        chunk.message(MessageHead { channel: 0, sequence: 0, time: u64::from(number) }, |data| {
            data.resize(data.len() + LARGE, number);
        });
        chunk
    }

    #[test]
    fn chunks_are_in_the_file_in_their_order_and_it_comes_back_with_all_of_them() {
        let disk = Disk::default();
        let mut packing = packing(&disk);
        let mut chunk = Chunk::default();
        for number in 0..20 {
            chunk = packing.write(filled(chunk, number)).unwrap();
            assert!(chunk.is_empty() && packing.unwritten() < CHUNKS);
        }
        let file = packing.into_file().unwrap();
        assert_eq!((file.chunks, file.span), (20, Some([0, 19])));
        let numbers: Vec<u8> = disk
            .0
            .0
            .lock()
            .unwrap()
            .bytes
            .chunk_by(|a, b| a == b)
            .filter(|run| run.len() >= LARGE)
            .map(|run| run[0])
            .collect();
        assert_eq!(numbers, (0..20).collect::<Vec<u8>>());
    }

    /// While the disk takes none, there is room for so many; whoever has more waits.
    #[test]
    fn a_disk_that_stands_still_holds_up_who_fills_chunks_and_takes_no_more_memory() {
        let disk = Disk::default();
        disk.change(|state| state.is_held = true);
        let mut packing = packing(&disk);
        let mut chunk = Chunk::default();
        for number in 0..CHUNKS as u8 - 1 {
            // The last of these comes back when one is written.
            if usize::from(number) == CHUNKS - 2 {
                let disk = disk.clone();
                assert_eq!((packing.unwritten(), packing.size() > LARGE as u64), (CHUNKS - 2, true));
                thread::spawn(move || disk.change(|state| state.is_held = false));
            }
            chunk = packing.write(filled(chunk, number)).unwrap();
        }
        assert!(packing.unwritten() < CHUNKS - 1, "one of them was waited for");
        packing.settle();
        packing.look().unwrap();
        assert_eq!(packing.unwritten(), 0);
    }

    #[test]
    fn a_disk_that_is_full_is_told_once_and_leaves_the_chunks_before() {
        let disk = Disk::default();
        let mut packing = packing(&disk);
        let chunk = packing.write(filled(Chunk::default(), 1)).unwrap();
        packing.settle();
        packing.look().unwrap();
        let whole = disk.0.0.lock().unwrap().bytes.clone();
        disk.change(|state| state.space = Some(whole.len() + 1000));
        let error = packing.write(filled(chunk, 2)).map(drop).and_then(|()| {
            packing.settle();
            packing.look()
        });
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!((packing.unwritten(), packing.look().is_ok()), (1, true));
        assert!(disk.0.0.lock().unwrap().bytes == whole);
        disk.change(|state| state.space = None);
        assert!(packing.here().map(|file| file.write(&mut filled(Chunk::default(), 3))).unwrap().is_err());
        assert!(disk.0.0.lock().unwrap().bytes == whole, "what was lost leaves no hole");
    }
}
