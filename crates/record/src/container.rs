//! A file in MCAP format: messages in chunks, which are compressed or not, their index, and a summary at the regular end.
//!
//! After each flush the file is whole (module `tail`). The crate mcap reads such files, here too; its writer has no other
//! compressions than libraries in C, and takes longer for the frame of a message than its values take.
//!
//! Chunks are written by module `packing`.

use super::chunk::{Chunk, ChunkFile, MessageHead};
use super::content::Content;
use super::packing::Packing;
use super::tail::{Medium, Tailed};
use mcap::records::op;
use std::io::{self, Error};

/// The description of a channel.
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
    packing: Packing<M>,
    /// The chunk that is filled.
    chunk: Chunk,
    /// Messages of each channel.
    messages: Vec<u64>,
    /// The records of schemas, and those of channels, which the summary repeats.
    schemas: Vec<u8>,
    channel_records: Vec<u8>,
    /// Records of the summary about metadata.
    metadata_indexes: Vec<u8>,
    metadata: u32,
}

impl<M: Medium + Send + 'static> Container<M> {
    /// Begins an empty file.
    pub(super) fn new(medium: M, compressed: bool) -> io::Result<Container<M>> {
        let mut file = Tailed::new(medium);
        file.append(mcap::MAGIC)?;
        let mut header = Content::default();
        header.text("").text(concat!("vecud ", env!("CARGO_PKG_VERSION")));
        file.append(&header.record(op::HEADER))?;
        Ok(Container {
            packing: Packing::new(ChunkFile::new(file, compressed)?),
            chunk: Chunk::default(),
            messages: Vec::new(),
            schemas: Vec::new(),
            channel_records: Vec::new(),
            metadata_indexes: Vec::new(),
            metadata: 0,
        })
    }

    /// Adds something that is known of the whole file.
    pub(super) fn metadata(&mut self, name: &str, entries: &[(&str, &str)]) -> io::Result<()> {
        self.flush()?;
        let mut content = Content::default();
        content.text(name).texts(entries);
        let record = content.record(op::METADATA);
        let file = &mut self.packing.here()?.file;
        let mut index = Content::default();
        index.u64(file.position()).u64(record.len() as u64).text(name);
        self.metadata_indexes.extend(index.record(op::METADATA_INDEX));
        self.metadata += 1;
        file.append(&record)
    }

    /// Adds a channel, with a schema of its own.
    pub(super) fn channel(&mut self, about: &ChannelAbout) -> io::Result<u16> {
        let id = u16::try_from(self.messages.len()).map_err(Error::other)?;
        let schema_id = id.checked_add(1).ok_or_else(|| Error::other("there are too many channels"))?;
        let mut schema = Content::default();
        schema.u16(schema_id).text(about.schema).text(about.schema_encoding).bytes(about.schema_data);
        let schema = schema.record(op::SCHEMA);
        let mut channel = Content::default();
        channel.u16(id).u16(schema_id).text(about.topic).text(about.message_encoding).texts(about.metadata);
        let channel = channel.record(op::CHANNEL);
        self.chunk.record(&schema);
        self.chunk.record(&channel);
        self.schemas.extend(schema);
        self.channel_records.extend(channel);
        self.messages.push(0);
        Ok(id)
    }

    /// Adds a message, whose data `write` appends.
    #[inline]
    pub(super) fn message(&mut self, head: MessageHead, write: impl FnOnce(&mut Vec<u8>)) {
        self.messages[usize::from(head.channel)] += 1;
        self.chunk.message(head, write);
    }

    /// Bytes of the chunk that is filled.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        self.chunk.len()
    }

    /// Bytes of the file and of data that waits for being written, before compression.
    pub(super) fn size(&self) -> u64 {
        self.packing.size() + self.chunk.len() as u64
    }

    /// Bytes of the file.
    pub(super) fn written(&self) -> u64 {
        self.packing.written()
    }

    /// Chunks that have ended and are not known to be written.
    pub(super) fn unwritten(&self) -> usize {
        self.packing.unwritten()
    }

    /// Ends the chunk: the file is soon whole with everything up to now. An error may be that of an earlier chunk.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let chunk = std::mem::take(&mut self.chunk);
        self.chunk = self.packing.write(chunk)?;
        Ok(())
    }

    /// Reports an error of writing chunks, if there was one.
    pub(super) fn look(&mut self) -> io::Result<()> {
        self.packing.look()
    }

    /// Waits until all chunks are written, or have failed: [`Container::look`] reports that.
    pub(super) fn settle(&mut self) {
        self.packing.settle();
    }

    /// Writes the summary and gives the file back.
    pub(super) fn finish(mut self) -> io::Result<Tailed<M>> {
        self.flush()?;
        let ChunkFile { mut file, indexes, chunks, span, .. } = self.packing.into_file()?;
        let mut end = Content::default();
        end.u32(0);
        file.append(&end.record(op::DATA_END))?;
        let [first, last] = span.unwrap_or_default();
        let mut counts = Content::default();
        for (id, messages) in self.messages.iter().enumerate().filter(|(_, messages)| **messages > 0) {
            counts.u16(id as u16).u64(*messages);
        }
        let mut statistics = Content::default();
        statistics.u64(self.messages.iter().sum());
        statistics.u16(self.messages.len() as u16).u32(self.messages.len() as u32);
        statistics.u32(0).u32(self.metadata).u32(chunks).u64(first).u64(last).bytes(counts.all());
        let groups = [
            (op::SCHEMA, &self.schemas),
            (op::CHANNEL, &self.channel_records),
            (op::STATISTICS, &statistics.record(op::STATISTICS)),
            (op::CHUNK_INDEX, &indexes),
            (op::METADATA_INDEX, &self.metadata_indexes),
        ];
        let begin = file.position();
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
        file.append(&summary)?;
        file.flush()?;
        Ok(file)
    }
}
