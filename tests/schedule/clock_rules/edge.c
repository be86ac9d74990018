/* A small FMU that answers Error to what the standard does not allow: to variables that are accessed while no clock of
 * theirs is active (FMI 3.0.2, 2.2.7.2 and 2.2.8.3), to intervals asked for or told where the table of 2.2.8.2 has none.
 * What it is like stands in model.h, which each test writes:
 *
 *   TOKEN, clock_of[]     the clock of each variable, 0: none
 *   kind_of[]             of each clock: what may be asked and told of it
 *   ticker_of[]           of each output clock: the input clock whose partition ticks it
 *   start(), activate()   the model
 *
 * Variables are Float64 with value references below VARIABLES; 1 and 2 are the start and the stop time that it was told. */

#include "fmi3_base.h"
#include <stdlib.h>
#include <string.h>

enum { VARIABLES = 64 };
enum kind { NONE, CONSTANT, GIVEN, ASKED, CHANGING, COUNTDOWN, TRIGGERED, OUTPUT };

struct edge {
    struct fmu_base base;
    double values[VARIABLES];
    double intervals[VARIABLES], shifts[VARIABLES]; /* to be told when asked for, or what it was told */
    uint64_t resolutions[VARIABLES];                /* of intervals that are counters */
    atomic_bool armed[VARIABLES], ticked[VARIABLES], active[VARIABLES];
};

static void update(struct edge *edge)
{
    edge->base.clock_update(edge->base.environment);
}

#include "model.h"

static fmi3Status refuse(struct edge *edge, const char *why, unsigned vr)
{
    edge->base.state = FMU_FAILED;
    return fmu_log(&edge->base, fmi3Error, "%s: #%u#", why, vr);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    (void)resourcePath, (void)visible;
    struct edge *edge = calloc(1, sizeof *edge);
    if (!fmu_base_init(&edge->base, TOKEN, instanceName, instantiationToken, loggingOn, instanceEnvironment,
                       logMessage, clockUpdate, lockPreemption, unlockPreemption)) {
        free(edge);
        return NULL;
    }
    start(edge);
    return edge;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    fmu_base_release(instance);
    free(instance);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance;
    struct edge *edge = instance;
    edge->values[1] = startTime;
    edge->values[2] = stopTimeDefined ? stopTime : -1.0;
    edge->base.state = FMU_INITIALIZATION;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    ((struct edge *)instance)->base.state = FMU_CLOCK_ACTIVATION;
    return fmi3OK;
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    ((struct edge *)instance)->base.state = FMU_TERMINATED;
    return fmi3OK;
}

static bool accessible(const struct edge *edge, unsigned vr, bool set)
{
    unsigned clock = vr < VARIABLES ? clock_of[vr] : 0;
    switch (edge->base.state) {
    case FMU_INSTANTIATED: return clock == 0;
    case FMU_INITIALIZATION: return true;
    case FMU_CLOCK_ACTIVATION: return clock == 0 || set || edge->active[clock];
    default: return false;
    }
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Float64 values[],
                          size_t n_values)
{
    struct edge *edge = instance;
    (void)n_values;
    for (size_t i = 0; i < n; i++) {
        if (!accessible(edge, vrs[i], false)) return refuse(edge, "read while no clock of it is active", vrs[i]);
        values[i] = edge->values[vrs[i]];
    }
    return fmi3OK;
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Float64 values[],
                          size_t n_values)
{
    struct edge *edge = instance;
    (void)n_values;
    for (size_t i = 0; i < n; i++) {
        if (!accessible(edge, vrs[i], true)) return refuse(edge, "set before Initialization Mode", vrs[i]);
        edge->values[vrs[i]] = values[i];
    }
    return fmi3OK;
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time)
{
    struct edge *edge = instance;
    for (unsigned out = 0; out < VARIABLES; out++)
        if (ticker_of[out] == clock) edge->active[out] = false;
    edge->active[clock] = true;
    activate(edge, clock, time);
    return fmi3OK;
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Clock values[])
{
    struct edge *edge = instance;
    for (size_t i = 0; i < n; i++) {
        values[i] = atomic_exchange(&edge->ticked[vrs[i]], false);
    }
    return fmi3OK;
}

static bool may_ask(const struct edge *edge, unsigned clock)
{
    bool initial = edge->base.state == FMU_INITIALIZATION;
    return kind_of[clock] == CHANGING || kind_of[clock] == COUNTDOWN || (kind_of[clock] == ASKED && initial);
}

static fmi3IntervalQualifier qualifier(struct edge *edge, unsigned clock)
{
    if (kind_of[clock] != COUNTDOWN) return fmi3IntervalChanged;
    return atomic_exchange(&edge->armed[clock], false) ? fmi3IntervalChanged : fmi3IntervalNotYetKnown;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    struct edge *edge = instance;
    for (size_t i = 0; i < n; i++) {
        if (!may_ask(edge, vrs[i])) return refuse(edge, "asked for its interval", vrs[i]);
        intervals[i] = edge->intervals[vrs[i]];
        qualifiers[i] = qualifier(edge, vrs[i]);
    }
    return fmi3OK;
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, uint64_t counters[],
                                   uint64_t resolutions[], fmi3IntervalQualifier qualifiers[])
{
    struct edge *edge = instance;
    for (size_t i = 0; i < n; i++) {
        if (!may_ask(edge, vrs[i])) return refuse(edge, "asked for its interval", vrs[i]);
        counters[i] = (uint64_t)edge->intervals[vrs[i]];
        resolutions[i] = edge->resolutions[vrs[i]];
        qualifiers[i] = qualifier(edge, vrs[i]);
    }
    return fmi3OK;
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Float64 shifts[])
{
    struct edge *edge = instance;
    for (size_t i = 0; i < n; i++) {
        if (kind_of[vrs[i]] != ASKED) return refuse(edge, "asked for its shift", vrs[i]);
        shifts[i] = edge->shifts[vrs[i]];
    }
    return fmi3OK;
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,
                                  const fmi3Float64 intervals[])
{
    struct edge *edge = instance;
    for (size_t i = 0; i < n; i++) {
        if (kind_of[vrs[i]] != GIVEN) return refuse(edge, "told an interval", vrs[i]);
        edge->intervals[vrs[i]] = intervals[i];
    }
    return fmi3OK;
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,
                               const fmi3Float64 shifts[])
{
    struct edge *edge = instance;
    for (size_t i = 0; i < n; i++) {
        if (kind_of[vrs[i]] != GIVEN) return refuse(edge, "told a shift", vrs[i]);
        edge->shifts[vrs[i]] = shifts[i];
    }
    return fmi3OK;
}
