/* FMI 2.0 for a model that is written as its equations (see equations.h), for Model Exchange. What may be called, set and read is as
 * the standard's table for Model Exchange has it (FMI 2.0, 3.2.3): before Initialization Mode nothing is read, in it outputs, states
 * and derivatives only; fmi2SetupExperiment comes first. */

#include "equations.h"
#include "fmi2Functions.h"
#include <stdlib.h>
#include <string.h>

struct fmu {
    const fmi2CallbackFunctions *callbacks;
    char *name;
    bool is_logging;
    bool is_set_up;
    double start_time;
    void *model;
};

#define MODEL(c) (((struct fmu *)(c))->model)

static const char *const categories[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal"};

const bool equations_have_event_mode = true;
const bool equations_arm_by_clocks = false;

void equations_tell(void *owner, enum answer answer, const char *message)
{
    const struct fmu *fmu = owner;
    if (!fmu->is_logging && answer == ANSWER_OK) return;
    /* `failing` also answers what is no answer of equations. */
    const char *category = categories[answer <= ANSWER_FATAL ? answer : ANSWER_OK];
    fmu->callbacks->logger(fmu->callbacks->componentEnvironment, fmu->name, (fmi2Status)answer, category, "%s", message);
}

bool equations_can_read(enum mode mode, enum role role)
{
    return mode != INITIALIZATION || role == OUTPUT || role == STATE || role == CALCULATED_STATE || role == DERIVATIVE;
}

/* ---- Life of an instance ---- */

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

void fmi2FreeInstance(fmi2Component c)
{
    struct fmu *fmu = c;
    if (!fmu) return;
    equations_free(fmu->model);
    free(fmu->name);
    free(fmu);
}

static char *copy(const char *text)
{
    char *copied = malloc(strlen(text) + 1);
    return copied ? strcpy(copied, text) : NULL;
}

static fmi2Component refuse(fmi2String name, const fmi2CallbackFunctions *callbacks, const char *why)
{
    callbacks->logger(callbacks->componentEnvironment, name, fmi2Error, "logStatusError", "fmi2Instantiate: %s", why);
    return NULL;
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID, fmi2String fmuResourceLocation,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean loggingOn)
{
    (void)fmuResourceLocation, (void)visible;
    if (!functions || !functions->logger) return NULL;
    if (!instanceName || !*instanceName) return refuse("?", functions, "the instance's name is missing.");
    if (fmuType != fmi2ModelExchange) return refuse(instanceName, functions, "this FMU is for Model Exchange only.");
    if (!fmuGUID || strcmp(fmuGUID, equations.token) != 0)
        return refuse(instanceName, functions, "the GUID does not match: this binary belongs to another modelDescription.xml.");
    struct fmu *fmu = calloc(1, sizeof *fmu);
    if (!fmu) return NULL;
    fmu->callbacks = functions;
    fmu->is_logging = loggingOn;
    fmu->name = copy(instanceName);
    fmu->model = equations_new(fmu);
    if (fmu->name && fmu->model) return fmu;
    fmi2FreeInstance(fmu);
    return NULL;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories, const fmi2String wanted[])
{
    (void)nCategories, (void)wanted;
    enum answer answer = equations_called(MODEL(c), __func__, ~(unsigned)LOST);
    if (answer <= ANSWER_WARNING) ((struct fmu *)c)->is_logging = loggingOn;
    return (fmi2Status)answer;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
                               fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    (void)toleranceDefined, (void)tolerance, (void)stopTimeDefined, (void)stopTime;
    struct fmu *fmu = c;
    enum answer answer = equations_called(fmu->model, __func__, INSTANTIATED);
    if (answer >= ANSWER_DISCARD) return (fmi2Status)answer;
    fmu->start_time = startTime;
    fmu->is_set_up = true;
    return (fmi2Status)answer;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    struct fmu *fmu = c;
    if (!fmu->is_set_up) return (fmi2Status)equations_refuse(fmu->model, __func__, "fmi2SetupExperiment was not called.");
    return (fmi2Status)equations_enter_initialization(fmu->model, __func__, fmu->start_time);
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    return (fmi2Status)equations_exit_initialization(MODEL(c), __func__);
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    return (fmi2Status)equations_terminate(MODEL(c), __func__);
}

fmi2Status fmi2Reset(fmi2Component c)
{
    ((struct fmu *)c)->is_set_up = false;
    return (fmi2Status)equations_reset(MODEL(c), __func__);
}

/* ---- Events ---- */

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    return (fmi2Status)equations_enter_event_mode(MODEL(c), __func__, EVENT_MODE | CONTINUOUS_TIME, NULL);
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    struct event event = {0};
    enum answer answer = equations_update(MODEL(c), __func__, &event);
    *info = (fmi2EventInfo){
        .newDiscreteStatesNeeded = event.needs_update,
        .terminateSimulation = event.terminate,
        .nominalsOfContinuousStatesChanged = event.nominals_changed,
        .valuesOfContinuousStatesChanged = event.values_changed,
        .nextEventTimeDefined = event.has_next,
        .nextEventTime = event.next,
    };
    return (fmi2Status)answer;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    return (fmi2Status)equations_enter_continuous_time(MODEL(c), __func__);
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation)
{
    (void)noSetFMUStatePriorToCurrentPoint;
    struct completed completed = {0};
    enum answer answer = equations_completed(MODEL(c), __func__, &completed);
    *enterEventMode = completed.enter_event_mode;
    *terminateSimulation = completed.terminate;
    return (fmi2Status)answer;
}

/* ---- Time and states ---- */

#define AFTER_INITIALIZATION (EVENT_MODE | CONTINUOUS_TIME | TERMINATED)

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    return (fmi2Status)equations_set_time(MODEL(c), __func__, time);
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx)
{
    return (fmi2Status)equations_set_states(MODEL(c), __func__, x, nx);
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx)
{
    return (fmi2Status)equations_get_states(MODEL(c), __func__, INITIALIZATION | AFTER_INITIALIZATION, x, nx);
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx)
{
    return (fmi2Status)equations_get_derivatives(MODEL(c), __func__, AFTER_INITIALIZATION, derivatives, nx);
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real eventIndicators[], size_t ni)
{
    return (fmi2Status)equations_get_indicators(MODEL(c), __func__, INITIALIZATION | AFTER_INITIALIZATION, eventIndicators, ni);
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t nx)
{
    return (fmi2Status)equations_get_nominals(MODEL(c), __func__, INSTANTIATED | AFTER_INITIALIZATION, nominals, nx);
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t nUnknown,
                                        const fmi2ValueReference knowns[], size_t nKnown, const fmi2Real seed[],
                                        fmi2Real sensitivity[])
{
    return (fmi2Status)equations_directional(MODEL(c), __func__, unknowns, nUnknown, knowns, nKnown, seed, nKnown, sensitivity,
                                             nUnknown);
}

/* ---- Variables. All of them are scalars. ---- */

#define SETTABLE (INSTANTIATED | INITIALIZATION | EVENT_MODE | CONTINUOUS_TIME)
#define READABLE (INITIALIZATION | AFTER_INITIALIZATION | FAILED)

static enum answer prepare_to_get(void *model, const char *function, const fmi2ValueReference references[], size_t n,
                                  enum value_type type)
{
    enum answer answer = equations_called(model, function, READABLE);
    if (answer >= ANSWER_DISCARD) return answer;
    enum answer computed = equations_compute(model, references, n, type);
    return computed > answer ? computed : answer;
}

#define ACCESS(Type, type, kept)                                                                                      \
    fmi2Status fmi2Get##Type(fmi2Component c, const fmi2ValueReference references[], size_t n, fmi2##Type values[])   \
    {                                                                                                                 \
        enum answer answer = prepare_to_get(MODEL(c), __func__, references, n, type);                                 \
        for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {                                                  \
            size_t elements;                                                                                          \
            const kept *place = equations_place_to_get(MODEL(c), __func__, references[i], type, &elements);           \
            if (!place) return fmi2Error;                                                                             \
            values[i] = *place;                                                                                       \
        }                                                                                                             \
        return (fmi2Status)answer;                                                                                    \
    }                                                                                                                 \
    fmi2Status fmi2Set##Type(fmi2Component c, const fmi2ValueReference references[], size_t n,                        \
                             const fmi2##Type values[])                                                               \
    {                                                                                                                 \
        enum answer answer = equations_called(MODEL(c), __func__, SETTABLE);                                          \
        for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {                                                  \
            size_t elements;                                                                                          \
            kept *place = equations_place_to_set(MODEL(c), __func__, references[i], type, &elements);                 \
            if (!place) return fmi2Error;                                                                             \
            *place = values[i];                                                                                       \
        }                                                                                                             \
        return (fmi2Status)answer;                                                                                    \
    }

ACCESS(Real, REAL, double)
ACCESS(Integer, INTEGER, int32_t)
ACCESS(Boolean, BOOLEAN, bool)

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference references[], size_t n, fmi2String values[])
{
    enum answer answer = prepare_to_get(MODEL(c), __func__, references, n, TEXT);
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {
        size_t elements;
        values[i] = equations_place_to_get(MODEL(c), __func__, references[i], TEXT, &elements);
        if (!values[i]) return fmi2Error;
    }
    return (fmi2Status)answer;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference references[], size_t n, const fmi2String values[])
{
    enum answer answer = equations_called(MODEL(c), __func__, SETTABLE);
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {
        size_t elements;
        char *place = equations_place_to_set(MODEL(c), __func__, references[i], TEXT, &elements);
        if (!place) return fmi2Error;
        if (strlen(values[i]) >= TEXT_SIZE) return (fmi2Status)equations_refuse(MODEL(c), __func__, "the text is too long.");
        strcpy(place, values[i]);
    }
    return (fmi2Status)answer;
}

/* ---- Saved states ---- */

#define WITH_STATE (~(unsigned)LOST)

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    enum answer answer = equations_called(MODEL(c), __func__, WITH_STATE);
    if (answer >= ANSWER_DISCARD) return (fmi2Status)answer;
    *FMUstate = equations_save(MODEL(c), *FMUstate);
    if (!*FMUstate) return (fmi2Status)equations_refuse(MODEL(c), __func__, "there is no memory for it.");
    return (fmi2Status)answer;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate)
{
    enum answer answer = equations_called(MODEL(c), __func__, WITH_STATE);
    if (answer >= ANSWER_DISCARD) return (fmi2Status)answer;
    if (!FMUstate) return (fmi2Status)equations_refuse(MODEL(c), __func__, "there is no state.");
    equations_restore(MODEL(c), FMUstate);
    return (fmi2Status)answer;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    enum answer answer = equations_called(MODEL(c), __func__, WITH_STATE);
    if (answer >= ANSWER_DISCARD) return (fmi2Status)answer;
    equations_free(*FMUstate);
    *FMUstate = NULL;
    return (fmi2Status)answer;
}

/* ---- What such an FMU does not have ---- */

#define REFUSE(function, ...)                                                                                         \
    fmi2Status function(fmi2Component c, __VA_ARGS__)                                                                 \
    {                                                                                                                 \
        return (fmi2Status)equations_refuse(MODEL(c), #function, "this FMU does not have it.");                       \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"

REFUSE(fmi2SerializedFMUstateSize, fmi2FMUstate FMUstate, size_t *size)
REFUSE(fmi2SerializeFMUstate, fmi2FMUstate FMUstate, fmi2Byte serializedState[], size_t size)
REFUSE(fmi2DeSerializeFMUstate, const fmi2Byte serializedState[], size_t size, fmi2FMUstate *FMUstate)
