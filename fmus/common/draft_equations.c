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

/* ---- Clocks, which may be arrays ---- */

/* Whether there is a value for each element of these clocks. */
static bool has_values(void *model, const char *function, const fmi3ValueReference references[], size_t n, size_t values)
{
    size_t elements = 0;
    for (size_t i = 0; i < n; i++) elements += equations_clock_elements(references[i]);
    if (elements == values) return true;
    equations_refuse(model, function, "there are more or fewer values than elements.");
    return false;
}

/* What every function that follows does with each element, whose value is the one with the number `at`. */
#define EACH_ELEMENT(function, n, n_values, call)                                                                     \
    if (!has_values(MODEL(instance), function, references, n, n_values)) return fmi3Error;                            \
    enum answer answer = ANSWER_OK;                                                                                   \
    for (size_t i = 0, at = 0; i < n; i++)                                                                            \
        for (size_t element = 0; element < equations_clock_elements(references[i]) && answer <= ANSWER_WARNING; element++, at++) \
            answer = call;                                                                                            \
    return (fmi3Status)answer

static enum answer set_clock(void *model, const char *function, fmi3ValueReference reference, size_t element, bool active,
                             bool subactive)
{
    if (subactive) return equations_refuse(model, function, "no partition is there to be computed without its states.");
    /* An array is set as a whole. */
    if (!active && equations_clock_elements(reference) > 1) return equations_called(model, function, EVENT_MODE);
    return equations_set_clock(model, function, reference, element, active);
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t n, const fmi3Clock values[],
                        const fmi3Boolean subactive[], size_t nValues)
{
    EACH_ELEMENT(__func__, n, nValues, set_clock(MODEL(instance), __func__, references[i], element,
                                                 values[at] == fmi3ClockActive, subactive && subactive[at]));
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t n, fmi3Clock values[],
                        size_t nValues)
{
    if (!has_values(MODEL(instance), __func__, references, n, nValues)) return fmi3Error;
    bool *active = calloc(nValues, sizeof *active);
    if (!active) return (fmi3Status)equations_refuse(MODEL(instance), __func__, "there is no memory for it.");
    enum answer answer = equations_get_clocks(MODEL(instance), __func__, references, n, active);
    for (size_t i = 0; i < nValues; i++) values[i] = active[i] ? fmi3ClockActive : fmi3ClockInactive;
    free(active);
    return (fmi3Status)answer;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                  fmi3Float64 intervals[], size_t nValues)
{
    EACH_ELEMENT(__func__, n, nValues, equations_get_delay(MODEL(instance), __func__, references[i], element, &intervals[at]));
}

static enum answer get_fraction(void *model, const char *function, fmi3ValueReference reference, size_t element,
                                fmi3UInt64 *counter, fmi3UInt64 *resolution)
{
    double interval = 0.0;
    enum answer answer = equations_get_delay(model, function, reference, element, &interval);
    *resolution = 1000000000;
    *counter = (fmi3UInt64)llround(interval * 1e9);
    return answer;
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[], size_t nValues)
{
    EACH_ELEMENT(__func__, n, nValues, get_fraction(MODEL(instance), __func__, references[i], element, &counters[at], &resolutions[at]));
}

/* Before Initialization Mode alone. */
static enum answer set_interval(void *model, const char *function, fmi3ValueReference reference, size_t element,
                                double interval)
{
    enum answer answer = equations_called(model, function, INSTANTIATED);
    return answer <= ANSWER_WARNING ? equations_set_interval(model, function, reference, element, interval) : answer;
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                  const fmi3Float64 intervals[], size_t nValues)
{
    EACH_ELEMENT(__func__, n, nValues, set_interval(MODEL(instance), __func__, references[i], element, intervals[at]));
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[], size_t nValues)
{
    EACH_ELEMENT(__func__, n, nValues, set_interval(MODEL(instance), __func__, references[i], element,
                                                    (double)counters[at] / (double)resolutions[at]));
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
