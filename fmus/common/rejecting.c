/* A Co-Simulation FMU that makes no step over one of its events, for masters of several FMUs: y is the integral of the input u over the
 * steps, and an event is due at `first`, `first + every`, `first + 2 every`, ... kind.h says what the FMU does about them:
 *
 *   rejecting   it comes to the event and returns early; with its state, which can be saved, a master goes back and tries a shorter step
 *   predicting  it tells the next event (nextEventTime), and a step beyond it is an error
 *   legacy      it returns early as the first one does, and its state cannot be saved
 *
 * Steps that end at an event or before it are made as they are. `lie` breaks what masters rely on: 1, it says that it has come beyond
 * the end of the step; 2, it returns early from every step, however short, after nine tenths of it; 3, so does it from the second step
 * on after it has told when the next event is. */

#include "fmi3_model.h"
#include "kind.h"
#include <math.h>

const char model_token[] = TOKEN;

enum lie { NO_LIE, BEYOND_THE_STEP, NO_STEP_WHOLE, NOT_AS_TOLD };
enum mode { STEP_MODE, EVENT_MODE };

struct rejecting {
    struct fmu_base base;
    double time, u, y;
    double first, every;
    uint64_t lie;
    uint64_t steps, early, events; /* made, ended early, come to */
    uint64_t mode;
};

const size_t model_size = sizeof(struct rejecting);

#define AT(member) offsetof(struct rejecting, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {1, FMU_FLOAT64, FMU_INPUT, AT(u)},
    {2, FMU_FLOAT64, FMU_OUTPUT, AT(y)},
    {3, FMU_UINT64, FMU_OUTPUT, AT(steps)},
    {4, FMU_UINT64, FMU_OUTPUT, AT(early)},
    {5, FMU_UINT64, FMU_OUTPUT, AT(events)},
    {6, FMU_FLOAT64, FMU_FIXED, AT(first)},
    {7, FMU_FLOAT64, FMU_FIXED, AT(every)},
    {8, FMU_UINT64, FMU_FIXED, AT(lie)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    struct rejecting *rejecting = model;
    rejecting->first = 0.0037;
    rejecting->every = 0.01;
}

void model_initialize(void *model, double start_time)
{
    struct rejecting *rejecting = model;
    rejecting->time = start_time;
    rejecting->mode = PREDICTS ? EVENT_MODE : STEP_MODE;
}

static double next_event(const struct rejecting *rejecting)
{
    return rejecting->first + (double)rejecting->events * rejecting->every;
}

static double slack(double time)
{
    return 1e-12 * (1.0 + fabs(time));
}

static fmi3Status refused(struct rejecting *rejecting, const char *what)
{
    rejecting->base.state = FMU_FAILED;
    return fmu_log(&rejecting->base, fmi3Error, "%s at %.17g", what, rejecting->time);
}

fmi3Status model_step(void *model, struct fmu_step *step)
{
    struct rejecting *rejecting = model;
    if (rejecting->mode == EVENT_MODE) return refused(rejecting, "fmi3DoStep in Event Mode");
    double end = step->point + step->size, event = next_event(rejecting);
    bool never_whole = rejecting->lie == NO_STEP_WHOLE || (rejecting->lie == NOT_AS_TOLD && rejecting->steps > 0);
    if (PREDICTS && end > event + slack(event)) return refused(rejecting, "fmi3DoStep beyond the event that was told");
    if (never_whole)
        step->reached = step->point + 0.9 * step->size;
    else if (end > event + slack(event))
        step->reached = event;
    step->early = step->reached != end;
    step->lies = rejecting->lie == BEYOND_THE_STEP;
    step->said = end + step->size;

    rejecting->y += rejecting->u * (step->reached - step->point);
    rejecting->time = step->reached;
    rejecting->steps++;
    rejecting->early += step->early;
    /* An FMU with Event Mode comes to its event there. */
    bool is_there = step->reached >= event - slack(event);
    if (!PREDICTS && is_there) rejecting->events++;
    step->event = PREDICTS && is_there;
    return fmi3OK;
}

#if PREDICTS

fmi3Status fmi3EnterEventMode(fmi3Instance instance)
{
    struct rejecting *rejecting = instance;
    if (rejecting->base.state != FMU_CLOCK_ACTIVATION || rejecting->mode == EVENT_MODE)
        return refused(rejecting, "fmi3EnterEventMode: it is in Event Mode, or not initialised,");
    rejecting->mode = EVENT_MODE;
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
                                    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime)
{
    struct rejecting *rejecting = instance;
    if (rejecting->mode != EVENT_MODE) return refused(rejecting, "fmi3UpdateDiscreteStates in Step Mode");
    double event = next_event(rejecting);
    if (rejecting->time >= event - slack(event)) rejecting->events++;
    *discreteStatesNeedUpdate = *terminateSimulation = false;
    *nominalsOfContinuousStatesChanged = *valuesOfContinuousStatesChanged = false;
    *nextEventTimeDefined = true;
    *nextEventTime = next_event(rejecting);
    return fmi3OK;
}

fmi3Status fmi3EnterStepMode(fmi3Instance instance)
{
    struct rejecting *rejecting = instance;
    if (rejecting->mode != EVENT_MODE) return refused(rejecting, "fmi3EnterStepMode in Step Mode");
    rejecting->mode = STEP_MODE;
    return fmi3OK;
}

#endif
