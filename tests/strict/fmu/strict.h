/* One model for all versions of FMI, and the books of an FMU that refuses every call out of place.
 *
 * The state x has the derivative gain * u + d and goes back to 0 where it comes to `rise`: a sawtooth. Time events come every `every`.
 * y is 2 x, aux is x + d, n counts both kinds of events, `entered` how often Event Mode was entered, `seen` is u in the last iteration of an
 * event. `demand` is what importers like to get wrong, from the time `when` on.
 *
 * A call out of place is answered with Error. The folder STRICT_RESULTS has a file for each instance: a line for each such call, and one
 * for its end. */

#ifndef strict_h
#define strict_h

#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME, X, DX, U, D, Y, N, AUX, RISE, EVERY, GAIN, DEMAND, WHEN, ENTERED, Z, SEEN, VARIABLES };

/* TERMINATE: the simulation is to end. STALE: the next event is now, once. ULP: time events come a unit in the last place early. EARLY: a step
 * ends at `when`, as early return or Discard. REFUSED: one step is discarded and may be made smaller. */
enum demand { NONE, TERMINATE, STALE, ULP, EARLY, REFUSED };

/* RUN: Continuous-Time Mode, in FMI 1.0 all after the initialisation. STOPPED: a step was discarded. BROKEN: a call was refused. */
enum state { NEW = 1, INIT = 2, EVENT = 4, RUN = 8, STEP = 16, STOPPED = 32, END = 64, BROKEN = 128 };
enum { LIVE = NEW | INIT | EVENT | RUN | STEP | STOPPED | END, WHEN_OVER = 256 /* also after the model has asked for the end */ };

enum causality { INDEPENDENT, LOCAL, INPUT, OUTPUT, PARAMETER };
enum variability { CONTINUOUS, DISCRETE, FIXED, TUNABLE };

static const struct variable {
    enum causality causality;
    enum variability variability;
    bool exact, initial_unknown, integer;
} variables[VARIABLES] = {
    [TIME] = {INDEPENDENT, CONTINUOUS, 0, 0, 0},
    [X] = {LOCAL, CONTINUOUS, 1, 0, 0},
    [DX] = {LOCAL, CONTINUOUS, 0, 1, 0},
    [U] = {INPUT, CONTINUOUS, 0, 0, 0},
    [D] = {INPUT, DISCRETE, 0, 0, 0},
    [Y] = {OUTPUT, CONTINUOUS, 0, 1, 0},
    [N] = {OUTPUT, DISCRETE, 0, 1, 1},
    [AUX] = {LOCAL, CONTINUOUS, 0, 0, 0},
    [RISE] = {PARAMETER, FIXED, 1, 0, 0},
    [EVERY] = {PARAMETER, FIXED, 1, 0, 0},
    [GAIN] = {PARAMETER, TUNABLE, 1, 0, 0},
    [DEMAND] = {PARAMETER, FIXED, 1, 0, 1},
    [WHEN] = {PARAMETER, FIXED, 1, 0, 0},
    [ENTERED] = {OUTPUT, DISCRETE, 0, 1, 1},
    [Z] = {LOCAL, CONTINUOUS, 0, 0, 0},
    [SEEN] = {OUTPUT, DISCRETE, 0, 1, 0},
};

/* What an FMU state has. */
struct own {
    enum state state;
    double values[VARIABLES]; /* those of TIME, DX, Y and AUX are computed */
    double time, start, stop, next, event_time, completed[2]; /* the last completed step, and the one before it */
    int ticks;                                                /* time events so far */
    bool is_set_up, has_stop, has_next, is_over, is_done /* what was demanded */, is_due /* asked for Event Mode */;
    bool updated, more, states_changed, was_set /* since the last step */;
};

struct strict {
    struct own own;
    int version;
    bool steps, event_mode, may_return_early;
    struct own before; /* FMI 1.0: at the begin of the last step */
    char name[200];
    void *environment;
    void (*log_message)(void);
    void (*log)(struct strict *, const char *text);
};

static double value(const struct own *own, unsigned vr)
{
    const double *v = own->values;
    switch (vr) {
    case TIME: return own->time;
    case DX: return v[GAIN] * v[U] + v[D];
    case Y: return 2.0 * v[X];
    case AUX: return v[X] + v[D];
    case Z: return v[RISE] - v[X];
    default: return v[vr];
    }
}

static void begin(struct own *own)
{
    *own = (struct own){.state = NEW};
    own->values[RISE] = own->values[EVERY] = own->values[WHEN] = 1e300;
    own->values[GAIN] = 1.0;
}

static void write_down(const struct strict *m, const char *text)
{
    char path[4096];
    const char *folder = getenv("STRICT_RESULTS");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", m->name);
    FILE *file = folder ? fopen(path, "ae") : NULL;
    if (!file) return;
    fprintf(file, "%s\n", text);
    fclose(file);
}

static const char *name_of(enum state state)
{
    switch (state) {
    case NEW: return "Instantiated";
    case INIT: return "Initialization Mode";
    case EVENT: return "Event Mode";
    case RUN: return "Continuous-Time Mode";
    case STEP: return "Step Mode";
    case STOPPED: return "a discarded step";
    case END: return "Terminated";
    default: return "an error";
    }
}

/* Returns the number of Error, in all versions. */
static int refuse(struct strict *m, const char *function, const char *why, ...)
{
    char reason[300], text[600];
    va_list list;
    va_start(list, why);
    vsnprintf(reason, sizeof reason, why, list);
    va_end(list);
    snprintf(text, sizeof text, "violation: %s in %s at %.17g: %s", function, name_of(m->own.state), m->own.time, reason);
    write_down(m, text);
    m->log(m, text);
    m->own.state = BROKEN;
    return 3;
}

#define REFUSE_IF(wrong, ...) do { if (wrong) return refuse(m, __func__, __VA_ARGS__); } while (0)

/* Every call begins with the states in which it may come. */
#define ENTER(states)                                                                                                 \
    struct strict *m = (struct strict *)(instance);                                                                   \
    REFUSE_IF(!((states) & m->own.state), "not allowed");                                                             \
    REFUSE_IF(m->own.is_over && !((states) & WHEN_OVER), "not allowed after the FMU has asked for the end")

/* ---- Variables ---- */

static int may_get(struct strict *m, const char *function, unsigned vr, bool integer)
{
    if (vr >= VARIABLES || variables[vr].integer != integer) return refuse(m, function, "no variable %u of this type", vr);
    const struct variable *v = &variables[vr];
    bool known = v->causality == OUTPUT || v->initial_unknown;
    if (m->version == 2 && m->own.state == NEW) return refuse(m, function, "variable %u", vr);
    if (m->version == 2 && m->own.state == INIT && !known) return refuse(m, function, "variable %u is no InitialUnknown", vr);
    if (m->own.state == STEP && m->own.was_set) return refuse(m, function, "variable %u after a set without a step", vr);
    return 0;
}

static int may_set(struct strict *m, const char *function, unsigned vr, bool integer, double to)
{
    if (vr >= VARIABLES || variables[vr].integer != integer) return refuse(m, function, "no variable %u of this type", vr);
    const struct variable *v = &variables[vr];
    bool input = v->causality == INPUT, tunable = v->causality == PARAMETER && v->variability == TUNABLE && m->version > 1, may = false;
    switch (m->own.state) {
    case NEW: may = v->exact || (input && m->version != 2); break;
    case INIT: may = v->exact || input; break;
    case EVENT: may = input || tunable; break;
    case RUN: may = m->version == 1 ? input : (input && v->variability == CONTINUOUS) || vr == X; break;
    case STEP:
        may = input || tunable;
        if (m->event_mode && input && v->variability != CONTINUOUS && to != value(&m->own, vr)) return refuse(m, function, "variable %u changes without Event Mode", vr);
        m->own.was_set = true;
        break;
    default: break;
    }
    return may ? 0 : refuse(m, function, "variable %u", vr);
}

#define ACCESS(Get, Set, Status, Reference, Type, integer, MORE)                                                      \
    Status Get(void *instance, const Reference vr[], size_t n, Type values[] MORE)                                    \
    {                                                                                                                 \
        ENTER((LIVE) | WHEN_OVER);                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                              \
            if (may_get(m, __func__, vr[i], integer)) return 3;                                                       \
            values[i] = (Type)value(&m->own, vr[i]);                                                                  \
        }                                                                                                             \
        return 0;                                                                                                     \
    }                                                                                                                 \
    Status Set(void *instance, const Reference vr[], size_t n, const Type values[] MORE)                              \
    {                                                                                                                 \
        ENTER(LIVE);                                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                              \
            if (may_set(m, __func__, vr[i], integer, (double)values[i])) return 3;                                    \
            m->own.values[vr[i]] = (double)values[i];                                                                 \
        }                                                                                                             \
        return 0;                                                                                                     \
    }

/* States are copies of what the instance owns, and serialised as they are. */
#define STATES(Get, Set, Free, Size, Serialize, Deserialize, Status, State, Byte)                                     \
    Status Get(void *instance, State *state)                                                                          \
    {                                                                                                                 \
        ENTER(LIVE | WHEN_OVER);                                                                                      \
        if (!*state) *state = malloc(sizeof m->own);                                                                  \
        memcpy(*state, &m->own, sizeof m->own);                                                                       \
        return 0;                                                                                                     \
    }                                                                                                                 \
    Status Set(void *instance, State state)                                                                           \
    {                                                                                                                 \
        ENTER(LIVE | WHEN_OVER);                                                                                      \
        memcpy(&m->own, state, sizeof m->own);                                                                        \
        return 0;                                                                                                     \
    }                                                                                                                 \
    Status Free(void *instance, State *state)                                                                         \
    {                                                                                                                 \
        ENTER(LIVE | BROKEN | WHEN_OVER);                                                                             \
        free(*state);                                                                                                 \
        *state = NULL;                                                                                                \
        return 0;                                                                                                     \
    }                                                                                                                 \
    Status Size(void *instance, State state, size_t *size)                                                            \
    {                                                                                                                 \
        ENTER(LIVE | WHEN_OVER);                                                                                      \
        *size = sizeof m->own;                                                                                        \
        return 0;                                                                                                     \
    }                                                                                                                 \
    Status Serialize(void *instance, State state, Byte bytes[], size_t size)                                          \
    {                                                                                                                 \
        ENTER(LIVE | WHEN_OVER);                                                                                      \
        REFUSE_IF(size < sizeof m->own, "%zu bytes", size);                                                           \
        memcpy(bytes, state, sizeof m->own);                                                                          \
        return 0;                                                                                                     \
    }                                                                                                                 \
    Status Deserialize(void *instance, const Byte bytes[], size_t size, State *state)                                 \
    {                                                                                                                 \
        ENTER(LIVE | WHEN_OVER);                                                                                      \
        REFUSE_IF(size < sizeof m->own, "%zu bytes", size);                                                           \
        if (!*state) *state = malloc(sizeof m->own);                                                                  \
        memcpy(*state, bytes, sizeof m->own);                                                                         \
        return 0;                                                                                                     \
    }

static void set_up(struct own *own, double start, bool has_stop, double stop)
{
    own->time = own->start = own->event_time = own->completed[0] = own->completed[1] = start;
    own->has_stop = has_stop, own->stop = stop;
    own->is_set_up = true;
}

static void free_instance(struct strict *m)
{
    char text[60];
    snprintf(text, sizeof text, "freed in %s", name_of(m->own.state));
    write_down(m, text);
    free(m);
}

/* ---- Events ---- */

static double slack(double time) { return 1e-12 * (1.0 + fabs(time)); }

static void schedule(struct own *own)
{
    double next = own->start + (own->ticks + 1) * own->values[EVERY];
    own->has_next = next < 1e299;
    own->next = own->values[DEMAND] == ULP ? nextafter(next, -INFINITY) : next;
}

static bool demands(struct own *own, enum demand demand, double reached)
{
    if (own->values[DEMAND] != demand || own->is_done || reached < own->values[WHEN] - slack(reached)) return false;
    return own->is_done = true;
}

/* Handles what is due at this time. */
static bool handle(struct own *own, double late)
{
    bool happened = false;
    if (own->has_next && own->time >= own->next - late) {
        /* A stale one is no tick. */
        if (own->next >= own->start + (own->ticks + 1) * own->values[EVERY] - slack(own->time)) own->values[N]++, own->ticks++;
        happened = true;
    }
    if (own->values[X] >= own->values[RISE]) {
        own->values[X] = 0.0;
        own->values[N]++;
        happened = own->states_changed = true;
    }
    schedule(own);
    if (!happened && demands(own, STALE, own->time)) own->has_next = true, own->next = own->time;
    own->is_over |= demands(own, TERMINATE, own->time);
    return happened;
}

static int enter_event_mode(struct strict *m, const char *function)
{
    struct own *own = &m->own;
    if (!m->steps && own->time > own->completed[0]) return refuse(m, function, "the last step is not completed");
    if (own->has_next && own->time > own->next + 1e-9) return refuse(m, function, "beyond nextEventTime %.17g", own->next);
    own->values[ENTERED]++;
    own->state = EVENT;
    own->event_time = own->time;
    own->updated = own->more = own->is_due = false;
    return 0;
}

/* An iteration of an event. */
static void iterate_event(struct own *own)
{
    own->more = handle(own, 0.0) && !own->is_over;
    own->updated = true;
    own->values[SEEN] = own->values[U];
}

/* What leaves Event Mode. */
static int leave_event_mode(struct strict *m, const char *function, enum state to)
{
    if (!m->own.updated || m->own.more) return refuse(m, function, "the event iteration is not over");
    m->own.state = to;
    m->own.was_set = false;
    return 0;
}

/* ---- Model Exchange ---- */

static int set_time(struct strict *m, const char *function, double t)
{
    struct own *own = &m->own;
    if (t < own->start || t < own->event_time || t < own->completed[1]) return refuse(m, function, "back to %.17g", t);
    if (own->has_stop && t > own->stop) return refuse(m, function, "%.17g is beyond the stop time", t);
    bool at_event = own->completed[0] == own->time && ((own->has_next && own->time >= own->next) || own->values[X] >= own->values[RISE]);
    if (own->state == RUN && t > own->time && at_event) return refuse(m, function, "on to %.17g without handling the event", t);
    own->time = t;
    return 0;
}

static int completed(struct strict *m, const char *function)
{
    struct own *own = &m->own;
    if (own->has_next && own->time > own->next + 1e-9) return refuse(m, function, "beyond nextEventTime %.17g", own->next);
    if (own->time < own->completed[0]) return refuse(m, function, "before the last completed step");
    own->completed[1] = own->completed[0];
    own->completed[0] = own->time;
    return 0;
}

static int set_states(struct strict *m, const char *function, const double x[], size_t n)
{
    if (n != 1) return refuse(m, function, "%zu states", n);
    if (m->own.states_changed) return refuse(m, function, "states have changed, and nobody has read them");
    m->own.values[X] = x[0];
    return 0;
}

static int get_states(struct strict *m, const char *function, double x[], size_t n)
{
    if (n != 1) return refuse(m, function, "%zu states", n);
    m->own.states_changed = false;
    x[0] = m->own.values[X];
    return 0;
}

/* ---- Co-Simulation ---- */

/* Whether a step may begin there. */
static int may_step(struct strict *m, const char *function, double point, double size)
{
    struct own *own = &m->own;
    double end = point + size;
    if (!(size > 0.0)) return refuse(m, function, "the step size %.17g", size);
    if (fabs(point - own->time) > 4.5e-16 * fabs(point)) return refuse(m, function, "from %.17g", point);
    if (own->has_stop && end > own->stop) return refuse(m, function, "to %.17g, beyond the stop time", end);
    if (own->is_due) return refuse(m, function, "Event Mode was asked for");
    if (m->event_mode && own->has_next && point >= own->next) return refuse(m, function, "without handling the time event");
    if (m->event_mode && own->has_next && end > own->next + 1e-9) return refuse(m, function, "to %.17g, beyond nextEventTime %.17g", end, own->next);
    own->was_set = false;
    own->time = point;
    return 0;
}

static double crossing(const struct own *own)
{
    double slope = value(own, DX);
    return slope > 0.0 ? own->time + (own->values[RISE] - own->values[X]) / slope : INFINITY;
}

/* Integrates to this time, at which a crossing is exact. */
static void integrate(struct own *own, double to)
{
    double at = crossing(own);
    own->values[X] += value(own, DX) * (to - own->time);
    if (fabs(at - to) <= slack(to)) own->values[X] = own->values[RISE];
    own->time = to;
}

/* A whole step with its events. */
static void step_through(struct own *own, double end)
{
    schedule(own);
    while (true) {
        double next = fmin(crossing(own), own->has_next ? own->next : INFINITY);
        if (next > end + slack(end)) break;
        if (next < end) integrate(own, fmax(next, own->time));
        else integrate(own, end);
        handle(own, slack(end));
    }
    integrate(own, end);
    own->states_changed = false;
}

#endif
