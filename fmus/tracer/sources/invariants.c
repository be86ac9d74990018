/* What an importer owes an FMU for Scheduled Execution, checked from inside the FMU while it runs.
 *
 * The checks see only what happens in FMU code: a partition counts as active between entry and return of
 * fmi3ActivateModelPartition. They cost a few atomic loads and never stop the run; breaches are counted, noted in the
 * trace, and logged once per kind. */

#include "tracer.h"
#include <float.h>
#include <math.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

static const char *const violation_names[] = {
    "a partition began inside one of equal priority, or of higher one that was awake",
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
    "a function of states, or fmi3Reset, while a partition is active",
    "a state that is not this instance's, or was freed",
    "fmi3FreeInstance with states that were not freed",
};

void violated(struct tracer *fmu, uint32_t clock, enum violation kind)
{
    uint64_t bit = UINT64_C(1) << kind;
    atomic_fetch_add(&fmu->violations, 1);
    atomic_fetch_or(&fmu->violation_kinds, bit);
    atomic_fetch_add(&fmu->all_violations, 1);
    uint64_t before = atomic_fetch_or(&fmu->all_kinds, bit);
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

/* Of two times that were rounded differently. */
static bool same_time(double a, double b)
{
    return fabs(a - b) <= 1e-9 + 4 * DBL_EPSILON * fabs(a);
}

static bool is_due(const struct tracer *fmu, double time)
{
    unsigned kept = fmu->next_due < DUES ? fmu->next_due : DUES;
    for (unsigned back = 1; back <= kept; back++)
        if (same_time(time, fmu->dues[(fmu->next_due - back) % DUES])) return true;
    return false;
}

static void check_time(struct tracer *fmu, const struct activation *activation)
{
    uint32_t clock = activation->clock;
    if (fmu->activated[clock] && !(activation->time > fmu->times[clock])) violated(fmu, clock, TIME_NOT_INCREASING);
    if (!on_grid(fmu, clock, activation->time)) violated(fmu, clock, OFF_GRID);
    if (clock == DELAYED && !is_due(fmu, activation->time)) violated(fmu, clock, WRONG_DELAY);
}

/* Call before the partition marks itself as active. */
void check_entry(struct tracer *fmu, struct activation *activation)
{
    uint32_t clock = activation->clock;
    /* Before and after: the sleeper may preempt this entry in between, and fall asleep or return. */
    uint32_t asleep = fmu->asleep, active = fmu->active;
    asleep |= fmu->asleep;
    uint32_t above = active & fmu->above[clock], equal = active & fmu->not_below[clock] & ~above;
    if (equal || above & ~asleep)
        violated(fmu, clock, ENTERED_INSIDE);
    else if (above)
        /* Let in before the higher one came and fell asleep in FMU code: no host can take that back. It is rare. */
        atomic_fetch_add(&fmu->entered_early, 1);
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
    if (fmu->active & fmu->above[activation->clock] & ~fmu->asleep) went_on(fmu, activation, WENT_ON_INSIDE);
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
