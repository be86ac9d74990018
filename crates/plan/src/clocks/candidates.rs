//! Candidates: tasks before all are sorted. Input clocks and when they tick by themselves: each is one.

use crate::described::DescribedFmu;
use crate::findings::Findings;
use crate::rig::{At, Limits, Mode, Overrun, Rig, RigClock, RigTask};
use crate::{Figures, Release};
use std::ops::RangeInclusive;
use vecud_base::priority::FmiPriority;
use vecud_base::time::{Fraction, Nanos};
use vecud_description::{Abi, Causality, Clock, IntervalVariability, Variable};

/// The name of the task that makes the steps of an FMU.
const STEP: &str = "step";

/// A task that has no place in the merged order yet.
#[derive(Clone)]
pub struct Candidate {
    /// Index of its FMU.
    pub fmu: usize,
    /// The clock that it belongs to, or the element of an array clock; `None`: it makes the steps of its FMU.
    pub clock: Option<InputClock>,
    /// The steps of a group, with its name (`[master.NAME]`).
    pub is_group: bool,
    /// The clock ticks in Event Mode, between the steps of its FMU, and is no task of its own.
    pub in_steps: bool,
    /// The priority of the clock, by which it has its place among the tasks of its FMU; `None`: there is no clock.
    pub priority: Option<FmiPriority>,
    pub release: Release,
    /// Period of the candidate, if the rig or the XML gives it.
    pub period: Option<Fraction>,
    pub overrun: Overrun,
    pub limits: Limits,
    pub figures: Figures,
}

/// The input clock, or the element of one, that a candidate belongs to.
#[derive(Clone, Copy)]
pub struct InputClock {
    /// Index of the clock among the FMU's variables.
    pub variable: usize,
    /// 0 for a scalar clock, else which of its elements, from 1.
    pub element: usize,
    /// Whether the FMU has to be told the interval.
    pub write_interval: bool,
    /// Whether the FMU has to be told the shift.
    pub write_shift: bool,
}

impl InputClock {
    /// Whether the clock is this variable, and this element of it; `None`: any element.
    fn is(&self, variable: usize, element: Option<usize>) -> bool {
        self.variable == variable && element.is_none_or(|element| element == self.element)
    }
}

impl Candidate {
    /// Name of the clock, with `[i]` for an element; of the task that makes steps a name of its own.
    pub fn name(&self, described: &DescribedFmu) -> String {
        match (self.clock, described.master) {
            (Some(InputClock { variable, element, .. }), _) => {
                element_name(&described.variables()[variable].name, element)
            }
            (None, Some(master)) if self.is_group => master.name.value.clone(),
            (None, _) => STEP.to_owned(),
        }
    }

    /// The clock, among the FMU's variables.
    pub fn variable<'a>(&self, described: &DescribedFmu<'a>) -> Option<&'a Variable> {
        self.clock.map(|clock| &described.variables()[clock.variable])
    }

    /// Whether the candidate belongs to this clock of the FMU, and to this element of it; `None`: any element.
    pub fn is_of(&self, fmu: usize, variable: usize, element: Option<usize>) -> bool {
        self.fmu == fmu && self.clock.is_some_and(|clock| clock.is(variable, element))
    }

    /// Whether a variable belongs to the candidate's clock and element. All variables of an FMU belong to the task that makes its
    /// steps.
    pub fn owns(&self, described: &DescribedFmu, v: &Variable) -> bool {
        if self.in_steps || self.clock.is_none() {
            return self.clock.is_none();
        }
        let Some(InputClock { variable, element, .. }) = self.clock else { return false };
        v.clocks.contains(&described.variables()[variable].value_reference)
            && (v.clock_element == 0 || element == 0 || v.clock_element == element)
    }
}

/// `clock`, or `clock[2]` for an element of an array clock.
pub fn element_name(clock: &str, element: usize) -> String {
    if element == 0 { clock.to_owned() } else { format!("{clock}[{element}]") }
}

/// The elements of a clock: 0 alone for a scalar, else their numbers.
pub fn elements(described: &DescribedFmu, clock: &Variable) -> RangeInclusive<usize> {
    if clock.dimensions.is_empty() { 0..=0 } else { 1..=described.elements(clock) }
}

/// The clock of that name, and its element where the name has one: `name[2]`.
pub fn named(described: &DescribedFmu, name: &str) -> Option<(usize, Option<usize>)> {
    if let Some(index) = described.find(name) {
        return Some((index, None));
    }
    let (clock, element) = name.strip_suffix(']')?.rsplit_once('[')?;
    let (index, element) = (described.find(clock)?, element.parse().ok()?);
    let v = &described.variables()[index];
    let is_element = v.clock.is_some() && !v.dimensions.is_empty() && elements(described, v).contains(&element);
    is_element.then_some((index, Some(element)))
}

/// A hint for a name that no clock has: the elements of an array clock, or similar names.
pub fn hint(described: &DescribedFmu, name: &str, fits: fn(&Variable) -> bool) -> String {
    let clock = name.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')).map(|(clock, _)| clock);
    let found =
        clock.and_then(|clock| described.find(clock)).map(|index| &described.variables()[index]).filter(|v| fits(v));
    let (Some(clock), Some(found)) = (clock, found) else { return described.suggest(name, fits) };
    match (found.dimensions.as_slice(), described.elements(found)) {
        ([], _) => format!(": {clock} is no array"),
        (_, 0) => format!(": {clock} has no elements"),
        (_, 1) => format!(": {clock} has one element, {clock}[1]"),
        (_, last) => format!(": the elements of {clock} are {clock}[1] to {clock}[{last}]"),
    }
}

/// Elements that an array clock may have: each is a thread.
pub const ELEMENTS: usize = 256;

/// Candidates for all input clocks of all FMUs with Scheduled Execution, in rig order, then document order. Triggered clocks
/// are `Never` here.
pub fn of_input_clocks(rig: &Rig, fmus: &[DescribedFmu], findings: &mut Findings) -> Vec<Candidate> {
    of_clocks_where(|described| described.is_scheduled(), rig, fmus, findings)
}

/// Candidates for all input clocks of all FMUs whose events are handled between steps, where these clocks tick.
pub fn in_steps(rig: &Rig, fmus: &[DescribedFmu], findings: &mut Findings) -> Vec<Candidate> {
    let candidates = of_clocks_where(|described| described.handles_events(), rig, fmus, findings);
    candidates.into_iter().map(|candidate| Candidate { in_steps: true, priority: None, ..candidate }).collect()
}

fn of_clocks_where(
    has_clocks: impl Fn(&DescribedFmu) -> bool,
    rig: &Rig,
    fmus: &[DescribedFmu],
    findings: &mut Findings,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (fmu, described) in fmus.iter().enumerate() {
        if !has_clocks(described) {
            continue;
        }
        for clock in &described.rig.clocks {
            check_name(described, clock, findings);
        }
        let before = candidates.len();
        for (variable, v) in described.variables().iter().enumerate() {
            if let (Some(clock), Causality::Input) = (&v.clock, v.causality) {
                let elements = elements(described, v);
                if *elements.end() > ELEMENTS {
                    let count = elements.end();
                    let message = format!("the clock \"{}\" has {count} elements; {ELEMENTS} are possible", v.name);
                    findings.xml(described, v, message);
                    continue;
                }
                candidates.extend(elements.filter_map(|element| {
                    candidate(rig, Which { fmu, variable, element }, described, v, clock, findings)
                }));
            }
        }
        if described.is_scheduled() && candidates.len() == before && !described.variables().iter().any(is_input_clock) {
            findings.note(format!("{} has no input clock, so nothing of it is ever activated", described.name()));
        }
    }
    candidates
}

/// Whether a variable is an input clock.
pub fn is_input_clock(variable: &Variable) -> bool {
    variable.clock.is_some() && variable.causality == Causality::Input
}

/// Whether a variable is an output clock.
pub fn is_output_clock(variable: &Variable) -> bool {
    variable.clock.is_some() && variable.causality == Causality::Output
}

/// Whether some input clock's task may set this input; in Event Mode every one may be.
pub fn has_input_clock(described: &DescribedFmu, v: &Variable) -> bool {
    if described.handles_events() {
        return true;
    }
    let is_input = |i: usize| is_input_clock(&described.variables()[i]);
    v.clocks.is_empty() || v.clocks.iter().any(|&clock| described.find_reference(clock).is_some_and(is_input))
}

fn check_name(described: &DescribedFmu, clock: &RigClock, findings: &mut Findings) {
    let name = &clock.name.value;
    match named(described, name).map(|(i, _)| &described.variables()[i]) {
        Some(variable) if is_input_clock(variable) => {}
        Some(variable) => {
            let what = if variable.clock.is_some() { "no input clock, so it has no task" } else { "no clock" };
            findings.rig(clock.name.place, format!("{}.{name} is {what}", described.name()));
        }
        None => {
            let hint = hint(described, name, is_input_clock);
            findings.rig(clock.name.place, format!("{} has no input clock \"{name}\"{hint}", described.name()));
        }
    }
}

/// The input clock, or element of one, of a candidate.
struct Which {
    fmu: usize,
    variable: usize,
    element: usize,
}

fn candidate(
    rig: &Rig,
    Which { fmu, variable, element }: Which,
    described: &DescribedFmu,
    v: &Variable,
    clock: &Clock,
    findings: &mut Findings,
) -> Option<Candidate> {
    // The rig's table of the element goes before that of the whole clock.
    let about = |element: Option<usize>| {
        described.rig.clocks.iter().find(move |c| named(described, &c.name.value) == Some((variable, element)))
    };
    let overrides: Vec<&RigClock> = [about(Some(element)), about(None)].into_iter().flatten().collect();
    if !described.is_scheduled() {
        overrides.iter().for_each(|clock| refuse_figures(described, clock, findings));
    }
    let shift = overrides.iter().find_map(|c| c.shift.as_ref());
    let release = release(described, v, clock, overrides.iter().find_map(|c| c.interval.as_ref()), shift, findings);
    let interval = release.as_ref().and_then(Release::shortest_known);
    if let (Some(least), Some(interval), true) = (
        overrides.iter().find_map(|c| c.task.figures.min_interval.as_ref()),
        interval,
        clock.interval_variability != IntervalVariability::Tunable,
    ) {
        let message = format!(
            "min_interval_us is for clocks without a period, and {}.{} has one of {} s: leave it out",
            described.name(),
            v.name,
            interval.seconds()
        );
        findings.rig(least.place, message);
    }
    if rig.mode == Mode::RealTime && interval.is_some_and(|interval| interval < SHORTEST) {
        let message = format!(
            "the interval of the clock \"{}\" is shorter than a microsecond, which no real time can keep: try mode = \"virtual\" in [rig], or `vecud run --mode virtual`",
            v.name
        );
        findings.xml(described, v, message);
    }
    let priority = match described.is_scheduled() {
        true => Some(priority(described, v, clock, findings)?),
        false => None,
    };
    // The draft has a time and a function of its own for that, and none for shifts.
    let told = is_adjustable(clock.interval_variability) && described.abi() == Abi::Fmi3;
    let said: Vec<&RigTask> = overrides.iter().map(|clock| &clock.task).collect();
    let limit = |limits: fn(&Limits) -> Option<Nanos>| said.iter().find_map(|task| limits(&task.limits));
    Some(Candidate {
        fmu,
        clock: Some(InputClock {
            variable,
            element,
            write_interval: told && interval.is_some(),
            write_shift: told && shift.is_some(),
        }),
        is_group: false,
        in_steps: false,
        priority,
        release: release?,
        period: interval.or(clock.interval),
        overrun: said.iter().find_map(|task| task.overrun).unwrap_or(rig.overrun),
        limits: Limits {
            max_latency: limit(|limits| limits.max_latency),
            max_execution: limit(|limits| limits.max_execution),
            max_overruns: said.iter().find_map(|task| task.limits.max_overruns),
        },
        figures: Figures::of(&said),
    })
}

/// Refuses keys of tasks for a clock that ticks between steps: these keys belong to the steps.
fn refuse_figures(described: &DescribedFmu, clock: &RigClock, findings: &mut Findings) {
    if clock.task != RigTask::default() {
        let (fmu, name) = (described.name(), &clock.name.value);
        let interface = described.offer.map_or("no interface", |offer| offer.interface().name());
        let message = format!(
            "{fmu}.{name} ticks between the steps of {fmu} ({interface}) and has no task of its own: say limits, the overrun \
             policy and figures of its steps, in [fmu.{fmu}]"
        );
        findings.rig(clock.name.place, message);
    }
}

fn priority(described: &DescribedFmu, v: &Variable, clock: &Clock, findings: &mut Findings) -> Option<FmiPriority> {
    if clock.priority.is_some() {
        return clock.priority;
    }
    if described.rig.lenient {
        findings.note(format!("{}.{} has no priority: it runs with the lowest", described.name(), v.name));
        return Some(FmiPriority(u32::MAX));
    }
    let message = format!(
        "the input clock \"{}\" has no priority, which Scheduled Execution requires; \
         with lenient = true in [fmu.{}] of a rig file it runs with the lowest",
        v.name,
        described.name()
    );
    findings.xml(described, v, message);
    None
}

/// The importer may set the interval of such clocks.
fn is_adjustable(kind: IntervalVariability) -> bool {
    matches!(kind, IntervalVariability::Fixed | IntervalVariability::Tunable)
}

fn release(
    described: &DescribedFmu,
    v: &Variable,
    clock: &Clock,
    interval: Option<&At<Fraction>>,
    shift: Option<&At<Fraction>>,
    findings: &mut Findings,
) -> Option<Release> {
    let kind = clock.interval_variability;
    let abi = described.abi();
    let written = [("interval", interval), ("shift", shift)];
    for (what, value) in written {
        if let (Some(value), false) = (value, is_adjustable(kind)) {
            let message = format!(
                "the {what} of {}.{} cannot be set to {} s: it is a {} clock, not a {} one",
                described.name(),
                v.name,
                value.value.seconds(),
                kind.name_in(abi),
                match abi {
                    Abi::Draft => "periodic",
                    _ => "fixed or tunable",
                }
            );
            findings.rig(value.place, message);
        }
        // Table of 2.2.8.2: Set for these clocks with `intervalDecimal`, and Get for those without.
        let asked = is_adjustable(kind) && abi == Abi::Fmi3 && !clock.interval_decimal;
        if let (Some(value), true) = (value, asked) {
            let message = format!(
                "the {what} of {}.{} cannot be set to {} s: its description has no intervalDecimal, so the FMU says what it is \
                 (FMI 3.0.2, 2.2.8.2), mostly by a parameter of it",
                described.name(),
                v.name,
                value.value.seconds()
            );
            findings.rig(value.place, message);
        }
    }
    let [interval, shift] = written.map(|(_, value)| value.map(|at| at.value));
    match kind {
        IntervalVariability::Triggered => Some(Release::Never),
        IntervalVariability::Countdown => Some(Release::Countdown),
        IntervalVariability::Changing => Some(Release::Changing),
        // A description without it is refused.
        IntervalVariability::Constant => {
            clock.interval.map(|interval| Release::Periodic { shift: clock.shift, interval })
        }
        // By the letter of the standard the presence of `intervalDecimal` decides. In the draft the importer does.
        IntervalVariability::Fixed | IntervalVariability::Tunable => {
            if abi == Abi::Fmi3 && !clock.interval_decimal {
                return Some(Release::Asked);
            }
            match interval.or(clock.interval) {
                Some(interval) => Some(Release::Periodic { shift: shift.unwrap_or(clock.shift), interval }),
                None => {
                    let message = format!(
                        "the {} clock \"{}\" has no interval; give it one as interval in [fmu.{}.clock.{}]",
                        kind.name_in(abi),
                        v.name,
                        described.name(),
                        v.name
                    );
                    findings.xml(described, v, message);
                    None
                }
            }
        }
    }
}

/// The shortest interval in real time, 1 µs: a thread that leaves out releases must be faster than they come.
const SHORTEST: Fraction = Fraction::MICROSECOND;
