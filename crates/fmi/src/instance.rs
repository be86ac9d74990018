//! An instance from birth to the end of its initialisation, and up to its parts that compute. Its state is its type, so a
//! call out of order does not compile:
//!
//! ```text
//! Instantiated ──► Initialization ──► Running ──► (InstanceControl, Vec<Partition>)   Scheduled Execution
//!      │ ▲                                  ├─────► (InstanceControl, Stepper)          Co-Simulation
//!      ▼ │                                  └─────► (InstanceControl, Model)            Model Exchange
//! Configuration
//! ```
//!
//! [`InstanceControl::join`](super::InstanceControl::join) leads back from the right-hand end; a state that was set, and `fmi3Reset`,
//! from anywhere to where they belong ([`super::FmuState`]).
//!
//! A transition that fails consumes the instance and ends it as the standard wants it: FreeInstance after Discard or Error,
//! nothing at all after Fatal. So does dropping it. Warnings of transitions are told by the log and
//! [`super::ThreadHost::warned`].

use super::abi::{Birth, Functions};
use super::environment::{Environment, Health, InstanceHost};
use super::function::Function;
use super::interface::MadeFor;
use super::interval::Interval;
use super::library::Library;
use super::preemption;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome, Status};
use super::thread::visit;
use super::types::{RawInstance, RawStatus, RawString};
use std::cell::Cell;
use std::ffi::CString;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vecud_description::{Interface, ValueReference, Values, VariableType};

/// State: made, not initialised. Start values can be set.
#[derive(Debug)]
pub enum Instantiated {}
/// State: structural parameters can be set.
#[derive(Debug)]
pub enum Configuration {}
/// State: being initialised. Values and clock intervals can be set and read.
#[derive(Debug)]
pub enum Initialization {}
/// State: initialised, and put together: no part computes. In Scheduled Execution it is in Clock Activation Mode.
#[derive(Debug)]
pub enum Running {}

/// An instance of an FMU, in the state `S`. `Send`, not `Sync`: one thread at a time.
pub struct Instance<S> {
    pub(super) shared: Whole,
    state: PhantomData<(S, Cell<()>)>,
}

/// Ends an instance without parts when it is dropped, whoever else can still read its clocks then.
pub(super) struct Whole(Arc<SharedInstance>);

impl Deref for Whole {
    type Target = Arc<SharedInstance>;

    fn deref(&self) -> &Arc<SharedInstance> {
        &self.0
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        // Parts may compute: then the last of them ends it.
        if self.0.parts.load(Ordering::Acquire) == 0 {
            // What Terminate says here nobody asked for; the log has it.
            let _ = self.0.finish();
        }
    }
}

impl Library {
    /// `fmi3InstantiateScheduledExecution`: [`Library::instantiate`].
    pub fn instantiate_scheduled_execution(
        self: &Arc<Library>,
        name: &str,
        token: &str,
        resources: Option<&str>,
        logging_on: bool,
        host: Arc<dyn InstanceHost>,
    ) -> Result<Instance<Instantiated>, Failure> {
        self.instantiate(&MadeFor::ScheduledExecution, name, token, resources, logging_on, host)
    }

    /// Makes an instance. When the FMU returns NULL, `host` has its log messages.
    ///
    /// `resources` in the form of the C interface: FMI 3.0, a path that ends with a separator; before, a URI. `None` if the
    /// FMU has no resources. A name or token with a NUL in it is refused.
    pub fn instantiate(
        self: &Arc<Library>,
        made_for: &MadeFor,
        name: &str,
        token: &str,
        resources: Option<&str>,
        logging_on: bool,
        host: Arc<dyn InstanceHost>,
    ) -> Result<Instance<Instantiated>, Failure> {
        let interface = made_for.interface();
        let function = Function::instantiate(interface);
        let failure = |status, refused| Failure::new(function, status, refused);
        if self.is_fatal() {
            return Err(failure(Status::Fatal, true));
        }
        let c_string = |text: &str| CString::new(text).map_err(|_| failure(Status::Discard, true));
        let (name, token) = (c_string(name)?, c_string(token)?);
        let resources = resources.map(c_string).transpose()?;
        let environment = Arc::new(Environment::new(host));
        self.keep(environment.clone());
        let (lock, unlock) = preemption::callbacks_of(&environment);
        let birth = Birth {
            made_for,
            name: name.as_ptr(),
            token: token.as_ptr(),
            resources: resources.as_ref().map_or(ptr::null(), |resources| resources.as_ptr()),
            logging_on: logging_on.into(),
            environment: Arc::as_ptr(&environment).cast_mut().cast(),
            lock,
            unlock,
        };
        // SAFETY: the strings are NUL-terminated and live until the call returns; the environment lives until the library
        // is unloaded (`keep`), and the callbacks for ever; no instance of this FMU was fatal.
        let raw = visit(&*environment, function, || unsafe { self.functions().instantiate(&birth) });
        if raw.is_null() {
            return Err(failure(Status::Error, false));
        }
        Ok(Instance::new(Whole(Arc::new(SharedInstance::new(raw, environment, self.clone(), interface)))))
    }
}

impl<S> Instance<S> {
    pub(super) fn new(shared: Whole) -> Instance<S> {
        Instance { shared, state: PhantomData }
    }

    /// `fmi3SetDebugLogging`. No category means all of them; the pointer to them is then null (FMI 3.0.2, 2.3.1).
    pub fn set_debug_logging(&self, on: bool, categories: &[&str]) -> Result<Outcome, Failure> {
        // A category with a NUL in it names none.
        let owned: Vec<CString> = categories.iter().filter_map(|c| CString::new(*c).ok()).collect();
        let pointers: Vec<RawString> = owned.iter().map(|c| c.as_ptr()).collect();
        let first = if pointers.is_empty() { std::ptr::null() } else { pointers.as_ptr() };
        self.shared.call(Function::SetDebugLogging, CallContext::default(), |f, i| {
            // SAFETY: as many NUL-terminated strings as said, alive until the call returns; null for none.
            unsafe { (f.set_debug_logging)(i, on.into(), pointers.len(), first) }
        })
    }

    /// Whether the instance may still be called.
    pub fn health(&self) -> Health {
        self.shared.health()
    }

    /// Treats the instance as if a call had returned `fmi3Error`: nothing but `fmi3FreeInstance` will be called.
    pub fn fail(&self) {
        self.shared.fail(Status::Error);
    }

    /// Goes on in state `T` if the call that leads there succeeds, else ends the instance.
    fn enter<T>(
        self,
        function: Function,
        c: impl FnOnce(&Functions, RawInstance) -> RawStatus,
    ) -> Result<Instance<T>, Failure> {
        self.enter_with(function, |(), functions, instance| c(functions, instance), |(), _| String::new())
    }

    /// [`Instance::enter`] with the arguments as text.
    fn enter_with<T>(
        self,
        function: Function,
        c: impl FnOnce(&mut (), &Functions, RawInstance) -> RawStatus,
        arguments: impl Fn(&(), bool) -> String,
    ) -> Result<Instance<T>, Failure> {
        let entered = self.shared.call_with(function, CallContext::default(), (), c, arguments);
        entered.inspect_err(|failure| self.shared.remember(*failure))?;
        Ok(Instance::new(self.shared))
    }
}

impl Instance<Instantiated> {
    /// `fmi3EnterConfigurationMode`, to set structural parameters. Only for FMUs that have any.
    pub fn enter_configuration_mode(self) -> Result<Instance<Configuration>, Failure> {
        // SAFETY: the instance is alive and in state Instantiated.
        self.enter(Function::EnterConfigurationMode, |f, i| unsafe { (f.enter_configuration_mode)(i) })
    }

    /// The draft's `fmi3SetIntervalFraction` (or `Decimal`, if the intervals are such) of one periodic clock that is not
    /// strict: one interval for each of its elements, all of the same form. Refused in the released dialect, which sets
    /// intervals in Initialization Mode.
    pub fn set_draft_intervals(&self, clock: ValueReference, intervals: &[Interval]) -> Result<Outcome, Failure> {
        self.shared.set_draft_intervals(clock, intervals)
    }

    /// `fmi3EnterInitializationMode`. A stop time only when the run really has one: the FMU may refuse to go beyond it.
    pub fn enter_initialization_mode(
        self,
        start: f64,
        stop: Option<f64>,
        tolerance: Option<f64>,
    ) -> Result<Instance<Initialization>, Failure> {
        let (has_tolerance, has_stop) = (tolerance.is_some().into(), stop.is_some().into());
        let (tolerance, stop) = (tolerance.unwrap_or(0.0), stop.unwrap_or(0.0));
        let make = |(): &mut (), f: &Functions, i| {
            // SAFETY: the instance is alive and in state Instantiated.
            unsafe { (f.enter_initialization_mode)(i, has_tolerance, tolerance, start, has_stop, stop) }
        };
        let shown = |_: &(), _| {
            let tolerance = if has_tolerance != 0 { format!("tolerance {tolerance:?}, ") } else { String::new() };
            let stop = if has_stop != 0 { format!(", stop {stop:?}") } else { String::new() };
            format!("{tolerance}start {start:?}{stop}")
        };
        self.enter_with(Function::EnterInitializationMode, make, shown)
    }
}

impl Instance<Configuration> {
    /// `fmi3ExitConfigurationMode`.
    pub fn exit_configuration_mode(self) -> Result<Instance<Instantiated>, Failure> {
        // SAFETY: the instance is alive and in Configuration Mode.
        self.enter(Function::ExitConfigurationMode, |f, i| unsafe { (f.exit_configuration_mode)(i) })
    }
}

impl Instance<Initialization> {
    /// `fmi3ExitInitializationMode`.
    pub fn exit_initialization_mode(self) -> Result<Instance<Running>, Failure> {
        let ready =
            // SAFETY: the instance is alive and in Initialization Mode.
            self.enter(Function::ExitInitializationMode, |f, i| unsafe { (f.exit_initialization_mode)(i) })?;
        ready.shared.environment.set_clock_activation(true);
        ready.shared.set_in_event_mode(ready.shared.interface == Interface::ModelExchange);
        Ok(ready)
    }
}

impl Instance<Initialization> {
    /// Calls `fmi3GetIntervalFraction` or `fmi3GetIntervalDecimal` for one clock; the result is for
    /// [`super::Qualifier::from_raw`].
    pub fn get_interval(&self, clock: ValueReference, fraction: bool) -> Result<(Interval, i32), Failure> {
        self.shared.get_interval(clock, fraction, CallContext { clock: Some(clock), time: None })
    }

    /// `fmi3SetInterval*` of one clock.
    pub fn set_interval(&self, clock: ValueReference, interval: Interval) -> Result<Outcome, Failure> {
        self.shared.set_interval(clock, interval, CallContext { clock: Some(clock), time: None })
    }

    /// `fmi3GetShiftFraction` or `fmi3GetShiftDecimal` of one clock.
    pub fn get_shift(&self, clock: ValueReference, fraction: bool) -> Result<Interval, Failure> {
        self.shared.get_shift(clock, fraction, CallContext { clock: Some(clock), time: None })
    }

    /// `fmi3SetShift*` of one clock.
    pub fn set_shift(&self, clock: ValueReference, shift: Interval) -> Result<Outcome, Failure> {
        self.shared.set_shift(clock, shift, CallContext { clock: Some(clock), time: None })
    }
}

/// Modes in which a state can be taken and to which it leads back.
pub trait Restorable: private::Sealed {
    /// Whether the mode is Clock Activation Mode.
    const CLOCK_ACTIVATION: bool = false;
}
impl Restorable for Instantiated {}
impl Restorable for Configuration {}
impl Restorable for Initialization {}
impl Restorable for Running {
    const CLOCK_ACTIVATION: bool = true;
}

/// States in which variables can be set.
pub trait Writable: private::Sealed {}
impl Writable for Instantiated {}
impl Writable for Configuration {}
impl Writable for Initialization {}

/// States in which variables can be read: not in Configuration Mode. Of a running instance only what makes steps can be, before it is
/// taken apart.
pub trait Readable: private::Sealed {}
impl Readable for Instantiated {}
impl Readable for Initialization {}
impl Readable for Running {}

mod private {
    pub trait Sealed {}
    impl Sealed for super::Instantiated {}
    impl Sealed for super::Configuration {}
    impl Sealed for super::Initialization {}
    impl Sealed for super::Running {}
}

impl<S: Writable> Instance<S> {
    /// Sets one variable: all its elements, in row-major order. Enumerations are `Int64`.
    ///
    /// Refused if the values are not of that type, for clocks, and for strings with a NUL in them.
    pub fn set_values(
        &self,
        reference: ValueReference,
        variable_type: VariableType,
        values: &Values,
    ) -> Result<Outcome, Failure> {
        self.shared.set_values(reference, variable_type, values)
    }
}

impl<S: Readable> Instance<S> {
    /// Reads one variable with that many elements. Strings that are not UTF-8 are made so; NULL is empty.
    ///
    /// A warning is told by [`super::ThreadHost::warned`] and the log only. Refused for clocks.
    pub fn get_values(
        &self,
        reference: ValueReference,
        variable_type: VariableType,
        elements: usize,
    ) -> Result<Values, Failure> {
        self.shared.get_values(reference, variable_type, elements)
    }
}
