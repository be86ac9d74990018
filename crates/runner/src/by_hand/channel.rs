//! The channel to the process that asks: messages of the FMU go there beside the replies.

use super::protocol::{self, Call, Message};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use vecud_description::{Abi, Interface, ValueReference};
use vecud_fmi::{ForeignCall, Function, InstanceHost, ReturnedCall, Status};

/// Where messages go, from whichever thread.
pub(super) struct Channel {
    pub(super) stream: Mutex<UnixStream>,
    pub(super) abi: Abi,
    pub(super) interface: Interface,
}

impl Channel {
    /// Sends a message. Where the peer has gone, this process ends soon.
    pub(super) fn say(&self, message: &Message) {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let _nobody_listens = protocol::send(&mut *stream, message);
    }

    /// Sends a note beside a result.
    pub(super) fn note(&self, words: String) {
        self.say(&Message::Noted(words));
    }

    /// The C name of a function.
    pub(super) fn name(&self, function: Function) -> &'static str {
        function.name_of(self.abi, self.interface).unwrap_or(function.name_in(self.abi))
    }

    /// Says that a function without a status has returned.
    pub(super) fn returned(&self, function: Function, arguments: String, nanos: u64) {
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
            arguments: crate::initialise::told_arguments(&own, arguments()),
            status: Some(status),
            nanos: call.nanos,
        }));
    }
}
