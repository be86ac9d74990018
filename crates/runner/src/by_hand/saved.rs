//! States of the instance that were taken, by name, and their bytes: [`FmuState`](vecud_fmi::FmuState) knows the mode to which it leads back.

use super::instance::{Caller, Iterated, Life, Result, at_rest, consumed};
use super::protocol::{Given, Why};
use super::slot::{Mode, Saved, Slot};
use vecud_fmi::{Failure, Function, Status};

impl Caller {
    /// Takes the state of the instance, in place of one of that name.
    pub(super) fn take_state(&mut self, slot: String) -> Result<Given> {
        let taken = match std::mem::replace(&mut self.life, Life::None) {
            Life::Instantiated(instance) => {
                let state = instance.get_state();
                self.life = Life::Instantiated(instance);
                state.map(Saved::Instantiated)
            }
            Life::Configuration(instance) => {
                let state = instance.get_state();
                self.life = Life::Configuration(instance);
                state.map(Saved::Configuration)
            }
            Life::Initialization(instance) => {
                let state = instance.get_state();
                self.life = Life::Initialization(instance);
                state.map(Saved::Initialization)
            }
            running => {
                let (instance, in_event_mode) = running.joined()?;
                let state = instance.get_state();
                self.life = self.split(instance, in_event_mode);
                state.map(|state| Saved::Running(state, in_event_mode))
            }
        };
        let saved = taken.map_err(|failure| self.no_states(failure, "canGetAndSetFMUState"))?;
        self.slots.insert(slot, Slot { saved, time: self.time });
        Ok(Given::Nothing)
    }

    /// Gives the instance a state that was taken: it is in the mode of that then.
    pub(super) fn set_state(&mut self, slot: &str) -> Result<Given> {
        let Some(Slot { saved, time }) = self.slots.remove(slot) else { return Err(self.no_state(slot)) };
        // The time that failures are put on.
        let before = std::mem::replace(&mut self.time, time);
        let set = match &saved {
            Saved::Instantiated(state) => consumed!(self, |instance| instance.set_state(state)).map(Life::Instantiated),
            Saved::Configuration(state) => {
                consumed!(self, |instance| instance.set_state(state)).map(Life::Configuration)
            }
            Saved::Initialization(state) => {
                consumed!(self, |instance| instance.set_state(state)).map(Life::Initialization)
            }
            Saved::Running(state, in_event_mode) => {
                let set = consumed!(self, |instance| instance.set_state(state));
                set.map(|instance| self.split(instance, *in_event_mode))
            }
        };
        self.slots.insert(slot.to_owned(), Slot { saved, time });
        self.event = Iterated::Again;
        match set {
            Ok(life) => self.life = life,
            Err(failure) => {
                self.time = before;
                return Err(self.failed(failure));
            }
        }
        Ok(Given::Nothing)
    }

    /// Makes bytes of a state.
    pub(super) fn serialize(&mut self, slot: String) -> Result<Given> {
        let Some(Slot { saved, time }) = self.slots.remove(&slot) else { return Err(self.no_state(&slot)) };
        let (done, mode) = match &saved {
            Saved::Instantiated(state) => {
                (at_rest!(self, |instance| Ok(instance.serialize_state(state))), Mode::Instantiated)
            }
            Saved::Configuration(state) => {
                (at_rest!(self, |instance| Ok(instance.serialize_state(state))), Mode::Configuration)
            }
            Saved::Initialization(state) => {
                (at_rest!(self, |instance| Ok(instance.serialize_state(state))), Mode::Initialization)
            }
            Saved::Running(state, in_event_mode) => {
                (at_rest!(self, |instance| Ok(instance.serialize_state(state))), Mode::Running(*in_event_mode))
            }
        };
        self.slots.insert(slot.clone(), Slot { saved, time });
        let bytes = done?.map_err(|failure| self.no_states(failure, "canSerializeFMUState"))?;
        let length = bytes.len();
        self.serialized.insert(slot, (bytes, mode, time));
        Ok(Given::Bytes(length))
    }

    /// Makes a state of bytes, in place of the one of that name.
    pub(super) fn deserialize(&mut self, slot: String) -> Result<Given> {
        let Some((bytes, mode, time)) = self.serialized.get(&slot).cloned() else {
            let serialize = self.word(Function::SerializeFMUState);
            return Err(Why::Refused(format!("no state was serialised as `{slot}`: {serialize} does that")));
        };
        let saved = match mode {
            Mode::Instantiated => {
                at_rest!(self, |instance| Ok(instance.deserialize_state(&bytes)))?.map(Saved::Instantiated)
            }
            Mode::Configuration => {
                at_rest!(self, |instance| Ok(instance.deserialize_state(&bytes)))?.map(Saved::Configuration)
            }
            Mode::Initialization => {
                at_rest!(self, |instance| Ok(instance.deserialize_state(&bytes)))?.map(Saved::Initialization)
            }
            Mode::Running(in_event_mode) => at_rest!(self, |instance| Ok(instance.deserialize_state(&bytes)))?
                .map(|state| Saved::Running(state, in_event_mode)),
        };
        let saved = saved.map_err(|failure| self.no_states(failure, "canSerializeFMUState"))?;
        self.slots.insert(slot, Slot { saved, time });
        Ok(Given::Nothing)
    }

    /// Why nothing was done with a state; `flag`: what would have to be true.
    fn no_states(&self, failure: Failure, flag: &str) -> Why {
        match failure.refused && failure.status == Status::Discard {
            true => {
                let function = failure.function.name_in(self.subject.abi);
                let flag = self.subject.abi.spelled(flag);
                Why::Refused(format!("{function} was not called: the FMU does not offer it ({flag} is not true)"))
            }
            false => self.failed(failure),
        }
    }

    fn no_state(&self, slot: &str) -> Why {
        Why::Refused(format!("there is no state `{slot}`: {} takes one", self.word(Function::GetFMUState)))
    }

    /// Frees a state.
    pub(super) fn free_state(&mut self, slot: &str) -> Result<Given> {
        let Some(Slot { saved, .. }) = self.slots.remove(slot) else { return Err(self.no_state(slot)) };
        let done = match saved {
            Saved::Instantiated(state) => at_rest!(self, |instance| Ok(instance.free_state(state))),
            Saved::Configuration(state) => at_rest!(self, |instance| Ok(instance.free_state(state))),
            Saved::Initialization(state) => at_rest!(self, |instance| Ok(instance.free_state(state))),
            Saved::Running(state, _) => at_rest!(self, |instance| Ok(instance.free_state(state))),
        };
        self.nothing(done?)
    }
}
