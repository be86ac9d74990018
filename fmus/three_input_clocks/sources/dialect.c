/* The released dialect (FMI 3.0, 3.0.1, 3.0.2). It has no time for a tick and no elements of clocks: OutClock ticks at the
 * activation time of the 10 ms partition, as far as the importer knows. */

#include "model.h"
#include <stdlib.h>

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    (void)resourcePath, (void)visible;
    struct model *model = calloc(1, sizeof *model);
    if (!model) return NULL;
    if (!fmu_base_init(&model->base, "{vecud-three-input-clocks-1}", instanceName, instantiationToken, loggingOn,
                       instanceEnvironment, logMessage, clockUpdate, lockPreemption, unlockPreemption) ||
        !model_create(model)) {
        free(model);
        return NULL;
    }
    model_note(model, TRACE_INSTANTIATE, TRACE_NOTE, NO_CLOCK, 0, 0.0);
    return model;
}

void dialect_ticked(struct model *model, double time)
{
    (void)time;
    model->base.clock_update(model->base.environment);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
                                      fmi3Float64 activationTime)
{
    return model_activate(instance, clockReference, activationTime);
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Clock values[])
{
    return model_get_clock(instance, valueReferences, nValueReferences, values);
}
