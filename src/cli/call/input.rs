//! Lines, from standard input or from the command line.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, stdin};
use std::os::fd::{AsFd, BorrowedFd};
use vecud_linux::stop;

/// Longer lines are none that somebody has written.
const LONGEST: usize = 1 << 20;

/// How long an interrupt may go unseen that comes right between a look at their number and the waiting for a line, ms.
const UNSEEN: u16 = 100;

/// Where lines come from.
pub enum LineSource {
    /// The command line.
    Given(VecDeque<String>),
    /// Standard input.
    Standard(BufReader<InterruptibleFile>),
    /// A terminal that somebody types at.
    Typed(BufReader<InterruptibleFile>),
}

/// A file whose reading a signal that asks for the end interrupts, whenever it came.
pub struct InterruptibleFile(File);

impl InterruptibleFile {
    fn standard_input() -> io::Result<BufReader<InterruptibleFile>> {
        Ok(BufReader::new(InterruptibleFile(File::from(stdin().as_fd().try_clone_to_owned()?))))
    }
}

impl Read for InterruptibleFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while stop::times_by_signals() == 0 {
            match poll(&mut [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)], UNSEEN) {
                Ok(0) => {}
                Ok(_) => return self.0.read(bytes),
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(ErrorKind::Interrupted.into())
    }
}

impl AsFd for InterruptibleFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub enum NextLine {
    /// A line, without its end.
    Of(String),
    /// A line that the user has abandoned (Ctrl-C).
    GivenUp,
    /// End of the input.
    End,
}

impl LineSource {
    /// Standard input.
    pub fn standard() -> io::Result<LineSource> {
        InterruptibleFile::standard_input().map(LineSource::Standard)
    }

    /// Lines of the command line; each may be several.
    pub fn of(commands: &[String]) -> LineSource {
        LineSource::Given(commands.iter().cloned().collect())
    }

    /// A terminal: Ctrl-C gives up a line there ([`stop::count_interrupts`]).
    pub fn typed() -> io::Result<LineSource> {
        InterruptibleFile::standard_input().map(LineSource::Typed)
    }

    /// The next line. One that is typed is given up where there are more interrupts than these.
    pub fn next(&mut self, interrupts: u32) -> io::Result<NextLine> {
        match self {
            LineSource::Given(lines) => Ok(lines.pop_front().map_or(NextLine::End, NextLine::Of)),
            LineSource::Standard(input) => read(input),
            // A terminal gives a line at a time, so nothing of the next one has been read.
            LineSource::Typed(input) => match is_typed(input.get_ref(), interrupts)? {
                true => read(input),
                false => Ok(NextLine::GivenUp),
            },
        }
    }
}

/// Waits until a line can be read; false: there are more interrupts than these, whenever they came.
fn is_typed(input: &impl AsFd, interrupts: u32) -> io::Result<bool> {
    loop {
        if stop::interrupts() != interrupts || stop::times_by_signals() > 0 {
            return Ok(false);
        }
        match poll(&mut [PollFd::new(input.as_fd(), PollFlags::POLLIN)], UNSEEN) {
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(true),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Reads a line. A signal ends the waiting for it, and what was typed of it is gone.
fn read(input: &mut impl BufRead) -> io::Result<NextLine> {
    let mut line = Vec::new();
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(NextLine::GivenUp),
            bytes => bytes?,
        };
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let is_over = bytes.is_empty();
        let taken = end.unwrap_or(bytes.len());
        line.extend(&bytes[..taken]);
        input.consume(taken + usize::from(end.is_some()));
        if line.len() > LONGEST {
            return Err(io::Error::other("a line is longer than 1 MiB: that is no list of calls"));
        }
        if is_over && line.is_empty() {
            return Ok(NextLine::End);
        }
        if is_over || end.is_some() {
            return Ok(NextLine::Of(String::from_utf8_lossy(&line).into_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_the_input_at_the_latest() {
        let mut input = BufReader::with_capacity(2, "one\n\nlast".as_bytes());
        let lines: Vec<NextLine> = (0..4).map(|_| read(&mut input).unwrap()).collect();
        assert_eq!(
            lines,
            [NextLine::Of("one".into()), NextLine::Of("".into()), NextLine::Of("last".into()), NextLine::End]
        );
        let endless = std::io::repeat(b'x');
        assert!(read(&mut BufReader::new(endless)).unwrap_err().to_string().contains("longer than 1 MiB"));
    }

    #[test]
    fn a_signal_that_came_before_anybody_waited_gives_a_line_up() {
        let (typed, mut keys) = io::pipe().unwrap();
        assert!(!is_typed(&typed, stop::interrupts().wrapping_sub(1)).unwrap());
        io::Write::write_all(&mut keys, b"line\n").unwrap();
        assert!(is_typed(&typed, stop::interrupts()).unwrap());
        assert!(!is_typed(&typed, stop::interrupts().wrapping_sub(1)).unwrap(), "a line, and then Ctrl-C");
    }

    #[test]
    fn a_signal_gives_a_line_up() {
        struct Interrupted;
        impl Read for Interrupted {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(ErrorKind::Interrupted.into())
            }
        }
        assert_eq!(read(&mut BufReader::new(Interrupted)).unwrap(), NextLine::GivenUp);
    }
}
