//! The requests that can be made by hand: each with its functions of FMI and its help text.

use vecud_description::{Abi, Interface};
use vecud_fmi::Function;
use vecud_plan::rig;
use vecud_runner::by_hand::Verb;

/// A command of the conversation.
#[derive(Debug)]
pub struct Entry {
    /// The request that the command makes.
    pub verb: Verb,
    /// Names of FMI functions that select the command: alternatives of one another.
    pub functions: &'static [Function],
    /// Other names of the command.
    pub words: &'static [&'static str],
    /// Syntax of the arguments, as help shows it.
    pub arguments: &'static str,
    /// One sentence for help.
    pub about: &'static str,
}

const fn entry(
    verb: Verb,
    functions: &'static [Function],
    words: &'static [&'static str],
    arguments: &'static str,
    about: &'static str,
) -> Entry {
    Entry { verb, functions, words, arguments, about }
}

/// All commands, in the order of an instance's life.
pub const ENTRIES: &[Entry] = &[
    entry(
        Verb::Instantiate,
        &[
            Function::InstantiateCoSimulation,
            Function::InstantiateModelExchange,
            Function::InstantiateScheduledExecution,
        ],
        &["instantiate"],
        "[cs|me|se] [name=NAME] [loggingOn=BOOL] [eventModeUsed=BOOL] [earlyReturnAllowed=BOOL]",
        "makes the instance; after a crash in a new process",
    ),
    entry(Verb::GetVersion, &[Function::GetVersion], &[], "", "the version that the library says it is of"),
    entry(
        Verb::SetDebugLogging,
        &[Function::SetDebugLogging],
        &[],
        "BOOL [CATEGORY...]",
        "whether the FMU logs, and what",
    ),
    entry(Verb::EnterConfigurationMode, &[Function::EnterConfigurationMode], &[], "", "to set structural parameters"),
    entry(Verb::ExitConfigurationMode, &[Function::ExitConfigurationMode], &[], "", "they are set"),
    entry(
        Verb::EnterInitializationMode,
        &[Function::EnterInitializationMode, Function::SetupExperiment],
        &[],
        "[START [STOP [TOLERANCE]]]",
        "begins the initialisation; START is that of the default experiment, else 0",
    ),
    entry(Verb::ExitInitializationMode, &[Function::ExitInitializationMode], &[], "", "ends the initialisation"),
    entry(
        Verb::Set,
        &[
            Function::SetFloat64,
            Function::SetFloat32,
            Function::SetInt8,
            Function::SetUInt8,
            Function::SetInt16,
            Function::SetUInt16,
            Function::SetInt32,
            Function::SetUInt32,
            Function::SetInt64,
            Function::SetUInt64,
            Function::SetBoolean,
            Function::SetString,
            Function::SetBinary,
        ],
        &["set"],
        "NAME VALUE",
        "sets a variable, by the function of its type: 2, true, [1, 2, 3] or 1 2 3, \"text\", \"0x0aff\"",
    ),
    entry(
        Verb::Get,
        &[
            Function::GetFloat64,
            Function::GetFloat32,
            Function::GetInt8,
            Function::GetUInt8,
            Function::GetInt16,
            Function::GetUInt16,
            Function::GetInt32,
            Function::GetUInt32,
            Function::GetInt64,
            Function::GetUInt64,
            Function::GetBoolean,
            Function::GetString,
            Function::GetBinary,
        ],
        &["get"],
        "NAME...",
        "reads variables, each by the function of its type; * in a name is any text",
    ),
    entry(Verb::SetClock, &[Function::SetClock], &[], "CLOCK...", "these input clocks tick"),
    entry(Verb::GetClock, &[Function::GetClock], &[], "CLOCK...", "whether these output clocks tick"),
    entry(
        Verb::GetInterval,
        &[Function::GetIntervalDecimal, Function::GetIntervalFraction],
        &[],
        "CLOCK",
        "the interval of a clock, and its qualifier",
    ),
    entry(
        Verb::SetInterval,
        &[Function::SetIntervalDecimal, Function::SetIntervalFraction],
        &[],
        "CLOCK INTERVAL",
        "the interval of a clock: a number, or COUNTER/RESOLUTION",
    ),
    entry(
        Verb::GetShift,
        &[Function::GetShiftDecimal, Function::GetShiftFraction],
        &[],
        "CLOCK",
        "the shift of a clock",
    ),
    entry(
        Verb::SetShift,
        &[Function::SetShiftDecimal, Function::SetShiftFraction],
        &[],
        "CLOCK SHIFT",
        "the shift of a clock: a number, or COUNTER/RESOLUTION",
    ),
    entry(
        Verb::ActivateModelPartition,
        &[Function::ActivateModelPartition],
        &["activate"],
        "CLOCK [TIME]",
        "computes the model partition of a clock; TIME is the last one where nothing is said",
    ),
    entry(
        Verb::DoStep,
        &[Function::DoStep],
        &["step"],
        "[POINT] SIZE",
        "a step over SIZE, from POINT, or from where the last one has ended",
    ),
    entry(
        Verb::EnterEventMode,
        &[Function::EnterEventMode],
        &[],
        "[stepEvent=BOOL] [timeEvent=BOOL]",
        "an event is handled",
    ),
    entry(Verb::UpdateDiscreteStates, &[Function::UpdateDiscreteStates], &["update"], "", "one iteration of the event"),
    entry(Verb::EnterStepMode, &[Function::EnterStepMode], &[], "", "the event is over"),
    entry(Verb::EnterContinuousTimeMode, &[Function::EnterContinuousTimeMode], &[], "", "the event is over"),
    entry(Verb::SetTime, &[Function::SetTime], &[], "TIME", "the time"),
    entry(Verb::SetContinuousStates, &[Function::SetContinuousStates], &[], "X...", "all continuous states"),
    entry(Verb::GetContinuousStates, &[Function::GetContinuousStates], &["states"], "", "all continuous states"),
    entry(
        Verb::GetContinuousStateDerivatives,
        &[Function::GetContinuousStateDerivatives],
        &["derivatives"],
        "",
        "the derivatives of all continuous states",
    ),
    entry(Verb::GetEventIndicators, &[Function::GetEventIndicators], &["indicators"], "", "all event indicators"),
    entry(
        Verb::GetNominalsOfContinuousStates,
        &[Function::GetNominalsOfContinuousStates],
        &["nominals"],
        "",
        "the nominal values of all continuous states",
    ),
    entry(
        Verb::GetNumbers,
        &[Function::GetNumberOfContinuousStates, Function::GetNumberOfEventIndicators],
        &[],
        "",
        "how many continuous states and event indicators there are",
    ),
    entry(
        Verb::GetStateValueReferences,
        &[Function::GetStateValueReferences],
        &[],
        "",
        "which variables the continuous states are",
    ),
    entry(
        Verb::CompletedIntegratorStep,
        &[Function::CompletedIntegratorStep],
        &[],
        "[noSetFMUStatePriorToCurrentPoint=BOOL]",
        "the step to this point is accepted",
    ),
    entry(
        Verb::GetDirectionalDerivative,
        &[Function::GetDirectionalDerivative],
        &[],
        "NAME,... NAME,... SEED,...",
        "how the first variables change when the others do by the seed",
    ),
    entry(
        Verb::GetAdjointDerivative,
        &[Function::GetAdjointDerivative],
        &[],
        "NAME,... NAME,... SEED,...",
        "the seed of the first variables times their derivatives with respect to the others",
    ),
    entry(
        Verb::Residual,
        &[],
        &["residual"],
        "XDOT...",
        "what is left of the derivatives when these are assumed: r = f(t, x, u) - XDOT",
    ),
    entry(
        Verb::Jacobian,
        &[],
        &["jacobian"],
        "[differences]",
        "how derivatives and outputs change with the states: a row for each derivative, then for each continuous output",
    ),
    entry(Verb::GetFmuState, &[Function::GetFMUState], &["save"], "[NAME]", "takes the state of the instance, as NAME"),
    entry(Verb::SetFmuState, &[Function::SetFMUState], &["restore"], "[NAME]", "gives the instance that state"),
    entry(Verb::FreeFmuState, &[Function::FreeFMUState], &[], "[NAME]", "frees that state"),
    entry(
        Verb::SerializeFmuState,
        &[Function::SerializeFMUState, Function::SerializedFMUStateSize],
        &[],
        "[NAME]",
        "makes bytes of that state",
    ),
    entry(
        Verb::DeserializeFmuState,
        &[Function::DeserializeFMUState],
        &[],
        "[NAME]",
        "makes a state of those bytes, in place of the one of that name",
    ),
    entry(Verb::Terminate, &[Function::Terminate], &[], "", "the simulation is over"),
    entry(Verb::Reset, &[Function::Reset], &[], "", "the instance is as if it had just been made"),
    entry(
        Verb::FreeInstance,
        &[Function::FreeInstance],
        &["free"],
        "",
        "the instance is given up; one that is initialised and sound is terminated before",
    ),
];

/// The properties of an FMU that decide the names of its functions.
#[derive(Clone, Copy, Debug)]
pub struct NamingScheme {
    /// C interface of the FMU.
    pub abi: Abi,
    /// Interface type of the instances.
    pub interface: Interface,
}

impl NamingScheme {
    /// Name of a function in C; `None`: this C interface has no such function.
    pub fn name(self, function: Function) -> Option<&'static str> {
        function.name_of(self.abi, self.interface)
    }

    /// Name of a function in messages, even where this C interface has no such function.
    pub fn word(self, function: Function) -> &'static str {
        function.word_of(self.abi, self.interface)
    }

    /// Whether this FMU has a function to call for an entry.
    pub fn has(self, entry: &Entry) -> bool {
        match entry.verb {
            Verb::Residual | Verb::Jacobian => self.interface == Interface::ModelExchange,
            // Where the C interface has no modes the importer has them all the same: nothing is called.
            Verb::EnterEventMode | Verb::EnterContinuousTimeMode if self.interface == Interface::ModelExchange => true,
            _ => entry.functions.iter().any(|function| self.name(*function).is_some()),
        }
    }

    /// Name of an entry in lists.
    pub fn title(self, entry: &Entry) -> String {
        match (entry.verb, entry.words) {
            (Verb::Get | Verb::Set | Verb::Residual | Verb::Jacobian, [word, ..]) => (*word).to_owned(),
            (Verb::GetInterval | Verb::SetInterval | Verb::GetShift | Verb::SetShift | Verb::GetNumbers, _) => {
                let names: Vec<&str> = entry.functions.iter().filter_map(|function| self.name(*function)).collect();
                if names.is_empty() { self.word(entry.functions[0]).to_owned() } else { names.join(", ") }
            }
            _ => {
                let own = entry.functions.iter().find_map(|function| self.name(*function));
                own.unwrap_or_else(|| self.word(entry.functions[0])).to_owned()
            }
        }
    }

    /// Finds an entry by a name in any style, `fmi3SetTime`, `SetTime` or `set_time`, and the function if the name is
    /// of one.
    pub fn find(self, written: &str) -> Option<(&'static Entry, Option<Function>)> {
        let wanted = bare(written);
        let by_word = |entry: &&Entry| entry.words.iter().any(|word| bare(word) == wanted);
        if let Some(entry) = ENTRIES.iter().find(by_word) {
            return Some((entry, None));
        }
        // Names of the FMU's own version come first: the same name may mean something else in another version.
        let own = |function: Function| self.name(function).is_some_and(|name| bare(name) == wanted);
        let any = |function: Function| bare(function.name()) == wanted || bare(function.name_in(self.abi)) == wanted;
        let all = || ENTRIES.iter().flat_map(|entry| entry.functions.iter().map(move |function| (entry, *function)));
        let found = all().find(|(_, function)| own(*function)).or_else(|| all().find(|(_, function)| any(*function)));
        found.map(|(entry, function)| (entry, Some(function)))
    }

    /// Whether a name is of a function of FMI that cannot be called by hand.
    pub fn is_another_function(self, written: &str) -> bool {
        let wanted = bare(written);
        let is_it = |function: &&Function| {
            bare(function.name()) == wanted || self.name(**function).is_some_and(|name| bare(name) == wanted)
        };
        Function::ALL.iter().any(|function| is_it(&function))
    }

    /// `; did you mean "fmi3SetTime"?`, whatever the style of `written`; empty where no name is near.
    pub fn suggestion(self, written: &str) -> String {
        let own = ENTRIES.iter().filter(|entry| self.has(entry));
        let names = own.flat_map(|entry| {
            let functions = entry.functions.iter().filter_map(move |function| self.name(*function));
            functions.chain(entry.words.iter().copied())
        });
        let names: Vec<(String, &str)> = names.map(|name| (bare(name), name)).collect();
        let near = rig::nearest(&bare(written), names.iter().map(|(bare, _)| bare.as_str()));
        let name = |near: &str| names.iter().find(|(bare, _)| bare == near).map(|(_, name)| format!("\"{name}\""));
        let near: Vec<String> = near.into_iter().filter_map(name).collect();
        if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
    }
}

/// Strips a name of the differences between versions and styles.
pub fn bare(name: &str) -> String {
    let plain: String = name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect();
    let rest = plain.strip_prefix("fmi").map(|rest| rest.trim_start_matches(['2', '3']));
    rest.map(str::to_owned).filter(|rest| !rest.is_empty()).unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every C interface with every interface type.
    fn dialects() -> Vec<NamingScheme> {
        let interfaces = [Interface::ModelExchange, Interface::CoSimulation, Interface::ScheduledExecution];
        let abis = [Abi::Fmi1, Abi::Fmi2, Abi::Fmi3, Abi::Draft];
        abis.into_iter().flat_map(|abi| interfaces.map(|interface| NamingScheme { abi, interface })).collect()
    }

    #[test]
    fn a_function_is_found_by_its_name_in_each_style() {
        for dialect in dialects() {
            for entry in ENTRIES.iter().filter(|entry| dialect.has(entry)) {
                for name in entry.functions.iter().filter_map(|function| dialect.name(*function)) {
                    let snake: String = bare(name).chars().flat_map(|c| [c, '_']).collect();
                    for written in [name.to_owned(), bare(name), name.to_uppercase(), snake] {
                        let found = dialect.find(&written).map(|(found, _)| found.verb);
                        assert_eq!(found, Some(entry.verb), "{written} in {dialect:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_two_entries_have_a_word_in_common() {
        let words = || ENTRIES.iter().flat_map(|entry| entry.words);
        assert_eq!(words().collect::<BTreeSet<_>>().len(), words().count());
        let verbs: BTreeSet<Verb> = ENTRIES.iter().map(|entry| entry.verb).collect();
        assert_eq!(verbs.len(), ENTRIES.len());
    }
}
