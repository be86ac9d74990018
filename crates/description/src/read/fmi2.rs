//! FMI 2.0 (with 2.0.1 to 2.0.5).
//!
//! Positions in the list of variables (`derivative`, `<Unknown>`, `dependencies`), which count from 1, are keys of
//! variables when this has read them.
//!
//! | FMI 2.0 | here |
//! |---|---|
//! | `guid` | `instantiation_token` |
//! | `completedIntegratorStepNotNeeded` | the contrary of `needs_completed_integrator_step` |
//! | `providesDirectionalDerivative` | `provides_directional_derivatives` |
//! | `canGetAndSetFMUstate`, `canSerializeFMUstate` | the same of FMI 3.0 |
//! | `<Derivatives>` | `continuous_state_derivatives` |
//! | no `variability` | continuous, of what is no `Real` discrete, of parameters fixed (with a warning) |
//!
//! Aliases are later variables of the same base type and value reference (2.2.7). Left aside: what `<VendorAnnotations>`
//! and `<Annotations>` hold, which belongs to the tools that they name.
//!
//! Errors are what makes a description ambiguous or useless: names or types given twice or missing, positions that no
//! variable has, causality and variability that contradict each other. A start value, a unit or an output of the structure
//! that is missing is a warning.

use super::dependencies;
use super::scalars::{self, ScalarTypes, ScalarVariable, TypeWords};
use super::sections::{self, Sections};
use crate::model::{
    Abi, Causality, CoSimulation, Dependency, DependencyKind, DescriptionError, InterfaceOffer, InterfaceType,
    ModelDescription, VariableKey, VariableType,
};
use crate::model::{ModelExchange, ModelStructure, SourceFile, Unknown, Variability, Variable};
use crate::rules;
use crate::units::{self, Units};
use crate::xml::{Attribute, Element, Vocabulary, for_each};
use std::collections::HashSet;

/// The words of FMI 2.0: no other text's attributes are told apart.
pub(super) static VOCABULARY: Vocabulary = Vocabulary { abi: Abi::Fmi2, particular: 0, home: |_, _| None };

const SECTIONS: [&str; 9] = [
    "ModelExchange",
    "CoSimulation",
    "UnitDefinitions",
    "TypeDefinitions",
    "LogCategories",
    "DefaultExperiment",
    "VendorAnnotations",
    "ModelVariables",
    "ModelStructure",
];

const ROOT: [&str; 6] = ["guid", "copyright", "license", "numberOfEventIndicators", "generationTool", "version"];

const TYPES: TypeWords = TypeWords { element: "SimpleType", suffix: "", has_values: true };

/// Everything but the warnings, which the source keeps.
pub(super) fn read(root: Element<'_>, version: &str) -> Result<ModelDescription, DescriptionError> {
    let naming = scalars::written(root, "variableNamingConvention");
    let mut description = sections::root(root, version, Abi::Fmi2, &ROOT, naming)?;
    description.instantiation_token = root.kept_text("guid")?;
    description.copyright = root.text("copyright");
    description.license = root.text("license");
    description.number_of_event_indicators = scalars::scalar(root, "numberOfEventIndicators")?;
    let sections = Sections::read(root, &SECTIONS, &[])?;
    let co_simulation = sections.map("CoSimulation", co_simulation)?;
    let model_exchange = sections.map("ModelExchange", model_exchange)?;
    description.interfaces.extend(co_simulation.map(InterfaceOffer::CoSimulation));
    description.interfaces.extend(model_exchange.map(InterfaceOffer::ModelExchange));
    if description.interfaces.is_empty() && !sections.are_partial() {
        root.kept(Err::<(), _>(root.error("has neither <ModelExchange> nor <CoSimulation>")))?;
    }
    description.vendor_annotations = sections.map("VendorAnnotations", sections::tools)?.unwrap_or_default();
    let units = sections.map("UnitDefinitions", Units::read)?.unwrap_or_default();
    let types = sections.map("TypeDefinitions", |list| ScalarTypes::read(list, &TYPES, &units))?;
    let types = types.unwrap_or_else(|| ScalarTypes::none(sections.are_partial()));
    description.log_categories = sections.map("LogCategories", sections::log_categories)?.unwrap_or_default();
    let experiment = sections.map("DefaultExperiment", sections::default_experiment)?;
    description.default_experiment = experiment.unwrap_or_default();
    let Some(list) = sections.get("ModelVariables") else {
        return Err(root.error("has no <ModelVariables>"));
    };
    let (mut variables, elements) = variables(list, &types, &units)?;
    description.index = scalars::index(&mut variables, &elements)?;
    scalars::join_aliases(&mut variables, &description.index, |first| first, &[]);
    description.time = units::time(&units.list, &variables, list)?;
    sections::in_seconds(description.time.unit(), &mut description.default_experiment);
    description.structure = match sections.get("ModelStructure") {
        Some(list) => structure(list, &variables)?,
        None => {
            root.warn("has no <ModelStructure>");
            ModelStructure::default()
        }
    };
    description.units = units.list;
    description.types = types.list;
    description.variables = variables;
    Ok(description)
}

const COMMON: [&str; 7] = [
    "modelIdentifier",
    "needsExecutionTool",
    "canBeInstantiatedOnlyOncePerProcess",
    "canNotUseMemoryManagementFunctions",
    "canGetAndSetFMUstate",
    "canSerializeFMUstate",
    "providesDirectionalDerivative",
];

fn common(element: Element<'_>, more: &[&str]) -> Result<InterfaceType, DescriptionError> {
    element.warn_of_unknown_attributes(&[&COMMON, more]);
    let mut source_files = Vec::new();
    for child in element.children() {
        if child.name() != "SourceFiles" {
            child.warn_unknown(element);
            continue;
        }
        for file in child.children() {
            match file.name() {
                "File" => {
                    file.warn_of_unknown_attributes(&[&["name"]]);
                    source_files.push(SourceFile { name: file.unique_name()?.to_owned(), at: file.place() });
                }
                _ => file.warn_unknown(child),
            }
        }
    }
    let serializes = scalars::flag(element, "canSerializeFMUstate")?;
    let mut has_states = scalars::flag(element, "canGetAndSetFMUstate")?;
    if serializes && !has_states {
        if let Some(flag) = element.attribute("canGetAndSetFMUstate") {
            flag.warn("contradicts canSerializeFMUstate, which implies it: taken as true");
        }
        has_states = true;
    }
    Ok(InterfaceType {
        model_identifier: sections::model_identifier(element)?,
        needs_execution_tool: scalars::flag(element, "needsExecutionTool")?,
        can_be_instantiated_only_once_per_process: scalars::flag(element, "canBeInstantiatedOnlyOncePerProcess")?,
        can_not_use_memory_management_functions: scalars::flag(element, "canNotUseMemoryManagementFunctions")?,
        can_get_and_set_fmu_state: has_states,
        can_serialize_fmu_state: serializes,
        provides_directional_derivatives: scalars::flag(element, "providesDirectionalDerivative")?,
        source_files,
        ..InterfaceType::default()
    })
}

fn model_exchange(element: Element<'_>) -> Result<ModelExchange, DescriptionError> {
    Ok(ModelExchange {
        common: common(element, &["completedIntegratorStepNotNeeded"])?,
        needs_completed_integrator_step: !scalars::flag(element, "completedIntegratorStepNotNeeded")?,
        provides_evaluate_discrete_states: false,
    })
}

fn co_simulation(element: Element<'_>) -> Result<CoSimulation, DescriptionError> {
    const MORE: [&str; 4] = [
        "canHandleVariableCommunicationStepSize",
        "canInterpolateInputs",
        "maxOutputDerivativeOrder",
        "canRunAsynchronuously",
    ];
    Ok(CoSimulation {
        common: common(element, &MORE)?,
        can_handle_variable_communication_step_size: scalars::flag(element, "canHandleVariableCommunicationStepSize")?,
        can_interpolate_inputs: scalars::flag(element, "canInterpolateInputs")?,
        max_output_derivative_order: scalars::scalar(element, "maxOutputDerivativeOrder")?.unwrap_or(0),
        can_run_asynchronously: scalars::flag(element, "canRunAsynchronuously")?,
        ..CoSimulation::default()
    })
}

/// The variables, and the element of each.
fn variables<'a>(
    list: Element<'a>,
    types: &ScalarTypes<'a>,
    units: &Units,
) -> Result<(Vec<Variable>, Vec<Element<'a>>), DescriptionError> {
    let (mut variables, mut elements, mut derivatives) = (Vec::new(), Vec::new(), Vec::new());
    let mut independent: Option<u32> = None;
    for_each(list.children(), |element| {
        if element.name() != "ScalarVariable" {
            element.warn_unknown(list);
            return Ok(());
        }
        let variable = variable(element, types, units, &mut derivatives, variables.len())?;
        if variable.causality == Causality::Independent
            && let Some(line) = independent.replace(variable.line)
        {
            return Err(element.error(format!("{}: line {line} has the independent variable already", element.label())));
        }
        variables.push(variable);
        elements.push(element);
        Ok(())
    })?;
    for (position, attribute) in derivatives {
        let own = at(attribute, attribute.scalar()?, &variables)?;
        let state = &variables[own];
        if own == position {
            attribute.warn("names the variable itself");
        }
        if state.variable_type != VariableType::Float64 {
            return Err(attribute.error(format!("names {:?} (line {}), which is no <Real>", state.name, state.line)));
        }
        variables[position].derivative = Some(state.value_reference);
    }
    let states: HashSet<_> = variables.iter().filter_map(|variable| variable.derivative).collect();
    for (variable, element) in variables.iter().zip(&elements) {
        if variable.reinit && !states.contains(&variable.value_reference) {
            element
                .warn(format!("{}: `reinit` belongs only to states: no variable is its `derivative`", element.label()));
        }
    }
    Ok((variables, elements))
}

/// The index of the variable with a number, counted from 1.
fn at(attribute: Attribute<'_>, number: u32, variables: &[Variable]) -> Result<usize, DescriptionError> {
    match (number as usize).checked_sub(1) {
        Some(position) if position < variables.len() => Ok(position),
        _ => Err(attribute.error(format!("names variable {number} of {}", variables.len()))),
    }
}

/// One variable; its `derivative` goes to a list for when all variables are known.
fn variable<'a>(
    element: Element<'a>,
    types: &ScalarTypes<'a>,
    units: &Units,
    derivatives: &mut Vec<(usize, Attribute<'a>)>,
    position: usize,
) -> Result<Variable, DescriptionError> {
    const KNOWN: [&str; 4] = ["causality", "variability", "initial", "canHandleMultipleSetPerTimeInstant"];
    let ScalarVariable { mut variable, own } =
        scalars::read(element, &KNOWN, &["derivative", "reinit"], &["Annotations"], types, units)?;
    if let Some(attribute) = scalars::written(element, "causality") {
        // The structural parameters of FMI 3.0 are not among them.
        variable.causality = attribute.choice(&rules::CAUSALITIES[1..])?;
    }
    variable.variability = variability(element, &variable)?;
    let words = (
        rules::word(&rules::CAUSALITIES, variable.causality),
        rules::word(&rules::VARIABILITIES, variable.variability),
    );
    if let Some(why) = rules::objection(variable.causality, variable.variability) {
        let message = format!("{}: causality {} with variability {}: {why}", element.label(), words.0, words.1);
        return Err(element.error(message));
    }
    if variable.causality == Causality::Independent && variable.variable_type != VariableType::Float64 {
        return Err(element.error(format!("{}: the independent variable is a <Real>", element.label())));
    }
    let allowed = rules::initials(variable.causality, variable.variability);
    variable.initial = allowed.first().copied();
    if let Some(attribute) = scalars::written(element, "initial") {
        let initial = attribute.choice(&rules::INITIALS)?;
        if allowed.contains(&initial) {
            variable.initial = Some(initial);
        } else {
            attribute
                .warn(format!("does not go with causality {} and variability {} and is ignored", words.0, words.1));
        }
    }
    match (&variable.start, scalars::needs_start(variable.initial)) {
        (None, true) => element.warn(format!("{}: a start value is missing", element.label())),
        (Some(_), false) => {
            element.warn(format!("{}: a start value, although `initial` is calculated", element.label()));
        }
        _ => {}
    }
    if let Some(can) = element.scalar("canHandleMultipleSetPerTimeInstant")? {
        variable.can_handle_multiple_set_per_time_instant = can;
    }
    if variable.variable_type == VariableType::Float64 {
        derivatives.extend(scalars::written(own, "derivative").map(|attribute| (position, attribute)));
        variable.reinit = scalars::flag(own, "reinit")?;
    }
    Ok(variable)
}

/// `variability`: the standard's default, continuous, fits neither parameters nor what is no `Real`.
fn variability(element: Element<'_>, variable: &Variable) -> Result<Variability, DescriptionError> {
    let written = scalars::written(element, "variability");
    let default = rules::default_variability(variable.causality, variable.variable_type);
    match written.map(|attribute| attribute.choice(&rules::VARIABILITIES)).transpose()? {
        None => {
            if default == Variability::Fixed {
                element.warn(format!("{}: a parameter without `variability`, taken as fixed", element.label()));
            }
            Ok(default)
        }
        Some(Variability::Continuous) if variable.variable_type != VariableType::Float64 => {
            if let Some(attribute) = written {
                attribute
                    .warn(format!("is for <Real> alone: taken as {}", rules::word(&rules::VARIABILITIES, default)));
            }
            Ok(default)
        }
        Some(variability) => Ok(variability),
    }
}

fn structure(list: Element<'_>, variables: &[Variable]) -> Result<ModelStructure, DescriptionError> {
    let mut found = ModelStructure::default();
    let mut is_listed = vec![false; variables.len()];
    for_each(list.children(), |group| {
        let target = match group.name() {
            "Outputs" => &mut found.outputs,
            "Derivatives" => &mut found.continuous_state_derivatives,
            "InitialUnknowns" => &mut found.initial_unknowns,
            _ => {
                group.warn_unknown(list);
                return Ok(());
            }
        };
        let mut listed = HashSet::new();
        for_each(group.children(), |element| {
            if element.name() != "Unknown" {
                element.warn_unknown(group);
                return Ok(());
            }
            let Some((unknown, position)) = unknown(element, variables)? else { return Ok(()) };
            let variable = &variables[position];
            if !listed.insert(position) {
                element.warn(format!("<{}> lists {:?} twice", group.name(), variable.name));
            }
            match group.name() {
                "Outputs" => {
                    is_listed[position] = true;
                    if variable.causality != Causality::Output {
                        element.warn(format!("<Outputs> lists {:?}, which is no output", variable.name));
                    }
                }
                "Derivatives" if variable.derivative.is_none() => {
                    let (name, line) = (&variable.name, variable.line);
                    element.warn(format!(
                        "<Derivatives> lists {name:?} (line {line}), which has no attribute `derivative`"
                    ));
                }
                _ => {}
            }
            target.push(unknown);
            Ok(())
        })
    })?;
    for (variable, is_listed) in variables.iter().zip(is_listed) {
        if variable.causality == Causality::Output && !is_listed {
            list.warn(format!("<ModelStructure>: output {:?} (line {}) is not listed", variable.name, variable.line));
        }
    }
    Ok(found)
}

/// An entry, and where its variable stands; `None`: nowhere, where every error is wanted.
fn unknown(element: Element<'_>, variables: &[Variable]) -> Result<Option<(Unknown, usize)>, DescriptionError> {
    element.warn_of_unknown_attributes(&[&["index", "dependencies", "dependenciesKind"]]);
    let position = element.required("index").and_then(|index| at(index, index.scalar()?, variables));
    let position = element.kept(position)?;
    let key =
        |position: usize| VariableKey::from((variables[position].variable_type, variables[position].value_reference));
    let dependencies = match element.attribute("dependencies") {
        None => {
            dependencies::kinds(element, None)?;
            None
        }
        Some(attribute) => {
            let numbers: Vec<u32> = attribute.list()?;
            // Such lists are of use to no importer of today, and generators miscount them.
            let kinds = dependencies::kinds(element, Some(numbers.len())).unwrap_or_else(|wrong| {
                element.warn(format!("{}: taken as dependent", wrong.message));
                vec![DependencyKind::Dependent; numbers.len()]
            });
            let mut all = Vec::with_capacity(numbers.len());
            for (number, kind) in numbers.into_iter().zip(kinds) {
                all.push(Dependency { on: key(at(attribute, number, variables)?), kind });
            }
            Some(all)
        }
    };
    Ok(position.map(|position| (Unknown { variable: key(position), dependencies }, position)))
}
