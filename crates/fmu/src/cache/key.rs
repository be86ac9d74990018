//! Hashes that name entries of the cache.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// A SHA-256 over labelled values; labels and lengths keep neighbours apart.
pub(crate) struct CacheKey(Sha256);

impl CacheKey {
    pub fn new() -> CacheKey {
        CacheKey(Sha256::new())
    }

    pub fn add(&mut self, label: &str, value: impl AsRef<[u8]>) {
        for bytes in [label.as_bytes(), value.as_ref()] {
            self.0.update((bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
        }
    }

    /// Adds everything that `reader` gives, without holding it in memory.
    pub fn add_content(&mut self, mut reader: impl Read) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        let mut length = 0u64;
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(got) => {
                    self.0.update(&buffer[..got]);
                    length += got as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.0.update(length.to_le_bytes());
        Ok(())
    }

    /// The hash in hexadecimal digits.
    pub fn finish(self) -> String {
        let digits = |byte: &u8| format!("{byte:02x}");
        self.0.finalize().iter().map(digits).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_do_not_run_together() {
        let key = |values: [&str; 2]| {
            let mut key = CacheKey::new();
            values.iter().for_each(|value| key.add("x", value));
            key.finish()
        };
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_eq!(key(["ab", "c"]), key(["ab", "c"]));
        assert_eq!(key(["", ""]).len(), 64);
    }

    #[test]
    fn content_counts() {
        let key = |content: &[u8]| {
            let mut key = CacheKey::new();
            key.add_content(content).unwrap();
            key.finish()
        };
        assert_ne!(key(b"a"), key(b"b"));
        assert_ne!(key(b""), key(b"\0"));
    }
}
