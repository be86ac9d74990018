//! FMI from Rust, in each of its C interfaces (`abi`): function tables, instances, and the callbacks that C calls. Functions
//! are named as in FMI 3.0.
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! Knows nothing of rigs, plans or threads. What it guarantees:
//!
//! - A call out of order does not compile, or is refused without C being called ([`Instance`], [`Partition`], [`Model`]).
//! - After Error, and in Scheduled Execution after Discard, nothing is called but `fmi3FreeInstance`, or a function that makes the instance
//!   sound again (`fmi3Reset`, `fmi3SetFMUState`); after Fatal nothing is called on any instance of that FMU, and its code stays mapped.
//!   Dropping handles keeps to that.
//! - Nothing unwinds into C. Callbacks survive NULL, and being called from where they may not be.
//! - What an FMU writes is never trusted to be a valid `bool` or enumerator.
//! - Each call starts under the default floating-point control word.
//! - On the hot path (`BeforeActivation`, `AfterActivation`, `ClockUpdate`, `ContinuousTime`, callbacks) nothing is allocated and no lock taken here.
//!
//! ```text
//! Library ──► Instance<Instantiated> ──► Instance<Initialization> ──► Instance<Running>
//!                                                                            │ into_parts
//!                     ┌──────────────────────────────────────────────────────┤
//!              InstanceControl                                   one Partition per input clock
//!     terminate, or join (all partitions back)                   begin ─ set ─ activate ─ get
//! ```
//!
//! Co-Simulation and Model Exchange are initialised in the same way ([`MadeFor`]); instead of partitions there is one [`Stepper`], or one
//! [`Model`]; [`ImplicitForm`] makes residuals and matrices of it.
//!
//! C calls back through `callbacks`, to the [`InstanceHost`] of the instance or the [`ThreadHost`] of the thread.
//!
//! Initialisation cannot be skipped:
//! ```compile_fail,E0599
//! use vecud_fmi::{Instance, Instantiated};
//! fn f(instance: Instance<Instantiated>) {
//!     let _ = instance.into_parts(&[]);
//! }
//! ```
//! A state cannot be left twice:
//! ```compile_fail,E0382
//! use vecud_fmi::{Initialization, Instance};
//! fn f(instance: Instance<Initialization>) {
//!     let _ = instance.exit_initialization_mode();
//!     let _ = instance.exit_initialization_mode();
//! }
//! ```
//! Intervals are set in Initialization Mode, not before:
//! ```compile_fail,E0599
//! use vecud_fmi::{Instance, Instantiated, Interval};
//! use vecud_description::ValueReference;
//! fn f(instance: Instance<Instantiated>) {
//!     let _ = instance.set_interval(ValueReference(1), Interval::Decimal(0.1));
//! }
//! ```
//! Values that were set cannot be read before an activation:
//! ```compile_fail,E0599
//! use vecud_fmi::{Batch, Partition};
//! fn f(partition: &mut Partition, inputs: &Batch, outputs: &mut Batch) {
//!     let mut setting = partition.begin();
//!     let _ = setting.set(inputs);
//!     let _ = setting.get(outputs);
//! }
//! ```
//! One `begin` is for one activation:
//! ```compile_fail,E0382
//! use vecud_fmi::Partition;
//! fn f(partition: &mut Partition) {
//!     let setting = partition.begin();
//!     let _ = setting.activate(0.0);
//!     let _ = setting.activate(0.1);
//! }
//! ```
//! A partition is not given back while it is active:
//! ```compile_fail,E0505
//! use vecud_fmi::{Batch, InstanceControl, Partition};
//! fn f(control: InstanceControl, mut partition: Partition, outputs: &mut Batch) {
//!     let mut getting = partition.begin().activate(0.0).unwrap();
//!     let _ = control.terminate(vec![partition]);
//!     let _ = getting.get(outputs);
//! }
//! ```
//! States are taken of whole instances, so none while a partition can be active:
//! ```compile_fail,E0599
//! use vecud_fmi::InstanceControl;
//! fn f(control: &InstanceControl) {
//!     let _ = control.get_state();
//! }
//! ```
//! No partition is active when its instance is put together again:
//! ```compile_fail,E0505
//! use vecud_fmi::{Batch, InstanceControl, Partition};
//! fn f(control: InstanceControl, mut partition: Partition, outputs: &mut Batch) {
//!     let mut getting = partition.begin().activate(0.0).unwrap();
//!     let _ = control.join(vec![partition]).unwrap().get_state();
//!     let _ = getting.get(outputs);
//! }
//! ```
//! A state leads back to its own mode, and nowhere else:
//! ```compile_fail,E0308
//! use vecud_fmi::{FmuState, Initialization, Instance, Running};
//! fn f(instance: Instance<Running>, state: &FmuState<Initialization>) -> Instance<Running> {
//!     instance.set_state(state).unwrap()
//! }
//! ```
//! A state is freed once:
//! ```compile_fail,E0382
//! use vecud_fmi::{FmuState, Instance, Running};
//! fn f(instance: Instance<Running>, state: FmuState<Running>) {
//!     instance.free_state(state);
//!     instance.free_state(state);
//! }
//! ```
//! After `fmi3Reset` an instance is initialised again before it is activated:
//! ```compile_fail,E0599
//! use vecud_fmi::{Instance, Terminated};
//! fn f(instance: Instance<Terminated>) {
//!     let _ = instance.reset().unwrap().into_parts(&[]);
//! }
//! ```
//! Equations are evaluated in Continuous-Time Mode:
//! ```compile_fail,E0599
//! use vecud_fmi::EventMode;
//! fn f(mut event: EventMode, derivatives: &mut [f64]) {
//!     let _ = event.derivatives(derivatives);
//! }
//! ```
//! Neither time nor states change within an event:
//! ```compile_fail,E0599
//! use vecud_fmi::EventMode;
//! fn f(mut event: EventMode) {
//!     let _ = event.set_time(1.0);
//!     let _ = event.set_states(&[0.0]);
//! }
//! ```
//! Events are handled in Event Mode:
//! ```compile_fail,E0599
//! use vecud_fmi::ContinuousTime;
//! fn f(mut continuous: ContinuousTime) {
//!     let _ = continuous.update();
//! }
//! ```
//! Equations are in one mode at a time:
//! ```compile_fail,E0499
//! use vecud_fmi::{Model, Reasons};
//! fn f(model: &mut Model) {
//!     let mut continuous = model.continuous_time().unwrap();
//!     let _ = model.enter_event_mode(1.0, &Reasons::default());
//!     let _ = continuous.set_time(1.0);
//! }
//! ```
//! They are not given back as long as a mode of theirs is lent:
//! ```compile_fail,E0505
//! use vecud_fmi::{InstanceControl, Model};
//! fn f(control: InstanceControl, mut model: Model) {
//!     let mut event = model.event_mode().unwrap();
//!     let _ = control.terminate(vec![model]);
//!     let _ = event.update();
//! }
//! ```
//! Nor are there any before the instance is initialised:
//! ```compile_fail,E0599
//! use vecud_fmi::{Initialization, Instance, Numbers};
//! fn f(instance: Instance<Initialization>) {
//!     let _ = instance.into_model(Numbers::default());
//! }
//! ```
//! Two threads do not share them:
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<vecud_fmi::Model>();
//! ```
//! Two threads do not share a partition:
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<vecud_fmi::Partition>();
//! ```
//! The right order compiles:
//! ```
//! use std::sync::Arc;
//! use vecud_fmi::{Batch, Failure, InstanceHost, Library};
//! use vecud_description::{ValueReference, VariableType};
//! fn f(library: Arc<Library>, host: Arc<dyn InstanceHost>) -> Result<(), Failure> {
//!     let instance = library.instantiate_scheduled_execution("ecu", "{token}", None, true, host)?;
//!     let instance = instance.enter_initialization_mode(0.0, None, None)?.exit_initialization_mode()?;
//!     let (control, mut partitions) = instance.into_parts(&[ValueReference(1001)]);
//!     let mut outputs = Batch::new(VariableType::Float64, vec![(ValueReference(1), 1)]);
//!     let _ = partitions[0].begin().activate(0.0)?.get(&mut outputs)?;
//!     let _ = control.terminate(partitions);
//!     Ok(())
//! }
//! ```
//! The right order for Model Exchange, with one step of Euler's method:
//! ```
//! use vecud_fmi::{Failure, Initialization, Instance, Numbers, Reasons};
//! fn f(instance: Instance<Initialization>) -> Result<(), Failure> {
//!     let (control, mut model) = instance.exit_initialization_mode()?.into_model(Numbers { states: 1, event_indicators: 0 });
//!     model.is_in_initial_event_mode(0.0);
//!     if let Some(mut event) = model.event_mode() {
//!         while event.update()?.needs_update {}
//!     }
//!     model.enter_continuous_time_mode()?;
//!     if let Some(mut continuous) = model.continuous_time() {
//!         let (mut states, mut derivatives) = ([0.0], [0.0]);
//!         let _ = continuous.states(&mut states)?;
//!         let _ = continuous.derivatives(&mut derivatives)?;
//!         let _ = continuous.set_time(0.1)?;
//!         let _ = continuous.set_states(&[states[0] + 0.1 * derivatives[0]])?;
//!         let _ = continuous.completed_integrator_step(true)?;
//!     }
//!     model.enter_event_mode(0.1, &Reasons::default())?;
//!     let _ = control.terminate(vec![model]);
//!     Ok(())
//! }
//! ```

mod abi;
mod arguments;
mod batch;
mod batch_bytes;
mod batch_stepper;
mod callbacks;
mod clock_update;
mod clocks;
mod control;
mod derivatives;
mod environment;
mod event_mode;
mod function;
mod implicit_form;
mod instance;
mod interface;
mod interval;
mod jacobian;
mod library;
mod model;
mod names;
mod part;
mod partition;
mod preemption;
mod reasons;
mod reconfiguration;
mod shared;
mod shown;
mod slopes;
mod state;
mod state_pointer;
mod status;
mod step;
mod step_state;

#[cfg(test)]
mod tests;
mod thread;
pub mod types;
mod unload;
mod values;

pub use abi::{
    DraftFunctions, Fmi1EventInfo, Fmi1Functions, Fmi1ModelCallbacks, Fmi1SlaveCallbacks, Fmi2Callbacks, Fmi2EventInfo,
    Fmi2Functions, Fmi3Functions, Functions, VersionFunctions,
};
pub use batch::Batch;
pub use batch_stepper::{BatchStepper, FastPath, FastPathExit};
pub use callbacks::{foreign_calls, host_panicked};
pub use clock_update::ClockUpdate;
pub use clocks::{InputClocks, OutputClocks};
pub use control::{InstanceControl, TerminateError};
pub use derivatives::{DerivativeError, Differentiable, ElementDependency, Jacobian, Provides};
pub use environment::{ForeignCall, Health, InstanceHost, ReturnedCall};
pub use event_mode::{DiscreteUpdate, EventMode};
pub use function::Function;
pub use implicit_form::{ImplicitForm, NoImplicitForm};
pub use instance::{Configuration, Initialization, Instance, Instantiated, Readable, Restorable, Running, Writable};
pub use interface::{MadeFor, StepOptions};
pub use interval::{ElementIntervals, Interval, Qualifier};
pub use jacobian::{SparsityPattern, column_colours};
pub use library::{Library, LoadError, LoadErrorKind, preload};
pub use model::{Attempt, Completed, ContinuousTime, Model, Numbers};
pub use names::{Symbol, symbol_of_max_step, symbols, symbols_of_all};
pub use part::ComputeHandle;
pub use partition::{AfterActivation, BeforeActivation, ClockElement, Partition};
pub use reasons::Reasons;
pub use reconfiguration::Reconfiguration;
pub use shown::{CallCounts, CallIndicator, CallProbe};
pub use slopes::TimeDerivatives;
pub use state::{FmuState, Terminated};
pub use state_pointer::StateSupport;
pub use status::{Failure, Outcome, Status};
pub use step::{AfterStep, BeforeStep, NoStep, StepResult, Stepper};
pub use thread::{InStep, Intermediate, ThreadHost, Wishes, change_thread_host, set_thread_host, thread_host};
pub use unload::unload;
pub use values::{get_function, set_function};
