//! Names of functions, statuses and failures in each C interface, and the symbols that libraries export.

use super::abi::{self, CInterface, NEWEST};
use super::function::Function;
use super::status::{Failure, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::fmt;
use vecud_description::{Abi, Interface};

impl Function {
    /// The name in C, such as `fmi3ActivateModelPartition`, in the newest version that has it.
    pub fn name(self) -> &'static str {
        abi::newest_name(self)
    }

    /// The name in C in that interface, if it has the function; of FMI 1.0, whose interface types have names of their own, that of
    /// Co-Simulation. FMI 1.0 exports it behind the model identifier.
    pub fn name_in(self, abi: Abi) -> &'static str {
        CInterface::of(abi).name(self, None).unwrap_or(self.name())
    }

    /// The function's name in C for an instance of that interface type; `None`: there is no such function.
    pub fn name_of(self, abi: Abi, interface: Interface) -> Option<&'static str> {
        CInterface::of(abi).name(self, Some(interface))
    }

    /// [`Function::name_of`] or, of a function that is not there, the name in the newest version: what messages say.
    pub fn told_of(self, abi: Abi, interface: Interface) -> &'static str {
        self.name_of(abi, interface).unwrap_or_else(|| self.name_in(abi))
    }

    /// The function's name in a message about an FMU of that interface: its name in C there, that in an instance of another interface type,
    /// or, if the version has no such function, its name without the prefix of any version.
    pub fn word_of(self, abi: Abi, interface: Interface) -> &'static str {
        let c = CInterface::of(abi);
        let bare = || self.name().trim_start_matches("fmi").trim_start_matches(|digit: char| digit.is_ascii_digit());
        c.name(self, Some(interface)).or(c.name(self, None)).unwrap_or_else(bare)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Status {
    /// The name in C in that interface, such as `fmi3Discard`.
    pub fn name_in(self, abi: Abi) -> &'static str {
        CInterface::of(abi).statuses[self as usize]
    }

    /// The returned value of a call that counts as this one, in words: the status, or `answer`, which is none.
    pub fn returned(self, answer: Option<c_int>, abi: Abi) -> String {
        match answer {
            // `fmi2Pending`, of which only a step hears.
            Some(5) if abi.is_earlier() => {
                let step = Function::DoStep.name_in(abi);
                format!("5 ({}, a status of {step} alone)", step.replace("DoStep", "Pending"))
            }
            Some(answer) => format!("{answer} (no status of {})", abi.name()),
            None => self.name_in(abi).to_owned(),
        }
    }
}

/// Functions that return an instance, and no status.
const INSTANTIATE: [Function; 3] =
    [Function::InstantiateModelExchange, Function::InstantiateCoSimulation, Function::InstantiateScheduledExecution];

impl Failure {
    /// Describes the failure, with the names of function and status in that interface.
    pub fn in_words(&self, abi: Abi) -> String {
        let mut words = String::new();
        let _a_string_takes_everything = self.write(abi, self.function.name_in(abi), &mut words);
        words
    }

    /// [`Failure::in_words`] for an instance of that interface type: FMI 1.0 has names of its own.
    pub fn in_words_of(&self, abi: Abi, interface: Interface) -> String {
        let mut words = String::new();
        let _a_string_takes_everything = self.write(abi, self.function.told_of(abi, interface), &mut words);
        words
    }

    fn write(&self, abi: Abi, name: &str, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str(name)?;
        if let Some(clock) = self.clock {
            write!(f, " for the clock with value reference {}", clock.0)?;
        }
        if let Some(time) = self.time {
            write!(f, " at {time} s")?;
        }
        match (self.refused, self.status) {
            (true, Status::Discard) => write!(f, " was not called: these values cannot be handed to it"),
            (true, Status::Fatal) => {
                write!(f, " was not called: an instance of this FMU returned {} before", Status::Fatal.name_in(abi))
            }
            (true, _) => write!(f, " was not called: the instance has failed before, or is in no state for it"),
            (false, _) if INSTANTIATE.contains(&self.function) => write!(f, " returned NULL"),
            (false, status) => write!(f, " returned {}", status.returned(self.answer, abi)),
        }
    }
}

/// The failure with the names of the newest version.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(NEWEST, self.function.name_in(NEWEST), f)
    }
}

impl std::error::Error for Failure {}

/// A symbol that a library has to export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Name of the symbol, with the model identifier before it if the C interface has that.
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

/// The symbols that a library must export whatever interface types its FMU offers; none: only those of its interface types.
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
