//! The root element, its sections and its short lists (FMI 3.0, 2.4.1, 2.4.5, 2.4.6).

use super::dialect;
use super::types::TypeDefinitions;
use super::{clocks, interface, references, structure, variables};
use crate::model::{
    Abi, Causality, DefaultExperiment, DescriptionError, Index, InterfaceOffer, ModelDescription, ModelStructure,
    Variable,
};
use crate::read::draft;
use crate::read::sections::{self, Sections};
use crate::units::{self, Units};
use crate::xml::{Attribute, Element};
use vecud_base::time::TimeUnit;

const ATTRIBUTES: [&str; 5] = ["instantiationToken", "version", "copyright", "license", "generationTool"];

/// Vendors' data, and elements that a later minor version may add.
const IGNORED: [&str; 3] = ["Annotations", "VendorAnnotations", "Terminals"];

const SECTIONS: [&str; 9] = [
    "ModelExchange",
    "CoSimulation",
    "ScheduledExecution",
    "UnitDefinitions",
    "TypeDefinitions",
    "LogCategories",
    "DefaultExperiment",
    "ModelVariables",
    "ModelStructure",
];

/// Everything but the warnings, which the source keeps: as the given dialect, or as the one that its own words say.
pub(in crate::read) fn read(root: Element<'_>, dialect: Option<Abi>) -> Result<ModelDescription, DescriptionError> {
    let survey = dialect::survey(root);
    let dialect = match dialect {
        Some(dialect) => dialect,
        None => survey.verdict()?,
    };
    let vocabulary = if dialect == Abi::Draft { &dialect::DRAFT } else { &dialect::RELEASED };
    let variables = survey.variables.into_iter().map(|element| element.in_words_of(vocabulary)).collect();
    read_as(root.in_words_of(vocabulary), variables)
}

/// `variables`: the elements of `<ModelVariables>`.
fn read_as<'a>(root: Element<'a>, variables: Vec<Element<'a>>) -> Result<ModelDescription, DescriptionError> {
    if root.name() != sections::ROOT {
        return Err(root.error(format!("the root element is <{}>, not <fmiModelDescription>", root.name())));
    }
    let version = version(root.required("fmiVersion")?)?;
    let description =
        sections::root(root, version, root.vocabulary().abi, &ATTRIBUTES, root.attribute("variableNamingConvention"))?;
    let instantiation_token = match (root.attribute("instantiationToken"), root.attribute("guid")) {
        (None, Some(guid)) => {
            root.overlook(guid.error("is of FMI 2.0; FMI 3.0 needs the attribute `instantiationToken`"))?;
            guid.value.to_owned()
        }
        // The draft's own example has none.
        (None, None) if draft::is_draft(root) => {
            root.warn("has no attribute `instantiationToken`: the FMU gets an empty one");
            String::new()
        }
        _ => root.kept_text("instantiationToken")?,
    };
    let sections = Sections::read(root, &SECTIONS, &IGNORED)?;
    let model_exchange = sections.map("ModelExchange", interface::model_exchange)?;
    let co_simulation = sections.map("CoSimulation", interface::co_simulation)?;
    let scheduled_execution = sections.map("ScheduledExecution", interface::scheduled_execution)?;
    let others = model_exchange.is_some() || co_simulation.is_some();
    let scheduled = scheduled_execution.is_some();
    let interfaces: Vec<InterfaceOffer> = scheduled_execution
        .map(InterfaceOffer::ScheduledExecution)
        .into_iter()
        .chain(co_simulation.map(InterfaceOffer::CoSimulation))
        .chain(model_exchange.map(InterfaceOffer::ModelExchange))
        .collect();
    if interfaces.is_empty() && !sections.are_partial() {
        root.kept(Err::<(), _>(root.error("has none of <ModelExchange>, <CoSimulation>, <ScheduledExecution>")))?;
    }
    let units = sections.map("UnitDefinitions", Units::read)?.unwrap_or_default();
    let types = sections.map("TypeDefinitions", |list| TypeDefinitions::read(list, &units))?;
    let types = types.unwrap_or_else(|| TypeDefinitions::none(sections.are_partial()));
    let log_categories = sections.map("LogCategories", sections::log_categories)?.unwrap_or_default();
    let mut default_experiment = sections.map("DefaultExperiment", sections::default_experiment)?.unwrap_or_default();
    let Some(list) = sections.get("ModelVariables") else {
        return Err(root.error("has no <ModelVariables>"));
    };
    let (mut variables, index) = read_variables(list, variables, &types, &units, scheduled, others)?;
    let time = units::time(&units.list, &variables, list)?;
    in_seconds(time.unit(), &mut variables, &mut default_experiment, list)?;
    let structure = match sections.get("ModelStructure") {
        Some(list) => structure::read(list, &variables, &index)?,
        None => {
            root.warn("has no <ModelStructure>");
            ModelStructure::default()
        }
    };
    Ok(ModelDescription {
        instantiation_token,
        copyright: root.text("copyright"),
        license: root.text("license"),
        interfaces,
        units: units.list,
        types: types.list,
        log_categories,
        default_experiment,
        time,
        variables,
        structure,
        index,
        ..description
    })
}

/// `fmiVersion`, if this build can host it.
fn version(attribute: Attribute<'_>) -> Result<&str, DescriptionError> {
    let version = attribute.value.trim_ascii();
    let (numbers, suffix) = match version.split_once('-') {
        Some((numbers, suffix)) => (numbers, Some(suffix)),
        None => (version, None),
    };
    let numbers: Vec<&str> = numbers.split('.').collect();
    let are_numbers = numbers.iter().all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    match numbers[..] {
        ["3", minor] | ["3", minor, _] if are_numbers && suffix != Some("") => {
            match (suffix, draft::is_draft(attribute.element())) {
                (None, _) if minor != "0" => attribute.warn(
                    "is later than the FMI 3.0 that vecud knows: what it adds is ignored, as minor versions allow \
                     (FMI 3.0.2, 2.6)",
                ),
                (None, _) => {}
                (Some(_), false) => {
                    attribute.warn("is a pre-release; its FMUs may not fit the released C interface of FMI 3.0");
                }
                (Some(_), true) => attribute.warn(
                    "is a pre-release of FMI 3.0, read as the draft of January 2021 (after 3.0-alpha.5); FMUs of other \
                     pre-releases may not fit its C interface",
                ),
            }
            Ok(version)
        }
        _ => Err(attribute.error("is no version of FMI that this build of vecud supports (1.0, 2.0 and 3)")),
    }
}

fn read_variables<'a>(
    list: Element<'a>,
    elements: Vec<Element<'a>>,
    types: &TypeDefinitions<'a>,
    units: &Units,
    scheduled_execution: bool,
    others: bool,
) -> Result<(Vec<Variable>, Index), DescriptionError> {
    let (mut variables, elements) = variables::read(list, elements, types, units)?;
    let index = references::check(&mut variables, &elements, types)?;
    match list.vocabulary().abi {
        Abi::Draft => draft::check_types(&variables, &elements, scheduled_execution)?,
        Abi::Fmi3 if scheduled_execution => clocks::check_local(&variables, &elements, others)?,
        Abi::Fmi1 | Abi::Fmi2 | Abi::Fmi3 => {}
    }
    if !variables.iter().any(|variable| variable.causality == Causality::Independent) {
        list.warn("<ModelVariables>: no variable has the causality independent");
    }
    Ok((variables, index))
}

/// Converts times in the FMU's unit of time: intervals and shifts of clocks, and the default experiment.
fn in_seconds(
    unit: TimeUnit,
    variables: &mut [Variable],
    experiment: &mut DefaultExperiment,
    list: Element<'_>,
) -> Result<(), DescriptionError> {
    if unit.is_second() {
        return Ok(());
    }
    for variable in variables {
        let Some(clock) = &mut variable.clock else { continue };
        let convert = |amount| {
            unit.duration(amount).map_err(|error| {
                let what = format!("{amount} units of {} s", unit.seconds().seconds());
                list.error(format!("the clock {:?}: an interval or shift of {what} {error}", variable.name))
            })
        };
        clock.interval = clock.interval.map(convert).transpose()?;
        clock.shift = convert(clock.shift)?;
    }
    sections::in_seconds(unit, experiment);
    Ok(())
}
