//! Rules of the schemas (`fmi3ModelDescription.xsd` and those of FMI 2.0 and 1.0), and of the text beside them, over single elements. The
//! readers do not check them, since no run depends on them; they are for validating an FMU.
//!
//! One table for the order of children, one for elements that hold text, one for all other rules.

use super::model::{
    Abi, Causality, DescriptionError, Initial, InterfaceOffer, ModelDescription, Variable, VariableType,
};
use super::rules::{self, is_float};
use super::xml::{self, error_at};
use jiff::civil::Date;
use roxmltree::Node;
use vecud_base::places::{self, LineIndex};

/// The children of an element, in groups that stand one behind the other (`xs:sequence`); within a group there is no order.
struct ChildOrder {
    abi: Abi,
    element: &'static [&'static str],
    groups: &'static [&'static [&'static str]],
}

const VARIABLES_OF_FMI_3: &[&str] = &[
    "Float32",
    "Float64",
    "Int8",
    "UInt8",
    "Int16",
    "UInt16",
    "Int32",
    "UInt32",
    "Int64",
    "UInt64",
    "Boolean",
    "String",
    "Binary",
    "Enumeration",
    "Clock",
];
const KINDS_OF_SCALARS: &[&str] = &["Real", "Integer", "Boolean", "String", "Enumeration"];

/// The order of `<ModelStructure>` of FMI 3.0 is one that its reader knows.
const ORDERS: &[ChildOrder] = &[
    ChildOrder {
        abi: Abi::Fmi3,
        element: &["fmiModelDescription"],
        groups: &[
            &["ModelExchange"],
            &["CoSimulation"],
            &["ScheduledExecution"],
            &["UnitDefinitions"],
            &["TypeDefinitions"],
            &["LogCategories"],
            &["DefaultExperiment"],
            &["ModelVariables"],
            &["ModelStructure"],
            &["Annotations"],
        ],
    },
    ChildOrder { abi: Abi::Fmi3, element: &["Unit"], groups: &[&["BaseUnit"], &["DisplayUnit"], &["Annotations"]] },
    ChildOrder { abi: Abi::Fmi3, element: &["EnumerationType"], groups: &[&["Annotations"], &["Item"]] },
    ChildOrder {
        abi: Abi::Fmi3,
        element: VARIABLES_OF_FMI_3,
        groups: &[&["Annotations"], &["Dimension"], &["Start"], &["Alias"]],
    },
    ChildOrder {
        abi: Abi::Fmi2,
        element: &["fmiModelDescription"],
        groups: &[
            &["ModelExchange", "CoSimulation"],
            &["UnitDefinitions"],
            &["TypeDefinitions"],
            &["LogCategories"],
            &["DefaultExperiment"],
            &["VendorAnnotations"],
            &["ModelVariables"],
            &["ModelStructure"],
        ],
    },
    ChildOrder { abi: Abi::Fmi2, element: &["Unit"], groups: &[&["BaseUnit"], &["DisplayUnit"]] },
    ChildOrder { abi: Abi::Fmi2, element: &["ScalarVariable"], groups: &[KINDS_OF_SCALARS, &["Annotations"]] },
    ChildOrder {
        abi: Abi::Fmi2,
        element: &["ModelStructure"],
        groups: &[&["Outputs"], &["Derivatives"], &["InitialUnknowns"]],
    },
    ChildOrder {
        abi: Abi::Fmi1,
        element: &["fmiModelDescription"],
        groups: &[
            &["UnitDefinitions"],
            &["TypeDefinitions"],
            &["DefaultExperiment"],
            &["VendorAnnotations"],
            &["ModelVariables"],
            &["Implementation"],
        ],
    },
    ChildOrder { abi: Abi::Fmi1, element: &["ScalarVariable"], groups: &[KINDS_OF_SCALARS, &["DirectDependency"]] },
];

/// Elements whose content belongs to tools.
const OF_TOOLS: &[&str] = &["Annotations", "VendorAnnotations"];

/// Elements that hold text: in FMI 2.0 the schema allows any content in a `<Boolean>` and `<String>` of a type.
const TEXTS: &[(Abi, &str, &str)] = &[
    (Abi::Fmi1, "DirectDependency", "Name"),
    (Abi::Fmi2, "SimpleType", "Boolean"),
    (Abi::Fmi2, "SimpleType", "String"),
];

/// A rule over an element.
struct SchemaRule {
    abis: &'static [Abi],
    elements: &'static [&'static str],
    /// The fault, and the attribute that has it.
    objection: fn(Seen) -> Option<(&'static str, String)>,
}

/// An element and its parent.
#[derive(Clone, Copy)]
struct Seen<'a> {
    node: Node<'a, 'a>,
    description: &'a ModelDescription,
}

const UNKNOWNS: &[&str] =
    &["Output", "ContinuousStateDerivative", "ClockedState", "InitialUnknown", "EventIndicator", "Unknown"];

const LISTS_OF_UNKNOWNS: &[&str] = &["Outputs", "Derivatives", "InitialUnknowns"];

const RULES: &[SchemaRule] = &[
    SchemaRule { abis: &[Abi::Fmi3, Abi::Fmi2, Abi::Fmi1], elements: &["fmiModelDescription"], objection: no_date },
    SchemaRule { abis: &[Abi::Fmi3], elements: &["CoSimulation"], objection: clocks_without_event_mode },
    SchemaRule { abis: &[Abi::Fmi3, Abi::Fmi2], elements: UNKNOWNS, objection: unknown_that_is_known },
    SchemaRule { abis: &[Abi::Fmi3, Abi::Fmi2], elements: UNKNOWNS, objection: kind_of_no_float },
    SchemaRule { abis: &[Abi::Fmi2], elements: UNKNOWNS, objection: kind_of_initial_unknown },
    SchemaRule { abis: &[Abi::Fmi3, Abi::Fmi2], elements: UNKNOWNS, objection: state_that_is_none },
    SchemaRule { abis: &[Abi::Fmi2], elements: &["ModelStructure"], objection: states_that_are_not_listed },
    SchemaRule { abis: &[Abi::Fmi2], elements: LISTS_OF_UNKNOWNS, objection: empty_list },
    SchemaRule { abis: &[Abi::Fmi2], elements: &["InitialUnknowns"], objection: initial_unknowns_out_of_order },
    SchemaRule { abis: &[Abi::Fmi2], elements: &["ScalarVariable"], objection: initial_of_input },
    SchemaRule { abis: &[Abi::Fmi1], elements: &["ScalarVariable"], objection: continuous_without_real },
];

/// `generationDateAndTime` is an `xs:dateTime`.
fn no_date(seen: Seen) -> Option<(&'static str, String)> {
    const DATE: &str = "generationDateAndTime";
    let text = seen.node.attribute(DATE)?;
    let wrong = "is no date with a time (xs:dateTime), as 2025-06-12T19:14:14Z is";
    (!is_date_time(text.trim_ascii())).then(|| (DATE, format!("{DATE}={text:?} {wrong}")))
}

/// FMI 3.0.2, 4.4, `hasEventMode`.
fn clocks_without_event_mode(seen: Seen) -> Option<(&'static str, String)> {
    let clock = seen.description.variables.iter().find(|v| v.variable_type == VariableType::Clock)?;
    let has_event_mode = seen.description.interfaces.iter().any(|offer| match offer {
        InterfaceOffer::CoSimulation(own) => own.has_event_mode,
        _ => false,
    });
    let words = format!("there are clocks ({:?}, line {}): hasEventMode must be true", clock.name, clock.line);
    (!has_event_mode).then_some(("hasEventMode", words))
}

/// FMI 3.0.2, 2.4.8, `InitialUnknown`; FMI 2.0.5, 2.2.8.
fn unknown_that_is_known(seen: Seen) -> Option<(&'static str, String)> {
    let variable = seen.unknown().filter(|v| seen.is_initial_unknown() && v.clocks.is_empty())?;
    let is_known = variable.initial == Some(Initial::Exact) || variable.causality == Causality::Independent;
    let words = format!(
        "{:?} (line {}) is no initial unknown: its initial value is given (exact)",
        variable.name, variable.line
    );
    is_known.then_some(("", words))
}

/// FMI 3.0.2, 2.4.8, `dependenciesKind`; FMI 2.0.5, 2.2.8. Of `constant` both say the same, and the Reference FMUs of the standard's authors do
/// otherwise: that is passed over.
fn kind_of_no_float(seen: Seen) -> Option<(&'static str, String)> {
    let variable = seen.unknown().filter(|v| !is_float(v.variable_type))?;
    let kind = seen.kinds().find(|kind| ["fixed", "tunable", "discrete"].contains(kind))?;
    let (name, own) = (&variable.name, variable.variable_type.name());
    let words = format!(
        "dependenciesKind {kind:?} is for floating point numbers alone, and {name:?} (line {}) is {own}",
        variable.line
    );
    Some((KINDS, words))
}

/// FMI 2.0.5, 2.2.8; the reader of FMI 3.0 knows it.
fn kind_of_initial_unknown(seen: Seen) -> Option<(&'static str, String)> {
    let kind = seen.kinds().find(|kind| seen.is_initial_unknown() && !["dependent", "constant"].contains(kind))?;
    Some((
        KINDS,
        format!("dependenciesKind {kind:?} is not for initial unknowns, which have only dependent and constant"),
    ))
}

/// FMI 3.0.2, 2.4.7.4 and 2.4.8; FMI 2.0.5, 2.2.7 and 2.2.8: a continuous state is a continuous output or local variable.
fn state_that_is_none(seen: Seen) -> Option<(&'static str, String)> {
    let is_listed = seen.node.has_tag_name_here("ContinuousStateDerivative") || seen.parent() == Some("Derivatives");
    let derivative = seen.unknown().filter(|_| is_listed)?;
    let state = seen.description.state_of(derivative)?;
    let is_one = matches!(state.causality, Causality::Output | Causality::Local);
    let words = format!(
        "{:?} (line {}) is the derivative of {:?} (line {}), which is {}: that is no state",
        derivative.name,
        derivative.line,
        state.name,
        state.line,
        state.causality.with_article()
    );
    (!is_one).then_some(("", words))
}

/// FMI 2.0.5, 2.2.8: an FMU for Model Exchange lists the derivatives of its states.
fn states_that_are_not_listed(seen: Seen) -> Option<(&'static str, String)> {
    let derivative = seen.description.derivative_that_is_not_integrated()?;
    let (name, line) = (&derivative.name, derivative.line);
    let missing = "<Derivatives> is missing or empty, in which Model Exchange has its states";
    Some(("", format!("{missing}: {name:?} (line {line}) is a derivative")))
}

/// `fmi2VariableDependency.xsd`. Of derivatives that there are [another rule](states_that_are_not_listed) tells more.
fn empty_list(seen: Seen) -> Option<(&'static str, String)> {
    let has_states =
        seen.node.has_tag_name_here("Derivatives") && seen.description.derivative_that_is_not_integrated().is_some();
    let is_empty = !seen.node.children().any(|child| child.has_tag_name_here("Unknown"));
    (is_empty && !has_states).then(|| ("", "it lists no <Unknown>, of which there is at least one".to_owned()))
}

/// FMI 2.0.5, 2.2.8, `InitialUnknowns`.
fn initial_unknowns_out_of_order(seen: Seen) -> Option<(&'static str, String)> {
    let index = |node: Node| node.attribute("index")?.trim_ascii().parse::<u32>().ok();
    let listed: Vec<u32> = seen.node.children().filter_map(index).collect();
    let wrong = listed.windows(2).find(|pair| pair[0] > pair[1])?;
    Some(("", format!("variable {} stands behind {}; the order is that of the indices", wrong[1], wrong[0])))
}

/// FMI 2.0.5, 2.2.7, `initial`; of the independent variable its reader knows it.
fn initial_of_input(seen: Seen) -> Option<(&'static str, String)> {
    let is_input = seen.node.attribute("causality").is_some_and(|causality| causality.trim_ascii() == "input");
    let initial = seen.node.attribute("initial").filter(|_| is_input)?;
    let exact = rules::word(&rules::INITIALS, Initial::Exact);
    // What does not go with an input at all is told by the reader.
    (initial.trim_ascii() == exact)
        .then(|| ("initial", "an input has no `initial`: it is not allowed to define it".to_owned()))
}

/// FMI 1.0, 3.3 (Model Exchange) and 4.3 (Co-Simulation), `variability`; the reader of FMI 2.0 knows it.
fn continuous_without_real(seen: Seen) -> Option<(&'static str, String)> {
    let is_real = seen.node.children().any(|child| child.has_tag_name_here("Real"));
    let continuous = seen.node.attribute("variability").filter(|own| own.trim_ascii() == "continuous" && !is_real)?;
    Some(("variability", format!("variability={continuous:?} is for <Real> alone")))
}

const KINDS: &str = "dependenciesKind";

/// The local name, whatever its namespace: only elements of one are looked at.
trait LocalName {
    fn has_tag_name_here(&self, name: &str) -> bool;
}

impl LocalName for Node<'_, '_> {
    fn has_tag_name_here(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

impl<'a> Seen<'a> {
    /// The name of the element that it is in.
    fn parent(self) -> Option<&'a str> {
        Some(self.node.parent_element()?.tag_name().name())
    }

    fn is_initial_unknown(self) -> bool {
        self.node.has_tag_name_here("InitialUnknown") || self.parent() == Some("InitialUnknowns")
    }

    /// The variable that an entry of `<ModelStructure>` names.
    fn unknown(self) -> Option<&'a Variable> {
        let number = |name: &str| self.node.attribute(name)?.trim_ascii().parse::<u32>().ok();
        match self.description.abi {
            Abi::Fmi2 => self.description.variables.get((number("index")? as usize).checked_sub(1)?),
            _ => self.description.by_reference(super::ValueReference(number("valueReference")?)),
        }
    }

    fn kinds(self) -> impl Iterator<Item = &'a str> {
        self.node.attribute(KINDS).unwrap_or_default().split_ascii_whitespace()
    }
}

/// Findings that are kept of one description.
const MOST: usize = 100;

/// The breaches of these rules in a text, in its order. Precondition: the description was read from the text.
pub fn breaches_of_schema(text: &str, description: &ModelDescription) -> Vec<DescriptionError> {
    let places = LineIndex::new(text);
    let Ok(document) = xml::document(&places) else { return Vec::new() };
    let root = document.root_element();
    let mut breaches = Vec::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        look(Seen { node, description }, &places, &mut breaches);
        if breaches.len() >= MOST {
            break;
        }
        let ours = node
            .children()
            .filter(|child| child.is_element() && child.tag_name().namespace() == root.tag_name().namespace());
        let ours: Vec<Node> = ours.filter(|child| !OF_TOOLS.contains(&child.tag_name().name())).collect();
        open.extend(ours.into_iter().rev());
    }
    breaches.truncate(MOST);
    breaches
}

fn look(seen: Seen, places: &LineIndex, breaches: &mut Vec<DescriptionError>) {
    let (node, abi) = (seen.node, seen.description.abi);
    let name = node.tag_name().name();
    let own = places::tag(places.text(), name);
    if let Some(order) = ORDERS.iter().find(|order| order.abi == abi && order.element.contains(&name)) {
        breaches.extend(out_of_order(node, order.groups, places));
    }
    if !TEXTS.iter().any(|(of, parent, text)| *of == abi && Some(*parent) == seen.parent() && *text == name) {
        let texts = node.children().filter(|child| child.is_text()).filter_map(|child| child.text());
        if let Some(text) = texts.map(str::trim).find(|text| !text.is_empty()) {
            let shown: String = text.chars().take(40).collect();
            let at = places::offset(places.text(), text).unwrap_or(own);
            breaches.push(error_at(places, at, format!("<{name}> holds text, {shown:?}, which has no place there")));
        }
    }
    for rule in RULES.iter().filter(|rule| rule.abis.contains(&abi) && rule.elements.contains(&name)) {
        if let Some((attribute, words)) = (rule.objection)(seen) {
            let written = node.attributes().find(|own| own.name() == attribute && own.namespace().is_none());
            let at = written.and_then(|written| places::offset(places.text(), written.name())).unwrap_or(own);
            breaches.push(error_at(places, at, format!("<{name}>: {words}")));
        }
    }
}

/// The first child that stands behind one of a later group.
fn out_of_order(node: Node, groups: &[&[&str]], places: &LineIndex) -> Option<DescriptionError> {
    let mut last: Option<(usize, &str)> = None;
    for child in node.children().filter(Node::is_element) {
        let name = child.tag_name().name();
        let Some(number) = groups.iter().position(|group| group.contains(&name)) else { continue };
        match last {
            Some((before, other)) if before > number => {
                let order: Vec<String> = groups.iter().map(|group| group.join(" or ")).collect();
                let words = format!("<{name}> stands behind <{other}>; the order is {}", order.join(", "));
                return Some(error_at(places, places::tag(places.text(), name), words));
            }
            _ => last = Some((number, name)),
        }
    }
    None
}

/// Whether a text is an `xs:dateTime`.
fn is_date_time(text: &str) -> bool {
    fn number(text: &str, digits: usize) -> Option<u32> {
        (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
    }
    let parts = || {
        let (date, time) = text.split_once('T')?;
        let mut date = date.strip_prefix('-').unwrap_or(date).rsplitn(3, '-');
        let (day, month, year) = (number(date.next()?, 2)?, number(date.next()?, 2)?, date.next()?);
        let is_year = year.len() == 4 || year.len() > 4 && !year.starts_with('0');
        let year = number(year, year.len()).filter(|year| is_year && *year > 0)?;
        let (time, zone) = match time.strip_suffix('Z') {
            Some(time) => (time, None),
            None => time.find(['+', '-']).map_or((time, None), |at| (&time[..at], Some(&time[at + 1..]))),
        };
        let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
        let mut time = time.splitn(3, ':');
        let (hour, minute, second) = (number(time.next()?, 2)?, number(time.next()?, 2)?, number(time.next()?, 2)?);
        let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
        let is_zone = |zone: &str| {
            let (hours, minutes) = zone.split_once(':')?;
            let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
            Some(minutes < 60 && hours * 60 + minutes <= 14 * 60)
        };
        // The calendar repeats after 400 years.
        let is_date = Date::new(2000 + (year % 400) as i16, month as i8, day as i8).is_ok();
        let is_end_of_day = hour == 24 && minute == 0 && second == 0 && fraction.bytes().all(|byte| byte == b'0');
        let is_time = minute < 60 && second < 60 && (hour < 24 || is_end_of_day);
        Some(is_date && is_time && is_fraction && zone.is_none_or(|zone| is_zone(zone) == Some(true)))
    };
    parts() == Some(true)
}

/// The variables that `terminalsAndIcons.xml` names and the description does not have (FMI 3.0.2, 2.4.9), or why it cannot be read.
pub fn unknown_in_terminals(text: &str, description: &ModelDescription) -> Vec<DescriptionError> {
    const NAMES: [&str; 3] = ["variableName", "inStreamVariableName", "outStreamVariableName"];
    let places = LineIndex::new(text);
    let document = match xml::document(&places) {
        Ok(document) => document,
        Err(error) => return vec![error],
    };
    let known: std::collections::HashSet<&str> = description.variables.iter().flat_map(Variable::names).collect();
    let named = document.descendants().filter(Node::is_element).flat_map(|node| {
        let own = node.attributes().filter(|own| NAMES.contains(&own.name()) && own.namespace().is_none());
        own.map(move |own| (node.tag_name().name(), own))
    });
    let unknown = named.filter(|(_, own)| !known.contains(own.value())).take(MOST);
    unknown
        .map(|(element, own)| {
            let at = places::offset(places.text(), own.name()).unwrap_or(0);
            error_at(
                &places,
                at,
                format!("<{element}>: {}={:?} is no variable of the model description", own.name(), own.value()),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_schema() {
        for date in [
            "2009-12-08T14:33:22Z",
            "2025-06-12T19:14:14.839539+02:00",
            "2024-02-29T00:00:00",
            "2024-12-31T24:00:00Z",
            "-0044-03-15T12:00:00-14:00",
            "12009-12-08T14:33:22Z",
        ] {
            assert!(is_date_time(date), "{date}");
        }
        for none in [
            "",
            "today",
            "2009-12-08",
            "2009-12-08 14:33:22",
            "2009-12-08T14:33",
            "2009-13-08T14:33:22Z",
            "2023-02-29T14:33:22Z",
            "2009-12-08T24:33:22Z",
            "2009-12-08T14:60:22Z",
            "2009-12-08T14:33:60Z",
            "09-12-08T14:33:22Z",
            "0000-12-08T14:33:22Z",
            "2009-12-08T14:33:22.Z",
            "2009-12-08T14:33:22+15:00",
            "2009-12-08T14:33:22+0200",
            "2009-12-8T14:33:22Z",
            "Wed Dec  9 14:33:22 2009",
            "2009-12-08T14:33:22ZZ",
        ] {
            assert!(!is_date_time(none), "{none}");
        }
    }
}
