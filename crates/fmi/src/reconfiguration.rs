//! Reconfiguration Mode of an instance in Clock Activation Mode, or, in Model Exchange, in Event Mode (FMI 3.0, 2.3.5): tunable
//! structural parameters.

use super::control::InstanceControl;
use super::environment::Health;
use super::function::Function;
use super::model::{Numbers, numbers};
use super::reasons::Reasons;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome, Status};
use std::sync::Arc;
use vecud_description::{Interface, ValueReference, Values, VariableType};

/// Takes an instance that has partitions through Reconfiguration Mode.
#[derive(Clone)]
pub struct Reconfiguration {
    shared: Arc<SharedInstance>,
}

impl InstanceControl {
    /// A handle that takes the instance through Reconfiguration Mode. Precondition: it is dropped before the instance is ended.
    pub fn reconfiguration(&self) -> Reconfiguration {
        Reconfiguration { shared: self.shared.clone() }
    }
}

impl Reconfiguration {
    /// Treats the instance as if a call had returned `fmi3Error`: nothing but `fmi3FreeInstance` will be called.
    pub fn fail(&self) {
        self.shared.fail(Status::Error);
    }

    /// `fmi3EnterConfigurationMode`, sets these variables, `fmi3ExitConfigurationMode`. Callbacks of the FMU meanwhile
    /// are out of place and have no effect. The worst of the outcomes.
    ///
    /// # Contract
    /// No partition of the instance is active, and none begins until this returns: only setting is allowed in that mode.
    /// Only tunable structural parameters, of FMUs that have any. An instance for Model Exchange enters Event Mode for that, unless it is
    /// there, and stays in it: what has changed is to be handled as an event.
    pub fn set<'a>(
        &self,
        values: impl Iterator<Item = (ValueReference, VariableType, &'a Values)>,
    ) -> Result<Outcome, Failure> {
        let shared = &*self.shared;
        let entered = match shared.interface {
            Interface::ModelExchange if !shared.is_in_event_mode() => self.enter_event_mode()?,
            _ => Outcome::Ok,
        };
        shared.environment.set_clock_activation(false);
        let result = self.reconfigure(values).map(|outcome| entered.or(outcome));
        // Whatever came of it: it has left initialisation behind, and its health says whether it may be called.
        shared.environment.set_clock_activation(true);
        result
    }

    /// The present numbers of states and event indicators of an instance for Model Exchange; `None`: it has no function that
    /// tells them.
    ///
    /// # Contract
    /// As for [`Reconfiguration::set`].
    pub fn numbers(&self) -> Result<Option<Numbers>, Failure> {
        numbers(&self.shared, CallContext::default())
    }

    /// Enters Event Mode. Precondition: Continuous-Time Mode, of a C interface with Reconfiguration Mode.
    fn enter_event_mode(&self) -> Result<Outcome, Failure> {
        let shared = &*self.shared;
        if !shared.library.functions().tells_numbers() {
            return Err(shared.refusal(Function::EnterConfigurationMode, CallContext::default()));
        }
        let entered = shared.call(Function::EnterEventMode, CallContext::default(), |f, i| {
            // SAFETY: the instance is alive and in Continuous-Time Mode, and by contract nobody else calls it.
            unsafe { f.enter_event_mode(i, &Reasons::default()) }
        })?;
        shared.set_in_event_mode(true);
        Ok(entered)
    }

    /// [`Reconfiguration::set`] while callbacks are out of place.
    fn reconfigure<'a>(
        &self,
        mut values: impl Iterator<Item = (ValueReference, VariableType, &'a Values)>,
    ) -> Result<Outcome, Failure> {
        let shared = &*self.shared;
        let entered = shared.call(Function::EnterConfigurationMode, CallContext::default(), |f, i| {
            // SAFETY: the instance is alive and in a mode that has Reconfiguration Mode beside it, and by contract nobody else
            // calls it.
            unsafe { (f.enter_configuration_mode)(i) }
        })?;
        let set = values.try_fold(entered, |worst, (reference, variable_type, values)| {
            Ok(worst.or(shared.set_values(reference, variable_type, values)?))
        });
        if shared.health() != Health::Healthy {
            return set;
        }
        // Also after a value that was discarded; where it cannot be left, nothing else is allowed.
        let left = shared.call(Function::ExitConfigurationMode, CallContext::default(), |f, i| {
            // SAFETY: as above, in Reconfiguration Mode.
            unsafe { (f.exit_configuration_mode)(i) }
        });
        let left = left.inspect_err(|_| self.fail());
        Ok(set?.or(left?))
    }
}
