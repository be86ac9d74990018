//! Settings of a simulation, and the rig of one FMU that is made of them.

use super::inputs;
use crate::prepare::plan_of;
use crate::{Error, EventSink, Options, Prepared, give_start_values};
use std::cell::LazyCell;
use std::collections::HashSet;
use std::io::Read;
use std::path::PathBuf;
use vecud_base::time::{Fraction, Instant, StepGrid};
use vecud_description::{Causality, Clock, Interface, InterfaceOffer, IntervalVariability, ModelDescription, Variable};
use vecud_linux::files;
use vecud_plan::rig::{
    self, At, Place, Rig, RigFmu, RigRecord, RigTrigger, Solver, StepSize, TriggerSource, VariableName, float_text,
};
use vecud_plan::{CallWatch, Mode, glob};

/// Number of intervals if neither the user nor the FMU sets one.
const INTERVALS: u64 = 500;
/// Greatest size of a recorded string or binary, bytes.
const TEXT: usize = 1024;

/// Settings of a simulation of one FMU. The default experiment supplies missing ones.
#[derive(Clone, Debug, Default)]
pub struct SimulationOptions {
    /// The `.fmu` file, or the folder of an FMU.
    pub file: PathBuf,
    /// The interface type; `None`: Co-Simulation where there is one, else Scheduled Execution, else Model Exchange.
    pub interface: Option<Interface>,
    /// Start time.
    pub start_time: Option<Instant>,
    /// Stop time.
    pub stop_time: Option<Instant>,
    /// Interval between rows, s.
    pub output_interval: Option<Fraction>,
    /// Size of each step, s; for Model Exchange the step of a fixed-step solver.
    pub fixed_step_size: Option<Fraction>,
    /// Step size that a Co-Simulation FMU is told.
    pub step_size: Option<StepSize>,
    /// Whether a step discarded by a Co-Simulation FMU is retried in parts.
    pub retry_steps: Option<bool>,
    /// Solver for a Model Exchange FMU.
    pub solver: Option<Solver>,
    /// Tolerance of the solver, which is inside the FMU for Co-Simulation.
    pub tolerance: Option<f64>,
    /// A file of start values.
    pub start_file: Option<PathBuf>,
    /// `NAME=VALUE`, overriding the file.
    pub start_values: Vec<String>,
    /// `NAME=VALUE` of the present point of a parameter study.
    pub varied: Vec<String>,
    /// Names of variables, or patterns over them; none: all outputs.
    pub output_variables: Vec<String>,
    /// A file with the values of inputs.
    pub input_file: Option<PathBuf>,
    /// `eventModeUsed`.
    pub event_mode_used: Option<bool>,
    /// `earlyReturnAllowed`.
    pub early_return_allowed: Option<bool>,
    /// A file with a serialised state of the FMU, which it starts with.
    pub initial_fmu_state_file: Option<PathBuf>,
    /// Keeps the final state of the FMU.
    pub keeps_final_state: bool,
    /// Records calls of the FMU's functions.
    pub watch: CallWatch,
    /// Simulates only the beginning, to check whether the FMU works.
    pub beginning: Option<Beginning>,
}

/// The beginning of a simulation, with as much activity of the FMU as possible: triggered clocks without another source
/// of ticks are ticked.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    /// Greatest number of steps of a Co-Simulation FMU.
    pub steps: u64,
    /// Runs two instances in one process; each column's name begins with its instance.
    pub twin: bool,
    /// Gets and sets the FMU's state at the end, if the FMU can.
    pub tries_state: bool,
}

/// Suffix that distinguishes the name of the second instance from the first.
const TWIN: &str = "_twin";
/// Least duration of the check of a Scheduled Execution FMU, unless its experiment is shorter, s.
const LIVES: u64 = 1;
/// Number of ticks of each triggered clock in the check.
const TICKS: u64 = 10;

/// Opens the FMU and plans its simulation.
pub fn prepare(wanted: &SimulationOptions, options: &Options, events: &EventSink) -> Result<Prepared, Error> {
    let mut rig = Rig {
        mode: Mode::Virtual,
        start_time: wanted.start_time.map(At::unplaced),
        stop_time: wanted.stop_time.map(At::unplaced),
        ..Rig::for_fmu(&wanted.file)
    };
    give_start_values(&mut rig, wanted.start_file.as_deref(), &wanted.start_values)?;
    rig::set_of_only_fmu(&mut rig, "--sweep", &wanted.varied).map_err(Error::Rig)?;
    let has_twin = wanted.beginning.is_some_and(|beginning| beginning.twin);
    if has_twin {
        let mut twin = rig.fmus[0].clone();
        twin.name.value += TWIN;
        rig.fmus.push(twin);
    }
    if options.log {
        rig.log_all();
    }
    rig.preload(&options.preload);
    if options.lenient {
        rig.read_leniently();
    }
    let (mut input_events, mut notes) = (Vec::new(), Vec::new());
    let complete = |rig: &mut Rig, descriptions: &[&ModelDescription]| {
        if wanted.start_file.is_some() {
            vecud_plan::keep_changed(rig, descriptions[0]).map_err(Error::Plan)?;
        }
        complete(rig, descriptions[0], wanted, &mut notes)?;
        if let Some(file) = &wanted.input_file {
            let start = start_of(descriptions[0], wanted);
            input_events = inputs::feed(rig, descriptions[0], file, start)?;
        }
        if has_twin {
            complete_twin(rig, start_of(descriptions[0], wanted));
        }
        Ok(())
    };
    let mut prepared = plan_of(rig, complete, options, events)?;
    prepared.plan.notes.extend(notes);
    let grids = prepared.plan.stimuli.first().map_or(&[][..], |stimulus| &stimulus.grids);
    let mut events: Vec<_> = input_events.into_iter().filter_map(|time| StepGrid::point(grids, time)).collect();
    events.dedup();
    prepared.plan.input_events = events;
    let fmu = &mut prepared.plan.fmus[0];
    fmu.watch = wanted.watch;
    let states = [
        ("--initial-fmu-state-file", wanted.initial_fmu_state_file.is_some()),
        ("--final-fmu-state-file", wanted.keeps_final_state),
    ];
    if let Some((option, _)) = states.into_iter().find(|(_, wanted)| *wanted && !fmu.can_serialize_state) {
        let file = wanted.file.display();
        return Err(Error::Command(format!("{option}: {file} cannot save its state (canSerializeFMUState)")));
    }
    if let Some(file) = &wanted.initial_fmu_state_file {
        let mut bytes = Vec::new();
        files::open(file).and_then(|mut open| open.read_to_end(&mut bytes)).map_err(Error::file(file))?;
        fmu.initial_state = Some(bytes);
    }
    fmu.keeps_final_state = wanted.keeps_final_state;
    fmu.tries_state = wanted.beginning.is_some_and(|own| own.tries_state) && fmu.can_get_and_set_state;
    if has_twin {
        return Ok(prepared);
    }
    // With a single FMU its name as a prefix of each variable is omitted.
    let prefix = prepared.plan.fmus[0].name.len() + 1;
    prepared.plan.signals.iter_mut().for_each(|signal| drop(signal.name.drain(..prefix)));
    Ok(prepared)
}

/// Start time of the simulation.
fn start_of(description: &ModelDescription, wanted: &SimulationOptions) -> Instant {
    let suggested = description.default_experiment.start_time.and_then(Instant::from_f64);
    wanted.start_time.or(suggested).unwrap_or(Instant::ZERO)
}

/// Adds everything that depends on the description of the FMU.
fn complete(
    rig: &mut Rig,
    description: &ModelDescription,
    wanted: &SimulationOptions,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let experiment = &description.default_experiment;
    let offered = |wanted: Interface| description.interfaces.iter().any(|offer| offer.interface() == wanted);
    let default = Some(Interface::CoSimulation).filter(|own| offered(*own));
    rig.fmus[0].interface = wanted.interface.or(default).map(At::unplaced);
    let start = start_of(description, wanted);
    let stop = wanted.stop_time.or(experiment.stop_time.and_then(Instant::from_f64).filter(|stop| *stop > start));
    let stop = stop.unwrap_or_else(|| start.after(Fraction::SECOND));
    rig.stop_time = Some(At::unplaced(stop));
    record(rig, description, wanted)?;
    let offer = vecud_plan::offer(&rig.fmus[0], description);
    refuse_options_of_others(offer.map(InterfaceOffer::interface), wanted)?;
    let (varies, internal) = match offer {
        Some(InterfaceOffer::CoSimulation(own)) => {
            (own.can_handle_variable_communication_step_size, own.fixed_internal_step_size)
        }
        Some(InterfaceOffer::ModelExchange(_)) => {
            integrate(rig, wanted);
            (true, None)
        }
        // The plan reports an interface type that is not offered.
        Some(InterfaceOffer::ScheduledExecution(_)) | None => {
            if wanted.beginning.is_some() {
                tick(rig, description, start, stop);
            }
            return Ok(());
        }
    };
    // The plan reports times that leave no room for a step.
    if let Some(length) = stop.minus(start).filter(|length| !length.is_zero()) {
        let steps = Steps { description, varies, internal, length };
        let (step, steps_per_row) = match offer {
            Some(InterfaceOffer::ModelExchange(_)) => (steps.of_rows(rig, wanted), 1),
            _ => steps.of(rig, wanted, notes)?,
        };
        if let Some(beginning) = wanted.beginning {
            rig.stop_time = Some(At::unplaced(stop.min(start.after_many(step.value, beginning.steps))));
        }
        rig.fmus[0].step = Some(step);
        rig.fmus[0].wishes.steps_per_row = steps_per_row;
    }
    let tolerance = wanted.tolerance.map(|tolerance| {
        let place = rig.add_option(format!("--tolerance {}", float_text(tolerance)));
        At { value: tolerance, place }
    });
    let retry = wanted.retry_steps.map(|value| At { value, place: rig.add_option(format!("--retry-steps {value}")) });
    let fmu = &mut rig.fmus[0];
    fmu.integration.tolerance = tolerance;
    fmu.retry_steps = retry;
    fmu.step_size = wanted.step_size.map(At::unplaced);
    let wishes = &mut fmu.wishes;
    wishes.event_mode_used = wanted.event_mode_used;
    wishes.early_return_allowed = wanted.early_return_allowed;
    wishes.rows_of_events = true;
    Ok(())
}

/// Sets the solver of a Model Exchange FMU.
fn integrate(rig: &mut Rig, wanted: &SimulationOptions) {
    let solver = wanted.solver.unwrap_or(Solver::Auto);
    let place = wanted.solver.map(|solver| rig.add_option(format!("--solver {}", solver.word()))).unwrap_or_default();
    let internal_step = wanted.fixed_step_size.map(|step| {
        let place = rig.add_option(format!("--fixed-step-size {}", step.seconds()));
        At { value: step, place }
    });
    let integration = &mut rig.fmus[0].integration;
    integration.solver = Some(At { value: solver, place });
    integration.internal_step = internal_step;
}

/// Sets the duration for a Scheduled Execution FMU, so that its periodic clocks tick at least twice, and adds ticks of
/// the triggered clocks that the description does not trigger.
fn tick(rig: &mut Rig, description: &ModelDescription, start: Instant, stop: Instant) {
    let clocks = || description.variables.iter().filter_map(|v| Some((v, v.clock.as_deref()?)));
    let intervals = clocks().filter_map(|(_, clock)| clock.interval);
    let longest = intervals.max_by(|a, b| a.seconds().total_cmp(&b.seconds()));
    let lives = longest.map_or(start, |interval| start.after_many(interval, 2));
    let second = Fraction::new(LIVES, 1).unwrap_or(Fraction::SECOND);
    let end = lives.max(start.after(second)).min(stop);
    rig.stop_time = Some(At::unplaced(end));
    let between = end.minus(start).and_then(|length| {
        Fraction::new(length.counter(), length.resolution().checked_mul(TICKS)?).ok().filter(|share| !share.is_zero())
    });
    let Some(between) = between else { return };
    let times: Vec<At<Instant>> = (0..TICKS).map(|tick| At::unplaced(start.after_many(between, tick))).collect();
    let is_meant = |(variable, clock): &(&Variable, &Clock)| {
        let is_triggered = clock.interval_variability == IntervalVariability::Triggered;
        variable.causality == Causality::Input && is_triggered && clock.triggered_by.is_none()
    };
    let fmu = rig.fmus[0].name.value.clone();
    let triggers = clocks().filter(is_meant).map(|(variable, _)| RigTrigger {
        clock: At::unplaced(VariableName { fmu: fmu.clone(), variable: variable.name.clone() }),
        source: TriggerSource::Times(times.clone()),
    });
    rig.triggers.extend(triggers);
}

/// Copies all settings of the first instance to the second.
fn complete_twin(rig: &mut Rig, start: Instant) {
    // With two instances, no single FMU's experiment defines the start time.
    rig.start_time = Some(At::unplaced(start));
    let [own, twin] = rig.fmus.as_mut_slice() else { return };
    let (first, second) = (own.name.value.clone(), twin.name.clone());
    *twin = RigFmu { name: second.clone(), ..own.clone() };
    let of_twin = |endpoint: &At<VariableName>| {
        let variable = endpoint.value.variable.clone();
        At { value: VariableName { fmu: second.value.clone(), variable }, place: endpoint.place }
    };
    let triggers = rig.triggers.iter();
    let triggers: Vec<RigTrigger> =
        triggers.map(|own| RigTrigger { clock: of_twin(&own.clock), source: own.source.clone() }).collect();
    rig.triggers.extend(triggers);
    let Some(record) = &mut rig.record else { return };
    let prefix = format!("{first}.");
    let signals: Vec<At<String>> = record
        .signals
        .iter()
        .filter_map(|own| own.value.strip_prefix(&prefix))
        .map(|variable| At::unplaced(format!("{}.{variable}", second.value)))
        .collect();
    record.signals.extend(signals);
}

/// Selects the recorded variables: all outputs, or the requested ones.
fn record(rig: &mut Rig, description: &ModelDescription, wanted: &SimulationOptions) -> Result<(), Error> {
    let fmu = rig.fmus[0].name.value.clone();
    let mut signals = Vec::new();
    let has_column = |v: &&Variable| v.clock.is_none() && v.causality != Causality::Independent;
    let names = || description.variables.iter().filter(has_column).flat_map(Variable::names);
    let known: LazyCell<HashSet<&str>, _> = LazyCell::new(|| names().collect());
    for name in &wanted.output_variables {
        let place = rig.add_option(format!("--output-variable {name}"));
        if !known.contains(name.as_str()) && !names().any(|known| glob::matches(name, known)) {
            let (file, hint) = (wanted.file.display(), rig::suggestion(name, names()));
            return Err(Error::Command(format!("--output-variable {name}: {file} has no such variable{hint}")));
        }
        signals.push(At { value: format!("{fmu}.{name}"), place });
    }
    if signals.is_empty() {
        let is_output = |variable: &&Variable| variable.causality == Causality::Output && variable.clock.is_none();
        let outputs = description.variables.iter().filter(is_output);
        signals.extend(outputs.map(|variable| At::unplaced(format!("{fmu}.{}", variable.name))));
    }
    let everything = RigRecord::everything(Place::default());
    // Without outputs, all other variables are recorded.
    let signals = if signals.is_empty() { everything.signals } else { signals };
    rig.record = Some(RigRecord { signals, formats: Vec::new(), text_size: Some(TEXT), ..everything });
    Ok(())
}

/// Refuses options that only apply to other interface types.
fn refuse_options_of_others(interface: Option<Interface>, wanted: &SimulationOptions) -> Result<(), Error> {
    const STEPS: &[Interface] = &[Interface::CoSimulation, Interface::ModelExchange];
    let given = [
        ("--output-interval", wanted.output_interval.is_some(), STEPS),
        ("--fixed-step-size", wanted.fixed_step_size.is_some(), STEPS),
        ("--step-size", wanted.step_size.is_some(), &[Interface::CoSimulation]),
        ("--retry-steps", wanted.retry_steps.is_some(), &[Interface::CoSimulation]),
        ("--tolerance", wanted.tolerance.is_some(), STEPS),
        ("--solver", wanted.solver.is_some(), &[Interface::ModelExchange]),
        ("--event-mode-used", wanted.event_mode_used.is_some(), &[Interface::CoSimulation]),
        ("--early-return-allowed", wanted.early_return_allowed.is_some(), &[Interface::CoSimulation]),
    ];
    // The plan reports that there is none to run.
    let Some(own) = interface else { return Ok(()) };
    let Some((option, _, of)) = given.into_iter().find(|(_, is_given, of)| *is_given && !of.contains(&own)) else {
        return Ok(());
    };
    let of: Vec<&str> = of.iter().map(|interface| interface.name()).collect();
    let why = match own {
        Interface::ScheduledExecution => {
            "in Scheduled Execution there is a row at each activation of a clock".to_owned()
        }
        own => format!("this one runs with {}", own.name()),
    };
    Err(Error::Command(format!("{option} is for FMUs that run with {}; {why}: leave it out", of.join(" or "))))
}

/// Inputs for the choice of step sizes in a simulation of this length.
struct Steps<'a> {
    description: &'a ModelDescription,
    /// Step sizes may vary.
    varies: bool,
    /// Step sizes must be multiples of this, in the FMU's unit of time.
    internal: Option<f64>,
    length: Fraction,
}

impl Steps<'_> {
    /// The step size, and the number of steps from one row to the next.
    fn of(
        &self,
        rig: &mut Rig,
        wanted: &SimulationOptions,
        notes: &mut Vec<String>,
    ) -> Result<(At<Fraction>, u32), Error> {
        let interval = interval(rig, wanted);
        let Some(step) = wanted.fixed_step_size else {
            return Ok((interval.map_or_else(|| self.default(), |interval| self.asked(interval, notes)), 1));
        };
        let place = rig.add_option(format!("--fixed-step-size {}", step.seconds()));
        let steps_per_row = match &interval {
            None => 1,
            Some(interval) => multiple(interval.value, step).ok_or_else(|| {
                let (interval, step) = (interval.value.seconds(), step.seconds());
                Error::Command(format!(
                    "--output-interval {interval} is no multiple of --fixed-step-size {step}: rows stand where steps end"
                ))
            })?,
        };
        Ok((At { value: step, place }, steps_per_row))
    }

    /// The step size if each step has a row, however the FMU gets from one to the next.
    fn of_rows(&self, rig: &mut Rig, wanted: &SimulationOptions) -> At<Fraction> {
        interval(rig, wanted).unwrap_or_else(|| self.default())
    }

    /// The step of the default experiment, otherwise one that gives [`INTERVALS`].
    fn default(&self) -> At<Fraction> {
        let suggested = self.description.default_experiment.step_size;
        let share = || Fraction::new(self.length.counter(), self.length.resolution().saturating_mul(INTERVALS)).ok();
        let share = || share().or_else(|| Fraction::from_f64(self.length.seconds() / INTERVALS as f64).ok());
        self.raised(At::unplaced(suggested.or_else(share).unwrap_or(self.length)))
    }

    /// The step that the user requests, unchanged if the FMU can vary its steps: the plan notes one that is no multiple
    /// of the FMU's internal step. Otherwise the step is raised, with a note.
    fn asked(&self, step: At<Fraction>, notes: &mut Vec<String>) -> At<Fraction> {
        if self.varies {
            return step;
        }
        let raised = self.raised(step.clone());
        if raised.value != step.value {
            let (own, asked) = (raised.value.seconds(), step.value.seconds());
            notes.push(format!(
                "steps and rows are {own} s apart instead of the {asked} s of --output-interval: they are multiples of the FMU's internal step \
                 (fixedInternalStepSize), and may not vary (canHandleVariableCommunicationStepSize)"
            ));
        }
        raised
    }

    /// The least multiple of the FMU's internal step that is not below this one; for an FMU with constant steps,
    /// preferably one that divides the run evenly.
    fn raised(&self, step: At<Fraction>) -> At<Fraction> {
        let internal = self.internal.and_then(|amount| self.description.time.duration(amount));
        let Some(internal) = internal else { return step };
        let Some(raised) = vecud_plan::first_multiple(internal, step.value) else { return step };
        let is_whole = |candidate: &Fraction| self.length.is_in_steps(*candidate);
        let value = match self.varies || is_whole(&raised) {
            true => raised,
            false => self.next_whole(internal, raised).unwrap_or(raised),
        };
        At { value, place: step.place }
    }

    /// The least multiple of `internal` above `least` that divides the run evenly.
    fn next_whole(&self, internal: Fraction, least: Fraction) -> Option<Fraction> {
        /// Number of multiples to try: a more distant one would surprise the user.
        const TRIED: usize = 1000;
        let mut multiples =
            std::iter::successors(Some(least), |step| Instant::ZERO.after(*step).after(internal).minus(Instant::ZERO));
        multiples.by_ref().take(TRIED).find(|step| self.length.is_in_steps(*step))
    }
}

/// The requested interval between rows.
fn interval(rig: &mut Rig, wanted: &SimulationOptions) -> Option<At<Fraction>> {
    let value = wanted.output_interval?;
    let place = rig.add_option(format!("--output-interval {}", value.seconds()));
    Some(At { value, place })
}

/// Number of times that `step` fits into `interval`, if that is a whole number.
fn multiple(interval: Fraction, step: Fraction) -> Option<u32> {
    match (!step.is_zero()).then(|| interval.steps(step))? {
        (count @ 1.., true) => u32::try_from(count).ok(),
        _ => None,
    }
}
