/* FMI 1.0 for a model that is written as its equations (see equations.h), for Model Exchange. The file that includes this one
 * defines MODEL_IDENTIFIER before.
 *
 * FMI 1.0 has no Event Mode: fmiInitialize and fmiEventUpdate go through one, and when it is left, the instance is in what is called
 * Continuous-Time Mode here. Inputs can be set at any time after fmiInitialize, parameters only before. */

#include "equations.h"
#include "fmiModelFunctions.h"
#include <stdlib.h>
#include <string.h>

struct fmu {
    fmiCallbackFunctions callbacks;
    char *name;
    bool is_logging;
    void *model;
};

#define MODEL(c) (((struct fmu *)(c))->model)
#define INITIALIZED (EVENT_MODE | CONTINUOUS_TIME)

static const char *const categories[] = {"", "warning", "discard", "error", "fatal"};

const bool equations_have_event_mode = false;
const bool equations_arm_by_clocks = false;

void equations_tell(void *owner, enum answer answer, const char *message)
{
    const struct fmu *fmu = owner;
    if (!fmu->is_logging && answer == ANSWER_OK) return;
    /* `failing` also answers what is no answer of equations. */
    const char *category = categories[answer <= ANSWER_FATAL ? answer : ANSWER_OK];
    fmu->callbacks.logger(owner, fmu->name, (fmiStatus)answer, category, "%s", message);
}

bool equations_can_read(enum mode mode, enum role role)
{
    (void)mode, (void)role;
    return true;
}

/* ---- Life of an instance ---- */

const char *fmiGetModelTypesPlatform(void)
{
    return fmiModelTypesPlatform;
}

const char *fmiGetVersion(void)
{
    return fmiVersion;
}

void fmiFreeModelInstance(fmiComponent c)
{
    struct fmu *fmu = c;
    if (!fmu) return;
    equations_free(fmu->model);
    free(fmu->name);
    free(fmu);
}

fmiComponent fmiInstantiateModel(fmiString instanceName, fmiString GUID, fmiCallbackFunctions functions, fmiBoolean loggingOn)
{
    if (!functions.logger || !instanceName) return NULL;
    if (!GUID || strcmp(GUID, equations.token) != 0) {
        functions.logger(NULL, instanceName, fmiError, "error", "fmiInstantiateModel: this binary belongs to another modelDescription.xml.");
        return NULL;
    }
    struct fmu *fmu = calloc(1, sizeof *fmu);
    if (!fmu) return NULL;
    fmu->callbacks = functions;
    fmu->is_logging = loggingOn;
    fmu->name = malloc(strlen(instanceName) + 1);
    if (fmu->name) strcpy(fmu->name, instanceName);
    fmu->model = equations_new(fmu);
    if (fmu->name && fmu->model) return fmu;
    fmiFreeModelInstance(fmu);
    return NULL;
}

fmiStatus fmiSetDebugLogging(fmiComponent c, fmiBoolean loggingOn)
{
    enum answer answer = equations_called(MODEL(c), "fmiSetDebugLogging", ~(unsigned)LOST);
    if (answer <= ANSWER_WARNING) ((struct fmu *)c)->is_logging = loggingOn;
    return (fmiStatus)answer;
}

/* Iterations of an event, to its end or one of them. */
static enum answer iterate(void *model, const char *function, bool once, fmiEventInfo *info)
{
    struct event event;
    do {
        enum answer answer = equations_update(model, function, &event);
        if (answer >= ANSWER_DISCARD) return answer;
        info->stateValuesChanged |= event.values_changed;
    } while (event.needs_update && !event.terminate && !once);
    info->iterationConverged = !event.needs_update;
    info->terminateSimulation = event.terminate;
    info->upcomingTimeEvent = event.has_next;
    info->nextEventTime = event.next;
    if (event.needs_update || event.terminate) return ANSWER_OK;
    return equations_enter_continuous_time(model, function);
}

static enum answer come_to_life(struct instance *model, const char *function, fmiEventInfo *info)
{
    enum answer answer = equations_enter_initialization(model, function, model->time);
    if (answer <= ANSWER_WARNING) answer = equations_exit_initialization(model, function);
    return answer <= ANSWER_WARNING ? iterate(model, function, false, info) : answer;
}

static enum answer handle_event(struct instance *model, const char *function, bool once, fmiEventInfo *info)
{
    enum answer answer = ANSWER_OK;
    /* An iteration that has not converged goes on. */
    if (model->mode != EVENT_MODE) answer = equations_enter_event_mode(model, function, CONTINUOUS_TIME, NULL);
    return answer <= ANSWER_WARNING ? iterate(model, function, once, info) : answer;
}

fmiStatus fmiInitialize(fmiComponent c, fmiBoolean toleranceControlled, fmiReal relativeTolerance, fmiEventInfo *eventInfo)
{
    (void)toleranceControlled, (void)relativeTolerance;
    struct instance *model = MODEL(c);
    *eventInfo = (fmiEventInfo){0};
    enum answer answer = equations_called(model, "fmiInitialize", INSTANTIATED);
    if (answer >= ANSWER_DISCARD) return (fmiStatus)answer;
    model->nested = true;
    enum answer done = come_to_life(model, "fmiInitialize", eventInfo);
    model->nested = false;
    return (fmiStatus)(done > answer ? done : answer);
}

fmiStatus fmiEventUpdate(fmiComponent c, fmiBoolean intermediateResults, fmiEventInfo *eventInfo)
{
    struct instance *model = MODEL(c);
    *eventInfo = (fmiEventInfo){0};
    enum answer answer = equations_called(model, "fmiEventUpdate", INITIALIZED);
    if (answer >= ANSWER_DISCARD) return (fmiStatus)answer;
    model->nested = true;
    enum answer done = handle_event(model, "fmiEventUpdate", intermediateResults, eventInfo);
    model->nested = false;
    return (fmiStatus)(done > answer ? done : answer);
}

fmiStatus fmiTerminate(fmiComponent c)
{
    return (fmiStatus)equations_terminate(MODEL(c), "fmiTerminate");
}

/* ---- Time and states ---- */

fmiStatus fmiSetTime(fmiComponent c, fmiReal time)
{
    struct instance *model = MODEL(c);
    /* The start time, which fmiInitialize does not tell. */
    if (model->mode == INSTANTIATED) {
        model->time = time;
        return (fmiStatus)equations_called(model, "fmiSetTime", INSTANTIATED);
    }
    return (fmiStatus)equations_set_time(model, "fmiSetTime", time);
}

fmiStatus fmiSetContinuousStates(fmiComponent c, const fmiReal x[], size_t nx)
{
    return (fmiStatus)equations_set_states(MODEL(c), "fmiSetContinuousStates", x, nx);
}

fmiStatus fmiCompletedIntegratorStep(fmiComponent c, fmiBoolean *callEventUpdate)
{
    struct completed completed = {0};
    enum answer answer = equations_completed(MODEL(c), "fmiCompletedIntegratorStep", &completed);
    *callEventUpdate = completed.enter_event_mode;
    return (fmiStatus)answer;
}

fmiStatus fmiGetDerivatives(fmiComponent c, fmiReal derivatives[], size_t nx)
{
    return (fmiStatus)equations_get_derivatives(MODEL(c), "fmiGetDerivatives", INITIALIZED, derivatives, nx);
}

fmiStatus fmiGetEventIndicators(fmiComponent c, fmiReal eventIndicators[], size_t ni)
{
    return (fmiStatus)equations_get_indicators(MODEL(c), "fmiGetEventIndicators", INITIALIZED, eventIndicators, ni);
}

fmiStatus fmiGetContinuousStates(fmiComponent c, fmiReal x[], size_t nx)
{
    return (fmiStatus)equations_get_states(MODEL(c), "fmiGetContinuousStates", INITIALIZED, x, nx);
}

fmiStatus fmiGetNominalContinuousStates(fmiComponent c, fmiReal nominals[], size_t nx)
{
    return (fmiStatus)equations_get_nominals(MODEL(c), "fmiGetNominalContinuousStates", INITIALIZED, nominals, nx);
}

fmiStatus fmiGetStateValueReferences(fmiComponent c, fmiValueReference references[], size_t nx)
{
    enum answer answer = equations_called(MODEL(c), "fmiGetStateValueReferences", INITIALIZED);
    if (answer >= ANSWER_DISCARD) return (fmiStatus)answer;
    size_t found = 0;
    for (size_t i = 0; i < equations.variable_count; i++) {
        if (equations.variables[i].role != STATE && equations.variables[i].role != CALCULATED_STATE) continue;
        if (found < nx) references[found] = equations.variables[i].reference;
        found++;
    }
    if (found != nx) return (fmiStatus)equations_refuse(MODEL(c), "fmiGetStateValueReferences", "the number of states is wrong.");
    return (fmiStatus)answer;
}

/* ---- Variables. All of them are scalars. ---- */

#define ACCESS(Type, type, kept)                                                                                      \
    fmiStatus fmiGet##Type(fmiComponent c, const fmiValueReference references[], size_t n, fmi##Type values[])        \
    {                                                                                                                 \
        enum answer answer = equations_called(MODEL(c), "fmiGet" #Type, INSTANTIATED | INITIALIZED | TERMINATED);     \
        if (answer >= ANSWER_DISCARD) return (fmiStatus)answer;                                                       \
        enum answer computed = equations_compute(MODEL(c), references, n, type);                                      \
        if (computed > answer) answer = computed;                                                                     \
        for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {                                                  \
            size_t elements;                                                                                          \
            const kept *place = equations_place_to_get(MODEL(c), "fmiGet" #Type, references[i], type, &elements);     \
            if (!place) return fmiError;                                                                              \
            values[i] = *place;                                                                                       \
        }                                                                                                             \
        return (fmiStatus)answer;                                                                                     \
    }                                                                                                                 \
    fmiStatus fmiSet##Type(fmiComponent c, const fmiValueReference references[], size_t n, const fmi##Type values[])  \
    {                                                                                                                 \
        struct instance *model = MODEL(c);                                                                            \
        enum answer answer = equations_called(model, "fmiSet" #Type, INSTANTIATED | INITIALIZED);                     \
        for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {                                                  \
            size_t elements;                                                                                          \
            kept *place = equations_place_to_set(model, "fmiSet" #Type, references[i], type, &elements);              \
            if (!place) return fmiError;                                                                              \
            *place = values[i];                                                                                       \
        }                                                                                                             \
        return (fmiStatus)answer;                                                                                     \
    }

ACCESS(Real, REAL, double)
ACCESS(Integer, INTEGER, int32_t)
ACCESS(Boolean, BOOLEAN, bool)

fmiStatus fmiGetString(fmiComponent c, const fmiValueReference references[], size_t n, fmiString values[])
{
    enum answer answer = equations_called(MODEL(c), "fmiGetString", INSTANTIATED | INITIALIZED | TERMINATED);
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {
        size_t elements;
        values[i] = equations_place_to_get(MODEL(c), "fmiGetString", references[i], TEXT, &elements);
        if (!values[i]) return fmiError;
    }
    return (fmiStatus)answer;
}

fmiStatus fmiSetString(fmiComponent c, const fmiValueReference references[], size_t n, const fmiString values[])
{
    enum answer answer = equations_called(MODEL(c), "fmiSetString", INSTANTIATED | INITIALIZED);
    for (size_t i = 0; i < n && answer <= ANSWER_WARNING; i++) {
        size_t elements;
        char *place = equations_place_to_set(MODEL(c), "fmiSetString", references[i], TEXT, &elements);
        if (!place) return fmiError;
        if (strlen(values[i]) >= TEXT_SIZE) return (fmiStatus)equations_refuse(MODEL(c), "fmiSetString", "the text is too long.");
        strcpy(place, values[i]);
    }
    return (fmiStatus)answer;
}
