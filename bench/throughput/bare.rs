//! What a recording of messages cannot do without, in one thread: the bytes of each message are copied to a chunk and its values put
//! into them; of a full chunk there is a checksum, it is compressed where that helps, and written, with an index of its messages.

use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Bytes of a chunk, and of what is compressed at once.
const CHUNK: usize = 1 << 20;
const BLOCK: usize = 1 << 18;
/// Before the values of a message: the head of its record, and its time.
const HEAD: usize = 40;

/// Writes so many messages of `signals` values, which all change or are all 0: nanoseconds per message.
pub fn run(folder: &Path, signals: usize, changing: bool, messages: u64) -> Result<f64, String> {
    let problem = |error: &dyn std::fmt::Display| error.to_string();
    let mut file = File::create(folder.join("bare")).map_err(|e| problem(&e))?;
    let mut template = vec![1; HEAD];
    // A field of a double: its tag is one byte, or two.
    let tag = |signal: usize| if signal < 13 { 1 } else { 2 };
    let places: Vec<usize> = (0..signals)
        .map(|signal| {
            template.resize(template.len() + tag(signal), signal as u8);
            template.resize(template.len() + 8, 0);
            template.len() - 8
        })
        .collect();
    let (mut chunk, mut index) = (Vec::with_capacity(CHUNK + template.len()), Vec::new());
    let (mut table, mut packed) = (CompressTable::large(), vec![0; get_maximum_output_size(BLOCK)]);
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if changing { ((state >> 11) as f64 / (1u64 << 53) as f64).to_bits() } else { 0 }
    };
    let start = Instant::now();
    for message in 0..messages {
        let begin = chunk.len();
        index.extend_from_slice(&(message * 1_000_000).to_le_bytes());
        index.extend_from_slice(&(begin as u64).to_le_bytes());
        chunk.extend_from_slice(&template);
        let own = &mut chunk[begin..];
        own[11..15].copy_from_slice(&(message as u32).to_le_bytes());
        own[15..23].copy_from_slice(&(message * 1_000_000).to_le_bytes());
        own[23..31].copy_from_slice(&(message * 1_000_000).to_le_bytes());
        own[32..40].copy_from_slice(&(message as f64 / 1000.0).to_le_bytes());
        for place in &places {
            own[*place..*place + 8].copy_from_slice(&next().to_le_bytes());
        }
        if chunk.len() >= CHUNK || message + 1 == messages {
            let mut write = |bytes: &[u8]| file.write_all(bytes).map_err(|e| problem(&e));
            write(&crc32fast::hash(&chunk).to_le_bytes())?;
            for block in chunk.chunks(BLOCK) {
                if changing {
                    write(block)?;
                } else {
                    let length = compress_into_with_table(block, &mut packed, &mut table).map_err(|e| problem(&e))?;
                    write(&packed[..length])?;
                }
            }
            write(&index)?;
            chunk.clear();
            index.clear();
        }
    }
    Ok(start.elapsed().as_nanos() as f64 / messages as f64)
}
