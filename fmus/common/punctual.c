/* Time events to the last bit: at `every`, 2 `every`, ... as a product, without anything that is taken for rounding. After each the model asks
 * `again` times for an event at the same time. It counts:
 *
 *   events       time events that have come
 *   late         of these, such as came after their time
 *   idle         events in which there was nothing to do
 *   incomplete   events at a time at which no integrator step was completed
 *
 * With `creep` each event after the first one tells the next one as many units in the last place later, so that time hardly goes on. The
 * indicator z becomes positive behind `root` (if that is above 0); `crossings` counts the events that find it so for the first time.
 *
 * x, which grows by u a second, keeps a solver busy; `seen` is u in the last time event. */

#include "equations.h"
#include <math.h>
#include <string.h>

struct punctual {
    struct instance instance;
    double x, der, z, u, every, root, seen, start, completed_at, crept;
    int32_t again, creep, events, late, idle, incomplete, crossings, left_again;
    bool has_begun;
};

#define AT(member) offsetof(struct punctual, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, STATE, AT(x), 0},
    {2, REAL, DERIVATIVE, AT(der), 0},
    {3, REAL, CONTINUOUS_INPUT, AT(u), 0},
    {4, REAL, FIXED, AT(every), 0},
    {5, INTEGER, FIXED, AT(again), 0},
    {6, REAL, OUTPUT, AT(seen), 0},
    {7, INTEGER, OUTPUT, AT(events), 0},
    {8, INTEGER, OUTPUT, AT(late), 0},
    {9, INTEGER, OUTPUT, AT(idle), 0},
    {10, INTEGER, OUTPUT, AT(incomplete), 0},
    {11, INTEGER, FIXED, AT(creep), 0},
    {12, REAL, FIXED, AT(root), 0},
    {13, INTEGER, OUTPUT, AT(crossings), 0},
    {14, REAL, INDICATOR, AT(z), 0},
};

static void start(void *model)
{
    struct punctual *punctual = model;
    punctual->every = 0.1;
}

static void initialize(void *model)
{
    struct punctual *punctual = model;
    punctual->start = punctual->completed_at = punctual->instance.time;
}

static enum answer derivatives(void *model)
{
    struct punctual *punctual = model;
    punctual->der = punctual->u;
    return ANSWER_OK;
}

static enum answer indicators(void *model)
{
    struct punctual *punctual = model;
    punctual->z = punctual->root > 0.0 ? punctual->instance.time - punctual->root : -1.0;
    return ANSWER_OK;
}

static double next(const struct punctual *punctual)
{
    if (punctual->creep > 0 && punctual->events > 0) return punctual->crept;
    return punctual->start + (punctual->events + 1) * punctual->every;
}

static void update(void *model, struct event *event)
{
    struct punctual *punctual = model;
    double time = punctual->instance.time;
    bool crosses = punctual->root > 0.0 && time > punctual->root && punctual->crossings == 0;
    punctual->crossings += crosses;
    if (time >= next(punctual)) {
        punctual->late += time > next(punctual);
        punctual->events++;
        punctual->crept = time;
        for (int32_t ulp = 0; ulp < punctual->creep; ulp++) punctual->crept = nextafter(punctual->crept, INFINITY);
        punctual->seen = punctual->u;
        punctual->left_again = punctual->again;
    } else if (punctual->left_again > 0) {
        punctual->left_again--;
    } else if (punctual->has_begun && !crosses) {
        punctual->idle++;
    }
    punctual->incomplete += punctual->completed_at != time;
    punctual->has_begun = true;
    event->has_next = true;
    event->next = punctual->left_again > 0 ? time : next(punctual);
}

/* What creeps may be passed. */
static enum answer meddle(void *model, const char *function)
{
    struct punctual *punctual = model;
    (void)function;
    punctual->instance.has_next &= punctual->creep == 0;
    return ANSWER_OK;
}

static void completed(void *model, struct completed *completed)
{
    struct punctual *punctual = model;
    (void)completed;
    punctual->completed_at = punctual->instance.time;
    punctual->left_again = 0;
}

const struct equations equations = {
    .token = "{vecud-punctual-1}",
    .size = sizeof(struct punctual),
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
    .meddle = meddle,
};
