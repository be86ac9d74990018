//! Devices and pipes that a user names as a destination.

use rustix::fs::OFlags;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a device or a pipe for writing, without waiting for a reader of the pipe.
///
/// # Errors
/// The operating system's; for a pipe without a reader "No such device or address".
pub fn open_device(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}
