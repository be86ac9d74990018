//! Makes a plan of a rig file: opens the files that the rig names and hands each stage's result to the next.

use super::core_claims::{self, Claims};
use super::memory_budget::{DescriptionBudget, MemoryBudget};
use super::neighbours::{self, Neighbours};
use super::preload::{Calls, Preload};
use super::stimuli::{self, StimulusSource};
use super::{Error, EventSink, HostResources, SessionEvent, saved};
use std::collections::BTreeSet;
use std::collections::hash_map::{Entry, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use vecud_base::places::LineIndex;
use vecud_base::time::{Fraction, Instant};
use vecud_description::{Abi, Interface, ModelDescription};
use vecud_fmi::symbol_of_max_step;
use vecud_fmu::archive::{self, ArchiveError, BuildChoices, BuildError, Cache, Unpacked};
use vecud_fmu::binary::Exports;
use vecud_fmu::linking;
use vecud_linux::files;
use vecud_linux::files::Folder;
use vecud_linux::permits::{Permit, Permits};
use vecud_linux::rights::Rights;
use vecud_linux::stop::StopToken;
use vecud_plan::rig::{self, At, EndpointSource, Place, Rig, RigDaemon, RigError, RigFmu, RigTrigger, TriggerSource};
use vecud_plan::snapshot::Snapshot;
use vecud_plan::{FmuId, FmuInput, Mode, Plan, RunningRig, SignalId, StimulusInput};
use vecud_record::recording::WITHOUT_ARROW;
use vecud_report::FindingResult;

/// Limit for the size of a rig file: a longer one is the wrong file.
const LONGEST_RIG: u64 = 64 << 20;

/// Number of further attempts to make a plan when other runs take its cores meanwhile.
const TRIALS: u32 = 5;

/// The other rigs of this process, beside which a plan is made: they keep their resources, and their cores as far as there are others.
pub trait OtherRigs {
    /// The rigs that run. `is_last`: nobody else may take a part of the machine until the plan beside these has taken its own.
    fn running(&mut self, is_last: bool) -> Vec<RunningRig>;

    /// Reserves the plan's part of the machine. `false`: since the plan was made another rig has taken some of it.
    fn take(&mut self, plan: &Plan) -> bool;
}

/// There are none.
pub struct NoOtherRigs;

impl OtherRigs for NoOtherRigs {
    fn running(&mut self, _: bool) -> Vec<RunningRig> {
        Vec::new()
    }

    fn take(&mut self, _: &Plan) -> bool {
        true
    }
}

/// Settings of a session.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Virtual time with a thread for each task, which shows whether FMUs interfere.
    pub side_by_side: bool,
    /// A rig file, an `.fmu` file, or the folder of an FMU.
    pub file: PathBuf,
    /// The text of the rig, in place of the file's content: relative paths in it, and mistakes, refer to the file.
    pub text: Option<String>,
    /// Rights for reading the file and the files that the rig names.
    pub rights: Rights,
    /// Overrides the rig's mode.
    pub mode: Option<Mode>,
    /// Overrides the rig's stop time.
    pub stop_time: Option<Instant>,
    /// The length of a step of an FMU that runs alone, s; for a rig it takes the place of `step` in `[rig]`.
    pub step: Option<Fraction>,
    /// Start values as `FMU.NAME=VALUE`, in place of the rig's.
    pub set: Vec<String>,
    /// A pattern over recorded variables, whose values go with the figures of the clocks; `None`: none.
    pub watch: Option<String>,
    /// Output directory; default `vecud-out/<rig>`.
    pub out: Option<PathBuf>,
    /// A folder above [`Options::out`] that is held open: from there on no part of that path may be a link.
    pub within: Option<Folder>,
    /// Allows setting values during the run ([`super::SessionHandle::control`]).
    pub control: bool,
    /// Allows a run without stop time in virtual time as well: it ends on request.
    pub endless: bool,
    /// Room in memory for reading descriptions and for planning, by a rough reckoning; a rig that needs more is refused.
    pub room: Option<MemoryBudget>,
    /// The command line that the report names, its program first.
    pub command: Vec<String>,
    /// Offences of FMUs against the standard fail the run.
    pub strict: bool,
    /// FMUs log everything, except those whose log categories the rig sets.
    pub log: bool,
    /// Libraries to load before those of all FMUs.
    pub preload: Vec<PathBuf>,
    /// Tolerates errors in all descriptions that leave the rest meaningful.
    pub lenient: bool,
    /// Interval between reports of the clocks' figures; `None`: none.
    pub figures: Option<Duration>,
    /// Cache of unpacked FMUs and built libraries; default: the user's cache.
    pub cache: Option<PathBuf>,
    /// Permits to build a library, shared with other rigs; by default there is no bound.
    pub builds: Permits,
    /// Resources of the machine for the session; default: all that this process gets.
    pub host: Option<HostResources>,
    /// Cores for the session; default: those of the thread that prepares it. Ignored with [`Options::host`].
    pub cpus: Option<BTreeSet<usize>>,
    /// Shows the cores of the session to other processes with the same setting, which take others.
    pub claims_cores: bool,
    /// The program to start as the runner, by `PROGRAM runner`; default: the program of this process, which is for `vecud` and for
    /// programs that hand that argument to [`runner::main`](vecud_runner::main). It may prepare things, but becomes the runner
    /// itself (`exec`).
    pub runner: Option<PathBuf>,
    /// Whether this process adopts orphans ([`offspring::adopt`](vecud_linux::offspring::adopt)): processes left behind
    /// by FMU code are ended.
    pub adopts: bool,
    /// Warnings about the process of the session, for the report.
    pub warnings: Vec<String>,
    /// File for the state at the end of the run.
    pub save_state: Option<PathBuf>,
    /// File with the state from which the run continues.
    pub restore_state: Option<PathBuf>,
    /// Several runs, each with a folder of its own in the output directory.
    pub repeat: Option<u32>,
    /// Asks for the end of the preparation and of the run.
    pub stop: StopToken,
    /// Time limit of the whole simulation on the command line (`--timeout`), after which it is asked to end.
    pub at_most: Option<Duration>,
}

impl Options {
    /// Name of the setting that limits the duration of a call.
    pub(super) fn call_limit(&self) -> &'static str {
        if self.at_most.is_some() { "--timeout" } else { "rig: call_timeout" }
    }
}

/// A plan and its sources.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The plan.
    pub plan: Plan,
    /// Descriptions of the FMUs, in rig order: log messages name variables.
    pub descriptions: Vec<Arc<ModelDescription>>,
    /// The rig file.
    pub file: PathBuf,
    /// The files of the plan's stimuli, in the same order.
    pub(super) stimuli: Vec<StimulusSource>,
    /// The places in the rig of the sources of the plan's endpoints, in the same order.
    pub endpoints: Vec<At<EndpointSource>>,
    /// Resources of the machine for the session.
    pub host: HostResources,
    /// Settings of the session.
    pub options: Options,
    /// State from which the run continues.
    pub resumed: Option<Snapshot>,
    /// Recorded columns whose values are reported with the figures of the clocks.
    pub watched: Vec<SignalId>,
    /// Shows the cores of the run to other processes until it is over.
    pub(super) claims: Claims,
    /// Things that FMUs share because one process loads them.
    pub(super) shared: Vec<(FmuId, FindingResult)>,
    /// Settings of the rig for a daemon.
    pub daemon: RigDaemon,
}

impl Prepared {
    /// Start time of the activations.
    pub fn begin(&self) -> Instant {
        self.resumed.as_ref().map_or(self.plan.start, |snapshot| snapshot.time)
    }
}

/// A rig whose FMUs and other files are open, ready for a plan. All slow work that does not depend on other rigs is
/// done.
pub struct OpenedRig {
    rig: Rig,
    fmus: Vec<OpenedFmu>,
    stimuli: Vec<(StimulusSource, StimulusInput)>,
    /// The FMUs with the paths that their instances receive.
    told: Vec<Unpacked>,
    /// Notes about the cache and these paths.
    notes: Vec<String>,
    /// Values that the user has set in place of the rig's, for the report.
    set: Vec<String>,
    /// Held until it is planned, if its FMUs have long descriptions.
    permit: Option<Permit>,
}

/// Reads the rig, opens its FMUs, and makes the plan.
pub fn plan(options: &Options, events: &EventSink) -> Result<Prepared, Error> {
    open(options, events)?.plan(options, &mut NoOtherRigs)
}

/// Reads the rig and opens its FMUs, and builds them if need be.
pub fn open(options: &Options, events: &EventSink) -> Result<OpenedRig, Error> {
    let rig = wanted_rig(options)?;
    let set = rig.options.iter().map(|option| option.display().to_string()).collect();
    Ok(OpenedRig { set, ..open_rig(rig, |_, _| Ok(()), options, events)? })
}

/// Opens the FMUs of a rig, lets `complete` add everything that depends on their descriptions, and makes the plan.
pub(super) fn plan_of(
    rig: Rig,
    complete: impl FnOnce(&mut Rig, &[&ModelDescription]) -> Result<(), Error>,
    options: &Options,
    events: &EventSink,
) -> Result<Prepared, Error> {
    open_rig(rig, complete, options, events)?.plan(options, &mut NoOtherRigs)
}

fn open_rig(
    mut rig: Rig,
    complete: impl FnOnce(&mut Rig, &[&ModelDescription]) -> Result<(), Error>,
    options: &Options,
    events: &EventSink,
) -> Result<OpenedRig, Error> {
    let cache = match &options.cache {
        Some(folder) => Cache::at(folder),
        None => Cache::user().map_err(Error::NoCache)?,
    };
    let rights = &options.rights;
    let cache = cache.until(options.stop.clone()).permitted_by(options.builds.clone()).read_with(rights.clone());
    if !rights.are_own() {
        take_over(&mut rig, &cache)?;
    }
    let mut room = DescriptionBudget::of(options.room.as_ref(), &options.stop);
    let fmus = open_all(&rig, &cache, &mut room, events)?;
    complete(&mut rig, &fmus.iter().map(|(_, description, _)| &**description).collect::<Vec<_>>())?;
    let start = vecud_plan::start_time(&rig, fmus.first().map(|(_, description, _)| &**description)).value;
    let stimuli = stimuli::open(&rig, start, rights)?;
    let (told, untold): (Vec<Unpacked>, Vec<Option<String>>) =
        fmus.iter().map(|(unpacked, description, _)| as_told(unpacked, description.abi)).unzip();
    let notes = cache.note().map(str::to_owned).into_iter().chain(untold.into_iter().flatten()).collect();
    Ok(OpenedRig { rig, fmus, stimuli, told, notes, set: Vec::new(), permit: room.permit })
}

/// Secures a rig of another user: preloaded libraries are replaced by copies made with that user's rights, so that later
/// changes have no effect, and trust in compiler options is refused.
fn take_over(rig: &mut Rig, cache: &Cache) -> Result<(), Error> {
    let mut problems = Vec::new();
    for fmu in &mut rig.fmus {
        let mut refuse = |why: String| problems.push(rig::Diagnostic::new(&rig.file, fmu.path.place, why));
        if fmu.trusts_compiler_options {
            refuse(format!(
                "compiler_options = \"trust\" of {} has a compiler read all that the user may whose daemon this is: only that user, or root, can \
                 put such a rig",
                fmu.name.value
            ));
        }
        // A name without a folder is left to the linker.
        for file in fmu.preload.iter_mut().filter(|file| file.components().count() > 1) {
            match archive::copied_file(file, cache) {
                Ok(copy) => *file = copy,
                Err(error) => refuse(format!("{error} (preload of {})", fmu.name.value)),
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Rig(RigError { problems })) }
}

impl OpenedRig {
    /// Makes the plan with the cores of these options, beside other rigs.
    pub fn plan(self, options: &Options, other_rigs: &mut dyn OtherRigs) -> Result<Prepared, Error> {
        let OpenedRig { rig, fmus, stimuli, told, notes, set, permit } = self;
        let _until_it_is_planned = match (permit, &options.room) {
            (None, Some(room)) => room.permit(vecud_plan::reckoned(fmus.iter().map(|own| &*own.1)), &options.stop)?,
            (permit, _) => permit,
        };
        let (stimuli, opened): (Vec<_>, Vec<_>) = stimuli.into_iter().unzip();
        let libraries = linking::by_file(&fmus.iter().map(|(_, _, library)| library.as_path()).collect::<Vec<_>>());
        let inputs: Vec<FmuInput> = fmus
            .iter()
            .zip(libraries)
            .zip(&told)
            .map(|(((unpacked, description, library), loaded), told)| FmuInput {
                description,
                library: loaded,
                folder: told.folder(),
                resources: told.resources(),
                path: unpacked.origin.clone(),
                tells_max_step: tells_max_step(description, library),
            })
            .collect();
        let host = match &options.host {
            Some(host) => host.clone(),
            None => {
                let mut host =
                    HostResources::look((rig.mode == Mode::RealTime).then_some(rig.host.fifo_priorities.value.1))?;
                if let Some(cpus) = &options.cpus {
                    host.cpus.clone_from(cpus);
                }
                host
            }
        };
        // On a core lost to a run that began at the same time, the plan is made again; the last attempt shares the
        // core with one of another process.
        let mut trials = 0..TRIALS;
        let (host, plan, claims) = loop {
            Error::if_asked(&options.stop)?;
            let is_last = trials.next().is_none();
            let own = other_rigs.running(is_last).into_iter().fold(host.clone(), HostResources::beside);
            let others = if rig.mode == Mode::RealTime { core_claims::others(&own.facts()) } else { Vec::new() };
            let host = others.into_iter().fold(own, HostResources::beside);
            let plan = vecud_plan::build(&rig, &inputs, &opened, &host.facts()).map_err(Error::Plan)?;
            if !other_rigs.take(&plan) {
                continue;
            }
            let (claims, is_shared) = match options.claims_cores {
                true => core_claims::take(&plan, &host.facts()),
                false => (Claims::default(), false),
            };
            if !is_shared || is_last {
                break (host, plan, claims);
            }
        };
        Error::if_asked(&options.stop)?;
        let preloads = preloads(&rig, &inputs, &options.stop)?;
        let libraries: Vec<&Path> = inputs.iter().map(|input| input.library.as_path()).collect();
        let Neighbours { problems, notes: together, findings: shared, change_process, libraries: libraries_of_several } =
            neighbours::look(&rig, &libraries, options.runner.as_deref());
        if !problems.is_empty() {
            return Err(Error::Rig(RigError { problems }));
        }
        let watched = options.watch.as_deref().map(|pattern| watched(&plan, pattern)).transpose()?.unwrap_or_default();
        for (option, wanted) in [("--save-state", &options.save_state), ("--restore-state", &options.restore_state)] {
            if wanted.is_some() {
                vecud_plan::check_states(&rig, &inputs, option).map_err(Error::Plan)?;
            }
        }
        drop(inputs);
        stimuli::check(&plan, &stimuli)?;
        Error::if_asked(&options.stop)?;
        let resumed = options.restore_state.as_deref().map(|file| saved::read(file, &plan)).transpose()?;
        let (resumed, changed) = resumed.map_or((None, Vec::new()), |(snapshot, notes)| (Some(snapshot), notes));
        let mut plan = Plan {
            notes: plan
                .notes
                .into_iter()
                .chain(preloads.iter().filter_map(|own| own.note.clone()))
                .chain(together)
                .chain(notes)
                .chain(changed)
                .chain(set)
                .collect(),
            libraries: libraries_of_several
                .into_iter()
                .map(|(name, fmus)| (name, fmus.into_iter().collect()))
                .collect(),
            ..plan
        };
        for ((fmu, changes_process), preload) in plan.fmus.iter_mut().zip(change_process).zip(preloads) {
            fmu.changes_process = changes_process;
            fmu.preload = preload.files;
        }
        let descriptions = fmus.into_iter().map(|(_, description, _)| description).collect();
        let endpoint = |trigger: RigTrigger| match trigger.source {
            TriggerSource::Endpoint(endpoint) => Some(endpoint.source),
            _ => None,
        };
        let endpoints = rig.triggers.into_iter().filter_map(endpoint).collect();
        let options = options.clone();
        Ok(Prepared {
            plan,
            descriptions,
            file: rig.file,
            endpoints,
            stimuli,
            host,
            options,
            resumed,
            watched,
            claims,
            shared,
            daemon: rig.daemon,
        })
    }
}

/// Finds the libraries to be loaded before that of each FMU.
fn preloads(rig: &Rig, inputs: &[FmuInput], stop: &StopToken) -> Result<Vec<Preload>, Error> {
    let (mut preloads, mut problems, mut calls) = (Vec::new(), Vec::new(), Calls::new());
    for (fmu, input) in rig.fmus.iter().zip(inputs) {
        Error::if_asked(stop)?;
        match Preload::of(&fmu.name.value, &input.library, fmu.preload.clone(), &mut calls) {
            Ok(preload) => preloads.push(preload),
            Err(why) => problems.push(rig::Diagnostic::new(&rig.file, fmu.path.place, why)),
        }
    }
    if problems.is_empty() { Ok(preloads) } else { Err(Error::Rig(RigError { problems })) }
}

/// The recorded columns that match a pattern.
fn watched(plan: &Plan, pattern: &str) -> Result<Vec<SignalId>, Error> {
    if plan.signals.is_empty() {
        let message = "--watch shows recorded variables, and this rig records none: add [record] to it";
        return Err(Error::Command(message.to_owned()));
    }
    let is_meant = |id: &SignalId| vecud_plan::glob::matches(pattern, &plan.signals[id.0].name);
    let meant: Vec<SignalId> = (0..plan.signals.len()).map(SignalId).filter(is_meant).collect();
    if meant.is_empty() {
        let hint = rig::suggestion(pattern, plan.signals.iter().map(|signal| signal.name.as_str()));
        return Err(Error::Command(format!("--watch={pattern}: no recorded variable matches{hint}")));
    }
    Ok(meant)
}

/// Instances of one FMU share its description.
type OpenedFmu = (Unpacked, Arc<ModelDescription>, PathBuf);

/// Opens all FMUs of a rig. FMUs without a relevant difference are opened once.
fn open_all(
    rig: &Rig,
    cache: &Cache,
    room: &mut DescriptionBudget,
    events: &EventSink,
) -> Result<Vec<OpenedFmu>, Error> {
    let mut known: HashMap<_, usize> = HashMap::new();
    let mut all: Vec<OpenedFmu> = Vec::new();
    for fmu in &rig.fmus {
        Error::if_asked(room.stop)?;
        let (dialect, interface) =
            (fmu.dialect.as_ref().map(|own| own.value), fmu.interface.as_ref().map(|own| own.value));
        let definitions: Vec<_> = fmu.define.iter().map(|(name, value)| (&name.value, value)).collect();
        let key = (&fmu.path.value, dialect, interface, fmu.lenient, fmu.trusts_compiler_options, definitions);
        let opened = match known.entry(key) {
            Entry::Occupied(first) => all[*first.get()].clone(),
            Entry::Vacant(place) => {
                place.insert(all.len());
                open_named(rig, fmu, cache, room, events)?
            }
        };
        all.push(opened);
    }
    Ok(all)
}

/// Calls [`open_fmu`], which may take long; an error names the place in the rig.
fn open_named(
    rig: &Rig,
    fmu: &RigFmu,
    cache: &Cache,
    room: &mut DescriptionBudget,
    events: &EventSink,
) -> Result<OpenedFmu, Error> {
    events.tell(SessionEvent::Begun(format!("opening FMU `{}`, building it if need be", fmu.name.value)));
    let opened = open_fmu(fmu, cache, room);
    events.tell(SessionEvent::Over);
    opened.map_err(|error| match fmu.path.place.line {
        _ if matches!(error, Error::Interrupted) => error,
        0 => error,
        _ => Error::InRig(rig.file.clone(), culprit(fmu, &error), Box::new(error)),
    })
}

/// Whether a library exports the function that tells how far a Co-Simulation FMU can step. `false` for an unreadable
/// library.
fn tells_max_step(description: &ModelDescription, library: &Path) -> bool {
    let offer = description.interfaces.iter().find(|offer| offer.interface() == Interface::CoSimulation);
    let symbol = offer.and_then(|offer| symbol_of_max_step(description.abi, &offer.common().model_identifier));
    symbol.is_some_and(|symbol| Exports::of(library).is_ok_and(|exports| exports.has(&symbol)))
}

/// The FMU with the path that its instances receive: for a URI, one without escapes, since many FMUs open it as it is;
/// a note if there is none.
pub(super) fn as_told(unpacked: &Unpacked, abi: Abi) -> (Unpacked, Option<String>) {
    if !abi.has_resource_uri() {
        return (unpacked.clone(), None);
    }
    match unpacked.at_plain_path(vecud_plan::is_plain_in_uri) {
        Ok(told) => (told, None),
        Err(error) => {
            let note = format!(
                "the path of {} has characters that a URI escapes, and no link to it can be made ({error}): an FMU that does not decode URIs \
                 does not find its resources",
                unpacked.origin.display()
            );
            (unpacked.clone(), Some(note))
        }
    }
}

/// Opens an FMU's files, its description, and its library.
fn open_fmu(fmu: &RigFmu, cache: &Cache, room: &mut DescriptionBudget) -> Result<OpenedFmu, Error> {
    let unpacked = Unpacked::open(&fmu.path.value, cache).map_err(Error::Archive)?;
    let text = room.description(&unpacked)?;
    Error::if_asked(room.stop)?;
    let wanted = fmu.dialect.as_ref().map(|dialect| dialect.value);
    let leniently = || vecud_description::parse_leniently(&text, wanted);
    let read = if fmu.lenient { leniently() } else { vecud_description::parse_as(&text, wanted) };
    let description = read.map_err(|mut error| {
        if !fmu.lenient && leniently().is_ok() {
            error.message += &format!(
                "; with lenient = true in [fmu.{}] of a rig file, or --lenient of vecud run, simulate, call and validate, that is \
                 overlooked",
                fmu.name.value
            );
        }
        let error = Error::Description(unpacked.origin.clone(), error);
        // The key is the culprit if the FMU can be read without it.
        match (wanted, vecud_description::parse(&text)) {
            (Some(wanted), Ok(found)) => {
                Error::Abi { fmu: fmu.name.value.clone(), wanted, own: found.abi, error: Box::new(error) }
            }
            _ => error,
        }
    })?;
    Error::if_asked(room.stop)?;
    // Without an interface type that can run, the plan names the offered ones; there is nothing to load.
    let library = match vecud_plan::offer(fmu, &description) {
        Some(offer) => {
            let definitions = fmu.define.iter().map(|(name, value)| (name.value.clone(), value.clone())).collect();
            let choices = BuildChoices { definitions, trusted: fmu.trusts_compiler_options };
            unpacked.library_of(description.abi, offer, &choices, cache).map_err(Error::Archive)?
        }
        None => PathBuf::new(),
    };
    Ok((unpacked, Arc::new(description), library))
}

/// The place in the rig that an FMU's error refers to.
fn culprit(fmu: &RigFmu, error: &Error) -> Place {
    let definition = match error {
        Error::Archive(ArchiveError::Build { source, .. }) => match &**source {
            BuildError::Definition { name, .. } => fmu.define.iter().find(|(defined, _)| defined.value == *name),
            _ => None,
        },
        Error::Abi { .. } => return fmu.dialect.as_ref().map_or(fmu.path.place, |dialect| dialect.place),
        _ => None,
    };
    definition.map_or(fmu.path.place, |(name, _)| name.place)
}

/// The rig of the file, modified by the options.
fn wanted_rig(options: &Options) -> Result<Rig, Error> {
    let mut rig = match &options.text {
        Some(text) => rig::parse(text, &options.file).map_err(Error::Rig)?,
        None => read_rig(&options.file, &options.rights)?,
    };
    rig::set(&mut rig, "--set", &options.set).map_err(Error::Rig)?;
    refuse_unwritten_formats(&rig)?;
    if options.log {
        rig.log_all();
    }
    if let Some(value) = options.step {
        let step = At { value, place: rig.add_option(format!("--step {}", value.seconds())) };
        let is_alone = rig.experiment_of_fmu;
        let place = if is_alone { &mut rig.fmus[0].step } else { &mut rig.step };
        *place = Some(step);
    }
    rig.preload(&options.preload);
    if options.lenient {
        rig.read_leniently();
    }
    Ok(Rig {
        controlled: options.control,
        endless: options.endless,
        room: options.room.as_ref().map(|room| room.bytes),
        mode: options.mode.unwrap_or(rig.mode),
        stop_time: options.stop_time.map(At::unplaced).or(rig.stop_time),
        ..rig
    })
}

/// Refuses a recording in a format that this program was built without.
fn refuse_unwritten_formats(rig: &Rig) -> Result<(), Error> {
    let formats =
        rig.record.iter().flat_map(|record| &record.formats).filter(|format| !vecud_record::writes(format.value));
    let refused = formats.map(|format| {
        let message = format!("format = \"{}\": {WITHOUT_ARROW}", format.value.word());
        rig::Diagnostic::new(&rig.file, format.place, message)
    });
    match refused.collect::<Vec<_>>() {
        problems if problems.is_empty() => Ok(()),
        problems => Err(Error::Rig(RigError { problems })),
    }
}

/// Extensions of files that a compiler reads.
const SOURCES: [&str; 6] = ["c", "h", "cc", "cpp", "cxx", "hpp"];

fn read_rig(file: &Path, rights: &Rights) -> Result<Rig, Error> {
    let is_folder = rights.at(file, |way| fs::metadata(way)).is_ok_and(|found| found.is_dir());
    let is_fmu = is_folder || file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fmu"));
    if is_fmu {
        return Ok(Rig::for_fmu(file));
    }
    let refuse =
        |place, message: &str| Err(Error::Rig(RigError { problems: vec![rig::Diagnostic::new(file, place, message)] }));
    let text = rights.at(file, |way| files::read_at_most(way, LONGEST_RIG));
    let Some(text) = text.map_err(Error::file(file))? else {
        return refuse(Place::default(), "longer than 64 MiB, which no rig needs; give a rig file (TOML) or an FMU");
    };
    if text.trim_ascii().is_empty() {
        return refuse(
            Place::default(),
            "the file is empty; a rig has at least one table [fmu.NAME] with a path (vecud new rig makes one)",
        );
    }
    if file.extension().is_some_and(|extension| SOURCES.iter().any(|own| extension.eq_ignore_ascii_case(own))) {
        return refuse(
            Place::default(),
            "is a source file, and neither a rig (TOML text) nor an FMU; vecud new fmu NAME makes an FMU of C sources: put it there",
        );
    }
    if text.contains(&0) && !text.starts_with(&[0xFF, 0xFE]) && !text.starts_with(&[0xFE, 0xFF]) {
        return refuse(Place::default(), "is neither a rig (TOML text) nor an FMU (name ending in .fmu)");
    }
    if text.trim_ascii_start().starts_with(b"<") {
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder.display().to_string(),
            _ => ".".to_owned(),
        };
        let message = match file.file_name().is_some_and(|name| name == "modelDescription.xml") {
            true => format!("is a part of an FMU, no rig (TOML text); give the FMU's folder: {folder}"),
            false => "is XML, no rig (TOML text); give a rig file, an .fmu file or the folder of an FMU".to_owned(),
        };
        return refuse(Place::default(), &message);
    }
    match utf8(text) {
        Ok(text) => rig::parse(&text, file).map_err(Error::Rig),
        Err(place) => {
            let message = "is not UTF-8, the encoding of rigs (TOML text); convert the file (iconv -f LATIN1 -t UTF-8, \
                           or -f UTF-16), or give an .fmu file";
            refuse(place, message)
        }
    }
}

/// The text, or the place of the first byte that is not UTF-8.
pub(super) fn utf8(text: Vec<u8>) -> Result<String, Place> {
    String::from_utf8(text).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let (line, column) = str::from_utf8(good).map_or((1, 1), |good| LineIndex::new(good).of(good.len()));
        Place { line, column }
    })
}
