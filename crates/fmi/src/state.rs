//! The complete state of an instance (FMI 3.0, 2.2.6.4), and `fmi3Reset`, which prepares it for another run.
//!
//! An [`FmuState`] remembers the mode in which it was taken, so setting it back gives the instance in that mode, from
//! whatever mode it was in and also after an error. The six functions are methods of [`Instance`], which exists
//! only while no model partition does: none is called while one is active or preempted. Dropping an [`FmuState`]
//! calls nothing, since it may happen at any time; the state is freed with the next of these calls, or when the instance
//! ends.

use super::function::Function;
use super::instance::{Instance, Instantiated, Restorable, Running};
use super::shared::{CallContext, SharedInstance};
use super::state_pointer::{StatePointer, StateSupport};
use super::status::{Failure, Outcome, Status};
use super::types::RawState;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Arc, PoisonError};

/// State: at the end of a run, or after an error. Only the next run is left, or the end.
#[derive(Debug)]
pub enum Terminated {}

/// A copy of the state of an instance in mode `S`. Belongs to that instance, is freed once, and can be set many times.
#[must_use]
pub struct FmuState<S> {
    shared: Arc<SharedInstance>,
    raw: StatePointer,
    /// The state was taken in Event Mode of Model Exchange.
    in_event_mode: bool,
    mode: PhantomData<S>,
}

impl<S> Drop for FmuState<S> {
    fn drop(&mut self) {
        let mut states = self.shared.states.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = states.live.iter().position(|live| live.0 == self.raw.0) {
            let pointer = states.live.swap_remove(at);
            states.dropped.push(pointer);
        }
    }
}

impl SharedInstance {
    fn keep_state<S>(
        self: &Arc<SharedInstance>,
        function: Function,
        raw: RawState,
        in_event_mode: bool,
    ) -> Result<FmuState<S>, Failure> {
        if raw.is_null() {
            self.fail(Status::Error);
            return Err(Failure::new(function, Status::Error, false));
        }
        self.states.lock().unwrap_or_else(PoisonError::into_inner).live.push(StatePointer(raw));
        Ok(FmuState { shared: self.clone(), raw: StatePointer(raw), in_event_mode, mode: PhantomData })
    }
}

impl Instance<Instantiated> {
    /// Tells the functions of states that the FMU's description offers; before that all of them are refused.
    pub fn declare_states(&self, support: StateSupport) {
        let _the_first_word_holds = self.shared.support.set(support);
    }
}

impl<S> Instance<S> {
    /// `fmi3GetFMUState`, in new memory. Refused, without harm, when the FMU does not offer it.
    pub fn get_state(&self) -> Result<FmuState<S>, Failure> {
        let function = Function::GetFMUState;
        self.shared.offers(StateSupport::GetAndSet, function)?;
        self.shared.free_states(false)?;
        let mut raw = ptr::null_mut();
        self.shared.call(function, CallContext::default(), |f, i| {
            // SAFETY: the instance is alive, and no partition is active: there are none beside an `Instance`. NULL asks
            // for new memory.
            unsafe { (f.get_fmu_state)(i, &mut raw) }
        })?;
        self.shared.keep_state(function, raw, self.shared.is_in_event_mode())
    }

    /// `fmi3SetFMUState`: the instance is in the mode of the state then, and healthy again if it had failed. If this
    /// fails, that is the instance's end.
    ///
    /// # Panics
    /// If the state is another instance's.
    pub fn set_state<T: Restorable>(self, state: &FmuState<T>) -> Result<Instance<T>, Failure> {
        assert!(Arc::ptr_eq(&self.shared, &state.shared), "a state belongs to the instance that it was taken from");
        self.shared.free_states(false)?;
        self.shared.call_even_failed(Function::SetFMUState, CallContext::default(), |f, i| {
            // SAFETY: the instance is alive, no partition is active, and the state is its own and not freed: that waits
            // for the handle's end.
            unsafe { (f.set_fmu_state)(i, state.raw.0) }
        })?;
        self.shared.environment.recover();
        self.shared.environment.set_clock_activation(T::CLOCK_ACTIVATION);
        self.shared.set_in_event_mode(state.in_event_mode);
        Ok(Instance::new(self.shared))
    }

    /// `fmi3FreeFMUState` now, of this one and of those that were dropped.
    ///
    /// # Panics
    /// If the state is another instance's.
    pub fn free_state<T>(&self, state: FmuState<T>) -> Result<Outcome, Failure> {
        assert!(Arc::ptr_eq(&self.shared, &state.shared), "a state belongs to the instance that it was taken from");
        drop(state);
        self.shared.free_states(false)
    }

    /// `fmi3SerializedFMUStateSize` and `fmi3SerializeFMUState`. Refused, without harm, when the FMU does not offer it,
    /// or names a size for which there is no memory; and, as bytes do not say that, for a state of Event Mode in Model Exchange.
    ///
    /// # Panics
    /// If the state is another instance's.
    pub fn serialize_state<T>(&self, state: &FmuState<T>) -> Result<Vec<u8>, Failure> {
        assert!(Arc::ptr_eq(&self.shared, &state.shared), "a state belongs to the instance that it was taken from");
        let (sizing, function) = (Function::SerializedFMUStateSize, Function::SerializeFMUState);
        self.shared.offers(StateSupport::Serialize, sizing)?;
        if state.in_event_mode {
            return Err(self.shared.refusal(sizing, CallContext::default()));
        }
        let mut size = 0;
        // SAFETY: the instance is alive, no partition is active, the state is its own and not freed.
        let call = |f: &super::Functions, i| unsafe { (f.serialized_fmu_state_size)(i, state.raw.0, &mut size) };
        self.shared.call(sizing, CallContext::default(), call)?;
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size).is_err() {
            return Err(Failure::new(function, Status::Discard, true));
        }
        bytes.resize(size, 0);
        self.shared.call(function, CallContext::default(), |f, i| {
            // SAFETY: as above, and there is room for as many bytes as said.
            unsafe { (f.serialize_fmu_state)(i, state.raw.0, bytes.as_mut_ptr(), bytes.len()) }
        })?;
        Ok(bytes)
    }

    /// `fmi3DeserializeFMUState` of bytes that [`Instance::serialize_state`] gave for a state of mode `T`. Also after an
    /// error. In Model Exchange they are of Continuous-Time Mode.
    pub fn deserialize_state<T: Restorable>(&self, bytes: &[u8]) -> Result<FmuState<T>, Failure> {
        let function = Function::DeserializeFMUState;
        self.shared.offers(StateSupport::Serialize, function)?;
        self.shared.free_states(false)?;
        let mut raw = ptr::null_mut();
        self.shared.call_even_failed(function, CallContext::default(), |f, i| {
            // SAFETY: the instance is alive, no partition is active, and there are as many bytes as said.
            unsafe { (f.deserialize_fmu_state)(i, bytes.as_ptr(), bytes.len(), &mut raw) }
        })?;
        self.shared.keep_state(function, raw, false)
    }

    /// `fmi3Reset`: as new, and healthy again if it had failed. If this fails, that is the instance's end.
    pub fn reset(self) -> Result<Instance<Instantiated>, Failure> {
        self.shared.free_states(false)?;
        // SAFETY: the instance is alive and no partition is active: there are none beside an `Instance`.
        self.shared.call_even_failed(Function::Reset, CallContext::default(), |f, i| unsafe { (f.reset)(i) })?;
        self.shared.environment.recover();
        self.shared.environment.set_clock_activation(false);
        self.shared.set_in_event_mode(false);
        Ok(Instance::new(self.shared))
    }
}

impl Instance<Running> {
    /// Calls `fmi3Terminate` if the instance is healthy, and keeps it for a further run. Whatever the result, the run is over.
    pub fn terminate(self) -> (Instance<Terminated>, Result<Outcome, Failure>) {
        let result = self.shared.terminate();
        (Instance::new(self.shared), result)
    }
}

impl<S> Instance<S> {
    /// Ends the instance: `fmi3Terminate` if it is healthy and initialised, `fmi3FreeInstance` unless it is fatal.
    pub fn end(self) -> Result<Outcome, Failure> {
        self.shared.finish()
    }
}
