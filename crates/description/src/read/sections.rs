//! The common part of the root elements of all texts: attributes, sections and short lists (FMI 3.0, 2.4.1, 2.4.5,
//! 2.4.6).

use crate::model::{Abi, DefaultExperiment, DescriptionError, LogCategory, ModelDescription, NamingConvention};
use crate::rules;
use crate::xml::{Attribute, Element};
use std::cell::Cell;
use std::collections::HashSet;
use vecud_base::time::{Fraction, TimeUnit};

/// The root element of all texts.
pub(super) const ROOT: &str = "fmiModelDescription";

/// Root attributes that every text has.
const ATTRIBUTES: [&str; 6] =
    ["fmiVersion", "modelName", "description", "author", "generationDateAndTime", "variableNamingConvention"];

/// A description with the root attributes that every text has; `more` are those of this text alone, `naming` is
/// `variableNamingConvention`.
pub(super) fn root(
    root: Element<'_>,
    version: &str,
    abi: Abi,
    more: &[&str],
    naming: Option<Attribute<'_>>,
) -> Result<ModelDescription, DescriptionError> {
    root.warn_of_unknown_attributes(&[&ATTRIBUTES, more]);
    let naming = match naming {
        None => NamingConvention::default(),
        Some(attribute) => {
            let words = [("flat", NamingConvention::Flat), ("structured", NamingConvention::Structured)];
            root.kept(attribute.choice(&words))?.unwrap_or_default()
        }
    };
    Ok(ModelDescription {
        abi,
        fmi_version: version.to_owned(),
        model_name: root.kept_text("modelName")?,
        description: root.text("description"),
        author: root.text("author"),
        version: root.text("version"),
        generation_tool: root.text("generationTool"),
        generation_date_and_time: root.text("generationDateAndTime"),
        naming,
        ..ModelDescription::default()
    })
}

/// The first element of each name.
pub(super) struct Sections<'a> {
    elements: Vec<Element<'a>>,
    /// Some could not be read, where every error is wanted.
    are_partial: Cell<bool>,
}

impl<'a> Sections<'a> {
    /// Reads the sections. `known`: names of sections, each of which is given once at most; `ignored`: names of other elements
    /// that may stand there.
    pub(super) fn read(root: Element<'a>, known: &[&str], ignored: &[&str]) -> Result<Sections<'a>, DescriptionError> {
        let mut sections: Vec<Element<'a>> = Vec::new();
        for element in root.children() {
            match element.name() {
                name if known.contains(&name) => {
                    if let Some(first) = sections.iter().find(|other| other.name() == name) {
                        let twice = format!("<{name}> is given twice (first in line {})", first.line());
                        root.kept(Err::<(), _>(element.error(twice)))?;
                    } else {
                        sections.push(element);
                    }
                }
                name if ignored.contains(&name) => {}
                _ => element.warn_unknown(root),
            }
        }
        Ok(Sections { elements: sections, are_partial: Cell::default() })
    }

    /// Whether a section could not be read, where every error is wanted: what is missing may be in it.
    pub(super) fn are_partial(&self) -> bool {
        self.are_partial.get()
    }

    pub(super) fn get(&self, name: &str) -> Option<Element<'a>> {
        self.elements.iter().find(|element| element.name() == name).copied()
    }

    pub(super) fn map<T>(
        &self,
        name: &str,
        read: impl FnOnce(Element<'a>) -> Result<T, DescriptionError>,
    ) -> Result<Option<T>, DescriptionError> {
        let Some(element) = self.get(name) else { return Ok(None) };
        let kept = element.kept(read(element))?;
        self.are_partial.set(self.are_partial.get() || kept.is_none());
        Ok(kept)
    }
}

/// `modelIdentifier`, which is safe in a path.
pub(super) fn model_identifier(element: Element<'_>) -> Result<String, DescriptionError> {
    let identifier = element.required("modelIdentifier")?;
    if !rules::names_file(identifier.value) {
        return Err(identifier.error("cannot be the name of a library's file"));
    }
    if !rules::is_word_of_c(identifier.value) {
        identifier.warn("is no name of C: the library is looked for under it all the same");
    }
    Ok(identifier.value.to_owned())
}

/// The names of the tools for which `<VendorAnnotations>` has data.
pub(super) fn tools(list: Element<'_>) -> Result<Vec<String>, DescriptionError> {
    let mut tools = Vec::new();
    for element in list.children() {
        match element.name() {
            "Tool" => tools.push(element.required("name")?.value.to_owned()),
            _ => element.warn_unknown(list),
        }
    }
    Ok(tools)
}

/// `<LogCategories>`.
pub(super) fn log_categories(list: Element<'_>) -> Result<Vec<LogCategory>, DescriptionError> {
    let mut names = HashSet::new();
    let mut categories = Vec::new();
    for element in list.children() {
        match element.name() {
            "Category" => {
                element.warn_of_unknown_attributes(&[&["name", "description"]]);
                let name = element.label_name()?;
                if names.insert(name) {
                    let description = element.text("description");
                    categories.push(LogCategory { name: name.to_owned(), description });
                } else {
                    element.warn(format!("{}: given twice", element.label()));
                }
            }
            "Annotations" => {}
            _ => element.warn_unknown(list),
        }
    }
    Ok(categories)
}

/// `<DefaultExperiment>`, in the FMU's unit of time.
pub(super) fn default_experiment(element: Element<'_>) -> Result<DefaultExperiment, DescriptionError> {
    element.warn_of_unknown_attributes(&[&["startTime", "stopTime", "tolerance", "stepSize"]]);
    let finite = |name: &str| match element.scalar::<f64>(name)? {
        Some(value) if !value.is_finite() => {
            element.warn(format!("{}: {name} is not finite and ignored", element.label()));
            Ok(None)
        }
        value => Ok(value),
    };
    let step = finite("stepSize")?;
    let experiment = DefaultExperiment {
        start_time: finite("startTime")?,
        stop_time: finite("stopTime")?,
        tolerance: finite("tolerance")?,
        step_size: step.and_then(|step| Fraction::duration(step).ok()).filter(|step| !step.is_zero()),
    };
    let odd = |name: &str, why: &str| element.attribute(name).into_iter().for_each(|attribute| attribute.warn(why));
    if experiment.stop_time.is_some_and(|stop| stop < experiment.start_time.unwrap_or(0.0)) {
        odd("stopTime", "is before the start of the experiment");
    }
    match step {
        Some(step) if step <= 0.0 => odd("stepSize", "is no length of a step: it must be above 0"),
        Some(_) if experiment.step_size.is_none() => odd("stepSize", "is no length of a step that can be made"),
        _ => (),
    }
    if experiment.tolerance.is_some_and(|tolerance| tolerance <= 0.0) {
        odd("tolerance", "is no relative tolerance: it must be above 0");
    }
    Ok(experiment)
}

/// Converts a default experiment that is written in the FMU's unit of time.
pub(super) fn in_seconds(unit: TimeUnit, experiment: &mut DefaultExperiment) {
    if unit.is_second() {
        return;
    }
    for time in [&mut experiment.start_time, &mut experiment.stop_time] {
        *time = time.and_then(|time| unit.instant(time)).map(|time| time.seconds());
    }
    let rounded = |step: Fraction| Fraction::duration(step.seconds() * unit.seconds().seconds()).ok();
    experiment.step_size = experiment.step_size.and_then(|step| unit.duration(step).ok().or_else(|| rounded(step)));
}
