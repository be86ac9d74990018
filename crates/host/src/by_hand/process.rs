//! The process that holds the code of an FMU that is called by hand: asked, waited for as long as is wanted, and ended.

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
use vecud_runner::by_hand::{self, CONVERSATION_FD, LoadRequest, Message, PLACE_FD, PLACE_WORDS, Reply, Request};

/// How often somebody who waits for an answer looks whether it still is to be waited for.
const LOOK: Duration = Duration::from_millis(20);
/// What the end of an instance may take.
const PATIENCE: Duration = Duration::from_secs(2);

const _: () = assert!(CONVERSATION_FD == 3 && PLACE_FD == 4);

/// The process.
pub struct FmuProcess {
    process: CodeProcess,
    stream: UnixStream,
    /// Bytes of frames that are not whole yet.
    pending: Vec<u8>,
    place: SharedMemory,
}

/// Why there is no answer: the process is no more.
#[derive(Debug, PartialEq, Eq)]
pub enum Gone {
    /// What the FMU has done, in words: `crashed (SIGSEGV)`.
    ByItself(String),
    /// A call has lasted too long.
    Late,
    /// Somebody has asked for its end.
    Interrupted,
}

impl FmuProcess {
    /// Starts it; what FMU code prints goes to `printed`. `adopts`: what it leaves behind of processes comes to this one.
    pub fn start(subject: &LoadRequest, printed: File, adopts: bool) -> Result<FmuProcess, Error> {
        let system = |error: io::Error| Error::System(error.to_string());
        let (mut own, theirs) = UnixStream::pair().map_err(system)?;
        let place =
            SharedMemory::create("vecud-call", PLACE_WORDS * 8).map_err(|error| Error::System(error.to_string()))?;
        let files = [theirs.as_fd(), place.file()];
        let process = CodeProcess::start(None, &["runner", "call"], &files, printed, adopts)?;
        drop(theirs);
        own.set_read_timeout(Some(LOOK)).map_err(system)?;
        // One that is gone already says so when it is asked.
        let _it_may_be_gone = by_hand::send(&mut own, subject);
        Ok(FmuProcess { process, stream: own, pending: Vec::new(), place })
    }

    /// The function that it is inside of.
    pub fn inside(&self) -> Option<Function> {
        let word = self.place.words().first()?.load(SeqCst) & 0xFFFF;
        word.checked_sub(1).and_then(|number| Function::from_u32(number as u32))
    }

    /// Asks, and waits for the answer: for so long at most, and until somebody asks for its end. `hear` hears of everything meanwhile.
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
                        // Where something that FMU code has started keeps the stream open, the process itself tells.
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

    /// The next message, if it is whole.
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

    /// How it has ended.
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
                (Some(signal), _) => format!("crashed ({signal})"),
                (None, code) => format!("called exit({})", code.unwrap_or(0)),
            },
            None => "has closed what it speaks by".to_owned(),
        };
        Gone::ByItself(words)
    }

    /// Ends the instance, then the process, and what FMU code has left behind of processes. Says what has gone wrong meanwhile, and in
    /// which function, if it was in one; and what is said of those processes, if there are any.
    pub fn end(mut self) -> (Option<(Option<Function>, String)>, Option<String>) {
        let was_there = !self.has_ended();
        let _ = self.stream.shutdown(Shutdown::Write);
        let until = Instant::now() + PATIENCE;
        let mut bytes = [0; 65536];
        while !self.has_ended() && Instant::now() < until {
            // What it still has to say is of no use, but must not hold it up.
            match self.stream.read(&mut bytes) {
                Ok(0) => std::thread::sleep(Duration::from_millis(1)),
                _more_or_none_yet => {}
            }
        }
        let how = match self.process.try_wait() {
            Ok(None) => Some(format!("did not return within {} s", PATIENCE.as_secs())),
            Ok(Some(status)) => process::signal_name(status).map(|signal| format!("crashed ({signal})")),
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
