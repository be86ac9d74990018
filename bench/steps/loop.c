/* The steps of instances of one FMU of FMI 3.0 or 2.0 for Co-Simulation, by hand: loop LIBRARY VERSION TOKEN INSTANCES STEPS SIZE.
 * Prints the nanoseconds of processor time that one step takes. Nothing is set, read, recorded or checked but the status. */

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* What an importer offers that can end a step early: it does not. */
static void midst(void *e, double t, bool s, bool g, bool f, bool r, bool *requested, double *time)
{
    (void)e, (void)t, (void)s, (void)g, (void)f, (void)r, (void)time;
    *requested = false;
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

int main(int argc, char **argv)
{
    if (argc != 7) return 2;
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
                                                                                    NULL, 0, NULL, log3, (void *)midst);
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
    for (long k = 0; k < steps; k++) {
        double time = (double)k * size;
        for (int i = 0; i < instances; i++) {
            bool event, end, early;
            double reached;
            must(is3 ? step3(all[i], time, size, true, &event, &end, &early, &reached) : step2(all[i], time, size, 1), "step");
        }
    }
    printf("%.2f\n", (now() - begin) / (double)steps / instances);
    return 0;
}
