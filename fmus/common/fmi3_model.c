/* See fmi3_model.h. No allocation after instantiation, no stdio on the way to a partition. */

#include "fmi3_model.h"
#include <stdlib.h>
#include <string.h>

/* ---- For the model's partitions ---- */

void fmu_lock(void *model)
{
    ((struct fmu_base *)model)->lock_preemption();
}

void fmu_unlock(void *model)
{
    ((struct fmu_base *)model)->unlock_preemption();
}

void fmu_arm(struct fmu_countdown *countdown, double interval)
{
    countdown->interval = interval;
    countdown->armed_once = true;
    countdown->pending = true;
}

void fmu_clock_update(void *model)
{
    struct fmu_base *base = model;
    base->clock_update(base->environment);
}

/* ---- Life of an instance ---- */

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    (void)resourcePath, (void)visible;
    struct fmu_base *base = calloc(1, model_size);
    if (!base) return NULL;
    if (!fmu_base_init(base, model_token, instanceName, instantiationToken, loggingOn, instanceEnvironment, logMessage,
                       clockUpdate, lockPreemption, unlockPreemption)) {
        free(base);
        return NULL;
    }
    model_set_start_values(base);
    return base;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    if (!instance) return;
    fmu_base_release(instance);
    free(instance);
}

static fmi3Status failed(struct fmu_base *base, const char *function, const char *why)
{
    base->state = FMU_FAILED;
    return fmu_log(base, fmi3Error, "%s: %s", function, why);
}

static const char wrong_state[] = "this call is not allowed in the present state.";

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance, (void)stopTimeDefined, (void)stopTime;
    struct fmu_base *base = instance;
    if (base->state != FMU_INSTANTIATED) return failed(base, "fmi3EnterInitializationMode", wrong_state);
    base->start_time = startTime;
    base->state = FMU_INITIALIZATION;
    model_initialize(base, startTime); /* outputs may be read from here on */
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    struct fmu_base *base = instance;
    if (base->state != FMU_INITIALIZATION) return failed(base, "fmi3ExitInitializationMode", wrong_state);
    model_initialize(base, base->start_time);
    base->state = FMU_CLOCK_ACTIVATION;
    return fmi3OK;
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    struct fmu_base *base = instance;
    if (base->state != FMU_CLOCK_ACTIVATION) return failed(base, "fmi3Terminate", wrong_state);
    base->state = FMU_TERMINATED;
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    struct fmu_base *base = instance;
    memset(base + 1, 0, model_size - sizeof *base);
    model_set_start_values(base);
    base->state = FMU_INSTANTIATED;
    return fmi3OK;
}

/* ---- The state of an instance: everything behind its common head, and what of the head is no pointer ---- */

struct model_state {
    size_t size; /* of all of it, for the check of what comes back from a file */
    int state;
    double start_time;
    char token[64];
    max_align_t model[];
};

static size_t own_size(void)
{
    return model_size - sizeof(struct fmu_base);
}

static size_t state_size(void)
{
    return sizeof(struct model_state) + own_size();
}

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    struct fmu_base *base = instance;
    struct model_state *copy = *state;
    if (!copy) copy = calloc(1, state_size());
    if (!copy) return failed(base, "fmi3GetFMUState", "there is no memory for it.");
    copy->size = state_size();
    copy->state = base->state;
    copy->start_time = base->start_time;
    strncpy(copy->token, model_token, sizeof copy->token - 1);
    memcpy(copy->model, base + 1, own_size());
    *state = copy;
    return fmi3OK;
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state)
{
    struct fmu_base *base = instance;
    const struct model_state *copy = state;
    if (!copy) return failed(base, "fmi3SetFMUState", "there is no state.");
    memcpy(base + 1, copy->model, own_size());
    base->start_time = copy->start_time;
    base->state = copy->state;
    return fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    (void)instance;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    if (!state) return failed(instance, "fmi3SerializedFMUStateSize", "there is no state.");
    *size = state_size();
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (!state || size != state_size())
        return failed(instance, "fmi3SerializeFMUState", "there is no state, or no room for it.");
    memcpy(bytes, state, size);
    return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    struct model_state head;
    bool known = size == state_size();
    if (known) memcpy(&head, bytes, sizeof head);
    if (!known || head.size != size || strncmp(head.token, model_token, sizeof head.token) != 0)
        return failed(instance, "fmi3DeserializeFMUState", "this is no state of this FMU.");
    if (!*state) *state = malloc(size);
    if (!*state) return failed(instance, "fmi3DeserializeFMUState", "there is no memory for it.");
    memcpy(*state, bytes, size);
    return fmi3OK;
}

/* ---- Variables ---- */

static const struct fmu_variable *find(fmi3ValueReference vr)
{
    for (size_t i = 0; i < model_variable_count; i++)
        if (model_variables[i].vr == vr) return &model_variables[i];
    return NULL;
}

static bool may_set(const struct fmu_base *base, const struct fmu_variable *variable)
{
    switch ((int)base->state) {
    case FMU_INSTANTIATED:
    case FMU_INITIALIZATION:
        return variable->role == FMU_FIXED || variable->role == FMU_TUNABLE || variable->role == FMU_INPUT;
    case FMU_CLOCK_ACTIVATION: return variable->role == FMU_TUNABLE || variable->role == FMU_INPUT;
    default: return false;
    }
}

__attribute__((weak)) bool model_may_set(const void *model, fmi3ValueReference vr)
{
    (void)model, (void)vr;
    return true;
}

__attribute__((weak)) bool model_may_get(const void *model, fmi3ValueReference vr)
{
    (void)model, (void)vr;
    return true;
}

static fmi3Status access_values(struct fmu_base *base, const char *function, bool setting, enum fmu_type type,
                                size_t size, const fmi3ValueReference vrs[], size_t n, char *values, size_t n_values)
{
    if (base->state == FMU_FAILED) return fmi3Error;
    size_t elements = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fmu_variable *variable = find(vrs[i]);
        if (!variable || variable->type != type) return failed(base, function, "there is no such variable.");
        char *place = (char *)base + variable->offset;
        size_t own = variable->elements ? variable->elements : 1, first = elements;
        elements += own;
        if (elements > n_values) return failed(base, function, "the number of values is wrong.");
        if (setting) {
            if (!may_set(base, variable) || !model_may_set(base, vrs[i])) return failed(base, function, "this variable cannot be set now.");
            memcpy(place, values + first * size, own * size);
        } else {
            if (!model_may_get(base, vrs[i])) return failed(base, function, "this variable cannot be read now.");
            memcpy(values + first * size, place, own * size);
        }
    }
    return elements == n_values ? fmi3OK : failed(base, function, "the number of values is wrong.");
}

#define ACCESS(Type, type)                                                                                            \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3##Type values[],    \
                             size_t n_values)                                                                         \
    {                                                                                                                 \
        return access_values(instance, "fmi3Get" #Type, false, type, sizeof *values, vrs, n, (char *)values,          \
                             n_values);                                                                               \
    }                                                                                                                 \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,                         \
                             const fmi3##Type values[], size_t n_values)                                              \
    {                                                                                                                 \
        return access_values(instance, "fmi3Set" #Type, true, type, sizeof *values, vrs, n, (char *)values,           \
                             n_values);                                                                               \
    }

ACCESS(Float64, FMU_FLOAT64)
ACCESS(UInt64, FMU_UINT64)
ACCESS(Boolean, FMU_BOOLEAN)

/* ---- Clocks ---- */

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
                                      fmi3Float64 activationTime)
{
    struct fmu_base *base = instance;
    if (base->state != FMU_CLOCK_ACTIVATION) return failed(base, "fmi3ActivateModelPartition", wrong_state);
    const struct fmu_variable *clock = find(clockReference);
    if (!clock || (clock->type != FMU_INPUT_CLOCK && clock->type != FMU_COUNTDOWN_CLOCK))
        return failed(base, "fmi3ActivateModelPartition", "there is no such input clock.");
    model_activate(base, clockReference, activationTime);
    return fmi3OK;
}

/* A model whose clocks are more than that has functions of its own. */
#ifndef MODEL_HAS_OWN_CLOCKS

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Clock values[])
{
    struct fmu_base *base = instance;
    if (base->state != FMU_CLOCK_ACTIVATION) return failed(base, "fmi3GetClock", wrong_state);
    for (size_t i = 0; i < nValueReferences; i++) {
        const struct fmu_variable *clock = find(valueReferences[i]);
        if (!clock || clock->type != FMU_OUTPUT_CLOCK)
            return failed(base, "fmi3GetClock", "there is no such output clock.");
        values[i] = atomic_exchange((fmu_tick *)((char *)base + clock->offset), false);
    }
    return fmi3OK;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, fmi3Float64 intervals[],
                                  fmi3IntervalQualifier qualifiers[])
{
    struct fmu_base *base = instance;
    if (base->state != FMU_INITIALIZATION && base->state != FMU_CLOCK_ACTIVATION)
        return failed(base, "fmi3GetIntervalDecimal", wrong_state);
    for (size_t i = 0; i < nValueReferences; i++) {
        const struct fmu_variable *clock = find(valueReferences[i]);
        if (!clock || clock->type != FMU_COUNTDOWN_CLOCK)
            return failed(base, "fmi3GetIntervalDecimal", "there is no such countdown clock.");
        struct fmu_countdown *countdown = (struct fmu_countdown *)((char *)base + clock->offset);
        intervals[i] = countdown->interval;
        if (!countdown->armed_once)
            qualifiers[i] = fmi3IntervalNotYetKnown;
        else
            qualifiers[i] = atomic_exchange(&countdown->pending, false) ? fmi3IntervalChanged : fmi3IntervalUnchanged;
    }
    return fmi3OK;
}

#endif
