//! Chunks of messages in MCAP format: filled with messages, then compressed, put into the file, and indexed.
//!
//! A chunk is compressed block by block (LZ4). One whose beginning hardly gets smaller is not: values that all change in each message
//! are as good as noise, and trying takes longer than writing them.

use super::content::Content;
use super::tail::{Medium, Tailed};
use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};
use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
use mcap::records::op;
use std::io::{self, Error};

/// Size of a compressed block: the largest block of a frame with [`BlockSize::Max256KB`].
const BLOCK: usize = 1 << 18;
/// Size of the sample that decides whether a chunk is compressed.
const SAMPLE: usize = 1 << 14;
/// The bit in a block's length that marks an uncompressed block.
const AS_IT_WAS: u32 = 1 << 31;

/// The channel and the times of a message.
#[derive(Clone, Copy)]
pub(super) struct MessageHead {
    /// The channel, as the file has called it.
    pub(super) channel: u16,
    /// The place among the messages of its channel, counted from 1; 0: not told.
    pub(super) sequence: u32,
    /// Both times of the message, ns.
    pub(super) time: u64,
}

/// A chunk that is filled.
#[derive(Default)]
pub(super) struct Chunk {
    /// The chunk's records, one after the other.
    records: Vec<u8>,
    /// The first and last time in the chunk.
    span: Option<[u64; 2]>,
    /// By channel: the time of each message and its place in the chunk, in the form of the file.
    indexes: Vec<Vec<u8>>,
}

impl Chunk {
    /// Appends a record that is no message.
    pub(super) fn record(&mut self, record: &[u8]) {
        self.records.extend_from_slice(record);
    }

    /// Appends a message, whose data `write` appends.
    #[inline]
    pub(super) fn message(&mut self, head: MessageHead, write: impl FnOnce(&mut Vec<u8>)) {
        const HEAD: usize = 31;
        let MessageHead { channel, sequence, time } = head;
        let begin = self.records.len();
        let mut entry = [0; 16];
        entry[..8].copy_from_slice(&time.to_le_bytes());
        entry[8..].copy_from_slice(&(begin as u64).to_le_bytes());
        self.index(channel).extend_from_slice(&entry);
        self.span = Some(self.span.map_or([time; 2], |[first, last]| [first.min(time), last.max(time)]));
        let mut head = [0; HEAD];
        head[0] = op::MESSAGE;
        head[9..11].copy_from_slice(&channel.to_le_bytes());
        head[11..15].copy_from_slice(&sequence.to_le_bytes());
        head[15..23].copy_from_slice(&time.to_le_bytes());
        head[23..31].copy_from_slice(&time.to_le_bytes());
        self.records.extend_from_slice(&head);
        write(&mut self.records);
        let length = (self.records.len() - begin - 9) as u64;
        self.records[begin + 1..begin + 9].copy_from_slice(&length.to_le_bytes());
    }

    #[inline]
    fn index(&mut self, channel: u16) -> &mut Vec<u8> {
        let channel = usize::from(channel);
        if channel >= self.indexes.len() {
            self.indexes.resize_with(channel + 1, Vec::new);
        }
        &mut self.indexes[channel]
    }

    /// Bytes of its records.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Empties it; its room is used again.
    fn clear(&mut self) {
        self.records.clear();
        self.span = None;
        self.indexes.iter_mut().for_each(Vec::clear);
    }
}

/// A file to which chunks are written.
pub(super) struct ChunkFile<M> {
    /// The file.
    pub(super) file: Tailed<M>,
    lz4: Option<Lz4>,
    /// Records of the summary about the chunks that are written.
    pub(super) indexes: Vec<u8>,
    /// Chunks that are written.
    pub(super) chunks: u32,
    /// First and last time of all messages.
    pub(super) span: Option<[u64; 2]>,
}

impl<M: Medium> ChunkFile<M> {
    /// A file without chunks.
    pub(super) fn new(file: Tailed<M>, compressed: bool) -> io::Result<ChunkFile<M>> {
        let lz4 = if compressed { Some(Lz4::new()?) } else { None };
        Ok(ChunkFile { file, lz4, indexes: Vec::new(), chunks: 0, span: None })
    }

    /// Appends a chunk, unless it is empty, and makes the file whole with it. The chunk is empty then.
    pub(super) fn write(&mut self, chunk: &mut Chunk) -> io::Result<()> {
        if !chunk.is_empty() {
            self.append(chunk)?;
            chunk.clear();
        }
        self.file.flush()
    }

    fn append(&mut self, chunk: &Chunk) -> io::Result<()> {
        let with_messages = || chunk.indexes.iter().enumerate().filter(|(_, index)| !index.is_empty());
        let [first, last] = chunk.span.unwrap_or_default();
        if chunk.span.is_some() {
            let [begin, end] = self.span.unwrap_or([first, last]);
            self.span = Some([begin.min(first), end.max(last)]);
        }
        let packed = match &mut self.lz4 {
            Some(lz4) => lz4.pack(&chunk.records)?,
            None => None,
        };
        let (compression, data) = packed.map_or(("", chunk.records.as_slice()), |packed| ("lz4", packed));
        let (begin, size) = (self.file.position(), chunk.records.len() as u64);
        let mut head = Content::default();
        head.u64(first).u64(last).u64(size).u32(crc32fast::hash(&chunk.records)).text(compression);
        head.u64(data.len() as u64);
        self.file.append(&head.head_of(op::CHUNK, data.len()))?;
        self.file.append(data)?;
        let end = self.file.position();
        let mut places = Content::default();
        for (id, index) in with_messages() {
            places.u16(id as u16).u64(self.file.position());
            let mut head = Content::default();
            head.u16(id as u16).u32(index.len() as u32);
            self.file.append(&head.head_of(op::MESSAGE_INDEX, index.len()))?;
            self.file.append(index)?;
        }
        let mut index = Content::default();
        index.u64(first).u64(last).u64(begin).u64(end - begin).bytes(places.all());
        index.u64(self.file.position() - end).text(compression).u64(data.len() as u64).u64(size);
        self.indexes.extend(index.record(op::CHUNK_INDEX));
        self.chunks += 1;
        Ok(())
    }
}

/// Makes frames of LZ4, whose room is used again.
struct Lz4 {
    /// The begin of a frame: the same for all frames of vecud.
    begin: Vec<u8>,
    table: CompressTable,
    /// The room of a block.
    block: Vec<u8>,
    frame: Vec<u8>,
}

impl Lz4 {
    fn new() -> io::Result<Lz4> {
        // An empty frame is its begin and its end, a length of zero.
        let info = FrameInfo::new().block_size(BlockSize::Max256KB);
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        encoder.try_finish().map_err(Error::other)?;
        let mut begin = encoder.into_inner();
        begin.truncate(begin.len() - size_of::<u32>());
        let block = vec![0; get_maximum_output_size(BLOCK)];
        Ok(Lz4 { begin, table: CompressTable::large(), block, frame: Vec::new() })
    }

    /// A frame of these bytes; `None`: it would hardly be smaller.
    fn pack(&mut self, plain: &[u8]) -> io::Result<Option<&[u8]>> {
        let sample = &plain[..plain.len().min(SAMPLE)];
        let packed = compress_into_with_table(sample, &mut self.block, &mut self.table).map_err(Error::other)?;
        if packed > sample.len() / 8 * 7 {
            return Ok(None);
        }
        self.frame.clear();
        self.frame.extend_from_slice(&self.begin);
        for block in plain.chunks(BLOCK) {
            let packed = compress_into_with_table(block, &mut self.block, &mut self.table).map_err(Error::other)?;
            let (length, data) = match packed < block.len() {
                true => (packed as u32, &self.block[..packed]),
                false => (block.len() as u32 | AS_IT_WAS, block),
            };
            self.frame.extend_from_slice(&length.to_le_bytes());
            self.frame.extend_from_slice(data);
        }
        self.frame.extend_from_slice(&0u32.to_le_bytes());
        Ok(Some(&self.frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// As long a text of digits without a pattern.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn frames_are_those_of_lz4_whatever_is_in_their_blocks() {
        let mut lz4 = Lz4::new().unwrap();
        // The last one begins well, and has blocks that do not get smaller.
        let mixed = [vec![0; SAMPLE], noise(2 * BLOCK + 77)].concat();
        for plain in [vec![7; 5], vec![7; BLOCK], vec![7; 3 * BLOCK + 1], mixed] {
            let Some(frame) = lz4.pack(&plain).unwrap() else {
                assert_eq!(plain.len(), 5, "only what is short gets no smaller");
                continue;
            };
            assert!(frame.len() < plain.len());
            let mut read = Vec::new();
            lz4_flex::frame::FrameDecoder::new(frame).read_to_end(&mut read).unwrap();
            assert!(read == plain, "{} bytes", plain.len());
        }
    }

    #[test]
    fn noise_is_not_compressed() {
        assert!(Lz4::new().unwrap().pack(&noise(BLOCK)).unwrap().is_none());
    }
}
