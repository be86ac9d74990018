/* A Co-Simulation FMU with Event Mode that refuses every call which the standard does not allow in its mode.
 *
 *   time events   at `every`, 2 `every`, ... (nextEventTime); a step beyond the next one is refused, also by rounding where that is `exact`.
 *                 With `creep` each tells the next one as many units in the last place later, and may come late.
 *                 After each it asks `again` times for Event Mode at the same time. `idle` are those in which it has nothing to do
 *   state events  at multiples of `early`: the step returns early and asks for Event Mode
 *   discrete      the input `d` may be set in Event Mode (and before) only; `d_seen` follows it in an iteration
 *   continuous    the input `u` may be set at any time; `sum` is its integral, `u_seen` follows it in an iteration, `changes` counts how often it
 *                 was another one in Step Mode
 *   an array      `w`, of which the second element has `w_seen` and `w_changes`
 *
 * Each event takes `iterations` iterations. In the one of number `ends` of all it asks for the end of the run, after which it computes and
 * enters nothing any more. */

#include "fmi3_model.h"
#include <math.h>

const char model_token[] = "{vecud-events-1}";

enum mode { STEP_MODE, EVENT_MODE };

enum { U = 10, D = 11, W = 12 };

struct events {
    struct fmu_base base;
    double time;
    double u;
    uint64_t d;
    double every, early;
    uint64_t iterations, in_group, ends, again, exact, creep;
    uint64_t time_events, state_events, updates, d_seen, entered;
    double last, sum;
    uint64_t mode, left; /* iterations that this event still needs */
    uint64_t over;       /* it has asked for the end */
    uint64_t left_again, idle, has_stepped, changes;
    double u_seen, u_before, w[2], w_seen, w_before;
    uint64_t w_changes;
    double start, next_time, next_state;
};

const size_t model_size = sizeof(struct events);

#define AT(member) offsetof(struct events, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {U, FMU_FLOAT64, FMU_INPUT, AT(u)},
    {D, FMU_UINT64, FMU_INPUT, AT(d)},
    {W, FMU_FLOAT64, FMU_INPUT, AT(w), 2},
    {20, FMU_UINT64, FMU_OUTPUT, AT(time_events)},
    {21, FMU_UINT64, FMU_OUTPUT, AT(state_events)},
    {22, FMU_UINT64, FMU_OUTPUT, AT(updates)},
    {23, FMU_UINT64, FMU_OUTPUT, AT(d_seen)},
    {24, FMU_FLOAT64, FMU_OUTPUT, AT(last)},
    {25, FMU_FLOAT64, FMU_OUTPUT, AT(sum)},
    {26, FMU_UINT64, FMU_OUTPUT, AT(entered)},
    {27, FMU_UINT64, FMU_OUTPUT, AT(idle)},
    {28, FMU_FLOAT64, FMU_OUTPUT, AT(u_seen)},
    {29, FMU_UINT64, FMU_OUTPUT, AT(changes)},
    {40, FMU_FLOAT64, FMU_OUTPUT, AT(w_seen)},
    {41, FMU_UINT64, FMU_OUTPUT, AT(w_changes)},
    {30, FMU_FLOAT64, FMU_FIXED, AT(every)},
    {31, FMU_FLOAT64, FMU_FIXED, AT(early)},
    {32, FMU_UINT64, FMU_FIXED, AT(iterations)},
    {33, FMU_UINT64, FMU_FIXED, AT(in_group)},
    {34, FMU_UINT64, FMU_FIXED, AT(ends)},
    {35, FMU_UINT64, FMU_FIXED, AT(again)},
    {36, FMU_UINT64, FMU_FIXED, AT(exact)},
    {37, FMU_UINT64, FMU_FIXED, AT(creep)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    struct events *events = model;
    events->every = events->early = 1e300;
    events->iterations = 1;
}

void model_initialize(void *model, double start_time)
{
    struct events *events = model;
    events->time = events->start = start_time;
    events->mode = EVENT_MODE; /* until the importer leaves it */
    events->left = events->iterations;
    events->next_time = start_time + events->every;
    events->next_state = start_time + events->early;
}

bool model_may_set(const void *model, fmi3ValueReference vr)
{
    const struct events *events = model;
    if (events->base.state != FMU_CLOCK_ACTIVATION) return true;
    return vr == U || vr == W || events->mode == EVENT_MODE;
}

/* What it takes for rounding. */
static double slack_at(const struct events *events, double time)
{
    return events->exact ? 0.0 : 1e-9 * (1.0 + fabs(time));
}

static fmi3Status refused(struct events *events, const char *what)
{
    events->base.state = FMU_FAILED;
    return fmu_log(&events->base, fmi3Error, "%s at %.17g", what, events->time);
}

fmi3Status model_step(void *model, struct fmu_step *step)
{
    struct events *events = model;
    double end = step->point + step->size, slack = slack_at(events, end);
    if (events->over) return refused(events, "a step after the end it has asked for");
    if (events->mode != STEP_MODE) return refused(events, "a step in Event Mode");
    bool is_known = events->left_again == 0 && !events->creep; /* else it has told another time of its next event than this one */
    if (is_known && events->next_time <= step->point + slack) return refused(events, "a step although a time event is due");
    if (is_known && end > events->next_time + slack) return refused(events, "a step beyond the next time event");
    if (end > events->next_state + slack) {
        step->early = step->event = true;
        step->reached = events->next_state;
    } else if (end > events->next_state - slack)
        step->event = true;
    events->changes += events->u != events->u_before;
    events->u_before = events->u;
    events->w_changes += events->w[1] != events->w_before;
    events->w_before = events->w[1];
    events->sum += events->u * (step->reached - step->point);
    events->time = step->reached;
    events->has_stepped = true;
    return fmi3OK;
}

fmi3Status fmi3EnterEventMode(fmi3Instance instance)
{
    struct events *events = instance;
    if (events->over) return refused(events, "fmi3EnterEventMode after the end it has asked for");
    if (events->base.state != FMU_CLOCK_ACTIVATION || events->mode != STEP_MODE)
        return refused(events, "fmi3EnterEventMode in Event Mode");
    events->mode = EVENT_MODE;
    events->left = events->iterations;
    events->entered++;
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
                                    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime)
{
    struct events *events = instance;
    if (events->over) return refused(events, "fmi3UpdateDiscreteStates after the end it has asked for");
    if (events->mode != EVENT_MODE) return refused(events, "fmi3UpdateDiscreteStates in Step Mode");
    if (events->left == 0 && events->d == events->d_seen && !events->in_group)
        return refused(events, "an iteration that nobody needs");
    double slack = slack_at(events, events->time);
    bool has_event = events->updates == 0 || events->d != events->d_seen || events->left < events->iterations;
    events->updates++;
    if (events->left_again > 0 && !events->has_stepped) {
        events->left_again--;
        has_event = true;
    }
    events->has_stepped = false;
    events->d_seen = events->d;
    events->u_seen = events->u_before = events->u;
    events->w_seen = events->w_before = events->w[1];
    if (fabs(events->time - events->next_time) <= slack || (events->creep && events->time > events->next_time)) {
        events->time_events++;
        events->last = events->next_time;
        events->next_time += events->every;
        if (events->exact) events->next_time = events->start + (double)(events->time_events + 1) * events->every;
        if (events->creep) events->next_time = events->time;
        for (uint64_t ulp = 0; ulp < events->creep; ulp++) events->next_time = nextafter(events->next_time, INFINITY);
        events->left_again = events->again;
        has_event = true;
    }
    if (fabs(events->time - events->next_state) <= slack) {
        events->state_events++;
        events->last = events->next_state;
        events->next_state += events->early;
        has_event = true;
    }
    events->idle += !has_event;
    if (events->left > 0) events->left--;
    *discreteStatesNeedUpdate = events->left > 0;
    *terminateSimulation = events->over = events->updates == events->ends;
    *nominalsOfContinuousStatesChanged = *valuesOfContinuousStatesChanged = false;
    *nextEventTimeDefined = events->next_time < 1e299;
    *nextEventTime = events->left_again > 0 ? events->time : events->next_time;
    return fmi3OK;
}

fmi3Status fmi3EnterStepMode(fmi3Instance instance)
{
    struct events *events = instance;
    if (events->over) return refused(events, "fmi3EnterStepMode after the end it has asked for");
    if (events->mode != EVENT_MODE) return refused(events, "fmi3EnterStepMode in Step Mode");
    if (events->left > 0) return refused(events, "Event Mode is left, and an iteration is still needed");
    events->mode = STEP_MODE;
    return fmi3OK;
}
