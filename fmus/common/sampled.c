/* A plant of first order with a sampled controller, and clocks of all kinds in Model Exchange, of FMI 3.0 and of its draft. In the draft
 * `fixed` and `tuned` are alike, and `later` and `changing` follow output clocks, `later_set` and `changing_set`.
 *
 *   T der(x) = v + u - x,   z = x - level
 *
 *   sample    constant, 15 ms: y := x, v := v + gain (r - x). The controller holds v from one sample to the next, so between two of
 *             them x is v + u + (x0 - v - u) exp(-(t - t0) / T), as long as u does not change.
 *   fixed     20 ms unless the importer says otherwise before the start, and is counted
 *   tuned     tunable, 25 ms unless the importer says otherwise, and is counted
 *   changing  7 ms and 11 ms in turns, and is counted
 *   later     a countdown, `delay` after each tick of `called`; 0 is at once. It takes from x what `called` gave it.
 *   called    triggered, with `message`, by which x jumps
 *   out       ticks with every `out_each`-th tick of `sample`, with `payload`, 1000 and the number of samples
 *   crossed   ticks at each state event, when x crosses `level`, with `crossing`: the time */

#include "equations.h"
#include <math.h>

enum { SAMPLE = 1, FIXED_ONE, TUNED, CHANGING, LATER, CALLED, OUT, CROSSED, CLOCKS };
enum { LATER_SET = 50, CHANGING_SET };
enum { MESSAGE = 10, U, PAYLOAD = 20, CROSSING };

static const double alternating[] = {0.007, 0.011};

struct sampled {
    struct instance instance;
    struct clock_state clocks[CLOCKS];
    uint64_t counts[CLOCKS];
    double x, der, z;
    double message, u, payload, crossing, y, v, last_message, given;
    double last[CLOCKS]; /* when each has ticked last, s */
    double time_constant, gain, r, level, delay;
    uint64_t out_each;
    bool above;
};

#define AT(member) offsetof(struct sampled, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {MESSAGE, REAL, DISCRETE_INPUT, AT(message), 0},
    {U, REAL, CONTINUOUS_INPUT, AT(u), 0},
    {12, REAL, STATE, AT(x), 0},
    {13, REAL, DERIVATIVE, AT(der), 0},
    {14, REAL, INDICATOR, AT(z), 0},
    {PAYLOAD, REAL, OUTPUT, AT(payload), 0},
    {CROSSING, REAL, OUTPUT, AT(crossing), 0},
    {22, REAL, OUTPUT, AT(y), 0},
    {23, REAL, OUTPUT, AT(v), 0},
    {24, REAL, OUTPUT, AT(last_message), 0},
    {25, REAL, OUTPUT, AT(last[LATER]), 0},
    {26, REAL, OUTPUT, AT(last[CALLED]), 0},
    {27, REAL, OUTPUT, AT(last[CROSSED]), 0},
    {30, COUNT, OUTPUT, AT(counts[SAMPLE]), 0},
    {31, COUNT, OUTPUT, AT(counts[FIXED_ONE]), 0},
    {32, COUNT, OUTPUT, AT(counts[TUNED]), 0},
    {33, COUNT, OUTPUT, AT(counts[CHANGING]), 0},
    {34, COUNT, OUTPUT, AT(counts[LATER]), 0},
    {35, COUNT, OUTPUT, AT(counts[CALLED]), 0},
    {36, COUNT, OUTPUT, AT(counts[OUT]), 0},
    {37, COUNT, OUTPUT, AT(counts[CROSSED]), 0},
    {40, REAL, FIXED, AT(time_constant), 0},
    {41, REAL, FIXED, AT(gain), 0},
    {42, REAL, FIXED, AT(r), 0},
    {43, REAL, FIXED, AT(level), 0},
    {44, REAL, FIXED, AT(delay), 0},
    {45, COUNT, FIXED, AT(out_each), 0},
};

static const struct clock clocks[] = {
    {SAMPLE, CONSTANT_CLOCK, AT(clocks[SAMPLE]), 0.015, 0, 0},
    {FIXED_ONE, FIXED_CLOCK, AT(clocks[FIXED_ONE]), 0.020, 0, 0},
    {TUNED, TUNABLE_CLOCK, AT(clocks[TUNED]), 0.025, 0, 0},
    {CHANGING, CHANGING_CLOCK, AT(clocks[CHANGING]), 0, 0, CHANGING_SET},
    {LATER, COUNTDOWN_CLOCK, AT(clocks[LATER]), 0, 0, LATER_SET},
    {CALLED, TRIGGERED_CLOCK, AT(clocks[CALLED]), 0, MESSAGE, 0},
    {OUT, OUTPUT_CLOCK, AT(clocks[OUT]), 0, PAYLOAD, 0},
    {CROSSED, OUTPUT_CLOCK, AT(clocks[CROSSED]), 0, CROSSING, 0},
};

static void start(void *model)
{
    struct sampled *own = model;
    own->time_constant = 0.1;
    own->gain = 0.2;
    own->r = 1.0;
    own->level = INFINITY;
    own->delay = 0.0043;
    own->out_each = 1;
    own->clocks[CHANGING].interval = alternating[0];
    own->clocks[CHANGING].armed = true;
}

static void initialize(void *model)
{
    struct sampled *own = model;
    own->above = own->x > own->level;
}

static enum answer derivatives(void *model)
{
    struct sampled *own = model;
    own->der = (own->v + own->u - own->x) / own->time_constant;
    return ANSWER_OK;
}

/* Without a level there is nothing to be crossed. */
static enum answer indicators(void *model)
{
    struct sampled *own = model;
    own->z = isfinite(own->level) ? own->x - own->level : -1.0;
    return ANSWER_OK;
}

static void tick(void *model)
{
    struct sampled *own = model;
    indicators(model);
    uint64_t sample = own->counts[SAMPLE] + 1;
    own->clocks[OUT].active = own->clocks[SAMPLE].active && own->out_each > 0 && sample % own->out_each == 0;
    own->clocks[CROSSED].active = (own->z > 0.0) != own->above;
    own->payload = 1000.0 + (double)sample;
    own->crossing = own->instance.time;
}

static void update(void *model, struct event *event)
{
    struct sampled *own = model;
    for (int clock = SAMPLE; clock < CLOCKS; clock++) {
        if (!own->clocks[clock].active) continue;
        own->counts[clock]++;
        own->last[clock] = own->instance.time;
    }
    if (own->clocks[CROSSED].active) own->above = !own->above;
    if (own->clocks[SAMPLE].active) {
        own->y = own->x;
        own->v += own->gain * (own->r - own->x);
    }
    if (own->clocks[CHANGING].active) own->clocks[CHANGING].interval = alternating[own->counts[CHANGING] % 2];
    if (own->clocks[LATER].active) {
        own->x -= own->given;
        own->given = 0.0;
        event->values_changed = true;
    }
    if (own->clocks[CALLED].active) {
        own->last_message = own->message;
        own->x += own->message;
        own->given += own->message;
        own->clocks[LATER].interval = own->delay;
        own->clocks[LATER].armed = true;
        event->values_changed = true;
    }
    /* A jump over the level is an event of its own. */
    indicators(model);
    event->needs_update = (own->z > 0.0) != own->above;
}

const struct equations equations = {
    .token = "{vecud-sampled-1}",
    .size = sizeof(struct sampled),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .clocks = clocks,
    .clock_count = sizeof clocks / sizeof *clocks,
    .state_count = 1,
    .indicator_count = 1,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .indicator_offset = AT(z),
    .start = start,
    .initialize = initialize,
    .derivatives = derivatives,
    .indicators = indicators,
    .tick = tick,
    .update = update,
};
