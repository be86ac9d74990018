/* A counter of seconds, the purely discrete model `inc` of the FMU SDK of FMI 1.0 that C. Andersson's thesis (Lund, 2010) runs: no
 * states, no event indicators, a time event each second. It begins at 1 and asks for the end when it has come to 13, which is 12 s
 * after the start. */

#include "equations.h"

struct inc {
    struct instance instance;
    int32_t counter;
    double start; /* s, when the run has begun */
    int32_t seconds; /* that have passed since */
};

#define LAST 13

static const struct variable variables[] = {
    {0, INTEGER, FIXED, offsetof(struct inc, counter), 0},
    {1, REAL, INDEPENDENT, 0, 0},
};

static void start(void *model)
{
    struct inc *inc = model;
    inc->counter = 1;
}

static void initialize(void *model)
{
    struct inc *inc = model;
    inc->start = inc->instance.time;
}

static void update(void *model, struct event *event)
{
    struct inc *inc = model;
    /* As a difference of the next second from now, so that rounding of large times does not keep it waiting. */
    if (inc->start + inc->seconds + 1 - inc->instance.time < 1e-9) {
        inc->seconds++;
        inc->counter++;
    }
    event->terminate = inc->counter >= LAST;
    event->has_next = !event->terminate;
    event->next = inc->start + inc->seconds + 1;
}

const struct equations equations = {
    .token = "{vecud-inc-1}",
    .size = sizeof(struct inc),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .start = start,
    .initialize = initialize,
    .update = update,
};
