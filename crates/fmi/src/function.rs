//! What the functions of FMI mean, whatever the version: [`Function`]. Their names in C are in [`super::abi`].

use super::abi::{self, CInterface};
use std::collections::{BTreeMap, BTreeSet};
use vecud_description::{Abi, Interface};

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

    /// The name in C, such as `fmi3ActivateModelPartition`, in the newest version that has it.
    pub fn name(self) -> &'static str {
        abi::newest_name(self)
    }

    /// The name in C in that interface, if it has the function; of FMI 1.0, whose interface types have names of their own, that of
    /// Co-Simulation. FMI 1.0 exports it behind the model identifier.
    pub fn name_in(self, abi: Abi) -> &'static str {
        CInterface::of(abi).name(self, None).unwrap_or(self.name())
    }

    /// The name in C of what does this in an instance of that interface type; `None`: there is no such function.
    pub fn name_of(self, abi: Abi, interface: Interface) -> Option<&'static str> {
        CInterface::of(abi).name(self, Some(interface))
    }

    /// [`Function::name_of`] or, of a function that is not there, the name in the newest version: what messages say.
    pub fn told_of(self, abi: Abi, interface: Interface) -> &'static str {
        self.name_of(abi, interface).unwrap_or_else(|| self.name_in(abi))
    }

    /// What a message about an FMU of that interface calls it: its name in C there, that in an instance of another interface type, or, where
    /// the version has nothing of the kind, its name without the prefix of any version.
    pub fn word_of(self, abi: Abi, interface: Interface) -> &'static str {
        let c = CInterface::of(abi);
        let bare = || self.name().trim_start_matches("fmi").trim_start_matches(|digit: char| digit.is_ascii_digit());
        c.name(self, Some(interface)).or(c.name(self, None)).unwrap_or_else(bare)
    }

    /// The function with this number.
    pub fn from_u32(number: u32) -> Option<Function> {
        Function::ALL.get(number as usize).copied()
    }
}

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A symbol that a library has to export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, with the model identifier before it where the C interface wants that.
    pub name: String,
    /// A library without it is not loaded.
    pub is_indispensable: bool,
}

/// The symbol, beside those of the standard, by which FMUs of this C interface may tell how far they can step; `None`: it has none.
pub fn symbol_of_max_step(abi: Abi, model_identifier: &str) -> Option<String> {
    let c = CInterface::of(abi);
    c.name(Function::GetMaxStepSize, None).map(|name| c.symbol(name, model_identifier))
}

/// The symbols that the library of an FMU of this model identifier has to export for an interface type.
pub fn symbols(abi: Abi, interface: Interface, model_identifier: &str) -> Vec<Symbol> {
    let c = CInterface::of(abi);
    let mut symbols = BTreeMap::new();
    let instantiate = Function::instantiate(interface);
    // Several functions may be one in C.
    for function in c.functions(interface).chain([instantiate]) {
        if let Some(name) = c.name(function, Some(interface)) {
            *symbols.entry(name).or_insert(false) |= function == instantiate || c.is_indispensable(function);
        }
    }
    let symbol = |(name, is_indispensable)| Symbol { name: c.symbol(name, model_identifier), is_indispensable };
    symbols.into_iter().map(symbol).collect()
}

/// The symbols that a library has to export whatever interface types its FMU offers; none: only those of what it offers.
pub fn symbols_of_all(abi: Abi) -> Vec<String> {
    let c = CInterface::of(abi);
    if !c.wants_all {
        return Vec::new();
    }
    let interfaces = [Interface::ModelExchange, Interface::CoSimulation, Interface::ScheduledExecution];
    let all = interfaces.into_iter().flat_map(|own| c.functions(own).filter_map(move |f| c.name(f, Some(own))));
    all.collect::<BTreeSet<&str>>().into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FMI 1.0 has two standards, and each calls some functions its own way.
    #[test]
    fn messages_have_the_names_of_the_interface_type() {
        let told = |interface| Function::EnterInitializationMode.told_of(Abi::Fmi1, interface);
        assert_eq!(told(Interface::ModelExchange), "fmiInitialize");
        assert_eq!(told(Interface::CoSimulation), "fmiInitializeSlave");
        let exit = Function::ExitInitializationMode;
        assert_eq!(exit.name_of(Abi::Fmi1, Interface::ModelExchange), None);
        assert_eq!(exit.told_of(Abi::Fmi1, Interface::ModelExchange), "fmi3ExitInitializationMode");
        assert_eq!(exit.word_of(Abi::Fmi1, Interface::ModelExchange), "ExitInitializationMode");
        assert_eq!(Function::Reset.word_of(Abi::Fmi1, Interface::ModelExchange), "fmiResetSlave");
    }

    #[test]
    fn symbols_are_those_of_the_version_and_of_the_interface_type() {
        let has = |symbols: &[Symbol], name: &str| symbols.iter().any(|symbol| symbol.name == name);
        let fmi1 = symbols(Abi::Fmi1, Interface::CoSimulation, "ball");
        assert!(has(&fmi1, "ball_fmiDoStep") && !has(&fmi1, "ball_fmiSetTime"));
        let fmi3 = symbols(Abi::Fmi3, Interface::ScheduledExecution, "ball");
        for (name, is_there) in [("fmi3ActivateModelPartition", true), ("fmi3GetBinary", true), ("fmi3DoStep", false)] {
            assert_eq!(has(&fmi3, name), is_there, "{name}");
        }
        let fmi2 = symbols(Abi::Fmi2, Interface::ModelExchange, "ball");
        assert_eq!(fmi2.iter().filter(|symbol| symbol.name == "fmi2Instantiate").count(), 1);
        let reset = fmi2.iter().find(|symbol| symbol.name == "fmi2Reset").unwrap();
        assert!(!reset.is_indispensable);
        assert_eq!(symbol_of_max_step(Abi::Fmi2, "ball").as_deref(), Some("fmi2GetMaxStepSize"));
        assert_eq!(symbol_of_max_step(Abi::Fmi3, "ball"), None);
        assert!(symbols(Abi::Fmi2, Interface::CoSimulation, "ball").iter().all(|own| own.name != "fmi2GetMaxStepSize"));
        assert!(symbols_of_all(Abi::Fmi3).contains(&"fmi3DoStep".to_owned()));
        assert!(symbols_of_all(Abi::Fmi2).is_empty());
    }
}
