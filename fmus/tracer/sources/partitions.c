/* What a partition of the tracer does, in this order: half of its burning, a locked section, ticks and the countdown,
 * a sleep, the other half. No allocation and no stdio. */

#include "tracer.h"
#include <errno.h>
#include <time.h>

static void note(struct tracer *fmu, const struct activation *activation, enum trace_what what,
                 enum trace_phase phase, uint32_t vr)
{
    trace_append(&fmu->trace, (struct trace_event){.what = what, .phase = phase, .vr = vr, .status = -1,
                                                   .clock = activation ? activation->clock : NO_CLOCK,
                                                   .time = activation ? activation->time : 0.0});
}

/* ---- The preemption lock. `activation` is NULL inside fmi3GetClock and fmi3GetInterval. ---- */

void lock(struct tracer *fmu, struct activation *activation)
{
    note(fmu, activation, TRACE_LOCK, TRACE_BEGIN, 0);
    fmu->base.lock_preemption();
    uintptr_t me = this_thread(), before = atomic_exchange(&fmu->holder, me);
    if (before != me) fmu->lock_depth = 0;
    fmu->lock_depth++;
    note(fmu, activation, TRACE_LOCK, TRACE_END, 0);
    if (before != 0 && before != me) violated(fmu, activation ? activation->clock : NO_CLOCK, LOCK_NOT_EXCLUSIVE);
}

void unlock(struct tracer *fmu, struct activation *activation)
{
    note(fmu, activation, TRACE_UNLOCK, TRACE_BEGIN, 0);
    if (--fmu->lock_depth == 0) fmu->holder = 0;
    fmu->base.unlock_preemption();
    note(fmu, activation, TRACE_UNLOCK, TRACE_END, 0);
}

/* ---- Spending time ---- */

static int64_t thread_time_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void burn(struct tracer *fmu, struct activation *activation, int64_t ns)
{
    check_point(fmu, activation);
    if (ns <= 0) return;
    for (int64_t end = thread_time_ns() + ns; thread_time_ns() < end;) check_point(fmu, activation);
}

static void nap(struct tracer *fmu, struct activation *activation, int32_t us)
{
    if (us <= 0) return;
    struct timespec rest = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    note(fmu, activation, TRACE_SLEEP, TRACE_BEGIN, 0);
    atomic_fetch_or(&fmu->asleep, 1u << activation->clock);
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR) {
    }
    atomic_fetch_and(&fmu->asleep, ~(1u << activation->clock));
    note(fmu, activation, TRACE_SLEEP, TRACE_END, 0);
    check_point(fmu, activation);
}

/* ---- Clock updates ---- */

static void update(struct tracer *fmu, struct activation *activation)
{
    uint64_t high = fmu->reads[OUT_HIGH], low = fmu->reads[OUT_LOW], delayed = fmu->reads[DELAYED];
    note(fmu, activation, TRACE_UPDATE, TRACE_BEGIN, 0);
    atomic_fetch_add(&fmu->inside_update, 1);
    fmu->base.clock_update(fmu->base.environment);
    atomic_fetch_sub(&fmu->inside_update, 1);
    note(fmu, activation, TRACE_UPDATE, TRACE_END, 0);

    bool complete = fmu->reads[OUT_HIGH] > high && fmu->reads[OUT_LOW] > low && fmu->reads[DELAYED] > delayed;
    if (!complete && fmu->base.state == FMU_CLOCK_ACTIVATION) violated(fmu, activation->clock, UPDATE_INCOMPLETE);
    check_point(fmu, activation);
}

static void tick(struct tracer *fmu, struct activation *activation, uint32_t output_clock, bool in_lock)
{
    uint64_t high_before = fmu->counts[HIGH];
    if (in_lock) lock(fmu, activation);
    note(fmu, activation, TRACE_TICK, TRACE_NOTE, output_clock);
    atomic_fetch_add(&fmu->counts[output_clock], 1);
    fmu->ticked[output_clock] = true;
    update(fmu, activation);
    if (in_lock) unlock(fmu, activation);
    if (output_clock == OUT_HIGH && fmu->counts[HIGH] > high_before) atomic_fetch_add(&fmu->high_inside, 1);
}

/* Under the lock: an interval counts from the activation time of the partition in whose clock update it is read, so no
 * other partition's update may come between. */
static void arm(struct tracer *fmu, struct activation *activation)
{
    lock(fmu, activation);
    fmu->armed_at = activation->time;
    fmu->armed_interval = fmu->settings.arm_interval;
    fmu->armed_once = true;
    trace_append(&fmu->trace, (struct trace_event){.what = TRACE_ARM, .phase = TRACE_NOTE, .clock = activation->clock,
                                                   .vr = DELAYED, .time = fmu->armed_interval, .status = -1});
    fmu->arm_pending = true;
    update(fmu, activation);
    unlock(fmu, activation);
}

/* ---- The partition ---- */

static bool every(int32_t n, uint64_t number)
{
    return n > 0 && number % (uint64_t)n == 0;
}

static void locked_section(struct tracer *fmu, struct activation *activation, const struct partition_settings *set)
{
    lock(fmu, activation);
    if (set->lock_nested) lock(fmu, activation);
    burn(fmu, activation, set->lock_us * INT64_C(1000));
    nap(fmu, activation, set->lock_sleep_us);
    if (set->lock_nested) unlock(fmu, activation);
    unlock(fmu, activation);
}

void partition_run(struct tracer *fmu, struct activation *activation)
{
    const struct partition_settings *set = &fmu->settings.partition[activation->clock];
    uint64_t number = activation->number;

    burn(fmu, activation, set->burn_us * INT64_C(500));
    if (every(set->lock_every, number)) locked_section(fmu, activation, set);
    if (every(set->tick_high_every, number)) tick(fmu, activation, OUT_HIGH, set->tick_in_lock);
    if (every(set->tick_low_every, number)) tick(fmu, activation, OUT_LOW, set->tick_in_lock);
    if (activation->clock == SLOW && every(fmu->settings.arm_every, number)) arm(fmu, activation);
    if (activation->clock == SLOW && every(fmu->settings.log_every, number))
        fmu_log(&fmu->base, fmi3OK, "Partition slow, activation %llu.", (unsigned long long)number);
    if (activation->clock == SLOW) measure_lock(fmu);
    if (every(set->sleep_every, number)) nap(fmu, activation, set->sleep_us);
    burn(fmu, activation, set->burn_us * INT64_C(500));
}
