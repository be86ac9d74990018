//! States of instances, and what a failed instance can still be: who frees what when, what is refused without a call.

use super::stub::*;
use crate::Function as F;
use crate::*;

fn failure(function: F, status: Status, refused: bool) -> Failure {
    Failure { function, status, clock: None, time: None, answer: None, refused }
}

/// In Clock Activation Mode and whole.
fn whole(support: StateSupport) -> Instance<Running> {
    let (instance, _) = instance();
    instance.declare_states(support);
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap().exit_initialization_mode().unwrap();
    calls();
    instance
}

/// Failed in an activation, and whole again.
fn failed(raw: i32) -> Instance<Running> {
    let (control, mut partitions) = whole(StateSupport::Serialize).into_parts(&[CLOCK]);
    answer(F::ActivateModelPartition, raw);
    assert!(partitions[0].begin().activate(0.0).is_err());
    let instance = control.join(partitions).unwrap();
    calls();
    instance
}

#[test]
fn a_state_is_set_as_often_as_one_likes_and_freed_once() {
    let instance = whole(StateSupport::Serialize);
    let state = instance.get_state().unwrap();
    let instance = instance.set_state(&state).unwrap().set_state(&state).unwrap();
    assert_eq!(instance.free_state(state), Ok(Outcome::Ok));
    assert_eq!(instance.end(), Ok(Outcome::Ok));
    let order = [F::GetFMUState, F::SetFMUState, F::SetFMUState, F::FreeFMUState, F::Terminate, F::FreeInstance];
    assert_eq!(calls(), order);
    assert_eq!(states(), (1, 0), "one was made, none is left");
}

#[test]
fn dropping_a_state_calls_nothing_and_it_is_freed_with_the_next_call_or_the_end() {
    let instance = whole(StateSupport::Serialize);
    let (first, second) = (instance.get_state().unwrap(), instance.get_state().unwrap());
    let (control, partitions) = instance.into_parts(&[CLOCK]);
    drop(first);
    assert_eq!(calls(), [F::GetFMUState, F::GetFMUState], "a partition may be active");
    let instance = control.join(partitions).unwrap();
    let third = instance.get_state().unwrap();
    assert_eq!(calls(), [F::FreeFMUState, F::GetFMUState]);
    let _ = instance.end();
    assert_eq!(calls(), [F::Terminate, F::FreeFMUState, F::FreeFMUState, F::FreeInstance]);
    drop((second, third));
    assert_eq!((calls(), states()), (vec![], (3, 0)));
}

#[test]
fn what_the_description_does_not_offer_is_refused_without_harm() {
    for support in [StateSupport::None, StateSupport::GetAndSet] {
        let instance = whole(support);
        let get = instance.get_state();
        assert_eq!(get.is_ok(), support == StateSupport::GetAndSet);
        match get {
            Ok(state) => {
                let refused = failure(F::SerializedFMUStateSize, Status::Discard, true);
                assert_eq!(instance.serialize_state(&state), Err(refused));
                assert_eq!(calls(), [F::GetFMUState]);
            }
            Err(refused) => assert_eq!(refused, failure(F::GetFMUState, Status::Discard, true)),
        }
        let refused = instance.deserialize_state::<Running>(&[1]).err();
        assert_eq!(refused, Some(failure(F::DeserializeFMUState, Status::Discard, true)));
        assert_eq!((calls(), instance.health()), (vec![], Health::Healthy));
    }
}

#[test]
fn bytes_of_a_state_make_a_state() {
    let instance = whole(StateSupport::Serialize);
    let state = instance.get_state().unwrap();
    let bytes = instance.serialize_state(&state).unwrap();
    assert_eq!(bytes, STATE_BYTES);
    let again: FmuState<Running> = instance.deserialize_state(&bytes).unwrap();
    assert_eq!(last_bytes(), STATE_BYTES);
    let instance = instance.set_state(&again).unwrap();
    let order =
        [F::GetFMUState, F::SerializedFMUStateSize, F::SerializeFMUState, F::DeserializeFMUState, F::SetFMUState];
    assert_eq!(calls(), order);
    drop(instance);
}

#[test]
fn a_size_for_which_there_is_no_memory_is_refused() {
    let instance = whole(StateSupport::Serialize);
    let state = instance.get_state().unwrap();
    state_size(usize::MAX);
    assert_eq!(instance.serialize_state(&state), Err(failure(F::SerializeFMUState, Status::Discard, true)));
    assert_eq!((calls(), instance.health()), (vec![F::GetFMUState, F::SerializedFMUStateSize], Health::Healthy));
}

#[test]
fn no_state_although_all_is_well_is_an_error() {
    let instance = whole(StateSupport::Serialize);
    no_states();
    assert_eq!(instance.get_state().err(), Some(failure(F::GetFMUState, Status::Error, false)));
    assert_eq!(instance.health(), Health::Failed);
    let _ = instance.end();
    assert_eq!(calls(), [F::GetFMUState, F::FreeInstance]);
}

#[test]
fn a_former_state_makes_a_failed_instance_sound() {
    for raw in [2, 3] {
        let instance = whole(StateSupport::Serialize);
        let state = instance.get_state().unwrap();
        instance.fail();
        assert!(instance.get_state().err().unwrap().refused, "the state of a failed instance is worth nothing");
        let instance = instance.set_state(&state).unwrap();
        assert_eq!(instance.health(), Health::Healthy);
        let (control, mut partitions) = instance.into_parts(&[CLOCK]);
        assert!(partitions[0].begin().activate(0.0).is_ok());
        assert_eq!(control.terminate(partitions), Ok(Outcome::Ok));
        let order =
            [F::GetFMUState, F::SetFMUState, F::ActivateModelPartition, F::Terminate, F::FreeFMUState, F::FreeInstance];
        assert_eq!(calls(), order);

        let instance = failed(raw);
        let state: FmuState<Running> = instance.deserialize_state(STATE_BYTES).unwrap();
        assert_eq!(instance.set_state(&state).unwrap().health(), Health::Healthy);
        answer(F::ActivateModelPartition, 0);
    }
}

#[test]
fn a_state_leads_to_its_own_mode() {
    let (instance, _) = instance();
    instance.declare_states(StateSupport::GetAndSet);
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap();
    let state = instance.get_state().unwrap();
    let instance = instance.exit_initialization_mode().unwrap();
    // In Initialization Mode again: it is not terminated when it is dropped.
    let instance: Instance<Initialization> = instance.set_state(&state).unwrap();
    calls();
    drop((instance, state));
    assert_eq!(calls(), [F::FreeFMUState, F::FreeInstance]);
}

#[test]
fn a_state_that_cannot_be_set_is_the_end_of_the_instance() {
    let instance = whole(StateSupport::Serialize);
    let state = instance.get_state().unwrap();
    answer(F::SetFMUState, 3);
    let failed = instance.set_state(&state).err();
    assert_eq!(failed, Some(failure(F::SetFMUState, Status::Error, false)));
    drop(state);
    assert_eq!(calls(), [F::GetFMUState, F::SetFMUState, F::FreeFMUState, F::FreeInstance]);
}

#[test]
fn after_fatal_no_function_of_states_is_called_and_none_is_freed() {
    let instance = whole(StateSupport::Serialize);
    let state = instance.get_state().unwrap();
    answer(F::SerializedFMUStateSize, 4);
    assert!(instance.serialize_state(&state).is_err());
    calls();
    assert!(instance.deserialize_state::<Running>(STATE_BYTES).err().unwrap().refused);
    let refused = instance.set_state(&state).err();
    assert_eq!(refused, Some(failure(F::SetFMUState, Status::Fatal, true)));
    drop(state);
    assert_eq!(calls(), []);
}

#[test]
#[should_panic(expected = "a state belongs to the instance that it was taken from")]
fn a_state_of_another_instance_is_not_set() {
    let (one, other) = (whole(StateSupport::Serialize), whole(StateSupport::Serialize));
    let state = one.get_state().unwrap();
    let _ = other.set_state(&state);
}

#[test]
fn a_run_ends_and_the_instance_begins_anew() {
    let (instance, partitions) = whole(StateSupport::None).into_parts(&[CLOCK]);
    let (instance, ended) = instance.join(partitions).unwrap().terminate();
    assert_eq!(ended, Ok(Outcome::Ok));
    let instance = instance.reset().unwrap();
    assert_eq!(calls(), [F::Terminate, F::Reset]);
    // As new: no clock update before it is initialised, and no Terminate.
    during(F::EnterInitializationMode, |given| given.update_clocks());
    let instance = instance.enter_initialization_mode(0.0, None, None).unwrap();
    drop(instance);
    assert_eq!(calls(), [F::EnterInitializationMode, F::FreeInstance]);
}

#[test]
fn reset_makes_a_failed_instance_sound_and_not_a_fatal_one() {
    for raw in [2, 3] {
        let (instance, ended) = failed(raw).terminate();
        assert_eq!((ended, calls()), (Ok(Outcome::Ok), vec![]), "nothing to terminate");
        assert_eq!(instance.reset().unwrap().health(), Health::Healthy);
        assert_eq!(calls(), [F::Reset, F::FreeInstance]);
    }
    let fatal = failed(4);
    assert_eq!(fatal.reset().err(), Some(failure(F::Reset, Status::Fatal, true)));
    assert_eq!(calls(), []);
}

#[test]
fn a_reset_that_fails_is_the_end_of_the_instance() {
    let instance = whole(StateSupport::None);
    answer(F::Reset, 3);
    assert_eq!(instance.reset().err(), Some(failure(F::Reset, Status::Error, false)));
    assert_eq!(calls(), [F::Reset, F::FreeInstance]);
}

#[test]
fn a_terminate_that_fails_leaves_an_instance_that_can_be_reset() {
    answer(F::Terminate, 3);
    let (instance, ended) = whole(StateSupport::None).terminate();
    assert_eq!(ended, Err(failure(F::Terminate, Status::Error, false)));
    assert!(instance.reset().is_ok());
    assert_eq!(calls(), [F::Terminate, F::Reset, F::FreeInstance]);
}

#[test]
fn an_instance_is_not_put_together_without_all_of_its_partitions() {
    let (control, mut partitions) = whole(StateSupport::None).into_parts(&[CLOCK]);
    assert_eq!(control.join(Vec::<Partition>::new()).err(), Some(TerminateError::PartsMissing(1)));
    assert!(partitions[0].begin().activate(0.0).err().unwrap().refused);
    drop(partitions);
    assert_eq!(calls(), []);
    // Partitions of another instance are no help.
    let (control, own) = whole(StateSupport::None).into_parts(&[CLOCK]);
    let (_other, others) = whole(StateSupport::None).into_parts(&[CLOCK]);
    assert_eq!(control.join(others).err(), Some(TerminateError::PartsMissing(1)));
    drop(own);
}

#[test]
fn states_go_where_instances_go() {
    fn send<T: Send>() {}
    send::<FmuState<Running>>();
}
