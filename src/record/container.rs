//! A file in MCAP format: messages in chunks, which are compressed or not, their index, and a summary at the regular end.
//!
//! After each flush the file is whole (module `tail`). The crate mcap reads such files, here too; its writer has no other
//! compressions than libraries in C, and takes longer for the frame of a message than its values take.
//!
//! What a record is made of: <https://mcap.dev/spec>. Numbers are little-endian, texts and lists have their length in bytes before
//! them.

use super::tail::{Medium, Tailed};
use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
use mcap::records::op;
use std::io::{self, Error, Write};

/// What messages are, and when.
#[derive(Clone, Copy)]
pub(super) struct MessageHead {
    /// The channel, as [`Container::channel`] has called it.
    pub(super) channel: u16,
    /// The place among the messages of its channel, counted from 1; 0: not told.
    pub(super) sequence: u32,
    /// Both times of the message, ns.
    pub(super) time: u64,
}

/// What a channel is.
pub(super) struct ChannelAbout<'a> {
    pub(super) topic: &'a str,
    pub(super) schema: &'a str,
    pub(super) schema_encoding: &'a str,
    pub(super) schema_data: &'a [u8],
    pub(super) message_encoding: &'a str,
    pub(super) metadata: &'a [(&'a str, &'a str)],
}

/// The file.
pub(super) struct Container<M> {
    file: Tailed<M>,
    compressed: bool,
    /// Records of the chunk that is not written yet.
    chunk: Vec<u8>,
    /// Its first and last time.
    span: Option<[u64; 2]>,
    /// Its room when it is compressed.
    packed: Vec<u8>,
    channels: Vec<Channel>,
    /// The records of schemas, and those of channels, which the summary repeats.
    schemas: Vec<u8>,
    channel_records: Vec<u8>,
    /// Records of the summary about chunks that are written, and about metadata.
    chunk_indexes: Vec<u8>,
    metadata_indexes: Vec<u8>,
    chunks: u32,
    metadata: u32,
    /// First and last time of all messages.
    whole_span: Option<[u64; 2]>,
}

/// What is known of the messages of a channel.
#[derive(Default)]
struct Channel {
    messages: u64,
    /// For each one in the chunk its time, and where in the chunk it begins.
    index: Vec<[u64; 2]>,
}

impl<M: Medium> Container<M> {
    /// Begins an empty file.
    pub(super) fn new(medium: M, compressed: bool) -> io::Result<Container<M>> {
        let mut file = Tailed::new(medium);
        file.append(mcap::MAGIC)?;
        let mut header = Content::default();
        header.text("").text(concat!("vecud ", env!("CARGO_PKG_VERSION")));
        file.append(&header.record(op::HEADER))?;
        Ok(Container {
            file,
            compressed,
            chunk: Vec::new(),
            span: None,
            packed: Vec::new(),
            channels: Vec::new(),
            schemas: Vec::new(),
            channel_records: Vec::new(),
            chunk_indexes: Vec::new(),
            metadata_indexes: Vec::new(),
            chunks: 0,
            metadata: 0,
            whole_span: None,
        })
    }

    /// Adds something that is known of the whole file.
    pub(super) fn metadata(&mut self, name: &str, entries: &[(&str, &str)]) -> io::Result<()> {
        self.end_chunk()?;
        let mut content = Content::default();
        content.text(name).texts(entries);
        let record = content.record(op::METADATA);
        let mut index = Content::default();
        index.u64(self.file.position()).u64(record.len() as u64).text(name);
        self.metadata_indexes.extend(index.record(op::METADATA_INDEX));
        self.metadata += 1;
        self.file.append(&record)
    }

    /// Adds a channel, with a schema of its own.
    pub(super) fn channel(&mut self, about: &ChannelAbout) -> io::Result<u16> {
        let id = u16::try_from(self.channels.len()).map_err(Error::other)?;
        let schema_id = id.checked_add(1).ok_or_else(|| Error::other("there are too many channels"))?;
        let mut schema = Content::default();
        schema.u16(schema_id).text(about.schema).text(about.schema_encoding).bytes(about.schema_data);
        let schema = schema.record(op::SCHEMA);
        let mut channel = Content::default();
        channel.u16(id).u16(schema_id).text(about.topic).text(about.message_encoding).texts(about.metadata);
        let channel = channel.record(op::CHANNEL);
        self.chunk.extend_from_slice(&schema);
        self.chunk.extend_from_slice(&channel);
        self.schemas.extend(schema);
        self.channel_records.extend(channel);
        self.channels.push(Channel::default());
        Ok(id)
    }

    /// Adds a message, whose data `write` appends.
    #[inline]
    pub(super) fn message(&mut self, head: MessageHead, write: impl FnOnce(&mut Vec<u8>)) {
        const HEAD: usize = 31;
        let MessageHead { channel: id, sequence, time } = head;
        let (begin, channel) = (self.chunk.len(), &mut self.channels[usize::from(id)]);
        channel.messages += 1;
        channel.index.push([time, begin as u64]);
        self.span = Some(self.span.map_or([time; 2], |[first, last]| [first.min(time), last.max(time)]));
        let mut head = [0; HEAD];
        head[0] = op::MESSAGE;
        head[9..11].copy_from_slice(&id.to_le_bytes());
        head[11..15].copy_from_slice(&sequence.to_le_bytes());
        head[15..23].copy_from_slice(&time.to_le_bytes());
        head[23..31].copy_from_slice(&time.to_le_bytes());
        self.chunk.extend_from_slice(&head);
        write(&mut self.chunk);
        let length = (self.chunk.len() - begin - 9) as u64;
        self.chunk[begin + 1..begin + 9].copy_from_slice(&length.to_le_bytes());
    }

    /// Bytes that are not written yet.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        self.chunk.len()
    }

    /// Bytes that are written.
    pub(super) fn position(&self) -> u64 {
        self.file.position()
    }

    /// Makes the file whole with everything up to now.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.end_chunk()?;
        self.file.flush()
    }

    fn end_chunk(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let [first, last] = self.span.take().unwrap_or_default();
        let has_messages = self.channels.iter().any(|channel| !channel.index.is_empty());
        if has_messages {
            let [begin, end] = self.whole_span.unwrap_or([first, last]);
            self.whole_span = Some([begin.min(first), end.max(last)]);
        }
        let compression = if self.compressed { "lz4" } else { "" };
        if self.compressed {
            self.packed.clear();
            let info = FrameInfo::new().block_size(BlockSize::Max256KB);
            let mut encoder = FrameEncoder::with_frame_info(info, &mut self.packed);
            encoder.write_all(&self.chunk)?;
            encoder.finish().map_err(Error::other)?;
        }
        let data = if self.compressed { &self.packed } else { &self.chunk };
        let (begin, size) = (self.file.position(), self.chunk.len() as u64);
        let mut head = Content::default();
        head.u64(first).u64(last).u64(size).u32(crc32fast::hash(&self.chunk)).text(compression);
        head.u64(data.len() as u64);
        let head = head.head_of(op::CHUNK, data.len());
        self.file.append(&head)?;
        self.file.append(data)?;
        let end = self.file.position();
        let mut places = Content::default();
        for (id, channel) in self.channels.iter_mut().enumerate().filter(|(_, channel)| !channel.index.is_empty()) {
            places.u16(id as u16).u64(self.file.position());
            let mut index = Content::default();
            index.u16(id as u16).u32(channel.index.len() as u32 * 16);
            for number in channel.index.iter().flatten() {
                index.u64(*number);
            }
            channel.index.clear();
            self.file.append(&index.record(op::MESSAGE_INDEX))?;
        }
        let mut index = Content::default();
        index.u64(first).u64(last).u64(begin).u64(end - begin).bytes(&places.0);
        index.u64(self.file.position() - end).text(compression).u64(data.len() as u64).u64(size);
        self.chunk_indexes.extend(index.record(op::CHUNK_INDEX));
        self.chunks += 1;
        self.chunk.clear();
        Ok(())
    }

    /// Writes the summary and gives the file back.
    pub(super) fn finish(mut self) -> io::Result<Tailed<M>> {
        self.end_chunk()?;
        let mut end = Content::default();
        end.u32(0);
        self.file.append(&end.record(op::DATA_END))?;
        let [first, last] = self.whole_span.unwrap_or_default();
        let mut counts = Content::default();
        for (id, channel) in self.channels.iter().enumerate().filter(|(_, channel)| channel.messages > 0) {
            counts.u16(id as u16).u64(channel.messages);
        }
        let mut statistics = Content::default();
        statistics.u64(self.channels.iter().map(|channel| channel.messages).sum());
        statistics.u16(self.channels.len() as u16).u32(self.channels.len() as u32);
        statistics.u32(0).u32(self.metadata).u32(self.chunks).u64(first).u64(last).bytes(&counts.0);
        let groups = [
            (op::SCHEMA, &self.schemas),
            (op::CHANNEL, &self.channel_records),
            (op::STATISTICS, &statistics.record(op::STATISTICS)),
            (op::CHUNK_INDEX, &self.chunk_indexes),
            (op::METADATA_INDEX, &self.metadata_indexes),
        ];
        let begin = self.file.position();
        let (mut summary, mut offsets) = (Vec::new(), Vec::new());
        for (opcode, records) in groups.into_iter().filter(|(_, records)| !records.is_empty()) {
            let mut offset = Content::default();
            offset.u8(opcode).u64(begin + summary.len() as u64).u64(records.len() as u64);
            offsets.extend(offset.record(op::SUMMARY_OFFSET));
            summary.extend_from_slice(records);
        }
        let offsets_at = begin + summary.len() as u64;
        summary.extend(offsets);
        // Its checksum is that of all from the summary on, up to itself.
        let mut footer = Content::default();
        footer.u64(begin).u64(offsets_at);
        summary.extend(footer.head_of(op::FOOTER, 4));
        let checksum = crc32fast::hash(&summary);
        summary.extend(checksum.to_le_bytes());
        summary.extend_from_slice(mcap::MAGIC);
        self.file.append(&summary)?;
        self.file.flush()?;
        Ok(self.file)
    }
}

/// What is in a record.
#[derive(Default)]
struct Content(Vec<u8>);

impl Content {
    fn u8(&mut self, number: u8) -> &mut Content {
        self.0.push(number);
        self
    }

    fn u16(&mut self, number: u16) -> &mut Content {
        self.0.extend(number.to_le_bytes());
        self
    }

    fn u32(&mut self, number: u32) -> &mut Content {
        self.0.extend(number.to_le_bytes());
        self
    }

    fn u64(&mut self, number: u64) -> &mut Content {
        self.0.extend(number.to_le_bytes());
        self
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Content {
        self.u32(bytes.len() as u32).0.extend_from_slice(bytes);
        self
    }

    fn text(&mut self, text: &str) -> &mut Content {
        self.bytes(text.as_bytes())
    }

    /// Pairs of a name and a text.
    fn texts(&mut self, entries: &[(&str, &str)]) -> &mut Content {
        let mut all = Content::default();
        for (name, text) in entries {
            all.text(name).text(text);
        }
        self.bytes(&all.0)
    }

    /// The whole record.
    fn record(&self, opcode: u8) -> Vec<u8> {
        self.head_of(opcode, 0)
    }

    /// A record that goes on with so many bytes more.
    fn head_of(&self, opcode: u8, more: usize) -> Vec<u8> {
        let length = (self.0.len() + more) as u64;
        [&[opcode][..], &length.to_le_bytes(), &self.0].concat()
    }
}
