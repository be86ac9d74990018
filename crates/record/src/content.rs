//! Content of records in MCAP format: <https://mcap.dev/spec>. Numbers are little-endian, texts and lists begin with
//! their length in bytes.

/// The content of a record.
#[derive(Default)]
pub(super) struct Content(Vec<u8>);

impl Content {
    /// Appends a number.
    pub(super) fn u8(&mut self, number: u8) -> &mut Content {
        self.0.push(number);
        self
    }

    /// Appends a number.
    pub(super) fn u16(&mut self, number: u16) -> &mut Content {
        self.0.extend(number.to_le_bytes());
        self
    }

    /// Appends a number.
    pub(super) fn u32(&mut self, number: u32) -> &mut Content {
        self.0.extend(number.to_le_bytes());
        self
    }

    /// Appends a number.
    pub(super) fn u64(&mut self, number: u64) -> &mut Content {
        self.0.extend(number.to_le_bytes());
        self
    }

    /// Appends bytes, with their number before them.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Content {
        self.u32(bytes.len() as u32).0.extend_from_slice(bytes);
        self
    }

    /// Appends a text.
    pub(super) fn text(&mut self, text: &str) -> &mut Content {
        self.bytes(text.as_bytes())
    }

    /// Appends pairs of a name and a text.
    pub(super) fn texts(&mut self, entries: &[(&str, &str)]) -> &mut Content {
        let mut all = Content::default();
        for (name, text) in entries {
            all.text(name).text(text);
        }
        self.bytes(&all.0)
    }

    /// The bytes appended so far.
    pub(super) fn all(&self) -> &[u8] {
        &self.0
    }

    /// The whole record.
    pub(super) fn record(&self, opcode: u8) -> Vec<u8> {
        self.head_of(opcode, 0)
    }

    /// The head of a record with this number of further bytes.
    pub(super) fn head_of(&self, opcode: u8, more: usize) -> Vec<u8> {
        let length = (self.0.len() + more) as u64;
        [&[opcode][..], &length.to_le_bytes(), &self.0].concat()
    }
}
