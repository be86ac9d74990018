/* A switch that its input throws, and what it switches on adds up:
 *
 *   der(x) = on    z = u - 0.5
 *   in each iteration of an event: on := 1 where u > 0.5, else 0
 *
 * So an input that jumps over 0.5 makes a state event, and the switch takes what the input has in Event Mode: an importer that sets it
 * only afterwards, or takes the other side of 0.5 for one that was always there, leaves the switch where it was. A time event at `next`
 * notes in `seen` what the input was then. */

#include "equations.h"

struct threshold {
    struct instance instance;
    double x, der, z, u, on, next, seen;
    bool is_over; /* the time event */
    int32_t updates;
};

#define LEVEL 0.5

#define AT(member) offsetof(struct threshold, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, STATE, AT(x), 0},
    {2, REAL, DERIVATIVE, AT(der), 0},
    {3, REAL, INDICATOR, AT(z), 0},
    {4, REAL, CONTINUOUS_INPUT, AT(u), 0},
    {5, REAL, OUTPUT, AT(on), 0},
    {6, REAL, FIXED, AT(next), 0},
    {7, REAL, OUTPUT, AT(seen), 0},
    {8, INTEGER, OUTPUT, AT(updates), 0},
};

static void start(void *model)
{
    struct threshold *threshold = model;
    threshold->next = 1e9;
    threshold->seen = -1.0;
}

static enum answer derivatives(void *model)
{
    struct threshold *threshold = model;
    threshold->der = threshold->on;
    return ANSWER_OK;
}

static enum answer indicators(void *model)
{
    struct threshold *threshold = model;
    threshold->z = threshold->u - LEVEL;
    return ANSWER_OK;
}

static void update(void *model, struct event *event)
{
    struct threshold *threshold = model;
    threshold->updates++;
    threshold->on = threshold->u > LEVEL ? 1.0 : 0.0;
    if (threshold->instance.time < threshold->next) {
        event->has_next = true;
        event->next = threshold->next;
    } else if (!threshold->is_over) {
        threshold->seen = threshold->u;
        threshold->is_over = true;
    }
}

const struct equations equations = {
    .token = "{vecud-threshold-1}",
    .size = sizeof(struct threshold),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_count = 1,
    .indicator_count = 1,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .indicator_offset = AT(z),
    .start = start,
    .derivatives = derivatives,
    .indicators = indicators,
    .update = update,
};
