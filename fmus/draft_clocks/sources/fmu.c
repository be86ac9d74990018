/* Life, clocks and partitions of draft_clocks. Overview in fmu.h. */

#include "fmu.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void note(struct fmu *fmu, enum trace_what what, enum trace_phase phase, uint32_t clock, uint32_t vr, uint32_t n,
          double time)
{
    trace_append(&fmu->trace, (struct trace_event){.what = what, .phase = phase, .clock = (uint8_t)clock, .vr = vr,
                                                   .count = n, .time = time, .status = -1});
}

static fmi3Status error(struct fmu *fmu, const char *message)
{
    fmu->log_message(fmu->environment, fmu->name, fmi3Error, "logStatusError", message);
    return fmi3Error;
}

/* ---- Life ---- */

const char *fmi3GetVersion(void)
{
    return "3.0-alpha.5";
}

fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourceLocation, fmi3Boolean visible,
    fmi3Boolean loggingOn, const fmi3ValueReference requiredIntermediateVariables[],
    size_t nRequiredIntermediateVariables, fmi3InstanceEnvironment instanceEnvironment,
    fmi3CallbackLogMessage logMessage, fmi3CallbackIntermediateUpdate intermediateUpdate,
    fmi3CallbackLockPreemption lockPreemption, fmi3CallbackUnlockPreemption unlockPreemption)
{
    (void)visible, (void)loggingOn, (void)requiredIntermediateVariables;
    if (!logMessage || !intermediateUpdate || !lockPreemption || !unlockPreemption) return NULL;
    if (strcmp(instantiationToken, "{vecud-draft-clocks-1}") != 0 || nRequiredIntermediateVariables != 0) {
        logMessage(instanceEnvironment, instanceName, fmi3Error, "logStatusError", "Wrong arguments.");
        return NULL;
    }
    struct fmu *fmu = calloc(1, sizeof *fmu);
    if (!fmu || !trace_init(&fmu->trace) || !trace_grow(&fmu->trace, 65536)) return NULL;
    fmu->name = strdup(instanceName);
    fmu->trace_file = strdup("");
    fmu->environment = instanceEnvironment;
    fmu->log_message = logMessage;
    fmu->intermediate_update = intermediateUpdate;
    fmu->lock = lockPreemption;
    fmu->unlock = unlockPreemption;
    fmu->out_every = 1;
    logMessage(instanceEnvironment, fmu->name, fmi3OK, "logEvents", resourceLocation ? resourceLocation : "nowhere");
    note(fmu, TRACE_INSTANTIATE, TRACE_NOTE, NO_CLOCK, 0, 0, 0.0);
    return fmu;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    struct fmu *fmu = instance;
    note(fmu, TRACE_FREE, TRACE_BEGIN, NO_CLOCK, 0, 0, 0.0);
    if (*fmu->trace_file) trace_write(&fmu->trace, fmu->trace_file, "reason=free");
    trace_release(&fmu->trace);
    free(fmu->name);
    free(fmu->trace_file);
    free(fmu);
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[])
{
    (void)instance, (void)loggingOn, (void)nCategories, (void)categories;
    return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance, (void)stopTimeDefined, (void)stopTime;
    note(instance, TRACE_ENTER_INIT, TRACE_BEGIN, NO_CLOCK, 0, 0, startTime);
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    note(instance, TRACE_EXIT_INIT, TRACE_END, NO_CLOCK, 0, 0, 0.0);
    return fmi3OK;
}

/* ---- Ticks ---- */

static void update(struct fmu *fmu, uint32_t clock, double time)
{
    fmi3Boolean early = 77;
    fmi3Float64 early_time = 77.0;
    bool null = fmu->misbehave == NULL_POINTERS;
    note(fmu, TRACE_UPDATE, TRACE_BEGIN, clock, 0, 0, time);
    /* Any value but 0 is true. */
    fmu->intermediate_update(fmu->environment, time, (fmi3Boolean)-128, 0, 0, 0, 1, null ? NULL : &early,
                             null ? NULL : &early_time);
    note(fmu, TRACE_UPDATE, TRACE_END, clock, 0, 0, time);
    fmu->payload_active = fmu->payload_second_active = false;
    if (!null && (early != fmi3False || early_time == 77.0)) note(fmu, TRACE_VIOLATION, TRACE_NOTE, clock, 0, 0, time);
}

static void *update_on_thread(void *fmu)
{
    update(fmu, NO_CLOCK, 0.0);
    return NULL;
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    struct fmu *fmu = instance;
    note(fmu, TRACE_TERMINATE, TRACE_BEGIN, NO_CLOCK, 0, 0, 0.0);
    if (fmu->misbehave == UPDATE_IN_TERMINATE) {
        fmu->ticked[0] = true;
        update(fmu, NO_CLOCK, 0.0);
    }
    return fmi3OK;
}

static void set_tick(struct fmu *fmu, uint32_t clock, uint32_t output, uint32_t element, double time)
{
    note(fmu, TRACE_TICK, TRACE_NOTE, clock, output, element, time);
    fmu->ticked[output - OUT + (element > 0 ? element - 1 : 0)] = true;
}

/* All elements of the clocks asked for, in row-major order; what is read is reset. */
fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Clock values[], size_t nValues)
{
    struct fmu *fmu = instance;
    size_t at = 0;
    note(fmu, TRACE_GET_CLOCK, TRACE_BEGIN, NO_CLOCK, valueReferences[0], (uint32_t)nValues, 0.0);
    if (fmu->misbehave == UPDATE_IN_GET_CLOCK) update(fmu, NO_CLOCK, 0.0);
    for (size_t i = 0; i < nValueReferences; i++) {
        uint32_t output = valueReferences[i];
        if (output < OUT || output > OUT_EACH) return error(fmu, "fmi3GetClock: no output clock");
        size_t elements = output == OUT_EACH ? ELEMENTS : 1;
        for (size_t element = 0; element < elements && at < nValues; element++)
            values[at++] = atomic_exchange(&fmu->ticked[output - OUT + element], false) ? 1 << 30 : fmi3ClockInactive;
        if (output == OUT && values[at - 1]) fmu->payload_active = true;
        if (output == OUT_EACH && values[at - 2]) fmu->payload_second_active = true;
    }
    return at == nValues ? fmi3OK : error(fmu, "fmi3GetClock: wrong number of values");
}

static fmi3Status intervals(struct fmu *fmu, uint32_t fraction, const fmi3ValueReference vrs[], size_t n,
                            size_t n_values, double values[])
{
    size_t at = 0;
    note(fmu, TRACE_GET_INTERVAL, TRACE_BEGIN, fraction, vrs[0], (uint32_t)n_values, 0.0);
    if (fmu->misbehave == INTERVAL_FAILS) return error(fmu, "fmi3GetInterval: this FMU has none");
    for (size_t i = 0; i < n; i++) {
        size_t elements = vrs[i] == OUT_EACH ? ELEMENTS : 1;
        for (size_t element = 0; element < elements && at < n_values; element++)
            values[at++] = vrs[i] == OUT_LATE ? fmu->delay : vrs[i] == OUT_EACH ? 0.0001 * (double)element : 0.0;
    }
    return at == n_values ? fmi3OK : error(fmu, "fmi3GetInterval: wrong number of values");
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, fmi3Float64 interval[], size_t nValues)
{
    return intervals(instance, 0, valueReferences, nValueReferences, nValues, interval);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                   size_t nValueReferences, fmi3UInt64 intervalCounter[], fmi3UInt64 resolution[],
                                   size_t nValues)
{
    double seconds[2 + ELEMENTS] = {0};
    fmi3Status status = intervals(instance, 1, valueReferences, nValueReferences, nValues, seconds);
    for (size_t i = 0; i < nValues; i++) {
        intervalCounter[i] = (fmi3UInt64)(seconds[i] * 1e6 + 0.5);
        resolution[i] = 1000000;
    }
    return status;
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                   size_t nValueReferences, const fmi3UInt64 intervalCounter[],
                                   const fmi3UInt64 resolution[], size_t nValues)
{
    struct fmu *fmu = instance;
    if (nValueReferences != 1 || valueReferences[0] != BANK || nValues != ELEMENTS)
        return error(fmu, "fmi3SetIntervalFraction: only for all elements of bank");
    for (size_t i = 0; i < nValues; i++)
        note(fmu, TRACE_ARM, TRACE_NOTE, BANK, (uint32_t)i + 1, 0, (double)intervalCounter[i] / (double)resolution[i]);
    return fmi3OK;
}

/* ---- Partitions ---- */

static void burn(int32_t us)
{
    struct timespec used;
    int64_t end = 0, now;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        now = (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
        if (end == 0) end = now + us * INT64_C(1000);
    } while (now < end);
}

static bool every(int32_t n, uint64_t number)
{
    return n > 0 && number % (uint64_t)n == 0;
}

static void run_base(struct fmu *fmu, double time)
{
    uint64_t number = ++fmu->count_base;
    double tick = time + fmu->offset;
    if (fmu->misbehave == TICK_BEFORE) tick = time - 0.005;
    if (fmu->misbehave == TICK_AT_NO_TIME) tick = NAN;
    fmu->out_base = fmu->in_base + (double)number;
    if (fmu->misbehave == TICK_IN_LOCK) fmu->lock();
    bool out = every(fmu->out_every, number), late = every(fmu->late_every, number);
    if (out) set_tick(fmu, BASE, OUT, 0, tick);
    fmu->payload = number;
    if (late) set_tick(fmu, BASE, OUT_LATE, 0, tick);
    if (out || late) update(fmu, BASE, tick);
    if (fmu->misbehave == TICK_IN_LOCK) fmu->unlock();
    fmu->payload = 0;
    pthread_t thread;
    if (fmu->misbehave == UPDATE_ON_THREAD && pthread_create(&thread, NULL, update_on_thread, fmu) == 0)
        pthread_join(thread, NULL);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
                                      size_t clockElementIndex, fmi3Float64 activationTime)
{
    struct fmu *fmu = instance;
    uint32_t element = (uint32_t)clockElementIndex;
    note(fmu, TRACE_ACTIVATE, TRACE_BEGIN, clockReference, element, 0, activationTime);
    burn(fmu->burn_us);
    if (clockReference == BASE) run_base(fmu, activationTime);
    if (clockReference == URGENT) fmu->got_urgent = fmu->in_urgent;
    if (clockReference == BANK) {
        if (element == 1) burn(fmu->bank_burn_us);
        fmu->count_bank++;
        if (element == 2) fmu->count_second++;
        fmu->payload_second = fmu->count_bank;
        set_tick(fmu, BANK, OUT_EACH, element, activationTime);
        update(fmu, BANK, activationTime);
    }
    note(fmu, TRACE_ACTIVATE, TRACE_END, clockReference, element, 0, activationTime);
    return fmi3OK;
}
