/* Events of all kinds, and a refusal of every reason for one that is not the right one, as the draft of FMI 3.0 has them: `rootsFound`
 * is 1 where an indicator has become positive, -1 where it no longer is, else 0 (a domain is z > 0 or z <= 0), `stepEvent` where the
 * FMU has asked for the event when a step was completed, `timeEvent` at the time that it has announced. Several may come together.
 *
 *   der(x) = 1, from 0 on, so x is the time
 *   z[0] = x - 0.3     z[1] = 2 (x - 0.3)    become positive together
 *   z[2] = 0.55 - x    is no longer positive from there on
 *   z[3] = 1 from 0.9 on, else -1: a state event at the time of a time event
 *
 * Time events are at 0.4 and 0.9. The first completed step from 0.65 on asks for an event. An event of `d`, a discrete input, has no
 * reason at all. */

#include "equations.h"
#include <math.h>

#define INDICATORS 4

struct reasons_model {
    struct instance instance;
    double x, der, z[INDICATORS], last[6]; /* when there was a step, time, input event, and a state event of each kind */
    int32_t d, seen;
    bool was_positive[INDICATORS], has_asked, has_had_step;
    uint64_t step_events, time_events, rising, falling, both, none;
};

#define AT(member) offsetof(struct reasons_model, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, STATE, AT(x), 0},
    {2, REAL, DERIVATIVE, AT(der), 0},
    {3, REAL, INDICATOR, AT(z[0]), 0},
    {4, REAL, INDICATOR, AT(z[1]), 0},
    {5, REAL, INDICATOR, AT(z[2]), 0},
    {6, REAL, INDICATOR, AT(z[3]), 0},
    {10, INTEGER, DISCRETE_INPUT, AT(d), 0},
    {20, COUNT, OUTPUT, AT(step_events), 0},
    {21, COUNT, OUTPUT, AT(time_events), 0},
    {22, COUNT, OUTPUT, AT(rising), 0},
    {23, COUNT, OUTPUT, AT(falling), 0},
    {24, COUNT, OUTPUT, AT(both), 0},
    {25, COUNT, OUTPUT, AT(none), 0},
    {30, REAL, OUTPUT, AT(last[0]), 0},
    {31, REAL, OUTPUT, AT(last[1]), 0},
    {32, REAL, OUTPUT, AT(last[2]), 0},
    {33, REAL, OUTPUT, AT(last[3]), 0},
    {34, REAL, OUTPUT, AT(last[4]), 0},
    {35, REAL, OUTPUT, AT(last[5]), 0},
};

static enum answer derivatives(void *model)
{
    struct reasons_model *own = model;
    own->der = 1.0;
    return ANSWER_OK;
}

static enum answer indicators(void *model)
{
    struct reasons_model *own = model;
    own->z[0] = own->x - 0.3;
    own->z[1] = 2.0 * (own->x - 0.3);
    own->z[2] = 0.55 - own->x;
    own->z[3] = own->instance.time >= 0.9 ? 1.0 : -1.0;
    return ANSWER_OK;
}

static void remember(struct reasons_model *own)
{
    indicators(own);
    for (int i = 0; i < INDICATORS; i++) own->was_positive[i] = own->z[i] > 0.0;
}

static void initialize(void *model)
{
    remember(model);
}

static const char *enter(void *model, const struct reasons *reasons)
{
    struct reasons_model *own = model;
    double now = own->instance.time;
    bool is_time = own->instance.has_next && fabs(now - own->instance.next) < 1e-12, is_rising = false, is_falling = false;
    indicators(own);
    if (reasons->root_count != INDICATORS || !reasons->roots) return "rootsFound is of another number of event indicators.";
    for (int i = 0; i < INDICATORS; i++) {
        int32_t right = (own->z[i] > 0.0) - own->was_positive[i];
        if (reasons->roots[i] != right) return "rootsFound is not what an event indicator has done.";
        is_rising |= right > 0;
        is_falling |= right < 0;
    }
    if (reasons->step_event != own->has_asked) return "stepEvent is not what the last completed step has asked for.";
    if (reasons->time_event != is_time) return "timeEvent is wrong.";
    own->has_asked = false;
    const bool is[] = {reasons->step_event, reasons->time_event, is_rising, is_falling,
                       (is_rising || is_falling) && is_time, !reasons->step_event && !is_time && !is_rising && !is_falling};
    uint64_t *const counts[] = {&own->step_events, &own->time_events, &own->rising, &own->falling, &own->both, &own->none};
    for (int i = 0; i < 6; i++) {
        if (!is[i]) continue;
        ++*counts[i];
        own->last[i] = now;
    }
    return NULL;
}

static void update(void *model, struct event *event)
{
    struct reasons_model *own = model;
    remember(own);
    own->seen = own->d;
    double now = own->instance.time;
    event->has_next = now < 0.9;
    event->next = now < 0.4 ? 0.4 : 0.9;
}

static void completed(void *model, struct completed *completed)
{
    struct reasons_model *own = model;
    if (own->has_had_step || own->x < 0.65) return;
    own->has_had_step = own->has_asked = completed->enter_event_mode = true;
}

const struct equations equations = {
    .token = "{vecud-reasons-draft-1}",
    .size = sizeof(struct reasons_model),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_count = 1,
    .indicator_count = INDICATORS,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .indicator_offset = AT(z),
    .initialize = initialize,
    .derivatives = derivatives,
    .indicators = indicators,
    .update = update,
    .completed = completed,
    .enter = enter,
};
