//! `<ModelExchange>`, `<CoSimulation>`, `<ScheduledExecution>`: identifiers and capability flags (FMI 3.0, 2.4.2, 3.4,
//! 4.4, 5.4). A model identifier can be the name of a file, so it is safe in a path.

use crate::model::{CoSimulation, DescriptionError, InterfaceType, ModelExchange};
use crate::read::{draft, sections};
use crate::xml::Element;

const COMMON: [&str; 8] = [
    "modelIdentifier",
    "needsExecutionTool",
    "canBeInstantiatedOnlyOncePerProcess",
    "canGetAndSetFMUState",
    "canSerializeFMUState",
    "providesDirectionalDerivatives",
    "providesAdjointDerivatives",
    "providesPerElementDependencies",
];

fn common(element: Element<'_>, more: &[&str]) -> Result<InterfaceType, DescriptionError> {
    element.warn_of_unknown_attributes(&[&COMMON, more]);
    for child in element.children().filter(|child| child.name() != "Annotations") {
        child.warn_unknown(element);
    }
    let mut common = InterfaceType {
        model_identifier: sections::model_identifier(element)?,
        needs_execution_tool: element.flag("needsExecutionTool")?,
        can_be_instantiated_only_once_per_process: element.flag("canBeInstantiatedOnlyOncePerProcess")?,
        can_get_and_set_fmu_state: element.flag("canGetAndSetFMUState")?,
        can_serialize_fmu_state: element.flag("canSerializeFMUState")?,
        provides_directional_derivatives: element.flag("providesDirectionalDerivatives")?,
        provides_adjoint_derivatives: element.flag("providesAdjointDerivatives")?,
        provides_per_element_dependencies: element.flag("providesPerElementDependencies")?,
        ..InterfaceType::default()
    };
    if common.can_serialize_fmu_state && !common.can_get_and_set_fmu_state {
        if let Some(flag) = element.attribute("canGetAndSetFMUState") {
            flag.warn("contradicts canSerializeFMUState, which implies it: taken as true");
        }
        common.can_get_and_set_fmu_state = true;
    }
    Ok(common)
}

pub(super) fn model_exchange(element: Element<'_>) -> Result<ModelExchange, DescriptionError> {
    const MORE: [&str; 3] =
        ["needsCompletedIntegratorStep", "completedIntegratorStepNotNeeded", "providesEvaluateDiscreteStates"];
    Ok(ModelExchange {
        common: common(element, &MORE)?,
        // The draft asks the other way round.
        needs_completed_integrator_step: match draft::is_draft(element) {
            true => !element.flag("completedIntegratorStepNotNeeded")?,
            false => element.flag("needsCompletedIntegratorStep")?,
        },
        provides_evaluate_discrete_states: element.flag("providesEvaluateDiscreteStates")?,
    })
}

pub(super) fn co_simulation(element: Element<'_>) -> Result<CoSimulation, DescriptionError> {
    const MORE: [&str; 9] = [
        "canHandleVariableCommunicationStepSize",
        "fixedInternalStepSize",
        "maxOutputDerivativeOrder",
        "recommendedIntermediateInputSmoothness",
        "providesIntermediateUpdate",
        "mightReturnEarlyFromDoStep",
        "canReturnEarlyAfterIntermediateUpdate",
        "hasEventMode",
        "providesEvaluateDiscreteStates",
    ];
    let own = CoSimulation {
        common: common(element, &MORE)?,
        max_output_derivative_order: element.scalar("maxOutputDerivativeOrder")?.unwrap_or(0),
        provides_intermediate_update: element.flag("providesIntermediateUpdate")?,
        might_return_early_from_do_step: element.flag("mightReturnEarlyFromDoStep")?,
        can_return_early_after_intermediate_update: element.flag("canReturnEarlyAfterIntermediateUpdate")?,
        can_handle_variable_communication_step_size: element.flag("canHandleVariableCommunicationStepSize")?,
        fixed_internal_step_size: element.scalar("fixedInternalStepSize")?,
        recommended_intermediate_input_smoothness: element
            .scalar("recommendedIntermediateInputSmoothness")?
            .unwrap_or(0),
        has_event_mode: element.flag("hasEventMode")?,
        provides_evaluate_discrete_states: element.flag("providesEvaluateDiscreteStates")?,
        ..CoSimulation::default()
    };
    let odd = |name: &str, why: &str| element.attribute(name).into_iter().for_each(|attribute| attribute.warn(why));
    if own.fixed_internal_step_size.is_some_and(|step| step.is_nan() || step <= 0.0) {
        odd("fixedInternalStepSize", "is no length of a step: it must be above 0");
    }
    if own.can_return_early_after_intermediate_update && !own.provides_intermediate_update {
        odd("canReturnEarlyAfterIntermediateUpdate", "needs providesIntermediateUpdate, which is false");
    }
    Ok(own)
}

pub(super) fn scheduled_execution(element: Element<'_>) -> Result<InterfaceType, DescriptionError> {
    common(element, if draft::is_draft(element) { &draft::SCHEDULED_EXECUTION } else { &[] })
}
