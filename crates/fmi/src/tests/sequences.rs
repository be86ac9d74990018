//! Property: no sequence of calls that compiles, whatever the FMU answers and calls back meanwhile, leaves the state machine
//! of FMI 3.0 for Scheduled Execution, as the stub of `judge` sees it.

use super::judge::{self, PARTITIONS};
use crate::types::RawInstance;
use crate::*;
use proptest::prelude::*;
use std::cell::RefCell;
use std::sync::Arc;
use vecud_description::{ValueReference, Values, VariableType};

thread_local! {
    /// What answers the clock updates of the instance that is being called.
    static UPDATE: RefCell<Option<ClockUpdate>> = const { RefCell::new(None) };
}

struct Thread;
static THREAD: Thread = Thread;
impl ThreadHost for Thread {
    fn clock_update(&self, _: Option<f64>) {
        if let Some(update) = UPDATE.with_borrow(Clone::clone) {
            judge::read_clocks(&update);
        }
    }
    fn lock_preemption(&self) {}
    fn unlock_preemption(&self) {}
    fn warned(&self, _: Function) {}
}

#[derive(Default)]
struct Ear;
impl InstanceHost for Ear {
    fn log(&self, _: Status, _: Option<&[u8]>, _: &[u8]) {}
    fn foreign_call(&self, _: ForeignCall) {}
}

/// An instance in whatever state it has come to.
enum Handle {
    Instantiated(Instance<Instantiated>),
    Configuration(Instance<Configuration>),
    Initialization(Instance<Initialization>),
    Whole(Instance<Running>),
    Running { control: Option<InstanceControl>, partitions: Vec<Partition> },
    Terminated(Instance<Terminated>),
    Gone,
}
use Handle as H;

/// What to do next: with which instance, what, and a number for whatever else there is to choose.
type Step = (usize, u8, u8);

/// All that a test does with an FMU.
struct Driver {
    library: Arc<Library>,
    handles: Vec<Handle>,
    abandoned: usize,
    time: f64,
}

fn variable(clock: usize) -> ValueReference {
    ValueReference(100 * clock as u32)
}

fn batch(clock: usize) -> Batch {
    Batch::new(VariableType::Float64, vec![(variable(clock), 1)])
}

fn set<S: Writable>(instance: &Instance<S>, number: u8) {
    let clock = 1 + usize::from(number) % PARTITIONS;
    let _ = instance.set_values(variable(clock), VariableType::Float64, &Values::Float64(vec![1.0]));
}

fn get<S: Readable>(instance: &Instance<S>, number: u8) {
    let clock = 1 + usize::from(number) % PARTITIONS;
    let _ = instance.get_values(variable(clock), VariableType::Float64, 1);
}

/// Saves the state and maybe sets it back; `None`: that was its end.
fn states<S: Restorable>(instance: Instance<S>, number: u8) -> Option<Instance<S>> {
    let Ok(state) = instance.get_state() else { return Some(instance) };
    match number % 4 {
        0 => instance.set_state(&state).ok(),
        1 => {
            let _ = instance.free_state(state);
            Some(instance)
        }
        // Dropped: it is freed with a later call.
        _ => Some(instance),
    }
}

fn reset<S>(instance: Instance<S>) -> Handle {
    instance.reset().map_or(H::Gone, H::Instantiated)
}

impl Driver {
    fn step(&mut self, (index, what, number): Step) {
        if index >= self.handles.len() {
            let made = self.library.instantiate_scheduled_execution("stub", "{token}", None, false, Arc::new(Ear));
            self.handles.push(made.map_or(H::Gone, |made| {
                made.declare_states(StateSupport::Serialize);
                H::Instantiated(made)
            }));
            return;
        }
        let handle = std::mem::replace(&mut self.handles[index], H::Gone);
        UPDATE.set(match &handle {
            H::Running { control: Some(control), .. } => Some(control.clock_update()),
            H::Running { partitions, .. } => partitions.first().map(Partition::clock_update),
            _ => None,
        });
        self.handles[index] = self.with(handle, what, number);
        UPDATE.set(None);
    }

    fn with(&mut self, handle: Handle, what: u8, number: u8) -> Handle {
        match handle {
            H::Instantiated(instance) => {
                match what % 11 {
                    8 => return reset(instance),
                    9 | 10 => return states(instance, number).map_or(H::Gone, H::Instantiated),
                    0 => return H::Gone,
                    1 => return instance.enter_configuration_mode().map_or(H::Gone, H::Configuration),
                    2..=4 => {
                        let stop = number.is_multiple_of(2).then_some(1.0);
                        return instance.enter_initialization_mode(0.0, stop, None).map_or(H::Gone, H::Initialization);
                    }
                    5 => set(&instance, number),
                    6 => get(&instance, number),
                    _ if number == 0 => instance.fail(),
                    _ => {
                        let _ = instance.set_debug_logging(true, &[]);
                    }
                }
                H::Instantiated(instance)
            }
            H::Configuration(instance) => match what % 8 {
                0 => H::Gone,
                1..=4 => instance.exit_configuration_mode().map_or(H::Gone, H::Instantiated),
                _ => {
                    set(&instance, number);
                    H::Configuration(instance)
                }
            },
            H::Initialization(instance) => {
                let clock = ValueReference(1 + u32::from(number) % PARTITIONS as u32);
                match what % 13 {
                    0 => return H::Gone,
                    11 => return reset(instance),
                    12 => return states(instance, number).map_or(H::Gone, H::Initialization),
                    1..=4 => return instance.exit_initialization_mode().map_or(H::Gone, H::Whole),
                    5 => set(&instance, number),
                    6 => get(&instance, number),
                    7 => drop(instance.get_interval(clock, false)),
                    8 => drop(instance.set_interval(clock, Interval::Decimal(0.1))),
                    _ if number.is_multiple_of(2) => drop(instance.get_shift(clock, false)),
                    _ => drop(instance.set_shift(clock, Interval::Decimal(0.1))),
                }
                H::Initialization(instance)
            }
            H::Whole(instance) => match what % 12 {
                0 => H::Gone,
                2 => H::Terminated(instance.terminate().0),
                3 => reset(instance),
                4 | 5 => states(instance, number).map_or(H::Gone, H::Whole),
                6 => {
                    let outlives_it = instance.get_state();
                    let _ = instance.end();
                    drop(outlives_it);
                    H::Gone
                }
                1 => {
                    let _ = instance.set_debug_logging(false, &[]);
                    H::Whole(instance)
                }
                _ => {
                    let clocks: Vec<ValueReference> = (1..=PARTITIONS as u32).map(ValueReference).collect();
                    let (control, partitions) = instance.into_parts(&clocks);
                    H::Running { control: Some(control), partitions }
                }
            },
            H::Running { control, partitions } => self.running(control, partitions, what, number),
            H::Terminated(instance) => match what % 4 {
                0 => H::Gone,
                1 => H::Terminated(instance),
                _ => reset(instance),
            },
            H::Gone => H::Gone,
        }
    }

    fn running(
        &mut self,
        mut control: Option<InstanceControl>,
        mut partitions: Vec<Partition>,
        what: u8,
        number: u8,
    ) -> Handle {
        match (what % 16, control.take()) {
            (0, Some(control)) => {
                let own = partitions.len();
                // All of them, or as many as there are.
                partitions.truncate(own - usize::from(number.is_multiple_of(3) && own > 0));
                let _ = control.terminate(partitions);
                return H::Gone;
            }
            // A partition that is in use for ever, say because it hangs.
            (1, Some(control)) if number.is_multiple_of(4) && !partitions.is_empty() => {
                let hanging = partitions.pop();
                self.abandoned += usize::from(control.health() < Health::Freed);
                let _ = control.terminate(partitions);
                drop(hanging);
                return H::Gone;
            }
            (2, Some(control)) => {
                if number.is_multiple_of(8) {
                    drop(control);
                    return H::Running { control: None, partitions };
                }
                let one = Values::Float64(vec![1.0]);
                let values = [(variable(1), VariableType::Float64, &one)];
                let _ = control.reconfiguration().set(values[..usize::from(number % 2)].iter().copied());
                return H::Running { control: Some(control), partitions };
            }
            (5, Some(control)) => return control.join(partitions).map_or(H::Gone, H::Whole),
            (3, Some(control)) if number.is_multiple_of(16) => {
                control.fail();
                return H::Running { control: Some(control), partitions };
            }
            (_, other) => control = other,
        }
        if partitions.is_empty() {
            return H::Running { control, partitions };
        }
        let chosen = usize::from(number) % partitions.len();
        if what % 16 == 4 && number.is_multiple_of(16) {
            drop(partitions.remove(chosen));
            return H::Running { control, partitions };
        }
        self.time += 1.0;
        let partition = &mut partitions[chosen];
        let clock = partition.clock().0 as usize;
        let mut setting = partition.begin();
        for _ in 0..what % 3 {
            let _ = setting.set(&batch(clock));
        }
        // What was set may be left alone.
        if !what.is_multiple_of(5)
            && let Ok(mut getting) = setting.activate(self.time)
        {
            for _ in 0..number % 3 {
                let _ = getting.get(&mut batch(clock));
            }
            if number.is_multiple_of(5) {
                let _ = getting.get_interval(false);
            }
        }
        H::Running { control, partitions }
    }
}

/// Drives the stub through these steps; gives what it has found.
fn drive(steps: &[Step], random: u64, failing: u64) -> judge::Judge {
    judge::begin(random, failing);
    let before = set_thread_host(Some(&THREAD));
    let library = Arc::new(Library::from_functions(judge::functions()));
    let mut driver = Driver { library, handles: Vec::new(), abandoned: 0, time: 0.0 };
    steps.iter().for_each(|step| driver.step(*step));
    driver.handles.clear();
    judge::all_gone(driver.abandoned);
    set_thread_host(before);
    judge::verdict()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn no_sequence_of_calls_leaves_the_state_machine(
        steps in prop::collection::vec((0..3usize, any::<u8>(), any::<u8>()), 0..80),
        random in any::<u64>(),
        failing in prop::sample::select(vec![0u64, 100, 30, 8]),
    ) {
        let verdict = drive(&steps, random, failing);
        prop_assert!(verdict.broken.is_empty(), "{:#?}", verdict.broken);
    }
}

/// The property has something to look at, and sees it.
#[test]
fn random_sequences_come_to_every_state_and_failure() {
    let (mut calls, mut updates, mut failures, mut fatals) = (0, 0, 0, 0);
    for seed in 0..1000u64 {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u8
        };
        let steps: Vec<Step> = (0..80).map(|_| (usize::from(next() % 3), next(), next())).collect();
        let verdict = drive(&steps, seed, [0, 100, 30, 8][seed as usize % 4]);
        assert_eq!(verdict.broken, Vec::<String>::new(), "seed {seed}");
        calls += verdict.calls;
        updates += verdict.answered_updates;
        failures += verdict.failures;
        fatals += verdict.fatals;
    }
    println!("{calls} calls, {updates} clock updates, {failures} failures, {fatals} of them fatal");
    assert!(calls > 30_000 && updates > 2_500 && failures > 500 && fatals > 50);
}

/// What the judge says of an importer that makes these calls of one instance, past all types.
fn judged(calls: impl Fn(&Functions, &Fmi3Functions, RawInstance)) -> Vec<String> {
    judge::begin(1, 0);
    let library = Arc::new(Library::from_functions(judge::functions()));
    let made = library.instantiate_scheduled_execution("stub", "{token}", None, false, Arc::new(Ear)).unwrap();
    let functions = library.functions();
    let own = functions.fmi3().expect("the stub is of FMI 3.0");
    calls(functions, own, std::ptr::without_provenance_mut(1));
    std::mem::forget(made);
    judge::verdict().broken
}

#[test]
fn the_judge_sees_calls_that_the_standard_forbids() {
    let start = |f: &Functions, i| {
        // SAFETY: the stub follows no pointer.
        unsafe {
            (f.enter_initialization_mode)(i, 0, 0.0, 0.0, 0, 0.0);
            (f.exit_initialization_mode)(i)
        }
    };
    let set = |f: &Functions, i, clock: u32| {
        // SAFETY: one reference, one value.
        unsafe { (f.set_float64)(i, &(100 * clock), 1, &1.0, 1) }
    };
    let get = |f: &Functions, i, clock: u32| {
        // SAFETY: one reference, room for one value.
        unsafe { (f.get_float64)(i, &(100 * clock), 1, &mut 0.0, 1) }
    };
    let activate = |own: &Fmi3Functions, i, clock, time| {
        // SAFETY: the stub follows no pointer.
        unsafe { (own.activate_model_partition)(i, clock, time) }
    };
    type Calls<'a> = &'a dyn Fn(&Functions, &Fmi3Functions, RawInstance);
    let wrong: [(&str, Calls); 12] = [
        ("fmi3FreeInstance, instance 0, Instantiated: with states that were not freed", &|f, _, i| {
            // SAFETY: there is room for one pointer.
            unsafe { (f.get_fmu_state)(i, &mut std::ptr::null_mut()) };
            // SAFETY: the stub follows no pointer.
            unsafe { (f.free_instance)(i) };
        }),
        ("fmi3SetFMUState, instance 0, Instantiated: of a state that it does not have", &|f, _, i| {
            // SAFETY: the stub follows no pointer.
            unsafe { (f.set_fmu_state)(i, std::ptr::without_provenance_mut(1)) };
        }),
        ("fmi3ActivateModelPartition, instance 0, Instantiated: in this state", &|_, own, i| {
            activate(own, i, 1, 0.0);
        }),
        ("fmi3GetFloat64, instance 0, Configuration: in this state", &|f, _, i| {
            // SAFETY: the stub follows no pointer.
            unsafe { (f.enter_configuration_mode)(i) };
            get(f, i, 1);
        }),
        ("fmi3GetFloat64, instance 0, ClockActivation: without an activation", &|f, _, i| {
            start(f, i);
            get(f, i, 1);
        }),
        ("after a set without an activation in between", &|f, own, i| {
            start(f, i);
            activate(own, i, 1, 0.0);
            set(f, i, 1);
            get(f, i, 1);
        }),
        ("of a time that does not increase", &|f, own, i| {
            start(f, i);
            activate(own, i, 1, 1.0);
            activate(own, i, 1, 1.0);
        }),
        ("outside of a clock update", &|f, own, i| {
            start(f, i);
            // SAFETY: one reference, room for one value.
            unsafe { (own.get_clock)(i, &7, 1, &mut 0) };
        }),
        ("fmi3EnterConfigurationMode, instance 0, Initialization: in this state", &|f, _, i| {
            // SAFETY: the stub follows no pointer.
            unsafe {
                (f.enter_initialization_mode)(i, 0, 0.0, 0.0, 0, 0.0);
                (f.enter_configuration_mode)(i);
            }
        }),
        ("fmi3Terminate, instance 0, Initialization: in this state", &|f, _, i| {
            // SAFETY: the stub follows no pointer.
            unsafe {
                (f.enter_initialization_mode)(i, 0, 0.0, 0.0, 0, 0.0);
                (f.terminate)(i);
            }
        }),
        ("after the end", &|f, own, i| {
            start(f, i);
            // SAFETY: the stub follows no pointer.
            unsafe { (f.terminate)(i) };
            activate(own, i, 1, 0.0);
        }),
        ("fmi3FreeInstance, instance 0, Freed: twice", &|f, _, i| {
            // SAFETY: the stub follows no pointer.
            unsafe {
                (f.free_instance)(i);
                (f.free_instance)(i);
            }
        }),
    ];
    for (words, calls) in wrong {
        let broken = judged(calls);
        assert!(broken.iter().any(|found| found.contains(words)), "{words}: {broken:#?}");
    }
}
