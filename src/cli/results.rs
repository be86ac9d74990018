//! Results on stdout. What does not arrive there is an error: a script must not take a part for the whole.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write, stdout};
use std::os::fd::AsFd;
use vecud_host::Error;
use vecud_linux::SysError;
use vecud_linux::process::{outlive_file_size_limit, terminal_size};
use vecud_report::Screen;

/// Writes a result: to the file descriptor itself, since Rust's stdout takes one that is not open for writing for success.
/// `instead` says where else the result is to be found.
pub fn print(text: &str, instead: Option<&str>) -> Result<(), Error> {
    print_with(|out| out.write_all(text.as_bytes()), instead)
}

/// Writes a result piece by piece, in the same way: it need not be in memory as a whole.
pub fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>, instead: Option<&str>) -> Result<(), Error> {
    let print = || {
        let mut out = BufWriter::new(File::from(stdout().as_fd().try_clone_to_owned()?));
        write(&mut out)?;
        out.flush()
    };
    written(print, instead)
}

/// Whether `write` has written a result. A reader that has gone away (`vecud check ... | head`) has seen enough.
pub fn written(write: impl FnOnce() -> io::Result<()>, instead: Option<&str>) -> Result<(), Error> {
    let system = |error: SysError| Error::System(error.to_string());
    // Or a file that may not become so long would end the process without a word.
    outlive_file_size_limit().map_err(system)?;
    let error = match write() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => error,
        _ => return Ok(()),
    };
    let errno = error.raw_os_error().unwrap_or(0);
    let fix = instead.unwrap_or(match errno {
        libc::ENOSPC | libc::EDQUOT => "free some, or send it to another disk",
        libc::EFBIG => "raise the limit: `ulimit -f unlimited`",
        _ => "send it to another place",
    });
    Err(system(SysError::new("write the result to standard output", errno, fix.to_owned())))
}

/// Where results are shown.
pub fn screen() -> Screen {
    let columns = terminal_size(stdout().as_fd()).map_or(120, |(columns, _)| columns);
    let color = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    Screen { columns, lines: usize::MAX, color }
}
