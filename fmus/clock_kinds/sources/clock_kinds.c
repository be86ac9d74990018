/* The test FMU `clock_kinds`: a clock of every kind of FMI 3.0 (2.2.8.3, "Time-based Clock"), with intervals and shifts
 * that parameters steer. It checks that the importer reads and writes them exactly where the standard wants it, notes
 * every such call, and gives odd answers on request. A needless call is answered with fmi3Error, as some FMUs do. */

#include "clock_kinds.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOKEN "{vecud-clock-kinds-1}"

enum kind { CONSTANT, GIVEN, ASKED, CHANGING, COUNTDOWN, TRIGGERED };

static const struct clock {
    const char *name;
    enum kind kind;
    bool fraction;
} clocks[CLOCKS] = {
    [1] = {"base", CONSTANT, false},
    [2] = {"fixed_given", GIVEN, false},
    [3] = {"fixed_asked", ASKED, false},
    [4] = {"fixed_asked_fraction", ASKED, true},
    [5] = {"tunable_given", GIVEN, true},
    [6] = {"tunable_asked", ASKED, false},
    [7] = {"changing", CHANGING, false},
    [8] = {"changing_fraction", CHANGING, true},
    [9] = {"countdown", COUNTDOWN, false},
    [10] = {"countdown_fraction", COUNTDOWN, true},
    [11] = {"triggered", TRIGGERED, false},
};

/* Breaches; the numbers are bits of the output `violation_kinds`. */
enum violation {
    NEEDLESS = 0,          /* a clock of this kind is not asked for this, or not told this */
    WRONG_MODE = 1,        /* not in this state, or not outside of a clock update */
    NO_FRACTION = 2,       /* a fraction of a clock without supportsFraction */
    WRONG_COUNT = 3,       /* not exactly once in Initialization Mode */
    CHANGING_NOT_READ = 4, /* an activation of a changing clock whose interval was not read exactly once before */
    UPDATE_INCOMPLETE = 5, /* a clock update without reading each countdown interval and each output clock once */
    TIME_NOT_INCREASING = 6,
    OTHER_TASK = 7, /* the interval of a changing clock was read by another thread than ran its activation */
};

static void note(struct model *m, enum trace_what what, uint32_t clock, double time, uint64_t hash)
{
    trace_append(&m->trace, (struct trace_event){.what = what, .phase = TRACE_NOTE, .clock = (uint8_t)clock,
                                                 .vr = clock, .count = 1, .time = time, .hash = hash, .status = -1});
}

static void violated(struct model *m, uint32_t clock, enum violation kind)
{
    atomic_fetch_add(&m->violations, 1);
    uint64_t before = atomic_fetch_or(&m->violation_kinds, UINT64_C(1) << kind);
    note(m, TRACE_VIOLATION, clock, m->states[clock].time, kind);
    if (!(before >> kind & 1)) fmu_log(&m->base, fmi3Warning, "Rule %d broken for clock %s.", kind, clocks[clock].name);
}

/* ---- Life ---- */

static void set_start_values(struct model *m)
{
    static const double start[CLOCKS] = {0, 0, 0, 0.03, 0.03, 0, 0.05, 0.04, 0.04, 0.012, 0.012, 0};
    m->trace_capacity = 65536;
    m->odd_reading = 1;
    for (uint32_t c = 1; c < CLOCKS; c++)
        m->settings[c] = (struct settings){.interval = start[c], .counter = (uint64_t)(start[c] * 1000 + 0.5),
                                           .resolution = 1000, .cycle = 1, .burn_from = 1};
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption)
{
    (void)resourcePath, (void)visible;
    struct model *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    if (!trace_init(&m->trace) ||
        !fmu_base_init(&m->base, TOKEN, instanceName, instantiationToken, loggingOn, instanceEnvironment, logMessage,
                       clockUpdate, lockPreemption, unlockPreemption)) {
        trace_release(&m->trace);
        free(m);
        return NULL;
    }
    set_start_values(m);
    return m;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    struct model *m = instance;
    if (!m) return;
    if (m->trace_file[0] != '\0') {
        char summary[128];
        snprintf(summary, sizeof summary, "violations=%llu kinds=0x%llx", (unsigned long long)m->violations,
                 (unsigned long long)m->violation_kinds);
        trace_write(&m->trace, m->trace_file, summary);
    }
    trace_release(&m->trace);
    fmu_base_release(&m->base);
    free(m);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    (void)toleranceDefined, (void)tolerance, (void)stopTimeDefined, (void)stopTime;
    struct model *m = instance;
    m->base.start_time = startTime;
    m->base.state = FMU_INITIALIZATION;
    return trace_grow(&m->trace, (size_t)m->trace_capacity) ? fmi3OK : fmi3Error;
}

/* Each clock was asked and told what its kind wants, once. */
fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    struct model *m = instance;
    for (uint32_t c = 1; c < CLOCKS; c++) {
        const struct state *s = &m->states[c];
        enum kind kind = clocks[c].kind;
        bool right = true;
        if (kind == GIVEN) right = s->sets == 1 && s->set_shifts <= 1;
        if (kind == ASKED) right = s->gets + s->sets == 1 && s->get_shifts + s->set_shifts == 1;
        if (kind == CHANGING || kind == COUNTDOWN) right = s->gets == 1;
        if (!right) violated(m, c, WRONG_COUNT);
    }
    m->base.state = FMU_CLOCK_ACTIVATION;
    return fmi3OK;
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    struct model *m = instance;
    m->base.state = FMU_TERMINATED;
    return fmi3OK;
}

/* ---- Intervals ---- */

struct answer {
    double decimal;
    uint64_t counter, resolution;
    fmi3IntervalQualifier qualifier;
};

static double seconds(uint32_t clock, const struct answer *a)
{
    return clocks[clock].fraction ? (double)a->counter / (double)a->resolution : a->decimal;
}

static uint64_t bits(uint32_t clock, const struct answer *a)
{
    return clocks[clock].fraction ? a->counter << 32 | (a->resolution & 0xffffffff) : 0;
}

static struct answer nth(const struct model *m, uint32_t clock, uint64_t n)
{
    const struct settings *s = &m->settings[clock];
    uint64_t place = s->cycle > 1 ? n % s->cycle : 0;
    return (struct answer){.decimal = s->interval + (double)place * s->step,
                           .counter = s->counter + place * s->counter_step,
                           .resolution = s->resolution,
                           .qualifier = fmi3IntervalChanged};
}

static void make_odd(struct answer *a, int32_t kind)
{
    switch (kind) {
    case 1: a->decimal = 0.0, a->counter = 0; break;
    case 2: a->decimal = NAN; break;
    case 3: a->decimal = -0.25; break;
    case 4: a->decimal = INFINITY; break;
    case 5: a->resolution = 0; break;
    case 6: a->qualifier = fmi3IntervalNotYetKnown; break;
    case 7: a->qualifier = fmi3IntervalUnchanged; break;
    case 8: a->qualifier = (fmi3IntervalQualifier)7; break;
    case 9: a->decimal = 1e-12, a->counter = 1, a->resolution = UINT64_C(1000000000000); break;
    default: break;
    }
}

static bool may_read(struct model *m, uint32_t clock, bool fraction)
{
    struct state *s = &m->states[clock];
    int state = m->base.state;
    enum kind kind = clocks[clock].kind;
    bool tunable = clock == TUNABLE_ASKED && state == FMU_CLOCK_ACTIVATION && m->parameters_changed;
    if (kind == CONSTANT || kind == GIVEN || kind == TRIGGERED ||
        (kind == ASKED && state == FMU_CLOCK_ACTIVATION && !tunable)) {
        violated(m, clock, NEEDLESS);
        return false;
    }
    if (fraction && !clocks[clock].fraction) violated(m, clock, NO_FRACTION);
    if (state == FMU_INITIALIZATION) {
        s->gets++;
        return true;
    }
    bool update = kind == COUNTDOWN;
    if (state != FMU_CLOCK_ACTIVATION || (m->inside_update > 0) != update) violated(m, clock, WRONG_MODE);
    if (update) atomic_fetch_add(&m->update_reads[clock], 1);
    if (kind == CHANGING) {
        if (s->active || --s->unread != 0) violated(m, clock, CHANGING_NOT_READ);
        if (s->thread != (uintptr_t)pthread_self()) violated(m, clock, OTHER_TASK);
    }
    return true;
}

static fmi3Status get_interval(struct model *m, uint32_t clock, bool fraction, struct answer *a)
{
    if (clock == 0 || clock >= CLOCKS || !may_read(m, clock, fraction))
        return fmu_log(&m->base, fmi3Error, "Value reference %u has no interval to be asked for now.", clock);
    struct state *s = &m->states[clock];
    if (m->lock_in_get_interval) m->base.lock_preemption();
    uint64_t reading = s->readings++;
    if (clocks[clock].kind == COUNTDOWN) {
        *a = nth(m, clock, s->armed > 0 ? s->armed - 1 : 0);
        bool initial = m->base.state == FMU_INITIALIZATION;
        if (initial ? !m->known_at_start : s->armed == 0 && !m->known_at_start) a->qualifier = fmi3IntervalNotYetKnown;
        else if (!initial && !atomic_exchange(&s->pending, false)) a->qualifier = fmi3IntervalUnchanged;
    } else {
        *a = nth(m, clock, reading);
        if (clock == TUNABLE_ASKED) m->parameters_changed = false;
    }
    if ((uint32_t)m->odd_clock == clock && reading + 1 == (uint64_t)m->odd_reading) make_odd(a, m->odd_kind);
    if (m->lock_in_get_interval) m->base.unlock_preemption();
    note(m, TRACE_GET_INTERVAL, clock, seconds(clock, a), bits(clock, a));
    return fmi3OK;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    fmi3Status status = fmi3OK;
    for (size_t i = 0; i < n && status == fmi3OK; i++) {
        struct answer a = {0};
        status = get_interval(instance, vrs[i], false, &a);
        intervals[i] = a.decimal, qualifiers[i] = a.qualifier;
    }
    return status;
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
{
    fmi3Status status = fmi3OK;
    for (size_t i = 0; i < n && status == fmi3OK; i++) {
        struct answer a = {0};
        status = get_interval(instance, vrs[i], true, &a);
        counters[i] = a.counter, resolutions[i] = a.resolution, qualifiers[i] = a.qualifier;
    }
    return status;
}

/* Set: fixed and tunable clocks. Get: those whose interval the XML does not give, and only shifts of theirs. */
static fmi3Status admit(struct model *m, uint32_t clock, bool fraction, bool getting, int *count)
{
    enum kind kind = clock < CLOCKS ? clocks[clock].kind : TRIGGERED;
    if (kind != ASKED && (getting || kind != GIVEN)) {
        violated(m, clock < CLOCKS ? clock : 0, NEEDLESS);
        return fmu_log(&m->base, fmi3Error, "Value reference %u: a needless call.", clock);
    }
    if (m->base.state != FMU_INITIALIZATION) violated(m, clock, WRONG_MODE);
    if (fraction && !clocks[clock].fraction) violated(m, clock, NO_FRACTION);
    ++*count;
    return fmi3OK;
}

static fmi3Status told(struct model *m, enum trace_what what, uint32_t clock, bool fraction, int *count,
                       struct answer a)
{
    fmi3Status status = admit(m, clock, fraction, false, count);
    if (status == fmi3OK)
        note(m, what, clock, fraction ? (double)a.counter / (double)a.resolution : a.decimal,
             fraction ? a.counter << 32 | (a.resolution & 0xffffffff) : 0);
    return status;
}

#define COUNT(m, clock, what) (&(m)->states[(clock) < CLOCKS ? (clock) : 0].what)
#define TELL(Name, WHAT, what)                                                                                         \
    fmi3Status fmi3Set##Name##Decimal(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,                \
                                      const fmi3Float64 values[])                                                     \
    {                                                                                                                 \
        fmi3Status status = fmi3OK;                                                                                   \
        for (size_t i = 0; i < n && status == fmi3OK; i++)                                                            \
            status = told(instance, WHAT, vrs[i], false, COUNT((struct model *)instance, vrs[i], what),               \
                          (struct answer){.decimal = values[i]});                                                     \
        return status;                                                                                                \
    }                                                                                                                 \
    fmi3Status fmi3Set##Name##Fraction(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,               \
                                       const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])                   \
    {                                                                                                                 \
        fmi3Status status = fmi3OK;                                                                                   \
        for (size_t i = 0; i < n && status == fmi3OK; i++)                                                            \
            status = told(instance, WHAT, vrs[i], true, COUNT((struct model *)instance, vrs[i], what),                \
                          (struct answer){.counter = counters[i], .resolution = resolutions[i]});                     \
        return status;                                                                                                \
    }
TELL(Interval, TRACE_SET_INTERVAL, sets)
TELL(Shift, TRACE_SET_SHIFT, set_shifts)

static fmi3Status get_shift(struct model *m, uint32_t clock, bool fraction, struct answer *a)
{
    fmi3Status status = admit(m, clock, fraction, true, COUNT(m, clock, get_shifts));
    if (status != fmi3OK) return status;
    const struct settings *s = &m->settings[clock];
    *a = (struct answer){.decimal = s->shift, .counter = s->shift_counter, .resolution = s->resolution};
    if ((uint32_t)m->odd_clock == clock && m->odd_kind > 10) make_odd(a, m->odd_kind - 10);
    note(m, TRACE_GET_SHIFT, clock, seconds(clock, a), bits(clock, a));
    return fmi3OK;
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Float64 shifts[])
{
    fmi3Status status = fmi3OK;
    for (size_t i = 0; i < n && status == fmi3OK; i++) {
        struct answer a = {0};
        status = get_shift(instance, vrs[i], false, &a);
        shifts[i] = a.decimal;
    }
    return status;
}

fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3UInt64 counters[],
                                fmi3UInt64 resolutions[])
{
    fmi3Status status = fmi3OK;
    for (size_t i = 0; i < n && status == fmi3OK; i++) {
        struct answer a = {0};
        status = get_shift(instance, vrs[i], true, &a);
        counters[i] = a.counter, resolutions[i] = a.resolution;
    }
    return status;
}

/* ---- Partitions ---- */

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Clock values[])
{
    struct model *m = instance;
    for (size_t i = 0; i < n; i++) {
        if (vrs[i] != OUT || m->inside_update == 0) return fmi3Error;
        atomic_fetch_add(&m->update_reads[OUT], 1);
        values[i] = atomic_exchange(&m->ticked, false);
    }
    return fmi3OK;
}

static void update(struct model *m)
{
    uint64_t before[CLOCKS + 1];
    for (uint32_t c = 0; c <= CLOCKS; c++) before[c] = m->update_reads[c];
    atomic_fetch_add(&m->inside_update, 1);
    m->base.clock_update(m->base.environment);
    atomic_fetch_sub(&m->inside_update, 1);
    for (uint32_t c = 1; c <= CLOCKS; c++)
        if ((c == OUT || clocks[c].kind == COUNTDOWN) && m->update_reads[c] != before[c] + 1)
            violated(m, c == OUT ? 0 : c, UPDATE_INCOMPLETE);
}

static void run_base(struct model *m, uint64_t number)
{
    if (m->arm_every > 0 && number % (uint64_t)m->arm_every == 0) {
        m->base.lock_preemption();
        for (uint32_t c = 1; c < CLOCKS; c++) {
            if (clocks[c].kind != COUNTDOWN) continue;
            struct answer a = nth(m, c, m->states[c].armed++);
            note(m, TRACE_ARM, c, seconds(c, &a), bits(c, &a));
            m->states[c].pending = true;
        }
        update(m);
        m->base.unlock_preemption();
    }
    if (m->tick_every > 0 && number % (uint64_t)m->tick_every == 0) {
        m->ticked = true;
        update(m);
    }
}

static void burn(int64_t us)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    int64_t end = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + us * 1000;
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec < end);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time)
{
    struct model *m = instance;
    if (clock == 0 || clock >= CLOCKS || m->base.state != FMU_CLOCK_ACTIVATION)
        return fmu_log(&m->base, fmi3Error, "Value reference %u cannot be activated.", clock);
    struct state *s = &m->states[clock];
    trace_append(&m->trace, (struct trace_event){.what = TRACE_ACTIVATE, .phase = TRACE_BEGIN, .clock = (uint8_t)clock,
                                                 .vr = clock, .count = 1, .time = time, .status = -1});
    if (s->count > 0 && time <= s->time) violated(m, clock, TIME_NOT_INCREASING);
    if (clocks[clock].kind == CHANGING && s->unread++ != 0) violated(m, clock, CHANGING_NOT_READ);
    s->active = true;
    s->thread = (uintptr_t)pthread_self();
    m->time = time;
    s->time = time;
    s->count++;
    const struct settings *set = &m->settings[clock];
    if (set->burn_us > 0 && s->count >= (uint64_t)set->burn_from) burn(set->burn_us);
    if (clock == BASE) run_base(m, s->count);
    s->active = false;
    return fmi3OK;
}
