/* An FMU that does nothing: what remains of a run of it is the importer's own time. Every function that a run calls returns
 * fmi3OK and touches nothing; fmi3_base.c, of the example FMUs, has all others. */

#include "fmi3_base.h"
#include <stdlib.h>

#define NOTHING(function, ...)                                                                                        \
    fmi3Status function(fmi3Instance instance, __VA_ARGS__)                                                           \
    {                                                                                                                 \
        return fmi3OK;                                                                                                \
    }
#define NOTHING_PLAIN(function)                                                                                       \
    fmi3Status function(fmi3Instance instance)                                                                        \
    {                                                                                                                 \
        return fmi3OK;                                                                                                \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage,
                                               fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    struct fmu_base *base = calloc(1, sizeof *base);
    if (base && !fmu_base_init(base, "{vecud-idle}", instanceName, instantiationToken, loggingOn, instanceEnvironment,
                               logMessage, clockUpdate, lockPreemption, unlockPreemption)) {
        free(base);
        return NULL;
    }
    return base;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    fmu_base_release(instance);
    free(instance);
}

NOTHING(fmi3EnterInitializationMode, fmi3Boolean toleranceDefined, fmi3Float64 tolerance, fmi3Float64 startTime,
        fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
NOTHING_PLAIN(fmi3ExitInitializationMode)
NOTHING_PLAIN(fmi3Terminate)
NOTHING(fmi3SetFloat64, const fmi3ValueReference *references, size_t n, const fmi3Float64 *values, size_t n_values)

#ifdef CHANGING
/* Each value is another one in each activation, of as many digits as there can be. */
fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference *references, size_t n, fmi3Float64 *values,
                          size_t n_values)
{
    static unsigned long long state = 1;
    for (size_t i = 0; i < n_values; i++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        values[i] = (double)(state >> 11) / (double)(1ULL << 53);
    }
    return fmi3OK;
}
#else
NOTHING(fmi3GetFloat64, const fmi3ValueReference *references, size_t n, fmi3Float64 *values, size_t n_values)
#endif
NOTHING(fmi3ActivateModelPartition, fmi3ValueReference clockReference, fmi3Float64 activationTime)
