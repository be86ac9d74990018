/* Fails as its parameters say: the call number `call` of `function` in one of the modes `mode`, and the calls after it up to `times` of
 * them, are answered with `status`. Calls are counted from the start values on; a mode is a bit of `enum mode` (equations.h), 0 is any.
 * With Warning the call is carried out, with all others it is not. After Error the instance can only be reset, restored or freed, after
 * Fatal nothing is allowed any more, and a call that comes all the same is logged.
 *
 * So that an importer has every reason to call every function, something happens all the time: x rises by gain + u + d, 1 at first, a
 * second and falls back to 0 at 1 (a state event that changes value and nominal of the state), there is a time event each quarter of a second, and every tenth
 * completed step asks for an event. Each event takes two iterations. */

#include "equations.h"
#include <string.h>

enum { DER_X = 2, U = 4, D = 6 };

struct failing {
    struct instance instance;
    double x, der, z, u, gain, d;
    char function[TEXT_SIZE];
    int32_t status, mode, call, times;
    int32_t calls; /* of that function in these modes */
    int32_t steps, events, falls;
    double last_time_event, start;
    bool has_iterated; /* in the present event */
};

#define AT(member) offsetof(struct failing, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, STATE, AT(x), 0},
    {DER_X, REAL, DERIVATIVE, AT(der), 0},
    {3, REAL, INDICATOR, AT(z), 0},
    {U, REAL, CONTINUOUS_INPUT, AT(u), 0},
    {5, REAL, TUNABLE, AT(gain), 0},
    {D, REAL, DISCRETE_INPUT, AT(d), 0},
    {10, TEXT, FIXED, AT(function), 0},
    {11, INTEGER, FIXED, AT(status), 0},
    {12, INTEGER, FIXED, AT(mode), 0},
    {13, INTEGER, FIXED, AT(call), 0},
    {14, INTEGER, FIXED, AT(times), 0},
    {20, INTEGER, OUTPUT, AT(calls), 0},
    {21, INTEGER, OUTPUT, AT(events), 0},
    {22, INTEGER, OUTPUT, AT(falls), 0},
};

static void start(void *model)
{
    struct failing *failing = model;
    failing->gain = 1.0;
    failing->call = failing->times = 1;
}

static void initialize(void *model)
{
    struct failing *failing = model;
    failing->start = failing->last_time_event = failing->instance.time;
}

static enum answer derivatives(void *model)
{
    struct failing *failing = model;
    failing->der = failing->gain + failing->u + failing->d;
    return ANSWER_OK;
}

static enum answer indicators(void *model)
{
    struct failing *failing = model;
    failing->z = 1.0 - failing->x;
    return ANSWER_OK;
}

static void update(void *model, struct event *event)
{
    struct failing *failing = model;
    double time = failing->instance.time;
    failing->has_iterated = !failing->has_iterated;
    event->needs_update = failing->has_iterated;
    failing->events += !event->needs_update;
    if (time - failing->last_time_event > 0.25 - 1e-9) failing->last_time_event += 0.25;
    event->has_next = true;
    event->next = failing->last_time_event + 0.25;
    indicators(model);
    if (failing->z > 0.0) return;
    failing->x = 0.0;
    failing->falls++;
    event->values_changed = event->nominals_changed = true;
}

static void completed(void *model, struct completed *completed)
{
    struct failing *failing = model;
    completed->enter_event_mode = ++failing->steps % 10 == 0;
}

static void nominals(void *model, double nominals[])
{
    struct failing *failing = model;
    nominals[0] = 1.0 + failing->falls;
}

static double partial(void *model, uint32_t unknown, uint32_t known)
{
    (void)model;
    return unknown == DER_X && (known == U || known == D);
}

static enum answer meddle(void *model, const char *function)
{
    struct failing *failing = model;
    if (strcmp(function, failing->function) != 0) return ANSWER_OK;
    if (failing->mode != 0 && !(failing->instance.mode & (unsigned)failing->mode)) return ANSWER_OK;
    failing->calls++;
    bool fails = failing->calls >= failing->call && failing->calls - failing->call < failing->times;
    return fails ? (enum answer)failing->status : ANSWER_OK;
}

const struct equations equations = {
    .token = "{vecud-failing-1}",
    .size = sizeof(struct failing),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_count = 1,
    .indicator_count = 1,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .indicator_offset = AT(z),
    .start = start,
    .initialize = initialize,
    .derivatives = derivatives,
    .indicators = indicators,
    .update = update,
    .completed = completed,
    .nominals = nominals,
    .partial = partial,
    .meddle = meddle,
};
