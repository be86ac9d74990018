//! Variable connections: both ends exist, fit each other, and no element of an input has two sources.

use super::slopes;
use super::units::{UnitRelation, compare};
use crate::clocks::ClockNetwork;
use crate::clocks::candidates::has_input_clock;
use crate::described::{DescribedFmu, ELEMENTS, NameMeaning, VariableId, find};
use crate::elements::{ElementSelection, shape_text};
use crate::findings::Findings;
use crate::inputs::start_values::{Starts, start_of};
use crate::model::conversion::{Conversion, Widening, widening};
use crate::rig::{At, Extrapolation, Place, Rig, RigConnect, Timing, VariableName};
use std::collections::HashMap;
use std::ops::Deref;
use vecud_description::{Causality, Variable, VariableType};

/// Bytes of a string by default.
const STRING: usize = 256;

/// Bytes of a binary by default.
const BINARY: usize = 4096;

/// Bytes that all elements of a connection may have together.
const BYTES: usize = 8 * ELEMENTS;

/// A connection with both ends found.
pub struct Link {
    pub source: VariableId,
    pub target: VariableId,
    /// The elements of the source that feed the target.
    pub from: ElementSelection,
    /// The elements of the target that are fed.
    pub to: ElementSelection,
    pub conversion: Conversion,
    pub timing: Timing,
    /// Whether both FMUs step together: the consumer gets a value as soon as it is read, in the order of the group.
    pub is_inside: bool,
    /// Bytes of an element.
    pub capacity: usize,
    pub extrapolation: Extrapolation,
}

/// All connections, in the rig's order, indexed by both ends: a rig may have ten thousand.
pub struct Links {
    all: Vec<Link>,
    of_source: HashMap<VariableId, Vec<usize>>,
    of_target: HashMap<VariableId, Vec<usize>>,
}

impl Links {
    pub fn new(all: Vec<Link>) -> Links {
        let (mut of_source, mut of_target): (HashMap<VariableId, Vec<usize>>, HashMap<VariableId, Vec<usize>>) =
            Default::default();
        for (index, link) in all.iter().enumerate() {
            of_source.entry(link.source).or_default().push(index);
            of_target.entry(link.target).or_default().push(index);
        }
        Links { all, of_source, of_target }
    }

    /// The connections that a variable feeds, by their places, in the rig's order.
    pub fn fed_by(&self, source: VariableId) -> &[usize] {
        self.of_source.get(&source).map(Vec::as_slice).unwrap_or_default()
    }

    /// The connections that feed a variable, by their places, in the rig's order.
    pub fn feeding(&self, target: VariableId) -> &[usize] {
        self.of_target.get(&target).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Deref for Links {
    type Target = [Link];

    fn deref(&self) -> &[Link] {
        &self.all
    }
}

/// One end of a connection: the variable and its elements.
type ConnectionEnd = (VariableId, ElementSelection);

/// Elements of an input that have a source: where that is written, and which it is.
type Taken = (ElementSelection, Place, String);

/// Resolves all connections of the rig, in its order.
pub fn resolve(
    rig: &Rig,
    fmus: &[DescribedFmu],
    clocks: &ClockNetwork,
    starts: &[Starts],
    findings: &mut Findings,
) -> Links {
    let mut links = Vec::new();
    let mut taken: HashMap<VariableId, Vec<Taken>> = HashMap::new();
    for connect in &rig.connects {
        let source = end(&connect.from, fmus, Causality::Output, findings);
        let target = end(&connect.to, fmus, Causality::Input, findings);
        if let Some((target, to)) = &target {
            let others = taken.entry(*target).or_default();
            if let Some((_, first, from)) = others.iter().find(|(other, ..)| other.overlaps(to)) {
                let message = format!(
                    "{} already has the source {from} (line {}): an input has one",
                    connect.to.value, first.line
                );
                findings.rig(connect.to.place, message);
                continue;
            }
            others.push((to.clone(), connect.to.place, connect.from.value.to_string()));
        }
        let (Some(source), Some(target)) = (source, target) else { continue };
        if target.1.partial && start_of(&fmus[target.0.0], target.0.1, &starts[target.0.0]).is_none() {
            let message = format!(
                "{} has no start value for the elements that this connection does not feed: connect it as a whole",
                connect.to.value
            );
            findings.rig(connect.to.place, message);
            continue;
        }
        let is_inside = are_together(fmus, clocks, source.0.0, target.0.0);
        match fit(fmus, source, target, connect, findings) {
            Ok(link) if is_inside && link.extrapolation != Extrapolation::Hold => {
                let (a, b) = (fmus[link.source.0].name(), fmus[link.target.0].name());
                let message = format!(
                    "extrapolation = \"{}\" is not possible: {a} and {b} make their steps together{}",
                    link.extrapolation.word(),
                    why_together(fmus, link.source.0)
                );
                findings.rig(connect.extrapolation.place, message);
            }
            Ok(link) if is_inside && connect.timing == Some(Timing::Delayed) => {
                let (a, b) = (fmus[link.source.0].name(), fmus[link.target.0].name());
                let message = format!(
                    "{} → {} is inside of a group: {a} and {b} make their steps together{}, and exchange values as they come; leave \
                     timing out",
                    connect.from.value,
                    connect.to.value,
                    why_together(fmus, link.source.0)
                );
                findings.rig(connect.to.place, message);
            }
            Ok(link) if is_inside => links.push(Link { timing: Timing::Immediate, is_inside, ..link }),
            Ok(link) => links.push(link),
            Err((place, message)) => findings.rig(place, message),
        }
    }
    Links::new(links)
}

/// Why an FMU makes its steps together with others without a table in the rig.
fn why_together(fmus: &[DescribedFmu], fmu: usize) -> &'static str {
    if fmus[fmu].master.is_some() { "" } else { ", since their clocks are connected" }
}

/// Whether values go from one FMU to the other within one release: both are in one group, or their clocks are connected; for a
/// single FMU, its clocks with one another.
fn are_together(fmus: &[DescribedFmu], clocks: &ClockNetwork, from: usize, to: usize) -> bool {
    let targets = || clocks.tick_sources[from].iter().flat_map(|source| &source.step_targets);
    let ticks_itself = || targets().any(|(fmu, _)| *fmu == from);
    if fmus[from].master.is_some() {
        return clocks.firsts[from] == clocks.firsts[to];
    }
    let handles_events = [from, to].iter().all(|fmu| fmus[*fmu].handles_events());
    handles_events && clocks.firsts[from] == clocks.firsts[to] && (from != to || ticks_itself())
}

/// Resolves one end of a connection, if it is a variable of the wanted causality.
fn end(
    endpoint: &At<VariableName>,
    fmus: &[DescribedFmu],
    wanted: Causality,
    findings: &mut Findings,
) -> Option<ConnectionEnd> {
    let VariableName { fmu, variable } = &endpoint.value;
    let fmu = fmus.iter().position(|described| described.name() == fmu)?;
    let described = &fmus[fmu];
    let fits = |v: &Variable| v.causality == wanted && v.clock.is_none();
    let (index, selection) = match find(described, variable) {
        NameMeaning::Elements(index, selection) => (index, selection),
        NameMeaning::Unsuitable(message) => {
            findings.rig(endpoint.place, message);
            return None;
        }
        NameMeaning::Nothing => {
            // A name of the right kind is the better guess; any name is better than none.
            let hint = match described.suggest(variable, fits) {
                none if none.is_empty() => described.suggest(variable, |v| v.clock.is_none()),
                hint => hint,
            };
            let hint = if hint.is_empty() { "; vecud inspect lists them".to_owned() } else { hint };
            findings.rig(endpoint.place, format!("{} has no variable \"{variable}\"{hint}", described.name()));
            return None;
        }
    };
    let v = &described.variables()[index];
    if v.clock.is_some() {
        let message = format!("{} is a clock: clocks are connected by [[trigger]]", endpoint.value);
        findings.rig(endpoint.place, message);
    } else if v.causality != wanted {
        let role = if wanted == Causality::Input { "to must name an input" } else { "from must name an output" };
        let message = format!("{} is {}; {role}", endpoint.value, v.causality.with_article());
        findings.rig(endpoint.place, message);
    } else {
        return Some(((fmu, index), selection));
    }
    None
}

/// The connection, or where and why not.
fn fit(
    fmus: &[DescribedFmu],
    (source, from): ConnectionEnd,
    (target, to): ConnectionEnd,
    connect: &RigConnect,
    findings: &mut Findings,
) -> Result<Link, (Place, String)> {
    let (a_unit, b_unit) = (&fmus[source.0], &fmus[target.0]);
    let (a, b) = (&a_unit.variables()[source.1], &b_unit.variables()[target.1]);
    let (a_name, b_name) = (connect.from.value.to_string(), connect.to.value.to_string());
    let bad = |message: String| Err((connect.to.place, message));
    let carried = carried((a_unit, a), (b_unit, b));
    let Some(widening) = carried.filter(|_| from.shape == to.shape) else {
        let (a_text, b_text) = (type_and_shape(a, &from), type_and_shape(b, &to));
        let hint = match (from.shape.as_slice(), to.shape.as_slice()) {
            (one, other) if one == other => lossy(a.variable_type, b.variable_type),
            _ if carried.is_none() => String::new(),
            ([], _) => element(&b_name, &to),
            (_, []) => element(&a_name, &from),
            _ => String::new(),
        };
        return bad(format!("{a_name} is {a_text}, but {b_name} is {b_text}{hint}"));
    };
    if b.variable_type == VariableType::Enumeration && a.variable_type != b.variable_type {
        findings.note(format!(
            "{b_name} is an enumeration and {a_name} an integer, one type in the functions of FMI 2.0 and 1.0: values pass as they are, whether \
             they are items or not"
        ));
    }
    for (described, variable, name) in [(a_unit, a, &a_name), (b_unit, b, &b_name)] {
        match described.elements(variable) {
            0 => return bad(format!("{name} has no elements")),
            1..=ELEMENTS => {}
            _ => return bad(format!("{name} has more than the {ELEMENTS} elements that a connection can carry")),
        }
    }
    if !has_input_clock(b_unit, b) {
        return bad(format!(
            "{b_name} belongs to an output clock: setting it is not supported yet by this version of vecud"
        ));
    }
    let unit = match compare((a_unit, a), (b_unit, b), &a_name, &b_name, connect.units) {
        UnitRelation::Same => None,
        UnitRelation::Unknown(note) => {
            findings.note(note);
            None
        }
        UnitRelation::Convert(conversion) => Some(conversion),
        UnitRelation::Incompatible(message) => return bad(message),
    };
    let capacity = capacity(a, b, connect, findings)?;
    if from.elements().saturating_mul(capacity) > BYTES {
        let (place, what) = match &connect.max_size {
            Some(max_size) => (max_size.place, "choose a smaller max_size"),
            None => (connect.to.place, "give the connection a smaller max_size"),
        };
        let message = format!(
            "{a_name} may have {} times {capacity} bytes, but a connection can carry {BYTES}: {what}",
            from.elements()
        );
        return Err((place, message));
    }
    // Outputs of a step are valid at its end, and inputs of a step are sampled at its begin (semantics S20).
    let steps = [a_unit, b_unit].iter().any(|described| described.steps().is_some());
    let timing = connect.timing.unwrap_or(if steps { Timing::Delayed } else { Timing::Immediate });
    let extrapolation = connect.extrapolation.value;
    let conversion = Conversion { widening, unit };
    let link = Link { source, target, from, to, conversion, timing, is_inside: false, capacity, extrapolation };
    if extrapolation != Extrapolation::Hold {
        let word = extrapolation.word();
        let refuse =
            |reason| (connect.extrapolation.place, format!("extrapolation = \"{word}\" is not possible: {reason}"));
        slopes::check((timing, extrapolation), (a_unit, a), (b_unit, b), (&a_name, &b_name)).map_err(refuse)?;
    }
    Ok(link)
}

/// `Float64`, `Int8[3,2]`.
fn type_and_shape(v: &Variable, selection: &ElementSelection) -> String {
    format!("{}{}", v.variable_type.name(), shape_text(&selection.shape))
}

/// The text for an element of an array whose other end has one value.
fn element(array: &str, selection: &ElementSelection) -> String {
    // A part of an array is named already.
    if !selection.text.is_empty() {
        return String::new();
    }
    let first = vec!["1"; selection.shape.len()].join(",");
    let which = if selection.shape.iter().all(|length| *length == 1) { "its element" } else { "one of its elements" };
    format!("; {which} is written {array}[{first}]")
}

/// The lossless conversion between the types of two variables, if there is one. An enumeration of FMI 2.0 and 1.0 is an `Integer`
/// in the functions that get and set it.
fn carried((a_unit, a): (&DescribedFmu, &Variable), (b_unit, b): (&DescribedFmu, &Variable)) -> Option<Widening> {
    let in_functions = |described: &DescribedFmu, v: &Variable| match v.variable_type {
        VariableType::Enumeration if described.abi().has_integer_enumerations() => VariableType::Int32,
        own => own,
    };
    let as_described = widening(a.variable_type, b.variable_type);
    as_described.or_else(|| widening(in_functions(a_unit, a), in_functions(b_unit, b)))
}

/// The message for types that do not connect; it tells whether they would the other way round.
fn lossy(from: VariableType, to: VariableType) -> String {
    let (a, b) = (from.name(), to.name());
    match widening(to, from) {
        Some(_) => {
            let article = if b.starts_with(['E', 'I']) { "an" } else { "a" };
            format!("; not every {a} is {article} {b} (only from {b} to {a} nothing gets lost)")
        }
        None => "; neither holds all values of the other".to_owned(),
    }
}

/// Bytes that an element of a string or binary may have on this connection; 0 for other types.
fn capacity(
    a: &Variable,
    b: &Variable,
    connect: &RigConnect,
    findings: &mut Findings,
) -> Result<usize, (Place, String)> {
    let (from, to) = (&connect.from.value, &connect.to.value);
    let size = |v: &Variable| v.max_size.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    match (a.variable_type, &connect.max_size) {
        (VariableType::String, max_size) => Ok(max_size.as_ref().map_or(STRING, |size| size.value)),
        (VariableType::Binary, Some(written)) => match size(b) {
            Some(largest) if written.value > largest => {
                let message =
                    format!("max_size is {}, but {to} takes at most {largest} bytes (maxSize)", written.value);
                Err((written.place, message))
            }
            _ => Ok(size(a).map_or(written.value, |largest| written.value.min(largest))),
        },
        (VariableType::Binary, None) => match (size(a), size(b)) {
            (Some(largest), Some(limit)) if largest > limit => {
                let message = format!(
                    "{from} has up to {largest} bytes, but {to} takes at most {limit} (maxSize); with max_size = {limit} in \
                     this [[connect]], longer values are not passed on"
                );
                Err((connect.to.place, message))
            }
            (Some(largest), _) => Ok(largest),
            (None, limit) => {
                let capacity = limit.unwrap_or(BINARY);
                findings.note(format!(
                    "{from} does not say how long it gets (maxSize): values of more than {capacity} bytes are not passed on \
                     to {to}; max_size in its [[connect]] changes that"
                ));
                Ok(capacity)
            }
        },
        (other, Some(written)) => {
            let message = format!("max_size is for String and Binary variables; {from} is {}", other.name());
            Err((written.place, message))
        }
        (_, None) => Ok(0),
    }
}
