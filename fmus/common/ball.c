/* The bouncing ball of C. Andersson's thesis (Lund, 2010), which has it from the FMU SDK of FMI 1.0: one event indicator, which is
 * the height with a hysteresis of 1e-14 m, so that each bounce switches its domain twice, once down and once up.
 *
 *   der(h) = v    der(v) = -g    z = h + 1e-14 where the ball is above the floor, else h - 1e-14
 *   at z <= 0 above the floor: v := -e v, and the ball is below; at z > 0 below it: the ball is above
 *
 * Its bounces have closed forms: the first one at sqrt(2 h0 / g), each later one after e times the flight before it, all of them before
 * sqrt(2 h0 / g) (1 + e) / (1 - e). With the thesis's values (h0 = 1, e = 0.7, g = 9.81) that is 2.5587 s; and since an importer cannot
 * locate bounces that lie closer together than its steps of time, the ball falls through the floor thereafter, at the thesis's
 * tolerances at about 3 s.
 *
 * Other than there, an update without a switch of domain changes nothing: events of other FMUs do not turn the ball. */

#include "equations.h"

struct ball {
    struct instance instance;
    double x[2], der[2], z; /* height, velocity */
    double g, e;
    bool above;
    int32_t bounces, switches;
};

#define HYSTERESIS 1e-14

#define AT(member) offsetof(struct ball, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, STATE, AT(x[0]), 0},
    {2, REAL, DERIVATIVE, AT(der[0]), 0},
    {3, REAL, STATE, AT(x[1]), 0},
    {4, REAL, DERIVATIVE, AT(der[1]), 0},
    {5, REAL, FIXED, AT(g), 0},
    {6, REAL, FIXED, AT(e), 0},
    {7, INTEGER, OUTPUT, AT(bounces), 0},
    {8, INTEGER, OUTPUT, AT(switches), 0},
    {9, REAL, INDICATOR, AT(z), 0},
};

static void start(void *model)
{
    struct ball *ball = model;
    ball->x[0] = 1.0;
    ball->g = 9.81;
    ball->e = 0.7;
}

static void initialize(void *model)
{
    struct ball *ball = model;
    ball->above = ball->x[0] > 0.0;
}

static enum answer derivatives(void *model)
{
    struct ball *ball = model;
    ball->der[0] = ball->x[1];
    ball->der[1] = -ball->g;
    return ANSWER_OK;
}

static enum answer indicators(void *model)
{
    struct ball *ball = model;
    ball->z = ball->x[0] + (ball->above ? HYSTERESIS : -HYSTERESIS);
    return ANSWER_OK;
}

static void update(void *model, struct event *event)
{
    struct ball *ball = model;
    indicators(model);
    if ((ball->z > 0.0) == ball->above) return;
    ball->switches++;
    if (ball->above) {
        ball->x[1] *= -ball->e;
        ball->bounces++;
        event->values_changed = true;
    }
    ball->above = !ball->above;
}

const struct equations equations = {
    .token = "{vecud-ball-1}",
    .size = sizeof(struct ball),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_count = 2,
    .indicator_count = 1,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .indicator_offset = AT(z),
    .start = start,
    .initialize = initialize,
    .derivatives = derivatives,
    .indicators = indicators,
    .update = update,
};
