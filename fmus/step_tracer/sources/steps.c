/* The steps of step_tracer: what it checks of them, and what it does when it is asked to. */

#include "mixing.h"
#include "step_tracer.h"
#include <float.h>
#include <math.h>

/* What two times may differ by that are the same: each was rounded, and so was their sum. */
static double rounding(double time, double size)
{
    return 4.0 * DBL_EPSILON * fabs(time) + 1e-9 * size;
}

static void check(struct step_tracer *fmu, double point, double size)
{
    const struct settings *own = &fmu->settings;
    double end = point + size, slack = rounding(point, size);
    if (!(size > 0.0)) violated(fmu, NO_SIZE);
    if (fabs(point - fmu->reached) > slack) violated(fmu, HOLE);
    if (fmu->has_stop && end > fmu->stop) violated(fmu, BEYOND_STOP);
    if (fmu->has_event_mode && (fmu->wants_event || fmu->next_event <= point + slack)) violated(fmu, EVENT_NOT_HANDLED);
    if (own->varies && fmu->has_event_mode && fmu->next_event > point + slack && fmu->next_event < end - slack)
        violated(fmu, EVENT_PASSED);
    if (!own->varies && fmu->first_size > 0.0 && fabs(size - fmu->first_size) > slack) violated(fmu, STEP_VARIED);
}

/* Whether it is one of those that `every` asks for. */
static bool is_one_in(uint64_t number, uint64_t every)
{
    return every > 0 && number % every == every - 1;
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 currentCommunicationPoint, fmi3Float64 communicationStepSize,
                      fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *eventHandlingNeeded,
                      fmi3Boolean *terminateSimulation, fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime)
{
    (void)noSetFMUStatePriorToCurrentPoint;
    struct step_tracer *fmu = instance;
    struct settings *own = &fmu->settings;
    double point = currentCommunicationPoint, size = communicationStepSize;
    enter(fmu);
    note(fmu, TRACE_STEP, TRACE_BEGIN, 0, point, bits(size));
    if (fmu->base.state != FMU_CLOCK_ACTIVATION || fmu->mode != STEP_MODE)
        violated(fmu, WRONG_STATE);
    else
        check(fmu, point, size);
    if (fmu->first_size == 0.0) fmu->first_size = size;

    if (own->burn_us > 0) burn(own->burn_us);
    if (point >= own->late_at) {
        own->late_at = INFINITY;
        burn(own->late_us);
    }
    bool early = own->varies && fmu->may_return_early && !fmu->was_early && is_one_in(fmu->steps, own->early_every);
    fmu->wants_event = fmu->has_event_mode && is_one_in(fmu->steps, own->event_every);
    fmu->was_early = early;
    fmu->was_set = false;
    fmu->a_used = fmu->inputs[0];
    fmu->reached = early ? point + size / 2.0 : point + size;
    fmu->steps++;

    *eventHandlingNeeded = fmu->wants_event;
    *terminateSimulation = false;
    *earlyReturn = early;
    *lastSuccessfulTime = fmu->reached;
    note(fmu, TRACE_STEP, TRACE_END, 0, fmu->reached, early);
    return leave(fmu, fmi3OK);
}
