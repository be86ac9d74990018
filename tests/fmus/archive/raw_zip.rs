//! ZIP archives byte by byte, with everything wrong that a test asks for.

/// One entry; `new` makes a good one.
#[derive(Clone)]
pub struct Entry {
    pub name: Vec<u8>,
    /// As it lies in the archive.
    pub data: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    pub crc: u32,
    pub size: u64,
    pub mode: u32,
    /// Use the local header and data of this earlier entry.
    pub shares: Option<usize>,
}

pub fn stored(name: impl AsRef<[u8]>, data: impl AsRef<[u8]>) -> Entry {
    let data = data.as_ref().to_vec();
    Entry {
        name: name.as_ref().to_vec(),
        method: 0,
        flags: 0x800,
        crc: crc32(&data),
        size: data.len() as u64,
        mode: 0o100_644,
        shares: None,
        data,
    }
}

/// `compressed` bytes of deflate that become 158 times as many zeros.
pub fn zeros(name: &str, compressed: usize) -> Entry {
    let (data, size) = deflated_zeros(compressed);
    Entry { method: 8, size, crc: 0, ..stored(name, data) }
}

/// A good `modelDescription.xml`.
pub fn description() -> Entry {
    stored("modelDescription.xml", "<fmiModelDescription/>")
}

pub fn archive(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut offsets = Vec::new();
    for entry in entries {
        if let Some(other) = entry.shares {
            offsets.push(offsets[other]);
            continue;
        }
        offsets.push(out.len() as u32);
        out.extend(b"PK\x03\x04");
        out.extend(20u16.to_le_bytes());
        fixed_fields(entry, &mut out);
        out.extend((extra(entry).len() as u16).to_le_bytes());
        out.extend(&entry.name);
        out.extend(extra(entry));
        out.extend(&entry.data);
    }
    let directory = out.len() as u32;
    for (entry, offset) in entries.iter().zip(offsets) {
        out.extend(b"PK\x01\x02");
        out.extend((3u16 << 8 | 20).to_le_bytes()); // made on Unix
        out.extend(20u16.to_le_bytes());
        fixed_fields(entry, &mut out);
        out.extend((extra(entry).len() as u16).to_le_bytes());
        out.extend([0; 6]); // comment, disk, internal attributes
        out.extend((entry.mode << 16).to_le_bytes());
        out.extend(offset.to_le_bytes());
        out.extend(&entry.name);
        out.extend(extra(entry));
    }
    let length = out.len() as u32 - directory;
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend((entries.len() as u16).to_le_bytes());
    out.extend((entries.len() as u16).to_le_bytes());
    out.extend(length.to_le_bytes());
    out.extend(directory.to_le_bytes());
    out.extend([0; 2]);
    out
}

/// From the flags to the length of the name.
fn fixed_fields(entry: &Entry, out: &mut Vec<u8>) {
    out.extend(entry.flags.to_le_bytes());
    out.extend(entry.method.to_le_bytes());
    out.extend([0, 0, 0x21, 0]); // 1 January 1980
    out.extend(entry.crc.to_le_bytes());
    out.extend((entry.data.len() as u32).to_le_bytes());
    out.extend(u32::try_from(entry.size).unwrap_or(u32::MAX).to_le_bytes());
    out.extend((entry.name.len() as u16).to_le_bytes());
}

/// The ZIP64 field, for sizes that need it.
fn extra(entry: &Entry) -> Vec<u8> {
    if entry.size < u64::from(u32::MAX) {
        return Vec::new();
    }
    [&[1, 0, 8, 0], &entry.size.to_le_bytes()[..]].concat()
}

/// One block of fixed Huffman codes: a zero, then "258 bytes from one byte back" until `length` is used up.
fn deflated_zeros(length: usize) -> (Vec<u8>, u64) {
    let mut bits: Vec<bool> = vec![true, true, false];
    let mut code = |value: u32, width: u32| {
        bits.extend((0..width).rev().map(|bit| value >> bit & 1 == 1));
        bits.len()
    };
    let mut size = 1;
    let mut used = code(0b0011_0000, 8);
    while used + 13 + 7 <= length * 8 {
        code(0b1100_0101, 8);
        used = code(0, 5);
        size += 258;
    }
    code(0, 7);
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    (bits.chunks(8).map(byte).collect(), size)
}

fn crc32(data: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
    !data.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
