/* What FMI 3.0 and its draft of January 2021 have alike for a model that is written as its equations (see equations.h). */

#include "fmi3_alike.h"
#include "equations.h"
#include <string.h>

#define MODEL(instance) equations_model(instance)

const bool equations_have_event_mode = true;

/* FMI 3.0 restricts what can be set, but not what can be read. */
bool equations_can_read(enum mode mode, enum role role)
{
    (void)mode, (void)role;
    return true;
}

/* ---- From mode to mode ---- */

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance, (void)stopTimeDefined, (void)stopTime;
    return (fmi3Status)equations_enter_initialization(MODEL(instance), __func__, startTime);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    return (fmi3Status)equations_exit_initialization(MODEL(instance), __func__);
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance)
{
    return (fmi3Status)equations_enter_configuration(MODEL(instance), __func__);
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance)
{
    return (fmi3Status)equations_exit_configuration(MODEL(instance), __func__);
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    return (fmi3Status)equations_terminate(MODEL(instance), __func__);
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    return (fmi3Status)equations_reset(MODEL(instance), __func__);
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
                                    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime)
{
    struct event event = {0};
    enum answer answer = equations_update(MODEL(instance), __func__, &event);
    *discreteStatesNeedUpdate = event.needs_update;
    *terminateSimulation = event.terminate;
    *nominalsOfContinuousStatesChanged = event.nominals_changed;
    *valuesOfContinuousStatesChanged = event.values_changed;
    *nextEventTimeDefined = event.has_next;
    *nextEventTime = event.next;
    return (fmi3Status)answer;
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance)
{
    return (fmi3Status)equations_enter_continuous_time(MODEL(instance), __func__);
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi3Boolean *enterEventMode, fmi3Boolean *terminateSimulation)
{
    (void)noSetFMUStatePriorToCurrentPoint;
    struct completed completed = {0};
    enum answer answer = equations_completed(MODEL(instance), __func__, &completed);
    *enterEventMode = completed.enter_event_mode;
    *terminateSimulation = completed.terminate;
    return (fmi3Status)answer;
}

/* ---- Time and states ---- */

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time)
{
    return (fmi3Status)equations_set_time(MODEL(instance), __func__, time);
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 continuousStates[], size_t nContinuousStates)
{
    return (fmi3Status)equations_set_states(MODEL(instance), __func__, continuousStates, nContinuousStates);
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 continuousStates[], size_t nContinuousStates)
{
    return (fmi3Status)equations_get_states(MODEL(instance), __func__, WITH_VALUES, continuousStates, nContinuousStates);
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 eventIndicators[], size_t nEventIndicators)
{
    return (fmi3Status)equations_get_indicators(MODEL(instance), __func__, WITH_VALUES, eventIndicators, nEventIndicators);
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[], size_t nContinuousStates)
{
    return (fmi3Status)equations_get_nominals(MODEL(instance), __func__, WITH_VALUES, nominals, nContinuousStates);
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *nContinuousStates)
{
    const struct instance *model = MODEL(instance);
    enum answer answer = equations_called(MODEL(instance), __func__, ~(unsigned)(FAILED | LOST));
    if (answer <= ANSWER_WARNING) *nContinuousStates = model->state_count;
    return (fmi3Status)answer;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *nEventIndicators)
{
    const struct instance *model = MODEL(instance);
    enum answer answer = equations_called(MODEL(instance), __func__, ~(unsigned)(FAILED | LOST));
    if (answer <= ANSWER_WARNING) *nEventIndicators = model->indicator_count;
    return (fmi3Status)answer;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                        const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                        size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity)
{
    return (fmi3Status)equations_directional(MODEL(instance), __func__, unknowns, nUnknowns, knowns, nKnowns, seed, nSeed,
                                             sensitivity, nSensitivity);
}

/* ---- Variables ---- */

#define READABLE (INSTANTIATED | CONFIGURATION | WITH_VALUES)
#define SETTABLE (INSTANTIATED | CONFIGURATION | INITIALIZATION | EVENT_MODE | CONTINUOUS_TIME)

static enum answer get_values(void *model, const char *function, enum value_type type, size_t size,
                              const fmi3ValueReference references[], size_t n, char *values, size_t n_values)
{
    enum answer answer = equations_called(model, function, READABLE);
    if (answer >= ANSWER_DISCARD) return answer;
    enum answer computed = equations_compute(model, references, n, type);
    if (computed > answer) answer = computed;
    if (answer >= ANSWER_ERROR) return equations_refuse(model, function, "the model cannot be computed.");
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        size_t elements = 0;
        const void *place = equations_place_to_get(model, function, references[i], type, &elements);
        if (!place) return ANSWER_ERROR;
        if (done + elements > n_values) return equations_refuse(model, function, "there is no room for all values.");
        memcpy(values + done * size, place, elements * size);
        done += elements;
    }
    return done == n_values ? answer : equations_refuse(model, function, "there are fewer values than that.");
}

static enum answer set_values(void *model, const char *function, enum value_type type, size_t size,
                              const fmi3ValueReference references[], size_t n, const char *values, size_t n_values)
{
    enum answer answer = equations_called(model, function, SETTABLE);
    if (answer >= ANSWER_DISCARD) return answer;
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        size_t elements = 0;
        void *place = equations_place_to_set(model, function, references[i], type, &elements);
        if (!place) return ANSWER_ERROR;
        if (done + elements > n_values) return equations_refuse(model, function, "there are too few values.");
        memcpy(place, values + done * size, elements * size);
        done += elements;
    }
    return done == n_values ? answer : equations_refuse(model, function, "there are too many values.");
}

#define ACCESS(Type, type)                                                                                            \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference references[], size_t n,                  \
                             fmi3##Type values[], size_t n_values)                                                    \
    {                                                                                                                 \
        return (fmi3Status)get_values(MODEL(instance), __func__, type, sizeof *values, references, n, (char *)values, \
                                      n_values);                                                                      \
    }                                                                                                                 \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference references[], size_t n,                  \
                             const fmi3##Type values[], size_t n_values)                                              \
    {                                                                                                                 \
        return (fmi3Status)set_values(MODEL(instance), __func__, type, sizeof *values, references, n,                 \
                                      (const char *)values, n_values);                                                \
    }

ACCESS(Float64, REAL)
ACCESS(Int32, INTEGER)
ACCESS(UInt64, COUNT)
ACCESS(Boolean, BOOLEAN)

fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference references[], size_t n, fmi3String values[],
                         size_t n_values)
{
    void *model = MODEL(instance);
    enum answer answer = equations_called(model, __func__, READABLE);
    if (answer >= ANSWER_DISCARD) return (fmi3Status)answer;
    if (n != n_values) return (fmi3Status)equations_refuse(model, __func__, "the number of values is wrong.");
    for (size_t i = 0; i < n; i++) {
        size_t elements = 0;
        values[i] = equations_place_to_get(model, __func__, references[i], TEXT, &elements);
        if (!values[i]) return fmi3Error;
    }
    return (fmi3Status)answer;
}

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference references[], size_t n,
                         const fmi3String values[], size_t n_values)
{
    void *model = MODEL(instance);
    enum answer answer = equations_called(model, __func__, SETTABLE);
    if (answer >= ANSWER_DISCARD) return (fmi3Status)answer;
    if (n != n_values) return (fmi3Status)equations_refuse(model, __func__, "the number of values is wrong.");
    for (size_t i = 0; i < n; i++) {
        size_t elements = 0;
        char *place = equations_place_to_set(model, __func__, references[i], TEXT, &elements);
        if (!place) return fmi3Error;
        if (strlen(values[i]) >= TEXT_SIZE) return (fmi3Status)equations_refuse(model, __func__, "the text is too long.");
        strcpy(place, values[i]);
    }
    return (fmi3Status)answer;
}

/* ---- Saved states. One in a file begins with a head that says whose it is. ---- */

struct file_head {
    uint64_t size;
    char token[TEXT_SIZE];
};

static struct file_head file_head(void)
{
    struct file_head head = {.size = sizeof head + equations.size};
    strncpy(head.token, equations.token, sizeof head.token - 1);
    return head;
}

#define WITH_STATE (~(unsigned)LOST)

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *FMUState)
{
    void *model = MODEL(instance);
    enum answer answer = equations_called(model, __func__, WITH_STATE);
    if (answer >= ANSWER_DISCARD) return (fmi3Status)answer;
    *FMUState = equations_save(model, *FMUState);
    if (!*FMUState) return (fmi3Status)equations_refuse(model, __func__, "there is no memory for it.");
    return (fmi3Status)answer;
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState FMUState)
{
    void *model = MODEL(instance);
    enum answer answer = equations_called(model, __func__, WITH_STATE);
    if (answer >= ANSWER_DISCARD) return (fmi3Status)answer;
    if (!FMUState) return (fmi3Status)equations_refuse(model, __func__, "there is no state.");
    equations_restore(model, FMUState);
    return (fmi3Status)answer;
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *FMUState)
{
    enum answer answer = equations_called(MODEL(instance), __func__, WITH_STATE);
    if (answer >= ANSWER_DISCARD) return (fmi3Status)answer;
    equations_free(*FMUState);
    *FMUState = NULL;
    return (fmi3Status)answer;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState FMUState, size_t *size)
{
    enum answer answer = equations_called(MODEL(instance), __func__, WITH_STATE);
    if (answer >= ANSWER_DISCARD) return (fmi3Status)answer;
    if (!FMUState) return (fmi3Status)equations_refuse(MODEL(instance), __func__, "there is no state.");
    *size = file_head().size;
    return (fmi3Status)answer;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState FMUState, fmi3Byte serializedState[], size_t size)
{
    enum answer answer = equations_called(MODEL(instance), __func__, WITH_STATE);
    if (answer >= ANSWER_DISCARD) return (fmi3Status)answer;
    struct file_head head = file_head();
    if (!FMUState || size != head.size)
        return (fmi3Status)equations_refuse(MODEL(instance), __func__, "there is no state, or no room for it.");
    memcpy(serializedState, &head, sizeof head);
    memcpy(serializedState + sizeof head, FMUState, equations.size);
    /* An address in this process is of no use in another one, and would make equal states differ. */
    memset(serializedState + sizeof head + offsetof(struct instance, owner), 0, sizeof(void *));
    return (fmi3Status)answer;
}

fmi3Status fmi3_deserialize(fmi3Instance instance, const char *function, const fmi3Byte serializedState[], size_t size,
                            fmi3FMUState *FMUState)
{
    enum answer answer = equations_called(MODEL(instance), function, WITH_STATE);
    if (answer >= ANSWER_DISCARD) return (fmi3Status)answer;
    struct file_head head = file_head();
    if (size != head.size || memcmp(serializedState, &head, sizeof head) != 0)
        return (fmi3Status)equations_refuse(MODEL(instance), function, "this is no state of this FMU.");
    *FMUState = equations_save(serializedState + sizeof head, *FMUState);
    if (!*FMUState) return (fmi3Status)equations_refuse(MODEL(instance), function, "there is no memory for it.");
    return (fmi3Status)answer;
}
