/* An FMU exports every function of fmi3Functions.h, also those that it does not support: these log, and return fmi3Error
 * (NULL for an instance). */

#include "dialect.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define REFUSE(function, ...)                                                                                         \
    fmi3Status function(fmi3Instance instance, __VA_ARGS__)                                                           \
    {                                                                                                                 \
        return fmu_log(instance, fmi3Error, "%s is not supported by this FMU.", #function);                           \
    }
#define REFUSE_PLAIN(function)                                                                                        \
    fmi3Status function(fmi3Instance instance)                                                                        \
    {                                                                                                                 \
        return fmu_log(instance, fmi3Error, "%s is not supported by this FMU.", #function);                           \
    }
#define REFERENCES const fmi3ValueReference valueReferences[], size_t nValueReferences
#define REFUSE_GET(Type) REFUSE(fmi3Get##Type, REFERENCES, fmi3##Type values[], size_t nValues)
#define REFUSE_SET(Type) REFUSE(fmi3Set##Type, REFERENCES, const fmi3##Type values[], size_t nValues)
#define REFUSE_ACCESS(Type) REFUSE_GET(Type) REFUSE_SET(Type)

REFUSE_ACCESS(Float32)
REFUSE_ACCESS(Int8)
REFUSE_ACCESS(UInt8)
REFUSE_ACCESS(Int16)
REFUSE_ACCESS(UInt16)
REFUSE_ACCESS(UInt32)
REFUSE_ACCESS(Int64)
REFUSE_SET(UInt64)
REFUSE_ACCESS(Boolean)
REFUSE(fmi3GetBinary, REFERENCES, size_t sizes[], fmi3Binary values[], size_t nValues)
REFUSE(fmi3SetBinary, REFERENCES, const size_t sizes[], const fmi3Binary values[], size_t nValues)

REFUSE(fmi3EnterEventMode, fmi3Boolean stepEvent, const fmi3Int32 rootsFound[], size_t nEventIndicators,
       fmi3Boolean timeEvent)
REFUSE_PLAIN(fmi3EnterConfigurationMode)
REFUSE_PLAIN(fmi3ExitConfigurationMode)
REFUSE(fmi3SetClock, REFERENCES, const fmi3Clock values[], const fmi3Boolean subactive[], size_t nValues)
REFUSE(fmi3SetIntervalDecimal, REFERENCES, const fmi3Float64 interval[], size_t nValues)
REFUSE(fmi3SetIntervalFraction, REFERENCES, const fmi3UInt64 intervalCounter[], const fmi3UInt64 resolution[],
       size_t nValues)
REFUSE(fmi3UpdateDiscreteStates, fmi3Boolean *discreteStatesNeedUpdate, fmi3Boolean *terminateSimulation,
       fmi3Boolean *nominalsOfContinuousStatesChanged, fmi3Boolean *valuesOfContinuousStatesChanged,
       fmi3Boolean *nextEventTimeDefined, fmi3Float64 *nextEventTime)

REFUSE(fmi3GetNumberOfVariableDependencies, fmi3ValueReference valueReference, size_t *nDependencies)
REFUSE(fmi3GetVariableDependencies, fmi3ValueReference dependent, size_t elementIndicesOfDependent[],
       fmi3ValueReference independents[], size_t elementIndicesOfIndependents[], fmi3DependencyKind dependencyKinds[],
       size_t nDependencies)
REFUSE(fmi3GetFMUState, fmi3FMUState *FMUState)
REFUSE(fmi3SetFMUState, fmi3FMUState FMUState)
REFUSE(fmi3FreeFMUState, fmi3FMUState *FMUState)
REFUSE(fmi3SerializedFMUStateSize, fmi3FMUState FMUState, size_t *size)
REFUSE(fmi3SerializeFMUState, fmi3FMUState FMUState, fmi3Byte serializedState[], size_t size)
REFUSE(fmi3DeSerializeFMUState, const fmi3Byte serializedState[], size_t size, fmi3FMUState *FMUState)
REFUSE(fmi3GetDirectionalDerivative, const fmi3ValueReference unknowns[], size_t nUnknowns,
       const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
       fmi3Float64 sensitivity[], size_t nSensitivity)
REFUSE(fmi3GetAdjointDerivative, const fmi3ValueReference unknowns[], size_t nUnknowns,
       const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
       fmi3Float64 sensitivity[], size_t nSensitivity)

REFUSE_PLAIN(fmi3EnterContinuousTimeMode)
REFUSE(fmi3CompletedIntegratorStep, fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *enterEventMode,
       fmi3Boolean *terminateSimulation)
REFUSE(fmi3SetTime, fmi3Float64 time)
REFUSE(fmi3SetContinuousStates, const fmi3Float64 continuousStates[], size_t nContinuousStates)
REFUSE(fmi3GetDerivatives, fmi3Float64 derivatives[], size_t nContinuousStates)
REFUSE(fmi3GetEventIndicators, fmi3Float64 eventIndicators[], size_t nEventIndicators)
REFUSE(fmi3GetContinuousStates, fmi3Float64 continuousStates[], size_t nContinuousStates)
REFUSE(fmi3GetNominalsOfContinuousStates, fmi3Float64 nominals[], size_t nContinuousStates)
REFUSE(fmi3GetNumberOfEventIndicators, size_t *nEventIndicators)
REFUSE(fmi3GetNumberOfContinuousStates, size_t *nContinuousStates)

REFUSE_PLAIN(fmi3EnterStepMode)
REFUSE(fmi3GetOutputDerivatives, REFERENCES, const fmi3Int32 orders[], fmi3Float64 values[], size_t nValues)
REFUSE(fmi3DoStep, fmi3Float64 currentCommunicationPoint, fmi3Float64 communicationStepSize,
       fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *eventEncountered, fmi3Boolean *clocksAboutToTick,
       fmi3Boolean *terminate, fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime)

fmi3Instance fmi3InstantiateModelExchange(fmi3String instanceName, fmi3String instantiationToken,
                                          fmi3String resourceLocation, fmi3Boolean visible, fmi3Boolean loggingOn,
                                          fmi3InstanceEnvironment instanceEnvironment,
                                          fmi3CallbackLogMessage logMessage)
{
    return NULL;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instanceName, fmi3String instantiationToken,
                                         fmi3String resourceLocation, fmi3Boolean visible, fmi3Boolean loggingOn,
                                         fmi3Boolean eventModeUsed,
                                         const fmi3ValueReference requiredIntermediateVariables[],
                                         size_t nRequiredIntermediateVariables,
                                         fmi3InstanceEnvironment instanceEnvironment,
                                         fmi3CallbackLogMessage logMessage,
                                         fmi3CallbackIntermediateUpdate intermediateUpdate)
{
    return NULL;
}
