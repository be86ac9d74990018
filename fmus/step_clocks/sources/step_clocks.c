/* A Co-Simulation FMU with clocks that refuses every call which the standard does not allow in its mode, and in its place
 * within an iteration of Event Mode: fmi3SetClock, sets, fmi3GetClock, gets, fmi3UpdateDiscreteStates, intervals.
 *
 *   every     constant, 15 ms; a step beyond its next tick is refused
 *   changing  7 ms and 11 ms in turns
 *   later     countdown, armed by each tick of `called` for `delay` later; 0 is at once
 *   called    triggered, with `message`, which may be set while it is active only
 *   out       ticks with every `out_each`-th tick of `every`, and at multiples of `early`, at which steps return early, with
 *             `payload`, which may be read while it is active only
 */

#include "fmi3_model.h"
#include <math.h>

const char model_token[] = "{vecud-step-clocks-1}";

enum { EVERY = 1, CHANGING, LATER, CALLED, OUT, CLOCKS };
enum { MESSAGE = 10, PAYLOAD = 24 };
enum mode { STEP_MODE, EVENT_MODE };

static const double period = 0.015, never = 1e300;

struct step_clocks {
    struct fmu_base base;
    double time, u, message, payload, last_message;
    uint64_t n_every, n_changing, n_later, n_called, n_out;
    double last_called, last_later, sum;
    double delay, early;
    uint64_t out_each;
    fmi3Boolean log_calls;
    enum mode mode;
    bool active[CLOCKS]; /* in this iteration */
    bool read;           /* the output clock was, in this iteration */
    bool ticked_changing, armed, is_armed_once;
    double next_every, next_changing, next_later, next_early;
};

const size_t model_size = sizeof(struct step_clocks);

#define AT(member) offsetof(struct step_clocks, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {MESSAGE, FMU_FLOAT64, FMU_INPUT, AT(message)},
    {11, FMU_FLOAT64, FMU_INPUT, AT(u)},
    {20, FMU_UINT64, FMU_OUTPUT, AT(n_every)},
    {21, FMU_UINT64, FMU_OUTPUT, AT(n_changing)},
    {22, FMU_UINT64, FMU_OUTPUT, AT(n_later)},
    {23, FMU_UINT64, FMU_OUTPUT, AT(n_called)},
    {PAYLOAD, FMU_FLOAT64, FMU_OUTPUT, AT(payload)},
    {25, FMU_FLOAT64, FMU_OUTPUT, AT(last_message)},
    {26, FMU_FLOAT64, FMU_OUTPUT, AT(last_called)},
    {27, FMU_UINT64, FMU_OUTPUT, AT(n_out)},
    {28, FMU_FLOAT64, FMU_OUTPUT, AT(last_later)},
    {29, FMU_FLOAT64, FMU_OUTPUT, AT(sum)},
    {30, FMU_FLOAT64, FMU_FIXED, AT(delay)},
    {31, FMU_UINT64, FMU_FIXED, AT(out_each)},
    {32, FMU_BOOLEAN, FMU_FIXED, AT(log_calls)},
    {33, FMU_FLOAT64, FMU_FIXED, AT(early)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    struct step_clocks *own = model;
    own->delay = 0.0043;
    own->early = never;
    own->out_each = 1;
}

void model_initialize(void *model, double start_time)
{
    struct step_clocks *own = model;
    own->time = start_time;
    own->mode = EVENT_MODE; /* until the importer leaves it */
    own->next_every = start_time;
    own->next_changing = start_time + 0.007;
    own->next_later = never;
    own->next_early = own->early < never ? start_time + own->early : never;
}

static fmi3Status called(struct step_clocks *own, const char *what)
{
    if (own->log_calls) fmu_log(&own->base, fmi3OK, "%.9g %s", own->time, what);
    return fmi3OK;
}

static fmi3Status refused(struct step_clocks *own, const char *what)
{
    own->base.state = FMU_FAILED;
    return fmu_log(&own->base, fmi3Error, "%s at %.17g", what, own->time);
}

static bool is_now(const struct step_clocks *own, double time)
{
    return fabs(time - own->time) <= 1e-9 * (1.0 + fabs(time));
}

bool model_may_set(const void *model, fmi3ValueReference vr)
{
    const struct step_clocks *own = model;
    if (own->base.state != FMU_CLOCK_ACTIVATION) return true;
    if (vr == MESSAGE) return own->mode == EVENT_MODE && own->active[CALLED] && !own->read;
    return true; /* a continuous input, which jumps in Event Mode */
}

bool model_may_get(const void *model, fmi3ValueReference vr)
{
    const struct step_clocks *own = model;
    return vr != PAYLOAD || own->base.state != FMU_CLOCK_ACTIVATION || (own->active[OUT] && own->read);
}

fmi3Status model_step(void *model, struct fmu_step *step)
{
    struct step_clocks *own = model;
    double end = step->point + step->size, slack = 1e-9 * (1.0 + fabs(end));
    const double next[] = {own->next_every, own->next_changing, own->next_later};
    if (own->mode != STEP_MODE) return refused(own, "a step in Event Mode");
    for (int i = 0; i < 3; i++) {
        if (next[i] <= step->point + slack) return refused(own, "a step although a clock is due");
        if (end > next[i] + slack) return refused(own, "a step beyond the next tick of a clock");
    }
    if (end > own->next_early - slack) {
        step->event = true;
        step->early = end > own->next_early + slack;
        if (step->early) step->reached = own->next_early;
    }
    own->sum += own->u * (step->reached - step->point);
    called(own, "step");
    own->time = step->reached;
    return fmi3OK;
}

fmi3Status fmi3EnterEventMode(fmi3Instance instance)
{
    struct step_clocks *own = instance;
    if (own->base.state != FMU_CLOCK_ACTIVATION || own->mode != STEP_MODE)
        return refused(own, "fmi3EnterEventMode in Event Mode");
    own->mode = EVENT_MODE;
    return called(own, "enter event mode");
}

fmi3Status fmi3EnterStepMode(fmi3Instance instance)
{
    struct step_clocks *own = instance;
    if (own->mode != EVENT_MODE) return refused(own, "fmi3EnterStepMode in Step Mode");
    if (own->armed) return refused(own, "Event Mode is left, and nobody has asked for the countdown");
    if (own->ticked_changing) return refused(own, "Event Mode is left, and nobody has asked for the next interval");
    own->mode = STEP_MODE;
    return called(own, "enter step mode");
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Clock values[])
{
    struct step_clocks *own = instance;
    if (own->mode != EVENT_MODE) return refused(own, "fmi3SetClock in Step Mode");
    if (own->read) return refused(own, "fmi3SetClock after fmi3GetClock in one iteration");
    for (size_t i = 0; i < n; i++) {
        fmi3ValueReference vr = vrs[i];
        double due[] = {0.0, own->next_every, own->next_changing, own->next_later};
        if (vr < EVERY || vr > CALLED || !values[i]) return refused(own, "fmi3SetClock of no input clock, or to false");
        if (own->active[vr]) return refused(own, "a clock that ticks twice in an iteration");
        if (vr <= LATER && !is_now(own, due[vr])) return refused(own, "a clock that ticks off its time");
        own->active[vr] = true;
    }
    return called(own, "set clocks");
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Clock values[])
{
    struct step_clocks *own = instance;
    if (own->mode != EVENT_MODE) return refused(own, "fmi3GetClock in Step Mode");
    if (own->read) return refused(own, "fmi3GetClock twice in an iteration");
    for (size_t i = 0; i < n; i++) {
        if (vrs[i] != OUT) return refused(own, "fmi3GetClock of no output clock");
        own->active[OUT] = is_now(own, own->next_early) ||
                           (own->active[EVERY] && own->out_each > 0 && (own->n_every + 1) % own->out_each == 0);
        own->payload = 1000.0 + own->n_every + 1;
        values[i] = own->active[OUT];
    }
    own->read = true;
    return called(own, "get clocks");
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
                                    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime)
{
    struct step_clocks *own = instance;
    if (own->mode != EVENT_MODE) return refused(own, "fmi3UpdateDiscreteStates in Step Mode");
    if (!own->read) return refused(own, "fmi3UpdateDiscreteStates before fmi3GetClock");
    if (own->active[EVERY]) {
        own->n_every++;
        own->next_every = own->n_every * period;
    }
    if (own->active[CHANGING]) own->n_changing++;
    if (own->active[LATER]) {
        own->n_later++;
        own->last_later = own->time;
        own->next_later = never;
    }
    if (own->active[CALLED]) {
        own->n_called++;
        own->last_called = own->time;
        own->last_message = own->message;
        own->armed = own->is_armed_once = true;
    }
    if (own->active[OUT]) own->n_out++;
    if (is_now(own, own->next_early)) own->next_early += own->early;
    own->ticked_changing = own->active[CHANGING];
    for (int clock = EVERY; clock < CLOCKS; clock++) own->active[clock] = false;
    own->read = false;
    *discreteStatesNeedUpdate = *terminateSimulation = *nominalsOfContinuousStatesChanged = false;
    *valuesOfContinuousStatesChanged = *nextEventTimeDefined = false;
    *nextEventTime = 0.0;
    return called(own, "update");
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Float64 intervals[],
                                  fmi3IntervalQualifier qualifiers[])
{
    struct step_clocks *own = instance;
    bool is_initial = own->base.state == FMU_INITIALIZATION;
    if (!is_initial && own->mode != EVENT_MODE) return refused(own, "fmi3GetIntervalDecimal in Step Mode");
    if (own->read) return refused(own, "fmi3GetIntervalDecimal before fmi3UpdateDiscreteStates");
    for (size_t i = 0; i < n; i++) {
        if (vrs[i] == CHANGING) {
            if (!is_initial && !own->ticked_changing) return refused(own, "an interval of a clock that has not ticked");
            own->ticked_changing = false;
            intervals[i] = own->n_changing % 2 == 0 ? 0.007 : 0.011;
            own->next_changing = own->time + intervals[i];
            qualifiers[i] = fmi3IntervalChanged;
        } else if (vrs[i] == LATER) {
            intervals[i] = own->delay;
            qualifiers[i] = own->armed ? fmi3IntervalChanged : own->is_armed_once ? fmi3IntervalUnchanged : fmi3IntervalNotYetKnown;
            if (own->armed) own->next_later = own->time + own->delay;
            own->armed = false;
        } else
            return refused(own, "fmi3GetIntervalDecimal of another clock");
    }
    return called(own, "intervals");
}
