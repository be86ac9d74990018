//! A conversation with an FMU, line by line: commands, their results, and the commands that lead on.

use super::context::{Experiment, LineContext};
use super::functions::{Entry, NamingScheme};
use super::language::{Instruction, NamedRequest};
use super::process::{FmuProcess, Gone};
use super::settable;
use crate::Error;
use crate::preload::{Calls, Preload};
use crate::prepare::as_told;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;
use vecud_description::{Causality, Interface, ModelDescription, ValueReference, Values, Variable};
use vecud_fmi::{Function, get_function, set_function};
use vecud_fmu::archive::{BuildChoices, Cache, Unpacked};
use vecud_linux::stop::StopToken;
use vecud_runner::by_hand::{
    Call, FmiState, IntervalValue, LoadRequest, Message, ReplyContent, Request, RequestFailure, Verb,
};

/// Order of preference among the interface types, as in `vecud simulate`.
const RUN: [Interface; 3] = [Interface::CoSimulation, Interface::ScheduledExecution, Interface::ModelExchange];

/// Settings of a conversation.
#[derive(Debug)]
pub struct ConversationOptions {
    /// The `.fmu` file, or the folder of an FMU.
    pub file: PathBuf,
    /// Interface type of the instances; `None`: the first of Co-Simulation, Scheduled Execution and Model Exchange that
    /// the FMU offers.
    pub interface: Option<Interface>,
    /// Time limit of one call.
    pub timeout: Duration,
    /// Destination of the output that FMU code prints.
    pub printed: File,
    /// Whether this process adopts orphans: processes that FMU code leaves behind are ended.
    pub adopts: bool,
    /// Libraries to load before the FMU's library.
    pub preload: Vec<PathBuf>,
    /// Tolerates errors in the description that leave the rest meaningful.
    pub lenient: bool,
    /// Number of requests so far to interrupt the present work.
    pub interrupts: fn() -> u32,
}

/// An event while a line is executed.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A function has returned.
    Called(Call),
    /// A function did not return: its name and the cause, such as `crashed (SIGSEGV)`.
    NotReturned(String, String),
    /// The FMU has logged: the status in words, the category, the message.
    Logged(String, String, String),
    /// The FMU has called back.
    CalledBack(String),
    /// A result of a request.
    Given(ShownResult),
    /// A note for the user.
    Note(String),
}

/// Result of a request, for display.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownResult {
    /// Name of the variable; empty if the result is of no variable.
    pub name: String,
    /// The result itself.
    pub given: ReplyContent,
    /// Unit of the values, or the items of their enumeration; empty if there is neither.
    pub remark: String,
}

/// Outcome of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// There is nothing to do.
    Nothing,
    /// Completed.
    Well,
    /// A text, as requested.
    Text(String),
    /// The end, as requested.
    End,
    /// The line is wrong or out of order; the FMU was not called.
    Wrong(String),
    /// The FMU, or its library, cannot be used at all.
    Invalid(String),
    /// A call has failed, or the FMU has crashed or hung.
    Failed(String),
}

/// A conversation.
pub struct ByHand {
    wanted: ConversationOptions,
    stop: StopToken,
    unpacked: Unpacked,
    cache: Cache,
    text: String,
    description: ModelDescription,
    interface: Interface,
    process: Option<FmuProcess>,
    state: FmiState,
    time: f64,
    setup: Experiment,
    sizes: BTreeMap<ValueReference, u64>,
}

impl ByHand {
    /// Opens an FMU without running any of its code.
    pub fn open(wanted: ConversationOptions, stop: StopToken) -> Result<ByHand, Error> {
        let cache = Cache::user().map_err(Error::NoCache)?.until(stop.clone());
        let unpacked = Unpacked::open(&wanted.file, &cache).map_err(Error::Archive)?;
        let text = unpacked.model_description().map_err(Error::Archive)?;
        let leniently = || vecud_description::parse_leniently(&text, None);
        let read = if wanted.lenient { leniently() } else { vecud_description::parse(&text) };
        let description = read.map_err(|mut error| {
            if !wanted.lenient && leniently().is_ok() {
                error.message += "; with --lenient that is overlooked";
            }
            Error::Description(unpacked.origin.clone(), error)
        })?;
        let offers = |own: &Interface| description.interfaces.iter().any(|offer| offer.interface() == *own);
        let interface = match wanted.interface {
            Some(own) if !offers(&own) => return Err(Error::Command(not_offered(&description, own))),
            Some(own) => own,
            None => RUN.into_iter().find(offers).unwrap_or(Interface::CoSimulation),
        };
        Ok(ByHand {
            wanted,
            stop,
            unpacked,
            cache,
            text,
            description,
            interface,
            process: None,
            state: FmiState::NoInstance,
            time: 0.0,
            setup: Experiment::default(),
            sizes: BTreeMap::new(),
        })
    }

    /// Title of the FMU: `linear (FMI 3.0, Model Exchange)`.
    pub fn title(&self) -> String {
        let ModelDescription { model_name, fmi_version, .. } = &self.description;
        format!("{model_name} (FMI {fmi_version}, {})", self.interface.name())
    }

    /// State of the instance.
    pub fn state(&self) -> FmiState {
        self.state
    }

    /// Present time of the instance, in its unit of time.
    pub fn time(&self) -> f64 {
        self.time
    }

    fn language(&self) -> LineContext<'_> {
        let dialect = NamingScheme { abi: self.description.abi, interface: self.interface };
        let ByHand { description, sizes, setup, time, .. } = self;
        LineContext { description, dialect, sizes, setup: *setup, time: *time }
    }

    /// Executes a line. `hear` receives events until then.
    pub fn tell(&mut self, line: &str, hear: &mut dyn FnMut(Heard)) -> Done {
        let asked = match self.language().read(line) {
            Ok(asked) => asked,
            Err(wrong) => return Done::Wrong(wrong),
        };
        match asked {
            Instruction::Nothing => Done::Nothing,
            Instruction::End => Done::End,
            Instruction::Help(None) => Done::Text(self.help()),
            Instruction::Help(Some(name)) => match self.help_on(&name) {
                Ok(text) => Done::Text(text),
                Err(wrong) => Done::Wrong(wrong),
            },
            Instruction::Variables(pattern) => self.variables(&pattern),
            Instruction::Setup(setup) => {
                if self.state != FmiState::Instantiated {
                    let set_up = self.language().dialect.word(Function::SetupExperiment);
                    return Done::Wrong(self.not_here(Verb::EnterInitializationMode, Some(set_up)));
                }
                self.setup = setup;
                hear(Heard::Note(
                    "it is called together with what enters Initialization Mode, with these times".to_owned(),
                ));
                Done::Well
            }
            Instruction::Instantiate(interface, request) => {
                if self.state != FmiState::NoInstance {
                    return Done::Wrong(self.not_here(Verb::Instantiate, None));
                }
                match self.have_process(interface, hear) {
                    Ok(()) => self.ask(NamedRequest { name: String::new(), request }, hear),
                    Err(done) => done,
                }
            }
            Instruction::Requests(requests) => {
                for named in requests {
                    let done = self.ask(named, hear);
                    if done != Done::Well {
                        return done;
                    }
                }
                Done::Well
            }
        }
    }

    /// Ends the instance and the process. `hear` receives failures outside of calls, and processes left behind.
    pub fn end(mut self, hear: &mut dyn FnMut(Heard)) {
        self.end_process(hear);
    }

    fn end_process(&mut self, hear: &mut dyn FnMut(Heard)) {
        if let Some(process) = self.process.take() {
            let (wrong, left) = process.end();
            let wrong = wrong.map(|(function, how)| match function {
                Some(function) => format!("the FMU {how} in {}, at the end", self.language().dialect.word(function)),
                None => format!("the FMU {how} in the destructors of its library, after everything was done"),
            });
            wrong.into_iter().chain(left).for_each(|note| hear(Heard::Note(note)));
        }
        self.state = FmiState::NoInstance;
        self.time = 0.0;
        self.sizes.clear();
    }

    /// Starts a process with the library of an interface type, by default of the present one, unless one runs.
    fn have_process(&mut self, interface: Option<Interface>, hear: &mut dyn FnMut(Heard)) -> Result<(), Done> {
        let interface = interface.unwrap_or(self.interface);
        if interface != self.interface {
            self.end_process(hear);
        }
        if self.process.is_some() {
            return Ok(());
        }
        let offers = &self.description.interfaces;
        let Some(offer) = offers.iter().find(|offer| offer.interface() == interface) else {
            return Err(Done::Wrong(not_offered(&self.description, interface)));
        };
        self.interface = interface;
        let invalid = |error: Error| Done::Invalid(error.to_string());
        let abi = self.description.abi;
        let library = self.unpacked.library_of(abi, offer, &BuildChoices::default(), &self.cache);
        let library = library.map_err(|error| invalid(Error::Archive(error)))?;
        let (told, _) = as_told(&self.unpacked, abi);
        let preload =
            Preload::of(&self.description.model_name, &library, self.wanted.preload.clone(), &mut Calls::new());
        let preload = preload.map_err(Done::Invalid)?;
        preload.note.into_iter().for_each(|note| hear(Heard::Note(note)));
        let subject = LoadRequest {
            description: self.text.clone(),
            abi,
            interface,
            preload: preload.files.iter().map(|file| file.as_os_str().as_bytes().to_vec()).collect(),
            library: library.as_os_str().as_bytes().to_vec(),
            resources: vecud_plan::resources(abi, &told.folder(), told.resources().as_deref()),
            lenient: self.wanted.lenient,
            supervisor: std::process::id(),
        };
        let printed = self.wanted.printed.try_clone();
        let printed = printed.map_err(|error| invalid(Error::System(error.to_string())))?;
        self.process = Some(FmuProcess::start(&subject, printed, self.wanted.adopts).map_err(invalid)?);
        Ok(())
    }

    fn ask(&mut self, NamedRequest { name, request }: NamedRequest, hear: &mut dyn FnMut(Heard)) -> Done {
        let verb = request.verb();
        let name_of_call = self.name_of_call(&request);
        if let Err(wrong) = self.can_touch(&name, &request) {
            return Done::Wrong(wrong);
        }
        if self.process.is_none() {
            // Requests without an instance go to the library.
            if !verb.states().contains(&FmiState::NoInstance) {
                return Done::Wrong(self.not_here(verb, name_of_call));
            }
            if let Err(done) = self.have_process(None, hear) {
                return done;
            }
        }
        let Some(process) = &mut self.process else { return Done::Wrong(self.not_here(verb, name_of_call)) };
        let (before, interrupts) = ((self.wanted.interrupts)(), self.wanted.interrupts);
        // An interrupt just before this line counts, too.
        let is_interrupted = || interrupts() != before || self.stop.is_asked();
        let mut is_called = false;
        let answer = process.ask(&request, self.wanted.timeout, &is_interrupted, &mut |message| match message {
            Message::Called(call) => {
                is_called = true;
                hear(Heard::Called(call));
            }
            Message::Logged { status, category, message } => hear(Heard::Logged(status, category, message)),
            Message::CalledBack(words) => hear(Heard::CalledBack(words)),
            Message::Noted(words) => hear(Heard::Note(words)),
            Message::Over(_) => {}
        });
        let answer = match answer {
            Ok(answer) => answer,
            Err(gone) => return self.gone(gone, hear),
        };
        let before = std::mem::replace(&mut self.state, answer.state);
        self.time = answer.time;
        if self.state == FmiState::NoInstance {
            self.sizes.clear();
            self.setup = Experiment::default();
        }
        if before == FmiState::Fatal && verb == Verb::FreeInstance {
            // Code is not used again after a fatal call.
            self.end_process(hear);
        }
        match answer.result {
            Ok(given) => {
                self.note_size(&request);
                if !is_called && let Some(note) = self.uncalled(verb) {
                    hear(Heard::Note(note));
                }
                if given != ReplyContent::Nothing {
                    let remark = self.remark(&request, &given);
                    hear(Heard::Given(ShownResult { name, given, remark }));
                }
                Done::Well
            }
            Err(RequestFailure::NotHere) => Done::Wrong(self.not_here(verb, name_of_call)),
            Err(RequestFailure::Refused(words)) => Done::Wrong(words),
            Err(RequestFailure::Invalid(words)) => Done::Invalid(words),
            Err(RequestFailure::Failed(words)) => Done::Failed(match self.state {
                FmiState::NoInstance if before != FmiState::NoInstance => format!("{words}; the instance was freed"),
                FmiState::Failed => format!("{words}; only {} left", self.left_after_error()),
                FmiState::Fatal => {
                    let free = self.language().dialect.word(Function::FreeInstance);
                    format!(
                        "{words}; nothing of the FMU is called any more: after {free} the next one is of a new process"
                    )
                }
                _ => words,
            }),
        }
    }

    /// Explains why a request called no function: an earlier version of FMI covers it elsewhere.
    fn uncalled(&self, verb: Verb) -> Option<String> {
        let abi = self.description.abi.name();
        match verb {
            Verb::EnterEventMode | Verb::EnterContinuousTimeMode => {
                Some(format!("nothing was called: {abi} has no such function"))
            }
            Verb::UpdateDiscreteStates => {
                Some(format!("nothing was called: in {abi} what initialises an instance has said this already"))
            }
            _ => None,
        }
    }

    /// Handles the loss of the process, and of the instance with it.
    fn gone(&mut self, gone: Gone, hear: &mut dyn FnMut(Heard)) -> Done {
        let function = self.process.as_ref().and_then(FmuProcess::inside);
        self.end_process(hear);
        let dialect = self.language().dialect;
        let name = function.map(|function| dialect.word(function));
        if let Some(name) = name {
            let what = match &gone {
                Gone::ByItself(words) => words.clone(),
                Gone::Late | Gone::Interrupted => "did not return".to_owned(),
            };
            hear(Heard::NotReturned(name.to_owned(), what));
        }
        let inside = name.map_or("outside of a function of FMI".to_owned(), |name| format!("in {name}"));
        let words = match gone {
            Gone::ByItself(words) => format!("the FMU {words} {inside}"),
            Gone::Late => {
                let limit = self.wanted.timeout.as_secs_f64();
                format!("the FMU has been {inside} for {limit} s, and was ended (--timeout)")
            }
            Gone::Interrupted => format!("the FMU was ended {inside}, as somebody has asked for it"),
        };
        Done::Failed(format!("{words}; the instance is gone, and the next one is of a new process"))
    }

    /// Updates the sizes after a request has set a structural parameter.
    fn note_size(&mut self, request: &Request) {
        if let Request::Set { place, values: Values::UInt64(values) } = request
            && let Some(variable) = self.description.by_reference(place.reference)
            && variable.causality == Causality::StructuralParameter
            && let Some(size) = values.first()
        {
            self.sizes.insert(place.reference, *size);
        }
    }

    fn remark(&self, request: &Request, given: &ReplyContent) -> String {
        let (Request::Get { place }, ReplyContent::Values(values)) = (request, given) else { return String::new() };
        let Some(variable) = self.description.by_reference((place.variable_type, place.reference)) else {
            return String::new();
        };
        let items = self.description.items_of(variable);
        let name = |value: i64| items.iter().find(|item| item.value == value).map_or("?", |item| item.name.as_str());
        match values {
            Values::Int64(values) if !items.is_empty() => {
                values.iter().map(|value| name(*value)).collect::<Vec<_>>().join(", ")
            }
            Values::Int32(values) if !items.is_empty() => {
                values.iter().map(|value| name(i64::from(*value))).collect::<Vec<_>>().join(", ")
            }
            _ => variable.unit.as_deref().unwrap_or_default().to_owned(),
        }
    }

    /// Refuses to set or read a variable whose class forbids it in this state.
    fn can_touch(&self, name: &str, request: &Request) -> Result<(), String> {
        let language = self.language();
        let Some(variable) = self.description.variable(name) else { return Ok(()) };
        let (states, function, word) = match request {
            Request::Set { place, .. } => (language.states_to_set(variable), set_function(place.variable_type), "set"),
            Request::Get { place } => (language.states_to_get(variable), get_function(place.variable_type), "read"),
            _ => return Ok(()),
        };
        if states.contains(&self.state) || !request.verb().states().contains(&self.state) {
            return Ok(());
        }
        let class = settable::class_of(variable);
        let reason = match states.as_slice() {
            [] => format!("{name} is {class}, which is never {word}"),
            states => {
                let names: Vec<&str> = states.iter().map(|state| state.name()).collect();
                let way = self.way_out(states).map(|way| format!("; {way} leads on")).unwrap_or_default();
                let place = place_of(self.state);
                format!("the instance is {place}, and {name}, {class}, is {word} in {}{way}", names.join(", "))
            }
        };
        Err(format!("{} was not called: {reason}", language.dialect.word(function)))
    }

    /// Explains why this state does not allow a function, and which states do.
    fn not_here(&self, verb: Verb, call: Option<&str>) -> String {
        let language = self.language();
        let named = |verb: Verb| {
            let entry = language.entries().find(|entry| entry.verb == verb);
            entry.map(|entry| title(&language, entry)).unwrap_or_default()
        };
        let states = language.states(verb);
        let names: Vec<&str> = states.iter().map(|state| state.name()).collect();
        let reason = match self.state {
            FmiState::NoInstance => format!("there is no instance; {} makes one", named(Verb::Instantiate)),
            _ if states == [FmiState::NoInstance] => {
                format!("there is an instance, which {} gives up", named(Verb::FreeInstance))
            }
            FmiState::Failed => format!("a call has failed, and only {} left", self.left_after_error()),
            FmiState::Fatal => {
                format!("a call was fatal, and only {} is left, which forgets the instance", named(Verb::FreeInstance))
            }
            state => {
                let way = self.way_out(&states).map(|way| format!("; {way} leads on")).unwrap_or_default();
                format!("the instance is {}, and it is for {}{way}", place_of(state), names.join(", "))
            }
        };
        format!("{} was not called: {reason}", call.map_or_else(|| named(verb), str::to_owned))
    }

    /// Selects the one of several functions for a request; `None`: there is only one.
    fn name_of_call(&self, request: &Request) -> Option<&'static str> {
        let function = match request {
            Request::GetInterval { fraction, .. } => Function::get_interval(*fraction),
            Request::GetShift { fraction, .. } => Function::get_shift(*fraction),
            Request::SetInterval { interval: IntervalValue::Decimal(_), .. } => Function::SetIntervalDecimal,
            Request::SetInterval { .. } => Function::SetIntervalFraction,
            Request::SetShift { shift: IntervalValue::Decimal(_), .. } => Function::SetShiftDecimal,
            Request::SetShift { .. } => Function::SetShiftFraction,
            _ => return None,
        };
        Some(self.language().dialect.word(function))
    }

    /// Names the functions that may follow an error: `fmi2Reset and fmi2FreeInstance are`.
    fn left_after_error(&self) -> String {
        let language = self.language();
        let verbs = [Verb::Reset, Verb::SetFmuState, Verb::FreeInstance];
        let entries = verbs
            .iter()
            .filter_map(|verb| language.entries().find(|entry| entry.verb == *verb && language.is_useful(entry)));
        let names: Vec<String> = entries.map(|entry| title(&language, entry)).collect();
        match names.as_slice() {
            [one] => format!("{one} is"),
            [all @ .., last] => format!("{} and {last} are", all.join(", ")),
            [] => "nothing is".to_owned(),
        }
    }

    /// The functions that lead from the present state towards one of these states.
    fn way_out(&self, states: &[FmiState]) -> Option<String> {
        let after_initialisation = states.iter().any(|state| {
            !matches!(
                state,
                FmiState::NoInstance
                    | FmiState::Instantiated
                    | FmiState::ConfigurationMode
                    | FmiState::InitializationMode
            )
        });
        let language = self.language();
        let has_reset = language.entries().any(|entry| entry.verb == Verb::Reset);
        let again = if has_reset { Verb::Reset } else { Verb::FreeInstance };
        let verb = match self.state {
            FmiState::NoInstance => Verb::Instantiate,
            FmiState::Instantiated if states == [FmiState::ConfigurationMode] => Verb::EnterConfigurationMode,
            FmiState::Instantiated => Verb::EnterInitializationMode,
            FmiState::ConfigurationMode => Verb::ExitConfigurationMode,
            FmiState::InitializationMode if after_initialisation => Verb::ExitInitializationMode,
            FmiState::StepMode | FmiState::ContinuousTimeMode if states.contains(&FmiState::EventMode) => {
                Verb::EnterEventMode
            }
            FmiState::EventMode if states.contains(&FmiState::StepMode) => Verb::EnterStepMode,
            FmiState::EventMode if states.contains(&FmiState::ContinuousTimeMode) => Verb::EnterContinuousTimeMode,
            FmiState::ClockActivationMode if states.contains(&FmiState::PartitionActivated) => {
                Verb::ActivateModelPartition
            }
            // What comes before cannot be had otherwise than from the beginning.
            _ => again,
        };
        let entry = language.entries().find(|entry| entry.verb == verb)?;
        Some(title(&language, entry))
    }

    /// Lists the functions that can be called now.
    fn help(&self) -> String {
        let language = self.language();
        let now = match self.state {
            FmiState::NoInstance => "There is no instance. What can be called now:".to_owned(),
            state => format!("The instance is {}, at {:?}. What can be called now:", place_of(state), self.time),
        };
        let mut lines = vec![now];
        let rows: Vec<(String, String)> = language
            .entries()
            .filter(|entry| entry.verb.states().contains(&self.state) && language.is_useful(entry))
            .map(|entry| (format!("{} {}", title(&language, entry), language.arguments(entry)), language.about(entry)))
            .collect();
        lines.extend(rows.iter().map(|(call, about)| {
            format!(
                "  {}
      {about}",
                call.trim_end()
            )
        }));
        lines.push("Besides: help FUNCTION, variables [PATTERN], quit".to_owned());
        lines.join("\n")
    }

    fn help_on(&self, name: &str) -> Result<String, String> {
        let language = self.language();
        let (entry, _) = language.entry(name)?;
        let states: Vec<&str> = language.states(entry.verb).iter().map(|state| state.name()).collect();
        let call = format!("{} {}", title(&language, entry), language.arguments(entry));
        let words = match entry.words {
            [] => String::new(),
            words => format!("\n  short: {}", words.join(", ")),
        };
        Ok(format!("{}\n  {}{words}\n  called in: {}", call.trim_end(), language.about(entry), states.join(", ")))
    }

    fn variables(&self, pattern: &str) -> Done {
        let language = self.language();
        let row = |variable: &Variable| {
            let sizes: Vec<String> = match variable.dimensions.is_empty() {
                true => Vec::new(),
                false => vec![format!("{} elements", self.description.elements(variable))],
            };
            let kinds = [variable.variable_type.name().to_owned(), variable.causality.name().to_owned()];
            let all: Vec<String> =
                kinds.into_iter().chain(sizes).chain(variable.unit.as_deref().map(str::to_owned)).collect();
            format!("{}  {}", variable.name, all.join(", "))
        };
        let rows: Vec<String> = language.matching(pattern).map(row).collect();
        match rows.is_empty() {
            true => Done::Wrong(format!("no variable matches {pattern}")),
            false => Done::Text(rows.join("\n")),
        }
    }
}

/// Name of an entry in the FMU's version.
fn title(language: &LineContext, entry: &Entry) -> String {
    language.dialect.title(entry)
}

/// Place of an instance in this state, in words: `in Step Mode`.
fn place_of(state: FmiState) -> String {
    match state {
        FmiState::Instantiated => "instantiated".to_owned(),
        FmiState::Terminated => "terminated".to_owned(),
        FmiState::PartitionActivated => "in Clock Activation Mode, a partition activated".to_owned(),
        FmiState::Failed => "beyond being called, since a call has failed".to_owned(),
        FmiState::Fatal => "beyond being called, since a call was fatal".to_owned(),
        state => format!("in {}", state.name()),
    }
}

fn not_offered(description: &ModelDescription, interface: Interface) -> String {
    let names: Vec<&str> = description.interfaces.iter().map(|offer| offer.interface().name()).collect();
    format!("the FMU does not offer {}: it has {}", interface.name(), names.join(" and "))
}
