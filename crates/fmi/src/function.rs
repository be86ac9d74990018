//! The meanings of the functions of FMI, for all versions: [`Function`]. Their names in C are in `names`.

use vecud_description::Interface;

macro_rules! define_function {
    ($($variant:ident)*) => {
        /// A function of FMI: what it does, by its name in FMI 3.0 if it has one there. Of FMI 2.0 and 1.0 `GetFloat64` is
        /// `fmi2GetReal` and `fmiGetReal`. `as u32` and [`Function::from_u32`] carry it through shared memory.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        #[allow(missing_docs)] // the standard's names
        pub enum Function {
            $($variant,)*
        }

        impl Function {
            /// Every function, in the order of their numbers.
            pub const ALL: &'static [Function] = &[$(Function::$variant,)*];
        }
    };
}
// What most activations call comes first: that is counted in one cache line.
define_function! {
    GetFloat64 SetFloat64 ActivateModelPartition DoStep GetClock GetIntervalDecimal GetBoolean SetBoolean GetVersion
    GetTypesPlatform SetDebugLogging FreeInstance SetupExperiment EnterInitializationMode ExitInitializationMode Terminate Reset
    GetFloat32 GetInt8 GetUInt8 GetInt16 GetUInt16 GetInt32 GetUInt32 GetInt64 GetUInt64 GetString GetBinary SetFloat32 SetInt8
    SetUInt8 SetInt16 SetUInt16 SetInt32 SetUInt32 SetInt64 SetUInt64 SetString SetBinary GetNumberOfVariableDependencies
    GetVariableDependencies GetFMUState SetFMUState FreeFMUState SerializedFMUStateSize SerializeFMUState DeserializeFMUState
    GetDirectionalDerivative GetAdjointDerivative EnterConfigurationMode ExitConfigurationMode InstantiateScheduledExecution
    SetClock GetIntervalFraction GetShiftDecimal GetShiftFraction SetIntervalDecimal SetIntervalFraction SetShiftDecimal
    SetShiftFraction UpdateDiscreteStates EnterContinuousTimeMode CompletedIntegratorStep SetTime SetContinuousStates
    GetContinuousStateDerivatives GetEventIndicators GetContinuousStates GetNominalsOfContinuousStates
    GetNumberOfEventIndicators GetNumberOfContinuousStates EnterStepMode GetOutputDerivatives InstantiateModelExchange
    InstantiateCoSimulation EnterEventMode EvaluateDiscreteStates GetStatus GetRealStatus GetBooleanStatus CancelStep
    SetRealInputDerivatives GetStateValueReferences GetMaxStepSize
}

impl Function {
    /// `fmi3GetIntervalFraction` or `fmi3GetIntervalDecimal`.
    pub const fn get_interval(fraction: bool) -> Function {
        if fraction { Function::GetIntervalFraction } else { Function::GetIntervalDecimal }
    }

    /// `fmi3GetShiftFraction` or `fmi3GetShiftDecimal`.
    pub const fn get_shift(fraction: bool) -> Function {
        if fraction { Function::GetShiftFraction } else { Function::GetShiftDecimal }
    }

    /// The one that makes instances of that interface type.
    pub const fn instantiate(interface: Interface) -> Function {
        match interface {
            Interface::ModelExchange => Function::InstantiateModelExchange,
            Interface::CoSimulation => Function::InstantiateCoSimulation,
            Interface::ScheduledExecution => Function::InstantiateScheduledExecution,
        }
    }

    /// The function with this number.
    pub fn from_u32(number: u32) -> Option<Function> {
        Function::ALL.get(number as usize).copied()
    }
}
