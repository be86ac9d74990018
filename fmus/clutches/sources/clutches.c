/* Four inertias in a row and three clutches between them: the example CoupledClutches of the Modelica Standard Library, from its
 * published parameters, as a model of our own. C. Andersson's thesis (Lund, 2010) runs it with 8 states and 54 event indicators.
 *
 *   J1..J4 = 1, the first one begins at 10 rad/s, the others at rest; a torque of 10 sin(2 pi 5 t) acts on the first one
 *   a clutch is pressed with 20 u, u = sin(2 pi 0.2 t + pi/2) for the first one, a step from 0 to 1 at 0.4 s and at 0.9 s for the others;
 *   it is free where that is not positive
 *   it transmits 0.5 times the pressure while it slides, and up to 1.1 times that while it is stuck
 *
 * Each clutch is in one mode. Between events the modes are fixed and everything is smooth:
 *
 *   FREE              no torque
 *   FORWARD           it slides, the inertia before it is faster; BACKWARD: slower
 *   STUCK             what it connects has one acceleration, and the torque is whatever that takes
 *   START_FORWARD     that was more than it can transmit: as FORWARD, but the speeds hardly differ yet; START_BACKWARD
 *
 * When a clutch gets stuck, the speeds of all that are stuck together become their common one, which keeps the momentum; so the sum of
 * J w is 10 + (1 - cos(10 pi t)) / pi at any time, whatever the clutches do.
 *
 * There are 18 event indicators a clutch: six relations, each one as it is, twofold and fourfold, so that they change their domains
 * together. A relation that is of no use in the present mode is 1. */

#include "equations.h"
#include <math.h>

enum clutch_mode { FREE, STUCK, FORWARD, BACKWARD, START_FORWARD, START_BACKWARD };
enum { BODIES = 4, CLUTCHES = 3, RELATIONS = 6, COPIES = 3 };
#define INDICATORS (CLUTCHES * RELATIONS * COPIES)

#define PI 3.14159265358979323846
#define PRESSURE 20.0
#define FRICTION 0.5
#define PEAK 1.1
/* rad/s, from which difference on a clutch that has begun to slide does slide. The torque is the same before and after, so it changes
 * no motion; it is not 0, because a relation that begins at 0 has no sign that importers could watch. */
#define SLIDES 1e-6

struct clutches {
    struct instance instance;
    double x[2 * BODIES], der[2 * BODIES]; /* the angles, then the speeds */
    double z[INDICATORS];
    double inertia[BODIES], step_at[2];
    double pressure[CLUTCHES], torque[CLUTCHES], drive;
    int32_t mode[CLUTCHES];
    int32_t changes; /* of modes */
    bool is_pressed[2];
};

#define AT(member) offsetof(struct clutches, member)
static const struct variable variables[] = {
    {0, REAL, INDEPENDENT, 0, 0},
    {1, REAL, STATE, AT(x[0]), 0},
    {2, REAL, STATE, AT(x[1]), 0},
    {3, REAL, STATE, AT(x[2]), 0},
    {4, REAL, STATE, AT(x[3]), 0},
    {5, REAL, STATE, AT(x[4]), 0},
    {6, REAL, STATE, AT(x[5]), 0},
    {7, REAL, STATE, AT(x[6]), 0},
    {8, REAL, STATE, AT(x[7]), 0},
    {11, REAL, DERIVATIVE, AT(der[0]), 0},
    {12, REAL, DERIVATIVE, AT(der[1]), 0},
    {13, REAL, DERIVATIVE, AT(der[2]), 0},
    {14, REAL, DERIVATIVE, AT(der[3]), 0},
    {15, REAL, DERIVATIVE, AT(der[4]), 0},
    {16, REAL, DERIVATIVE, AT(der[5]), 0},
    {17, REAL, DERIVATIVE, AT(der[6]), 0},
    {18, REAL, DERIVATIVE, AT(der[7]), 0},
    {21, REAL, OUTPUT, AT(torque[0]), 0},
    {22, REAL, OUTPUT, AT(torque[1]), 0},
    {23, REAL, OUTPUT, AT(torque[2]), 0},
    {24, REAL, OUTPUT, AT(drive), 0},
    {31, INTEGER, OUTPUT, AT(mode[0]), 0},
    {32, INTEGER, OUTPUT, AT(mode[1]), 0},
    {33, INTEGER, OUTPUT, AT(mode[2]), 0},
    {34, INTEGER, OUTPUT, AT(changes), 0},
    {41, REAL, FIXED, AT(inertia[0]), 0},
    {42, REAL, FIXED, AT(inertia[1]), 0},
    {43, REAL, FIXED, AT(inertia[2]), 0},
    {44, REAL, FIXED, AT(inertia[3]), 0},
    {45, REAL, FIXED, AT(step_at[0]), 0},
    {46, REAL, FIXED, AT(step_at[1]), 0},
    {50, REAL, INDICATOR, AT(z), AS_INDICATORS},
};

static void start(void *model)
{
    struct clutches *clutches = model;
    for (int i = 0; i < BODIES; i++) clutches->inertia[i] = 1.0;
    clutches->x[BODIES] = 10.0;
    clutches->step_at[0] = 0.4;
    clutches->step_at[1] = 0.9;
}

/* ---- Within a mode ---- */

static double slip(const struct clutches *clutches, int clutch)
{
    return clutches->x[BODIES + clutch] - clutches->x[BODIES + clutch + 1];
}

static void press(struct clutches *clutches)
{
    double time = clutches->instance.time;
    clutches->drive = 10.0 * sin(2.0 * PI * 5.0 * time);
    clutches->pressure[0] = PRESSURE * sin(2.0 * PI * 0.2 * time + PI / 2.0);
    clutches->pressure[1] = clutches->is_pressed[0] ? PRESSURE : 0.0;
    clutches->pressure[2] = clutches->is_pressed[1] ? PRESSURE : 0.0;
}

static double sliding_torque(const struct clutches *clutches, int clutch)
{
    switch (clutches->mode[clutch]) {
    case FORWARD:
    case START_FORWARD: return FRICTION * clutches->pressure[clutch];
    case BACKWARD:
    case START_BACKWARD: return -FRICTION * clutches->pressure[clutch];
    default: return 0.0;
    }
}

static double acceleration(const struct clutches *clutches, int body)
{
    return clutches->der[BODIES + body];
}

/* The bodies from `first` on that are stuck together: the last one of them. */
static int last_of_row(const struct clutches *clutches, int first)
{
    int last = first;
    while (last < CLUTCHES && clutches->mode[last] == STUCK) last++;
    return last;
}

/* The torque on a row of bodies from outside, and what of it each stuck clutch in the row has to pass on. */
static enum answer derivatives(void *model)
{
    struct clutches *clutches = model;
    press(clutches);
    for (int i = 0; i < BODIES; i++) clutches->der[i] = clutches->x[BODIES + i];
    for (int first = 0; first < BODIES;) {
        int last = last_of_row(clutches, first);
        double from_left = first == 0 ? clutches->drive : clutches->torque[first - 1];
        double to_right = 0.0;
        if (last < CLUTCHES) {
            clutches->torque[last] = sliding_torque(clutches, last);
            to_right = clutches->torque[last];
        }
        double inertia = 0.0;
        for (int i = first; i <= last; i++) inertia += clutches->inertia[i];
        double common = (from_left - to_right) / inertia;
        double passed_on = from_left;
        for (int i = first; i <= last; i++) {
            clutches->der[BODIES + i] = common;
            passed_on -= clutches->inertia[i] * common;
            if (i < last) clutches->torque[i] = passed_on;
        }
        first = last + 1;
    }
    return ANSWER_OK;
}

/* ---- Events ---- */

/* What a clutch does by the present values, which `derivatives` has computed: the mode that it changes to, or the same. */
static int next_mode(const struct clutches *clutches, int clutch)
{
    int mode = clutches->mode[clutch];
    double pressure = clutches->pressure[clutch], torque = clutches->torque[clutch], most = PEAK * FRICTION * pressure;
    double speed = slip(clutches, clutch);
    double relative = acceleration(clutches, clutch) - acceleration(clutches, clutch + 1);
    if (!(pressure > 0.0)) return FREE;
    switch (mode) {
    case FREE:
        if (speed == 0.0) return STUCK;
        return speed > 0.0 ? FORWARD : BACKWARD;
    case FORWARD: return speed > 0.0 ? FORWARD : STUCK;
    case BACKWARD: return speed < 0.0 ? BACKWARD : STUCK;
    case STUCK:
        if (torque >= most) return START_FORWARD;
        return torque <= -most ? START_BACKWARD : STUCK;
    case START_FORWARD:
        if (speed < SLIDES && relative > 0.0) return START_FORWARD;
        return speed > 0.0 ? FORWARD : STUCK;
    default:
        if (speed > -SLIDES && relative < 0.0) return START_BACKWARD;
        return speed < 0.0 ? BACKWARD : STUCK;
    }
}

static double slides_in(int mode, double speed)
{
    switch (mode) {
    case FORWARD: return speed;
    case BACKWARD: return -speed;
    case START_FORWARD: return SLIDES - speed;
    case START_BACKWARD: return SLIDES + speed;
    default: return 1.0;
    }
}

/* Relations that are above zero as long as the clutch stays in its mode. The last one is below it while the clutch is free. */
static enum answer indicators(void *model)
{
    struct clutches *clutches = model;
    derivatives(model);
    for (int clutch = 0; clutch < CLUTCHES; clutch++) {
        int mode = clutches->mode[clutch];
        double most = PEAK * FRICTION * clutches->pressure[clutch], torque = clutches->torque[clutch];
        double relative = acceleration(clutches, clutch) - acceleration(clutches, clutch + 1);
        double relations[RELATIONS] = {
            slides_in(mode, slip(clutches, clutch)),
            mode == STUCK ? most - torque : 1.0,
            mode == STUCK ? most + torque : 1.0,
            mode == START_FORWARD ? relative : 1.0,
            mode == START_BACKWARD ? -relative : 1.0,
            clutches->pressure[clutch],
        };
        for (int copy = 0; copy < COPIES; copy++)
            for (int i = 0; i < RELATIONS; i++)
                clutches->z[(clutch * COPIES + copy) * RELATIONS + i] = ldexp(relations[i], copy);
    }
    return ANSWER_OK;
}

/* Gives bodies that are stuck together one speed. */
static void join(struct clutches *clutches)
{
    for (int first = 0; first < BODIES;) {
        int last = last_of_row(clutches, first);
        double inertia = 0.0, momentum = 0.0;
        for (int i = first; i <= last; i++) {
            inertia += clutches->inertia[i];
            momentum += clutches->inertia[i] * clutches->x[BODIES + i];
        }
        for (int i = first; i <= last && last > first; i++) clutches->x[BODIES + i] = momentum / inertia;
        first = last + 1;
    }
}

static void update(void *model, struct event *event)
{
    struct clutches *clutches = model;
    for (int i = 0; i < 2; i++) {
        double at = clutches->step_at[i];
        if (clutches->instance.time >= at - 1e-12 * (1.0 + fabs(at))) clutches->is_pressed[i] = true;
        if (clutches->is_pressed[i] || (event->has_next && event->next <= at)) continue;
        event->has_next = true;
        event->next = at;
    }
    derivatives(model);
    int32_t next[CLUTCHES];
    for (int i = 0; i < CLUTCHES; i++) next[i] = next_mode(clutches, i);
    bool stuck = false;
    for (int i = 0; i < CLUTCHES; i++) {
        if (next[i] == clutches->mode[i]) continue;
        stuck |= next[i] == STUCK;
        clutches->mode[i] = next[i];
        clutches->changes++;
        event->needs_update = true;
    }
    if (!stuck) return;
    join(clutches);
    event->values_changed = true;
}

const struct equations equations = {
    .token = "{vecud-clutches-1}",
    .size = sizeof(struct clutches),
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .state_count = 2 * BODIES,
    .indicator_count = INDICATORS,
    .state_offset = AT(x),
    .derivative_offset = AT(der),
    .indicator_offset = AT(z),
    .start = start,
    .derivatives = derivatives,
    .indicators = indicators,
    .outputs = derivatives,
    .update = update,
};
