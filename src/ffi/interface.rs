//! The interface types of FMI as types: what an instance is made as, and in which state its initialisation leaves it.

use super::instance::ClockActivation;
use crate::fmu::description::Interface;

/// As what an instance is made.
pub trait InterfaceType: private::Sealed {
    /// The interface type as a value.
    const INTERFACE: Interface;
    /// The state after Initialization Mode.
    type Initialized;
}

/// The importer activates model partitions, each in a thread of its own.
#[derive(Debug)]
pub enum ScheduledExecution {}
impl InterfaceType for ScheduledExecution {
    const INTERFACE: Interface = Interface::ScheduledExecution;
    type Initialized = ClockActivation;
}

/// The FMU computes from one communication point to the next.
#[derive(Debug)]
pub enum CoSimulation {}
/// State of Co-Simulation: between two steps.
#[derive(Debug)]
pub enum StepMode {}
impl InterfaceType for CoSimulation {
    const INTERFACE: Interface = Interface::CoSimulation;
    type Initialized = StepMode;
}

/// The importer integrates the equations that the FMU evaluates.
#[derive(Debug)]
pub enum ModelExchange {}
/// State of Model Exchange: at an event, as which its start counts.
#[derive(Debug)]
pub enum EventMode {}
impl InterfaceType for ModelExchange {
    const INTERFACE: Interface = Interface::ModelExchange;
    type Initialized = EventMode;
}

mod private {
    pub trait Sealed {}
    impl Sealed for super::ScheduledExecution {}
    impl Sealed for super::CoSimulation {}
    impl Sealed for super::ModelExchange {}
}
