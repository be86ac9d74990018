//! Order of calls, and which of them are left after a failure.

use super::stub::*;
use crate::Function as F;
use crate::*;
use std::sync::Arc;
use vecud_description::{ValueReference, Values, VariableType};

fn failure(function: F, status: Status, refused: bool) -> Failure {
    Failure { function, status, clock: None, time: None, answer: None, refused }
}

#[test]
fn a_good_life_has_the_calls_of_the_standard_in_order() {
    let (instance, _) = instance();
    let instance = instance.enter_configuration_mode().unwrap().exit_configuration_mode().unwrap();
    let instance = instance.enter_initialization_mode(0.0, Some(1.0), None).unwrap();
    let (control, mut partitions) = instance.exit_initialization_mode().unwrap().into_parts(&[CLOCK]);
    let mut input = Batch::new(VariableType::Float64, vec![(ValueReference(1), 1)]);
    input.set_word(0, 2.5f64.to_bits());
    let mut setting = partitions[0].begin();
    assert_eq!(setting.set(&input), Ok(Outcome::Ok));
    let mut getting = setting.activate(0.0).unwrap();
    next_get(&[7]);
    let mut output = Batch::new(VariableType::UInt8, vec![(ValueReference(2), 1)]);
    assert_eq!(getting.get(&mut output), Ok(Outcome::Ok));
    assert_eq!(output.word(0), 7);
    assert_eq!(control.terminate(partitions), Ok(Outcome::Ok));
    let order = [
        F::EnterConfigurationMode,
        F::ExitConfigurationMode,
        F::EnterInitializationMode,
        F::ExitInitializationMode,
        F::SetFloat64,
        F::ActivateModelPartition,
        F::GetUInt8,
        F::Terminate,
        F::FreeInstance,
    ];
    assert_eq!(calls(), order);
}

/// FMI 3.0.2, 2.3.1: "If nCategories = 0, loggingOn applies to all log categories and the value of categories must be NULL."
#[test]
fn debug_logging_of_all_categories_has_a_null_pointer() {
    let (instance, _) = instance();
    assert_eq!(instance.set_debug_logging(true, &["logEvents", "logAll"]), Ok(Outcome::Ok));
    assert_eq!(last_categories(), Some(vec!["logEvents".to_owned(), "logAll".to_owned()]));
    assert_eq!(instance.set_debug_logging(true, &[]), Ok(Outcome::Ok));
    assert_eq!(last_categories(), None);
}

#[test]
fn null_instead_of_an_instance_is_a_failure_and_nothing_more_is_called() {
    answer(F::InstantiateScheduledExecution, 3);
    during(F::InstantiateScheduledExecution, |given| given.log(3, Some(c"logError"), Some(c"wrong token")));
    let notes = Arc::default();
    let failed = instantiate_in(&library(), &notes).err();
    assert_eq!(failed, Some(failure(F::InstantiateScheduledExecution, Status::Error, false)));
    assert_eq!(calls(), [F::InstantiateScheduledExecution]);
    let logged = (Status::Error, Some("logError".to_owned()), "wrong token".to_owned());
    assert_eq!(*notes.logged.lock().unwrap(), [logged]);
}

#[test]
fn an_instance_ends_when_it_is_dropped_though_its_clocks_could_still_be_read() {
    let again = || {
        let ready =
            instance().0.enter_initialization_mode(0.0, None, None).unwrap().exit_initialization_mode().unwrap();
        let (control, partitions) = ready.into_parts(&[CLOCK]);
        let update = control.clock_update();
        (control.join(partitions).unwrap().terminate().0, update)
    };
    let (kept, _update) = again();
    calls();
    drop(kept);
    assert_eq!(calls(), [F::FreeInstance]);
    let (kept, _update) = again();
    calls();
    answer(F::Reset, 3);
    assert!(kept.reset().is_err());
    assert_eq!(calls(), [F::Reset, F::FreeInstance]);
}

#[test]
fn dropped_before_it_was_initialised_an_instance_is_freed_without_terminate() {
    drop(instance().0);
    assert_eq!(calls(), [F::FreeInstance]);
    let in_initialization = instance().0.enter_initialization_mode(0.0, None, None).unwrap();
    drop(in_initialization);
    assert_eq!(calls(), [F::EnterInitializationMode, F::FreeInstance]);
}

#[test]
fn the_last_handle_dropped_ends_a_healthy_instance() {
    let (control, partition, _) = running();
    drop(control);
    assert_eq!(calls(), []);
    drop(partition);
    assert_eq!(calls(), [F::Terminate, F::FreeInstance]);
}

#[test]
fn a_failed_transition_frees_the_instance() {
    let (instance, _) = instance();
    answer(F::EnterInitializationMode, 3);
    let failed = instance.enter_initialization_mode(0.0, None, None).err();
    assert_eq!(failed, Some(failure(F::EnterInitializationMode, Status::Error, false)));
    assert_eq!(calls(), [F::EnterInitializationMode, F::FreeInstance]);
}

#[test]
fn after_error_or_discard_or_an_unknown_status_only_free_is_called() {
    for (raw, status) in [(2, Status::Discard), (3, Status::Error), (77, Status::Error), (-1, Status::Error)] {
        let (control, mut partition, _) = running();
        answer(F::ActivateModelPartition, raw);
        let failed = partition.begin().activate(0.5).err().unwrap();
        let strange = (!(0..=4).contains(&raw)).then_some(raw);
        let failure = failure(F::ActivateModelPartition, status, false);
        let cause = Failure { clock: Some(CLOCK), time: Some(0.5), answer: strange, ..failure };
        assert_eq!(failed, cause);
        let again = partition.begin().activate(0.6).err().unwrap();
        assert!(again.refused);
        assert_eq!(partition.health(), Health::Failed);
        assert_eq!(control.terminate(vec![partition]), Ok(Outcome::Ok));
        assert_eq!(calls(), [F::ActivateModelPartition, F::FreeInstance]);
    }
}

#[test]
fn after_fatal_nothing_is_called_on_any_instance_of_that_fmu() {
    let (library, notes) = (library(), Arc::default());
    let sound = instantiate_in(&library, &notes).unwrap();
    let fatal = instantiate_in(&library, &notes).unwrap();
    calls();
    answer(F::EnterInitializationMode, 4);
    let failed = fatal.enter_initialization_mode(0.0, None, None).err();
    assert_eq!(failed, Some(failure(F::EnterInitializationMode, Status::Fatal, false)));
    assert_eq!(sound.health(), Health::Fatal);
    let refused = sound.enter_initialization_mode(0.0, None, None).err();
    assert_eq!(refused, Some(failure(F::EnterInitializationMode, Status::Fatal, true)));
    assert!(instantiate_in(&library, &notes).err().unwrap().refused);
    drop(library);
    assert_eq!(calls(), [F::EnterInitializationMode]);
}

#[test]
fn a_warning_is_told_and_does_no_harm() {
    let (control, mut partition, _) = running();
    answer(F::ActivateModelPartition, 1);
    assert_eq!(partition.begin().activate(0.0).unwrap().outcome(), Outcome::Warning);
    assert_eq!(partition.health(), Health::Healthy);
    let _ = control.terminate(vec![partition]);
    assert_eq!(calls(), [F::ActivateModelPartition, F::Terminate, F::FreeInstance]);
}

#[test]
fn a_failing_terminate_is_told_and_the_instance_freed() {
    let (control, partition, _) = running();
    answer(F::Terminate, 3);
    let failed = TerminateError::Failed(failure(F::Terminate, Status::Error, false));
    assert_eq!(control.terminate(vec![partition]), Err(failed));
    assert_eq!(calls(), [F::Terminate, F::FreeInstance]);
}

#[test]
fn without_all_partitions_back_the_instance_is_abandoned() {
    let (control, mut partition, _) = running();
    assert_eq!(control.terminate(Vec::<Partition>::new()), Err(TerminateError::PartsMissing(1)));
    assert!(partition.begin().activate(0.0).err().unwrap().refused);
    drop(partition);
    assert_eq!(calls(), []);
}

#[test]
fn the_importer_can_fail_an_instance() {
    let (control, partition, _) = running();
    partition.fail();
    let _ = control.terminate(vec![partition]);
    assert_eq!(calls(), [F::FreeInstance]);
}

#[test]
fn start_values_and_initial_outputs() {
    let (instance, _) = instance();
    let vr = ValueReference(5);
    let set = instance.set_values(vr, VariableType::Enumeration, &Values::Int64(vec![-1, 2]));
    assert_eq!(set, Ok(Outcome::Ok));
    assert_eq!(last_set(), SetCall { references: vec![5], words: vec![u64::MAX, 2] });
    let set = instance.set_values(vr, VariableType::Boolean, &Values::Boolean(vec![true, false]));
    assert_eq!((set, last_set().words), (Ok(Outcome::Ok), vec![1, 0]));
    next_get(&[0, 2, 255]);
    let got = instance.get_values(vr, VariableType::Boolean, 3);
    assert_eq!(got, Ok(Values::Boolean(vec![false, true, true])));
    assert_eq!(calls(), [F::SetInt64, F::SetBoolean, F::GetBoolean]);
    // Refused without a call, and without harm:
    let mismatch = instance.set_values(vr, VariableType::Float64, &Values::Int8(vec![1]));
    assert_eq!(mismatch, Err(failure(F::SetFloat64, Status::Discard, true)));
    let nul = instance.set_values(vr, VariableType::String, &Values::String(vec!["a\0b".into()]));
    assert_eq!(nul, Err(failure(F::SetString, Status::Discard, true)));
    assert_eq!((calls(), instance.health()), (vec![], Health::Healthy));
}

#[test]
fn an_interval_comes_with_its_qualifier_whatever_that_is() {
    let instance = instance().0.enter_initialization_mode(0.0, None, None).unwrap();
    for (raw, known) in [(2, Some(Qualifier::Changed)), (9, None)] {
        next_get(&[raw]);
        let got = instance.get_interval(CLOCK, false);
        assert_eq!(got, Ok((Interval::Decimal(0.25), raw as i32)));
        assert_eq!(Qualifier::from_raw(raw as i32), known);
    }
    assert_eq!(instance.health(), Health::Healthy);
}

#[test]
fn handles_go_where_they_may() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Partition>(); // and not Sync: see the crate's documentation
    send::<Instance<Instantiated>>();
    send::<InstanceControl>();
    send::<ClockUpdate>();
    sync::<ClockUpdate>();
    sync::<Library>();
}

#[test]
fn functions_have_the_standards_names_and_numbers_that_come_back() {
    assert_eq!(F::ActivateModelPartition.name(), "fmi3ActivateModelPartition");
    assert_eq!(F::ALL.len(), 84);
    for &function in F::ALL {
        assert_eq!(F::from_u32(function as u32), Some(function));
        // What later versions have in another function.
        let before = [
            F::GetTypesPlatform,
            F::SetupExperiment,
            F::GetStatus,
            F::GetRealStatus,
            F::GetBooleanStatus,
            F::CancelStep,
            F::SetRealInputDerivatives,
            F::GetMaxStepSize,
        ];
        let version = match function {
            F::GetStateValueReferences => "",
            _ if before.contains(&function) => "2",
            _ => "3",
        };
        assert_eq!(function.name(), format!("fmi{version}{function:?}"));
    }
    assert_eq!(F::from_u32(84), None);
}
