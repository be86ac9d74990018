/* A Co-Simulation FMU of FMI 2.0 that can be asked how far it steps, by a function beside those of the standard:
 *
 *   fmi2Status fmi2GetMaxStepSize(fmi2Component c, fmi2Real *maxStepSize)
 *
 * y is the integral of the input u over the steps, and an event is due at `first`, `first + every`, `first + 2 every`, ... A step that
 * would go beyond one is discarded there, at lastSuccessfulTime. With its state, which can be saved, a master can go back and make a
 * shorter step; or it asks before.
 *
 * `steps` and `events` are of the state; `asked`, `discarded` and `restored` count calls, and are no part of it. `lie` is what it does
 * when it is asked: 1, it answers 0; 2, less than that; 3, NaN; 4, Error; 5, it answers as it should, but a step comes to nine tenths of
 * where it was to; 6, it answers as it should, and Warning. 7: there are no events, and it answers infinity. 8: it answers as it should, and takes nothing for
 * rounding. */

#include "fmi2Functions.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

FMI2_Export fmi2Status fmi2GetMaxStepSize(fmi2Component c, fmi2Real *maxStepSize);

enum lie { NO_LIE, ZERO, NEGATIVE, NO_NUMBER, ERROR, STEPS_LESS, WITH_WARNING, NO_EVENTS, EXACT };
enum real { U, Y, FIRST, EVERY, REALS };
enum integer { STEPS = 4, EVENTS, ASKED, DISCARDED, RESTORED, LIE, INTEGERS };

struct state {
    double reals[REALS];
    double time;
    int steps, events, lie;
};

struct foretelling {
    struct state now;
    double last_successful;
    int is_initialised, asked, discarded, restored;
};

static void begin(struct foretelling *own)
{
    memset(own, 0, sizeof *own);
    own->now.reals[FIRST] = 0.375;
    own->now.reals[EVERY] = 0.3125;
}

/* When the next event is. */
static double next_event(const struct state *now)
{
    if (now->lie == NO_EVENTS) return INFINITY;
    return now->reals[FIRST] + now->events * now->reals[EVERY];
}

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)name, (void)resources, (void)functions, (void)visible, (void)logging;
    if (type != fmi2CoSimulation || strcmp(guid, "{vecud-foretelling-1}") != 0) return NULL;
    struct foretelling *own = malloc(sizeof *own);
    if (own) begin(own);
    return own;
}

void fmi2FreeInstance(fmi2Component c) { free(c); }

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    ((struct foretelling *)c)->now.time = start;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) { (void)c; return fmi2OK; }

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    ((struct foretelling *)c)->is_initialised = 1;
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c) { (void)c; return fmi2OK; }

fmi2Status fmi2Reset(fmi2Component c)
{
    begin(c);
    return fmi2OK;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    struct foretelling *own = c;
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= REALS || vr[i] == Y || (vr[i] != U && own->is_initialised)) return fmi2Error;
        own->now.reals[vr[i]] = value[i];
    }
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= REALS) return fmi2Error;
        value[i] = ((struct foretelling *)c)->now.reals[vr[i]];
    }
    return fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[])
{
    struct foretelling *own = c;
    for (size_t i = 0; i < n; i++) {
        if (vr[i] != LIE || own->is_initialised) return fmi2Error;
        own->now.lie = value[i];
    }
    return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[])
{
    const struct foretelling *own = c;
    const int all[INTEGERS] = {
        [STEPS] = own->now.steps,      [EVENTS] = own->now.events,      [ASKED] = own->asked,
        [DISCARDED] = own->discarded, [RESTORED] = own->restored, [LIE] = own->now.lie,
    };
    for (size_t i = 0; i < n; i++) {
        if (vr[i] < STEPS || vr[i] >= INTEGERS) return fmi2Error;
        value[i] = all[vr[i]];
    }
    return fmi2OK;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    if (!*state) *state = malloc(sizeof(struct state));
    if (!*state) return fmi2Error;
    memcpy(*state, &((struct foretelling *)c)->now, sizeof(struct state));
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    struct foretelling *own = c;
    memcpy(&own->now, state, sizeof own->now);
    own->restored++;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi2OK;
}

fmi2Status fmi2GetMaxStepSize(fmi2Component c, fmi2Real *maxStepSize)
{
    struct foretelling *own = c;
    if (!own->is_initialised) return fmi2Error;
    own->asked++;
    *maxStepSize = next_event(&own->now) - own->now.time;
    switch (own->now.lie) {
    case ZERO: *maxStepSize = 0.0; break;
    case NEGATIVE: *maxStepSize = -0.25; break;
    case NO_NUMBER: *maxStepSize = NAN; break;
    case ERROR: return fmi2Error;
    case WITH_WARNING: return fmi2Warning;
    }
    return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real point, fmi2Real size, fmi2Boolean no_set_state)
{
    (void)no_set_state;
    struct foretelling *own = c;
    struct state *now = &own->now;
    if (!(size > 0.0) || fabs(point - now->time) > 1e-12 * (1.0 + fabs(point))) return fmi2Error;
    double end = point + size, event = next_event(now), reached = end;
    double slack = now->lie == EXACT ? 0.0 : 1e-12 * (1.0 + fabs(end)); /* the event may have been rounded on its way */
    if (end > event + slack) reached = event;
    if (now->lie == STEPS_LESS) reached = point + 0.9 * size;
    now->reals[Y] += now->reals[U] * (reached - point);
    now->time = own->last_successful = reached;
    now->steps++;
    if (reached >= event - slack) now->events++;
    if (reached < end) {
        own->discarded++;
        return fmi2Discard;
    }
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = ((struct foretelling *)c)->last_successful;
    return fmi2OK;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    (void)c;
    if (kind != fmi2Terminated) return fmi2Discard;
    *value = fmi2False;
    return fmi2OK;
}
