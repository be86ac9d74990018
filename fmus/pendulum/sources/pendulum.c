/* A pendulum in Cartesian coordinates, with states that are chosen while it runs (dynamic state selection), as in C. Andersson's thesis
 * (Lund, 2010), which gives no equations. These follow from the constraint and its derivatives:
 *
 *   x^2 + y^2 = 1    x vx + y vy = 0    der(vx) = -s x    der(vy) = -s y - g    s = vx^2 + vy^2 - g y
 *
 * One coordinate and its velocity are the two states; the other pair follows from the constraint, with the sign that it had at the last
 * choice. That is ill-conditioned where the chosen coordinate is near 1, so at a completed integrator step at which it is the larger one
 * by a margin the FMU asks for Event Mode and takes the other pair as states: the values of the states change. Where there is no other
 * coordinate any more (|chosen| >= 1), nothing can be computed: Discard.
 *
 * The angle from the lowest point is the same motion without a constraint: x = sin a, y = -cos a, a'' = -g sin a. */

#include "equations.h"
#include <math.h>

enum chosen { CHOSEN_X, CHOSEN_Y };

struct pendulum {
    struct instance instance;
    double state[2], der[2]; /* the chosen coordinate and its velocity */
    double x, y, vx, vy;
    double angle, speed, g; /* the first two are those at the start */
    int32_t chosen;
    int32_t changes; /* of the choice */
    double sign;     /* of the coordinate that is not chosen */
};

/* So much larger is the chosen coordinate when the choice changes. */
#define MARGIN 0.1

#define AT(member) offsetof(struct pendulum, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, CALCULATED_STATE, AT(state[0]), 0},
    {2, REAL, DERIVATIVE, AT(der[0]), 0},
    {3, REAL, CALCULATED_STATE, AT(state[1]), 0},
    {4, REAL, DERIVATIVE, AT(der[1]), 0},
    {10, REAL, OUTPUT, AT(x), 0},
    {11, REAL, OUTPUT, AT(y), 0},
    {12, REAL, OUTPUT, AT(vx), 0},
    {13, REAL, OUTPUT, AT(vy), 0},
    {14, INTEGER, OUTPUT, AT(chosen), 0},
    {15, INTEGER, OUTPUT, AT(changes), 0},
    {20, REAL, FIXED, AT(angle), 0},
    {21, REAL, FIXED, AT(speed), 0},
    {22, REAL, FIXED, AT(g), 0},
};

static void start(void *model)
{
    struct pendulum *pendulum = model;
    pendulum->angle = 2.5;
    pendulum->g = 9.81;
}

static double sign_of(double value)
{
    return value < 0.0 ? -1.0 : 1.0;
}

/* Takes as states what is the better choice at the present point, which x, y and their velocities have. */
static void choose(struct pendulum *pendulum)
{
    bool is_x = fabs(pendulum->x) <= fabs(pendulum->y);
    pendulum->chosen = is_x ? CHOSEN_X : CHOSEN_Y;
    pendulum->state[0] = is_x ? pendulum->x : pendulum->y;
    pendulum->state[1] = is_x ? pendulum->vx : pendulum->vy;
    pendulum->sign = sign_of(is_x ? pendulum->y : pendulum->x);
}

static void initialize(void *model)
{
    struct pendulum *pendulum = model;
    double sine = sin(pendulum->angle), cosine = cos(pendulum->angle);
    pendulum->x = sine;
    pendulum->y = -cosine;
    pendulum->vx = pendulum->speed * cosine;
    pendulum->vy = pendulum->speed * sine;
    choose(pendulum);
}

/* All four coordinates from the two states. */
static enum answer outputs(void *model)
{
    struct pendulum *pendulum = model;
    double chosen = pendulum->state[0], velocity = pendulum->state[1];
    double square = 1.0 - chosen * chosen;
    if (!(square > 0.0)) return ANSWER_DISCARD;
    double other = pendulum->sign * sqrt(square);
    double other_velocity = -chosen * velocity / other;
    bool is_x = pendulum->chosen == CHOSEN_X;
    pendulum->x = is_x ? chosen : other;
    pendulum->y = is_x ? other : chosen;
    pendulum->vx = is_x ? velocity : other_velocity;
    pendulum->vy = is_x ? other_velocity : velocity;
    return ANSWER_OK;
}

static enum answer derivatives(void *model)
{
    struct pendulum *pendulum = model;
    enum answer answer = outputs(model);
    if (answer != ANSWER_OK) return answer;
    double s = pendulum->vx * pendulum->vx + pendulum->vy * pendulum->vy - pendulum->g * pendulum->y;
    pendulum->der[0] = pendulum->state[1];
    pendulum->der[1] = pendulum->chosen == CHOSEN_X ? -s * pendulum->x : -s * pendulum->y - pendulum->g;
    return ANSWER_OK;
}

static bool is_better_otherwise(struct pendulum *pendulum)
{
    if (outputs(pendulum) != ANSWER_OK) return false;
    double chosen = pendulum->chosen == CHOSEN_X ? pendulum->x : pendulum->y;
    double other = pendulum->chosen == CHOSEN_X ? pendulum->y : pendulum->x;
    return fabs(chosen) > fabs(other) + MARGIN;
}

static void completed(void *model, struct completed *completed)
{
    completed->enter_event_mode = is_better_otherwise(model);
}

static void update(void *model, struct event *event)
{
    struct pendulum *pendulum = model;
    if (!is_better_otherwise(pendulum)) return;
    choose(pendulum);
    pendulum->changes++;
    event->values_changed = true;
}

const struct equations equations = {
    .token = "{vecud-pendulum-1}",
    .size = sizeof(struct pendulum),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_count = 2,
    .state_offset = AT(state),
    .derivative_offset = AT(der),
    .start = start,
    .initialize = initialize,
    .derivatives = derivatives,
    .outputs = outputs,
    .update = update,
    .completed = completed,
};
