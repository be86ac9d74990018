//! `vecud call`: states of the instance that were taken, by name, and their bytes: an [`FmuState`](vecud_fmi::FmuState) carries the mode that
//! it restores.

use super::instance::{Caller, Iterated, LiveInstance, Result, at_rest, consumed};
use super::protocol::{ReplyContent, RequestFailure};
use super::slot::{SavedState, Slot, StateMode};
use vecud_fmi::{Failure, Function, Status};

impl Caller {
    /// Takes the state of the instance, in place of one of that name.
    pub(super) fn take_state(&mut self, slot: String) -> Result<ReplyContent> {
        let taken = match std::mem::replace(&mut self.instance, LiveInstance::None) {
            LiveInstance::Instantiated(instance) => {
                let state = instance.get_state();
                self.instance = LiveInstance::Instantiated(instance);
                state.map(SavedState::Instantiated)
            }
            LiveInstance::Configuration(instance) => {
                let state = instance.get_state();
                self.instance = LiveInstance::Configuration(instance);
                state.map(SavedState::Configuration)
            }
            LiveInstance::Initialization(instance) => {
                let state = instance.get_state();
                self.instance = LiveInstance::Initialization(instance);
                state.map(SavedState::Initialization)
            }
            // A terminated instance never comes here: `Verb::states` refuses the request.
            running => {
                let (instance, in_event_mode) = running.joined()?;
                let state = instance.get_state();
                self.instance = self.split(instance, in_event_mode);
                state.map(|state| SavedState::Running(state, in_event_mode))
            }
        };
        let saved = taken.map_err(|failure| self.state_call_failed(failure, "canGetAndSetFMUState"))?;
        self.slots.insert(slot, Slot { saved, time: self.time });
        Ok(ReplyContent::Nothing)
    }

    /// Gives the instance a state that was taken. Afterwards it is in the mode in which that state was taken; if the call fails, it is gone.
    pub(super) fn set_state(&mut self, slot: &str) -> Result<ReplyContent> {
        let Some(Slot { saved, time }) = self.slots.remove(slot) else { return Err(self.unknown_slot(slot)) };
        // A failure has the time of the state that is set.
        let before = std::mem::replace(&mut self.time, time);
        let set = match &saved {
            SavedState::Instantiated(state) => {
                consumed!(self, |instance| instance.set_state(state)).map(LiveInstance::Instantiated)
            }
            SavedState::Configuration(state) => {
                consumed!(self, |instance| instance.set_state(state)).map(LiveInstance::Configuration)
            }
            SavedState::Initialization(state) => {
                consumed!(self, |instance| instance.set_state(state)).map(LiveInstance::Initialization)
            }
            SavedState::Running(state, in_event_mode) => {
                let set = consumed!(self, |instance| instance.set_state(state));
                set.map(|instance| self.split(instance, *in_event_mode))
            }
        };
        self.slots.insert(slot.to_owned(), Slot { saved, time });
        // The restored mode may be Event Mode, whose iteration begins anew.
        self.event = Iterated::Again;
        match set {
            Ok(live) => self.instance = live,
            Err(failure) => {
                self.time = before;
                return Err(self.failed(failure));
            }
        }
        Ok(ReplyContent::Nothing)
    }

    /// Makes bytes of a state.
    pub(super) fn serialize(&mut self, slot: String) -> Result<ReplyContent> {
        let Some(Slot { saved, time }) = self.slots.remove(&slot) else { return Err(self.unknown_slot(&slot)) };
        let (done, mode) = match &saved {
            SavedState::Instantiated(state) => {
                (at_rest!(self, |instance| Ok(instance.serialize_state(state))), StateMode::Instantiated)
            }
            SavedState::Configuration(state) => {
                (at_rest!(self, |instance| Ok(instance.serialize_state(state))), StateMode::Configuration)
            }
            SavedState::Initialization(state) => {
                (at_rest!(self, |instance| Ok(instance.serialize_state(state))), StateMode::Initialization)
            }
            SavedState::Running(state, in_event_mode) => {
                (at_rest!(self, |instance| Ok(instance.serialize_state(state))), StateMode::Running(*in_event_mode))
            }
        };
        self.slots.insert(slot.clone(), Slot { saved, time });
        let bytes = done?.map_err(|failure| self.state_call_failed(failure, "canSerializeFMUState"))?;
        let length = bytes.len();
        self.serialized.insert(slot, (bytes, mode, time));
        Ok(ReplyContent::Bytes(length))
    }

    /// Makes a state of bytes, in place of the one of that name.
    pub(super) fn deserialize(&mut self, slot: String) -> Result<ReplyContent> {
        let Some((bytes, mode, time)) = self.serialized.get(&slot).cloned() else {
            let serialize = self.word(Function::SerializeFMUState);
            return Err(RequestFailure::Refused(format!("no state was serialised as `{slot}`: {serialize} does that")));
        };
        let saved = match mode {
            StateMode::Instantiated => {
                at_rest!(self, |instance| Ok(instance.deserialize_state(&bytes)))?.map(SavedState::Instantiated)
            }
            StateMode::Configuration => {
                at_rest!(self, |instance| Ok(instance.deserialize_state(&bytes)))?.map(SavedState::Configuration)
            }
            StateMode::Initialization => {
                at_rest!(self, |instance| Ok(instance.deserialize_state(&bytes)))?.map(SavedState::Initialization)
            }
            StateMode::Running(in_event_mode) => at_rest!(self, |instance| Ok(instance.deserialize_state(&bytes)))?
                .map(|state| SavedState::Running(state, in_event_mode)),
        };
        let saved = saved.map_err(|failure| self.state_call_failed(failure, "canSerializeFMUState"))?;
        self.slots.insert(slot, Slot { saved, time });
        Ok(ReplyContent::Nothing)
    }

    /// The reason why nothing was done with a state; `flag`: the capability flag that would have to be true.
    fn state_call_failed(&self, failure: Failure, flag: &str) -> RequestFailure {
        match failure.refused && failure.status == Status::Discard {
            true => {
                let function = failure.function.name_in(self.subject.abi);
                let flag = self.subject.abi.spelled(flag);
                RequestFailure::Refused(format!(
                    "{function} was not called: the FMU does not offer it ({flag} is not true)"
                ))
            }
            false => self.failed(failure),
        }
    }

    fn unknown_slot(&self, slot: &str) -> RequestFailure {
        RequestFailure::Refused(format!("there is no state `{slot}`: {} takes one", self.word(Function::GetFMUState)))
    }

    /// Frees a state.
    pub(super) fn free_state(&mut self, slot: &str) -> Result<ReplyContent> {
        let Some(Slot { saved, .. }) = self.slots.remove(slot) else { return Err(self.unknown_slot(slot)) };
        let done = match saved {
            SavedState::Instantiated(state) => at_rest!(self, |instance| Ok(instance.free_state(state))),
            SavedState::Configuration(state) => at_rest!(self, |instance| Ok(instance.free_state(state))),
            SavedState::Initialization(state) => at_rest!(self, |instance| Ok(instance.free_state(state))),
            SavedState::Running(state, _) => at_rest!(self, |instance| Ok(instance.free_state(state))),
        };
        self.nothing(done?)
    }
}
