/* See model.h. Partitions preempt each other at any instruction: what two of them touch is atomic. Nothing is allocated
 * after initialization. */

#include "model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned priority_of(uint32_t clock)
{
    return clock == CLOCK_10MS ? 1 : clock == CLOCK_APERIODIC ? 2 : 3;
}

/* ---- Trace and checks ---- */

void model_note(struct model *model, enum trace_what what, enum trace_phase phase, uint32_t clock, uint32_t vr,
                double time)
{
    trace_append(&model->trace, (struct trace_event){.what = what, .phase = phase, .clock = (uint8_t)clock, .vr = vr,
                                                     .time = time, .status = phase == TRACE_END ? 0 : -1});
}

void model_violated(struct model *model, uint32_t clock, enum violation kind)
{
    uint64_t bit = UINT64_C(1) << kind;
    atomic_fetch_add(&model->violations, 1);
    uint64_t before = atomic_fetch_or(&model->violation_kinds, bit);
    model_note(model, TRACE_VIOLATION, TRACE_NOTE, clock, kind, model->time);
    if (!(before & bit)) fmu_log(&model->base, fmi3Warning, "Rule %d broken (clock %u).", (int)kind, clock);
}

/* Whether a call may be made now; if not, what it returns. */
static fmi3Status check_state(struct model *model, int state)
{
    int now = model->base.state;
    if (now == state) return fmi3OK;
    bool ended = now == FMU_TERMINATED || now == FMU_FAILED;
    model_violated(model, NO_CLOCK, ended ? CALL_AFTER_END : WRONG_STATE);
    model->base.state = FMU_FAILED;
    return fmu_log(&model->base, fmi3Error, "This call is not allowed in the present state.");
}

static void flush(struct model *model, const char *reason)
{
    if (model->trace_file[0] == '\0') return;
    char summary[512];
    snprintf(summary, sizeof summary, "violations=%llu kinds=0x%llx instance=%s reason=%s",
             (unsigned long long)model->violations, (unsigned long long)model->violation_kinds, model->base.name, reason);
    if (!trace_write(&model->trace, model->trace_file, summary))
        fmu_log(&model->base, fmi3Warning, "The trace file %s cannot be written.", model->trace_file);
}

static uint32_t active_not_below(struct model *model, unsigned priority)
{
    uint32_t mask = 0;
    for (uint32_t clock = CLOCK_10MS; clock <= CLOCK_50MS; clock++)
        if (clock != OUT_CLOCK && priority_of(clock) <= priority) mask |= 1u << clock;
    return model->active & mask;
}

static void check_entry(struct model *model, uint32_t clock, double time)
{
    if (active_not_below(model, priority_of(clock))) model_violated(model, clock, ENTERED_INSIDE);
    if (model->counts[clock] > 0 && !(time > model->times[clock])) model_violated(model, clock, TIME_NOT_INCREASING);
    double period = clock == CLOCK_10MS ? 0.01 : clock == CLOCK_50MS ? 0.05 : 0.0;
    if (period > 0.0) {
        double ticks = (time - model->base.start_time) / period;
        if (fabs(ticks - round(ticks)) > 1e-6) model_violated(model, clock, OFF_GRID);
    }
}

/* ---- The partitions ---- */

static int64_t thread_time_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void burn(struct model *model, uint32_t clock, double us)
{
    bool reported = false;
    if (us <= 0.0) return;
    for (int64_t end = thread_time_ns() + (int64_t)(us * 1e3); thread_time_ns() < end;)
        if (!reported && active_not_below(model, priority_of(clock) - 1)) {
            reported = true;
            model_violated(model, clock, WENT_ON_INSIDE);
        }
}

/* The time is the model's: what the partition has spent until then, on top of its activation time. */
static void tick(struct model *model, double activation_time)
{
    double time = activation_time + model->tick_at * model->burn_10ms_us * 1e-6;
    model_note(model, TRACE_TICK, TRACE_NOTE, CLOCK_10MS, OUT_CLOCK, time);
    uint64_t before = model->reads;
    model->ticked = true;
    model_note(model, TRACE_UPDATE, TRACE_BEGIN, CLOCK_10MS, 0, time);
    atomic_fetch_add(&model->inside_update, 1);
    dialect_ticked(model, time);
    atomic_fetch_sub(&model->inside_update, 1);
    model_note(model, TRACE_UPDATE, TRACE_END, CLOCK_10MS, 0, time);
    uint64_t reads = model->reads - before;
    if (reads == 0 && model->base.state == FMU_CLOCK_ACTIVATION) model_violated(model, CLOCK_10MS, UPDATE_INCOMPLETE);
    if (reads > 1) model_violated(model, CLOCK_10MS, READ_TWICE);
}

static void run(struct model *model, uint32_t clock, double time, uint64_t number)
{
    switch (clock) {
    case CLOCK_10MS:
        model->a_out = model->a_in[0] + model->a_in[1];
        burn(model, clock, model->tick_at * model->burn_10ms_us);
        if (model->tick_every > 0 && (number - 1) % (uint64_t)model->tick_every == 0) tick(model, time);
        burn(model, clock, (1.0 - model->tick_at) * model->burn_10ms_us);
        break;
    case CLOCK_APERIODIC:
        burn(model, clock, number == 1 ? model->burn_aperiodic_first_us : model->burn_aperiodic_us);
        model->b_out = model->b_in;
        break;
    case CLOCK_50MS: burn(model, clock, model->burn_50ms_us); break;
    default: break;
    }
}

static fmi3Status activate(struct model *model, uint32_t clock, double time)
{
    if (check_state(model, FMU_CLOCK_ACTIVATION) != fmi3OK) return fmi3Error;
    if (clock < CLOCK_10MS || clock > CLOCK_50MS || clock == OUT_CLOCK)
        return fmu_log(&model->base, fmi3Error, "Value reference %u is no input clock.", clock);
    check_entry(model, clock, time);
    atomic_fetch_or(&model->active, 1u << clock);
    model->unprocessed[clock] = false;
    model->times[clock] = time;
    model->time = time;
    run(model, clock, time, ++model->counts[clock]);
    atomic_fetch_and(&model->active, ~(1u << clock));
    return fmi3OK;
}

fmi3Status model_activate(struct model *model, uint32_t clock, double time)
{
    trace_append(&model->trace, (struct trace_event){.what = TRACE_ACTIVATE, .phase = TRACE_BEGIN, .vr = clock,
                                                     .clock = (uint8_t)clock, .count = 1, .time = time, .status = -1});
    fmi3Status status = activate(model, clock, time);
    trace_append(&model->trace,
                 (struct trace_event){.what = TRACE_ACTIVATE, .phase = TRACE_END, .vr = clock, .clock = (uint8_t)clock,
                                      .count = 1, .time = time, .status = (int16_t)status});
    return status;
}

fmi3Status model_get_clock(struct model *model, const fmi3ValueReference vrs[], size_t n, fmi3Clock values[])
{
    uint64_t active = 0;
    fmi3Status status = check_state(model, FMU_CLOCK_ACTIVATION);
    if (model->inside_update == 0 && status == fmi3OK) model_violated(model, NO_CLOCK, OUTSIDE_UPDATE);
    for (size_t i = 0; i < n && status == fmi3OK; i++) {
        if (vrs[i] != OUT_CLOCK) {
            status = fmu_log(&model->base, fmi3Error, "fmi3GetClock: value reference %u is no output clock.", vrs[i]);
            break;
        }
        atomic_fetch_add(&model->reads, 1);
        /* Reading resets it, so that a second read finds it inactive. */
        values[i] = atomic_exchange(&model->ticked, false) ? fmi3ClockActive : fmi3ClockInactive;
        if (values[i] == fmi3ClockActive) active |= 1u << OUT_CLOCK;
    }
    trace_append(&model->trace,
                 (struct trace_event){.what = TRACE_GET_CLOCK, .phase = TRACE_END, .vr = n > 0 ? vrs[0] : 0, .hash = active,
                                      .clock = NO_CLOCK, .count = (uint32_t)n, .status = (int16_t)status});
    return status;
}

/* ---- The life of an instance: calls that both dialects spell the same ---- */

static void restart(struct model *model)
{
    model->a_in[0] = model->a_in[1] = model->a_out = model->b_in = model->b_out = 0.0;
    model->burn_10ms_us = model->burn_aperiodic_first_us = model->burn_aperiodic_us = model->burn_50ms_us = 0;
    model->tick_every = 2;
    model->tick_at = 0.6;
    model->trace_capacity = 100000;
    model->ticked = false;
    memset(model->counts, 0, sizeof model->counts);
    memset(model->unprocessed, 0, sizeof model->unprocessed);
    model->active = 0;
    model->time = 0.0;
    model->base.state = FMU_INSTANTIATED;
}

bool model_create(struct model *model)
{
    if (!trace_init(&model->trace)) return false;
    restart(model);
    return true;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    struct model *model = instance;
    if (!model) return;
    if (model->active) model_violated(model, NO_CLOCK, WRONG_STATE);
    model_note(model, TRACE_FREE, TRACE_NOTE, NO_CLOCK, 0, 0.0);
    flush(model, "free");
    trace_release(&model->trace);
    fmu_base_release(&model->base);
    free(model);
}

static fmi3Status move(struct model *model, enum trace_what what, double time, int from, int to)
{
    model_note(model, what, TRACE_BEGIN, NO_CLOCK, 0, time);
    fmi3Status status = check_state(model, from);
    if (status == fmi3OK) model->base.state = to;
    model_note(model, what, TRACE_END, NO_CLOCK, 0, time);
    return status;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance, (void)stopTimeDefined, (void)stopTime;
    struct model *model = instance;
    model->time = startTime;
    model->base.start_time = startTime;
    return move(model, TRACE_ENTER_INIT, startTime, FMU_INSTANTIATED, FMU_INITIALIZATION);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    struct model *model = instance;
    if (model->trace_file[0] == '\0')
        model->trace.on = false;
    else if (model->trace_capacity < 0 || !trace_grow(&model->trace, (size_t)model->trace_capacity))
        return fmu_log(&model->base, fmi3Error, "There is no memory for trace_capacity events.");
    return move(model, TRACE_EXIT_INIT, 0.0, FMU_INITIALIZATION, FMU_CLOCK_ACTIVATION);
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    struct model *model = instance;
    if (model->active) model_violated(model, NO_CLOCK, WRONG_STATE);
    fmi3Status status = move(model, TRACE_TERMINATE, 0.0, FMU_CLOCK_ACTIVATION, FMU_TERMINATED);
    flush(model, "terminate");
    return status;
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    struct model *model = instance;
    if (model->active) model_violated(model, NO_CLOCK, WRONG_STATE);
    restart(model);
    return fmi3OK;
}

/* ---- Variables; all are scalars ---- */

static double *float64(struct model *model, fmi3ValueReference vr)
{
    switch (vr) {
    case A_IN_1: return &model->a_in[0];
    case A_IN_2: return &model->a_in[1];
    case A_OUT: return &model->a_out;
    case B_IN: return &model->b_in;
    case B_OUT: return &model->b_out;
    case TICK_AT: return &model->tick_at;
    default: return NULL;
    }
}

static int32_t *int32(struct model *model, fmi3ValueReference vr)
{
    switch (vr) {
    case BURN_10MS: return &model->burn_10ms_us;
    case BURN_APERIODIC_FIRST: return &model->burn_aperiodic_first_us;
    case BURN_APERIODIC: return &model->burn_aperiodic_us;
    case BURN_50MS: return &model->burn_50ms_us;
    case TICK_EVERY: return &model->tick_every;
    case TRACE_CAPACITY: return &model->trace_capacity;
    default: return NULL;
    }
}

static fmi3Status unknown(struct model *model, const char *function, fmi3ValueReference vr)
{
    model->base.state = FMU_FAILED;
    return fmu_log(&model->base, fmi3Error, "%s: value reference %u is no such variable.", function, vr);
}

/* Notes that a variable of a clock is read or set, and whether that is allowed. */
static bool may_access(struct model *model, fmi3ValueReference vr, bool setting)
{
    uint32_t clock = vr <= A_OUT ? CLOCK_10MS : vr <= B_OUT ? CLOCK_APERIODIC : NO_CLOCK;
    int state = model->base.state;
    if (state == FMU_TERMINATED || state == FMU_FAILED) {
        model_violated(model, clock, CALL_AFTER_END);
        return !setting;
    }
    if (setting && (vr == A_OUT || vr == B_OUT)) return false;
    bool activating = state == FMU_CLOCK_ACTIVATION;
    if (clock == NO_CLOCK) return !(setting && activating);
    if (!activating) return true;
    if (setting)
        model->unprocessed[clock] = true;
    else if (model->unprocessed[clock])
        model_violated(model, clock, GET_AFTER_SET);
    model_note(model, setting ? TRACE_SET : TRACE_GET, TRACE_NOTE, clock, vr, model->times[clock]);
    return true;
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Float64 values[],
                          size_t n_values)
{
    struct model *model = instance;
    for (size_t i = 0; i < n && i < n_values; i++) {
        const double *place = float64(model, vrs[i]);
        if (vrs[i] == TIME)
            values[i] = model->time;
        else if (place && may_access(model, vrs[i], false))
            values[i] = *place;
        else
            return unknown(model, "fmi3GetFloat64", vrs[i]);
    }
    return fmi3OK;
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Float64 values[],
                          size_t n_values)
{
    struct model *model = instance;
    for (size_t i = 0; i < n && i < n_values; i++) {
        double *place = float64(model, vrs[i]);
        if (!place || !may_access(model, vrs[i], true)) return unknown(model, "fmi3SetFloat64", vrs[i]);
        *place = values[i];
    }
    return fmi3OK;
}

fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Int32 values[],
                        size_t n_values)
{
    struct model *model = instance;
    for (size_t i = 0; i < n && i < n_values; i++) {
        const int32_t *place = int32(model, vrs[i]);
        if (!place) return unknown(model, "fmi3GetInt32", vrs[i]);
        values[i] = *place;
    }
    return fmi3OK;
}

fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Int32 values[],
                        size_t n_values)
{
    struct model *model = instance;
    for (size_t i = 0; i < n && i < n_values; i++) {
        int32_t *place = int32(model, vrs[i]);
        if (!place || !may_access(model, vrs[i], true)) return unknown(model, "fmi3SetInt32", vrs[i]);
        *place = values[i];
    }
    return fmi3OK;
}

fmi3Status fmi3GetUInt64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3UInt64 values[],
                         size_t n_values)
{
    struct model *model = instance;
    for (size_t i = 0; i < n && i < n_values; i++) {
        if (vrs[i] != VIOLATIONS) return unknown(model, "fmi3GetUInt64", vrs[i]);
        values[i] = model->violations;
    }
    return fmi3OK;
}

fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3String values[],
                         size_t n_values)
{
    struct model *model = instance;
    for (size_t i = 0; i < n && i < n_values; i++) {
        if (vrs[i] != TRACE_FILE) return unknown(model, "fmi3GetString", vrs[i]);
        values[i] = model->trace_file;
    }
    return fmi3OK;
}

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3String values[],
                         size_t n_values)
{
    struct model *model = instance;
    for (size_t i = 0; i < n && i < n_values; i++) {
        if (vrs[i] != TRACE_FILE || !may_access(model, vrs[i], true)) return unknown(model, "fmi3SetString", vrs[i]);
        if (strlen(values[i]) >= PATH_SIZE) return unknown(model, "fmi3SetString: too long", vrs[i]);
        strcpy(model->trace_file, values[i]);
    }
    return fmi3OK;
}
