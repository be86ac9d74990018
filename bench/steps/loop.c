/* The steps of instances of one FMU of FMI 3.0 or 2.0 for Co-Simulation, by hand: loop LIBRARY VERSION TOKEN INSTANCES STEPS SIZE [marks].
 * Prints the nanoseconds of processor time that one step takes. Nothing is set, read, recorded or checked but the status.
 *
 * With `marks` it keeps what a host has to keep that says in which call of which instance at which time it has crashed or hangs,
 * and how many calls and steps there were: in shared memory, as simply as C can do it. It knows no other order than that of the
 * instances, no other time than numbers of steps, and gives up where a step is not as expected. */

#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef void *(*Instantiate3)(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t, void *,
                              void *, void *);
typedef int (*Enter3)(void *, bool, double, double, bool, double);
typedef int (*Step3)(void *, double, double, bool, bool *, bool *, bool *, double *);
typedef int (*Plain)(void *);

struct callbacks2 {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void *finished, *environment;
};
typedef void *(*Instantiate2)(const char *, int, const char *, const char *, const struct callbacks2 *, int, int);
typedef int (*Setup2)(void *, int, double, double, int, double);
typedef int (*Step2)(void *, double, double, int);

static void log2_(void *e, const char *n, int s, const char *c, const char *m, ...)
{
    (void)e, (void)n, (void)s, (void)c, (void)m;
}

static void log3(void *e, int s, const char *c, const char *m)
{
    (void)e, (void)s, (void)c, (void)m;
}

/* What is kept of an instance, and of all of them. Others read it at any time. */
struct kept {
    _Atomic uint64_t time[3], active, function, calls, steps, activations, off;
};
struct all {
    _Atomic uint64_t complete, reached, stop, ending;
    struct kept of[];
};

/* What a callback and a handler of signals find out about the thread that they are on. */
static _Thread_local struct {
    void *instance;
    int function;
    uint64_t label;
    struct all *all;
} thread;

enum { DO_STEP = 1 };

#define SET(word, value) atomic_store_explicit(&(word), (value), memory_order_relaxed)
#define GET(word) atomic_load_explicit(&(word), memory_order_relaxed)

/* What an importer offers that can end a step early: it does not, but with marks where somebody asks for the end. */
static void midst(void *e, double t, bool s, bool g, bool f, bool r, bool *requested, double *time)
{
    (void)s, (void)g, (void)f;
    bool returns = false;
    if (thread.all) {
        if (e != thread.instance || thread.function != DO_STEP) abort();
        returns = (GET(thread.all->ending) || GET(thread.all->stop)) && r && time;
        if (returns) *time = t;
    }
    *requested = returns;
}

static void must(int status, const char *what)
{
    if (status > 1) fprintf(stderr, "%s: status %d\n", what, status), exit(1);
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) fprintf(stderr, "%s\n", dlerror()), exit(1);
    return found;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void steps_with_marks(void **all, int instances, long steps, double size, Step3 step3, Step2 step2)
{
    struct all *kept = mmap(NULL, sizeof *kept + (size_t)instances * sizeof *kept->of, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (kept == MAP_FAILED) exit(1);
    thread.all = kept;
    const uint32_t mxcsr = 0x1f80;
    double furthest = 0;
    for (long k = 0; k < steps && !GET(kept->stop) && !GET(kept->ending); k++) {
        double time = (double)k * size;
        uint64_t nanos = (uint64_t)(time * 1e9);
        atomic_store_explicit(&kept->complete, nanos - 1, memory_order_release);
        for (int i = 0; i < instances; i++) {
            struct kept *own = &kept->of[i];
            bool event = false, end = false, early = false;
            double reached = time + size;
            thread.label = (uint64_t)i + 1;
            SET(own->time[0], (uint64_t)k), SET(own->time[1], nanos), SET(own->time[2], 1);
            SET(own->active, 1);
            thread.instance = (void *)(intptr_t)(i + 1), thread.function = DO_STEP;
            SET(own->function, DO_STEP), SET(own->calls, GET(own->calls) + 1);
            int status = step3 ? step3(all[i], time, size, true, &event, &end, &early, &reached) : step2(all[i], time, size, 1);
            /* The words of floating point are ours again. */
            uint16_t x87;
            __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
            __asm__ volatile("fnstcw %0" : "=m"(x87));
            if (x87 != 0x37f) exit(1);
            thread.instance = NULL, thread.function = 0;
            SET(own->function, 0), SET(own->active, 0);
            thread.label = 0;
            double off = fabs(reached - (time + size));
            if (off > furthest) furthest = off;
            if (!(off <= size / 100)) SET(own->off, GET(own->off) + 1);
            if (status || end || early) exit(1);
            SET(own->steps, GET(own->steps) + 1), SET(own->activations, GET(own->activations) + 1);
        }
        SET(kept->reached, nanos);
    }
}

int main(int argc, char **argv)
{
    if (argc != 7 && argc != 8) return 2;
    bool marks = argc == 8;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    bool is3 = argv[2][0] == '3';
    int instances = atoi(argv[4]);
    long steps = atol(argv[5]);
    double size = atof(argv[6]);
    void **all = calloc((size_t)instances, sizeof *all);
    static struct callbacks2 callbacks = {log2_, calloc, free, NULL, NULL};
    for (int i = 0; i < instances; i++) {
        if (is3) {
            all[i] = ((Instantiate3)symbol(library, "fmi3InstantiateCoSimulation"))("m", argv[3], "", false, false, false, false,
                                                                                    NULL, 0, (void *)(intptr_t)(i + 1), log3, (void *)midst);
            if (!all[i]) return 1;
            must(((Enter3)symbol(library, "fmi3EnterInitializationMode"))(all[i], false, 0, 0, false, 0), "enter");
            must(((Plain)symbol(library, "fmi3ExitInitializationMode"))(all[i]), "exit");
        } else {
            all[i] = ((Instantiate2)symbol(library, "fmi2Instantiate"))("m", 1, argv[3], "", &callbacks, 0, 0);
            if (!all[i]) return 1;
            must(((Setup2)symbol(library, "fmi2SetupExperiment"))(all[i], 0, 0, 0, 0, 0), "setup");
            must(((Plain)symbol(library, "fmi2EnterInitializationMode"))(all[i]), "enter");
            must(((Plain)symbol(library, "fmi2ExitInitializationMode"))(all[i]), "exit");
        }
    }
    Step3 step3 = is3 ? (Step3)symbol(library, "fmi3DoStep") : NULL;
    Step2 step2 = is3 ? NULL : (Step2)symbol(library, "fmi2DoStep");
    double begin = now();
    if (marks) {
        steps_with_marks(all, instances, steps, size, step3, step2);
    } else {
        for (long k = 0; k < steps; k++) {
            double time = (double)k * size;
            for (int i = 0; i < instances; i++) {
                bool event, end, early;
                double reached;
                must(is3 ? step3(all[i], time, size, true, &event, &end, &early, &reached) : step2(all[i], time, size, 1), "step");
            }
        }
    }
    printf("%.2f\n", (now() - begin) / (double)steps / instances);
    return 0;
}
