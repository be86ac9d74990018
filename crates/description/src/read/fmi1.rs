//! FMI 1.0, for Model Exchange and for Co-Simulation.
//!
//! | FMI 1.0 | here |
//! |---|---|
//! | `guid` | `instantiation_token` |
//! | no `<Implementation>` | Model Exchange, whose steps must be completed |
//! | `<Implementation>` | Co-Simulation; `<CoSimulation_Tool>` needs an execution tool |
//! | `<BaseUnit>` with `<DisplayUnitDefinition>` | a unit; `gain` is the factor of a display unit |
//! | items of an enumeration | values 1, 2, ... |
//! | causality `input`, `output` | the same |
//! | causality `internal`, `none` | local |
//! | variability `constant` | constant, `initial` exact; of an input: local |
//! | variability `parameter`, `start` with `fixed` not false | a fixed parameter, `initial` exact, whatever its causality |
//! | variability `parameter` otherwise | a fixed calculated parameter, `initial` approx with a start value, else calculated |
//! | variability `discrete`, `continuous` | the same; of what is no `Real`, discrete |
//! | `start`, `fixed` not false; input | `initial` exact |
//! | `start`, `fixed` false | `initial` approx |
//! | no `start` | `initial` calculated |
//! | `<DirectDependency>` | the dependencies of an output in the model structure |
//!
//! Time is in seconds, and no variable stands for it. Of variables with the same base type and value reference the others
//! are aliases of the one that says `noAlias`. Left aside: what `<VendorAnnotations>` holds, which belongs to the tools that
//! it names.

use super::scalars::{self, ScalarTypes, ScalarVariable, TypeWords};
use super::sections::{self, Sections};
use crate::model::{
    Abi, Causality, CoSimulation, Dependency, DependencyKind, DescriptionError, Implementation, Index, Initial,
    InterfaceOffer,
};
use crate::model::{
    InterfaceType, ModelDescription, ModelExchange, Unknown, Variability, Variable, VariableKey, VariableType,
};
use crate::units::Units;
use crate::xml::{Element, Vocabulary, for_each};
use std::collections::HashMap;

/// The words of FMI 1.0: no other text's attributes are told apart.
pub(super) static VOCABULARY: Vocabulary = Vocabulary { abi: Abi::Fmi1, particular: 0, home: |_, _| None };

const SECTIONS: [&str; 6] = [
    "UnitDefinitions",
    "TypeDefinitions",
    "DefaultExperiment",
    "VendorAnnotations",
    "ModelVariables",
    "Implementation",
];

const ROOT: [&str; 6] =
    ["guid", "modelIdentifier", "numberOfContinuousStates", "numberOfEventIndicators", "generationTool", "version"];

const TYPES: TypeWords = TypeWords { element: "Type", suffix: "Type", has_values: false };

/// Everything but the warnings, which the source keeps.
pub(super) fn read(root: Element<'_>, version: &str) -> Result<ModelDescription, DescriptionError> {
    let naming = scalars::written(root, "variableNamingConvention");
    let mut description = sections::root(root, version, Abi::Fmi1, &ROOT, naming)?;
    description.instantiation_token = root.kept_text("guid")?;
    description.number_of_continuous_states = root.scalar("numberOfContinuousStates")?;
    description.number_of_event_indicators = root.scalar("numberOfEventIndicators")?;
    for name in ["numberOfContinuousStates", "numberOfEventIndicators"] {
        if root.attribute(name).is_none() {
            root.warn(format!("has no attribute `{name}`"));
        }
    }
    let sections = Sections::read(root, &SECTIONS, &[])?;
    let common = InterfaceType { model_identifier: sections::model_identifier(root)?, ..InterfaceType::default() };
    description.interfaces.push(match sections.get("Implementation") {
        Some(element) => InterfaceOffer::CoSimulation(implementation(element, common)?),
        None => InterfaceOffer::ModelExchange(ModelExchange {
            common,
            needs_completed_integrator_step: true,
            provides_evaluate_discrete_states: false,
        }),
    });
    description.vendor_annotations = sections.map("VendorAnnotations", sections::tools)?.unwrap_or_default();
    let units = sections.map("UnitDefinitions", Units::read_fmi1)?.unwrap_or_default();
    let types = sections.map("TypeDefinitions", |list| ScalarTypes::read(list, &TYPES, &units))?;
    let types = types.unwrap_or_else(|| ScalarTypes::none(sections.are_partial()));
    let experiment = sections.map("DefaultExperiment", sections::default_experiment)?;
    description.default_experiment = experiment.unwrap_or_default();
    if let Some(list) = sections.get("ModelVariables") {
        variables(list, &types, &units, &mut description)?;
    }
    description.units = units.list;
    description.types = types.list;
    Ok(description)
}

/// `<Implementation>`: Co-Simulation, by the FMU itself or by a tool.
fn implementation(element: Element<'_>, common: InterfaceType) -> Result<CoSimulation, DescriptionError> {
    let mut found: Option<CoSimulation> = None;
    for child in element.children() {
        let is_tool = match child.name() {
            "CoSimulation_StandAlone" => false,
            "CoSimulation_Tool" => true,
            _ => {
                child.warn_unknown(element);
                continue;
            }
        };
        if found.is_some() {
            return Err(child.error(format!("{} beside another one in <Implementation>", child.label())));
        }
        found = Some(co_simulation(child, is_tool, common.clone())?);
    }
    found.ok_or_else(|| element.error("<Implementation> has neither <CoSimulation_StandAlone> nor <CoSimulation_Tool>"))
}

fn co_simulation(
    element: Element<'_>,
    is_tool: bool,
    mut common: InterfaceType,
) -> Result<CoSimulation, DescriptionError> {
    const CAPABILITIES: [&str; 9] = [
        "canHandleVariableCommunicationStepSize",
        "canHandleEvents",
        "canRejectSteps",
        "canInterpolateInputs",
        "maxOutputDerivativeOrder",
        "canRunAsynchronuously",
        "canSignalEvents",
        "canBeInstantiatedOnlyOncePerProcess",
        "canNotUseMemoryManagementFunctions",
    ];
    common.needs_execution_tool = is_tool;
    let mut own = CoSimulation::default();
    let mut model = None;
    for child in element.children() {
        match child.name() {
            "Capabilities" => {
                child.warn_of_unknown_attributes(&[&CAPABILITIES]);
                own.can_handle_variable_communication_step_size =
                    child.flag("canHandleVariableCommunicationStepSize")?;
                own.can_handle_events = child.flag("canHandleEvents")?;
                own.can_reject_steps = child.flag("canRejectSteps")?;
                own.can_interpolate_inputs = child.flag("canInterpolateInputs")?;
                own.max_output_derivative_order = child.scalar("maxOutputDerivativeOrder")?.unwrap_or(0);
                own.can_run_asynchronously = child.flag("canRunAsynchronuously")?;
                own.can_signal_events = child.flag("canSignalEvents")?;
                common.can_be_instantiated_only_once_per_process = child.flag("canBeInstantiatedOnlyOncePerProcess")?;
                common.can_not_use_memory_management_functions = child.flag("canNotUseMemoryManagementFunctions")?;
            }
            "Model" if is_tool => {
                child.warn_of_unknown_attributes(&[&["entryPoint", "manualStart", "type"]]);
                let mut files = Vec::new();
                for file in child.children() {
                    match file.name() {
                        "File" => files.push(file.required("file")?.value.to_owned()),
                        _ => file.warn_unknown(child),
                    }
                }
                model = Some(Implementation {
                    entry_point: child.required("entryPoint")?.value.to_owned(),
                    manual_start: child.flag("manualStart")?,
                    mime_type: child.required("type")?.value.to_owned(),
                    files,
                });
            }
            _ => child.warn_unknown(element),
        }
    }
    if is_tool && model.is_none() {
        return Err(element.error("<CoSimulation_Tool> has no <Model>"));
    }
    own.tool = model;
    own.common = common;
    Ok(own)
}

/// The variables with their index, and the dependencies of outputs.
fn variables<'a>(
    list: Element<'a>,
    types: &ScalarTypes<'a>,
    units: &Units,
    description: &mut ModelDescription,
) -> Result<(), DescriptionError> {
    let (mut variables, mut elements, mut negated, mut is_alias) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for_each(list.children(), |element| {
        if element.name() != "ScalarVariable" {
            element.warn_unknown(list);
            return Ok(());
        }
        let variable = variable(element, types, units)?;
        if variable.value_reference.is_negated() {
            let reference = element.required("valueReference")?;
            return Err(reference.error("is too large: references of FMI 1.0 are taken up to 2^31 - 1"));
        }
        variables.push(variable);
        let alias = match scalars::written(element, "alias") {
            Some(attribute) => attribute.choice(&ALIASES)?,
            None => None,
        };
        is_alias.push(alias.is_some());
        negated.push(alias == Some(true));
        elements.push(element);
        Ok(())
    })?;
    let index = scalars::index(&mut variables, &elements)?;
    // The one that says `noAlias`, by the first variable with its reference.
    let mut roots = HashMap::new();
    for (position, variable) in variables.iter().enumerate() {
        let key = (variable.variable_type, variable.value_reference);
        if !is_alias[position]
            && let Some(first) = index.by_reference(&variables, key)
        {
            roots.entry(first).or_insert(position);
        }
    }
    scalars::join_aliases(&mut variables, &index, |first| roots.get(&first).copied().unwrap_or(first), &negated);
    for (position, &element) in elements.iter().enumerate() {
        if is_alias[position] && variables[position].alias_of.is_none() {
            element.warn(format!("{}: an alias of no other variable", element.label()));
        }
    }
    for (variable, &element) in variables.iter().zip(&elements) {
        let direct = element.children().find(|child| child.name() == "DirectDependency");
        if variable.causality != Causality::Output {
            if let Some(direct) = direct {
                direct.warn(format!("{}: a <DirectDependency> of what is no output", element.label()));
            }
            continue;
        }
        let own = VariableKey::from((variable.variable_type, variable.value_reference));
        let Some(direct) = direct else {
            description.structure.outputs.push(Unknown { variable: own, dependencies: None });
            continue;
        };
        let mut dependencies = Vec::new();
        for name in direct.children() {
            if name.name() != "Name" {
                name.warn_unknown(direct);
                continue;
            }
            let text = name.content().trim_ascii();
            let Some(position) = index.by_name(&variables, text) else {
                let unknown = format!("{}: depends on {text:?}, which no variable is called", element.label());
                name.overlook(name.error(unknown))?;
                continue;
            };
            let on = VariableKey::from((variables[position].variable_type, variables[position].value_reference));
            dependencies.push(Dependency { on, kind: DependencyKind::Dependent });
        }
        description.structure.outputs.push(Unknown { variable: own, dependencies: Some(dependencies) });
    }
    for ((variable, &element), _) in variables.iter_mut().zip(&elements).zip(negated).filter(|(_, negated)| *negated) {
        let has_sign =
            matches!(variable.variable_type, VariableType::Float64 | VariableType::Int32 | VariableType::Boolean);
        match variable.value_reference.negated().filter(|_| has_sign) {
            Some(reference) => variable.value_reference = reference,
            None => element.warn(format!("{}: there is no opposite of it: taken for an alias", element.label())),
        }
    }
    // Negated aliases have references of their own now.
    description.index = Index::of(&variables);
    description.variables = variables;
    Ok(())
}

/// `alias`: whether it has the opposite sign.
const ALIASES: [(&str, Option<bool>); 3] = [("noAlias", None), ("alias", Some(false)), ("negatedAlias", Some(true))];

/// `causality` of FMI 1.0.
const CAUSALITIES: [(&str, Causality); 4] = [
    ("input", Causality::Input),
    ("output", Causality::Output),
    ("internal", Causality::Local),
    ("none", Causality::Local),
];

/// `variability` of FMI 1.0.
const VARIABILITIES: [(&str, Variability); 4] = [
    ("constant", Variability::Constant),
    ("parameter", Variability::Fixed),
    ("discrete", Variability::Discrete),
    ("continuous", Variability::Continuous),
];

fn variable<'a>(element: Element<'a>, types: &ScalarTypes<'a>, units: &Units) -> Result<Variable, DescriptionError> {
    let known = ["causality", "variability", "alias"];
    let ScalarVariable { mut variable, own } =
        scalars::read(element, &known, &["fixed"], &["DirectDependency"], types, units)?;
    let causality =
        scalars::written(element, "causality").map(|attribute| attribute.choice(&CAUSALITIES)).transpose()?;
    let variability =
        scalars::written(element, "variability").map(|attribute| attribute.choice(&VARIABILITIES)).transpose()?;
    let fixed: Option<bool> = own.scalar("fixed")?;
    if fixed.is_some() && variable.start.is_none() {
        own.warn(format!("{}: `fixed` without a start value", element.label()));
    }
    let from_start = match (&variable.start, fixed) {
        (None, _) => Initial::Calculated,
        (Some(_), Some(false)) => Initial::Approx,
        (Some(_), _) => Initial::Exact,
    };
    let causality = causality.unwrap_or(Causality::Local);
    let variability = variability.unwrap_or(Variability::Continuous);
    (variable.causality, variable.variability, variable.initial) = match variability {
        Variability::Constant => {
            let causality = if causality == Causality::Input { Causality::Local } else { causality };
            (causality, Variability::Constant, Some(Initial::Exact))
        }
        Variability::Fixed if from_start == Initial::Exact => {
            (Causality::Parameter, Variability::Fixed, Some(Initial::Exact))
        }
        Variability::Fixed => (Causality::CalculatedParameter, Variability::Fixed, Some(from_start)),
        other => {
            let is_real = variable.variable_type == VariableType::Float64;
            let initial = if causality == Causality::Input { Initial::Exact } else { from_start };
            (causality, if is_real { other } else { Variability::Discrete }, Some(initial))
        }
    };
    Ok(variable)
}
