/* Copies of the whole state: parameters, inputs, outputs and what is pending. The trace, the findings so far and the
 * threads are not part of it. Every copy is in a list, so that a foreign or freed one is found. */

#include "tracer.h"
#include <stdlib.h>
#include <string.h>

#define STATE_BEGIN offsetof(struct tracer, settings)
#define STATE_SIZE (offsetof(struct tracer, active) - STATE_BEGIN)

static const char mark[16] = "tracer-state-1";

struct content {
    char mark[16];
    int32_t mode; /* enum fmu_state */
    double start_time;
    unsigned char bytes[STATE_SIZE];
};

struct saved {
    struct saved *next;
    struct content content;
};

void nobody_inside(struct tracer *fmu)
{
    for (uint32_t clock = 0; clock < CLOCKS; clock++) fmu->setter[clock] = fmu->task[clock] = 0;
    fmu->active = fmu->asleep = 0;
    fmu->holder = 0;
}

void states_release(struct tracer *fmu)
{
    while (fmu->states) {
        struct saved *state = fmu->states;
        fmu->states = state->next;
        free(state);
    }
}

static struct saved **find(struct tracer *fmu, fmi3FMUState state)
{
    struct saved **link = &fmu->states;
    while (*link && *link != state) link = &(*link)->next;
    return link;
}

/* Every function begins like this. `state` is what has to be one of ours, NULL if there need not be one. */
static fmi3Status enter(struct tracer *fmu, enum trace_what what, fmi3FMUState state, enum fail_function failure)
{
    trace_begin(fmu, what, NO_CLOCK, 0, 0, 0.0);
    if (fmu->active) {
        violated(fmu, NO_CLOCK, STATE_WHILE_ACTIVE);
        return fmu_log(&fmu->base, fmi3Error, "A function of states while a partition is active.");
    }
    if (state && !*find(fmu, state)) {
        violated(fmu, NO_CLOCK, FOREIGN_STATE);
        return fmu_log(&fmu->base, fmi3Error, "This state is not one of this instance.");
    }
    return fail_in_function(fmu, failure);
}

static fmi3Status leave(struct tracer *fmu, enum trace_what what, const struct saved *state, fmi3Status status)
{
    uint64_t hash = state ? trace_hash(TRACE_HASH_START, state->content.bytes, STATE_SIZE) : 0;
    return trace_end(fmu, what, NO_CLOCK, 0, 0, 0.0, hash, status);
}

static struct saved *new_state(struct tracer *fmu, fmi3FMUState *state)
{
    if (*state) return *state;
    struct saved *saved = calloc(1, sizeof *saved);
    if (!saved) return NULL;
    saved->next = fmu->states;
    fmu->states = saved;
    return *state = saved;
}

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    struct tracer *fmu = instance;
    fmi3Status status = enter(fmu, TRACE_GET_STATE, *state, FAIL_GET_STATE);
    struct saved *saved = NULL;
    if (status < fmi3Discard && !(saved = new_state(fmu, state)))
        status = fmu_log(&fmu->base, fmi3Error, "There is no memory for a state.");
    if (saved) {
        memcpy(saved->content.mark, mark, sizeof mark);
        saved->content.mode = fmu->base.state;
        saved->content.start_time = fmu->base.start_time;
        memcpy(saved->content.bytes, (char *)fmu + STATE_BEGIN, STATE_SIZE);
    }
    return leave(fmu, TRACE_GET_STATE, saved, status);
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state)
{
    struct tracer *fmu = instance;
    fmi3Status status = enter(fmu, TRACE_SET_STATE, state, FAIL_SET_STATE);
    const struct saved *saved = state;
    if (status < fmi3Discard && !saved) status = fmu_log(&fmu->base, fmi3Error, "There is no state.");
    if (status < fmi3Discard) {
        memcpy((char *)fmu + STATE_BEGIN, saved->content.bytes, STATE_SIZE);
        fmu->base.start_time = saved->content.start_time;
        fmu->base.state = saved->content.mode;
        nobody_inside(fmu);
    } else
        saved = NULL;
    return leave(fmu, TRACE_SET_STATE, saved, status);
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    struct tracer *fmu = instance;
    fmi3Status status = enter(fmu, TRACE_FREE_STATE, *state, FAIL_FREE_STATE);
    if (status < fmi3Discard && *state) {
        struct saved **link = find(fmu, *state);
        *link = (*link)->next;
        free(*state);
        *state = NULL;
    }
    return leave(fmu, TRACE_FREE_STATE, NULL, status);
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    struct tracer *fmu = instance;
    fmi3Status status = enter(fmu, TRACE_STATE_SIZE, state, FAIL_STATE_SIZE);
    *size = sizeof(struct content);
    return leave(fmu, TRACE_STATE_SIZE, NULL, status);
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    struct tracer *fmu = instance;
    fmi3Status status = enter(fmu, TRACE_SERIALIZE, state, FAIL_SERIALIZE);
    const struct saved *saved = state;
    if (status < fmi3Discard && (!saved || size != sizeof saved->content))
        status = fmu_log(&fmu->base, fmi3Error, "There is no state, or no room for it.");
    if (status < fmi3Discard) memcpy(bytes, &saved->content, size);
    return leave(fmu, TRACE_SERIALIZE, status < fmi3Discard ? saved : NULL, status);
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    struct tracer *fmu = instance;
    fmi3Status status = enter(fmu, TRACE_DESERIALIZE, *state, FAIL_DESERIALIZE);
    struct saved *saved = NULL;
    if (status < fmi3Discard && (size != sizeof(struct content) || memcmp(bytes, mark, sizeof mark) != 0))
        status = fmu_log(&fmu->base, fmi3Error, "These bytes are no state of this FMU.");
    if (status < fmi3Discard && !(saved = new_state(fmu, state)))
        status = fmu_log(&fmu->base, fmi3Error, "There is no memory for a state.");
    if (saved) memcpy(&saved->content, bytes, size);
    return leave(fmu, TRACE_DESERIALIZE, saved, status);
}
