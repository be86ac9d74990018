/* The life of an instance of step_tracer, and its modes. Overview in step_tracer.h. */

#include "step_tracer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const violation_names[VIOLATIONS] = {
    "a call while another thread is inside",
    "a step does not begin where the one before has ended",
    "a step over no time",
    "a step beyond the stop time",
    "an output was read after a set without a step in between",
    "a call that the state does not allow",
    "a call after fmi3Terminate",
    "a step instead of Event Mode",
    "a step beyond nextEventTime",
    "Event Mode was left before it was done",
    "a step of another size, which this FMU cannot make",
};

/* ---- What happens around each call ---- */

uint64_t bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void note(struct step_tracer *fmu, enum trace_what what, enum trace_phase phase, uint32_t vr, double time, uint64_t hash)
{
    trace_append(&fmu->trace, (struct trace_event){.what = what, .phase = phase, .vr = vr, .count = 1, .time = time,
                                                   .hash = hash, .status = -1});
}

void violated(struct step_tracer *fmu, enum violation kind)
{
    uint64_t bit = UINT64_C(1) << kind, before = fmu->violation_kinds;
    fmu->violations++;
    fmu->violation_kinds |= bit;
    note(fmu, TRACE_VIOLATION, TRACE_NOTE, kind, fmu->reached, 0);
    if (!(before & bit)) fmu_log(&fmu->base, fmi3Warning, "Invariant %d broken: %s.", (int)kind, violation_names[kind]);
}

void enter(struct step_tracer *fmu)
{
    if (atomic_fetch_add(&fmu->inside, 1) > 0) violated(fmu, TWO_AT_ONCE);
    if (fmu->base.state == FMU_TERMINATED) violated(fmu, CALL_AFTER_END);
}

fmi3Status leave(struct step_tracer *fmu, fmi3Status status)
{
    atomic_fetch_sub(&fmu->inside, 1);
    return status;
}

/* A call that is allowed in this state and mode only. */
static bool is_in(struct step_tracer *fmu, enum fmu_state state, enum mode mode)
{
    bool is = fmu->base.state == (int)state && fmu->mode == mode;
    if (!is) violated(fmu, WRONG_STATE);
    return is;
}

/* A call that is only noted, and changes the mode. */
static fmi3Status change(struct step_tracer *fmu, enum trace_what what, enum fmu_state state, enum mode from, enum mode to)
{
    enter(fmu);
    note(fmu, what, TRACE_NOTE, 0, fmu->reached, 0);
    if (is_in(fmu, state, from)) fmu->mode = to;
    return leave(fmu, fmi3OK);
}

/* ---- From instantiation to the end ---- */

static void no_clock_update(fmi3InstanceEnvironment environment)
{
    (void)environment;
}

static void no_lock(void)
{
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instanceName, fmi3String instantiationToken,
                                         fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                         fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed,
                                         const fmi3ValueReference requiredIntermediateVariables[],
                                         size_t nRequiredIntermediateVariables,
                                         fmi3InstanceEnvironment instanceEnvironment,
                                         fmi3LogMessageCallback logMessage,
                                         fmi3IntermediateUpdateCallback intermediateUpdate)
{
    (void)resourcePath, (void)visible, (void)requiredIntermediateVariables, (void)nRequiredIntermediateVariables;
    (void)intermediateUpdate;
    struct step_tracer *fmu = calloc(1, sizeof *fmu);
    if (!fmu || !trace_init(&fmu->trace) ||
        !fmu_base_init(&fmu->base, "{vecud-step-tracer-1}", instanceName, instantiationToken, loggingOn,
                       instanceEnvironment, logMessage, no_clock_update, no_lock, no_lock)) {
        if (fmu) trace_release(&fmu->trace);
        free(fmu);
        return NULL;
    }
    fmu->has_event_mode = eventModeUsed;
    fmu->may_return_early = earlyReturnAllowed;
    fmu->next_event = INFINITY;
    variables_reset(fmu);
    note(fmu, TRACE_INSTANTIATE, TRACE_NOTE, 0, 0.0, 0);
    return fmu;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance;
    struct step_tracer *fmu = instance;
    enter(fmu);
    note(fmu, TRACE_ENTER_INIT, TRACE_NOTE, 0, startTime, bits(stopTime));
    is_in(fmu, FMU_INSTANTIATED, BEFORE);
    fmu->base.state = FMU_INITIALIZATION;
    fmu->reached = startTime;
    fmu->has_stop = stopTimeDefined;
    fmu->stop = stopTime;
    if (!trace_grow(&fmu->trace, fmu->settings.trace_capacity))
        return leave(fmu, fmu_log(&fmu->base, fmi3Error, "There is no memory for the trace."));
    return leave(fmu, fmi3OK);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    struct step_tracer *fmu = instance;
    fmi3Status status =
        change(fmu, TRACE_EXIT_INIT, FMU_INITIALIZATION, BEFORE, fmu->has_event_mode ? EVENT_MODE : STEP_MODE);
    fmu->base.state = FMU_CLOCK_ACTIVATION;
    fmu->open = fmu->settings.iterations;
    return status;
}

fmi3Status fmi3EnterEventMode(fmi3Instance instance)
{
    struct step_tracer *fmu = instance;
    if (!fmu->has_event_mode) violated(fmu, WRONG_STATE);
    fmu->open = fmu->settings.iterations;
    fmu->events++;
    return change(fmu, TRACE_ENTER_EVENT_MODE, FMU_CLOCK_ACTIVATION, STEP_MODE, EVENT_MODE);
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
                                    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime)
{
    struct step_tracer *fmu = instance;
    fmi3Status status = change(fmu, TRACE_UPDATE_STATES, FMU_CLOCK_ACTIVATION, EVENT_MODE, EVENT_MODE);
    if (fmu->open > 0) fmu->open--;
    double interval = fmu->settings.event_interval;
    /* One that comes due a rounding error from now is this one. */
    if (interval > 0.0 && (isinf(fmu->next_event) || fmu->next_event <= fmu->reached + 1e-9 * interval))
        fmu->next_event = fmu->reached + interval;
    fmu->wants_event = false;
    *discreteStatesNeedUpdate = fmu->open > 0;
    *terminateSimulation = *nominalsOfContinuousStatesChanged = *valuesOfContinuousStatesChanged = false;
    *nextEventTimeDefined = !isinf(fmu->next_event);
    *nextEventTime = fmu->next_event;
    return status;
}

fmi3Status fmi3EnterStepMode(fmi3Instance instance)
{
    struct step_tracer *fmu = instance;
    if (fmu->open > 0) violated(fmu, EVENT_UNFINISHED);
    return change(fmu, TRACE_ENTER_STEP_MODE, FMU_CLOCK_ACTIVATION, EVENT_MODE, STEP_MODE);
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    struct step_tracer *fmu = instance;
    enter(fmu);
    note(fmu, TRACE_TERMINATE, TRACE_NOTE, 0, fmu->reached, 0);
    if (fmu->base.state != FMU_CLOCK_ACTIVATION) violated(fmu, WRONG_STATE);
    fmu->base.state = FMU_TERMINATED;
    return leave(fmu, fmi3OK);
}

void fmi3FreeInstance(fmi3Instance instance)
{
    struct step_tracer *fmu = instance;
    if (!fmu) return;
    if (fmu->inside) violated(fmu, TWO_AT_ONCE);
    note(fmu, TRACE_FREE, TRACE_NOTE, 0, fmu->reached, 0);
    char summary[256];
    snprintf(summary, sizeof summary, "violations=%llu kinds=0x%llx instance=%s", (unsigned long long)fmu->violations,
             (unsigned long long)fmu->violation_kinds, fmu->base.name);
    if (fmu->settings.trace_file[0] && !trace_write(&fmu->trace, fmu->settings.trace_file, summary))
        fmu_log(&fmu->base, fmi3Warning, "The trace file %s cannot be written.", fmu->settings.trace_file);
    trace_release(&fmu->trace);
    fmu_base_release(&fmu->base);
    free(fmu);
}
