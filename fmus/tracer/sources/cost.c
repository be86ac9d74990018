/* What the importer's preemption lock costs FMU code when nobody else wants it, beside a bare priority-inheriting futex
 * word. Measured inside an activation, so that everything that the importer does in its callbacks is in it. */

#include "tracer.h"
#include <time.h>
#include <unistd.h>

#define REPETITIONS 5

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The uncontended half of FUTEX_LOCK_PI and FUTEX_UNLOCK_PI: the word goes from 0 to the thread's id and back. */
static void bare_pair(_Atomic uint32_t *word, uint32_t tid)
{
    uint32_t expected = 0;
    atomic_compare_exchange_strong_explicit(word, &expected, tid, memory_order_acquire, memory_order_relaxed);
    expected = tid;
    atomic_compare_exchange_strong_explicit(word, &expected, 0, memory_order_release, memory_order_relaxed);
}

void measure_lock(struct tracer *fmu)
{
    int32_t rounds = fmu->settings.cost_rounds;
    if (rounds <= 0) return;
    static _Atomic uint32_t word;
    uint32_t tid = (uint32_t)gettid();
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        int64_t begin = now_ns();
        for (int32_t round = 0; round < rounds; round++) bare_pair(&word, tid);
        int64_t between = now_ns();
        for (int32_t round = 0; round < rounds; round++) {
            fmu->base.lock_preemption();
            fmu->base.unlock_preemption();
        }
        int64_t end = now_ns();
        double bare = (double)(between - begin) / rounds, lock = (double)(end - between) / rounds;
        /* The fastest of all: interrupts only ever add. */
        if (fmu->bare_pair_ns == 0.0 || bare < fmu->bare_pair_ns) fmu->bare_pair_ns = bare;
        if (fmu->lock_pair_ns == 0.0 || lock < fmu->lock_pair_ns) fmu->lock_pair_ns = lock;
    }
}
