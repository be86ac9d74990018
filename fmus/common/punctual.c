/* Time events to the last bit: at `every`, 2 `every`, ... as a product, without anything that is taken for rounding. After each the model asks
 * `again` times for an event at the same time. It counts:
 *
 *   events       time events that have come
 *   late         of these, such as came after their time
 *   idle         events in which there was nothing to do
 *   incomplete   events at a time at which no integrator step was completed
 *
 * x, which grows by u a second, keeps a solver busy; `seen` is u in the last time event. */

#include "equations.h"
#include <string.h>

struct punctual {
    struct instance instance;
    double x, der, u, every, seen, start, completed_at;
    int32_t again, events, late, idle, incomplete, left_again;
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

static double next(const struct punctual *punctual)
{
    return punctual->start + (punctual->events + 1) * punctual->every;
}

static void update(void *model, struct event *event)
{
    struct punctual *punctual = model;
    double time = punctual->instance.time;
    if (time >= next(punctual)) {
        punctual->late += time > next(punctual);
        punctual->events++;
        punctual->seen = punctual->u;
        punctual->left_again = punctual->again;
    } else if (punctual->left_again > 0) {
        punctual->left_again--;
    } else if (punctual->has_begun) {
        punctual->idle++;
    }
    punctual->incomplete += punctual->completed_at != time;
    punctual->has_begun = true;
    event->has_next = true;
    event->next = punctual->left_again > 0 ? time : next(punctual);
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
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .start = start,
    .initialize = initialize,
    .derivatives = derivatives,
    .update = update,
    .completed = completed,
};
