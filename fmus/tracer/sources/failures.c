/* Failures on request: the parameters say what (fail_kind), where (fail_function; for an activation: fail_clock) and
 * at which call (fail_at, 1 for the first). Before anything that may end the process the trace is written. */

#include "tracer.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

enum fail_kind {
    FAIL_NONE = 0,
    FAIL_ERROR = 1,
    FAIL_DISCARD = 2,
    FAIL_FATAL = 3,
    FAIL_HANG_ASLEEP = 4,
    FAIL_CRASH = 5,
    FAIL_EXIT = 6,
    FAIL_LEAK_LOCK = 7,
    FAIL_UNLOCK_UNLOCKED = 8,
    FAIL_WARNING = 9,
    FAIL_HANG_BUSY = 10,
    FAIL_ABORT = 11,
    FAIL_FLOATING_POINT_MODE = 12, /* leaves flush-to-zero behind for the next call on this thread */
    FAIL_UPDATE_ON_OWN_THREAD = 13,
    FAIL_LOCK_ON_OWN_THREAD = 14,
    FAIL_UPDATE = 15,       /* where none belongs: in fmi3Terminate */
    FAIL_LOG_FLOOD = 16,    /* ten thousand messages */
    FAIL_SILENT_TICK = 17,  /* out_high ticks without a clock update */
};

static void hang_asleep(void)
{
    struct timespec day = {.tv_sec = 86400};
    for (;;) nanosleep(&day, NULL);
}

static void hang_busy(void)
{
    for (volatile unsigned spin = 0;; spin++) {
    }
}

static void crash(void)
{
    *(volatile int *)NULL = 0;
}

static void flush_denormals(void)
{
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() | 0x8000);
#endif
}

/* The kinds that do not return, or return as if nothing had happened. */
static void misbehave(int32_t kind, void (*lock_preemption)(void), void (*unlock_preemption)(void))
{
    switch (kind) {
    case FAIL_HANG_ASLEEP: hang_asleep(); break;
    case FAIL_HANG_BUSY: hang_busy(); break;
    case FAIL_CRASH: crash(); break;
    case FAIL_EXIT: exit(3);
    case FAIL_ABORT: abort();
    case FAIL_LEAK_LOCK: lock_preemption(); break;
    case FAIL_UNLOCK_UNLOCKED: unlock_preemption(); break;
    case FAIL_FLOATING_POINT_MODE: flush_denormals(); break;
    default: break;
    }
}

static void *update_and_lock(void *instance)
{
    struct tracer *fmu = instance;
    if (fmu->settings.fail_kind == FAIL_UPDATE_ON_OWN_THREAD)
        fmu->base.clock_update(fmu->base.environment);
    else {
        fmu->base.lock_preemption();
        fmu->base.unlock_preemption();
    }
    return NULL;
}

static void on_own_thread(struct tracer *fmu)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, update_and_lock, fmu) == 0) pthread_join(thread, NULL);
}

/* Callbacks that do not belong where they come from. */
static void annoy(struct tracer *fmu)
{
    switch (fmu->settings.fail_kind) {
    case FAIL_UPDATE_ON_OWN_THREAD:
    case FAIL_LOCK_ON_OWN_THREAD: on_own_thread(fmu); break;
    case FAIL_UPDATE: fmu->base.clock_update(fmu->base.environment); break;
    case FAIL_LOG_FLOOD:
        for (int i = 0; i < 10000; i++) /* whoever wants it or not */
            fmu->base.log_message(fmu->base.environment, fmi3OK, "logEvents", "A message of a flood.");
        break;
    case FAIL_SILENT_TICK: fmu->ticked[OUT_HIGH] = true; break;
    default: break;
    }
}

static fmi3Status fail(struct tracer *fmu, uint32_t clock)
{
    int32_t kind = fmu->settings.fail_kind;
    trace_append(&fmu->trace, (struct trace_event){.what = TRACE_FAIL, .phase = TRACE_NOTE, .clock = clock,
                                                   .vr = (uint32_t)kind, .time = fmu->time, .status = -1});
    switch (kind) {
    case FAIL_WARNING: return fmu_log(&fmu->base, fmi3Warning, "A warning, as asked for.");
    case FAIL_ERROR: return fmu_log(&fmu->base, fmi3Error, "An error, as asked for.");
    case FAIL_DISCARD: return fmu_log(&fmu->base, fmi3Discard, "Discarded, as asked for.");
    case FAIL_FATAL:
        fmu_log(&fmu->base, fmi3Fatal, "A fatal error, as asked for.");
        flush_all("fatal"); /* nobody may call fmi3FreeInstance now, of any instance, and the process leaves without exit handlers */
        return fmi3Fatal;
    case FAIL_HANG_ASLEEP:
    case FAIL_HANG_BUSY:
    case FAIL_CRASH:
    case FAIL_EXIT:
    case FAIL_ABORT: flush(fmu, "failure"); break;
    default: break;
    }
    annoy(fmu);
    misbehave(kind, fmu->base.lock_preemption, fmu->base.unlock_preemption);
    return fmi3OK;
}

/* A failing status is the end of the instance, whoever returns it. */
static fmi3Status note_end(struct tracer *fmu, fmi3Status status)
{
    if (status >= fmi3Discard) fmu->base.state = FMU_FAILED;
    return status;
}

fmi3Status fail_in_function(struct tracer *fmu, enum fail_function function)
{
    int call = atomic_fetch_add(&fmu->calls[function], 1) + 1;
    const struct settings *set = &fmu->settings;
    if (set->fail_kind == FAIL_NONE || set->fail_function != (int)function || call != set->fail_at) return fmi3OK;
    return note_end(fmu, fail(fmu, NO_CLOCK));
}

fmi3Status fail_in_activation(struct tracer *fmu, const struct activation *activation)
{
    const struct settings *set = &fmu->settings;
    if (set->fail_kind == FAIL_NONE || set->fail_function != FAIL_ACTIVATE) return fmi3OK;
    if (set->fail_clock != (int32_t)activation->clock || set->fail_at != (int64_t)activation->number) return fmi3OK;
    return note_end(fmu, fail(fmu, activation->clock));
}

/* An instance called fail_instantiate_K fails with kind K before it exists. True: return NULL. */
bool fail_by_name(const char *instance_name)
{
    static const char prefix[] = "fail_instantiate_";
    if (!instance_name || strncmp(instance_name, prefix, sizeof prefix - 1) != 0) return false;
    misbehave(atoi(instance_name + sizeof prefix - 1), flush_denormals, flush_denormals);
    return true;
}
