/* A Co-Simulation FMU of the draft of FMI 3.0 (January 2021): x' = gain · u, with the input held over a step. Only what such an FMU
 * cannot do without is there.
 *
 * It calls back in the midst of each step, as the draft has it with nine arguments, and returns early there when it is asked to; by
 * itself it returns early at `early_at`. It refuses Event Mode, and a step that does not begin where the one before has ended. */

#include "fmi3Functions.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIME, X, STEPS, ODD, U = 10, GAIN = 20, EARLY_AT, END_AT, SLOW };

struct fmu {
    fmi3InstanceEnvironment environment;
    fmi3CallbackLogMessage log;
    fmi3CallbackIntermediateUpdate update;
    double time, x, u, gain, early_at, end_at, slow;
    fmi3UInt64 steps;
};

static fmi3Status error(struct fmu *fmu, const char *message)
{
    fmu->log(fmu->environment, "draft_steps", fmi3Error, "logStatusError", message);
    return fmi3Error;
}

const char *fmi3GetVersion(void)
{
    return "3.0-alpha.5";
}

fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourceLocation, fmi3Boolean visible,
    fmi3Boolean loggingOn, fmi3Boolean eventModeUsed, const fmi3ValueReference requiredIntermediateVariables[],
    size_t nRequiredIntermediateVariables, fmi3InstanceEnvironment instanceEnvironment,
    fmi3CallbackLogMessage logMessage, fmi3CallbackIntermediateUpdate intermediateUpdate)
{
    (void)resourceLocation, (void)visible, (void)loggingOn, (void)requiredIntermediateVariables;
    if (!logMessage || !intermediateUpdate || eventModeUsed || nRequiredIntermediateVariables != 0 ||
        strcmp(instantiationToken, "{vecud-draft-steps-1}") != 0) {
        if (logMessage) logMessage(instanceEnvironment, instanceName, fmi3Error, "logStatusError", "Wrong arguments.");
        return NULL;
    }
    struct fmu *fmu = calloc(1, sizeof *fmu);
    if (!fmu) return NULL;
    fmu->environment = instanceEnvironment;
    fmu->log = logMessage;
    fmu->update = intermediateUpdate;
    fmu->u = fmu->gain = 1.0;
    fmu->early_at = -1.0;
    fmu->end_at = 1e9;
    return fmu;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    free(instance);
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[])
{
    (void)instance, (void)loggingOn, (void)nCategories, (void)categories;
    return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance, (void)stopTimeDefined, (void)stopTime;
    ((struct fmu *)instance)->time = startTime;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

/* Whether the step is to return early in its midst. */
static bool is_asked_to_return(struct fmu *fmu, double midst)
{
    for (double spent = 0.0;; spent += 1e-3) {
        fmi3Boolean requested = fmi3True;
        double early = -1.0;
        fmu->update(fmu->environment, midst, fmi3False, fmi3False, fmi3False, fmi3True, fmi3True, &requested, &early);
        if (requested) return true;
        if (spent >= fmu->slow) return false;
        usleep(1000);
    }
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 currentCommunicationPoint, fmi3Float64 communicationStepSize,
                      fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *eventEncountered,
                      fmi3Boolean *clocksAboutToTick, fmi3Boolean *terminate, fmi3Boolean *earlyReturn,
                      fmi3Float64 *lastSuccessfulTime)
{
    struct fmu *fmu = instance;
    (void)noSetFMUStatePriorToCurrentPoint;
    if (fabs(currentCommunicationPoint - fmu->time) > 1e-9)
        return error(fmu, "A step does not begin where the one before has ended.");
    double end = currentCommunicationPoint + communicationStepSize;
    double midst = currentCommunicationPoint + 0.5 * communicationStepSize;
    *eventEncountered = *clocksAboutToTick = fmi3False;
    *earlyReturn = fmi3False;
    if (is_asked_to_return(fmu, midst)) {
        *earlyReturn = fmi3True;
        end = midst;
    } else if (fmu->early_at > currentCommunicationPoint && fmu->early_at < end) {
        *earlyReturn = fmi3True;
        end = fmu->early_at;
    }
    fmu->x += fmu->gain * fmu->u * (end - fmu->time);
    fmu->time = *lastSuccessfulTime = end;
    fmu->steps++;
    *terminate = end >= fmu->end_at ? fmi3True : fmi3False;
    return fmi3OK;
}

static double *place(struct fmu *fmu, fmi3ValueReference vr)
{
    switch (vr) {
    case TIME: return &fmu->time;
    case X: return &fmu->x;
    case U: return &fmu->u;
    case GAIN: return &fmu->gain;
    case EARLY_AT: return &fmu->early_at;
    case END_AT: return &fmu->end_at;
    case SLOW: return &fmu->slow;
    default: return NULL;
    }
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          fmi3Float64 values[], size_t nValues)
{
    (void)nValues;
    for (size_t i = 0; i < nValueReferences; i++) {
        double *own = place(instance, valueReferences[i]);
        if (!own) return error(instance, "No such Float64.");
        values[i] = *own;
    }
    return fmi3OK;
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          const fmi3Float64 values[], size_t nValues)
{
    (void)nValues;
    for (size_t i = 0; i < nValueReferences; i++) {
        double *own = place(instance, valueReferences[i]);
        if (!own || valueReferences[i] < U) return error(instance, "No Float64 that can be set.");
        *own = values[i];
    }
    return fmi3OK;
}

fmi3Status fmi3GetUInt64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         fmi3UInt64 values[], size_t nValues)
{
    (void)nValues;
    for (size_t i = 0; i < nValueReferences; i++) {
        if (valueReferences[i] != STEPS) return error(instance, "No such UInt64.");
        values[i] = ((struct fmu *)instance)->steps;
    }
    return fmi3OK;
}

fmi3Status fmi3GetBoolean(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          fmi3Boolean values[], size_t nValues)
{
    (void)nValues;
    for (size_t i = 0; i < nValueReferences; i++) {
        if (valueReferences[i] != ODD) return error(instance, "No such Boolean.");
        values[i] = ((struct fmu *)instance)->steps % 2 ? 64 : 0;
    }
    return fmi3OK;
}
