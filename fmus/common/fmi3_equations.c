/* FMI 3.0 for a model that is written as its equations (see equations.h), beside fmi3_alike.c. What such an FMU does not have,
 * fmi3_base.c refuses. */

#include "equations.h"
#include "fmi3_alike.h"
#include "fmi3_base.h"
#include <stdlib.h>

struct fmu {
    struct fmu_base base; /* first, for the functions of fmi3_base.c */
    void *model;
};

#define MODEL(instance) (((struct fmu *)(instance))->model)

const bool equations_arm_by_clocks = false;

void equations_tell(void *owner, enum answer answer, const char *message)
{
    fmu_log(owner, (fmi3Status)answer, "%s", message);
}

void *equations_model(void *instance)
{
    return MODEL(instance);
}

/* ---- Life of an instance ---- */

static void no_clock_update(fmi3InstanceEnvironment environment)
{
    (void)environment;
}

static void no_lock(void)
{
}

void fmi3FreeInstance(fmi3Instance instance)
{
    struct fmu *fmu = instance;
    if (!fmu) return;
    equations_free(fmu->model);
    fmu_base_release(&fmu->base);
    free(fmu);
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
                                          fmi3Boolean visible, fmi3Boolean loggingOn,
                                          fmi3InstanceEnvironment instanceEnvironment, fmi3LogMessageCallback logMessage)
{
    (void)resourcePath, (void)visible;
    struct fmu *fmu = calloc(1, sizeof *fmu);
    if (!fmu) return NULL;
    bool accepted = fmu_base_init(&fmu->base, equations.token, instanceName, instantiationToken, loggingOn,
                                  instanceEnvironment, logMessage, no_clock_update, no_lock, no_lock);
    if (accepted) fmu->model = equations_new(fmu);
    if (fmu->model) return fmu;
    fmi3FreeInstance(fmu);
    return NULL;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[])
{
    enum answer answer = equations_called(MODEL(instance), __func__, ~(unsigned)LOST);
    if (answer >= ANSWER_DISCARD) return (fmi3Status)answer;
    fmi3Status set = fmu_set_debug_logging(instance, loggingOn, nCategories, categories);
    return set == fmi3OK ? (fmi3Status)answer : set;
}

/* ---- Events ---- */

fmi3Status fmi3EnterEventMode(fmi3Instance instance)
{
    return (fmi3Status)equations_enter_event_mode(MODEL(instance), __func__, CONTINUOUS_TIME, NULL);
}

/* ---- Clocks ---- */

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t n, const fmi3Clock values[])
{
    enum answer answer = ANSWER_OK;
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++)
        answer = equations_set_clock(MODEL(instance), __func__, references[i], 0, values[i]);
    return (fmi3Status)answer;
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t n, fmi3Clock values[])
{
    return (fmi3Status)equations_get_clocks(MODEL(instance), __func__, references, n, values);
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    enum answer answer = ANSWER_OK;
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {
        enum qualifier qualifier = QUALIFIER_NOT_YET_KNOWN;
        answer = equations_get_interval(MODEL(instance), __func__, references[i], &intervals[i], &qualifier);
        qualifiers[i] = (fmi3IntervalQualifier)qualifier;
    }
    return (fmi3Status)answer;
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                                  const fmi3Float64 intervals[])
{
    enum answer answer = ANSWER_OK;
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++)
        answer = equations_set_interval(MODEL(instance), __func__, references[i], 0, intervals[i]);
    return (fmi3Status)answer;
}

/* ---- What the draft of FMI 3.0 calls otherwise ---- */

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 derivatives[], size_t nContinuousStates)
{
    return (fmi3Status)equations_get_derivatives(MODEL(instance), __func__, WITH_VALUES, derivatives, nContinuousStates);
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte serializedState[], size_t size,
                                   fmi3FMUState *FMUState)
{
    return fmi3_deserialize(instance, __func__, serializedState, size, FMUState);
}
