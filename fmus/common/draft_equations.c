/* Model Exchange of the draft of FMI 3.0 (January 2021) for a model that is written as its equations (see equations.h), beside
 * fmi3_alike.c. The draft says why Event Mode is entered, which the model may check. Only what such an FMU cannot do without is there. */

#include "equations.h"
#include "fmi3_alike.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fmu {
    fmi3InstanceEnvironment environment;
    fmi3CallbackLogMessage log;
    char *name;
    void *model;
};

#define MODEL(instance) (((struct fmu *)(instance))->model)

const bool equations_arm_by_clocks = true;

void equations_tell(void *owner, enum answer answer, const char *message)
{
    static const char *const categories[] = {"logEvents", "logStatusWarning", "logStatusDiscard", "logStatusError",
                                             "logStatusFatal"};
    const struct fmu *fmu = owner;
    fmu->log(fmu->environment, fmu->name, (fmi3Status)answer, categories[answer], message);
}

void *equations_model(void *instance)
{
    return MODEL(instance);
}

/* ---- Life of an instance ---- */

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    struct fmu *fmu = instance;
    if (!fmu) return;
    equations_free(fmu->model);
    free(fmu->name);
    free(fmu);
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instanceName, fmi3String instantiationToken,
                                          fmi3String resourceLocation, fmi3Boolean visible, fmi3Boolean loggingOn,
                                          fmi3InstanceEnvironment instanceEnvironment, fmi3CallbackLogMessage logMessage)
{
    (void)resourceLocation, (void)visible, (void)loggingOn;
    if (!logMessage) return NULL;
    if (!instanceName || !instantiationToken || strcmp(instantiationToken, equations.token) != 0) {
        logMessage(instanceEnvironment, instanceName, fmi3Error, "logStatusError", "The name is missing, or the token is another FMU's.");
        return NULL;
    }
    struct fmu *fmu = calloc(1, sizeof *fmu);
    if (!fmu) return NULL;
    fmu->environment = instanceEnvironment;
    fmu->log = logMessage;
    fmu->name = strdup(instanceName);
    fmu->model = equations_new(fmu);
    if (fmu->name && fmu->model) return fmu;
    fmi3FreeInstance(fmu);
    return NULL;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[])
{
    (void)loggingOn, (void)nCategories, (void)categories;
    return (fmi3Status)equations_called(MODEL(instance), __func__, ~(unsigned)LOST);
}

/* ---- Events ---- */

fmi3Status fmi3EnterEventMode(fmi3Instance instance, fmi3Boolean stepEvent, const fmi3Int32 rootsFound[],
                              size_t nEventIndicators, fmi3Boolean timeEvent)
{
    struct reasons reasons = {
        .step_event = stepEvent != 0, .roots = rootsFound, .root_count = nEventIndicators, .time_event = timeEvent != 0};
    return (fmi3Status)equations_enter_event_mode(MODEL(instance), __func__, CONTINUOUS_TIME, &reasons);
}

/* ---- Clocks: all are scalars ---- */

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t n, const fmi3Clock values[],
                        const fmi3Boolean subactive[], size_t nValues)
{
    if (nValues != n) return (fmi3Status)equations_refuse(MODEL(instance), __func__, "a scalar clock has one value.");
    enum answer answer = ANSWER_OK;
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {
        if (subactive && subactive[i])
            return (fmi3Status)equations_refuse(MODEL(instance), __func__, "no partition is there to be computed without its states.");
        answer = equations_set_clock(MODEL(instance), __func__, references[i], values[i] == fmi3ClockActive);
    }
    return (fmi3Status)answer;
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t n, fmi3Clock values[],
                        size_t nValues)
{
    if (nValues != n) return (fmi3Status)equations_refuse(MODEL(instance), __func__, "a scalar clock has one value.");
    bool *active = calloc(n, sizeof *active);
    if (!active) return (fmi3Status)equations_refuse(MODEL(instance), __func__, "there is no memory for it.");
    enum answer answer = equations_get_clocks(MODEL(instance), __func__, references, n, active);
    for (size_t i = 0; i < n; i++) values[i] = active[i] ? fmi3ClockActive : fmi3ClockInactive;
    free(active);
    return (fmi3Status)answer;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                  fmi3Float64 intervals[], size_t nValues)
{
    if (nValues != n) return (fmi3Status)equations_refuse(MODEL(instance), __func__, "a scalar clock has one interval.");
    enum answer answer = ANSWER_OK;
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++)
        answer = equations_get_delay(MODEL(instance), __func__, references[i], &intervals[i]);
    return (fmi3Status)answer;
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[], size_t nValues)
{
    if (nValues != n) return (fmi3Status)equations_refuse(MODEL(instance), __func__, "a scalar clock has one interval.");
    enum answer answer = ANSWER_OK;
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {
        double interval = 0.0;
        answer = equations_get_delay(MODEL(instance), __func__, references[i], &interval);
        resolutions[i] = 1000000000;
        counters[i] = (fmi3UInt64)llround(interval * 1e9);
    }
    return (fmi3Status)answer;
}

/* Before Initialization Mode alone. */
static enum answer set_interval(void *model, const char *function, fmi3ValueReference reference, double interval)
{
    enum answer answer = equations_called(model, function, INSTANTIATED);
    return answer <= ANSWER_WARNING ? equations_set_interval(model, function, reference, interval) : answer;
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                  const fmi3Float64 intervals[], size_t nValues)
{
    if (nValues != n) return (fmi3Status)equations_refuse(MODEL(instance), __func__, "a scalar clock has one interval.");
    enum answer answer = ANSWER_OK;
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++)
        answer = set_interval(MODEL(instance), __func__, references[i], intervals[i]);
    return (fmi3Status)answer;
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[], size_t nValues)
{
    if (nValues != n) return (fmi3Status)equations_refuse(MODEL(instance), __func__, "a scalar clock has one interval.");
    enum answer answer = ANSWER_OK;
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++)
        answer = set_interval(MODEL(instance), __func__, references[i], (double)counters[i] / (double)resolutions[i]);
    return (fmi3Status)answer;
}

/* ---- Under another name than in FMI 3.0 ---- */

fmi3Status fmi3GetDerivatives(fmi3Instance instance, fmi3Float64 derivatives[], size_t nContinuousStates)
{
    return (fmi3Status)equations_get_derivatives(MODEL(instance), __func__, WITH_VALUES, derivatives, nContinuousStates);
}

fmi3Status fmi3DeSerializeFMUState(fmi3Instance instance, const fmi3Byte serializedState[], size_t size,
                                   fmi3FMUState *FMUState)
{
    return fmi3_deserialize(instance, __func__, serializedState, size, FMUState);
}
