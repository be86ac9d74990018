/* Co-Simulation for a model that has `model_step` (see fmi3_model.h); the same file in every FMU that has it.
 *
 * A step must begin where the one before has ended: an importer that leaves time out, or does it twice, is refused. */

#include "fmi3_model.h"
#include <math.h>
#include <stdlib.h>

static void no_clock_update(fmi3InstanceEnvironment environment)
{
    (void)environment;
}

static void no_lock(void)
{
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instanceName, fmi3String instantiationToken,
                                         fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                         fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed,
                                         const fmi3ValueReference requiredIntermediateVariables[],
                                         size_t nRequiredIntermediateVariables,
                                         fmi3InstanceEnvironment instanceEnvironment,
                                         fmi3LogMessageCallback logMessage,
                                         fmi3IntermediateUpdateCallback intermediateUpdate)
{
    (void)resourcePath, (void)visible, (void)eventModeUsed, (void)earlyReturnAllowed;
    struct fmu_base *base = calloc(1, model_size);
    if (!base) return NULL;
    if (!fmu_base_init(base, model_token, instanceName, instantiationToken, loggingOn, instanceEnvironment, logMessage,
                       no_clock_update, no_lock, no_lock)) {
        free(base);
        return NULL;
    }
    model_set_start_values(base);
    model_is_told(base, requiredIntermediateVariables, nRequiredIntermediateVariables, intermediateUpdate);
    return base;
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 currentCommunicationPoint, fmi3Float64 communicationStepSize,
                      fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *eventHandlingNeeded,
                      fmi3Boolean *terminateSimulation, fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime)
{
    (void)noSetFMUStatePriorToCurrentPoint;
    struct fmu_base *base = instance;
    if (base->state != FMU_CLOCK_ACTIVATION)
        return fmu_log(base, fmi3Error, "fmi3DoStep: this call is not allowed in the present state.");
    double point = currentCommunicationPoint, size = communicationStepSize;
    if (!(size > 0.0) || fabs(point - base->start_time) > 1e-9 * (1.0 + fabs(point))) {
        base->state = FMU_FAILED;
        return fmu_log(base, fmi3Error, "fmi3DoStep: a step of %.17g begins at %.17g, and the one before has ended at %.17g.",
                       size, point, base->start_time);
    }
    struct fmu_step step = {.point = point, .size = size, .reached = point + size};
    fmi3Status status = model_step(base, &step);
    if (status <= fmi3Warning) base->start_time = step.reached;
    *eventHandlingNeeded = step.event;
    *terminateSimulation = step.terminate;
    *earlyReturn = step.early;
    *lastSuccessfulTime = step.said;
    if (!step.lies) *lastSuccessfulTime = step.reached;
    if (status >= fmi3Error) base->state = FMU_FAILED;
    return status;
}

/* Most models have no intermediate updates. */
__attribute__((weak)) void model_is_told(void *model, const fmi3ValueReference required[], size_t n,
                                         fmi3IntermediateUpdateCallback update)
{
    (void)model, (void)required, (void)n, (void)update;
}

/* Such a model has no partitions. */
__attribute__((weak)) void model_activate(void *model, fmi3ValueReference clock, double time)
{
    (void)model, (void)clock, (void)time;
}
