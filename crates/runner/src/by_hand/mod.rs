//! One FMU whose functions are called one by one (`vecud call`): the process that holds its code.
//!
//! The process is given the FMU first, then requests, and answers each of them; returned calls and messages of the FMU are sent
//! meanwhile. The types of [`vecud_fmi`] allow the requests of each state; all others are refused before C is called
//! ([`Verb::states`]). Shared memory shows which function the process is inside of, so that a crash and a hang have a place.

mod activation;
mod equations;
mod instance;
mod protocol;
mod saved;
mod slot;
mod variables;

pub use protocol::{
    Call, FmiState, IntervalValue, LoadRequest, Message, Reply, ReplyContent, Request, RequestFailure, VariableHandle,
    Verb, length, read, send,
};

use self::instance::Caller;
use crate::leave::leave;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use vecud_description::{Abi, Interface, ModelDescription, ValueReference};
use vecud_fmi::{
    CallCounts, CallIndicator, ForeignCall, Function, InstanceHost, ReturnedCall, Status, ThreadHost, set_thread_host,
};
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

/// Where messages go, from whichever thread.
struct Channel {
    stream: Mutex<UnixStream>,
    abi: Abi,
    interface: Interface,
}

impl Channel {
    /// Sends a message. Where the peer has gone, this process ends soon.
    fn say(&self, message: &Message) {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let _nobody_listens = protocol::send(&mut *stream, message);
    }

    /// Sends a note beside a result.
    fn note(&self, words: String) {
        self.say(&Message::Noted(words));
    }

    /// The C name of a function.
    fn name(&self, function: Function) -> &'static str {
        function.name_of(self.abi, self.interface).unwrap_or(function.name_in(self.abi))
    }

    /// Says that a function without a status has returned.
    fn returned(&self, function: Function, arguments: String, nanos: u64) {
        self.say(&Message::Called(Call { function: self.name(function).to_owned(), arguments, status: None, nanos }));
    }
}

impl InstanceHost for Channel {
    fn log(&self, status: Status, category: Option<&[u8]>, message: &[u8]) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (category, message) = (category.map(text).unwrap_or_default(), text(message));
        self.say(&Message::Logged { status: status.name_in(self.abi).to_owned(), category, message });
    }

    fn foreign_call(&self, what: ForeignCall) {
        let words = match what {
            ForeignCall::ClockUpdateOutsideCall => "clockUpdate, outside of a call of this instance",
            ForeignCall::ClockUpdateInsideGetClock => "clockUpdate, from within a call that reads clocks",
            ForeignCall::ClockUpdateOutsideClockActivation => "clockUpdate, outside of Clock Activation Mode",
            ForeignCall::ClockUpdateWithoutThreadHost => "clockUpdate, on a thread that was not made by the importer",
            ForeignCall::IntermediateUpdateOutsideStep => "intermediateUpdate, outside of a step",
            ForeignCall::LockOnForeignThread => "lockPreemption, on a thread that was not made by the importer",
        };
        self.say(&Message::CalledBack(format!("{words}: that is not allowed, and has no effect")));
    }

    fn no_boolean(&self, _: ValueReference, value: i64) {
        let words = format!("the FMU has given {value} for a Boolean, which is neither 0 nor 1: it is taken for true");
        self.say(&Message::Noted(words));
    }

    fn watches_calls(&self) -> bool {
        true
    }

    fn called(&self, call: &ReturnedCall, arguments: &dyn Fn() -> String) {
        let status = match Status::from_raw(call.status) {
            Some(status) => status.name_in(self.abi).to_owned(),
            None => format!("{} (no status)", call.status),
        };
        // A replacement for a function that the C interface does not have calls nothing.
        if call.function.name_of(self.abi, self.interface).is_none() {
            return;
        }
        // Others are only put on it: it is none of their arguments.
        let takes_time =
            [Function::SetTime, Function::DoStep, Function::ActivateModelPartition].contains(&call.function);
        let own = ReturnedCall { time: call.time.filter(|_| takes_time), ..*call };
        self.say(&Message::Called(Call {
            function: self.name(call.function).to_owned(),
            arguments: super::initialise::told_arguments(&own, arguments()),
            status: Some(status),
            nanos: call.nanos,
        }));
    }
}

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
