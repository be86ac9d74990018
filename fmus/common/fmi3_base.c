/* What every example FMU repeats; the same file in each of them (see fmi3_base.h).
 *
 * An FMU must export every function of fmi3Functions.h, also those that it does not support. Here each of them has a
 * weak definition that logs, and returns fmi3Error (NULL for an instance). The FMU's own definition, where there is
 * one, takes its place when the library is linked. */

#include "fmi3_base.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_STATUSES 0x1fu
/* Without debug logging warnings and errors are logged. */
#define WITHOUT_DEBUG (ALL_STATUSES & ~(1u << fmi3OK))

static const char *const categories_of_status[] = {"logEvents", "logStatusWarning", "logStatusDiscard",
                                                   "logStatusError", "logStatusFatal"};

/* ---- Instances ---- */

static bool refuse(fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message, const char *why)
{
    if (log_message) log_message(environment, fmi3Error, "logStatusError", why);
    return false;
}

bool fmu_base_init(struct fmu_base *base, const char *expected_token, fmi3String name, fmi3String token,
                   bool logging_on, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message,
                   fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock_preemption,
                   fmi3UnlockPreemptionCallback unlock_preemption)
{
    if (!name || !*name) return refuse(environment, log_message, "The instance name is missing.");
    if (!token || strcmp(token, expected_token) != 0)
        return refuse(environment, log_message,
                      "The instantiation token does not match: this binary belongs to another modelDescription.xml.");
    if (!clock_update) return refuse(environment, log_message, "The callback clockUpdate is missing.");
    if (!lock_preemption || !unlock_preemption)
        return refuse(environment, log_message, "The callbacks lockPreemption and unlockPreemption are missing.");

    base->name = strdup(name);
    base->environment = environment;
    base->log_message = log_message;
    base->clock_update = clock_update;
    base->lock_preemption = lock_preemption;
    base->unlock_preemption = unlock_preemption;
    base->logged = logging_on ? ALL_STATUSES : WITHOUT_DEBUG;
    base->state = FMU_INSTANTIATED;
    return base->name != NULL;
}

void fmu_base_release(struct fmu_base *base)
{
    free((char *)base->name);
    base->name = NULL;
}

/* ---- Logging ---- */

fmi3Status fmu_log(const struct fmu_base *base, fmi3Status status, const char *format, ...)
{
    if (!base || !base->log_message || !(base->logged & 1u << status)) return status;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    base->log_message(base->environment, status, categories_of_status[status], message);
    return status;
}

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

fmi3Status fmu_set_debug_logging(struct fmu_base *base, bool logging_on, size_t n_categories,
                                 const fmi3String categories[])
{
    if (!base) return fmi3Error;
    unsigned selected = n_categories == 0 ? ALL_STATUSES : 0;
    for (size_t i = 0; i < n_categories; i++) {
        unsigned known = 0;
        for (unsigned status = fmi3OK; status <= fmi3Fatal; status++)
            if (categories[i] && strcmp(categories[i], categories_of_status[status]) == 0) known = 1u << status;
        if (!known) return fmu_log(base, fmi3Error, "There is no log category %s.", categories[i]);
        selected |= known;
    }
    base->logged = logging_on ? selected : WITHOUT_DEBUG;
    return fmi3OK;
}

__attribute__((weak)) fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn,
                                                     size_t nCategories, const fmi3String categories[])
{
    return fmu_set_debug_logging(instance, loggingOn, nCategories, categories);
}

/* ---- Refusals: one weak definition per function ---- */

static fmi3Status unsupported(fmi3Instance instance, const char *function)
{
    return fmu_log(instance, fmi3Error, "%s is not supported by this FMU.", function);
}

#define REFUSE(function, ...)                                                                                         \
    __attribute__((weak)) fmi3Status function(fmi3Instance instance, __VA_ARGS__)                                     \
    {                                                                                                                 \
        return unsupported(instance, #function);                                                                      \
    }
#define REFUSE_PLAIN(function)                                                                                        \
    __attribute__((weak)) fmi3Status function(fmi3Instance instance)                                                  \
    {                                                                                                                 \
        return unsupported(instance, #function);                                                                      \
    }
#define REFUSE_ACCESS(Type)                                                                                           \
    REFUSE(fmi3Get##Type, const fmi3ValueReference *vrs, size_t n, fmi3##Type *values, size_t n_values)               \
    REFUSE(fmi3Set##Type, const fmi3ValueReference *vrs, size_t n, const fmi3##Type *values, size_t n_values)

#pragma GCC diagnostic ignored "-Wunused-parameter"

REFUSE_ACCESS(Float32)
REFUSE_ACCESS(Float64)
REFUSE_ACCESS(Int8)
REFUSE_ACCESS(UInt8)
REFUSE_ACCESS(Int16)
REFUSE_ACCESS(UInt16)
REFUSE_ACCESS(Int32)
REFUSE_ACCESS(UInt32)
REFUSE_ACCESS(Int64)
REFUSE_ACCESS(UInt64)
REFUSE_ACCESS(Boolean)
REFUSE_ACCESS(String)

REFUSE(fmi3EnterInitializationMode, fmi3Boolean toleranceDefined, fmi3Float64 tolerance, fmi3Float64 startTime,
       fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
REFUSE_PLAIN(fmi3ExitInitializationMode)
REFUSE_PLAIN(fmi3EnterEventMode)
REFUSE_PLAIN(fmi3Terminate)
REFUSE_PLAIN(fmi3Reset)
REFUSE_PLAIN(fmi3EnterConfigurationMode)
REFUSE_PLAIN(fmi3ExitConfigurationMode)
REFUSE(fmi3GetBinary, const fmi3ValueReference valueReferences[], size_t nValueReferences, size_t valueSizes[],
       fmi3Binary values[], size_t nValues)
REFUSE(fmi3SetBinary, const fmi3ValueReference valueReferences[], size_t nValueReferences, const size_t valueSizes[],
       const fmi3Binary values[], size_t nValues)
REFUSE(fmi3GetClock, const fmi3ValueReference valueReferences[], size_t nValueReferences, fmi3Clock values[])
REFUSE(fmi3SetClock, const fmi3ValueReference valueReferences[], size_t nValueReferences, const fmi3Clock values[])
REFUSE(fmi3GetNumberOfVariableDependencies, fmi3ValueReference valueReference, size_t *nDependencies)
REFUSE(fmi3GetVariableDependencies, fmi3ValueReference dependent, size_t elementIndicesOfDependent[],
       fmi3ValueReference independents[], size_t elementIndicesOfIndependents[], fmi3DependencyKind dependencyKinds[],
       size_t nDependencies)
REFUSE(fmi3GetFMUState, fmi3FMUState *FMUState)
REFUSE(fmi3SetFMUState, fmi3FMUState FMUState)
REFUSE(fmi3FreeFMUState, fmi3FMUState *FMUState)
REFUSE(fmi3SerializedFMUStateSize, fmi3FMUState FMUState, size_t *size)
REFUSE(fmi3SerializeFMUState, fmi3FMUState FMUState, fmi3Byte serializedState[], size_t size)
REFUSE(fmi3DeserializeFMUState, const fmi3Byte serializedState[], size_t size, fmi3FMUState *FMUState)
REFUSE(fmi3GetDirectionalDerivative, const fmi3ValueReference unknowns[], size_t nUnknowns,
       const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
       fmi3Float64 sensitivity[], size_t nSensitivity)
REFUSE(fmi3GetAdjointDerivative, const fmi3ValueReference unknowns[], size_t nUnknowns,
       const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
       fmi3Float64 sensitivity[], size_t nSensitivity)
REFUSE(fmi3GetIntervalDecimal, const fmi3ValueReference valueReferences[], size_t nValueReferences,
       fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
REFUSE(fmi3GetIntervalFraction, const fmi3ValueReference valueReferences[], size_t nValueReferences,
       fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
REFUSE(fmi3GetShiftDecimal, const fmi3ValueReference valueReferences[], size_t nValueReferences, fmi3Float64 shifts[])
REFUSE(fmi3GetShiftFraction, const fmi3ValueReference valueReferences[], size_t nValueReferences,
       fmi3UInt64 counters[], fmi3UInt64 resolutions[])
REFUSE(fmi3SetIntervalDecimal, const fmi3ValueReference valueReferences[], size_t nValueReferences,
       const fmi3Float64 intervals[])
REFUSE(fmi3SetIntervalFraction, const fmi3ValueReference valueReferences[], size_t nValueReferences,
       const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
REFUSE(fmi3SetShiftDecimal, const fmi3ValueReference valueReferences[], size_t nValueReferences,
       const fmi3Float64 shifts[])
REFUSE(fmi3SetShiftFraction, const fmi3ValueReference valueReferences[], size_t nValueReferences,
       const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
REFUSE_PLAIN(fmi3EvaluateDiscreteStates)
REFUSE(fmi3UpdateDiscreteStates, fmi3Boolean *discreteStatesNeedUpdate, fmi3Boolean *terminateSimulation,
       fmi3Boolean *nominalsOfContinuousStatesChanged, fmi3Boolean *valuesOfContinuousStatesChanged,
       fmi3Boolean *nextEventTimeDefined, fmi3Float64 *nextEventTime)
REFUSE_PLAIN(fmi3EnterContinuousTimeMode)
REFUSE(fmi3CompletedIntegratorStep, fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *enterEventMode,
       fmi3Boolean *terminateSimulation)
REFUSE(fmi3SetTime, fmi3Float64 time)
REFUSE(fmi3SetContinuousStates, const fmi3Float64 continuousStates[], size_t nContinuousStates)
REFUSE(fmi3GetContinuousStateDerivatives, fmi3Float64 derivatives[], size_t nContinuousStates)
REFUSE(fmi3GetEventIndicators, fmi3Float64 eventIndicators[], size_t nEventIndicators)
REFUSE(fmi3GetContinuousStates, fmi3Float64 continuousStates[], size_t nContinuousStates)
REFUSE(fmi3GetNominalsOfContinuousStates, fmi3Float64 nominals[], size_t nContinuousStates)
REFUSE(fmi3GetNumberOfEventIndicators, size_t *nEventIndicators)
REFUSE(fmi3GetNumberOfContinuousStates, size_t *nContinuousStates)
REFUSE_PLAIN(fmi3EnterStepMode)
REFUSE(fmi3GetOutputDerivatives, const fmi3ValueReference valueReferences[], size_t nValueReferences,
       const fmi3Int32 orders[], fmi3Float64 values[], size_t nValues)
REFUSE(fmi3DoStep, fmi3Float64 currentCommunicationPoint, fmi3Float64 communicationStepSize,
       fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *eventHandlingNeeded,
       fmi3Boolean *terminateSimulation, fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime)
REFUSE(fmi3ActivateModelPartition, fmi3ValueReference clockReference, fmi3Float64 activationTime)

__attribute__((weak)) fmi3Instance fmi3InstantiateModelExchange(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath, fmi3Boolean visible,
    fmi3Boolean loggingOn, fmi3InstanceEnvironment instanceEnvironment, fmi3LogMessageCallback logMessage)
{
    refuse(instanceEnvironment, logMessage, "This FMU does not support Model Exchange.");
    return NULL;
}

__attribute__((weak)) fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath, fmi3Boolean visible,
    fmi3Boolean loggingOn, fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed,
    const fmi3ValueReference requiredIntermediateVariables[], size_t nRequiredIntermediateVariables,
    fmi3InstanceEnvironment instanceEnvironment, fmi3LogMessageCallback logMessage,
    fmi3IntermediateUpdateCallback intermediateUpdate)
{
    refuse(instanceEnvironment, logMessage, "This FMU does not support Co-Simulation.");
    return NULL;
}

__attribute__((weak)) fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath, fmi3Boolean visible,
    fmi3Boolean loggingOn, fmi3InstanceEnvironment instanceEnvironment, fmi3LogMessageCallback logMessage,
    fmi3ClockUpdateCallback clockUpdate, fmi3LockPreemptionCallback lockPreemption,
    fmi3UnlockPreemptionCallback unlockPreemption)
{
    refuse(instanceEnvironment, logMessage, "This FMU does not support Scheduled Execution.");
    return NULL;
}
