//! The dialect of FMI 3.0 in which a description is written: the released one or the draft.
//!
//! Decided from the description alone, by signs that only one of the two texts has:
//!
//! | where | draft | released |
//! |---|---|---|
//! | `<Clock>`, `<ClockType>` | `clockType` `triggeredBy` `periodic` `strict` | `intervalVariability` `intervalDecimal` `shiftDecimal` `supportsFraction` `canBeDeactivated` |
//! | any variable | `clockReference` `clockElementIndex`, `variability="clock"` | `clocks` `previous` |
//! | `<ModelExchange>` | `completedIntegratorStepNotNeeded` | `needsCompletedIntegratorStep` `providesEvaluateDiscreteStates` |
//! | `<CoSimulation>` | | `mightReturnEarlyFromDoStep` `providesEvaluateDiscreteStates` |
//! | `<ModelStructure>` | `<Derivative>` | `<ContinuousStateDerivative>` `<ClockedState>` |
//! | `fmiVersion` | `3.0-alpha…` | `3.0.1` and later, `3.1` and later, other pre-releases |
//!
//! Signs of the draft alone: the draft. Signs of the released text alone, or none at all: released. Signs of both: an
//! error, unless the caller says which it is; then what belongs to the other one is ignored with a warning.

use crate::model::{Abi, DescriptionError};
use crate::xml::{Attribute, Element, Vocabulary, bit};

/// Signs of one dialect that an error names at most.
const NAMED: usize = 3;

/// Attributes that only one dialect has, on these elements, or on all where none is named.
const ATTRIBUTES: [(&str, &[&str], Abi); 17] = {
    use Abi::{Draft, Fmi3};
    const CLOCK: &[&str] = &["Clock", "ClockType"];
    [
        ("clockType", CLOCK, Draft),
        ("triggeredBy", CLOCK, Draft),
        ("periodic", CLOCK, Draft),
        ("strict", CLOCK, Draft),
        ("intervalVariability", CLOCK, Fmi3),
        ("intervalDecimal", CLOCK, Fmi3),
        ("shiftDecimal", CLOCK, Fmi3),
        ("supportsFraction", CLOCK, Fmi3),
        ("canBeDeactivated", CLOCK, Fmi3),
        ("completedIntegratorStepNotNeeded", &["ModelExchange"], Draft),
        ("needsCompletedIntegratorStep", &["ModelExchange"], Fmi3),
        ("providesEvaluateDiscreteStates", &["ModelExchange", "CoSimulation"], Fmi3),
        ("mightReturnEarlyFromDoStep", &["CoSimulation"], Fmi3),
        ("clockReference", &[], Draft),
        ("clockElementIndex", &[], Draft),
        ("clocks", &[], Fmi3),
        ("previous", &[], Fmi3),
    ]
};

/// The bits of the names of these attributes: nearly all attributes of a description are not among them.
const BITS: u64 = bits().0;

/// The bits that more than one of these names has.
const SHARED: u64 = bits().1;

const fn bits() -> (u64, u64) {
    let (mut bits, mut shared, mut at) = (0, 0, 0);
    while at < ATTRIBUTES.len() {
        let bit = bit(ATTRIBUTES[at].0);
        shared |= bits & bit;
        bits |= bit;
        at += 1;
    }
    (bits, shared)
}

/// The words of the released text.
pub(in super::super) static RELEASED: Vocabulary = Vocabulary { abi: Abi::Fmi3, particular: BITS, home };

/// The words of the draft.
pub(super) static DRAFT: Vocabulary = Vocabulary { abi: Abi::Draft, particular: BITS, home };

/// The dialect that alone has this attribute on this element.
#[inline]
fn of_attribute(element: &str, attribute: &str) -> Option<Abi> {
    if BITS & bit(attribute) == 0 { None } else { home(element, attribute) }
}

fn home(element: &str, attribute: &str) -> Option<Abi> {
    let (_, elements, dialect) = ATTRIBUTES.iter().find(|(name, ..)| *name == attribute)?;
    (elements.is_empty() || elements.contains(&element)).then_some(*dialect)
}

/// The dialect that alone has this element in `<ModelStructure>`.
pub(super) fn of_structure(element: &str) -> Option<Abi> {
    match element {
        "Derivative" => Some(Abi::Draft),
        "ContinuousStateDerivative" | "ClockedState" => Some(Abi::Fmi3),
        _ => None,
    }
}

fn of_version(version: &str) -> Option<Abi> {
    match version.trim_ascii() {
        "3.0" => None,
        text if text.starts_with("3.0-alpha") => Some(Abi::Draft),
        text if text.starts_with("3.") => Some(Abi::Fmi3),
        _ => None,
    }
}

/// A name that gives a dialect away, with the text around it in messages, and its place.
struct Sign<'a> {
    name: &'a str,
    around: [&'static str; 2],
    line: u32,
    column: u32,
}

const ATTRIBUTE: [&str; 2] = ["`", "`"];
const ELEMENT: [&str; 2] = ["<", ">"];
const VERSION: [&str; 2] = ["`fmiVersion=\"", "\"`"];
const VARIABILITY: [&str; 2] = ["`variability=\"", "\"`"];

/// The signs of the dialects, and the variables that were searched for them.
#[derive(Default)]
pub(super) struct Survey<'a> {
    draft: Vec<Sign<'a>>,
    released: Vec<Sign<'a>>,
    /// The bits of attributes that have been added.
    seen: u64,
    /// The elements of `<ModelVariables>`.
    pub(super) variables: Vec<Element<'a>>,
}

impl<'a> Survey<'a> {
    fn add(
        &mut self,
        dialect: Option<Abi>,
        name: &'a str,
        around: [&'static str; 2],
        place: impl FnOnce() -> (u32, u32),
    ) {
        let list = match dialect {
            None => return,
            Some(Abi::Draft) => &mut self.draft,
            Some(_) => &mut self.released,
        };
        if list.len() < NAMED && list.iter().all(|sign| (sign.name, sign.around) != (name, around)) {
            let (line, column) = place();
            list.push(Sign { name, around, line, column });
        }
    }

    fn attributes(&mut self, element: Element<'a>) {
        let is_clock =
            |attribute: Attribute<'_>| attribute.name() == "variability" && attribute.value.trim_ascii() == "clock";
        // Adding a name again would change nothing.
        if !element.may_have(BITS & !self.seen) && !element.attribute("variability").is_some_and(is_clock) {
            return;
        }
        for attribute in element.attributes() {
            let dialect = of_attribute(element.name(), attribute.name());
            self.add(dialect, attribute.name(), ATTRIBUTE, || attribute.place());
            self.seen |= dialect.map_or(0, |_| bit(attribute.name()) & !SHARED);
            if is_clock(attribute) {
                self.add(Some(Abi::Draft), "clock", VARIABILITY, || attribute.place());
            }
        }
    }

    /// The dialect, or an error that lists the signs of both.
    pub(super) fn verdict(&self) -> Result<Abi, DescriptionError> {
        let (Some(draft), Some(released)) = (self.draft.first(), self.released.first()) else {
            return Ok(if self.draft.is_empty() { Abi::Fmi3 } else { Abi::Draft });
        };
        let place = (draft.line, draft.column).max((released.line, released.column));
        let list = |signs: &[Sign]| {
            let word = |Sign { name, around: [before, after], line, .. }: &Sign| {
                format!("{before}{name}{after} (line {line})")
            };
            let words: Vec<String> = signs.iter().map(word).collect();
            words.join(", ")
        };
        Err(DescriptionError {
            line: place.0,
            column: place.1,
            message: format!(
                "mixes two dialects of FMI 3.0: {} belongs to the draft of January 2021, {} to the released standard; \
                 export the FMU again, or say which of them it is with dialect = \"draft\" or dialect = \"released\" \
                 in [fmu.NAME] of a rig",
                list(&self.draft),
                list(&self.released)
            ),
        })
    }
}

/// Looks for signs of a dialect where there may be some.
pub(super) fn survey(root: Element<'_>) -> Survey<'_> {
    let mut signs = Survey::default();
    if let Some(version) = root.attribute("fmiVersion") {
        signs.add(of_version(version.value), version.value.trim_ascii(), VERSION, || version.place());
    }
    for section in root.children() {
        match section.name() {
            "ModelExchange" | "CoSimulation" | "ScheduledExecution" => signs.attributes(section),
            "TypeDefinitions" => {
                section.children().filter(|e| e.name() == "ClockType").for_each(|e| signs.attributes(e));
            }
            "ModelVariables" => {
                for element in section.children() {
                    signs.attributes(element);
                    signs.variables.push(element);
                }
            }
            "ModelStructure" => {
                for element in section.children() {
                    let dialect = of_structure(element.name());
                    signs.add(dialect, element.name(), ELEMENT, || element.place());
                }
            }
            _ => {}
        }
    }
    signs
}
