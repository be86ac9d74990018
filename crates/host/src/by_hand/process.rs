//! The process that holds the code of an FMU called by hand: sends requests, waits for answers up to a limit, ends it.

use crate::Error;
use crate::offspring;
use crate::process::CodeProcess;
use std::fs::File;
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use vecud_fmi::Function;
use vecud_linux::process;
use vecud_linux::shared_memory::SharedMemory;
use vecud_runner::by_hand::{
    self, CONVERSATION_FD, LoadRequest, Message, PLACE_FD, PLACE_WORDS, Reply, Request, STACK_WORD,
};

/// Interval between two checks whether an answer is still to be waited for.
const LOOK: Duration = Duration::from_millis(20);
/// Time limit for the end of an instance.
const PATIENCE: Duration = Duration::from_secs(2);

const _: () = assert!(CONVERSATION_FD == 3 && PLACE_FD == 4);

/// The process and its message stream.
pub struct FmuProcess {
    process: CodeProcess,
    stream: UnixStream,
    /// Bytes of incomplete frames.
    pending: Vec<u8>,
    place: SharedMemory,
}

/// Cause of a missing answer: the process is gone.
#[derive(Debug, PartialEq, Eq)]
pub enum Gone {
    /// The FMU ended the process, in words: `crashed (SIGSEGV)`.
    ByItself(String),
    /// A call exceeded the time limit.
    Late,
    /// The user interrupted the call.
    Interrupted,
}

impl FmuProcess {
    /// Starts the process; output of FMU code goes to `printed`. `adopts`: this process adopts processes left behind.
    pub fn start(subject: &LoadRequest, printed: File, adopts: bool) -> Result<FmuProcess, Error> {
        let system = |error: io::Error| Error::System(error.to_string());
        let (mut own, theirs) = UnixStream::pair().map_err(system)?;
        let place =
            SharedMemory::create("vecud-call", PLACE_WORDS * 8).map_err(|error| Error::System(error.to_string()))?;
        let files = [theirs.as_fd(), place.file()];
        let process = CodeProcess::start(None, &["runner", "call"], &files, printed, adopts)?;
        drop(theirs);
        own.set_read_timeout(Some(LOOK)).map_err(system)?;
        // A process that is gone already is detected with the first request.
        let _it_may_be_gone = by_hand::send(&mut own, subject);
        Ok(FmuProcess { process, stream: own, pending: Vec::new(), place })
    }

    /// The function that is being called.
    pub fn inside(&self) -> Option<Function> {
        let word = self.place.words().first()?.load(SeqCst) & 0xFFFF;
        word.checked_sub(1).and_then(|number| Function::from_u32(number as u32))
    }

    /// Sends a request and waits for the answer, within a time limit and until an interrupt. `hear` receives all other
    /// messages.
    pub fn ask(
        &mut self,
        request: &Request,
        timeout: Duration,
        is_interrupted: &dyn Fn() -> bool,
        hear: &mut dyn FnMut(Message),
    ) -> Result<Reply, Gone> {
        let until = Instant::now() + timeout;
        if by_hand::send(&mut self.stream, request).is_err() {
            return Err(self.gone());
        }
        loop {
            while let Some(message) = self.message() {
                match message {
                    Message::Over(answer) => return Ok(answer),
                    other => hear(other),
                }
            }
            let mut bytes = [0; 65536];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(self.gone()),
                Ok(length) => self.pending.extend(&bytes[..length]),
                Err(error) if is_no_answer_yet(&error) => {
                    let why = match (is_interrupted(), Instant::now() > until) {
                        (true, _) => Gone::Interrupted,
                        (_, true) => Gone::Late,
                        // The stream can stay open in a process that FMU code has started, so the process itself is
                        // checked.
                        _ if self.has_ended() => return Err(self.gone()),
                        _ => continue,
                    };
                    self.process.kill();
                    return Err(why);
                }
                Err(_) => return Err(self.gone()),
            }
        }
    }

    /// The next complete message.
    fn message(&mut self) -> Option<Message> {
        let begin = self.pending.first_chunk::<4>()?;
        let end = 4 + by_hand::length(*begin).ok()?;
        let message = by_hand::read(self.pending.get(4..end)?).ok();
        self.pending.drain(..end);
        message
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    /// Waits for the process to end and tells how it ended.
    fn gone(&mut self) -> Gone {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match self.process.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                _ => break None,
            }
        };
        let words = match status {
            Some(status) => match (process::signal_name(status), status.code()) {
                (Some(signal), _) => self.crashed(&signal),
                (None, code) => format!("called exit({})", code.unwrap_or(0)),
            },
            None => "has closed what it speaks by".to_owned(),
        };
        Gone::ByItself(words)
    }

    /// The end by a signal, in words.
    fn crashed(&self, signal: &str) -> String {
        match self.place.words().get(STACK_WORD).map_or(0, |kib| kib.load(SeqCst)) {
            0 => format!("crashed ({signal})"),
            kib => format!("overflowed its stack of {kib} KiB ({signal}; `ulimit -s` makes it larger)"),
        }
    }

    /// Ends the instance, then the process and all processes that FMU code has left behind. Returns the failure, with
    /// the function it occurred in, and the message about those processes.
    pub fn end(mut self) -> (Option<(Option<Function>, String)>, Option<String>) {
        let was_there = !self.has_ended();
        let _ = self.stream.shutdown(Shutdown::Write);
        let until = Instant::now() + PATIENCE;
        let mut bytes = [0; 65536];
        while !self.has_ended() && Instant::now() < until {
            // Remaining output is useless, but must not block the process.
            match self.stream.read(&mut bytes) {
                Ok(0) => std::thread::sleep(Duration::from_millis(1)),
                _more_or_none_yet => {}
            }
        }
        let how = match self.process.try_wait() {
            Ok(None) => Some(format!("did not return within {} s", PATIENCE.as_secs())),
            Ok(Some(status)) => process::signal_name(status).map(|signal| self.crashed(&signal)),
            Err(_) => None,
        };
        let wrong = how.filter(|_| was_there).map(|how| (self.inside(), how));
        self.process.kill();
        while !self.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut left = Vec::new();
        let all_ended = self.process.end_offspring(|process| left.push(offspring::name(process)));
        let names: Vec<&str> = left.iter().map(String::as_str).collect();
        (wrong, offspring::message("the FMU", &names, all_ended))
    }
}

fn is_no_answer_yet(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}
