/* A small FMU that works, and does harm at one place if VECUD_HOSTILE in the environment asks for it: "PLACE HARM", where PLACE
 * is a function's short name and HARM is one of harm.c. Only the instance `bad` does it, in the third activation of `fast`, and
 * in other functions the first time; `load`, `unload` and `thread` (one of its own, 5 ms after initialisation) belong to none. */

#include "harm.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char model_token[] = "{vecud-hostile-1}";

struct hostile {
    struct fmu_base base;
    double time, in, out, gain;
    uint64_t activations;
    struct fmu_countdown later;
    fmu_tick ticks;
};

const size_t model_size = sizeof(struct hostile);

enum { FAST = 1, SLOW, HIT, LATER, TICKS };

#define AT(member) offsetof(struct hostile, member)
const struct fmu_variable model_variables[] = {
    {0, FMU_FLOAT64, FMU_INDEPENDENT, AT(time)},
    {FAST, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {SLOW, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {HIT, FMU_INPUT_CLOCK, FMU_CLOCK, 0},
    {LATER, FMU_COUNTDOWN_CLOCK, FMU_CLOCK, AT(later)},
    {TICKS, FMU_OUTPUT_CLOCK, FMU_CLOCK, AT(ticks)},
    {10, FMU_FLOAT64, FMU_INPUT, AT(in)},
    {11, FMU_FLOAT64, FMU_OUTPUT, AT(out)},
    {12, FMU_FLOAT64, FMU_FIXED, AT(gain)},
};
const size_t model_variable_count = sizeof model_variables / sizeof *model_variables;

void model_set_start_values(void *model)
{
    ((struct hostile *)model)->gain = 1.0;
}

void model_initialize(void *model, double start_time)
{
    ((struct hostile *)model)->time = start_time;
}

void model_activate(void *model, fmi3ValueReference clock, double time)
{
    struct hostile *hostile = model;
    if (clock == FAST) {
        hostile->time = time;
        hostile->out = hostile->gain * (hostile->in + 1.0);
        hostile->activations++;
        hostile->ticks = hostile->activations % 2 == 0;
        if (hostile->activations % 8 == 1) fmu_arm(&hostile->later, 0.0005);
        fmu_clock_update(hostile);
    }
}

/* ---- Where harm is done ---- */

/* The harm that is asked for at this place, or NULL. */
static const char *asked(const char *place)
{
    const char *words = getenv("VECUD_HOSTILE");
    size_t length = strlen(place);
    if (!words || strncmp(words, place, length) != 0 || words[length] != ' ') return NULL;
    return words + length + 1;
}

static fmi3Status harm(const char *place, struct fmu_base *base)
{
    const char *name = asked(place);
    if (!name || (base && strcmp(base->name, "bad") != 0)) return fmi3OK;
    return harm_do(name, base);
}

/* The first status that is not OK. */
static fmi3Status first(fmi3Status one, fmi3Status other)
{
    return one == fmi3OK ? other : one;
}

static void *in_a_thread(void *instance)
{
    usleep(5000);
    harm("thread", instance);
    return NULL;
}

__attribute__((constructor)) static void load(void)
{
    harm("load", NULL);
}

__attribute__((destructor)) static void unload(void)
{
    harm("unload", NULL);
}

/* ---- FMI functions, each before or after that of the small FMU ---- */

fmi3Instance plain_instantiate(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3InstanceEnvironment,
                               fmi3LogMessageCallback, fmi3ClockUpdateCallback, fmi3LockPreemptionCallback,
                               fmi3UnlockPreemptionCallback);
fmi3Status plain_enter(fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64);
fmi3Status plain_exit(fmi3Instance);
fmi3Status plain_get(fmi3Instance, const fmi3ValueReference[], size_t, fmi3Float64[], size_t);
fmi3Status plain_set(fmi3Instance, const fmi3ValueReference[], size_t, const fmi3Float64[], size_t);
fmi3Status plain_get_clock(fmi3Instance, const fmi3ValueReference[], size_t, fmi3Clock[]);
fmi3Status plain_get_interval(fmi3Instance, const fmi3ValueReference[], size_t, fmi3Float64[], fmi3IntervalQualifier[]);
fmi3Status plain_activate(fmi3Instance, fmi3ValueReference, fmi3Float64);
fmi3Status plain_terminate(fmi3Instance);
void plain_free(fmi3Instance);

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean visible,
                                               fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                               fmi3LogMessageCallback log, fmi3ClockUpdateCallback update,
                                               fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    struct fmu_base *base = plain_instantiate(name, token, path, visible, logging, environment, log, update, lock, unlock);
    return base && harm("instantiate", base) == fmi3OK ? base : NULL;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean ends, fmi3Float64 stop)
{
    return first(harm("enter", instance), plain_enter(instance, defined, tolerance, start, ends, stop));
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    pthread_t thread;
    struct fmu_base *base = instance;
    if (asked("thread") && strcmp(base->name, "bad") == 0 && pthread_create(&thread, NULL, in_a_thread, base) == 0)
        pthread_detach(thread);
    return first(harm("exit", instance), plain_exit(instance));
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Float64 values[],
                          size_t n_values)
{
    return first(harm("get", instance), plain_get(instance, vrs, n, values, n_values));
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, const fmi3Float64 values[],
                          size_t n_values)
{
    return first(harm("set", instance), plain_set(instance, vrs, n, values, n_values));
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n, fmi3Clock values[])
{
    return first(harm("get_clock", instance), plain_get_clock(instance, vrs, n, values));
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference vrs[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    return first(harm("get_interval", instance), plain_get_interval(instance, vrs, n, intervals, qualifiers));
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time)
{
    struct hostile *hostile = instance;
    if (clock == FAST && hostile->activations == 2) {
        fmi3Status status = harm("activate", instance);
        if (status != fmi3OK) return status;
    }
    return plain_activate(instance, clock, time);
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    return first(harm("terminate", instance), plain_terminate(instance));
}

void fmi3FreeInstance(fmi3Instance instance)
{
    harm("free", instance);
    plain_free(instance);
}
