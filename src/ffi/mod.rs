//! FMI 3.0 (released dialect) from Rust: function tables, instances, and the callbacks that C calls.
//!
//! Knows nothing of rigs, plans or threads. What it guarantees:
//!
//! - A call out of order does not compile, or is refused without C being called ([`Instance`], [`Partition`]).
//! - After Discard or Error nothing is called but `fmi3FreeInstance`; after Fatal nothing is called on any instance of that
//!   FMU, and its code stays mapped. Dropping handles keeps to that.
//! - Nothing unwinds into C. Callbacks survive NULL, and being called from where they may not be.
//! - What an FMU writes is never trusted to be a valid `bool` or enumerator.
//! - Each call starts under the default floating-point control word.
//! - On the hot path (`Setting`, `Getting`, `ClockUpdate`, callbacks) nothing is allocated and no lock taken here.
//!
//! ```text
//! Library ──► Instance<Instantiated> ──► Instance<Initialization> ──► Instance<ClockActivation>
//!                                                                            │ into_parts
//!                     ┌──────────────────────────────────────────────────────┤
//!              InstanceControl                                   one Partition per input clock
//!        terminate (all partitions back)                         begin ─ set ─ activate ─ get
//! ```
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

mod batch;
mod callbacks;
mod clock_update;
mod environment;
mod function;
mod functions;
mod instance;
mod interval;
mod library;
mod partition;
mod shared;
mod status;
#[cfg(test)]
mod tests;
mod thread;
pub mod types;
mod values;

pub use batch::Batch;
pub use callbacks::{foreign_calls, host_panicked};
pub use clock_update::ClockUpdate;
pub use environment::{ForeignCall, Health, InstanceHost};
pub use function::Function;
pub use functions::Functions;
pub use instance::{ClockActivation, Configuration, Initialization, Instance, Instantiated, Settable};
pub use interval::{Interval, Qualifier};
pub use library::{Library, LoadError, LoadErrorKind};
pub use partition::{Getting, InstanceControl, Partition, Setting, TerminateError};
pub use status::{Failure, Outcome, Status};
pub use thread::{ThreadHost, current_function, set_thread_host, thread_host};
