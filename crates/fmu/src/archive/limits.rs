//! The limits of an archive's use of the machine.

/// The limits of an archive.
#[derive(Debug, Clone)]
pub(super) struct ArchiveLimits {
    /// Number of entries, and of the files and folders that they make.
    pub entries: usize,
    /// Bytes of one entry, unpacked.
    pub entry_size: u64,
    /// Bytes of all entries, unpacked.
    pub total_size: u64,
    /// Unpacked bytes per byte of the archive, as far as they exceed `free_size`.
    pub ratio: u64,
    /// The size to which an archive of any length may unpack: a table of zeros is legal, however well it is compressed.
    pub free_size: u64,
    /// Bytes of the archive's directory.
    pub directory: u64,
}

impl Default for ArchiveLimits {
    fn default() -> ArchiveLimits {
        ArchiveLimits {
            entries: 100_000,
            entry_size: 2 << 30,
            total_size: 4 << 30,
            ratio: 100,
            free_size: 512 << 20,
            directory: 64 << 20,
        }
    }
}
