//! Folders in which tests work.

use nix::sys::statvfs::{FsFlags, statvfs};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

/// The least that has to be free in memory.
const ROOM: u64 = 2 << 30;

/// A folder of its own for a test, which is gone with it.
///
/// Tests make and remove files by the ten thousand. A file system on a disk takes more processor time for that than the programs
/// under test, so the folder lies in memory: where there is room, where programs may run from there, and where `TMPDIR` does not say
/// otherwise.
pub fn tempdir() -> std::io::Result<TempDir> {
    static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
        let memory = Path::new("/dev/shm");
        if std::env::var_os("TMPDIR").is_none() && holds_programs(memory) {
            memory.into()
        } else {
            std::env::temp_dir()
        }
    });
    tempfile::tempdir_in(&*PLACE)
}

fn holds_programs(folder: &Path) -> bool {
    statvfs(folder).is_ok_and(|place| {
        !place.flags().contains(FsFlags::ST_NOEXEC) && place.blocks_available() * place.fragment_size() >= ROOM
    })
}
