//! The process that holds the FMU, from its start on; the descriptors and the memory that it is given.

use super::channel::Channel;
use super::instance::Caller;
use super::protocol::{self, LoadRequest, Message};
use crate::leave::leave;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use vecud_description::ModelDescription;
use vecud_fmi::{CallCounts, CallIndicator, Function, ThreadHost, set_thread_host};
use vecud_linux::crash::{self, LastWords};
use vecud_linux::shared_memory::SharedMemory;
use vecud_linux::{confine, memory, process, surroundings, thread};

/// Where the process finds its end of the conversation, a stream socket.
pub const CONVERSATION_FD: i32 = 3;
/// Where the process finds the shared memory.
pub const PLACE_FD: i32 = 4;
/// Words of the shared memory: 1 + the number of the function that is being called (0: none is), the last words of the process, and how
/// often each function was called.
pub const PLACE_WORDS: usize = 1 + LAST_WORDS + 128;
/// How many last words there are.
const LAST_WORDS: usize = 8;
/// Where in the shared memory stands the size of the stack that has overflown, KiB; 0: none has.
pub const STACK_WORD: usize = 1;
/// Bytes of its stack that are prepared, as a rig has them by default.
const READY: usize = 1 << 20;

/// Serves the FMU code on the only thread.
struct Server {
    channel: Arc<Channel>,
    shown: CallIndicator,
}

impl ThreadHost for Server {
    fn clock_update(&self, time: Option<f64>) {
        let at = time.map(|time| format!(" of {time:?}")).unwrap_or_default();
        self.channel.say(&Message::CalledBack(format!("clockUpdate{at}")));
    }

    // Nothing preempts the only thread.
    fn lock_preemption(&self) {}

    fn unlock_preemption(&self) {}

    // The status is reported with the call.
    fn warned(&self, _: Function) {}

    fn shown(&'static self) -> Option<&'static CallIndicator> {
        Some(&self.shown)
    }
}

/// Serves requests until there are none left, and ends the process. Returns 2 where it was not started properly.
pub fn main() -> i32 {
    match prepare() {
        Ok(prepared) => thread::in_place("vecud-caller", READY, || prepared.serve()),
        Err(message) => {
            eprintln!("vecud runner: {message}");
            2
        }
    }
}

/// The FMU and the conversation about it.
struct Prepared {
    subject: LoadRequest,
    description: ModelDescription,
    channel: Arc<Channel>,
    stream: UnixStream,
    calls: &'static CallCounts,
    word: &'static AtomicU64,
}

impl Prepared {
    /// Serves requests on the calling thread, and ends the process.
    fn serve(self) -> ! {
        surroundings::keep();
        let shown = CallIndicator::new(vecud_fmi::CallProbe { word: self.word, tag: 0, calls: self.calls });
        let server: &'static Server = Box::leak(Box::new(Server { channel: self.channel.clone(), shown }));
        set_thread_host(Some(server));
        Caller::new(self.subject, self.description, self.channel).serve(self.stream);
        leave(0, |_| ())
    }
}

fn prepare() -> Result<Prepared, String> {
    const NOT_BY_HAND: &str = "this process is started by `vecud call`, not by hand";
    let inherited = |number| process::inherited(number).map_err(|error| format!("{NOT_BY_HAND} ({error})"));
    let mut stream = UnixStream::from(inherited(CONVERSATION_FD)?);
    let subject: Option<LoadRequest> =
        protocol::receive(&mut stream).map_err(|error| format!("the FMU is unreadable: {error}"))?;
    let subject = subject.ok_or(NOT_BY_HAND)?;
    // The memory lives as long as the process: FMU code may be called until its very end.
    let shared = SharedMemory::open(inherited(PLACE_FD)?).map_err(|error| error.to_string())?;
    let shared: &'static SharedMemory = Box::leak(Box::new(shared));
    let [word, stack, signal, label, foreign, sender, code, out_of_memory, exit, counts @ ..] = shared.words() else {
        return Err("the shared memory is empty".to_owned());
    };
    let calls = counts.get(..PLACE_WORDS - 1 - LAST_WORDS).and_then(|counts| <&CallCounts>::try_from(counts).ok());
    let calls = calls.ok_or("the shared memory is too small")?;
    let last_words = LastWords { signal, label, foreign, sender, code, stack, out_of_memory, exit };
    let _only_for_ps = thread::set_name("vecud-caller");
    if let Err(error) = crash::install(last_words) {
        eprintln!("vecud: a crash of FMU code would not be explained: {error}");
    }
    // A system that refuses these limits refuses to keep FMU code in bounds, not to run it: that is noted, and the user decides.
    for refused in [
        crash::follow_parent(subject.supervisor).err(),
        memory::data_limit(None).and_then(|bytes| memory::limit_data(bytes, 0).err()),
        confine::confine(0).err(),
    ]
    .into_iter()
    .flatten()
    {
        eprintln!("vecud: FMU code is less confined than it should be: {refused}");
    }
    let dialect = Some(subject.abi).filter(|abi| !abi.is_earlier());
    let description = match subject.lenient {
        true => vecud_description::parse_leniently(&subject.description, dialect),
        false => vecud_description::parse_as(&subject.description, dialect),
    };
    let description = description.map_err(|error| error.to_string())?;
    let listening = stream.try_clone().map_err(|error| error.to_string())?;
    let channel = Arc::new(Channel { stream: Mutex::new(stream), abi: subject.abi, interface: subject.interface });
    Ok(Prepared { subject, description, channel, stream: listening, calls, word })
}
