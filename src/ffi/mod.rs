//! FMI from Rust, in each of its C interfaces (`abi`): function tables, instances, and the callbacks that C calls. Functions
//! are named as in FMI 3.0.
//!
//! Knows nothing of rigs, plans or threads. What it guarantees:
//!
//! - A call out of order does not compile, or is refused without C being called ([`Instance`], [`Partition`]).
//! - After Error, and in Scheduled Execution after Discard, nothing is called but `fmi3FreeInstance`, or what makes the instance sound again
//!   (`fmi3Reset`, `fmi3SetFMUState`); after Fatal nothing is called on any instance of that
//!   FMU, and its code stays mapped. Dropping handles keeps to that.
//! - Nothing unwinds into C. Callbacks survive NULL, and being called from where they may not be.
//! - What an FMU writes is never trusted to be a valid `bool` or enumerator.
//! - Each call starts under the default floating-point control word.
//! - On the hot path (`Setting`, `Getting`, `ClockUpdate`, callbacks) nothing is allocated and no lock taken here.
//!
//! ```text
//! Library ──► Instance<Instantiated> ──► Instance<Initialization> ──► Instance<Running>
//!                                                                            │ into_parts
//!                     ┌──────────────────────────────────────────────────────┤
//!              InstanceControl                                   one Partition per input clock
//!     terminate, or join (all partitions back)                   begin ─ set ─ activate ─ get
//! ```
//!
//! Co-Simulation and Model Exchange are initialised in the same way ([`MadeFor`]).
//!
//! C calls back through `callbacks`, to the [`InstanceHost`] of the instance or the [`ThreadHost`] of the thread.
//!
//! Initialisation cannot be skipped:
//! ```compile_fail,E0599
//! use vecud::ffi::{Instance, Instantiated};
//! fn f(instance: Instance<Instantiated>) {
//!     let _ = instance.into_parts(&[]);
//! }
//! ```
//! A state cannot be left twice:
//! ```compile_fail,E0382
//! use vecud::ffi::{Initialization, Instance};
//! fn f(instance: Instance<Initialization>) {
//!     let _ = instance.exit_initialization_mode();
//!     let _ = instance.exit_initialization_mode();
//! }
//! ```
//! Intervals are set in Initialization Mode, not before:
//! ```compile_fail,E0599
//! use vecud::ffi::{Instance, Instantiated, Interval};
//! use vecud::fmu::description::ValueReference;
//! fn f(instance: Instance<Instantiated>) {
//!     let _ = instance.set_interval(ValueReference(1), Interval::Decimal(0.1));
//! }
//! ```
//! What was set is not read before an activation:
//! ```compile_fail,E0599
//! use vecud::ffi::{Batch, Partition};
//! fn f(partition: &mut Partition, inputs: &Batch, outputs: &mut Batch) {
//!     let mut setting = partition.begin();
//!     let _ = setting.set(inputs);
//!     let _ = setting.get(outputs);
//! }
//! ```
//! One `begin` is for one activation:
//! ```compile_fail,E0382
//! use vecud::ffi::Partition;
//! fn f(partition: &mut Partition) {
//!     let setting = partition.begin();
//!     let _ = setting.activate(0.0);
//!     let _ = setting.activate(0.1);
//! }
//! ```
//! A partition is not given back while it is active:
//! ```compile_fail,E0505
//! use vecud::ffi::{Batch, InstanceControl, Partition};
//! fn f(control: InstanceControl, mut partition: Partition, outputs: &mut Batch) {
//!     let mut getting = partition.begin().activate(0.0).unwrap();
//!     let _ = control.terminate(vec![partition]);
//!     let _ = getting.get(outputs);
//! }
//! ```
//! States are taken of whole instances, so none while a partition can be active:
//! ```compile_fail,E0599
//! use vecud::ffi::InstanceControl;
//! fn f(control: &InstanceControl) {
//!     let _ = control.get_state();
//! }
//! ```
//! No partition is active when its instance is put together again:
//! ```compile_fail,E0505
//! use vecud::ffi::{Batch, InstanceControl, Partition};
//! fn f(control: InstanceControl, mut partition: Partition, outputs: &mut Batch) {
//!     let mut getting = partition.begin().activate(0.0).unwrap();
//!     let _ = control.join(vec![partition]).unwrap().get_state();
//!     let _ = getting.get(outputs);
//! }
//! ```
//! A state leads back to its own mode, and nowhere else:
//! ```compile_fail,E0308
//! use vecud::ffi::{FmuState, Initialization, Instance, Running};
//! fn f(instance: Instance<Running>, state: &FmuState<Initialization>) -> Instance<Running> {
//!     instance.set_state(state).unwrap()
//! }
//! ```
//! A state is freed once:
//! ```compile_fail,E0382
//! use vecud::ffi::{FmuState, Instance, Running};
//! fn f(instance: Instance<Running>, state: FmuState<Running>) {
//!     instance.free_state(state);
//!     instance.free_state(state);
//! }
//! ```
//! After `fmi3Reset` an instance is initialised anew before it is activated:
//! ```compile_fail,E0599
//! use vecud::ffi::{Instance, Terminated};
//! fn f(instance: Instance<Terminated>) {
//!     let _ = instance.reset().unwrap().into_parts(&[]);
//! }
//! ```
//! Two threads do not share a partition:
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<vecud::ffi::Partition>();
//! ```
//! The right order compiles:
//! ```
//! use std::sync::Arc;
//! use vecud::ffi::{Batch, Failure, InstanceHost, Library};
//! use vecud::fmu::description::{ValueReference, VariableType};
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

mod abi;
mod arguments;
mod batch;
mod batch_bytes;
mod callbacks;
mod clock_update;
mod derivatives;
mod environment;
mod event_mode;
mod function;
mod instance;
mod interface;
mod interval;
mod jacobian;
mod library;
mod part;
mod partition;
mod preemption;
mod reconfiguration;
mod shared;
mod shown;
mod slopes;
mod state;
mod status;
mod step;
mod step_state;
mod strider;
#[cfg(test)]
mod tests;
mod thread;
pub mod types;
mod values;

pub use abi::{
    DraftFunctions, Fmi1EventInfo, Fmi1Functions, Fmi1ModelCallbacks, Fmi1SlaveCallbacks, Fmi2Callbacks, Fmi2Functions,
    Fmi3Functions, Functions, Own,
};
pub use batch::Batch;
pub use callbacks::{foreign_calls, host_panicked};
pub use clock_update::{ClockUpdate, OutputClocks};
pub use derivatives::{DerivativeError, Differentiable, ElementDependency, Jacobian, Provides};
pub use environment::{Called, ForeignCall, Health, InstanceHost};
pub use event_mode::{DiscreteUpdate, EventMode};
pub use function::{Function, Symbol, symbols, symbols_of_all};
pub use instance::{Configuration, Initialization, Instance, Instantiated, Mode, Readable, Running, Settable};
pub use interface::{MadeFor, StepOptions};
pub use interval::{Interval, Qualifier};
pub use jacobian::column_colours;
pub use library::{Library, LoadError, LoadErrorKind};
pub use part::{InstanceControl, Part, TerminateError};
pub use partition::{ClockElement, Getting, Partition, Setting};
pub use reconfiguration::Reconfiguration;
pub use shown::{CallCounts, Place, Shown};
pub use slopes::TimeDerivatives;
pub use state::{FmuState, StateSupport, Terminated};
pub use status::{Failure, Outcome, Status};
pub use step::{AfterStep, BeforeStep, NoStep, Said, Stepper};
pub use strider::{Strider, Striding, Unusual};
pub use thread::{InStep, Intermediate, ThreadHost, Wishes, change_thread_host, set_thread_host, thread_host};
pub use values::{get_function, set_function};
