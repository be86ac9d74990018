/* A relay that holds a state within a band:
 *
 *   der(x) = -1 while it is on, else 1
 *   z = x + band / 2 while it is on, else x - band / 2
 *   in each event: on := 1 where z > 0, else 0
 *
 * So there is a state event each `band` seconds, and no end of them where the band is narrow. */

#include "equations.h"

struct relay {
    struct instance instance;
    double x, der, z, band, on;
    int32_t switches;
};

#define AT(member) offsetof(struct relay, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, STATE, AT(x), 0},
    {2, REAL, DERIVATIVE, AT(der), 0},
    {3, REAL, INDICATOR, AT(z), 0},
    {4, REAL, FIXED, AT(band), 0},
    {5, REAL, OUTPUT, AT(on), 0},
    {6, INTEGER, OUTPUT, AT(switches), 0},
};

static void start(void *model)
{
    struct relay *relay = model;
    relay->band = 0.1;
}

static enum answer derivatives(void *model)
{
    struct relay *relay = model;
    relay->der = relay->on != 0.0 ? -1.0 : 1.0;
    return ANSWER_OK;
}

static enum answer indicators(void *model)
{
    struct relay *relay = model;
    relay->z = relay->x + (relay->on != 0.0 ? 0.5 : -0.5) * relay->band;
    return ANSWER_OK;
}

static void update(void *model, struct event *event)
{
    (void)event;
    struct relay *relay = model;
    indicators(model);
    double on = relay->z > 0.0 ? 1.0 : 0.0;
    relay->switches += on != relay->on;
    relay->on = on;
}

const struct equations equations = {
    .token = "{vecud-relay-1}",
    .size = sizeof(struct relay),
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
