/* The life of a tracer instance, its activations and its output clocks. Overview in tracer.h. */

#include "tracer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN "{vecud-tracer-1}"

const struct clock_info clock_infos[CLOCKS] = {
    [NO_CLOCK] = {"none", 0, 0}, [FAST] = {"fast", 1, 1},       [EQUAL_A] = {"equal_a", 2, 2},
    [EQUAL_B] = {"equal_b", 2, 3}, [SLOW] = {"slow", 4, 10},    [HIGH] = {"high", 0, 0},
    [LOW] = {"low", 5, 0},       [DELAYED] = {"delayed", 3, 0}, [OUT_HIGH] = {"out_high", 0, 0},
    [OUT_LOW] = {"out_low", 0, 0},
};

/* ---- All instances of the process, so that each trace reaches its file even without fmi3FreeInstance ---- */

static pthread_mutex_t instances_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct tracer *instances;

void flush(struct tracer *fmu, const char *reason)
{
    if (fmu->settings.trace_file[0] == '\0') return;
    char summary[512];
    snprintf(summary, sizeof summary,
             "violations=%llu kinds=0x%llx resumed_early=%llu entered_early=%llu instance=%s reason=%s",
             (unsigned long long)fmu->all_violations, (unsigned long long)fmu->all_kinds,
             (unsigned long long)fmu->resumed_early, (unsigned long long)fmu->entered_early, fmu->base.name, reason);
    if (!trace_write(&fmu->trace, fmu->settings.trace_file, summary))
        fmu_log(&fmu->base, fmi3Warning, "The trace file %s cannot be written.", fmu->settings.trace_file);
}

/* Messages are withheld: the importer may be gone. */
void flush_all(const char *reason)
{
    for (struct tracer *fmu = instances; fmu; fmu = fmu->next) {
        fmu->base.logged = 0;
        flush(fmu, reason);
    }
}

static void flush_all_at_exit(void)
{
    flush_all("exit");
}

static void enlist(struct tracer *fmu)
{
    static bool registered;
    pthread_mutex_lock(&instances_mutex);
    if (!registered) registered = atexit(flush_all_at_exit) == 0;
    fmu->next = instances;
    instances = fmu;
    pthread_mutex_unlock(&instances_mutex);
}

static void delist(struct tracer *fmu)
{
    pthread_mutex_lock(&instances_mutex);
    for (struct tracer **link = &instances; *link; link = &(*link)->next)
        if (*link == fmu) {
            *link = fmu->next;
            break;
        }
    pthread_mutex_unlock(&instances_mutex);
}

/* ---- Tracing of calls ---- */

void trace_begin(struct tracer *fmu, enum trace_what what, uint32_t clock, uint32_t vr, uint32_t n, double time)
{
    trace_append(&fmu->trace, (struct trace_event){.what = what, .phase = TRACE_BEGIN, .clock = (uint8_t)clock,
                                                   .vr = vr, .count = n, .time = time, .status = -1});
}

fmi3Status trace_end(struct tracer *fmu, enum trace_what what, uint32_t clock, uint32_t vr, uint32_t n, double time,
                     uint64_t hash, fmi3Status status)
{
    if (status >= fmi3Discard) fmu->base.state = FMU_FAILED;
    trace_append(&fmu->trace, (struct trace_event){.what = what, .phase = TRACE_END, .clock = (uint8_t)clock, .vr = vr,
                                                   .count = n, .time = time, .hash = hash, .status = (int16_t)status});
    return status;
}

/* ---- From instantiation to the end ---- */

/* As new, but for what has been traced and found so far. */
static void restart(struct tracer *fmu)
{
    memset((char *)fmu + offsetof(struct tracer, settings), 0,
           offsetof(struct tracer, active) - offsetof(struct tracer, settings));
    variables_reset(fmu);
    nobody_inside(fmu);
    fmu->trace.on = true;
    fmu->base.state = FMU_INSTANTIATED;
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    (void)resourcePath, (void)visible;
    if (fail_by_name(instanceName)) {
        if (logMessage) logMessage(instanceEnvironment, fmi3Error, "logStatusError", "No instance, as asked for.");
        return NULL;
    }
    struct tracer *fmu = calloc(1, sizeof *fmu);
    if (!fmu || !trace_init(&fmu->trace)) {
        free(fmu);
        return NULL;
    }
    trace_begin(fmu, TRACE_INSTANTIATE, NO_CLOCK, 0, 0, 0.0);
    if (!fmu_base_init(&fmu->base, TOKEN, instanceName, instantiationToken, loggingOn, instanceEnvironment, logMessage,
                       clockUpdate, lockPreemption, unlockPreemption)) {
        trace_release(&fmu->trace);
        free(fmu);
        return NULL;
    }
    restart(fmu);
    enlist(fmu);
    trace_end(fmu, TRACE_INSTANTIATE, NO_CLOCK, 0, 0, 0.0, 0, fmi3OK);
    return fmu;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    struct tracer *fmu = instance;
    if (!fmu) return;
    trace_begin(fmu, TRACE_FREE, NO_CLOCK, 0, 0, 0.0);
    if (fmu->active || fmu->inside_update) violated(fmu, NO_CLOCK, WRONG_STATE);
    if (fmu->states) violated(fmu, NO_CLOCK, STATE_LEFT);
    flush(fmu, "free");
    delist(fmu);
    states_release(fmu);
    trace_release(&fmu->trace);
    fmu_base_release(&fmu->base);
    free(fmu);
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[])
{
    struct tracer *fmu = instance;
    trace_begin(fmu, TRACE_DEBUG_LOGGING, NO_CLOCK, 0, (uint32_t)nCategories, 0.0);
    fmi3Status status = fmu_set_debug_logging(&fmu->base, loggingOn, nCategories, categories);
    return trace_end(fmu, TRACE_DEBUG_LOGGING, NO_CLOCK, 0, (uint32_t)nCategories, 0.0, 0, status);
}

/* A change of state: allowed from `from` only. */
static fmi3Status move(struct tracer *fmu, enum trace_what what, double time, int from, int to,
                       enum fail_function failure)
{
    trace_begin(fmu, what, NO_CLOCK, 0, 0, time);
    check_call(fmu);
    fmi3Status status = fail_in_function(fmu, failure);
    if (status < fmi3Discard && fmu->base.state != from) {
        if (fmu->base.state < FMU_TERMINATED) violated(fmu, NO_CLOCK, WRONG_STATE);
        status = fmu_log(&fmu->base, fmi3Error, "This call is not allowed in the present state.");
    }
    if (status < fmi3Discard) fmu->base.state = to;
    return trace_end(fmu, what, NO_CLOCK, 0, 0, time, 0, status);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance;
    struct tracer *fmu = instance;
    /* n: whether a stop time was given; time: which. */
    trace_append(&fmu->trace, (struct trace_event){.what = TRACE_ENTER_INIT, .phase = TRACE_NOTE, .count = stopTimeDefined,
                                                   .time = stopTimeDefined ? stopTime : 0.0, .status = -1});
    fmu->time = startTime;
    fmu->base.start_time = startTime;
    return move(fmu, TRACE_ENTER_INIT, startTime, FMU_INSTANTIATED, FMU_INITIALIZATION, FAIL_ENTER_INIT);
}

/* From here on nothing is allocated. */
static bool prepare(struct tracer *fmu)
{
    const struct settings *set = &fmu->settings;
    fmu->sleeps = false;
    for ALL_CLOCKS (clock) {
        const struct partition_settings *partition = &set->partition[clock];
        if (partition->sleep_every > 0 || partition->lock_sleep_us > 0) fmu->sleeps = true;
    }
    if (set->trace_file[0] != '\0') return set->trace_capacity > 0 && trace_grow(&fmu->trace, (size_t)set->trace_capacity);
    fmu->trace.on = false;
    return true;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    struct tracer *fmu = instance;
    if (!prepare(fmu)) return fmu_log(&fmu->base, fmi3Error, "There is no memory for trace_capacity events.");
    if (!grid_prepare(fmu)) return fmu_log(&fmu->base, fmi3Error, "The parameters of a clock make no sense.");
    return move(fmu, TRACE_EXIT_INIT, 0.0, FMU_INITIALIZATION, FMU_CLOCK_ACTIVATION, FAIL_EXIT_INIT);
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    struct tracer *fmu = instance;
    if (fmu->active) violated(fmu, NO_CLOCK, WRONG_STATE);
    fmi3Status status =
        move(fmu, TRACE_TERMINATE, 0.0, FMU_CLOCK_ACTIVATION, FMU_TERMINATED, FAIL_TERMINATE);
    flush(fmu, "terminate");
    return status;
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    struct tracer *fmu = instance;
    trace_begin(fmu, TRACE_RESET, NO_CLOCK, 0, 0, 0.0);
    fmi3Status status = fail_in_function(fmu, FAIL_RESET);
    if (fmu->active) {
        violated(fmu, NO_CLOCK, STATE_WHILE_ACTIVE);
        status = fmu_log(&fmu->base, fmi3Error, "fmi3Reset while a partition is active.");
    }
    if (status < fmi3Discard) restart(fmu);
    return trace_end(fmu, TRACE_RESET, NO_CLOCK, 0, 0, 0.0, 0, status);
}

/* ---- Activation ---- */

static fmi3Status activate(struct tracer *fmu, struct activation *activation)
{
    uint32_t clock = activation->clock;
    check_entry(fmu, activation);
    atomic_fetch_or(&fmu->active, 1u << clock);
    fmu->activated[clock] = true;
    fmu->times[clock] = activation->time;
    fmu->time = activation->time;
    activation->number = atomic_fetch_add(&fmu->counts[clock], 1) + 1;
    atomic_fetch_add(&fmu->activations, 1);

    fmi3Status status = fail_in_activation(fmu, activation);
    if (status < fmi3Discard) {
        variables_compute(fmu, clock, activation->number);
        partition_run(fmu, activation);
    }
    atomic_fetch_and(&fmu->active, ~(1u << clock));
    return status;
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
                                      fmi3Float64 activationTime)
{
    struct tracer *fmu = instance;
    struct activation activation = {.clock = clockReference, .time = activationTime};
    bool known = clockReference >= FIRST_INPUT_CLOCK && clockReference <= LAST_INPUT_CLOCK;
    uint32_t clock = known ? clockReference : NO_CLOCK;

    trace_begin(fmu, TRACE_ACTIVATE, clock, clockReference, 1, activationTime);
    check_call(fmu);
    fmi3Status status = fmi3OK;
    if (fmu->base.state != FMU_CLOCK_ACTIVATION) {
        if (fmu->base.state < FMU_CLOCK_ACTIVATION) violated(fmu, clock, WRONG_STATE);
        status = fmu_log(&fmu->base, fmi3Error, "No activation is allowed in the present state.");
    } else if (!known)
        status = fmu_log(&fmu->base, fmi3Error, "Value reference %u is no input clock.", clockReference);
    else
        status = activate(fmu, &activation);
    return trace_end(fmu, TRACE_ACTIVATE, clock, clockReference, 1, activationTime, 0, status);
}

/* ---- Clocks ---- */

/* Reading is for clock updates; intervals also for Initialization Mode. */
static void check_update(struct tracer *fmu, bool also_initialization)
{
    int state = fmu->base.state;
    if (also_initialization && state == FMU_INITIALIZATION) return;
    if (state < FMU_TERMINATED && fmu->inside_update == 0) violated(fmu, NO_CLOCK, OUTSIDE_UPDATE);
}

static fmi3Status get_clock(struct tracer *fmu, const fmi3ValueReference vrs[], size_t n, fmi3Clock values[],
                            uint64_t *active)
{
    for (size_t i = 0; i < n; i++) {
        if (vrs[i] != OUT_HIGH && vrs[i] != OUT_LOW)
            return fmu_log(&fmu->base, fmi3Error, "fmi3GetClock: value reference %u is no output clock.", vrs[i]);
        atomic_fetch_add(&fmu->reads[vrs[i]], 1);
        values[i] = atomic_exchange(&fmu->ticked[vrs[i]], false);
        if (values[i]) *active |= 1u << vrs[i];
    }
    return fmi3OK;
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Clock values[])
{
    struct tracer *fmu = instance;
    uint32_t first = nValueReferences > 0 ? valueReferences[0] : 0, n = (uint32_t)nValueReferences;
    uint64_t active = 0;
    trace_begin(fmu, TRACE_GET_CLOCK, NO_CLOCK, first, n, 0.0);
    check_call(fmu);
    check_update(fmu, false);
    fmi3Status status = fmu->base.state == FMU_CLOCK_ACTIVATION ? fail_in_function(fmu, FAIL_GET_CLOCK) : fmi3Error;
    if (status < fmi3Discard) {
        if (atomic_fetch_add(&fmu->inside_get_clock, 1) > 0) violated(fmu, NO_CLOCK, GET_CLOCK_REENTERED);
        if (fmu->settings.lock_in_get_clock) lock(fmu, NULL);
        if (fmu->settings.update_in_get_clock && fmu->inside_get_clock == 1) fmu->base.clock_update(fmu->base.environment);
        fmi3Status result = get_clock(fmu, valueReferences, nValueReferences, values, &active);
        if (result > status) status = result;
        if (fmu->settings.lock_in_get_clock) unlock(fmu, NULL);
        atomic_fetch_sub(&fmu->inside_get_clock, 1);
    }
    return trace_end(fmu, TRACE_GET_CLOCK, NO_CLOCK, first, n, 0.0, active, status);
}

/* What becomes of the countdown once the importer has asked: from here the activation is due. */
static fmi3IntervalQualifier take_interval(struct tracer *fmu, double *interval)
{
    *interval = fmu->armed_interval;
    if (!fmu->armed_once) return fmi3IntervalNotYetKnown;
    if (!atomic_exchange(&fmu->arm_pending, false)) return fmi3IntervalUnchanged;
    fmu->dues[fmu->next_due++ % DUES] = fmu->armed_at + fmu->armed_interval;
    return fmi3IntervalChanged;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, fmi3Float64 intervals[],
                                  fmi3IntervalQualifier qualifiers[])
{
    struct tracer *fmu = instance;
    uint32_t first = nValueReferences > 0 ? valueReferences[0] : 0, n = (uint32_t)nValueReferences;
    double interval = 0.0;
    uint64_t qualifier = 0;
    trace_begin(fmu, TRACE_GET_INTERVAL, NO_CLOCK, first, n, 0.0);
    check_call(fmu);
    check_update(fmu, true);
    fmi3Status status = fmu->base.state < FMU_TERMINATED ? fail_in_function(fmu, FAIL_GET_INTERVAL) : fmi3Error;
    for (size_t i = 0; i < nValueReferences && status < fmi3Discard; i++) {
        if (valueReferences[i] != DELAYED) {
            status = fmu_log(&fmu->base, fmi3Error, "fmi3GetIntervalDecimal: value reference %u is no countdown clock.",
                             valueReferences[i]);
            break;
        }
        if (fmu->settings.lock_in_get_clock) lock(fmu, NULL);
        atomic_fetch_add(&fmu->reads[DELAYED], 1);
        qualifiers[i] = take_interval(fmu, &interval);
        intervals[i] = interval;
        qualifier = qualifiers[i];
        if (fmu->settings.lock_in_get_clock) unlock(fmu, NULL);
    }
    return trace_end(fmu, TRACE_GET_INTERVAL, NO_CLOCK, first, n, interval, qualifier, status);
}
