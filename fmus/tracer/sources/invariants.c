/* What an importer owes an FMU for Scheduled Execution, checked from inside the FMU while it runs.
 *
 * The checks see only what happens in FMU code: a partition counts as active between entry and return of
 * fmi3ActivateModelPartition. They cost a few atomic loads and never stop the run; breaches are counted, noted in the
 * trace, and logged once per kind. */

#include "tracer.h"
#include <math.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

static const char *const violation_names[] = {
    "a partition began inside one of equal or higher priority",
    "a partition went on while one of higher priority was active",
    "a partition began inside a locked section",
    "a partition went on inside a locked section of another",
    "lockPreemption returned while another thread held the lock",
    "activation times do not increase",
    "the activation time is not on the clock's grid",
    "a variable was read after a set without an activation in between",
    "a variable was set or read by a task of another clock",
    "fmi3GetClock was entered twice",
    "fmi3GetClock or fmi3GetInterval outside of a clock update",
    "a clock update read not all output clocks and countdown intervals",
    "a call after fmi3Terminate or after an error",
    "a call that the state does not allow",
    "the countdown clock ticked at another time than asked for",
    "an array was torn",
    "a call began with floating-point control words other than the default",
};

void violated(struct tracer *fmu, uint32_t clock, enum violation kind)
{
    uint64_t bit = UINT64_C(1) << kind;
    atomic_fetch_add(&fmu->violations, 1);
    uint64_t before = atomic_fetch_or(&fmu->violation_kinds, bit);
    trace_append(&fmu->trace, (struct trace_event){.what = TRACE_VIOLATION, .phase = TRACE_NOTE, .clock = clock,
                                                   .vr = kind, .time = fmu->times[clock], .status = -1});
    if (!(before & bit))
        fmu_log(&fmu->base, fmi3Warning, "Invariant %d broken (clock %s): %s.", (int)kind, clock_infos[clock].name,
                violation_names[kind]);
}

/* At the start of every call: the default control words, and not after the end. */
void check_call(struct tracer *fmu)
{
#ifdef __SSE__
    if ((_mm_getcsr() & 0xffc0) != 0x1f80) violated(fmu, NO_CLOCK, FLOATING_POINT_MODE);
#endif
    int state = fmu->base.state;
    if (state == FMU_TERMINATED || state == FMU_FAILED) violated(fmu, NO_CLOCK, CALL_AFTER_END);
}

static uint32_t clocks_not_below(unsigned priority)
{
    uint32_t mask = 0;
    for ALL_CLOCKS (clock)
        if (clock_infos[clock].priority <= priority) mask |= 1u << clock;
    return mask;
}

/* k * period, as one division of integers: what a host that counts ticks must arrive at. */
static bool on_grid(const struct tracer *fmu, uint32_t clock, double time)
{
    double period_ms = clock_infos[clock].period_ms;
    double k = round((time - fmu->base.start_time) * 1000.0 / period_ms);
    if (fmu->base.start_time == 0.0) return k >= 0 && time == k * period_ms / 1000.0;
    return k >= 0 && fabs(time - (fmu->base.start_time + k * period_ms / 1000.0)) < 1e-9;
}

static void check_time(struct tracer *fmu, const struct activation *activation)
{
    uint32_t clock = activation->clock;
    if (fmu->activated[clock] && !(activation->time > fmu->times[clock])) violated(fmu, clock, TIME_NOT_INCREASING);
    if (clock_infos[clock].period_ms && !on_grid(fmu, clock, activation->time)) violated(fmu, clock, OFF_GRID);
    if (clock == DELAYED && fabs(activation->time - fmu->delayed_due) > 1e-9) violated(fmu, clock, WRONG_DELAY);
}

/* Call before the partition marks itself as active. */
void check_entry(struct tracer *fmu, struct activation *activation)
{
    uint32_t clock = activation->clock;
    if (fmu->active & clocks_not_below(clock_infos[clock].priority)) violated(fmu, clock, ENTERED_INSIDE);
    if (fmu->holder) violated(fmu, clock, ENTERED_LOCKED);
    check_time(fmu, activation);

    uintptr_t me = this_thread();
    for ALL_CLOCKS (other)
        if (other != clock && fmu->setter[other] == me) violated(fmu, clock, FOREIGN_ACCESS);
    fmu->setter[clock] = 0;
    fmu->task[clock] = me;

    if (clock == FAST && fmu->settings.expect_uniform_array)
        for (size_t i = 1; i < ARRAY_LENGTH; i++)
            if (fmu->in.array[i] != fmu->in.array[0]) {
                violated(fmu, clock, TORN_ARRAY);
                break;
            }
}

static void went_on(struct tracer *fmu, struct activation *activation, enum violation kind)
{
    if (activation->reported & 1u << kind) return;
    activation->reported |= 1u << kind;
    /* No host can stop an active partition from going on while a higher one sleeps inside FMU code. */
    if (fmu->sleeps)
        atomic_fetch_add(&fmu->resumed_early, 1);
    else
        violated(fmu, activation->clock, kind);
}

/* Call anywhere inside a partition: am I running although somebody else should be? */
void check_point(struct tracer *fmu, struct activation *activation)
{
    unsigned priority = clock_infos[activation->clock].priority;
    uint32_t higher = priority == 0 ? 0 : fmu->active & clocks_not_below(priority - 1);
    if (higher & ~fmu->asleep) went_on(fmu, activation, WENT_ON_INSIDE);
    uintptr_t holder = fmu->holder;
    if (holder && holder != this_thread()) went_on(fmu, activation, WENT_ON_LOCKED);
}

/* Call for each clocked variable that is set or read in Clock Activation Mode. */
void check_access(struct tracer *fmu, uint32_t clock, bool setting)
{
    uintptr_t me = this_thread();
    if (setting) {
        fmu->setter[clock] = me;
        return;
    }
    if (clock > LAST_INPUT_CLOCK) return; /* read by whichever task has ticked the output clock */
    if (fmu->setter[clock] == me) violated(fmu, clock, GET_AFTER_SET);
    if (fmu->task[clock] != me) violated(fmu, clock, FOREIGN_ACCESS);
}
